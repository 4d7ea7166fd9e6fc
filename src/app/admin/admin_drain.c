/* Connections at a soft stop: a client that asks during a reload is answered. First worker. */
#include "app/admin/admin_int.h"

/* Its command is to come. One with a prompt may wait for hours. */
static int
is_expected(const struct admin_conn *c)
{
	return c->state == ADMIN_READING && !c->line && !c->prompt;
}

/* True if an answer is owed. A command that waits, for events or for a time, is cut. */
static int
is_owed(const struct admin_conn *c)
{
	if (c->state == ADMIN_CLOSED)
		return 0;
	if (c->line || c->ask.worker)
		return !c->wake_ms && !c->walk.stops_on_input;
	return c->sent < c->out.len || is_expected(c);
}

int
admin_is_owing(const struct admin *a)
{
	list_each(it, &a->conns)
		if (is_owed(list_entry(it, const struct admin_conn, link)))
			return 1;
	return 0;
}

void
admin_drain(struct admin *a)
{
	struct loop *l = a->worker->loop;

	list_each(it, &a->conns) {
		struct admin_conn *c = list_entry(it, struct admin_conn, link);
		uint32_t most = is_expected(c) ? ADMIN_EXPECTED_MS : ADMIN_DRAIN_MS;

		if (c->state == ADMIN_CLOSED)
			continue;
		c->timeout_ms = c->timeout_ms ? MIN(c->timeout_ms, most) : most;
		/* One that waits for its time has set it. Otherwise hard-stop-after is the limit
		 * where memory is out. */
		if (!c->wake_ms)
			(void)!timer_set(
				loop_timers(l), &c->timer, loop_now_ms(l) + c->timeout_ms);
	}
}
