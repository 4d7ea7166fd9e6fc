#include "app/rendezvous.h"

#include "app/process.h"
#include "event/mailbox.h"

/* On each of the others. The round cannot end before all have been counted. */
static void
on_call(void *worker, struct mail *m)
{
	struct worker *w = worker;
	struct rendezvous *v = m->arg;
	uint32_t round = __atomic_load_n(&v->round, __ATOMIC_RELAXED);

	(void)__atomic_add_fetch(&v->arrived, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&v->round, __ATOMIC_ACQUIRE) == round)
		(void)sys_sched_yield(w->sys);
}

void
rendezvous_begin(struct process *p)
{
	struct rendezvous *v = &p->meet;
	struct worker *first = process_first(p);
	struct mail m = { .fn = on_call, .arg = v };

	if (!p->running || v->depth++)
		return;
	v->held++;
	__atomic_store_n(&v->arrived, 0, __ATOMIC_RELAXED);
	for (unsigned int i = 1; i < p->n_workers; i++)
		while (mailbox_post(first->mailbox, p->workers[i].mailbox, &m) < 0) {
			/* It is full, so its owner has to empty it. */
			(void)mailbox_flush(first->mailbox);
			(void)sys_sched_yield(first->sys);
		}
	while (mailbox_flush(first->mailbox))
		(void)sys_sched_yield(first->sys);
	while (__atomic_load_n(&v->arrived, __ATOMIC_ACQUIRE) < p->n_workers - 1)
		(void)sys_sched_yield(first->sys);
}

void
rendezvous_end(struct process *p)
{
	struct rendezvous *v = &p->meet;

	if (!p->running || --v->depth)
		return;
	(void)__atomic_add_fetch(&v->round, 1, __ATOMIC_RELEASE);
}
