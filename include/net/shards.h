/*
 * One address for several workers (manual 5.1, `shards`): its listener is copied for each worker
 * that may accept on it, and the copies share one socket, or have sockets of their own that the
 * kernel spreads connections over (SO_REUSEPORT).
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
	unsigned int next; /* the next to get a connection, where they are given away in turn */
	struct listener *of[SHARDS_THREADS_MAX];
};

/*
 * Copies b's listeners for the workers in `threads` (bit i: worker i; not 0), on at most `shards`
 * sockets for each address; unix sockets and inherited ones are always shared. Once, before they
 * are bound. 0 or -ERR_NOMEM: what was copied stays b's.
 */
int shards_make(struct bind_conf *b, uint64_t threads, unsigned int shards) must_check;

#endif
