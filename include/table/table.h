/*
 * Stick tables: entries that are found by a key, each with counters, rates and tags, which any
 * worker reads and changes.
 *
 * A table is divided into shards (by the hash of the key), each with one short lock. Under it an
 * entry is found, made, or removed; nothing is allocated and no other lock is taken meanwhile. An
 * entry has an address that stays while it has references: counters are added to and read
 * through it without a lock. Totals are exact; an event that is counted just when a period of a
 * rate ends may be counted in the next one.
 *
 * Entries expire `expire` ms after they were last touched. One that has references neither
 * expires, nor is purged, nor cleared. When the table is full an entry that was touched long ago is
 * replaced, unless `nopurge` is set.
 */
#ifndef TACIT_TABLE_TABLE_H
#define TACIT_TABLE_TABLE_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct keyhash;
struct sys;
struct table;
struct table_entry;

/* Flags of data.tbl.h. */
#define TABLE_ARRAY 1u

enum table_data {
#define TABLE_DATA(id, name, kind, flags, doc) TABLE_##id,
#include "table/data.tbl.h"
#undef TABLE_DATA
	TABLE_DATA_TYPES
};

enum table_kind { TABLE_KIND_U32, TABLE_KIND_U64, TABLE_KIND_RATE, TABLE_KIND_NAME };

struct table_data_info {
	const char *name;
	enum table_kind kind;
	unsigned int flags;
};

extern const struct table_data_info table_data_info[TABLE_DATA_TYPES];
/* The type with this name, or -1. */
int table_data_find(const char *name, size_t len);

/* True for what is set, not counted. */
static inline int
table_data_is_set(unsigned int type)
{
	return type == TABLE_SERVER_ID || type == TABLE_SERVER_KEY || type == TABLE_GPT0 ||
		type == TABLE_GPT;
}

enum table_type {
	TABLE_INTEGER,          /* 32 bits */
	TABLE_IPV4,
	TABLE_IPV6,
	TABLE_STRING,           /* of at most key_len bytes; ends with a NUL in it */
	TABLE_BINARY,           /* key_len bytes, cut or filled with zeros */
	TABLE_TYPES
};

/* "integer", "ip", "ipv6", "string", "binary". */
const char *table_type_name(enum table_type type);

#define TABLE_SIZE_MAX 2147483647u
#define TABLE_KEY_MAX 16384u
#define TABLE_ELEMENTS_MAX 100u
#define TABLE_STRING_LEN 32u        /* default of string and binary */

/* The arguments of a `stick-table` line. */
struct table_conf {
	enum table_type type;
	uint32_t key_len;       /* bytes of a key: 4, 16, or the `len` of the line */
	uint32_t size;          /* entries, from 1 */
	uint32_t expire_ms;     /* 0: entries do not expire */
	uint32_t brates_factor; /* bytes that count one in bytes_in_rate and bytes_out_rate; >= 1 */
	uint8_t nopurge;
	uint8_t key_by_addr;    /* srvkey addr */
	uint8_t recv_only;
	uint8_t aggregate;      /* counts of peers are added up (table_aggregate()) */
	const char *write_to;   /* the name of the table that gets tags and servers, too; or NULL */
	struct table_store {
		uint16_t n;             /* elements; 1 if it is no array, 0: not stored */
		uint32_t period_ms;     /* of a rate */
	} store[TABLE_DATA_TYPES];
};

/* The worker that calls, and its loop's clock. */
struct table_caller {
	struct sys *sys;
	uint64_t now_ms;
	int is_peer;            /* its changes are those of a peer, which are not logged */
	unsigned int part;      /* that peer's number from 0, in a table that adds up */
	int returns;            /* it sends what this process had counted before its start */
	int teaches;            /* it sends all it has: what other peers have sent is newer, */
	int keeps;              /* and what has changed here is, too */
};

/* --- tables: the main thread, before others run --- */

