/* Sums over all workers. A reader takes each counter whole with relaxed loads; they are not
 * all of one moment. */
#include "app/process/totals.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/process/process.h"
#include "app/process/wake_worker.h"
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/ledger.h"
#include "base/mem.h"
#include "proxy/model/compression.h"
#include "proxy/model/memory.h"

static void
add_engine(struct totals *t, const struct engine *e)
{
	t->sessions += atomic_read(&e->n_sessions);
	t->cum_conns += counter_read(&e->stat.cum_conns);
	t->cum_sess += counter_read(&e->stat.cum_sess);
	t->bytes_in += counter_read(&e->stat.bytes_in);
	t->bytes_sent += counter_read(&e->stat.bytes_sent);
	t->requests += counter_read(&e->stat.requests);
	t->fsm_bugs += counter_read(&e->stat.fsm_bugs);
	t->lingers += counter_read(&e->stat.lingers);
	for (int i = 0; i < SHORTFALLS; i++)
		t->shortfalls[i] += counter_read(&e->eval.shortfalls.n[i]);
	freq_merge(&t->conn_rate, &e->stat.conn_rate);
	freq_merge(&t->sess_rate, &e->stat.sess_rate);
	freq_merge(&t->sent_rate, &e->stat.sent_rate);
	if (e->compression) {
		freq_merge(&t->comp_in, &e->compression->in);
		freq_merge(&t->comp_out, &e->compression->out);
	}
	t->memory_used += memory_used(e);
	t->memory_live += memory_live(e);
	t->memory_holds += counter_read(&e->stat.memory_holds);
	t->buf_waits += counter_read(&e->stat.buf_waits);
	t->pipes_used += counter_read(&e->pipes.used);
	t->pipes_idle += counter_read(&e->pipes.n_idle);
	t->bulk_waits += counter_read(&e->bulk.waits);
	t->spliced += counter_read(&e->stat.spliced);
	t->splice_fallbacks += counter_read(&e->stat.splice_fallbacks);
	t->zerocopy.pinned += counter_read(&e->zerocopy.pinned);
	t->zerocopy.bytes += counter_read(&e->zerocopy.bytes);
	t->zerocopy.copied += counter_read(&e->zerocopy.copied);
	t->zerocopy.refused += counter_read(&e->zerocopy.refused);
	t->zerocopy.full += counter_read(&e->zerocopy.full);
	t->pool_fails += counter_read(&e->pools.session.fails) + counter_read(&e->pools.buf.fails) +
		counter_read(&e->pools.wide.fails) + counter_read(&e->bulk.bufs.fails);
}

static void
add_tls(struct totals *t, const struct tls_io *io)
{
	const struct tls_counts *c = tls_io_counts(io);

	t->tls_live += counter_read(&c->live);
	t->tls_cum += counter_read(&c->cum);
	freq_merge(&t->tls_accepted, &c->accepted);
	freq_merge(&t->tls_client_keys, &c->client_keys);
	freq_merge(&t->tls_server_keys, &c->server_keys);
}

static void
add_loop(struct totals *t, struct loop *l)
{
	const struct loop_stats *s = loop_stats(l);

	t->timers += counter_read(&loop_timers(l)->n) + counter_read(&loop_starts(l)->n);
	t->idle_pct += loop_idle_pct(l);
	counter_add(&t->loop.turns, counter_read(&s->turns));
	counter_add(&t->loop.waits, counter_read(&s->waits));
	counter_add(&t->loop.wakes, counter_read(&s->wakes));
	counter_add(&t->loop.events, counter_read(&s->events));
	counter_add(&t->loop.stale, counter_read(&s->stale));
	counter_add(&t->loop.spec_turns, counter_read(&s->spec_turns));
	counter_add(&t->loop.spins, counter_read(&s->spins));
	counter_add(&t->loop.set_errors, counter_read(&s->set_errors));
}

static void
add_mail(struct totals *t, const struct mailbox *mb)
{
	struct mailbox_stats m;

	mailbox_stats(mb, &m);
	t->mail.posts += m.posts;
	t->mail.writes += m.writes;
	t->mail.elided_awake += m.elided_awake;
	t->mail.elided_self += m.elided_self;
	t->mail.elided_batch += m.elided_batch;
	t->mail.full += m.full;
}

void
totals_wakes_text(const struct totals *t, char *buf, size_t len)
{
	(void)snprintf(buf, len,
		"wake-ups: %llu for %llu mails, elided %llu awake, %llu batch, %llu self, %llu "
		"inline",
		(unsigned long long)t->mail.writes, (unsigned long long)t->mail.posts,
		(unsigned long long)t->mail.elided_awake, (unsigned long long)t->mail.elided_batch,
		(unsigned long long)t->mail.elided_self, (unsigned long long)t->elided_inline);
}

void
totals_read(const struct process *p, struct totals *t)
{
	memset(t, 0, sizeof(*t));
	for (unsigned int i = 0; i < p->n_workers; i++) {
		struct worker *w = &p->workers[i];

		add_engine(t, &w->engine);
		if (w->loop)
			add_loop(t, w->loop);
		if (w->tls)
			add_tls(t, w->tls);
		if (w->mailbox)
			add_mail(t, w->mailbox);
		t->elided_inline += counter_read(&w->engine.stat.elided_inline);
		t->logs_sent += counter_read(&w->log.sent);
		t->logs_dropped += counter_read(&w->log.dropped);
		ledger_add_all(&t->ledger, w->sys);
	}
	t->logs_dropped += rings_dropped(p);
	t->idle_pct /= p->n_workers;
}

