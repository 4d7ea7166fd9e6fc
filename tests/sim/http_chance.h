/*
 * Worlds of mode http made by chance: requests of all kinds, servers that answer early, twice, in
 * part, not at all, that end and reset connections when they please; any reuse, retries, own
 * answers. The judge of http_judge.h decides, and that of the world. In kind worlds servers do
 * nothing worse than to end a connection that is kept: each request is answered then.
 */
#ifndef TACIT_SIM_HTTP_CHANCE_H
#define TACIT_SIM_HTTP_CHANCE_H

#include "sim/chance.h"

struct http_chance_result {
	struct chance_result base;
	unsigned int requests, whole, own, again, reused;
	/* Of persistence: requests that named a server, clients that were told of one; requests
	 * logged with captures; a soft stop. */
	unsigned int bound, told, logged, stopped;
};

int http_chance_play(struct dice *d, unsigned int max_clients, uint32_t max_bytes, int show,
	struct http_chance_result *r);

#endif
