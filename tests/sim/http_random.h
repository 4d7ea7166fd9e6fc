/*
 * Random worlds of mode http: requests of all kinds; servers that respond early, twice, partially
 * or not at all, and close and reset connections at any time; any reuse, retries, local replies.
 * The checks of http_book.h and of the world decide. In kind worlds servers at most close idle
 * connections: then each request must be answered.
 */
#ifndef TACIT_SIM_HTTP_RANDOM_H
#define TACIT_SIM_HTTP_RANDOM_H

#include "sim/random_world.h"

struct http_random_result {
	struct random_world_result base;
	unsigned int requests, whole, own, again, reused;
	/* Persistence counters: requests that named a server, clients that got a cookie; requests
	 * logged with captures; a soft stop. */
	unsigned int bound, told, logged, stopped;
	size_t grown; /* the most bytes that rules added to a head which came whole */
};

int http_random_play(struct dice *d, unsigned int max_clients, uint32_t max_bytes, int show,
	struct http_random_result *r);

#endif
