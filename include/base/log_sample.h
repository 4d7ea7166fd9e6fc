/*
 * Sampling of logs (configuration manual 4.2, `log ... sample`): of each `size` messages those are
 * sent whose number, from 1, is in a range.
 */
#ifndef TACIT_BASE_LOG_SAMPLE_H
#define TACIT_BASE_LOG_SAMPLE_H

#include <stdint.h>

#include "base/compiler.h"

#define LOG_SAMPLE_RANGES_MAX 16

struct log_sample {
	uint32_t size;       /* 0: all are sent */
	unsigned int n;
	struct {
		uint32_t from, to;
	} range[LOG_SAMPLE_RANGES_MAX];
	uint64_t seen;       /* messages so far, of all workers; atomic */
};

/* "<from>[-<to>][,...]:<size>". 0, or -1 with *why. */
int log_sample_parse(const char *text, struct log_sample *out, const char **why) must_check;
/* Counts a message. 1: it is to be sent. Any thread. */
int log_sample_take(struct log_sample *s);

#endif
