/* wait: the next command of the line comes later (HAProxy 3.0, management manual 9.3). On the first
 * worker; between two evaluations of a condition nothing runs. */
#include <stdio.h>
#include <string.h>

#include "app/admin/admin_add_server.h"
#include "app/admin/admin_int.h"
#include "app/admin/wait_cond.h"
#include "app/admin/wait_parse.h"
#include "base/counter.h"
#include "cfg/value.h"
#include "event/mailbox.h"
#include "proxy/session/session_walk.h"

/* Between two evaluations: twice as long each time, up to the second one. */
#define PAUSE_MIN_MS 1u
#define PAUSE_MAX_MS 10u
/* The workers pause while a server is examined that may be removed. */
#define PAUSE_REMOVABLE_MS 50u
/* After a round of questions to workers comes a pause that is so many times longer. */
#define PAUSE_OF_ROUND 8u

struct wait {
	struct wait_asking asking; /* must be first */
	uint64_t until_ms;
	uint64_t pause_ms;
	struct wait_seen seen;     /* at the last evaluation */
};

enum wait_result {
	WAIT_NOT_YET,
	WAIT_MET,
	WAIT_OVER,  /* it will not be met: the client has a message */
	WAIT_ASKED, /* a worker */
	WAIT_HALF   /* the second round of questions comes in a moment */
};

/* --- comparisons --- */

/* True if the value has the expected relation; one that is not there never has. */
static int
wait_test_is_met(const struct wait_test *t, const struct wait_seen *seen)
{
	int64_t order;

	if (seen->kind == WAIT_SEEN_NONE)
		return 0;
	if (t->is_text)
		order = strcmp(seen->text, t->text);
	else
		order = (seen->n > t->n) - (seen->n < t->n);
	switch (t->op) {
	case WAIT_EQ:
		return order == 0;
	case WAIT_NE:
		return order != 0;
	case WAIT_LT:
		return order < 0;
	case WAIT_LE:
		return order <= 0;
	case WAIT_GT:
		return order > 0;
	case WAIT_GE:
	case WAIT_OPS:
	default:
		return order >= 0;
	}
}

/* Appends " <op> <value>". */
static void
wait_test_print(struct sbuf *out, const struct wait_test *t)
{
	sbuf_addf(out, " %s ", t->word);
	if (t->is_text)
		sbuf_adds(out, t->text);
	else
		sbuf_addi(out, t->n);
}

/* Appends " <op> <value>". */
static void
wait_seen_print(struct sbuf *out, const struct wait_seen *seen)
{
	switch (seen->kind) {
	case WAIT_SEEN_NUMBER:
		sbuf_addi(out, seen->n);
		break;
	case WAIT_SEEN_TEXT:
		sbuf_addf(out, "'%s'", seen->text);
		break;
	case WAIT_SEEN_NONE:
	default:
		sbuf_adds(out, "not known");
		break;
	}
}

static enum wait_result
look_at_server(struct admin_conn *c, const char *name)
{
	char text[WAIT_NAME_MAX], *argv[] = { text };
	struct server *s;
	const char *why;
	int r;

	(void)snprintf(text, sizeof(text), "%s", name);
	s = admin_find_server(c, 1, argv);
	if (!s)
		return WAIT_OVER;
	r = admin_check_removal(c, s, &why);
	if (r >= 0)
		return r ? WAIT_MET : WAIT_NOT_YET;
	admin_msg(c, ADMIN_ERR, "%s", why);
	return WAIT_OVER;
}

/* --- servers --------------------------------------------------------------------------------- */

/*
 * Conditions of `wait` for which each worker is asked, on its own thread: the number of
 * sessions that match a filter, and whether it is idle.
 */

/* Sessions examined in a turn of their worker. */
#define SESSIONS_PER_VISIT 2000

/* --- sessions --- */

static int
is_counted(const struct stream *s, const void *arg)
{
	const struct wait_cond *cond = arg;
	const struct wait_filter *f = &cond->filter;
	const struct server *srv = stream_chosen_server(s);

	return (!f->fe || s->sess->fe == f->fe) && (!f->be || s->be == f->be) &&
		(!f->has_server || (srv && strcmp(srv->name, cond->server) == 0)) &&
		(f->state < 0 || (int)stream_shown_state(s) == f->state) &&
		(!f->id || s->id == f->id);
}

static void
count_one(struct stream *s, void *arg)
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
	a->round.is_done = !engine_walk(&w->engine, &walk);
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
	r->is_done = 1;
	is_same_turn = m->turns == before.turns;
	/* The first worker may ask several others in one turn. */
	if (is_same_turn && w == c->admin->worker)
		return;
	if (is_same_turn || !has_rested(w, &before, m))
		r->busy |= 1ull << w->index;
}

/* --- rounds --- */

/* Asks the next worker, and returns 1; 0: all were asked. A step of a walk whose state begins with
 * *a. */
static int
wait_ask_next(struct admin_conn *c, struct wait_asking *a)
{
	struct process *p = c->admin->process;
	struct wait_round *r = &a->round;
	int is_idle = a->cond.kind == WAIT_IDLE;

	if (r->is_done) {
		r->is_done = 0;
		r->after = 0;
		r->worker++;
	}
	/* Answers are its only work. */
	if (is_idle && r->worker > 0) {
		ask_if_idle(c, c->admin->worker, a);
		r->is_done = 0;
	}
	if (r->worker == p->n_workers)
		return 0;
	admin_ask(c, &p->workers[r->worker], is_idle ? ask_if_idle : count_sessions);
	return 1;
}

