/*
 * Sends that the kernel does not copy (MSG_ZEROCOPY): it reads the bytes where they are until the
 * peer has acknowledged them, and answers on the socket's error queue. A buffer that was sent from
 * is pinned until then: to write to it would change what is sent, even after close(). TCP
 * only; where the kernel has to copy after all, as to this host itself, a connection stops asking.
 *
 * What became of a buffer at close() is never heard. Its memory is given up then: MADV_DONTNEED
 * leaves the kernel the pages it holds, and us with new ones: it can be used again at once.
 */
#ifndef TACIT_NET_ZEROCOPY_H
#define TACIT_NET_ZEROCOPY_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/ranges.h"
#include "net/conn.h"

/* Buffers begin at pages and fill them: no other bytes may go with theirs. */
#define ZEROCOPY_ALIGN 4096

/* One per worker, for all its connections. */
struct zerocopy_pool {
	struct sys *sys;
	struct pool *bufs;      /* buffers come from there and go back: of pages, see above */
	struct pool states, pins;
	struct list lost;       /* pins whose memory could not be given up: never used again */
	size_t threshold;       /* fewer bytes are copied; 0: all are */
	uint64_t max;           /* bytes of buffers that may be pinned at a time */
	int fast_path;          /* tune.ranges.fast-path */
	uint32_t first;         /* number of a socket's first send: 0, but for tests */
	_Atomic uint64_t pinned;        /* bytes of buffers that are */
	_Atomic uint64_t bytes;         /* sent from where they were */
	_Atomic uint64_t copied;        /* answers that they had to be copied */
	_Atomic uint64_t refused;       /* ENOBUFS: net.core.optmem_max, RLIMIT_MEMLOCK */
	_Atomic uint64_t full;          /* max was reached */
};

/* A buffer that was sent from. Its owner holds it until all of it is written. */
struct zerocopy_pin {
	struct list link;
	char *buf;
	uint32_t last;          /* number of the last send from it */
	uint8_t held;           /* by its owner */
	uint8_t flying;         /* in the connection's list */
	uint8_t lost;
};

/* bufs must have ZEROCOPY_ALIGN. Nothing is sent this way before threshold and max are set. */
void zerocopy_init(struct zerocopy_pool *zp, struct sys *sys, struct pool *bufs);
/* All connections are closed (asserted). */
void zerocopy_fini(struct zerocopy_pool *zp);

/* Is it worth while to read what goes to c into a buffer that can be pinned? */
int zerocopy_may(const struct zerocopy_pool *zp, const struct conn *c);
/*
 * As conn_send() of len bytes at p, which lie in buf: in place when they are enough and nothing is
 * against it, copied otherwise. *pin is buf's, NULL before the first send from it; the owner keeps
 * it beside buf and gives both to zerocopy_release().
 */
enum io_result zerocopy_send(struct zerocopy_pool *zp, struct conn *c, struct zerocopy_pin **pin,
	char *buf, const char *p, size_t len, int more, size_t *put);
/* The owner is done with buf: it goes back to its pool, now or when the kernel is done too. */
void zerocopy_release(struct zerocopy_pool *zp, struct zerocopy_pin **pin, char *buf);
/* EV_ERR: reads the answers. Their number, 0: it must have been something else. */
unsigned int zerocopy_reap(struct zerocopy_pool *zp, struct conn *c);
/* Before conn_close(): what is still pinned is given up. */
void zerocopy_close(struct zerocopy_pool *zp, struct conn *c);

#endif
