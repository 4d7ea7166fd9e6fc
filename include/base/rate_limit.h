/*
 * A limit of events per second that several workers share. The events of the last second count in
 * proportion to what the sliding window covers of it: a burst of the whole limit is followed by a
 * second without events, and then by an even rate.
 */
#ifndef TACIT_BASE_RATE_LIMIT_H
#define TACIT_BASE_RATE_LIMIT_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/lock.h"

struct rate_limit {
	unsigned int max;   /* 0: none; changes only while no worker uses it */
	struct lock lock;   /* guards the rest */
	uint64_t start_ms;  /* of the current second */
	uint32_t cur, prev; /* events in it, and in the one before */
	uint32_t asked;     /* counted, and neither kept nor cancelled yet */
};

/* Milliseconds until it is worth asking again, 0: an event is allowed now. With `counts` an
 * allowed event is counted, and rate_limit_keep() or rate_limit_cancel() follows on the same
 * worker: until then it may not happen, and others have to ask again soon. */
uint64_t rate_limit_wait(struct rate_limit *r, struct sys *sys, uint64_t now_ms, int counts);
/* An event that has been waited for without counting it. */
void rate_limit_count(struct rate_limit *r, struct sys *sys, uint64_t now_ms);
void rate_limit_keep(struct rate_limit *r, struct sys *sys);
void rate_limit_cancel(struct rate_limit *r, struct sys *sys);
/* A counted event that was kept did not happen. */
void rate_limit_give_back(struct rate_limit *r, struct sys *sys);

#endif
