/* Sessions ended by the operator: shutdown session, shutdown sessions (management manual 9.3). */
#include <stdlib.h>

#include "app/admin/admin_int.h"
#include "base/atomic.h"
#include "proxy/session/session.h"
#include "proxy/session/session_walk.h"

/* Sessions closed, and examined for it, in one turn of the worker. */
#define ENDS_PER_VISIT 100
#define LOOKS_PER_VISIT 2000

/* Each session is closed by its own worker. */
struct end_tour {
	struct admin_tour tour;
	session_pick_fn *pick;
	unsigned long long id;
	const struct server *srv;
	uint32_t slots; /* server.slots when the command was given */
	unsigned int ended;
};

static int
has_id(const struct session *s, const void *arg)
{
	return s->id == ((const struct end_tour *)arg)->id;
}

/* Sessions that waited for those that end here get their slots, and are to be served. */
static int
was_on(const struct session *s, const void *arg)
{
	const struct end_tour *t = arg;

	return session_is_on(s, t->srv) && (s->has_left || (int32_t)(s->slot - t->slots) <= 0);
}

static void
end_one(struct session *s, void *arg)
{
	struct end_tour *t = arg;

	session_kill(s, 'K');
	t->ended++;
}

static void
end_sessions(struct admin_conn *c, struct worker *w, void *state)
{
	struct end_tour *t = state;
	struct session_walk walk = {
		.after = t->tour.after,
		.pick = t->pick,
		.pick_arg = t,
		.fn = end_one,
		.fn_arg = t,
		.max = ENDS_PER_VISIT,
		.max_looks = LOOKS_PER_VISIT,
	};

	t->tour.is_said = !engine_walk(&w->engine, &walk);
	t->tour.after = walk.after;
	if (t->tour.is_said && w->index == c->admin->process->n_workers - 1 && !t->srv && !t->ended)
		admin_msg(c, ADMIN_ERR, "No such session (use 'show sess').");
}

void
admin_cmd_shutdown_session(struct admin_conn *c, int argc, char **argv)
{
	struct end_tour t = { .tour.visit = end_sessions, .pick = has_id };
	char *end = NULL;

	t.id = argc > 0 ? strtoull(argv[0], &end, 16) : 0;
	if (!t.id || *end)
		admin_msg(c, ADMIN_ERR, "Session pointer expected (use 'show sess').");
	else
		admin_tour(c, &t, sizeof(t));
}

void
admin_cmd_shutdown_sessions_server(struct admin_conn *c, int argc, char **argv)
{
	struct end_tour t = { .tour.visit = end_sessions, .pick = was_on };

	t.srv = admin_find_server(c, argc, argv);
	if (!t.srv)
		return;
	t.slots = atomic_read(&t.srv->slots);
	admin_tour(c, &t, sizeof(t));
}
