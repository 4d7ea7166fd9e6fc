/*
 * Zero-copy sends (MSG_ZEROCOPY): the kernel reads the bytes in place until the peer has
 * acknowledged them, and reports completions on the socket's error queue. The buffer is pinned
 * until then: writing to it would change the data that is sent, even after close(). TCP only. Where
 * the kernel copies anyway, as for local addresses, a connection stops using it.
 *
 * After close() no completions arrive. The memory of pinned buffers is then given up: with
 * MADV_DONTNEED the kernel keeps the old pages and the buffer gets new ones, so that it can be
 * reused at once.
 */
#ifndef TACIT_NET_ZEROCOPY_H
#define TACIT_NET_ZEROCOPY_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/ranges.h"
#include "net/conn.h"

/* Buffers are whole pages, so that no other data is given up with them. */
#define ZEROCOPY_ALIGN 4096

/* One per worker, for all its connections. */
struct zerocopy_pool {
	struct sys *sys;
	struct pool *bufs;      /* pool of the buffers: page-aligned, see above */
	struct pool states, pins;
	struct list lost;       /* pins whose memory could not be given up: never reused */
	size_t threshold;       /* minimum size of a send; smaller ones are copied; 0: all are */
	uint64_t max;           /* limit of pinned bytes */
	int fast_path;          /* tune.ranges.fast-path */
	uint32_t first;         /* number of a socket's first send: 0 except in tests */
	_Atomic uint64_t pinned;        /* pinned bytes */
	_Atomic uint64_t bytes;         /* bytes sent in place */
	_Atomic uint64_t copied;        /* completions that report a copy */
	_Atomic uint64_t refused;       /* ENOBUFS: net.core.optmem_max, RLIMIT_MEMLOCK */
	_Atomic uint64_t full;          /* max was reached */
};

/* A buffer that was sent from. Its owner keeps it until all of it is written. */
struct zerocopy_pin {
	struct list link;
	char *buf;
	uint32_t last;          /* number of the last send from it */
	uint8_t held;           /* its owner still uses it */
	uint8_t flying;         /* it is in the connection's list */
	uint8_t lost;
};

/* bufs must be aligned to ZEROCOPY_ALIGN. Disabled until threshold and max are set. */
void zerocopy_init(struct zerocopy_pool *zp, struct sys *sys, struct pool *bufs);
/* All connections must be closed (asserted). */
void zerocopy_fini(struct zerocopy_pool *zp);

/* True if data for c should be read into a buffer that can be pinned. */
int zerocopy_may(const struct zerocopy_pool *zp, const struct conn *c);
/*
 * As conn_send() of len bytes at p, which lie in buf: in place if len reaches the threshold and it
 * is possible, otherwise copied. *pin belongs to buf and is NULL before the first send from it; the
 * owner keeps it with buf and passes both to zerocopy_release().
 */
enum io_result zerocopy_send(struct zerocopy_pool *zp, struct conn *c, struct zerocopy_pin **pin,
	char *buf, const char *p, size_t len, int more, size_t *put);
/* The owner no longer uses buf: it returns to its pool now, or when the kernel has completed the
 * sends. */
void zerocopy_release(struct zerocopy_pool *zp, struct zerocopy_pin **pin, char *buf);
/* Reads the completions, on EV_ERR. Returns their number; 0: the event had another cause. */
unsigned int zerocopy_reap(struct zerocopy_pool *zp, struct conn *c);
/* Gives up the memory that is still pinned, before conn_close(). */
void zerocopy_give_up(struct zerocopy_pool *zp, struct conn *c);
static inline void
zerocopy_close(struct zerocopy_pool *zp, struct conn *c)
{
	if (unlikely(c->zerocopy != NULL))
		zerocopy_give_up(zp, c);
}


#endif
