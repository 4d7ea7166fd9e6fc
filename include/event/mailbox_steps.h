/*
 * The protocol between those who post mail and the one who sleeps on it. Each function below
 * makes one step, and a step makes one access to what is shared: mailbox.c runs the steps of an
 * operation one after the other, a test runs them in every order there is. Nothing here blocks.
 *
 * Queue: a ring of slots with a sequence number each. seq == pos: free for the mail at pos;
 * pos + 1: published; pos + size: free for the next round. Places are claimed by moving `tail`;
 * only the owner moves `head`. Mail of one poster stays in order.
 *
 * State: RUNNING, CHECKING (about to sleep, and looking once more), ASLEEP.
 *
 *   poster  1 publish the mail               owner  a say CHECKING
 *           2 look: RUNNING is all                  b look at the queue: mail: RUNNING, no sleep
 *           3 swap in RUNNING: was it ASLEEP?       c CHECKING -> ASLEEP, or no sleep
 *           4 then write the eventfd                d wait
 *                                                   e say RUNNING, and only now
 *                                                   f take the mail, read the eventfd
 *
 * 2 to 4 come at the end of the poster's turn, once for all it posted to one owner.
 *
 * Nobody sleeps on his mail. Every access is sequentially consistent, so there is one order of all
 * steps. Say the owner waits in d, the mail at `head` is published, and its poster P has done its
 * 2 and what follows from it. b saw no mail, hence a < b < 1 < 2, and 2 saw what a said or
 * something later:
 *   - RUNNING. Not said before c, or c would have failed. So a poster swapped it in after c, took
 *     ASLEEP from it, and writes (4).
 *   - CHECKING or ASLEEP. P swaps (3), not before c, or c would have failed. It took ASLEEP, and
 *     writes; or RUNNING, and whoever swapped that in after c writes.
 * So after c there is a write, or somebody stands between 3 and 4. f reads before the next a, and
 * the wait of d begins after c: no write that follows c is read away or overlooked before d.
 *
 * A write that f reads away while its mail is not yet seen does no harm: the mail was published
 * before it was written for, so the next b sees it. A mail behind a claimed place that is not yet
 * published waits for that poster, who has its 1 to 4 before it.
 *
 * Writes <= posts: 4 follows a 2, and there is a 2 only after a post.
 */
#ifndef TACIT_EVENT_MAILBOX_STEPS_H
#define TACIT_EVENT_MAILBOX_STEPS_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"

/* Passed before each step: tests put delays here. */
#ifndef MAILBOX_STEP
#define MAILBOX_STEP(at) ((void)(at))
#endif
/* Steps done wrong on purpose: a test that proves something must see it. */
#ifndef MAILBOX_BUG
#define MAILBOX_BUG(bug) 0
#endif
enum mailbox_bug {
	MAILBOX_NO_BUG,
	MAILBOX_NO_RECHECK,     /* b left out */
	MAILBOX_EARLY_RUNNING,  /* e before d */
	MAILBOX_SKIPS_CHECKING, /* 3 left out when 2 saw CHECKING */
	MAILBOX_BLIND_CLAIM,    /* a place taken without looking whether somebody else has it */
	MAILBOX_BUGS
};

#define MAILBOX_LINE 64 /* of the cache: what different threads write is kept apart */

struct mail;
/* Runs on the owner's thread, in its turn. *m is a copy that goes away. */
typedef void mail_fn(void *worker, struct mail *m);

struct mail {
	mail_fn *fn;
	void *arg;
	int fd;
	/* Room for what belongs to fd: an address, or anything else that is small. */
	union {
		struct sockaddr sa;
		struct sockaddr_in in4;
		struct sockaddr_in6 in6;
		char bytes[36];
	} u;
};

struct mail_slot {
	uint64_t seq;
	struct mail mail;
};
_Static_assert(sizeof(struct mail_slot) == MAILBOX_LINE, "a mail is one line of the cache");

enum mailbox_state { MAILBOX_RUNNING, MAILBOX_CHECKING, MAILBOX_ASLEEP };

struct mail_queue {
	struct mail_slot *slots;
	uint64_t mask; /* slots - 1; their number is a power of two */
	_Alignas(MAILBOX_LINE) uint64_t tail;
	_Alignas(MAILBOX_LINE) uint32_t state; /* enum mailbox_state */
	_Alignas(MAILBOX_LINE) uint64_t head;  /* the owner's alone */
};

/* The step that comes next. */
enum mail_at {
	/* over */
	MAIL_DONE,
	MAIL_FULL,
	MAIL_EMPTY,
	/* what the caller does, for it is a system call */
	WAKE_WRITE, /* 4: write the eventfd; the operation is over */
	SLEEP_WAIT, /* d: wait, and make the next step after that */
	/* steps */
	POST_TAIL,
	POST_SLOT,
	POST_CLAIM,
	POST_PUBLISH, /* 1 */
	WAKE_LOOK,    /* 2 */
	WAKE_SWAP,    /* 3 */
	SLEEP_SAY,    /* a */
	SLEEP_LOOK,   /* b */
	SLEEP_CLOSE,  /* c */
	SLEEP_RUN,    /* e */
	TAKE_LOOK,    /* f */
	TAKE_FREE
};

