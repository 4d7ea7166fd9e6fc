/*
 * A stream: one exchange, the only one of a TCP connection or one HTTP request with its response.
 * It has two directions between two connections. Only session/fsm.c changes its state.
 */
#ifndef TACIT_PROXY_MODEL_STREAM_H
#define TACIT_PROXY_MODEL_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/mem.h"
#include "event/loop.h"
#include "event/timer.h"
#include "net/conn.h"
#include "net/pipe.h"
#include "proxy/model/engine.h"
#include "proxy/model/fsm.h"
#include "proxy/model/proxy.h"

enum side { CLIENT, SERVER, SIDES };

struct captures;
struct http_txn;
struct relay_ops;
struct session;
struct stream;
struct stream_extras;
struct zerocopy_pin;

/*
 * One direction. dir[CLIENT] reads from the client and writes to the server. dir[SERVER] is all
 * that goes to the client: what is read from the server, and what tacit sends itself
 * (informational responses, local replies).
 */
struct direction {
	const struct relay_ops *ops; /* processing of its bytes: proxy/relay/relay_ops.h */
	char *buf;              /* data that the sink did not accept; NULL if none */
	struct pipe *pipe;      /* data after that in buf; NULL if it is empty */
	struct zerocopy_pin *pin; /* for buf, after a zero-copy send from it */
	uint64_t bytes;         /* read from the source */
	uint64_t counted;       /* bytes of its message counted by byte_count.c */
	struct list turn_link;  /* in the waiting list of bulk transfers */
	uint32_t head, tail;    /* unsent bytes in buf */
	uint32_t lookahead;     /* bytes after them that may not be forwarded yet */
	uint32_t burst;         /* bytes since the source was last drained */
	uint8_t state;          /* enum direction_state */
	uint8_t short_bursts;   /* consecutive bursts that were too short */
	uint8_t broken : 1;     /* ended by a reset: must not look like a normal end */
	uint8_t left_in_kernel : 1; /* unread data stays in the kernel: no buffer */
	uint8_t keeps_buf : 1;  /* buf has data to be sent again in a retry, or a head that rules
				 * hold back */
	uint8_t waits_for_buffer : 1; /* a head has to be read, and no buffer is available */
	uint8_t waits_to_pass : 1; /* a filter lets no byte pass before wake_ms */
	uint8_t is_bulk : 1;    /* a bulk transfer: uses a pipe or a larger buffer */
	uint8_t no_splice : 1;  /* splicing is not supported by the kernel */
	uint8_t is_big : 1;     /* buf is from the pool of bulk buffers */
	uint8_t is_wide : 1;    /* buf is from engine.pools.wide */
	uint8_t waits : 1;      /* it waits for its turn among the bulk transfers */
	uint8_t side : 1;       /* which direction it is, while it waits */
	uint8_t reads_early : 1; /* its source is read before an event reports it */
};

/* Microseconds as a field of 10 bits stores them. */
#define US_BITS(us) ((us) & 0x3ff)

/* Number of (state, event) pairs kept for show sess and crash reports. */
#define STREAM_HISTORY 8
/* A bit in the state of a history entry: the state is one of the session, before its stream
 * began. */
#define HISTORY_OF_SESSION 0x80u

/* The log line of a stream; those of `log-steps` are apart from it. */
enum stream_line {
	STREAM_LINE_DUE,
	STREAM_LINE_WRITTEN, /* or an option left it out */
	STREAM_LINE_NONE     /* there is none: between two requests, or what happened has none */
};

