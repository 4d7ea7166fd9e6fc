/* Commands about what the process holds and does: show fd, show pools, show activity. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "base/atomic.h"
#include "base/counter.h"
#include "base/mem.h"
#include "cfg/value.h"
#include "event/mailbox.h"

/* Number of descriptors examined in one step; most are closed. */
#define FDS_PER_VISIT 8192

static void
add_fd(struct admin_conn *c, const struct worker *w, int fd, const struct interest *in)
{
	unsigned int seen = loop_seen(w->loop, fd);

	if (c->admin->process->n_workers > 1)
		sbuf_addf(&c->out, "%7d : t=%u ", fd, w->index + 1);
	else
		sbuf_addf(&c->out, "%7d : ", fd);
	sbuf_addf(&c->out, "r=%s w=%s polled=%s%s%s seen=%s%s%s\n",
		interest_state_name((enum interest_state)in->state[DIR_R]),
		interest_state_name((enum interest_state)in->state[DIR_W]),
		in->polled & EV_R ? "R" : "", in->polled & EV_W ? "W" : "",
		in->polled & EV_EDGE ? "E" : "", seen & EV_RDHUP ? "rdhup," : "",
		seen & EV_HUP ? "hup," : "", seen & EV_ERR ? "err," : "");
}

struct fd_tour {
	struct admin_tour tour;
	int from, to;
};

/* tour.after: one more than the last descriptor examined. */
static void
show_fds(struct admin_conn *c, struct worker *w, void *state)
{
	struct fd_tour *t = state;
	int fd = MAX(t->from, (int)t->tour.after), end = MIN(t->to, fd + FDS_PER_VISIT - 1);
	struct interest in;
	void *owner;

	for (; fd <= end && c->out.len < ADMIN_SLICE; fd++)
		if (loop_peek(w->loop, fd, &in, &owner) == 0)
			add_fd(c, w, fd, &in);
	t->tour.after = (uint64_t)fd;
	t->tour.is_done = fd > t->to;
}

void
admin_cmd_show_fd(struct admin_conn *c, int argc, char **argv)
{
	int64_t from = 0, to = (int64_t)c->admin->process->limits.table - 1;
	struct fd_tour t = { .tour.visit = show_fds };

	if (argc > 0) {
		if (cfg_value_int(argv[0], 0, to, &from, NULL) < 0) {
			admin_msg(c, ADMIN_ERR,
				"Invalid descriptor: expects a number from 0 to %lld.",
				(long long)to);
			return;
		}
		to = from;
	}
	t.from = (int)from;
	t.to = (int)to;
	admin_tour(c, &t, sizeof(t));
}

/* Sums over pools. */
struct pool_sum {
	unsigned int pools;
	uint64_t bytes, used_bytes;
};

/* One without a name is not in use. */
static void
add_pool(struct sbuf *o, const struct pool *p, struct pool_sum *sum)
{
	unsigned int used = counter_read(&p->live), all = used + counter_read(&p->kept);

	if (!p->name)
		return;
	sbuf_addf(o,
		"  - Pool %s (%zu bytes) : %u allocated (%llu bytes), %u used, peak %u, %llu gets, "
		"%llu failures\n",
		p->name, p->size, all, (unsigned long long)all * p->size, used,
		counter_read(&p->peak), (unsigned long long)counter_read(&p->gets),
		(unsigned long long)counter_read(&p->fails));
	sum->pools++;
	sum->bytes += (uint64_t)all * p->size;
	sum->used_bytes += (uint64_t)used * p->size;
}

static void
add_pools_of(struct sbuf *o, const struct engine *e, struct pool_sum *sum)
{
	add_pool(o, &e->pools.session, sum);
	add_pool(o, &e->pools.txn, sum);
	add_pool(o, &e->pools.capture, sum);
	add_pool(o, &e->pools.addr_override, sum);
	add_pool(o, &e->pools.extras, sum);
	add_pool(o, &e->pools.tracked, sum);
	add_pool(o, &e->pools.buf, sum);
	add_pool(o, &e->pools.wide, sum);
	add_pool(o, &e->bulk.bufs, sum);
	add_pool(o, &e->idle.pool, sum);
	add_pool(o, &e->pipes.objects, sum);
}

void
admin_cmd_show_pools(struct admin_conn *c, int argc, char **argv)
{
	const struct process *p = c->admin->process;
	struct pool_sum sum = { 0 };

	(void)argc;
	(void)argv;
	sbuf_addf(&c->out, "Dumping pools usage (%s).\n", mem_allocator());
	for (unsigned int i = 0; i < p->n_workers; i++) {
		if (p->n_workers > 1)
			sbuf_addf(&c->out, "Worker %u:\n", i + 1);
		add_pools_of(&c->out, &p->workers[i].engine, &sum);
	}
	sbuf_addf(&c->out, "Total: %u pools, %llu bytes allocated, %llu used.\n", sum.pools,
		(unsigned long long)sum.bytes, (unsigned long long)sum.used_bytes);
}

/* --- activity -------------------------------------------------------------------------------- */

/*
 * show activity: what each worker does, and which wake-ups were saved (management manual 9.3).
 */

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
	v[MAIL_ELIDED_INLINE] = counter_read(&w->engine.stat.elided_inline);
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
	r->v[CUM_CONNS] = counter_read(&w->engine.stat.cum_conns);
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
