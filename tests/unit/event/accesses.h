/*
 * Replaces the macros of <stdatomic.h> that event/mail_queue.c and its model use, and is included
 * before them. An access is delayed (stress_delay), made wrongly (a planted bug), or replaced: then
 * it returns a value that the test chooses, and is recorded.
 */
#ifndef TACIT_TESTS_ACCESSES_H
#define TACIT_TESTS_ACCESSES_H

#include <string.h>

#include "event/mail_queue.h"
#include "unit/test.h"

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

#endif
