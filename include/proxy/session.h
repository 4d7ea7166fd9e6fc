/*
 * A session: one forwarded connection, its two conns and two halves, driven by fsm.c alone.
 * The engine is what all sessions of a worker share.
 */
#ifndef TACIT_PROXY_SESSION_H
#define TACIT_PROXY_SESSION_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/gate.h"
#include "base/list.h"
#include "base/mem.h"
#include "event/loop.h"
#include "event/timer.h"
#include "net/conn.h"
#include "net/pipe.h"
#include "net/zerocopy.h"
#include "proxy/fsm.h"
#include "proxy/look.h"
#include "proxy/proxy.h"
#include "rule/var.h"

enum side { CLIENT, SERVER, SIDES };

struct session;
struct http_txn;
struct sockbuf;

/* One direction. half[CLIENT] reads from the client and writes to the server. */
struct half {
	enum half_state state;
	uint8_t broken;         /* ended by a reset: neither end may take it for a clean one */
	uint8_t stuck;          /* what the source has sent is left with the kernel: no buffer */
	uint32_t head, tail;    /* pending bytes in buf */
	uint32_t ahead;         /* and behind them those that were read before it was their turn */
	uint8_t resend;         /* what was sent stays in buf: it may have to be sent again */
	uint8_t starves;        /* a head is to be read, and there is no buffer for it */
	char *buf;              /* what the sink refused; NULL most of the time */
	struct pipe *pipe;      /* behind buf; NULL whenever nothing is in it */
	struct zerocopy_pin *pin; /* of buf, when it was sent from in place */
	uint64_t bytes;         /* read from the source */
	uint32_t burst;         /* since the source was last drained */
	uint8_t lulls;          /* bursts in a row that were none */
	uint8_t streams;        /* it has much to say: worth a pipe, or a bigger buffer */
	uint8_t no_splice;      /* the kernel refused */
	uint8_t is_big;         /* buf is of streams.bufs */
	uint8_t waits;          /* for its turn among the streams */
	uint8_t side;           /* which half of its session it is, while it waits */
	struct list turn_link;  /* in streams.waiting */
};

/* tune.splice.after, unless it is given. */
#define STREAM_AFTER_DEFAULT 65536

/* What a worker's streams share: proxy/stream.h. */
struct streams {
	unsigned int after;      /* tune.splice.after: bytes without a pause make a stream */
	unsigned int bufsize;    /* tune.stream.bufsize; 0: no bigger than the others */
	unsigned int per_turn;   /* tune.stream.turn: bytes of them that a turn forwards; 0: all */
	struct pool bufs;
	uint64_t turn, left;     /* the turn at work, and what is left of it */
	uint64_t others_ms;      /* when anybody but streams last had something to say */
	struct list waiting;     /* struct half.turn_link */
	struct task task;
	uint64_t waits;          /* times one had to wait */
};

/* A worker's idle connections to servers: proxy/idle.h. */
struct idle_pool {
	struct pool pool;
	struct list all;         /* struct idle_conn.age, oldest first */
	struct list held;        /* the same, of those that a session keeps for itself */
	struct list over;        /* to be closed at the end of the turn */
	struct list lists;       /* struct idle_list.link */
	struct task task;
	/* Descriptors in use of this worker from which on no more are kept, and from which on the
	 * oldest one makes room. */
	unsigned int low_fds, high_fds;
};

/* Depth of the (state, event) history kept for show sess and crash lines. */
#define SESSION_HISTORY 8

struct session {
	enum session_state state;
	struct half half[SIDES];
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
	struct http_txn *txn;   /* mode http, from a request's first byte on; else NULL */
	struct server *srv;     /* chosen; holds a slot when has_slot */
	enum session_event posted; /* what the task is to deliver; NONE: first I/O */
	uint64_t state_ms;      /* when the state was entered */
	uint64_t
		wake_ms; /* in RETRY and LINGER, and while a head waits for memory: when to go on */
	uint64_t accept_wall_ns;
	uint64_t accept_ms;
	uint64_t waits_since_ms; /* in a queue */
	uint64_t queued_ms;     /* when it got a server slot (0: not yet) */
	uint64_t connected_ms;  /* 0: not yet */
	uint64_t last_ms[SIDES]; /* last bytes read from or written to that side */
	uint64_t id;            /* unique in the process; see engine.next_id */
	uint32_t queue_before;  /* %sq: its place in the queue of its server, see slot_queue() */
	uint32_t be_queue_before; /* %bq */
	uint32_t requests;      /* mode http: begun so far, with the one at work */
	uint16_t retries;       /* made so far */
	uint16_t linger_checks; /* in LINGER */
	int connect_err;        /* errno of the last failed connect(); 0: it timed out */
	uint8_t redispatch;     /* the next assignment is to avoid srv */
	uint8_t redispatched;
	uint8_t has_slot;
	/* Other workers may see it: srv, has_slot, queue_link and its places in the queues belong
	 * to the backend's lock until it knows that it has a slot. */
	uint8_t waits;
	uint8_t has_left;       /* the backend; what its last line says of it: */
	unsigned int left_be_cur, left_srv_cur;
	uint8_t logged;
	uint8_t looked_again;   /* for a FIN behind the server's first bytes */
	char term[2];           /* termination code: cause and phase, '-' before known */
	uint8_t hist[SESSION_HISTORY][2]; /* state, event */
	uint8_t hist_n;
	struct vars vars;       /* of scope sess */
	struct addr peer;       /* the client's address; short for inet */
};