/* --- the command ----------------------------------------------------------------------------- */

static enum wait_result
look_at_workers(struct admin_conn *c, struct wait *w)
{
	struct wait_round *r = &w->asking.round;
	uint64_t now = admin_now_ms(c);
	int had_marks = r->has_marks;

	if (r->worker == 0 && !r->is_done && !r->after) {
		r->began_ms = now;
		r->count = 0;
		r->busy = 0;
	}
	if (wait_ask_next(c, &w->asking))
		return WAIT_ASKED;
	r->worker = 0;
	w->pause_ms = MAX(w->pause_ms, (now - r->began_ms) * PAUSE_OF_ROUND);
	if (w->asking.cond.kind == WAIT_SESSIONS) {
		w->seen = (struct wait_seen){ .kind = WAIT_SEEN_NUMBER, .n = r->count };
		return wait_test_is_met(&w->asking.cond.test, &w->seen) ? WAIT_MET : WAIT_NOT_YET;
	}
	r->has_marks = !had_marks;
	if (!had_marks)
		return WAIT_HALF;
	w->seen.n = __builtin_popcountll(r->busy);
	return r->busy ? WAIT_NOT_YET : WAIT_MET;
}

static enum wait_result
look_at_cond(struct admin_conn *c, struct wait *w)
{
	const struct wait_cond *cond = &w->asking.cond;

	switch (cond->kind) {
	case WAIT_REMOVABLE:
		return look_at_server(c, cond->server);
	case WAIT_VALUE:
		if (wait_value_read(c, cond, &w->seen) < 0)
			return WAIT_OVER;
		return wait_test_is_met(&cond->test, &w->seen) ? WAIT_MET : WAIT_NOT_YET;
	case WAIT_SESSIONS:
	case WAIT_IDLE:
		return look_at_workers(c, w);
	case WAIT_DELAY:
	default:
		return WAIT_NOT_YET;
	}
}

static void
report_expiry(struct admin_conn *c, const struct wait *w)
{
	const struct wait_cond *cond = &w->asking.cond;
	char text[6 * WAIT_TEXT_MAX];
	struct sbuf b;

	sbuf_init_fixed(&b, text, sizeof(text));
	sbuf_adds(&b, "Wait delay expired");
	if (cond->kind == WAIT_IDLE) {
		sbuf_addf(&b, ": %lld of %u workers had work", (long long)w->seen.n,
			c->admin->process->n_workers);
	} else if (cond->kind != WAIT_REMOVABLE) {
		sbuf_addf(&b, ": %s is ", cond->what);
		wait_seen_print(&b, &w->seen);
		sbuf_adds(&b, ", expected");
		wait_test_print(&b, &cond->test);
	}
	admin_msg(c, ADMIN_ERR, "%s.", text);
}

/* The time of the next evaluation. */
static uint64_t
next_look(struct wait *w, uint64_t now)
{
	enum wait_kind kind = w->asking.cond.kind;
	uint64_t at = now + w->pause_ms, most = PAUSE_MAX_MS;

	if (kind == WAIT_DELAY)
		return w->until_ms;
	if (kind == WAIT_REMOVABLE)
		most = PAUSE_REMOVABLE_MS;
	w->pause_ms = MIN(2 * w->pause_ms, most);
	return MIN(w->until_ms, at);
}

static int
wait_on(struct admin_conn *c, void *state)
{
	struct wait *w = state;
	uint64_t now = admin_now_ms(c);

	switch (look_at_cond(c, w)) {
	case WAIT_ASKED:
		return 1;
	case WAIT_HALF:
		c->wake_ms = now + PAUSE_MIN_MS;
		return 1;
	case WAIT_MET:
		admin_msg(c, ADMIN_INFO, "Done.");
		return 0;
	case WAIT_OVER:
		return 0;
	case WAIT_NOT_YET:
	default:
		break;
	}
	if (now >= w->until_ms) {
		if (w->asking.cond.kind != WAIT_DELAY)
			report_expiry(c, w);
		return 0;
	}
	c->wake_ms = next_look(w, now);
	return 1;
}

static int
wants_usage(int argc, char *const *argv)
{
	return argc < 1 || strcmp(argv[0], "-h") == 0 || (argc > 1 && strcmp(argv[1], "-h") == 0);
}

void
admin_cmd_wait(struct admin_conn *c, int argc, char **argv)
{
	struct wait w = { .until_ms = admin_now_ms(c), .pause_ms = PAUSE_MIN_MS };
	struct cfg_value_err err;
	uint64_t ms;

	if (wants_usage(argc, argv)) {
		admin_msg(c, ADMIN_INFO,
			"Usage: wait {-h|<delay>} [<condition>]\n"
			"The delay is in milliseconds, or has a unit: us ms s m h d.\n"
			"  srv-removable <backend>/<server>\n"
			"  sessions [<filter>]... [<op> <number>]\n"
			"  server <backend>/<server> {state|cur|queue|idle} <op> <value>\n"
			"  counter {<field of show info>|<row>/<column of show stat>} <op> "
			"<value>\n"
			"  idle\n"
			"<op> is eq, ne, lt, le, gt or ge.");
	} else if (cfg_value_time(argv[0], CFG_UNIT_MS, 0, CFG_TIME_MAX_MS, &ms, &err)) {
		admin_msg(c, ADMIN_ERR, "Invalid delay: %s", err.text);
	} else if (wait_cond_parse(c, argc - 1, argv + 1, &w.asking.cond) == 0) {
		w.until_ms += ms;
		admin_walk(c, wait_on, &w, sizeof(w));
	}
}