void
totals_mark(const struct process *p, struct ledger_mark *m)
{
	struct totals t;

	totals_read(p, &t);
	*m = (struct ledger_mark){ .ledger = t.ledger, .conns = t.cum_conns,
		.requests = t.requests, .at_ms = loop_now_ms(process_loop(p)) };
}

/* A session of mode tcp counts as a request. */
void
totals_mark_account(const struct process *p, const struct proxy *fe, struct ledger_mark *m)
{
	*m = (struct ledger_mark){ .at_ms = loop_now_ms(process_loop(p)) };
	for (unsigned int i = 0; i < p->n_workers; i++)
		ledger_add_account(&m->ledger, p->workers[i].sys, fe ? fe->account : 0);
	/* Without those of previous processes, which the ledger does not have either. */
	for (unsigned int i = 0; fe && i < fe->n_shards; i++) {
		const struct proxy_stat *st = &fe->shard[i].fe;

		m->conns += counter_read(&st->cum_conn);
		m->requests +=
			counter_read(fe->mode == PROXY_HTTP ? &st->req_tot : &st->cum_sess);
	}
}

int
totals_clear_ledger(struct process *p)
{
	struct ledger_mark *marks =
		mem_zalloc((p->cfg->proxies.n_accounts + 1) * sizeof(*marks));

	if (!marks)
		return -ERR_NOMEM;
	totals_mark_account(p, NULL, &marks[0]);
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *fe = list_entry(it, struct proxy, link);

		if (fe->account)
			totals_mark_account(p, fe, &marks[fe->account]);
	}
	mem_free(p->cleared_accounts);
	p->cleared_accounts = marks;
	totals_mark(p, &p->cleared);
	p->shown = p->cleared;
	for (unsigned int i = 0; i < p->n_workers; i++) {
		struct worker *w = &p->workers[i];

		w->cleared = (struct ledger){ 0 };
		ledger_add_all(&w->cleared, w->sys);
	}
	return 0;
}

/* --- the ledger ------------------------------------------------------------------------------ */

/* Prints the ledger as a table. Main thread, when the process ends. */

struct row {
	enum sys_call call;
	uint64_t n[SYS_OUTCOMES];
	uint64_t sum;
};

static int
by_sum(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	return x->sum < y->sum ? 1 : x->sum > y->sum ? -1 : 0;
}

/* The counts that averages are made with. Per connection they mean something only while none
 * carries more than one request. */
struct shares {
	uint64_t conns, requests;
	int has_conns;
};

/* Prints a column with sum per count, or "-" for a count of 0. */
static void
print_share(FILE *to, uint64_t sum, uint64_t count)
{
	if (count)
		fprintf(to, " %10.2f", (double)sum / (double)count);
	else
		fprintf(to, " %10s", "-");
}

static void
print_row(FILE *to, const struct row *r, const struct shares *per, const char *name)
{
	fprintf(to, "%10llu %10llu %10llu", (unsigned long long)r->sum,
		(unsigned long long)r->n[SYS_AGAIN], (unsigned long long)r->n[SYS_ERROR]);
	if (per->has_conns)
		print_share(to, r->sum, per->conns);
	print_share(to, r->sum, per->requests);
	fprintf(to, "  %s", name);
}

static void
print_heads(FILE *to, const struct shares *per)
{
	fprintf(to, "\nsystem calls for %llu connections and %llu requests:\n",
		(unsigned long long)per->conns, (unsigned long long)per->requests);
	fprintf(to, "%10s %10s %10s", "calls", "not yet", "errors");
	if (per->has_conns)
		fprintf(to, " %10s", "per conn.");
	fprintf(to, " %10s\n", "per req.");
}

/* Collects the rows of calls that were made, and their sum. The number of rows. */
static unsigned int
collect_rows(struct row *rows, struct row *total, const struct ledger *now,
	const struct ledger *start)
{
	unsigned int n = 0;

	for (int c = 0; c < SYS_CALLS; c++) {
		struct row *r = &rows[n];

		r->call = (enum sys_call)c;
		r->sum = 0;
		for (int o = 0; o < SYS_OUTCOMES; o++) {
			r->n[o] = now->n[c][o] - (start ? start->n[c][o] : 0);
			r->sum += r->n[o];
		}
		if (!r->sum)
			continue;
		n++;
		for (int o = 0; o < SYS_OUTCOMES && !ledger_is_clock(r->call); o++)
			total->n[o] += r->n[o];
		total->sum += ledger_is_clock(r->call) ? 0 : r->sum;
	}
	return n;
}

void
ledger_report(FILE *to, const struct ledger *now, const struct ledger *start, uint64_t conns,
	uint64_t requests)
{
	const struct shares per = { conns, requests, requests <= conns };
	struct row rows[SYS_CALLS];
	struct row total = { .sum = 0 };
	unsigned int n = collect_rows(rows, &total, now, start);

	qsort(rows, n, sizeof(rows[0]), by_sum);
	print_heads(to, &per);
	for (unsigned int i = 0; i < n; i++) {
		print_row(to, &rows[i], &per, ledger_name(rows[i].call));
		fputs(ledger_is_clock(rows[i].call)
				? " (mostly without entering the kernel; not in the total)\n"
				: "\n",
			to);
	}
	print_row(to, &total, &per, "total\n");
}