/* What the engines of all workers share. Nothing else of it changes while they run. */
struct engine_shared {
	unsigned int n;              /* engines */
	unsigned int max_sessions;   /* of the process */
	char apart[CACHE_LINE];
	struct gate gate;            /* open sessions */
	uint64_t second;             /* connections of this second (base/freq.h) */
	struct vars vars;            /* of scope proc */
	struct lock vars_lock;
	char apart_too[CACHE_LINE];
};

/* What sessions of one worker share. Owned by app/worker. */
struct engine {
	unsigned int index;          /* of the worker, 0..: its shard of what is counted */
	struct loop *loop;
	struct sys *sys;
	struct list sessions;
	unsigned int n_sessions;
	struct engine_shared *shared;
	struct engine_shared alone;  /* of the only engine */
	int is_full;                 /* the process is, and our listeners are held: admit.h */
	uint64_t next_id;            /* times shared->n, plus index, is a session's id */
	struct pool session_pool;
	struct pool buf_pool;
	struct pool txn_pool;
	struct zerocopy_pool zerocopy;
	char *scratch;
	struct look_room look;
	unsigned int bufsize;        /* tune.bufsize */
	unsigned int maxrewrite;     /* tune.maxrewrite */
	unsigned int maxhdr;         /* tune.http.maxhdr: fields of a head */
	unsigned int max_reads;      /* per half and turn */
	const struct sockbuf *server_buf; /* of sockets to servers; NULL: the kernel's own */
	uint64_t fsm_bugs;           /* (state, event) pairs outside the table */
	uint64_t cum_conns, cum_sess, bytes_out, bytes_in;
	uint64_t requests;           /* of mode http */
	uint64_t max_memory;         /* of both pools, 0: no bound; see memory.h */
	uint64_t stop_ms;            /* when a soft stop began on the loop's clock, 0: it has not */
	int memory_tight;            /* new sessions have to wait */
	uint64_t memory_holds;       /* how often they had to */
	uint64_t buf_waits;          /* how often a half had to do without a buffer */
	uint64_t lingers;
	uint64_t elided_inline;      /* freed slots that went to a session of the same worker */
	uint64_t granted;            /* and of another, which takes a message */
	struct streams streams;
	struct idle_pool idle;
	struct pipe_pool pipes;
	struct timer pipe_timer;     /* closes idle pipes */
	uint64_t spliced;            /* bytes that went out of a pipe */
	uint64_t splice_fallbacks;   /* reads that were copied and should not have been */
	struct freq conn_rate, sess_rate;
	struct log_sink *log;        /* where session lines go (base/log.h) */
	struct trace *trace;         /* base/trace.h; NULL: off */
	/* is_full was set; it was cleared, or a session ended (also the last one). May be NULL. */
	void (*on_full)(struct engine *e);
	void (*on_release)(struct engine *e);
	/* memory_tight has changed. May be NULL. */
	void (*on_memory)(struct engine *e);
	/* Has queue_collect(its engine, be) run on the worker `target`, soon: none may get lost.
	 * Not called with one worker. */
	void (*poke)(struct engine *e, unsigned int target, struct proxy *be);
	/* The same for admit_resume(its engine, fe); fe may be NULL. */
	void (*poke_resume)(struct engine *e, unsigned int target, struct proxy *fe);
	void *owner;
};

/* Of n engines, max_sessions being the process's. */
void engine_shared_init(struct engine_shared *sh, unsigned int n, unsigned int max_sessions);
void engine_shared_fini(struct engine_shared *sh);
/* An engine alone; max_sessions is the process's. 0 or a negative reason. */
int engine_init(struct engine *e, struct sys *sys, struct loop *loop, unsigned int bufsize,
	unsigned int max_sessions) must_check;
/* How much room of a buffer what is added to a head may take, and how many fields a head may have.
 * 1024 (half of bufsize at most) and 101 before. */
void engine_allow_http(struct engine *e, unsigned int maxrewrite, unsigned int maxhdr);
/* It is number `index` of shared->n that share, which must outlive it. Before it has sessions. */
void engine_join(struct engine *e, struct engine_shared *shared, unsigned int index);
/* How streams are told and treated: see struct streams. Before it has sessions. 0 or -ERR_NOMEM. */
int engine_allow_streams(struct engine *e, unsigned int after, unsigned int bufsize,
	unsigned int per_turn) must_check;
/* Lets streams go through so many pipes of so many bytes (0: the system's size), where an option
 * asks for it. None before. */
void engine_allow_splice(struct engine *e, unsigned int max_pipes, unsigned int pipe_size);
/* Sends of `threshold` bytes and more are not copied where that can be, with at most `max` bytes of
 * buffers pinned. Of a new engine, before memory_bound(). */
void engine_allow_zerocopy(struct engine *e, size_t threshold, uint64_t max, int fast_path);
/* No session may live (asserted). */
void engine_fini(struct engine *e);
/* Listener callback: the listener's owner is the frontend, its worker the engine. Takes fd in any
 * case. */
void session_on_accept(struct listener *ln, int fd, const struct addr *peer);
/* Has ev delivered in this turn, after what runs now. At most one is on its way. */
void session_post(struct session *s, enum session_event ev);
/* A direction that waited for its turn has it. */
void session_go_on(struct session *s, int side);
/* Takes an idle connection to s->srv as its own: 1, or 0: a new one has to be made. */
int session_reuse_server(struct session *s);
/* Takes over the socket of a connect() that is on its way. 0, or a negative reason: fd stays the
 * caller's. */
int session_open_server(struct session *s, int fd, enum conn_kind kind) must_check;
/* Ends it with cause 'K' ("killed"). */
void session_kill(struct session *s);
/* The process wants to stop: no connection is kept for another request. */
void engine_soft_stop(struct engine *e);
/* Ends all; used at hard stop. */
void engine_kill_all(struct engine *e);

#endif
