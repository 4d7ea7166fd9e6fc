/*
 * Random worlds of both modes: their configuration (random_config.c), the events in them
 * (random_run.c), and what plays and checks them (random_world.c, http_random.c). Users:
 * test_simulation.c, fuzz_fsm.c.
 */
#ifndef TACIT_SIM_RANDOM_WORLD_H
#define TACIT_SIM_RANDOM_WORLD_H

#include "sim/dice.h"
#include "sim/world.h"

/* Any mode, sizes, delays, limits and servers: the configuration of a random world. */

/* kind: all ends are patient and nothing is scarce. */
struct world_config random_config(struct dice *d, int kind);
/* Configuration lines for a world of mode tcp, or NULL: in a kind world they end no session. */
const char *random_rules(struct dice *d, int kind);
/* The rest: the amount of memory, and zero-copy sends. */
void random_bounds(struct dice *d, struct world_config *c);
/* The first data of a client where a PROXY header is expected: in a kind world a header. */
const char *random_header(struct dice *d, int kind);

/* Memory of a connection with TLS, about: tls_counts.c. */
#define RANDOM_TLS_BYTES 16384
/* TLS on some sides of a world of n clients, in some worlds; nothing is drawn for it. */
void random_tls(unsigned int n, struct world_config *c);

/* Events of a random world: failing calls, admin commands, a sudden end. */

/* n: number of clients. In kind worlds nothing but their actions happens. */
void random_run(struct world *w, struct dice *d, int kind, unsigned int n);

/*
 * Random worlds: any mode, sizes, delays, limits; servers that are near, far, refuse, do not answer
 * or reset; clients that connect at any time and send, pause, shut, close and reset. The checks of
 * world.h decide. In kind worlds, where all ends are patient and correct, every byte must be
 * delivered and every session end well.
 */

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
	uint32_t rows[STREAM_STATES];
	uint32_t session_rows[SESSION_STATES];
	char why[500];       /* "" if nothing is wrong */
};

/* Plays one world; with show the trace is printed on stdout. 0, or -1 with r->why. */
int random_world_play(struct dice *d, unsigned int max_clients, uint32_t max_bytes, int show,
		struct random_world_result *r);

/*
 * Random worlds of mode http: requests of all kinds; servers that respond early, twice, partially
 * or not at all, and close and reset connections at any time; any reuse, retries, local replies.
 * The checks of http_book.h and of the world decide. In kind worlds servers at most close idle
 * connections: then each request must be answered.
 *
 * In a third of the worlds most clients speak HTTP/2, with up to five requests at once. In a kind
 * world some of these are reset by their client, and some servers fail for one request: the others
 * must be answered all the same.
 */

struct http_random_result {
	struct random_world_result base;
	unsigned int requests, whole, own, again, reused;
	/* Persistence counters: requests that named a server, clients that got a cookie; requests
	 * logged with captures; a soft stop. */
	unsigned int bound, told, logged, stopped;
	unsigned int multiplexed; /* a client had several streams at once */
	size_t grown; /* the most bytes that rules added to a head which came whole */
};

int http_random_play(struct dice *d, unsigned int max_clients, uint32_t max_bytes, int show,
	struct http_random_result *r);

#endif
