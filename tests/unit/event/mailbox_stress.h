/*
 * Messages between real threads, with random delays before and after every access: several
 * posters, and one owner that sleeps in its loop. Every message must arrive once and in order, and
 * the owner must not sleep while there are messages. Included after event/mailbox.c, whose
 * accesses call stress_delay().
 */
#ifndef TACIT_TESTS_MAILBOX_STRESS_H
#define TACIT_TESTS_MAILBOX_STRESS_H

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/atomic.h"
#include "event/loop.h"
#include "event/mailbox.h"
#include "unit/test.h"

#define STRESS_POSTERS 3
#define STRESS_SIZE 64

struct stress;

struct stress_poster {
	struct stress *all;
	struct sys sys;
	struct mailbox *mb;
	uint64_t mails;  /* to be posted */
	_Atomic uint64_t seen; /* received by the owner, in order */
	uint64_t wrong;  /* messages out of order */
	_Atomic uint64_t awaits; /* it sleeps until so many were received; 0: it does not */
	sem_t received;
	unsigned int id;
	pthread_t thread;
};

struct stress {
	struct sys sys;
	struct loop *l;
	struct mailbox *mb;
	struct stress_poster p[STRESS_POSTERS];
	int patience_ms;  /* maximum duration of a wait; a longer one counts as lost */
	uint64_t lost;    /* waits that ended by timeout with messages in the queue */
	uint64_t enough_sleeps; /* of the owner, on a busy machine; 0: all messages are sent */
	long switches;    /* involuntary ones of the process at the start */
	int stop;         /* the posters stop; atomic */
};

