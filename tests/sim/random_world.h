/*
 * Random worlds: any mode, sizes, delays, limits; servers that are near, far, refuse, do not answer
 * or reset; clients that connect at any time and send, pause, shut, close and reset. The checks of
 * world.h decide. In kind worlds, where all ends are patient and correct, every byte must be
 * delivered and every session end well.
 */
#ifndef TACIT_SIM_RANDOM_WORLD_H
#define TACIT_SIM_RANDOM_WORLD_H

#include "sim/dice.h"
#include "sim/world.h"

struct random_world_result {
	int kind;
	int tls;             /* a side speaks TLS */
	unsigned int clients;
	uint64_t bytes;      /* read by all ends */
	uint64_t bulk_waits;
	uint64_t spliced;    /* of them, through pipes */
	uint64_t calls, waits;
	uint64_t empty_waits; /* waits before which nothing was moved */
	uint64_t buf_waits, memory_holds, zerocopied;
	uint32_t rows[SESSION_STATES];
	char why[500];       /* "" if nothing is wrong */
};

/* Plays one world; with show the trace is printed on stdout. 0, or -1 with r->why. */
int random_world_play(struct dice *d, unsigned int max_clients, uint32_t max_bytes, int show,
		struct random_world_result *r);

#endif
