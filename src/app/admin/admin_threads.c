/* show threads, show tasks: what each worker is doing, asked of the worker itself. The visitors run
 * on their threads, the rest on the first worker. */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "app/admin/admin_int.h"
#include "base/counter.h"

static uint64_t
cpu_ns(struct worker *w)
{
	struct timespec ts = { 0, 0 };

	(void)sys_clock_gettime(w->sys, CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static unsigned int
running_timers(struct worker *w)
{
	return (unsigned int)(counter_read(&loop_timers(w->loop)->n) +
		counter_read(&loop_starts(w->loop)->n));
}

struct threads_tour {
	struct admin_tour tour;
	uint64_t tasks;    /* sum so far */
};

/* The thread that runs the command has a star. */
static void
show_thread(struct admin_conn *c, struct worker *w, void *state)
{
	struct threads_tour *t = state;
	const struct loop_stats *ls = loop_stats(w->loop);

	t->tour.is_said = 1;
	sbuf_addf(&c->out, "%c Thread %-2u: id=0x%llx wq=%u rq=%u sess=%u idle=%u%%\n",
		w == c->admin->worker ? '*' : ' ', w->index + 1,
		(unsigned long long)(uintptr_t)pthread_self(), running_timers(w),
		loop_posted(w->loop), atomic_read(&w->engine.n_sessions), loop_idle_pct(w->loop));
	sbuf_addf(&c->out, "             turns=%llu events=%llu cpu_ns=%llu\n",
		(unsigned long long)counter_read(&ls->turns),
		(unsigned long long)counter_read(&ls->events), (unsigned long long)cpu_ns(w));
}

void
admin_cmd_show_threads(struct admin_conn *c, int argc, char **argv)
{
	struct threads_tour t = { .tour.visit = show_thread };

	(void)argc;
	(void)argv;
	admin_tour(c, &t, sizeof(t));
}

static void
count_tasks(struct admin_conn *c, struct worker *w, void *state)
{
	struct threads_tour *t = state;

	t->tour.is_said = 1;
	t->tasks += loop_posted(w->loop);
	if (w->index == c->admin->process->n_workers - 1)
		sbuf_addf(&c->out, "Running tasks: %llu (%u threads)\n",
			(unsigned long long)t->tasks, c->admin->process->n_workers);
}

void
admin_cmd_show_tasks(struct admin_conn *c, int argc, char **argv)
{
	struct threads_tour t = { .tour.visit = count_tasks };

	(void)argc;
	(void)argv;
	admin_tour(c, &t, sizeof(t));
}
