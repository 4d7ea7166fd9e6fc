#include "app/admin/totals.h"

#include <stdio.h>
#include <string.h>

#include "app/process/process.h"
#include "proxy/model/memory.h"

static void
add_engine(struct totals *t, const struct engine *e)
{
	t->sessions += e->n_sessions;
	t->cum_conns += e->cum_conns;
	t->cum_sess += e->cum_sess;
	t->bytes_in += e->bytes_in;
	t->bytes_out += e->bytes_out;
	t->fsm_bugs += e->fsm_bugs;
	t->lingers += e->lingers;
	freq_merge(&t->conn_rate, &e->conn_rate);
	freq_merge(&t->sess_rate, &e->sess_rate);
	t->memory_used += memory_used(e);
	t->memory_live += memory_live(e);
	t->memory_holds += e->memory_holds;
	t->buf_waits += e->buf_waits;
	t->pipes_used += e->pipes.used;
	t->pipes_idle += e->pipes.n_idle;
	t->bulk_waits += e->bulk.waits;
	t->spliced += e->spliced;
	t->splice_fallbacks += e->splice_fallbacks;
	t->zerocopy.pinned += e->zerocopy.pinned;
	t->zerocopy.bytes += e->zerocopy.bytes;
	t->zerocopy.copied += e->zerocopy.copied;
	t->zerocopy.refused += e->zerocopy.refused;
	t->zerocopy.full += e->zerocopy.full;
	t->pool_fails += e->session_pool.fails + e->buf_pool.fails +
		e->bulk.bufs.fails;
}

static void
add_loop(struct totals *t, struct loop *l)
{
	const struct loop_stats *s = loop_stats(l);

	t->timers += loop_timers(l)->n;
	t->idle_pct += loop_idle_pct(l);
	t->loop.turns += s->turns;
	t->loop.waits += s->waits;
	t->loop.wakes += s->wakes;
	t->loop.events += s->events;
	t->loop.stale += s->stale;
	t->loop.spec_turns += s->spec_turns;
	t->loop.spins += s->spins;
	t->loop.set_errors += s->set_errors;
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
		if (w->mailbox)
			add_mail(t, w->mailbox);
		t->elided_inline += w->engine.elided_inline;
		t->logs_dropped += w->log.dropped;
		ledger_add(&t->ledger, &w->sys->ledger);
	}
	t->idle_pct /= p->n_workers;
}
