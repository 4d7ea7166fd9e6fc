/*
 * A model of event/mail_queue.c: the same protocol cut into steps, each of which makes one access
 * to shared memory, so that a test can run the steps of several threads in every order. The numbers
 * are those of event/mail_queue.h.
 *
 *   mail_queue_post()           POST_TAIL, POST_SLOT, POST_CLAIM, repeated until it is
 *                              claimed or full, then POST_PUBLISH
 *   mail_queue_claim_wakeup()   WAKE_LOOK, WAKE_SWAP; 1 is WAKE_WRITE
 *   mail_queue_fall_asleep()    SLEEP_SAY, SLEEP_LOOK, then SLEEP_RUN or SLEEP_CLOSE;
 *                              1 is SLEEP_WAIT
 *   mail_queue_wake_up()        SLEEP_RUN
 *   mail_queue_take()           TAKE_LOOK, TAKE_FREE
 *
 * test_mail_queue.c verifies that the functions behave like the steps for every value that an
 * access can return: both use the same macros of <stdatomic.h>, which accesses.h replaces.
 */
#ifndef TACIT_TESTS_MAILBOX_STEPS_H
#define TACIT_TESTS_MAILBOX_STEPS_H

#include "accesses.h"

/* The next step of an operation. */
enum mail_at {
	/* the operation has ended */
	MAIL_DONE,
	MAIL_FULL,
	MAIL_EMPTY,
	/* done by the caller, since it is a system call */
	WAKE_WRITE, /* 4: write the eventfd; the operation has ended */
	SLEEP_WAIT, /* d: wait; then the next step follows */
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

/* An operation in progress: begins at POST_TAIL, WAKE_LOOK, SLEEP_SAY or TAKE_LOOK. */
struct mail_op {
	enum mail_at at;
	uint64_t pos; /* of a post: the place that it tries to take */
};

static inline int
mail_goes_on(const struct mail_op *op)
{
	return op->at > SLEEP_WAIT;
}

static inline struct mail_slot *
mail_slot(const struct mail_queue *q, uint64_t pos)
{
	return &q->slots[pos & q->mask];
}

/* Ends in DONE or FULL. A place is full while it holds the message of the round before. */
static inline void
post_step(struct mail_queue *q, struct mail_op *op, const struct mail *m)
{
	int64_t ahead;

	switch ((int)op->at) {
	case POST_TAIL:
		op->pos = atomic_load(&q->tail);
		op->at = POST_SLOT;
		return;
	case POST_SLOT:
		ahead = (int64_t)(atomic_load(&mail_slot(q, op->pos)->seq) - op->pos);
		op->at = ahead == 0 ? POST_CLAIM : ahead < 0 ? MAIL_FULL : POST_TAIL;
		return;
	case POST_CLAIM:
		if (MAILBOX_BUG(MAILBOX_BLIND_CLAIM)) {
			atomic_store(&q->tail, op->pos + 1);
			op->at = POST_PUBLISH;
		} else {
			/* On failure pos becomes the current tail. */
			op->at = atomic_compare_exchange_strong(
					&q->tail, &op->pos, op->pos + 1) ?
				POST_PUBLISH : POST_SLOT;
		}
		return;
	case POST_PUBLISH:
		mail_slot(q, op->pos)->mail = *m;
		atomic_store(&mail_slot(q, op->pos)->seq, op->pos + 1);
		op->at = MAIL_DONE;
		return;
	default:
		assert(0);
	}
}

/* Ends in DONE, or in WAKE_WRITE when the owner must be woken. */
static inline void
wake_step(struct mail_queue *q, struct mail_op *op)
{
	uint32_t state;

	switch ((int)op->at) {
	case WAKE_LOOK:
		state = atomic_load(&q->state);
		op->at = state == MAIL_RUNNING ? MAIL_DONE : WAKE_SWAP;
		if (MAILBOX_BUG(MAILBOX_SKIPS_CHECKING) && state == MAIL_CHECKING)
			op->at = MAIL_DONE;
		return;
	case WAKE_SWAP:
		state = atomic_exchange(&q->state, MAIL_RUNNING);
		op->at = state == MAIL_ASLEEP ? WAKE_WRITE : MAIL_DONE;
		return;
	default:
		assert(0);
	}
}

static inline int
mail_is_there(const struct mail_queue *q)
{
	return atomic_load(&mail_slot(q, q->head)->seq) == q->head + 1;
}

/* Stops at SLEEP_WAIT; or ends in DONE: there are messages, or there will be shortly. */
static inline void
sleep_step(struct mail_queue *q, struct mail_op *op)
{
	uint32_t checking = MAIL_CHECKING;

	switch ((int)op->at) {
	case SLEEP_SAY:
		atomic_store(&q->state, MAIL_CHECKING);
		op->at = MAILBOX_BUG(MAILBOX_NO_RECHECK) ? SLEEP_CLOSE : SLEEP_LOOK;
		return;
	case SLEEP_LOOK:
		op->at = mail_is_there(q) ? SLEEP_RUN : SLEEP_CLOSE;
		return;
	case SLEEP_CLOSE:
		op->at = atomic_compare_exchange_strong(&q->state, &checking, MAIL_ASLEEP) ?
			SLEEP_WAIT : MAIL_DONE;
		if (MAILBOX_BUG(MAILBOX_EARLY_RUNNING) && op->at == SLEEP_WAIT)
			atomic_store(&q->state, MAIL_RUNNING);
		return;
	case SLEEP_WAIT:
		op->at = SLEEP_RUN;
		return;
	case SLEEP_RUN:
		atomic_store(&q->state, MAIL_RUNNING);
		op->at = MAIL_DONE;
		return;
	default:
		assert(0);
	}
}

/* Ends in DONE with the oldest message in *out, or in EMPTY. */
static inline void
take_step(struct mail_queue *q, struct mail_op *op, struct mail *out)
{
	switch ((int)op->at) {
	case TAKE_LOOK:
		op->at = mail_is_there(q) ? TAKE_FREE : MAIL_EMPTY;
		return;
	case TAKE_FREE:
		*out = mail_slot(q, q->head)->mail;
		atomic_store(&mail_slot(q, q->head)->seq, q->head + q->mask + 1);
		q->head++;
		op->at = MAIL_DONE;
		return;
	default:
		assert(0);
	}
}

#endif
