/*
 * Histograms of the times of sessions, in one shard per worker as other counters are
 * (proxy/model/shard.h). A worker allocates its shard of a proxy or server at the first session
 * that it counts there, since most workers never use most of many servers. Without memory the
 * session is left out. Under a master the shards lie in the memory file of the process
 * (app/process/keep.h): their room is there from the start, since a later process looks for them
 * once, but a page of it takes no memory until a worker counts there.
 */
#ifndef TACIT_PROXY_MODEL_LATENCY_H
#define TACIT_PROXY_MODEL_LATENCY_H

#include <stdint.h>

#include "base/compiler.h"

enum latency_kind {
#define LATENCY_KIND(id, name, help) LATENCY_##id,
#include "proxy/model/latency.tbl.h"
#undef LATENCY_KIND
	LATENCIES
};

enum {
	/* Numbers of the bounds, from 0. */
#define LATENCY_BOUND(us, text) LATENCY_BOUND_##us,
#include "proxy/model/latency.tbl.h"
#undef LATENCY_BOUND
	LATENCY_BOUNDS,
	LATENCY_BUCKETS = LATENCY_BOUNDS + 1
};

struct latency {
	_Atomic uint64_t sum_us[LATENCIES];
	_Atomic uint64_t n[LATENCIES][LATENCY_BUCKETS]; /* not cumulative */
};

/* One of several side by side. */
struct latency_row {
	struct latency counts;
} cacheline_aligned;

/* The histograms of one worker: NULL until there is something in it. The worker sets it once; any
 * thread may read it. */
struct latency_shard {
	struct latency *_Atomic counts;
};

/* The rows of a memory file that are in use: reading another one would allocate its page. */
struct latency_use {
	_Atomic uint64_t workers; /* a bit for each */
	_Atomic uint32_t base;
};

/* Rows in a memory file: the base, of processes that have ended, then one for each worker. */
struct latency_rows {
	struct latency_use *use;
	struct latency_row *row;
	unsigned int n_workers;
};

/* The histograms of a server, or of one side of a proxy. */
struct latency_set {
	struct latency_shard *shard; /* one for each worker */
	unsigned int n;
	struct latency_rows own; /* row NULL: the shards are memory of the process */
	struct latency_rows *past; /* of previous processes, which may still count */
	unsigned int n_past;
};

/* The times of one session; those that it does not have are 0. */
struct latency_times {
	uint64_t us[LATENCIES];
	uint16_t cell[LATENCIES]; /* the bucket of each, among all of struct latency */
	unsigned int has;        /* bits of those that it has */
};

/* The inclusive upper bound of bucket i, for i < LATENCY_BOUNDS, also as text in seconds. */
uint64_t latency_bound_us(unsigned int i);
const char *latency_bound_text(unsigned int i);
const char *latency_name(enum latency_kind k);

void latency_set(struct latency_times *t, enum latency_kind k, uint64_t us);
/* On this worker. */
void latency_count(struct latency_set *s, unsigned int worker, const struct latency_times *t);

/* All workers together, and previous processes. */
void latency_sum(const struct latency_set *s, struct latency *out);
/* The number of sessions in it. */
uint64_t latency_total(const struct latency *l, enum latency_kind k);
/* The time in microseconds below which this many of 1,000 are, interpolated in its bucket as
 * Prometheus does: of the last bucket its lower bound. 0 without any, and never more than the sum
 * of the times allows. */
uint64_t latency_quantile_us(const struct latency *l, enum latency_kind k, unsigned int permille);

/* While no worker counts. Rebuilds it for so many workers: 0 or -ERR_NOMEM. */
int latency_set_make(struct latency_set *s, unsigned int workers) must_check;
/* Its shards lie in these rows, zeroed, from now on. There are no sessions yet. */
void latency_set_place(struct latency_set *s, const struct latency_rows *own);
/* Adds what a previous process has counted: to the own base if it has ended, else to each sum from
 * now on. Only numbers are taken from it. 0 or -ERR_NOMEM. */
int latency_set_join(struct latency_set *s, const struct latency_rows *former, int has_ended)
	must_check;
/* Removes from the sums what previous processes have counted and will count, too. */
void latency_set_clear(struct latency_set *s);
void latency_set_free(struct latency_set *s);
/* A number that changes with kinds and bounds. */
uint32_t latency_layout(void);

#endif
