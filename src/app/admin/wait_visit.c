/*
 * Conditions of `wait` for which each worker is asked, on its own thread: the number of sessions
 * that match a filter, and whether it is idle.
 */
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/wait_visit.h"
#include "base/counter.h"
#include "event/mailbox.h"
#include "proxy/session/session_walk.h"

/* Sessions examined in a turn of their worker. */
#define SESSIONS_PER_VISIT 2000

/* --- sessions --- */

static int
is_counted(const struct session *s, const void *arg)
{
	const struct wait_cond *cond = arg;
	const struct wait_filter *f = &cond->filter;

	return (!f->fe || s->fe == f->fe) && (!f->be || s->be == f->be) &&
		(!f->has_server || (s->srv && strcmp(s->srv->name, cond->server) == 0)) &&
		(f->state < 0 || (int)s->state == f->state) && (!f->id || s->id == f->id);
}

static void
count_one(struct session *s, void *arg)
{
	struct wait_round *r = arg;

	(void)s;
	r->count++;
}

static void
count_sessions(struct admin_conn *c, struct worker *w, void *state)
{
	struct wait_asking *a = state;
	struct session_walk walk = {
		.after = a->round.after,
		.pick = is_counted,
		.pick_arg = &a->cond,
		.fn = count_one,
		.fn_arg = &a->round,
		.max = SESSIONS_PER_VISIT,
		.max_looks = SESSIONS_PER_VISIT,
	};

	(void)c;
	a->round.is_said = !engine_walk(&w->engine, &walk);
	a->round.after = walk.after;
}

/* --- idle workers ---
 *
 * All are asked twice. A worker is idle if between the two questions its loop had no event, no try
 * and no message but questions, and if nothing is posted and no log line collected. An event that
 * the kernel had before the second question is returned by the wait of the turn in which that
 * arrives, and a message of another worker arrives before it. So if all are idle, all that had
 * reached the process before the first question is done and counted, and its log lines are sent.
 */

/* Notes the work of a worker so far, without the questions. */
static void
make_mark(const struct worker *w, struct wait_mark *m)
{
	const struct loop_stats *s = loop_stats(w->loop);
	struct mailbox_stats mail = { .mails = 0 };

	if (w->mailbox)
		mailbox_stats(w->mailbox, &mail);
	*m = (struct wait_mark){ .turns = counter_read(&s->turns), .events = loop_events(w->loop),
		.tries = counter_read(&s->spec_turns), .mails = mail.mails - w->questions };
}

static int
has_rested(const struct worker *w, const struct wait_mark *before, const struct wait_mark *now)
{
	return now->events == before->events && now->tries == before->tries &&
		now->mails == before->mails && !loop_posted(w->loop) && !log_has_pending(&w->log);
}

static void
ask_if_idle(struct admin_conn *c, struct worker *w, void *state)
{
	struct wait_round *r = &((struct wait_asking *)state)->round;
	struct wait_mark *m = &r->mark[w->index], before = *m;
	int is_same_turn;

	make_mark(w, m);
	r->is_said = 1;
	is_same_turn = m->turns == before.turns;
	/* The first worker may ask several others in one turn. */
	if (is_same_turn && w == c->admin->worker)
		return;
	if (is_same_turn || !has_rested(w, &before, m))
		r->busy |= 1ull << w->index;
}

/* --- rounds --- */

int
wait_ask_next(struct admin_conn *c, struct wait_asking *a)
{
	struct process *p = c->admin->process;
	struct wait_round *r = &a->round;
	int is_idle = a->cond.kind == WAIT_IDLE;

	if (r->is_said) {
		r->is_said = 0;
		r->after = 0;
		r->worker++;
	}
	/* Answers are its only work. */
	if (is_idle && r->worker > 0) {
		ask_if_idle(c, c->admin->worker, a);
		r->is_said = 0;
	}
	if (r->worker == p->n_workers)
		return 0;
	admin_ask(c, &p->workers[r->worker], is_idle ? ask_if_idle : count_sessions);
	return 1;
}
