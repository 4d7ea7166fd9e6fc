/*
 * A session: one forwarded connection, its two conns and two directions, driven by fsm.c alone.
 */
#ifndef TACIT_PROXY_MODEL_SESSION_H
#define TACIT_PROXY_MODEL_SESSION_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "event/loop.h"
#include "event/timer.h"
#include "net/conn.h"
#include "net/pipe.h"
#include "proxy/model/engine.h"
#include "proxy/model/fsm.h"
#include "proxy/model/proxy.h"
#include "rule/sample/var.h"

enum side { CLIENT, SERVER, SIDES };

struct session;
struct captures;
struct http_txn;
struct relay_ops;
struct zerocopy_pin;

/* One direction. dir[CLIENT] reads from the client and writes to the server. */
struct direction {
	enum direction_state state;
	const struct relay_ops *ops; /* what is done with its bytes: proxy/relay/relay_ops.h */
	uint8_t broken;         /* ended by a reset: neither end may take it for a clean one */
	uint8_t left_in_kernel; /* what the source has sent is left with the kernel: no buffer */
	uint32_t head, tail;    /* pending bytes in buf */
	uint32_t lookahead;     /* and behind them those that were read before it was their turn */
	uint8_t resend;         /* what was sent stays in buf: it may have to be sent again */
	uint8_t waits_for_buffer;        /* a head is to be read, and there is no buffer for it */
	char *buf;              /* what the sink refused; NULL most of the time */
	struct pipe *pipe;      /* behind buf; NULL whenever nothing is in it */
	struct zerocopy_pin *pin; /* of buf, when it was sent from in place */
	uint64_t bytes;         /* read from the source */
	uint64_t counted;       /* of its message, those that byte_count.c has counted */
	uint32_t burst;         /* since the source was last drained */
	uint8_t short_bursts;          /* bursts in a row that were none */
	uint8_t is_bulk;        /* it has much to say: worth a pipe, or a bigger buffer */
	uint8_t no_splice;      /* the kernel refused */
	uint8_t is_big;         /* buf is of streams.bufs */
	uint8_t waits;          /* for its turn among the streams */
	uint8_t side;           /* which direction of its session it is, while it waits */
	struct list turn_link;  /* in streams.waiting */
};

/* Depth of the (state, event) history kept for show sess and crash lines. */
#define SESSION_HISTORY 8

struct session {
	enum session_state state;
	struct direction dir[SIDES];
	struct conn conn[SIDES];
	struct timer timer;
	struct task task;       /* first I/O, then the end of turn */
	struct list link;       /* engine.sessions */
	struct list queue_link; /* in a shard: server's queue, proxy's queue or granted */
	struct engine *engine;
	struct listener *listener;
	struct proxy *fe;
	struct proxy *be;
	struct idle_conn *held; /* mode http: a connection to a server that is its own, at rest */
	unsigned int uses;      /* requests that conn[SERVER] has carried */
	uint8_t is_private;     /* conn[SERVER] is authenticated: nobody else may use it */
	uint8_t held_private;   /* the same of the one that is held */
	struct http_txn *txn;   /* mode http, from a request's first byte on; else NULL */
	struct captures *captures; /* proxy/sample/capture.h; NULL: none */
	struct session_addr_override *endpoints; /* what rules said of it; NULL: nothing */
	struct server *srv;     /* chosen; holds a slot when has_slot */
	struct server *bound;   /* by persistence, before anything was balanced; NULL: to none */
	enum session_event posted; /* what the task is to deliver; NONE: first I/O */
	uint64_t state_ms;      /* when the state was entered */
	uint64_t
		wake_ms; /* in RETRY and LINGER, and while a head waits for memory: when to go on */
	uint64_t accept_wall_ns;
	uint64_t accept_ms;
	uint64_t begun_ms;      /* the same, or when its PROXY header had come; 0: not yet */
	uint64_t waits_since_ms; /* in a queue */
	uint64_t queued_ms;     /* when it got a server slot (0: not yet) */
	uint64_t connected_ms;  /* 0: not yet */
	uint64_t last_ms[SIDES]; /* last bytes read from or written to that side */
	uint64_t id;            /* unique in the process: engine_next_id() */
	uint32_t queue_before;  /* %sq: its place in the queue of its server, see slot_queue() */
	uint32_t be_queue_before; /* %bq */
	uint32_t requests;      /* mode http: begun so far, with the one at work */
	uint16_t retries;       /* made so far */
	uint16_t linger_checks; /* in LINGER */
	uint32_t key;           /* what the backend's algorithm hashes, if has_key */
	int connect_err;        /* errno of the last failed connect(); 0: it timed out */
	uint8_t redispatch;     /* the next assignment is to avoid srv */
	uint8_t redispatched;
	uint8_t forced;         /* force-persist: to that server or to none */
	uint8_t has_key;
	uint8_t has_slot;
	/* Other workers may see it: srv, has_slot, queue_link and its places in the queues belong
	 * to the backend's lock until it knows that it has a slot. */
	uint8_t waits;
	uint8_t has_left;       /* the backend; what its last line says of it: */
	unsigned int left_be_cur, left_srv_cur;
	uint8_t counts_be, counts_srv; /* all bytes of the request so far: byte_count.c */
	uint8_t logged;
	uint8_t speculates_read; /* mode http: the answer is looked for before anybody told of it */
	int8_t log_level;       /* set-log-level: 0 not set, -1 silent, else LOG_LEVEL_x + 1 */
	uint8_t has_header;     /* it began with a PROXY header */
	uint8_t header_err;     /* enum proxy_header_err: why it never began */
	uint8_t looked_again;   /* for a FIN behind the server's first bytes */
	char term[2];           /* termination code: cause and phase, '-' before known */
	uint8_t hist[SESSION_HISTORY][2]; /* state, event */
	uint8_t hist_n;
	struct vars vars;       /* of scope sess */
	struct addr peer;       /* the client's address; short for inet */
};

#endif
