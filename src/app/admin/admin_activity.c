/* show activity: what each worker does, and which wake-ups were saved (management manual 9.3). */
#include <string.h>

#include "app/admin/admin_int.h"
#include "base/atomic.h"
#include "base/counter.h"
#include "base/mem.h"
#include "event/mailbox.h"

enum gauge {
	SESSIONS,
	CUM_CONNS,
	ACCEPTED,
	HANDED,
	TAKEN,
	LOOPS,
	EVENTS,
	IDLE_PCT,
	MAXCONN_REACHED,
	RENDEZVOUS,
	RENDEZVOUS_MAX_US,
	MAIL_POSTS,
	MAIL_WRITES,
	MAIL_ELIDED_AWAKE,
	MAIL_ELIDED_SELF,
	MAIL_ELIDED_BATCH,
	MAIL_ELIDED_INLINE,
	MAIL_RECEIVED,
	MAIL_SLEEPS,
	MAIL_WAKES,
	MAIL_EMPTY_WAKES,
	MAIL_REFUSED,
	GAUGES
};

static const char *const names[GAUGES] = {
	[SESSIONS] = "sessions",
	[CUM_CONNS] = "connections",
	[ACCEPTED] = "accepted",
	[HANDED] = "handed_over",
	[TAKEN] = "taken_over",
	[LOOPS] = "loops",
	[EVENTS] = "poll_events",
	[IDLE_PCT] = "idle_pct",
	[MAXCONN_REACHED] = "maxconn_reached",
	[RENDEZVOUS] = "rendezvous",
	[RENDEZVOUS_MAX_US] = "rendezvous_max_us",
	[MAIL_POSTS] = "mail_posts",
	[MAIL_WRITES] = "mail_eventfd_writes",
	[MAIL_ELIDED_AWAKE] = "mail_elided_awake",
	[MAIL_ELIDED_SELF] = "mail_elided_self",
	[MAIL_ELIDED_BATCH] = "mail_elided_batch",
	[MAIL_ELIDED_INLINE] = "mail_elided_inline",
	[MAIL_RECEIVED] = "mail_received",
	[MAIL_SLEEPS] = "mail_sleeps",
	[MAIL_WAKES] = "mail_wakes",
	[MAIL_EMPTY_WAKES] = "mail_empty_wakes",
	[MAIL_REFUSED] = "mail_refused",
};

struct reading {
	uint64_t v[GAUGES];
	const struct engine *engine; /* the engine whose listeners are searched */
};

static void
add_listener(struct listener *ln, void *arg)
{
	struct reading *r = arg;

	if (ln->worker != r->engine)
		return;
	r->v[ACCEPTED] += counter_read(&ln->accepted);
	r->v[HANDED] += counter_read(&ln->handed);
	r->v[TAKEN] += counter_read(&ln->taken);
}

static void
read_mail(const struct worker *w, uint64_t *v)
{
	struct mailbox_stats m;

	mailbox_stats(w->mailbox, &m);
	v[MAIL_POSTS] = m.posts;
	v[MAIL_WRITES] = m.writes;
	v[MAIL_ELIDED_AWAKE] = m.elided_awake;
	v[MAIL_ELIDED_SELF] = m.elided_self;
	v[MAIL_ELIDED_BATCH] = m.elided_batch;
	v[MAIL_ELIDED_INLINE] = counter_read(&w->engine.elided_inline);
	v[MAIL_RECEIVED] = m.mails;
	v[MAIL_SLEEPS] = m.sleeps;
	v[MAIL_WAKES] = m.wakes;
	v[MAIL_EMPTY_WAKES] = m.empty_wakes;
	v[MAIL_REFUSED] = m.full;
}

static void
read_worker(struct process *p, const struct worker *w, struct reading *r)
{
	const struct loop_stats *ls = loop_stats(w->loop);

	memset(r, 0, sizeof(*r));
	r->engine = &w->engine;
	process_each_listener(p, add_listener, r);
	r->v[SESSIONS] = atomic_read(&w->engine.n_sessions);
	r->v[CUM_CONNS] = counter_read(&w->engine.cum_conns);
	r->v[LOOPS] = counter_read(&ls->turns);
	r->v[EVENTS] = counter_read(&ls->events);
	r->v[IDLE_PCT] = loop_idle_pct(w->loop);
	r->v[MAXCONN_REACHED] = counter_read(&w->full_times);
	r->v[RENDEZVOUS] = w->index ? 0 : p->meet.held;
	r->v[RENDEZVOUS_MAX_US] = w->index ? 0 : (p->meet.longest_ns + 999) / 1000;
	if (w->mailbox)
		read_mail(w, r->v);
}

/* "name: total [ first second ... ]"; for percentages the average. */
void
admin_cmd_show_activity(struct admin_conn *c, int argc, char **argv)
{
	struct process *p = c->admin->process;
	struct reading *r = mem_zalloc(p->n_workers * sizeof(*r));

	(void)argc;
	(void)argv;
	if (!r) {
		admin_msg(c, ADMIN_ERR, "show activity: out of memory.");
		return;
	}
	for (unsigned int i = 0; i < p->n_workers; i++)
		read_worker(p, &p->workers[i], &r[i]);
	for (int g = 0; g < GAUGES; g++) {
		uint64_t sum = 0;

		for (unsigned int i = 0; i < p->n_workers; i++)
			sum += r[i].v[g];
		if (g == IDLE_PCT)
			sum /= p->n_workers;
		sbuf_addf(&c->out, "%s: %llu", names[g], (unsigned long long)sum);
		for (unsigned int i = 0; i < p->n_workers && p->n_workers > 1; i++)
			sbuf_addf(&c->out, "%s%llu%s", i ? " " : " [ ",
				  (unsigned long long)r[i].v[g],
				  i == p->n_workers - 1 ? " ]" : "");
		sbuf_addc(&c->out, '\n');
	}
	mem_free(r);
}
