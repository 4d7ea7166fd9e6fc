#include "sim/random_world.h"

#include "proxy/backend/queue.h"
#include "proxy/session/session.h"
#include "proxy/session/session.h"
#include "unit/proxy/backend_rig.h"

#define LIMIT (4000 * FAKE_SEC)

static struct stream *
any_session(struct world *w, struct dice *d)
{
	unsigned int nth = w->engine.n_sessions ? dice(d, w->engine.n_sessions) : 0;

	list_each(it, &w->engine.streams)
		if (nth-- == 0)
			return list_entry(it, struct stream, link);
	return NULL;
}

/* Actions of the admin socket and the process on sessions and servers at run time. */
static void
meddle(struct world *w)
{
	struct dice *d = w->dice;
	struct server *srv = w->srv[dice(d, w->px->n_servers)];
	struct stream *s;

	if (!dice_is(d, 12))
		return;
	switch (dice(d, 5)) {
	case 0:
		s = any_session(w, d);
		if (s)
			stream_kill(s, 'K');
		break;
	case 1:
		put_admin(srv, forced_states[dice(d, 3)], loop_now_ms(w->loop));
		queue_serve(&w->engine, w->px);
		break;
	case 2:
		(void)!put_weight(srv, (int)dice(d, 4));
		queue_serve(&w->engine, w->px);
		break;
	case 3:
		listener_hold(w->ln, LISTENER_HOLD_PROCESS);
		break;
	default:
		listener_resume(w->ln, LISTENER_HOLD_PROCESS);
		break;
	}
}

void
random_run(struct world *w, struct dice *d, int kind, unsigned int n)
{
	w->dice = d;
	if (!kind && dice_is(d, 3)) {
		/* separate statements: the order of two calls in one expression is unspecified */
		unsigned int nth = dice(d, 40 * n), how = dice(d, 4);

		fake_torture(w->k, fake_calls(w->k) + 1 + nth, how);
	}
	if (!kind && dice_is(d, 3))
		fake_cut_splice(w->k, 1 + dice(d, 20));
	if (!kind && dice_is(d, 5))
		w->meddle = meddle;
	w->meddled = w->meddle != NULL;
	if (!kind && dice_is(d, 6)) {
		world_run(w, dice(d, 3000) * FAKE_MS);
		engine_kill_all(&w->engine);
	}
	world_run(w, LIMIT / 4);
	/* clients in the backlog are accepted */
	w->meddle = NULL;
	listener_resume(w->ln, LISTENER_HOLD_PROCESS);
	world_run(w, LIMIT);
	w->non_strict = fake_failed_call(w->k) == SYS_CALL_setsockopt;
	fake_fail(w->k, FAKE_ANY_CALL, 0, 0);
}
