/* Commands that ask the kernel: show syscalls, show fd, show pools. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/process/totals.h"
#include "base/counter.h"
#include "base/mem.h"
#include "cfg/value.h"

/* Number of descriptors examined in one step; most are closed. */
#define FDS_PER_VISIT 8192

static double
per_count(uint64_t sum, uint64_t count)
{
	return count ? (double)sum / (double)count : 0.0;
}

void
admin_cmd_show_syscalls(struct admin_conn *c, int argc, char **argv)
{
	const struct ledger *l;
	uint64_t total;
	struct totals t;
	char wakes[200];

	(void)argc;
	(void)argv;
	/* Counts up to now: calls for this response are not included. */
	totals_read(c->admin->process, &t);
	l = &t.ledger;
	total = ledger_total(l);
	sbuf_addf(&c->out, "# %-16s %12s %12s %12s %12s %10s %10s\n", "call", "total", "ok",
		"again", "error", "per_conn", "per_req");
	for (int i = 0; i < SYS_CALLS; i++) {
		enum sys_call call = (enum sys_call)i;
		uint64_t sum = ledger_sum(l, call);

		if (!sum)
			continue;
		sbuf_addf(&c->out, "%-18s %12llu %12llu %12llu %12llu %10.3f %10.3f%s\n",
			ledger_name(call), (unsigned long long)sum,
			(unsigned long long)l->n[i][SYS_OK], (unsigned long long)l->n[i][SYS_AGAIN],
			(unsigned long long)l->n[i][SYS_ERROR],
			per_count(sum, t.cum_conns), per_count(sum, t.requests),
			ledger_is_clock(call) ? " vdso" : "");
	}
	sbuf_addf(&c->out, "%-18s %12llu %38s %10.3f %10.3f\n", "total", (unsigned long long)total,
		"", per_count(total, t.cum_conns), per_count(total, t.requests));
	sbuf_addf(&c->out, "%-18s %12llu\n", "connections", (unsigned long long)t.cum_conns);
	sbuf_addf(&c->out, "%-18s %12llu\n", "requests", (unsigned long long)t.requests);
	if (c->admin->process->n_workers > 1) {
		totals_wakes_text(&t, wakes, sizeof(wakes));
		sbuf_addf(&c->out, "%s\n", wakes);
	}
}

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
	t->tour.is_said = fd > t->to;
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
	add_pool(o, &e->session_pool, sum);
	add_pool(o, &e->txn_pool, sum);
	add_pool(o, &e->capture_pool, sum);
	add_pool(o, &e->addr_override_pool, sum);
	add_pool(o, &e->buf_pool, sum);
	add_pool(o, &e->wide_pool, sum);
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
