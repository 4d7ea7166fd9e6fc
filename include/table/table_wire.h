/*
 * Definitions and entries of tables as peers send them. What comes from a peer is verified: nothing
 * of a message that is not valid is applied. The first worker's.
 */
#ifndef TACIT_TABLE_TABLE_WIRE_H
#define TACIT_TABLE_TABLE_WIRE_H

#include "base/str.h"
#include "base/wire.h"
#include "table/table.h"

/* The names that a sender may number, from 1, and the longest. */
#define TABLE_WIRE_NAMES 128u
#define TABLE_WIRE_NAME_MAX 1023u
/* The last type of data in version 2.0 of the protocol. */
#define TABLE_WIRE_LAST_2_0 TABLE_GPC1_RATE

/* A table of a peer, as it was defined there. */
struct table_wire_def {
	uint64_t id;            /* the number that it has there */
	struct str name;        /* in the message */
	uint32_t wire_type, key_len;
	uint64_t stores;        /* bit n: data type n, also types that are not known here */
	uint64_t expire_ms;
	struct table_store store[TABLE_DATA_TYPES];
};

/* Names that were sent on a connection: each has a number, which goes to another one when it was
 * not used for long. The names are those of tables, which live longer. */
struct table_wire_sent {
	const char *name[TABLE_WIRE_NAMES];
	uint32_t used[TABLE_WIRE_NAMES];
	uint32_t turn;
};

/* Names that were received. */
struct table_wire_names {
	char *name[TABLE_WIRE_NAMES];
};

void table_wire_names_free(struct table_wire_names *names);

/* Writes a definition: data types up to `last`. */
void table_wire_put_def(const struct table *t, uint64_t id, struct str name, enum table_data last,
	struct wire_out *w);
/* Reads one: 0, or -1 if it is not valid. */
int table_wire_take_def(struct wire_in *r, struct table_wire_def *d) must_check;
/* True if the entries that are defined so have keys as the table has. */
int table_wire_fits(const struct table *t, const struct table_wire_def *d);

/* Bytes that an entry takes at most. */
size_t table_wire_entry_max(const struct table *t);
/* False if all own values of an entry are 0: in a table that adds up, it is of peers alone. With
 * by->returns: if those of peer number by->part are 0. */
int table_wire_is_own(
	const struct table *t, const struct table_entry *e, const struct table_caller *by);
/* Writes key and values of an entry, data types up to `last`. There has to be room: a name may have
 * got a number. With by->returns it has the counts of peer number by->part instead of the own. */
void table_wire_put_entry(struct table *t, const struct table_entry *e, enum table_data last,
	struct table_wire_sent *sent, const struct table_caller *by, struct wire_out *w);
/*
 * Reads key and values, and applies them to the entry, which is made if there is none. t NULL: the
 * table is not known here, and only the names are noted. has_time: it expires at the peer in
 * left_ms; it never lives longer here than `expire` from now. conn_cur is applied with recv-only
 * and in tables that add up only, a rate when its period is the table's. by->is_peer has to be set,
 * and by->part in a table that adds up. 0, -1 if it is not valid, or -ERR_NOMEM.
 */
int table_wire_learn(struct table *t, const struct table_wire_def *d, struct wire_in *r,
	struct table_wire_names *names, int has_time, uint32_t left_ms,
	const struct table_caller *by) must_check;

#endif
