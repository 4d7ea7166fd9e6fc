/*
 * Pipes for splice(): a bounded pool, one per worker. A pipe in use belongs to one direction of one
 * connection and holds bytes that are on their way; only an empty one is ever used again. What lies
 * idle is closed after a while: see pipe_pool_trim(). Single-threaded.
 */
#ifndef TACIT_NET_PIPE_H
#define TACIT_NET_PIPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/sys.h"

/* Idle pipes kept open for the next transfer. */
#define PIPES_KEPT 32
/* Where no size is asked for, the first so many of a pool are made of that size and the others as
 * the system has it: all together have to stay below fs.pipe-user-pages-soft. */
#define PIPES_BIG 16
#define PIPE_SIZE_BIG (256 << 10)
/* After a pipe could not be had none is asked for: milliseconds. */
#define PIPE_RETRY_MS 1000
/* Bytes of a pipe of use: the kernel gives two pages to a user that has too many, and what goes
 * through so little at a time is sooner copied. */
#define PIPE_SIZE_MIN 16384
#define PIPE_SIZE_MAX (1 << 30)

struct pipe {
	struct list link; /* in pipe_pool.idle */
	int rd, wr;       /* non-blocking */
	size_t bytes;     /* in it now: its user keeps count */
};

struct pipe_pool {
	struct sys *sys;
	struct pool objects;
	struct list idle;     /* the last one put back is the first */
	unsigned int max;     /* pipes at once, used and idle; 0: never any */
	unsigned int size;    /* bytes each is to hold; 0: see PIPES_BIG */
	_Atomic uint64_t bytes;       /* in all of them: their user keeps count here as well */
	_Atomic unsigned int used;
	_Atomic unsigned int n_idle;
	unsigned int spare;   /* the least n_idle since the last trim */
	uint64_t retry_ms;    /* no new one is made before */
	uint64_t made, refused; /* pipes made; and asked for in vain */
};

/* Opens nothing yet. */
void pipe_pool_init(struct pipe_pool *pp, struct sys *sys, unsigned int max, unsigned int size);
/* Closes the idle ones; none may be in use (asserted). */
void pipe_pool_fini(struct pipe_pool *pp);
/*
 * An empty pipe of PIPE_SIZE_MIN at least, or NULL: as many as may be are in use, or the kernel
 * gave none lately (pipe2: EMFILE, ENFILE, ENOMEM), or one too small to be of use, as it does for a
 * user that holds too many (fs.pipe-user-pages-soft).
 */
struct pipe *pipe_get(struct pipe_pool *pp, uint64_t now_ms) must_check;
/* Puts back an empty one (asserted). */
void pipe_put(struct pipe_pool *pp, struct pipe *p);
/* Closes one, with what it may hold. */
void pipe_drop(struct pipe_pool *pp, struct pipe *p);
/* Closes the pipes that were not needed since the last time; the number that is left idle. */
unsigned int pipe_pool_trim(struct pipe_pool *pp);

#endif
