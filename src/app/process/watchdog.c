/* Asks all workers for a sign of life. Timer of the first worker; the others answer on their own
 * threads. */
#include "app/process/watchdog.h"

#include <stdlib.h>

#include "app/process/process.h"
#include "app/process/wake_worker.h"
#include "base/atomic.h"
#include "base/err.h"
#include "event/mailbox.h"
#include "event/profile.h"

uint64_t
watchdog_interval(const char *usec, const char *watched, long pid)
{
	char *end;
	uint64_t ms;

	if (!usec || (watched && strtol(watched, NULL, 10) != pid))
		return 0;
	ms = strtoull(usec, &end, 10) / 1000;
	if (*end || end == usec || ms == 0)
		return 0;
	return MAX(1, ms / WATCHDOG_ROUNDS);
}

/* On the worker that is asked. */
static void
on_watchdog_mail(void *worker, struct mail *m)
{
	struct worker *w = worker;

	(void)m;
	(void)atomic_swap(&w->watchdog_round, atomic_read(&w->process->watchdog.round));
}
PROFILE_NAME(on_watchdog_mail, watchdog_mail)

static int
has_answered(const struct process *p, const struct worker *w)
{
	return w->index == 0 ||
		atomic_read(&w->watchdog_round) == atomic_read(&p->watchdog.round);
}

static int
all_have_answered(const struct process *p)
{
	for (unsigned int i = 0; i < p->n_workers; i++)
		if (!has_answered(p, &p->workers[i]))
			return 0;
	return 1;
}

static void
on_watchdog_round(struct timer *t)
{
	struct process *p = container_of(t, struct process, watchdog.timer);
	struct mail m = { .fn = on_watchdog_mail };
	struct loop *l = process_loop(p);

	if (all_have_answered(p)) {
		notify_send(p->notify, "WATCHDOG=1");
		(void)atomic_fetch_add(&p->watchdog.round, 1);
	}
	/* Repeated: a message that finds a full mailbox is lost. */
	for (unsigned int i = 0; i < p->n_workers; i++)
		if (!has_answered(p, &p->workers[i]))
			wake_worker_post(process_first(p), &p->workers[i], &m);
	/* The timer is in the heap already. */
	(void)!timer_set(loop_timers(l), t, loop_now_ms(l) + p->watchdog.interval_ms);
}
PROFILE_NAME(on_watchdog_round, watchdog_round)

int
watchdog_start(struct process *p)
{
	struct loop *l = process_loop(p);

	timer_init(&p->watchdog.timer, on_watchdog_round);
	if (!p->watchdog.interval_ms || p->notify->fd < 0)
		return 0;
	return timer_set(loop_timers(l), &p->watchdog.timer,
		loop_now_ms(l) + p->watchdog.interval_ms);
}

void
watchdog_stop(struct process *p)
{
	timer_stop(loop_timers(process_loop(p)), &p->watchdog.timer);
}
