/*
 * Rings: the last messages of a log in memory (configuration manual 3.9). Any thread posts batches
 * of messages without a lock. One thread, the owner, stores them, and everything else here but
 * log_ring_post() and log_ring_count_lost() is for it alone.
 *
 * New messages overwrite the oldest ones. A reader that holds what it has not read yet makes new
 * ones be dropped instead: they are counted, and the ring reports it as soon as it has room again.
 */
#ifndef TACIT_BASE_LOG_RING_H
#define TACIT_BASE_LOG_RING_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/log.h"

#define LOG_RING_DEFAULT_SIZE 16384u
#define LOG_RING_SIZE_MAX (1u << 30)
/* Bytes of a ring that each message needs besides its own. */
#define LOG_RING_OVERHEAD sizeof(uint32_t)
/* Bytes that wait for the owner; what is more is lost. */
#define LOG_RING_POSTED_MAX (1u << 20)

/* Messages of one sink, each after its length as uint32_t; posted in one piece. */
struct log_batch {
	struct log_batch *next;
	size_t len;
	char text[];
};

struct log_ring {
	enum log_form form;
	unsigned int maxlen;      /* of a message with its header */
	size_t size;
	int facility;             /* of the ring's own messages */
	struct log_batch *posted; /* newest first; atomic */
	uint64_t posted_bytes;    /* atomic */
	uint64_t unreported;      /* lost since the ring's last report; atomic */
	_Atomic uint64_t dropped; /* lost by the owner, or by a reader */
	/* The owner's. Offsets only grow; a byte's place is its offset modulo size. */
	char *mem;
	uint64_t head, tail;      /* offset of the oldest message, and of the next new one */
	struct list readers;
};

struct log_ring_reader {
	struct list link;
	struct log_ring *ring;
	uint64_t at;              /* offset of its next message: never before the oldest one */
	int holds;                /* what it has not read is not overwritten */
	int is_target;            /* what is overwritten before it has read it counts as dropped */
	/* After messages were stored. It may remove this reader, and no other. */
	void (*on_news)(struct log_ring_reader *r);
};

/* The sizes are set by the caller, before log_ring_open(). */
void log_ring_init(struct log_ring *r);
/* Does nothing if it is open. 0 or -ERR_NOMEM. */
int log_ring_open(struct log_ring *r) must_check;
void log_ring_fini(struct log_ring *r);

/* --- any thread --- */
/* Takes the batch over: 1: the owner has to collect, 0: it was notified already, or -ERR_FULL: too
 * much waits, and the caller still owns it. */
int log_ring_post(struct log_ring *r, struct log_batch *b) must_check;
void log_ring_count_lost(struct log_ring *r, unsigned int n);

/* --- the owner --- */
/* Stores what was posted, then notifies the readers. k: writes the headers of the ring's own
 * messages. */
void log_ring_collect(struct log_ring *r, struct log_sink *k);
/* Begins with the oldest message, or after the newest one. */
void log_ring_join(struct log_ring *r, struct log_ring_reader *rd, int from_end);
void log_ring_leave(struct log_ring_reader *rd);
/* Length of the message at this offset, at most the newest one; negative: there is none. */
long log_ring_len(const struct log_ring *r, uint64_t at);
/* Copies it, and returns the offset of the next one. */
uint64_t log_ring_copy(const struct log_ring *r, uint64_t at, char *out);
/* The reader has done with its next message. */
void log_ring_advance(struct log_ring_reader *rd);

#endif
