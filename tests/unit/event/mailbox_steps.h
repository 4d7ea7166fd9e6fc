/*
 * A model of the queue of event/mailbox.c: the same protocol cut into steps, each of which makes
 * one access to shared memory, so that a test can run the steps of several threads in every order.
 * The numbers are those of event/mailbox.c.
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
 * access can return: both use the same macros of <stdatomic.h>. This file replaces them, and is
 * included before event/mailbox.c.
 */
#ifndef TACIT_TESTS_MAILBOX_STEPS_H
#define TACIT_TESTS_MAILBOX_STEPS_H

#include <string.h>

#include "event/mailbox.h"
#include "unit/test.h"

/* --- accesses --- */

/*
 * Replaces the macros of <stdatomic.h> that event/mailbox.c and its model use. An access is
 * delayed (stress_delay), made wrongly (a planted bug), or replaced: then it returns a value that
 * the test chooses, and is recorded.
 */

/* Steps that are made wrongly on purpose: a test that proves something must detect it. */
enum mailbox_bug {
	MAILBOX_NO_BUG,
	MAILBOX_NO_RECHECK,     /* step b is left out */
	MAILBOX_EARLY_RUNNING,  /* step e comes before step d */
	MAILBOX_SKIPS_CHECKING, /* step 3 is left out after step 2 found CHECKING */
	MAILBOX_BLIND_CLAIM,    /* a place is taken without checking that it is free */
	MAILBOX_BUGS
};
static int planted;     /* in the steps of the model */
static int misbehaving; /* in accesses of the functions */
#define MAILBOX_BUG(bug) (planted == (bug))

static int stressing;   /* accesses are delayed */
static inline void stress_delay(void);

enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_SWAP, ACCESS_REPLACE };

struct access {
	enum access_kind kind;
	ptrdiff_t at;       /* offset in the queue, or after it in its slots */
	uint64_t was, is;   /* the value found or expected; the value written */
	int mail;           /* what the slots and the taker hold at that time */
};

#define ANSWERS 6

/* The values that accesses return instead of memory, and a record of the accesses. */
static struct {
	struct mail_queue *q;        /* NULL: memory is accessed */
	struct mail_slot *slots;
	unsigned int n_slots;
	const struct mail *taken;
	uint64_t first;
	uint8_t answer[ANSWERS];
	unsigned int n;              /* number of accesses */
	struct access log[ANSWERS];
	jmp_buf out;                 /* taken when no value is left */
} oracle;

/* Steps that are left out or made early, see mailbox_bug; per thread. */
static __thread int has_set_checking;

static int
mails_seen(void)
{
	int sum = oracle.taken ? oracle.taken->fd : 0;

	for (unsigned int i = 0; i < oracle.n_slots; i++)
		sum = sum * 31 + oracle.slots[i].mail.fd;
	return sum;
}

/* The value for the next access, which is to p: a position in the queue, or a state. */
static uint64_t
ask(enum access_kind kind, const void *p, uint64_t was, uint64_t is)
{
	const char *at = p, *q = (const char *)oracle.q;
	struct access *a;
	unsigned int answer;
	uint64_t found;

	if (oracle.n == ANSWERS)
		longjmp(oracle.out, 1);
	answer = oracle.answer[oracle.n];
	a = &oracle.log[oracle.n++];
	found = p == &oracle.q->state ? answer % 3
		: p == &oracle.q->tail ? oracle.first + answer % 4
				       : oracle.first + answer - 1;
	a->kind = kind;
	a->at = at >= q && at < q + sizeof(*oracle.q) ? at - q : 1000 + (at - (char *)oracle.slots);
	a->was = kind == ACCESS_REPLACE ? was : kind == ACCESS_STORE ? 0 : found;
	a->is = is;
	a->mail = mails_seen();
	return found;
}

static inline void
access_delay(void)
{
	if (stressing)
		stress_delay();
}

#define access_load(p)                                                                     \
	__extension__({                                                                    \
		access_delay();                                                            \
		__typeof__(*(p) + 0) v_ = oracle.q                                         \
			? (__typeof__(*(p) + 0))ask(ACCESS_LOAD, (p), 0, 0)                \
			: atomic_load_explicit((p), memory_order_seq_cst);                 \
		if (misbehaving == MAILBOX_SKIPS_CHECKING && sizeof(v_) == 4 &&                \
			v_ == MAIL_CHECKING)                                               \
			v_ = MAIL_RUNNING;                                                 \
		if (misbehaving == MAILBOX_NO_RECHECK && sizeof(v_) == 8 && has_set_checking)  \
			v_ = 0;                                                            \
		has_set_checking = 0;                                                      \
		access_delay();                                                            \
		v_;                                                                        \
	})
#define access_store(p, v)                                                                 \
	__extension__({                                                                    \
		access_delay();                                                            \
		has_set_checking = sizeof(*(p)) == 4 && (v) == MAIL_CHECKING;              \
		if (oracle.q)                                                              \
			(void)ask(ACCESS_STORE, (p), 0, (v));                              \
		else                                                                       \
			atomic_store_explicit((p), (v), memory_order_seq_cst);             \
		access_delay();                                                            \
	})
#define access_swap(p, v)                                                                  \
	__extension__({                                                                    \
		access_delay();                                                            \
		__typeof__(*(p) + 0) v_ = oracle.q                                         \
			? (__typeof__(*(p) + 0))ask(ACCESS_SWAP, (p), 0, (v))              \
			: atomic_exchange_explicit((p), (v), memory_order_seq_cst);        \
		access_delay();                                                            \
		v_;                                                                        \
	})
/* The test also chooses whether it fails. */
#define access_replace(p, was, v)                                                          \
	__extension__({                                                                    \
		access_delay();                                                            \
		int done_;                                                                 \
		if (oracle.q) {                                                            \
			uint64_t found_ = ask(ACCESS_REPLACE, (p), *(was), (v));           \
			done_ = oracle.answer[oracle.n - 1] % 2;                           \
			if (!done_)                                                        \
				*(was) = (__typeof__(*(was)))found_;                       \
		} else {                                                                   \
			done_ = atomic_compare_exchange_strong_explicit((p), (was), (v),   \
				memory_order_seq_cst, memory_order_seq_cst);               \
		}                                                                          \
		if (misbehaving == MAILBOX_EARLY_RUNNING && done_ && sizeof(*(p)) == 4)        \
			atomic_store_explicit((p), MAIL_RUNNING, memory_order_seq_cst);    \
		access_delay();                                                            \
		done_;                                                                     \
	})

#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_compare_exchange_strong
#define atomic_load(p)                                 access_load(p)
#define atomic_store(p, v)                             access_store(p, v)
#define atomic_exchange(p, v)                          access_swap(p, v)
#define atomic_compare_exchange_strong(p, was, v)      access_replace(p, was, v)

/* --- the model --- */

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
