/*
 * An opened log destination of a sink, and how collected messages reach it without waiting.
 *
 * Datagrams carry their address with each message instead of a connected socket: a syslog daemon
 * that restarts is found again with its next message, and nothing has to be noticed or reopened. A
 * pipe or terminal is made non-blocking; what it took of a line's beginning is completed next time,
 * so that a full pipe loses whole lines only.
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
	int old_flags;       /* of an fd we made non-blocking; -1: left as it was */
	unsigned int pending; /* records collected for it */
	uint64_t rest_until_ns; /* wall clock; 0: not resting */
	char *tail;          /* what is still to be written of a half-written line */
	size_t tail_len;
	uint64_t dropped;
};

/* The target of a destination, made when new; NULL when there are too many or no memory is left. */
struct log_target *log_target_get(struct log_sink *k, const struct log_dest *d);
/* Opens it before there is anything to send. What fails is tried again with the first message. */
void log_target_open(struct log_sink *k, struct log_target *t);
/* Did it fail so recently that it is not worth a try? */
int log_target_is_resting(const struct log_target *t, uint64_t now_ns);
/* Sends its pending records out of the sink's memory. */
void log_target_flush(struct log_sink *k, struct log_target *t, uint64_t now_ns);
/* Closes what was opened, restores the flags of what was not. */
void log_target_close(struct log_sink *k, struct log_target *t);

#endif