struct stream {
	struct direction dir[SIDES];
	struct conn *conn[SIDES]; /* the client's, which is its session's; the server's */
	struct timer timer;
	struct task task;       /* first I/O, later the end of the turn */
	struct list link;       /* engine.streams */
	/* In a shard: in the server's or the backend's queue by the first or by the second, and by
	 * the first in `granted`. */
	struct list queue_link;
	struct heap_node queue_node;
	struct session *sess;   /* the client's connection that it belongs to */
	struct engine *engine;
	struct http_txn *txn;   /* mode http, from a request's first byte on; else NULL */
	struct captures *captures; /* proxy/sample/capture.h; NULL: none */
	struct stream_extras *extras; /* NULL: none */
	uint64_t id;            /* unique in the process: engine_next_id() */
	uint64_t state_ms;      /* when the state was entered */
	uint64_t
		wake_ms; /* in RETRY and LINGER, and while a head waits for memory, or bytes wait
			  * for a filter: time to continue; in CONNECT, for HANDSHAKE: end of
			  * timeout connect */
	uint64_t last_ms[SIDES]; /* last read from or write to that side */
	unsigned int uses;      /* requests carried by conn[SERVER] */
	char term[2];           /* termination code: cause and phase, '-' while unknown */
	uint8_t state;          /* enum stream_state */
	uint8_t posted;         /* enum stream_event for its task to deliver; NONE: first I/O */
	uint8_t has_slot;
	/* True while other workers may see it: srv, has_slot, its links and its positions in
	 * queues are then guarded by the backend's lock, until it has learned of its slot. */
	uint8_t waits;
	uint8_t handshake_got;  /* in HANDSHAKE: bytes of the reply */
	uint8_t is_private : 1; /* conn[SERVER] is authenticated: other sessions must not use it */
	uint8_t is_http : 1;    /* its frontend is in mode http, or http_upgrade() changed it */
	uint8_t own_line : 2;   /* enum stream_line: its log line */
	uint8_t is_carried : 1; /* one of several of its client's connection: struct substream */
	uint8_t hist_n;
	uint8_t hist[STREAM_HISTORY][2]; /* state, event */
	/* The members up to `server`, without it, are zero when a request begins
	 * (stream_clear_exchange). */
	struct proxy *be;
	struct server *srv;     /* the chosen server; it holds a slot if has_slot */
	struct server *bound;   /* the server that persistence requires; NULL: none */
	uint64_t waits_since_ms; /* start of the wait in a queue */
	uint64_t queued_ms;     /* when it got a server slot (0: not yet) */
	uint64_t connected_ms;  /* 0: not yet */
	uint32_t queue_before;  /* %sq: position in its server's queue, see slot_queue_locked() */
	uint32_t be_queue_before; /* %bq */
	uint16_t retries;       /* number of retries so far */
	uint16_t linger_checks; /* in LINGER */
	int16_t connect_err;    /* of the last failed connect(): errno, ERR_RANGE; 0: timeout */
	int8_t log_level;       /* set-log-level: 0 not set, -1 silent, else LOG_LEVEL_x + 1 */
	uint8_t server_err;     /* enum conn_err: why the last attempt to reach a server failed;
				 * NONE: it has not, or it was refused or too late */
	uint32_t key;           /* the balancing key, if has_key */
	/* Its priority in queues (set-priority-class, set-priority-offset). */
	int32_t prio_class : 12, prio_offset : 20;
	unsigned int left_be_cur; /* has_left: values for its last log line */
	union {
		unsigned int left_srv_cur;
		uint32_t slot;  /* until then: the number of its slot, of server.slots */
	};
	/* Microseconds that queued_ms and connected_ms leave out. */
	uint32_t queued_us : 10, connected_us : 10;
	uint32_t redispatch : 1; /* the next assignment avoids srv */
	uint32_t redispatched : 1;
	uint32_t forced : 1;    /* force-persist: only that server may be used */
	uint32_t has_key : 1;
	uint32_t has_joined : 1; /* its backend has counted it */
	uint32_t has_left : 1;  /* it left the backend */
	uint32_t counts_be : 1, counts_srv : 1; /* all bytes of the request so far are counted:
					         * byte_count.c */
	uint32_t opens : 1;     /* in CONNECT, HANDSHAKE: others wait for its connection, or may */
	uint32_t joins : 1;     /* in CONNECT: it waits for one of those, or for a place
			         * (session/connect.c) */
	uint32_t awaits_place : 1; /* the latter: strict-maxconn permits no connection */
	uint32_t looked_again : 1; /* it has checked for a FIN after the server's first bytes */
	uint8_t retries_set;    /* set-retries: its number + 1; 0: as in the backend */
	struct conn server;     /* conn[SERVER] */
};

/* Clears what belongs to one exchange, for the next one. It waits for nothing and has no slot. */
static inline void
stream_clear_exchange(struct stream *s)
{
	mem_clear(&s->be, offsetof(struct stream, server) - offsetof(struct stream, be));
}

/* The most retries. It has a backend. */
static inline int
stream_retries_most(const struct stream *s)
{
	return s->retries_set ? s->retries_set - 1 : s->be->retries;
}

/* Its server, or NULL, for its own worker, also while it waits in a queue: then other workers set
 * it, under the lock of the backend. */
static inline struct server *
stream_chosen_server(const struct stream *s)
{
	return atomic_read(&s->srv);
}

/* The clock of its worker's loop. */
static inline uint64_t
stream_now_ms(const struct stream *s)
{
	return loop_now_ms(s->engine->loop);
}

/* The microseconds that this leaves out: 0..999. */
static inline unsigned int
stream_now_us(const struct stream *s)
{
	return loop_now_us(s->engine->loop);
}

#endif
