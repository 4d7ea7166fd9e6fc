/*
 * A log destination of a sink, and sending to it without blocking.
 *
 * Datagrams are sent with an address on an unconnected socket: when a syslog daemon restarts,
 * the next message reaches it and nothing has to be reopened. A pipe or terminal is set
 * non-blocking; a line that was written in part is completed by the next write, so that a full pipe
 * loses only whole lines.
 */
#ifndef TACIT_BASE_LOG_TARGET_H
#define TACIT_BASE_LOG_TARGET_H

#include <stdint.h>

#include "base/log.h"

/* A message in the sink's memory, followed by len bytes; records start at multiples of 8. */
struct log_rec {
	uint32_t target; /* index in sink.target */
	uint32_t len;
};
#define LOG_REC_SPACE(len) ((sizeof(struct log_rec) + (size_t)(len) + 7u) & ~(size_t)7u)

struct log_target {
	struct log_dest dest;
	int fd;              /* -1: not open */
	int is_open;
	int is_datagram;     /* one message per send */
	int is_socket;       /* a stream socket: send instead of writev */
	int old_flags;       /* original flags of an fd that was set non-blocking; -1: unchanged */
	unsigned int pending; /* records collected for this target */
	uint64_t rest_until_ns; /* wall clock; 0: not resting */
	char *tail;          /* the unwritten rest of a line */
	size_t tail_len;
	uint64_t dropped;
};

/* The target of a destination, created if needed; NULL when there are too many or memory is out. */
struct log_target *log_target_get(struct log_sink *k, const struct log_dest *d);
/* Opens the target before the first message. A failure is tried again with the first message. */
void log_target_open(struct log_sink *k, struct log_target *t);
/* True if it failed recently and is not tried now. */
int log_target_is_resting(const struct log_target *t, uint64_t now_ns);
/* Sends the records collected for it. */
void log_target_flush(struct log_sink *k, struct log_target *t, uint64_t now_ns);
/* Closes descriptors that it opened and restores the flags of the others. */
void log_target_close(struct log_sink *k, struct log_target *t);

#endif