/* xorshift, per thread. */
static uint32_t
stress_dice(void)
{
	static __thread uint32_t x;

	if (!x)
		x = (uint32_t)(uintptr_t)&x | 1;
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

/* Most steps continue at once; some are delayed, and a few let another thread run: on a busy
 * machine that is what makes steps meet. */
static inline void
stress_delay(void)
{
	uint32_t r = stress_dice();

	if ((r & 63) == 0)
		for (volatile uint32_t i = r >> 22; i; i--)
			;
	else if ((r & 0xfff) == 1)
		sched_yield();
}

static void
stress_on_mail(void *worker, struct mail *m)
{
	struct stress *s = worker;
	struct stress_poster *p = &s->p[m->fd];
	uint64_t next = atomic_read(&p->seen);

	if ((uint64_t)(uintptr_t)m->arg != next || m->u.in6.sin6_flowinfo != (uint32_t)next)
		p->wrong++;
	atomic_store(&p->seen, next + 1);
	if (atomic_load(&p->awaits) == next + 1)
		assert_int_equal(sem_post(&p->received), 0);
}

/* Asleep, a poster leaves the processor to the others: on a busy machine one that yields in a loop
 * is the last to run again. */
static void
stress_await(struct stress_poster *p, uint64_t n)
{
	atomic_store(&p->awaits, n);
	while (atomic_load(&p->seen) < n && !atomic_read(&p->all->stop))
		(void)sem_wait(&p->received);
	atomic_store(&p->awaits, 0);
}

/* Posts a few messages at a time; sometimes waits until they have arrived and all threads are
 * idle. */
static void *
stress_poster_run(void *arg)
{
	struct stress_poster *p = arg;
	struct stress *s = p->all;
	struct mail m = { .fn = stress_on_mail, .fd = (int)p->id };
	uint64_t n = 0;

	while (n < p->mails && !atomic_read(&s->stop)) {
		uint32_t r = stress_dice();

		for (uint32_t batch = 1 + (r & 7); batch && n < p->mails; batch--) {
			m.arg = (void *)(uintptr_t)n;
			m.u.in6.sin6_flowinfo = (uint32_t)n;
			if (mailbox_post(p->mb, s->mb, &m) == 0) {
				n++;
				continue;
			}
			sched_yield();
			break;
		}
		(void)mailbox_flush(p->mb);
		if ((r & 0x700) == 0)
			stress_await(p, n);
	}
	p->mails = n;
	return NULL;
}

static uint64_t
stress_seen(const struct stress *s)
{
	uint64_t n = 0;

	for (int i = 0; i < STRESS_POSTERS; i++)
		n += s->p[i].seen;
	return n;
}

/* One turn of the owner; most turns wait without a limit. */
static void
stress_turn(struct stress *s)
{
	uint64_t seen = stress_seen(s), events = loop_stats(s->l)->events;
	uint64_t sleeps = s->mb->stats.sleeps;
	uint32_t r = stress_dice() & 15;
	int ms = r == 0 ? 0 : r == 1 ? 1 : s->patience_ms;

	assert_int_equal(loop_turn(s->l, ms), 0);
	/* The worker slept, nothing woke it, and there were messages. */
	if (ms == s->patience_ms && s->mb->stats.sleeps > sleeps &&
	    loop_stats(s->l)->events == events && stress_seen(s) > seen)
		s->lost++;
}

static void
stress_open(struct stress *s, enum interest_mode mode, uint64_t mails)
{
	struct loop_config lc = { .poller = &poller_epoll, .mode = mode, .max_fd = 64,
				  .max_events = 16, .lazy = 1 };
	struct mailbox_config mc = { .sys = &s->sys, .worker = s, .index = STRESS_POSTERS,
				     .size = STRESS_SIZE, .elision = 1 };
	int reason = 0;

	sys_init(&s->sys, &sys_linux, NULL);
	s->l = mc.loop = loop_new(&s->sys, &lc, &reason);
	assert_non_null(s->l);
	s->mb = mailbox_new(&mc, &reason);
	assert_non_null(s->mb);
	mc.loop = NULL;
	for (unsigned int i = 0; i < STRESS_POSTERS; i++) {
		struct stress_poster *p = &s->p[i];

		p->all = s;
		p->id = i;
		p->mails = mails / STRESS_POSTERS;
		assert_int_equal(sem_init(&p->received, 0, 0), 0);
		sys_init(&p->sys, &sys_linux, NULL);
		mc.sys = &p->sys;
		mc.index = i;
		p->mb = mailbox_new(&mc, &reason);
		assert_non_null(p->mb);
	}
	for (int i = 0; i < STRESS_POSTERS; i++)
		assert_int_equal(
			pthread_create(&s->p[i].thread, NULL, stress_poster_run, &s->p[i]), 0);
}

static void
stress_deliver(struct stress *s)
{
	while (mail_queue_has_mail(&s->mb->queue))
		mailbox_run(s->mb);
}

static void
stress_close(struct stress *s)
{
	for (int i = 0; i < STRESS_POSTERS; i++) {
		mailbox_free(&s->p[i].mb);
		(void)sem_destroy(&s->p[i].received);
	}
	stress_deliver(s);
	mailbox_free(&s->mb);
	loop_free(&s->l);
}

/* True if so much has been tried that the rest of the messages would take long and show little:
 * each sleep takes milliseconds where threads take turns on a busy core. */
static int
stress_is_enough(const struct stress *s)
{
	struct rusage u;

	if (!s->enough_sleeps || s->mb->stats.sleeps < s->enough_sleeps)
		return 0;
	assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_nivcsw - s->switches >= (long)s->enough_sleeps;
}

/* Runs until all messages have arrived, or enough of them, or some are lost: 0 if there was no
 * error. */
static int
stress_run(struct stress *s, uint64_t mails, const char *what)
{
	uint64_t total = mails / STRESS_POSTERS * STRESS_POSTERS;
	struct mailbox_stats sum = { 0 }, one, own;
	uint64_t wrong = 0;

	while (stress_seen(s) < total && !s->lost && !stress_is_enough(s))
		stress_turn(s);
	atomic_write(&s->stop, 1);
	for (int i = 0; i < STRESS_POSTERS; i++) {
		assert_int_equal(sem_post(&s->p[i].received), 0);
		assert_int_equal(pthread_join(s->p[i].thread, NULL), 0);
		mailbox_stats(s->p[i].mb, &one);
		sum.posts += one.posts;
		sum.writes += one.writes;
		sum.elided_awake += one.elided_awake;
		sum.elided_batch += one.elided_batch;
		sum.full += one.full;
		wrong += s->p[i].wrong;
	}
	if (!s->lost)
		stress_deliver(s);
	mailbox_stats(s->mb, &own);
	print_message("%s: %zu posts, %zu writes, %zu awake, %zu batched, %zu full, %zu sleeps, "
		      "%zu wakes, %zu empty, %zu lost\n", what, (size_t)sum.posts,
		      (size_t)sum.writes, (size_t)sum.elided_awake, (size_t)sum.elided_batch,
		      (size_t)sum.full, (size_t)own.sleeps, (size_t)own.wakes,
		      (size_t)own.empty_wakes, (size_t)s->lost);
	if (s->lost)
		return 1;
	assert_int_equal(wrong, 0);
	assert_true(sum.posts == total || stress_is_enough(s));
	assert_int_equal(own.mails, sum.posts);
	assert_int_equal(sum.posts, sum.writes + sum.elided_awake + sum.elided_batch);
	assert_true(own.wakes <= sum.writes && sum.writes <= sum.posts);
	return 0;
}

#endif
