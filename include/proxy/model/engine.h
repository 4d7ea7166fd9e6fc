/* What the sessions of one worker share, and what workers share of it. Owned by app/worker. */
#ifndef TACIT_PROXY_MODEL_ENGINE_H
#define TACIT_PROXY_MODEL_ENGINE_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/cursors.h"
#include "base/gate.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/pool.h"
#include "event/loop.h"
#include "event/timer.h"
#include "net/pipe.h"
#include "net/zerocopy.h"
#include "proxy/model/eval_scratch.h"
#include "proxy/model/proxy.h"
#include "rule/sample/var.h"

struct log_sink;
struct session;
struct sockbuf;
struct trace;

/* tune.splice.after, unless it is given. */
#define BULK_AFTER_DEFAULT 65536

/* The rate of bytes is kept in pieces of so many: 32 bits suffice for it then. */
#define SENT_PIECE 32u

/* What a worker's streams share: proxy/stream.h. */
struct bulk_shared {
	unsigned int after;      /* tune.splice.after: bytes without a pause make a stream */
	unsigned int bufsize;    /* tune.bulk.bufsize; 0: no bigger than the others */
	unsigned int per_turn;   /* tune.bulk.turn: bytes of them that a turn forwards; 0: all */
	struct pool bufs;
	uint64_t turn, left;     /* the turn at work, and what is left of it */
	uint64_t others_ms;      /* when anybody but streams last had something to say */
	struct list waiting;     /* struct direction.turn_link */
	struct task task;
	_Atomic uint64_t waits;          /* times one had to wait */
};

/* A worker's idle connections to servers: proxy/backend/conn_pool.h. */
struct conn_pool {
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

/* What the engines of all workers share. Nothing else of it changes while they run. */
struct engine_shared {
	unsigned int n;              /* engines */
	unsigned int max_sessions;   /* of the process */
	char apart[CACHE_LINE];
	struct gate gate;            /* open sessions */
	uint64_t second;             /* connections of this second (base/freq.h) */
	struct vars vars;            /* of scope proc */
	struct lock vars_lock;
	int screens;                 /* there were connections that need not become sessions */
	char apart_too[CACHE_LINE];
};

struct engine {
	unsigned int index;          /* of the worker, 0..: its shard of what is counted */
	struct loop *loop;
	struct sys *sys;
	struct list sessions;        /* in the order of their numbers */
	struct cursors walks;        /* through them: session/session_walk.h */
	unsigned int n_sessions;
	struct engine_shared *shared;
	struct engine_shared alone;  /* of the only engine */
	int is_full;                 /* the process is, and our listeners are held: conn_limits.h */
	uint64_t next_id;            /* engine_next_id() */
	struct pool session_pool;
	struct pool buf_pool;
	struct pool txn_pool;
	struct pool capture_pool;    /* engine_allow_captures() */
	struct pool addr_override_pool;
	struct zerocopy_pool zerocopy;
	char *scratch;
	struct eval_scratch eval;
	unsigned int bufsize;        /* tune.bufsize */
	unsigned int maxrewrite;     /* tune.maxrewrite */
	unsigned int maxhdr;         /* tune.http.maxhdr: fields of a head */
	unsigned int max_reads;      /* per direction and turn */
	int low_water;               /* tune.http.low-water */
	const struct sockbuf *server_buf; /* of sockets to servers; NULL: the kernel's own */
	_Atomic uint64_t fsm_bugs;           /* (state, event) pairs outside the table */
	_Atomic uint64_t cum_conns, cum_sess, bytes_out, bytes_in;
	_Atomic uint64_t bytes_sent;         /* to clients and servers */
	uint64_t sent_rest;                  /* of them, not in sent_rate yet */
	_Atomic uint64_t requests;           /* of mode http, and sessions of mode tcp */
	uint64_t max_memory;         /* of both pools, 0: no bound; see memory.h */
	uint64_t stop_ms;            /* when a soft stop began on the loop's clock, 0: it has not */
	int memory_tight;            /* new sessions have to wait */
	_Atomic uint64_t memory_holds;       /* how often they had to */
	_Atomic uint64_t buf_waits;          /* how often a direction had to do without a buffer */
	_Atomic uint64_t lingers;
	_Atomic uint64_t elided_inline; /* freed slots that went to a session of the same worker */
	_Atomic uint64_t granted;            /* and of another, which takes a message */
	struct bulk_shared bulk;
	struct conn_pool idle;
	struct pipe_pool pipes;
	struct timer pipe_timer;     /* closes idle pipes */
	_Atomic uint64_t spliced;            /* bytes that went out of a pipe */
	_Atomic uint64_t splice_fallbacks;   /* reads that were copied and should not have been */
	struct freq conn_rate, sess_rate;
	struct freq sent_rate;       /* in pieces of SENT_PIECE bytes */
	struct log_sink *log;        /* where session lines go (base/log.h) */
	struct trace *trace;         /* base/trace.h; NULL: off */
	/* is_full was set; it was cleared, or a session ended (also the last one). May be NULL. */
	void (*on_full)(struct engine *e);
	void (*on_release)(struct engine *e);
	/* memory_tight has changed. May be NULL. */
	void (*on_memory)(struct engine *e);
	/* What is to stand on the terminal as well as in logs. May be NULL. */
	void (*on_notice)(struct engine *e, int is_alert, const char *text);
	/* Has queue_collect(its engine, be) run on the worker `target`, soon: none may get lost.
	 * Not called with one worker. */
	void (*wake_worker)(struct engine *e, unsigned int target, struct proxy *be);
	/* The same for conn_limits_resume(its engine, fe); fe may be NULL. */
	void (*wake_resume)(struct engine *e, unsigned int target, struct proxy *fe);
	/* What is below the sessions calls them by these: events of a session's descriptor (owner:
	 * the session), a slot that a session of ours was given, a bulk transfer's turn. */
	loop_fd_fn *on_io;
	void (*on_slot)(struct session *s);
	void (*on_bulk_turn)(struct session *s, int side);
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
/* How streams are told and treated: see struct bulk_shared. Before it has sessions. 0 or
 * -ERR_NOMEM. */
int engine_allow_bulk(struct engine *e, unsigned int after, unsigned int bufsize,
	unsigned int per_turn) must_check;
/* Lets streams go through so many pipes of so many bytes (0: the system's size), where an option
 * asks for it. None before. */
void engine_allow_splice(struct engine *e, unsigned int max_pipes, unsigned int pipe_size);
/* Sends of `threshold` bytes and more are not copied where that can be, with at most `max` bytes of
 * buffers pinned. Of a new engine, before memory_bound(). */
void engine_allow_zerocopy(struct engine *e, size_t threshold, uint64_t max, int fast_path);
/* No session may live (asserted). */
void engine_fini(struct engine *e);
/* For a session, or a request after its first. */
static inline uint64_t
engine_next_id(struct engine *e)
{
	return ++e->next_id * e->shared->n + e->index;
}

#endif