/* One operation under way: begins at POST_TAIL, WAKE_LOOK, SLEEP_SAY or TAKE_LOOK. */
struct mail_op {
	enum mail_at at;
	uint64_t pos; /* of a post: the place that it tries */
};

static inline int
mail_goes_on(const struct mail_op *op)
{
	return op->at > SLEEP_WAIT;
}

#define MAIL_LOAD(p)     __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define MAIL_STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

static inline struct mail_slot *
mail_slot(const struct mail_queue *q, uint64_t pos)
{
	return &q->slots[pos & q->mask];
}

/* size slots, a power of two; slots are the caller's. */
static inline void
mail_queue_init(struct mail_queue *q, struct mail_slot *slots, uint64_t size, uint64_t first)
{
	q->slots = slots;
	q->mask = size - 1;
	q->head = q->tail = first;
	q->state = MAILBOX_RUNNING;
	for (uint64_t pos = first; pos - first < size; pos++)
		mail_slot(q, pos)->seq = pos;
}

/* Ends DONE or FULL. A place is full when the mail of the round before is still there. */
static inline void
post_step(struct mail_queue *q, struct mail_op *op, const struct mail *m)
{
	int64_t ahead;

	switch ((int)op->at) {
	case POST_TAIL:
		op->pos = MAIL_LOAD(&q->tail);
		op->at = POST_SLOT;
		return;
	case POST_SLOT:
		ahead = (int64_t)(MAIL_LOAD(&mail_slot(q, op->pos)->seq) - op->pos);
		op->at = ahead == 0 ? POST_CLAIM : ahead < 0 ? MAIL_FULL : POST_TAIL;
		return;
	case POST_CLAIM:
		if (MAILBOX_BUG(MAILBOX_BLIND_CLAIM)) {
			MAIL_STORE(&q->tail, op->pos + 1);
			op->at = POST_PUBLISH;
		} else {
			/* On failure pos becomes the tail of now. */
			op->at = __atomic_compare_exchange_n(&q->tail, &op->pos, op->pos + 1, 0,
							     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ?
				POST_PUBLISH : POST_SLOT;
		}
		return;
	case POST_PUBLISH:
		mail_slot(q, op->pos)->mail = *m;
		MAIL_STORE(&mail_slot(q, op->pos)->seq, op->pos + 1);
		op->at = MAIL_DONE;
		return;
	default:
		assert(0);
	}
}

/* Ends DONE, or WAKE_WRITE when the owner has to be woken. */
static inline void
wake_step(struct mail_queue *q, struct mail_op *op)
{
	uint32_t state;

	switch ((int)op->at) {
	case WAKE_LOOK:
		state = MAIL_LOAD(&q->state);
		op->at = state == MAILBOX_RUNNING ? MAIL_DONE : WAKE_SWAP;
		if (MAILBOX_BUG(MAILBOX_SKIPS_CHECKING) && state == MAILBOX_CHECKING)
			op->at = MAIL_DONE;
		return;
	case WAKE_SWAP:
		state = __atomic_exchange_n(&q->state, MAILBOX_RUNNING, __ATOMIC_SEQ_CST);
		op->at = state == MAILBOX_ASLEEP ? WAKE_WRITE : MAIL_DONE;
		return;
	default:
		assert(0);
	}
}

static inline int
mail_is_there(const struct mail_queue *q)
{
	return MAIL_LOAD(&mail_slot(q, q->head)->seq) == q->head + 1;
}

/* Stops at SLEEP_WAIT; or ends DONE: there is mail, or will be in a moment. */
static inline void
sleep_step(struct mail_queue *q, struct mail_op *op)
{
	uint32_t checking = MAILBOX_CHECKING;

	switch ((int)op->at) {
	case SLEEP_SAY:
		MAIL_STORE(&q->state, MAILBOX_CHECKING);
		op->at = MAILBOX_BUG(MAILBOX_NO_RECHECK) ? SLEEP_CLOSE : SLEEP_LOOK;
		return;
	case SLEEP_LOOK:
		op->at = mail_is_there(q) ? SLEEP_RUN : SLEEP_CLOSE;
		return;
	case SLEEP_CLOSE:
		op->at = __atomic_compare_exchange_n(&q->state, &checking, MAILBOX_ASLEEP, 0,
						     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ?
			SLEEP_WAIT : MAIL_DONE;
		if (MAILBOX_BUG(MAILBOX_EARLY_RUNNING) && op->at == SLEEP_WAIT)
			MAIL_STORE(&q->state, MAILBOX_RUNNING);
		return;
	case SLEEP_WAIT:
		op->at = SLEEP_RUN;
		return;
	case SLEEP_RUN:
		MAIL_STORE(&q->state, MAILBOX_RUNNING);
		op->at = MAIL_DONE;
		return;
	default:
		assert(0);
	}
}

/* Ends DONE with the oldest mail in *out, or EMPTY. */
static inline void
take_step(struct mail_queue *q, struct mail_op *op, struct mail *out)
{
	switch ((int)op->at) {
	case TAKE_LOOK:
		op->at = mail_is_there(q) ? TAKE_FREE : MAIL_EMPTY;
		return;
	case TAKE_FREE:
		*out = mail_slot(q, q->head)->mail;
		MAIL_STORE(&mail_slot(q, q->head)->seq, q->head + q->mask + 1);
		q->head++;
		op->at = MAIL_DONE;
		return;
	default:
		assert(0);
	}
}

#endif