/* The secret of `hash` is copied, and so is the name. NULL when memory is out. */
struct table *table_new(const char *name, const struct table_conf *conf,
	const struct keyhash *hash) must_check;
/* No entry has a reference left. NULL is allowed. */
void table_free(struct table *t);
/* Has the type stored too (one element): rules need it, as `stick on` needs server_id. Nothing may
 * have been stored yet. 0, or -ERR_FULL: with table_aggregate() a slot would be too long. */
int table_want(struct table *t, enum table_data type) must_check;
/* Has changes logged from now on, for peers (table/table_log.h); *news, which must outlive the
 * table, becomes 1 at the first change after it was set to 0. Nothing may have been stored yet.
 * 0 or -ERR_NOMEM. */
int table_share(struct table *t, _Atomic int *news) must_check;

/* Gives each slot a part for each of n peers, beside the own part. table_read() returns the sum of
 * a counter or a rate; table_add(), table_set() and the like change the own part. `names` is a hash
 * of the peers' names in their order: a reload copies the parts if it is the same. 0, -ERR_NOMEM,
 * or -ERR_FULL if a slot would be too long. */
int table_aggregate(struct table *t, unsigned int n, uint64_t names) must_check;
/* The number of peers whose counts are added; 0 without table_aggregate(). */
unsigned int table_parts(const struct table *t);
/* The connections (conn_cur) of a peer count until then; UINT64_MAX: no end is known. */
void table_part_until(struct table *t, unsigned int part, uint64_t ms);
/* The peer is another process now: connections that it has sent so far are none any more. */
void table_part_begins(struct table *t, unsigned int part);

/* Has tags and servers that peers send for entries of t stored in another table, too. 0, or -1: its
 * keys are of another type or length. */
int table_write_to(struct table *t, struct table *to) must_check;

/* --- the table; any thread --- */

const char *table_name(const struct table *t);
const struct table_conf *table_conf_of(const struct table *t);
/* Entries, with those that have expired and were not removed yet. */
uint32_t table_used(const struct table *t);
/* Entries that there is room for: table_cnt is table_used(), table_avl is this. */
uint32_t table_avail(const struct table *t);
/* Number of bytes allocated, for tests. */
size_t table_bytes(const struct table *t);

/* --- keys --- */

/* A key in the form of its table. It lives as long as the bytes it was made of. */
struct table_key {
	uint64_t hash;
	const unsigned char *bytes;
	uint32_t len;           /* without zeros at the end */
	unsigned char own[16];
};

/*
 * They make a key from a value of the table's own type (a sample that was cast to it): a string is
 * cut at its first NUL and at `len`, binary is cut. 0, or -1: the table has keys of another type.
 */
int table_key_int(const struct table *t, struct table_key *k, uint32_t v);
int table_key_ipv4(const struct table *t, struct table_key *k, struct in_addr a);
int table_key_ipv6(const struct table *t, struct table_key *k, const struct in6_addr *a);
/* Strings and binary. */
int table_key_bytes(const struct table *t, struct table_key *k, const void *p, size_t n);

/* --- entries; any thread. Each entry that is returned has one reference more. --- */

/* The entry of this key, which it does not touch. NULL: there is none, or it has expired. */
struct table_entry *table_find(struct table *t, const struct table_key *k,
	const struct table_caller *by) must_check;
/* The entry of this key, made if there is none (all zero), and touched. NULL: the table is full, or
 * memory is out. */
struct table_entry *table_get(struct table *t, const struct table_key *k,
	const struct table_caller *by) must_check;
/* Gives a reference back; the entry is not touched. */
void table_unref(struct table_entry *e);
/* Postpones its expiry: `expire` from now. */
void table_touch(struct table *t, struct table_entry *e, const struct table_caller *by);
/* References besides the caller's own. */
uint32_t table_refs(const struct table_entry *e);
/* Milliseconds until it expires; 0: it does not expire. */
uint32_t table_expires_in(const struct table *t, const struct table_entry *e,
	const struct table_caller *by);
