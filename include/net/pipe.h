/*
 * Pipes for splice(): a limited pool, one per worker. A used pipe belongs to one direction of one
 * connection and holds data in transit; only empty pipes are used again. Idle pipes are closed by
 * pipe_pool_trim(). Single-threaded.
 */
#ifndef TACIT_NET_PIPE_H
#define TACIT_NET_PIPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/sys.h"

/* Idle pipes kept open for the next transfers. */
#define PIPES_KEPT 32
/* If no size is configured, the first pipes of a pool get this size and the others the system's
 * default: the total has to stay below fs.pipe-user-pages-soft. */
#define PIPES_BIG 16
#define PIPE_SIZE_BIG (256 << 10)
/* Milliseconds without new attempts after a pipe could not be opened. */
#define PIPE_RETRY_MS 1000
/* The smallest useful pipe. The kernel gives two pages to a user with too many pipes; copying is
 * cheaper than using those. */
#define PIPE_SIZE_MIN 16384
#define PIPE_SIZE_MAX (1 << 30)

struct pipe {
	struct list link; /* in pipe_pool.idle */
	int rd, wr;       /* non-blocking */
	size_t bytes;     /* bytes in it; maintained by its user */
};

struct pipe_pool {
	struct sys *sys;
	struct pool objects;
	struct list idle;     /* the most recently used is the first */
	unsigned int max;     /* maximum number of pipes, used and idle; 0: no pipes */
	unsigned int size;    /* size of each pipe; 0: see PIPES_BIG */
	_Atomic uint64_t bytes;       /* bytes in all pipes; maintained by their users */
	_Atomic unsigned int used;
	_Atomic unsigned int n_idle;
	unsigned int spare;   /* lowest n_idle since the last trim */
	uint64_t retry_ms;    /* time of the next attempt to open one */
	uint64_t made, refused; /* pipes opened, and attempts that failed */
};

/* Opens no pipe. */
void pipe_pool_init(struct pipe_pool *pp, struct sys *sys, unsigned int max, unsigned int size);
/* Closes the idle pipes; none may be in use (asserted). */
void pipe_pool_fini(struct pipe_pool *pp);
/*
 * An empty pipe of at least PIPE_SIZE_MIN, or NULL: the limit is reached, the kernel recently
 * failed to open one (pipe2: EMFILE, ENFILE, ENOMEM), or it opened a pipe that is too small, as for
 * a user with too many pipes (fs.pipe-user-pages-soft).
 */
struct pipe *pipe_get(struct pipe_pool *pp, uint64_t now_ms) must_check;
/* Returns an empty pipe to the pool (asserted). */
void pipe_put(struct pipe_pool *pp, struct pipe *p);
/* Closes a pipe with its contents. */
void pipe_drop(struct pipe_pool *pp, struct pipe *p);
/* Closes the pipes that were not used since the last call. Returns the number that is left idle. */
unsigned int pipe_pool_trim(struct pipe_pool *pp);

#endif
