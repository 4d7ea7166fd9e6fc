/*
 * The peers protocol, versions 2.1 and 2.0, as HAProxy speaks it (peers-v2.0.txt): a group of
 * processes whose tables are the same. Each process sends the others what it changes, over one
 * connection to each. Bytes in, bytes out: no descriptor and no clock. One thread.
 *
 * A group has the tables and, for each other process, a peer: what it has been sent and has
 * acknowledged. A session is one connection with a peer. Its user reads into peer_session_room(),
 * calls peer_session_receive(), then peer_session_fill() and sends peer_session_output(); also when
 * peer_session_deadline() is due and when a table has changed.
 */
#ifndef TACIT_PEERS_PEER_GROUP_H
#define TACIT_PEERS_PEER_GROUP_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/memfile.h"
#include "base/str.h"
#include "table/table_wire.h"

/* Bytes of the longest message, and of each of a session's two buffers. */
#define PEER_BUFFER 65536u
#define PEER_NAME_MAX 255u
/* Silence of a peer that ends a session, and own silence that a heartbeat ends. */
#define PEER_SILENCE_MS 5000u
#define PEER_HEARTBEAT_MS 3000u
/* For the handshake, and for a peer that is asked for its entries to send some. */
#define PEER_HELLO_MS 5000u
#define PEER_RESYNC_MS 5000u

struct peer_group;
struct peer_session;

/* The last result of a handshake: the three digits, or these. */
enum peer_status {
	PEER_STATUS_NONE = 0,
	PEER_STATUS_CONNECTING = 1, /* a connection was begun */
	PEER_STATUS_HELLO = 2,      /* a hello was sent */
	PEER_STATUS_UP = 200,
	PEER_STATUS_RETRY = 300,
	PEER_STATUS_PROTOCOL = 501,
	PEER_STATUS_VERSION = 502,
	PEER_STATUS_NAME = 503,     /* it has another name */
	PEER_STATUS_UNKNOWN = 504   /* it knows no peer of our name */
};

/* The state of a table with a peer. Numbers of changes: table/table_log.h. */
struct peer_cursor {
	uint64_t next;          /* the first change that was not sent on this connection */
	uint64_t sent;          /* the last one that was; those behind it were not for the peer */
	uint64_t acked;         /* the changes before it need not be sent again */
	_Atomic uint64_t *mark; /* the same for the next process; NULL: none */
	uint64_t taught;        /* those before it were part of what was taught */
	/* Without the log: entries are found that have changed since `next`. */
	uint64_t search_end;    /* the end of the log at the start; 0: they are not searched for */
	struct table_walk walk;
	struct table_walk found; /* behind the last one: sent when another is found; slot 0: none */
	uint64_t remote_id;     /* the table's number there; 0: it was not defined */
	uint32_t got;           /* the number of its last update */
	int has_news;           /* which is to be acknowledged */
	struct table_wire_def def;
};

struct peer {
	char name[PEER_NAME_MAX + 1];
	struct peer_group *group;
	struct peer_session *session; /* NULL: none has a hello that was accepted or sent */
	struct peer_cursor *cursor;   /* one for each table of the group */
	unsigned int shard;           /* it gets the keys of this one, from 1; 0: all */
	unsigned int minor;           /* of the version that it is greeted with: 1 or 0 */
	enum peer_status status;
	uint64_t hello_ms;            /* time of the last handshake; 0: there was none */
	int was_asked;                /* for its entries: it is not asked again */
	unsigned int lessons_cut;     /* its lessons that ended with their connection */
	int needs_teaching;           /* it has asked for all entries */
	int needs_sums;               /* the same of tables that add up: it is sent all of them */
	int wants_sums;               /* we miss some of its counts there, and ask for them */
	int knows_us;                 /* it has had SUM_BEGIN, and has sent its counts since */
	int had_collision;            /* the next attempt waits a random time */
	uint64_t tx_heartbeats, rx_heartbeats, silences, connections, errors, collisions;
};

struct peer_table {
	struct table *table;
	char *name;             /* in messages */
	char *returned;         /* the same of counts that a peer had before its start; or NULL */
	uint64_t seed;          /* of the name: by it keys are distributed to shards */
	_Atomic uint64_t *mark; /* TABLE_MARK_COMPLETE; NULL: none */
	int adds_up;            /* table_aggregate() */
};

enum peer_resync { PEER_RESYNC_WANTED, PEER_RESYNC_ASKED, PEER_RESYNC_DONE };

struct peer_group {
	char *name, *local;
	unsigned int pid;
	struct peer_table *table;
	struct peer *peer;
	unsigned int n_tables, n_peers;
	unsigned int shards;    /* 0: each peer gets all keys */
	int adds_up;            /* a table does */
	int has_own;            /* what the process had counted is there: a reload */
	enum peer_resync resync;
	const struct peer *asked;
	uint64_t resync_ms;     /* the time at which it is given up, or another peer is asked */
	/* A session must be closed, since the peer has opened another one. */
	void (*on_replaced)(struct peer_session *s);
};

/* `local`: the own name. Tables and peers are added before the start. NULL when memory is out.
 * The owner frees it when no session is left; tables are not its own. */
struct peer_group *peer_group_new(const char *name, const char *local) must_check;
void peer_group_free(struct peer_group *g);
/* A table whose changes are logged (table_share()). One that adds up has a name of its own in
 * messages, so that its counts replace none of a process that does not. 0 or -ERR_NOMEM. */
int peer_group_add_table(struct peer_group *g, struct table *t, const char *name) must_check;
/* shard: that of peer.shard. 0 or -ERR_NOMEM. */
int peer_group_add_peer(struct peer_group *g, const char *name, unsigned int shard) must_check;
/* The time of the start, from which a peer is asked for its entries. 0 or -ERR_NOMEM. */
int peer_group_start(struct peer_group *g, uint64_t now_ms) must_check;
/* Tables were restored from the file of the previous process. Peers are sent what that one had
 * changed and they have not acknowledged. No peer is asked for entries if each table of the group
 * was restored, and that process had all of its entries. */
void peer_group_resume(struct peer_group *g, const struct memfile_view *v);
/* Gives up a peer that was asked for its entries and sends none. Returns the time of the next
 * call, UINT64_MAX: none. */
uint64_t peer_group_tick(struct peer_group *g, uint64_t now_ms);

#endif