/* Milliseconds since it was touched. */
uint32_t table_idle(const struct table *t, const struct table_entry *e,
	const struct table_caller *by);
/* The bytes of its key: key_len of them, in network order for addresses, a uint32_t in the host's
 * order for integers. */
const unsigned char *table_entry_key(const struct table *t, const struct table_entry *e);
/* A number that names it among those of its table. */
uint64_t table_entry_id(struct table *t, const struct table_entry *e, struct sys *sys);
/* Takes the entry out of the table and gives the reference back. 0, or -1: others hold references,
 * and it stays; the reference is given back all the same. */
int table_remove(struct table *t, struct table_entry *e, const struct table_caller *by);

/* --- values of an entry that the caller holds a reference of --- */

/*
 * GPC0 and GPC1 mean gpc[0] and gpc[1] where the table stores `gpc`; so do GPT0, GPC0_RATE and
 * GPC1_RATE. All return -1 and do nothing if the table does not store the type or the element.
 *
 * Reads a value; of a rate the events in the last period (HAProxy's: the part of the previous
 * period that the window covers, and the current one). Not for SERVER_KEY.
 */
int table_read(struct table *t, const struct table_entry *e, enum table_data type,
	unsigned int element, const struct table_caller *by, uint64_t *v);
/* The same of what peer number `part` has sent alone. */
int table_read_part(struct table *t, const struct table_entry *e, enum table_data type,
	unsigned int element, unsigned int part, const struct table_caller *by, uint64_t *v);
/* Adds to a counter or counts events of a rate. Bytes of bytes_in_rate and bytes_out_rate are
 * divided by brates-factor, rounded up. */
int table_add(struct table *t, struct table_entry *e, enum table_data type, unsigned int element,
	const struct table_caller *by, uint64_t n);
/* Subtracts one from a counter that is above zero: conn_cur. */
int table_less(struct table *t, struct table_entry *e, enum table_data type);
/* Sets a value. A rate gets a period that begins now with v events. */
int table_set(struct table *t, struct table_entry *e, enum table_data type, unsigned int element,
	const struct table_caller *by, uint64_t v);
/* Sets a counter to 0 and returns in *was what it was. */
int table_reset(struct table *t, struct table_entry *e, enum table_data type, unsigned int element,
	const struct table_caller *by, uint64_t *was);
/* Adds n to gpc0 and gpc0_rate, or gpc1 and gpc1_rate, and returns in *v the new value, of the rate
 * if only that is stored. 0, or -1: neither is stored. */
int table_inc_gpc(struct table *t, struct table_entry *e, unsigned int which,
	const struct table_caller *by, uint64_t n, uint64_t *v);
/* The same of gpc[element] and gpc_rate[element], where the table has these arrays. */
int table_inc_element(struct table *t, struct table_entry *e, unsigned int element,
	const struct table_caller *by, uint64_t n, uint64_t *v);
/*
 * server_key: the name of a server, or its address. It is copied to the table's dictionary once.
 * 0, -1 if it is not stored, or -ERR_NOMEM.
 */
int table_set_server_key(struct table *t, struct table_entry *e, const char *name,
	const struct table_caller *by);
/* NULL: none was set. It lives as long as the table. */
const char *table_server_key(const struct table *t, const struct table_entry *e);

/* --- walks and expiry --- */

/* Place of a walk; all zero is the start. */
struct table_walk {
	uint32_t shard, slot;
};

/* The next entry that has not expired, with a reference. At most *most slots are examined, of which
 * few may have an entry; their number is subtracted. NULL: the walk is over, or if *most is 0 now
 * the caller continues later. Entries that are made or removed meanwhile may be missed. */
struct table_entry *table_walk(struct table *t, struct table_walk *w, unsigned int *most,
	const struct table_caller *by) must_check;
/* Removes up to `most` entries that have expired, and returns how many milliseconds it need not be
 * called for; 0: there are more. */
uint32_t table_sweep(struct table *t, const struct table_caller *by, unsigned int most);

#endif
