/*
 * One address for several workers (manual 5.1, `shards`): its listener is copied for each worker
 * that may accept on it. The copies share one socket, or have separate sockets that the kernel
 * distributes connections to (SO_REUSEPORT).
 */
#ifndef TACIT_NET_SHARDS_H
#define TACIT_NET_SHARDS_H

#include <stdint.h>

#include "base/compiler.h"

struct bind_conf;
struct listener;

#define SHARDS_THREADS_MAX 64

/* The listeners of one address. */
struct listener_group {
	unsigned int n;
	unsigned int next; /* the next to get a connection with round robin */
	struct listener *of[SHARDS_THREADS_MAX];
};

/*
 * Copies b's listeners for the workers in `threads` (bit i: worker i; not 0), with at most `shards`
 * sockets for each address; unix and inherited sockets are always shared. Called once, before they
 * are bound. 0 or -ERR_NOMEM: the copies made so far belong to b.
 */
int shards_make(struct bind_conf *b, uint64_t threads, unsigned int shards) must_check;

#endif
