/* Servers that start slowly. On the first worker; parts change under the backend's lock. While a
 * server starts, its last_change_ms is the time that it came up. */
#include "proxy/backend/slowstart.h"

#include "base/atomic.h"
#include "event/profile.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/queue.h"
#include "proxy/backend/server_state.h"
#include "proxy/model/proxy.h"

/* A step of maxconn lasts no longer than this; as in HAProxy weights are adjusted then too. */
#define STEP_MAX_MS 1000u

static uint64_t
age_at(const struct server *s, uint64_t now_ms)
{
	return MIN(now_ms - s->last_change_ms, (uint64_t)s->conf.check.slowstart_ms);
}

static unsigned int
part_at(const struct server *s, uint64_t age_ms)
{
	uint64_t grown = age_ms * SERVER_WEIGHT_SCALE / s->conf.check.slowstart_ms;

	if (balance_is_static(s->be))
		return SERVER_WEIGHT_SCALE;
	return (unsigned int)MIN(1 + grown, (uint64_t)SERVER_WEIGHT_SCALE);
}

int
slowstart_update_locked(struct server *s, uint64_t now_ms)
{
	unsigned int part = SERVER_WEIGHT_SCALE;

	lock_assert_held(&s->be->lock);
	if ((s->admin & SERVER_MAINT) || !server_oper_is_up(s->oper))
		return 0;
	if (s->oper == SERVER_STARTING) {
		atomic_write(&s->start_age_ms, (unsigned int)age_at(s, now_ms));
		part = part_at(s, s->start_age_ms);
	}
	if (part == s->weight_part)
		return 0;
	atomic_write(&s->weight_part, part);
	return 1;
}

/* The next sixteenth of the time, or the next second. */
static uint64_t
next_step(const struct server *s, uint64_t now_ms)
{
	uint64_t whole = s->conf.check.slowstart_ms, age = age_at(s, now_ms), next;

	if (whole > SERVER_WEIGHT_SCALE * STEP_MAX_MS)
		next = (age / STEP_MAX_MS + 1) * STEP_MAX_MS;
	else
		next = ((age * SERVER_WEIGHT_SCALE / whole + 1) * whole + SERVER_WEIGHT_SCALE - 1) /
			SERVER_WEIGHT_SCALE;
	return s->last_change_ms + MIN(next, whole);
}

static void
plan_next_step(struct engine *e)
{
	uint64_t next = TIMER_NEVER, now = loop_now_ms(e->loop);

	list_each(it, &e->starting) {
		const struct server *s = list_entry(it, const struct server, start_link);

		next = MIN(next, next_step(s, now));
	}
	/* Out of memory: all of their load at once is better than none for ever. */
	if (timer_set(loop_timers(e->loop), &e->start_timer, next) < 0)
		while (!list_is_empty(&e->starting))
			server_end_start(e, list_first(&e->starting, struct server, start_link));
}

static void
take_step(struct engine *e, struct server *s, uint64_t now_ms)
{
	lock_take(&s->be->lock, e->sys);
	if (slowstart_update_locked(s, now_ms))
		balance_refresh(s->be);
	lock_drop(&s->be->lock);
	queue_serve(e, s->be);
}

static void
on_step(struct timer *t)
{
	struct engine *e = container_of(t, struct engine, start_timer);
	uint64_t now = loop_now_ms(e->loop);

	list_each_safe(it, &e->starting) {
		struct server *s = list_entry(it, struct server, start_link);

		if (age_at(s, now) == s->conf.check.slowstart_ms)
			server_end_start(e, s);
		else
			take_step(e, s, now);
	}
	plan_next_step(e);
}
PROFILE_NAME(on_step, slowstart_step)

void
slowstart_follow(struct engine *e, struct server *s)
{
	if (s->oper != SERVER_STARTING && list_is_empty(&s->start_link))
		return;
	list_remove(&s->start_link);
	if (s->oper == SERVER_STARTING) {
		list_append(&e->starting, &s->start_link);
		plan_next_step(e);
	} else if (list_is_empty(&e->starting)) {
		timer_stop(loop_timers(e->loop), &e->start_timer);
	}
}

void
slowstart_init(struct engine *e)
{
	list_init(&e->starting);
	timer_init(&e->start_timer, on_step);
}

void
slowstart_fini(struct engine *e)
{
	list_each_safe(it, &e->starting) {
		list_remove(it);
	}
	timer_stop(loop_timers(e->loop), &e->start_timer);
}
