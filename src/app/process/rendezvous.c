/* Workers at a standstill. The first worker begins and ends it; each of the others waits on its
 * own thread, in rendezvous_attend(). A round cannot end before all have been counted. */
#include "app/process/rendezvous.h"

#include "app/process/wake_worker.h"
#include "app/process/process.h"
#include "base/futex.h"
#include "event/mailbox.h"
#include "event/profile.h"

/* Retry interval while the eventfd of a worker cannot be written. */
#define RETRY_MS 10

void
rendezvous_attend(struct worker *w)
{
	struct rendezvous *v = &w->process->meet;
	uint32_t round = atomic_load_explicit(&v->round, memory_order_relaxed);

	if (!atomic_swap(&w->called, 0))
		return;
	if (atomic_fetch_add(&v->arrived, 1) + 1 == w->process->n_workers - 1)
		futex_wake(w->sys, &v->arrived);
	while (atomic_load_explicit(&v->round, memory_order_acquire) == round)
		futex_wait(w->sys, &v->round, round, -1);
}

static void
on_call(void *worker, struct mail *m)
{
	(void)m;
	rendezvous_attend(worker);
}
PROFILE_NAME(on_call, rendezvous_mail)

void
rendezvous_begin(struct process *p)
{
	struct rendezvous *v = &p->meet;
	struct worker *first = process_first(p);
	struct mail m = { .fn = on_call };
	unsigned int owed;
	uint32_t here;

	if (!p->running || v->depth++)
		return;
	v->held++;
	atomic_store(&v->arrived, 0);
	for (unsigned int i = 1; i < p->n_workers; i++) {
		(void)atomic_swap(&p->workers[i].called, 1);
		wake_worker_post(first, &p->workers[i], &m);
	}
	do {
		owed = mailbox_flush(first->mailbox);
		here = atomic_load_explicit(&v->arrived, memory_order_acquire);
		if (here < p->n_workers - 1)
			futex_wait(first->sys, &v->arrived, here, owed ? RETRY_MS : -1);
	} while (owed || here < p->n_workers - 1);
	v->since_ns = sys_clock_ns(first->sys, CLOCK_MONOTONIC);
}

void
rendezvous_end(struct process *p)
{
	struct rendezvous *v = &p->meet;
	struct sys *sys = process_first(p)->sys;

	if (!p->running || --v->depth)
		return;
	(void)atomic_fetch_add(&v->round, 1);
	futex_wake(sys, &v->round);
	v->longest_ns = MAX(v->longest_ns, sys_clock_ns(sys, CLOCK_MONOTONIC) - v->since_ns);
}
