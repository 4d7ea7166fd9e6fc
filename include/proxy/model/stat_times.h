/*
 * Averages of times over the last sessions, as HAProxy has them, and maxima: in one shard per
 * worker (proxy/model/shard.h), and in sums.
 */
#ifndef TACIT_PROXY_MODEL_STAT_TIMES_H
#define TACIT_PROXY_MODEL_STAT_TIMES_H

#include <stdint.h>

struct latency_times;

/* Number of sessions in time averages, as in HAProxy. */
#define STAT_AVERAGE_OVER 1024u

/* In milliseconds. */
struct stat_times {
	/* sums over the last STAT_AVERAGE_OVER sessions */
	_Atomic uint64_t qtime, ctime, rtime, ttime;
	_Atomic uint64_t qtime_max, ctime_max, rtime_max, ttime_max;
	/* The number of sessions in a sum, at least 1 when it is shown. In a shard 0. */
	_Atomic uint64_t n;
};

/* Adds a session to averages and maxima: sessions is the number so far, including this one. */
void stat_times_count(struct stat_times *t, uint64_t sessions, const struct latency_times *one);
/* Adds averages of the same time: of a shard that has counted so many sessions, or of a sum, which
 * has their number. Each session has the same weight. */
void stat_times_add(struct stat_times *sum, const struct stat_times *t, uint64_t sessions);
/* Adds a sum of later sessions. Earlier ones count only as far as they are missing from
 * STAT_AVERAGE_OVER. */
void stat_times_follow(struct stat_times *sum, const struct stat_times *later);

#endif
