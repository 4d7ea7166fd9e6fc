/* States of servers. On the first worker, which is the only one to change them; under the backend's
 * lock, which others hold while they choose. Messages are in HAProxy's words: tools that read logs
 * look for them. Numbers in them are read without the lock. */
#include "proxy/backend/server_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/err.h"
#include "event/profile.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/queue.h"
#include "proxy/backend/server_place.h"
#include "proxy/model/check.h"
#include "proxy/model/engine.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server.h"
#include "proxy/model/server_kept.h"
#include "base/log.h"

/* --- messages --- */

#define TEXT_MAX 512

/* The state of a server and its backend before a change. */
struct server_before {
	unsigned int admin;
	enum server_oper oper;
	int uweight;
	unsigned int usable;  /* servers of the backend */
	unsigned int queued;  /* sessions waiting for this server */
	unsigned int waiting; /* sessions waiting for any server */
	int panic;            /* of the backend */
};

static struct server_before
server_before(const struct server *s)
{
	return (struct server_before){ s->admin, s->oper, s->uweight, proxy_usable_servers(s->be),
		atomic_read(&s->queued), atomic_read(&s->be->queued),
		atomic_read(&s->be->lb.panic) };
}

/* Returns by how many sessions a queue has become shorter. */
static unsigned int
count_left(unsigned int before, unsigned int now)
{
	return before - MIN(before, now);
}

static unsigned int
count_requeued(const struct server *s, const struct server_before *before)
{
	return count_left(before->queued, atomic_read(&s->queued));
}

static void
send_notice(struct engine *e, int is_alert, const char *text)
{
	if (e->hooks.on_notice)
		e->hooks.on_notice(e, is_alert, text);
}

static void
log_to_backend(struct engine *e, const struct proxy *be, enum log_level level,
	const char *text)
{
	log_send(e->log, &be->logs, level, be->log.tag, text, strlen(text));
}

void
server_log(struct engine *e, const struct server *s, enum log_level level, const char *text)
{
	send_notice(e, 0, text);
	log_to_backend(e, s->be, level, text);
}

void
server_alert(struct engine *e, const struct server *s, const char *text)
{
	send_notice(e, 1, text);
	log_to_backend(e, s->be, LOG_LEVEL_ALERT, text);
}

void
server_send_alert(struct engine *e, const struct server *s, enum log_level level, const char *text)
{
	if (e->hooks.on_alert)
		e->hooks.on_alert(e, s, level, text);
}

static void
report_line(struct engine *e, const struct server *s, enum log_level level, int is_mailed,
	const char *what)
{
	char text[2 * TEXT_MAX];

	(void)snprintf(text, sizeof(text), "%sServer %s/%s %s", s->conf.backup ? "Backup " : "",
		s->be->name, s->name, what);
	server_log(e, s, level, text);
	if (is_mailed)
		server_send_alert(e, s, level, text);
}

static void fmt_printf(4, 5)
log_of_server(struct engine *e, const struct server *s, enum log_level level, const char *fmt, ...)
{
	char what[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	report_line(e, s, level, 0, what);
}

static void
count_usable(const struct proxy *be, unsigned int *active, unsigned int *backup)
{
	*active = be->lb.left[0];
	*backup = be->lb.left[1];
	if (be->lb.is_held)
		return;
	*active = *backup = 0;
	list_each(it, &be->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		if (server_is_usable(s))
			++*(s->conf.backup ? backup : active);
	}
}

/* Reports the change of a server that takes no more sessions; an alert, too, if is_mailed. */
static void
report_less(struct engine *e, const struct server *s, const struct server_before *before,
	enum log_level level, int is_mailed, const char *what, const char *cause)
{
	unsigned int active, backup;
	char text[TEXT_MAX];

	count_usable(s->be, &active, &backup);
	(void)snprintf(text, sizeof(text),
		"%s%s. %u active and %u backup servers left.%s %u sessions active, %u requeued, "
		"%u remaining in queue.",
		what, cause, active, backup, !active && backup ? " Running on backup." : "",
		atomic_read(&s->cur), count_requeued(s, before), atomic_read(&s->queued));
	report_line(e, s, level, is_mailed, text);
}

static void
report_online(struct engine *e, const struct server *s, unsigned int requeued, int is_mailed,
	const char *what, const char *cause)
{
	unsigned int active, backup;
	char text[TEXT_MAX];

	count_usable(s->be, &active, &backup);
	(void)snprintf(text, sizeof(text),
		"%s%s. %u active and %u backup servers online.%s %u sessions requeued, %u total in "
		"queue.",
		what, cause, active, backup, !active && backup ? " Running on backup." : "",
		requeued, atomic_read(&s->queued));
	report_line(e, s, LOG_LEVEL_NOTICE, is_mailed, text);
}

static const char *
up_or_down(const struct server *s)
{
	return s->oper == SERVER_STOPPED ? "DOWN" : "UP";
}

static void
report_maint(struct engine *e, const struct server *s, const struct server_before *before,
	const char *cause)
{
	if (before->oper == SERVER_STOPPED)
		log_of_server(
			e, s, LOG_LEVEL_NOTICE, "was DOWN and now enters maintenance%s.", cause);
	else
		report_less(e, s, before, before->admin & SERVER_DRAIN ? LOG_LEVEL_NOTICE
							     : LOG_LEVEL_ALERT,
			0, "is going DOWN for maintenance", cause);
}

static void
report_left_maint(struct engine *e, const struct server *s, const struct server_before *before)
{
	const char *kind = before->admin & SERVER_MAINT_FORCED ? "forced maintenance"
							       : "maintenance";
	const char *mode = s->admin & SERVER_DRAIN ? "DRAIN" : "READY";

	if (before->admin & SERVER_MAINT_UNRESOLVED)
		log_of_server(e, s, LOG_LEVEL_NOTICE, "('%s') is %s/%s (resolves again).",
			s->fqdn ? s->fqdn : "", up_or_down(s), mode);
	else
		log_of_server(e, s, LOG_LEVEL_NOTICE, "is %s/%s (leaving %s).", up_or_down(s), mode,
			kind);
	if (s->admin & SERVER_DRAIN_FORCED)
		log_of_server(e, s, LOG_LEVEL_NOTICE, "remains in forced drain mode.");
	else if (s->admin & SERVER_DRAIN)
		log_of_server(e, s, LOG_LEVEL_NOTICE,
			"is leaving forced drain but remains in drain mode via %s/%s.",
			s->track->be->name, s->track->name);
}

static void
report_drain(struct engine *e, const struct server *s, const struct server_before *before,
	const char *cause)
{
	if (s->oper == SERVER_STOPPED)
		report_less(e, s, before, LOG_LEVEL_NOTICE, 1, "enters drain state", cause);
	else
		report_online(e, s, count_requeued(s, before), 1, "enters drain state", cause);
}

static void
report_admin(struct engine *e, const struct server *s, const struct server_before *before,
	const char *cause)
{
	int was_drained = (before->admin & SERVER_DRAIN) != 0;
	int is_drained = (s->admin & SERVER_DRAIN) != 0;

	if (s->admin & SERVER_MAINT) {
		if (!(before->admin & SERVER_MAINT))
			report_maint(e, s, before, cause);
		else if ((before->admin & ~s->admin) & SERVER_MAINT_FORCED)
			log_of_server(e, s, LOG_LEVEL_NOTICE,
				"is leaving forced maintenance but remains in maintenance.");
	} else if (before->admin & SERVER_MAINT) {
		report_left_maint(e, s, before);
	} else if (is_drained && !was_drained) {
		report_drain(e, s, before, cause);
	} else if (!is_drained && was_drained) {
		log_of_server(
			e, s, LOG_LEVEL_NOTICE, "is %s (leaving forced drain).", up_or_down(s));
	}
}

static void
report_oper(struct engine *e, const struct server *s, const struct server_before *before,
	const char *cause)
{
	unsigned int served = count_left(before->waiting, atomic_read(&s->be->queued));

	switch (s->oper) {
	case SERVER_STOPPED:
		report_less(e, s, before,
			before->oper == SERVER_STOPPING || (s->admin & SERVER_DRAIN)
				? LOG_LEVEL_NOTICE : LOG_LEVEL_ALERT,
			1, "is DOWN", cause);
		break;
	case SERVER_STOPPING:
		report_online(e, s, count_requeued(s, before), 0, "is stopping", cause);
		break;
	case SERVER_STARTING:
	case SERVER_RUNNING:
		report_online(e, s, served, 1, "is UP", cause);
		break;
	}
	if (s->admin & SERVER_DRAIN_FORCED)
		log_of_server(e, s, LOG_LEVEL_NOTICE, "remains in forced drain mode.");
}

static void
report_backend_down(struct engine *e, const struct proxy *be)
{
	const char *what = be->caps & PROXY_FE ? "proxy" : "backend";
	char text[TEXT_MAX];

	(void)snprintf(text, sizeof(text), "%s '%s' has no server available!", what, be->name);
	send_notice(e, 1, text);
	(void)snprintf(text, sizeof(text), "%s %s has no server available!", what, be->name);
	log_to_backend(e, be, LOG_LEVEL_EMERG, text);
}

static void
report_panic(struct engine *e, const struct proxy *be)
{
	unsigned int known = atomic_read(&be->lb.n_known), active, backup;
	int began = atomic_read(&be->lb.panic);
	char text[TEXT_MAX];

	count_usable(be, &active, &backup);
	(void)snprintf(text, sizeof(text), "%s %s %s panic: %u of %u servers usable, the threshold "
		"is %u%%. Balancing over %s.",
		be->caps & PROXY_FE ? "proxy" : "backend", be->name, began ? "enters" : "leaves",
		active, known, be->panic_threshold, began ? "all of them" : "the usable ones");
	send_notice(e, began, text);
	log_to_backend(e, be, began ? LOG_LEVEL_ALERT : LOG_LEVEL_NOTICE, text);
}

/* Reports that the backend has no server any more, or enters or leaves panic. */
static void
report_group(struct engine *e, const struct proxy *be, unsigned int was_usable, int was_panic)
{
	if (was_usable && !proxy_usable_servers(be))
		report_backend_down(e, be);
	if (was_panic != atomic_read(&be->lb.panic))
		report_panic(e, be);
}

/* Reports the difference through this engine's log, after the change, when the sessions that waited
 * for the server were redistributed. cause: follows the state. */
static void
server_report(struct engine *e, const struct server *s, const struct server_before *before,
	const char *cause)
{
	if (s->admin != before->admin)
		report_admin(e, s, before, cause);
	else if (s->oper != before->oper)
		report_oper(e, s, before, cause);
	else if ((s->admin & SERVER_DRAIN) &&
		((s->check && !s->agent) || (!before->uweight && s->uweight)))
		log_of_server(e, s, LOG_LEVEL_NOTICE, "remains in forced drain mode.");
	report_group(e, s->be, before->usable, before->panic);
}

/* --- names --- */

void
server_report_ready(struct engine *e, const struct server *s)
{
	log_of_server(e, s, LOG_LEVEL_NOTICE, "administratively READY thanks to valid DNS answer.");
}

/* --- states --- */

static void server_end_start(struct engine *e, struct server *s);

static void
count_server_downs_locked(struct server *s, int was_running, uint64_t now)
{
	lock_assert_held(&s->be->lock);
	if (was_running && !server_is_running(s)) {
		s->downs++;
		s->down_since_ms = now;
	} else if (!was_running && server_is_running(s)) {
		s->down_ms += now - s->down_since_ms;
	}
}

static void
count_backend_downs_locked(struct proxy *be, unsigned int was_usable, uint64_t now)
{
	unsigned int usable = proxy_usable_servers(be);

	lock_assert_held(&be->lock);
	if (was_usable && !usable) {
		be->downs++;
		be->last_change_ms = be->down_since_ms = now;
	} else if (!was_usable && usable) {
		be->down_ms += now - be->down_since_ms;
		be->last_change_ms = now;
	}
}

/* --- slowstart ------------------------------------------------------------------------------- */

/*
 * Servers that start slowly. On the first worker; parts change under the backend's lock. While
 * a server starts, its last_change_ms is the time that it came up.
 */

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

/* Sets its parts for its state at this time: true if its weight changed. A server that is down
 * keeps them. */
static int
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

/* Follows a change of the server's state. */
static void
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

/* --- changes --------------------------------------------------------------------------------- */

/* Adjusts the count of usable servers that messages have while changes are held. */
static void
count_left_locked(const struct server *s, int was_usable)
{
	lock_assert_held(&s->be->lock);
	s->be->lb.left[!!s->conf.backup] += (unsigned int)(server_is_usable(s) - was_usable);
}

void
server_put_state_locked(struct server *s, struct server_state to, uint64_t now_ms)
{
	unsigned int usable = proxy_usable_servers(s->be);
	int was_running = server_is_running(s), was_usable = server_is_usable(s);

	lock_assert_held(&s->be->lock);
	if (to.admin == s->admin && to.oper == s->oper)
		return;
	atomic_write(&s->admin, to.admin);
	atomic_write(&s->oper, to.oper);
	atomic_write(&s->changes, s->changes + 1);
	s->last_change_ms = now_ms;
	(void)slowstart_update_locked(s, now_ms);
	count_left_locked(s, was_usable);
	balance_refresh(s->be);
	count_server_downs_locked(s, was_running, now_ms);
	count_backend_downs_locked(s->be, usable, now_ms);
}

void
server_changes_begin(struct engine *e, struct proxy *be)
{
	struct balance *lb = &be->lb;

	assert(!lb->is_held);
	count_usable(be, &lb->left[0], &lb->left[1]);
	lock_take(&be->lock, e->sys);
	lb->was_usable = lb->usable;
	lb->was_panic = lb->panic;
	lb->is_held = 1;
	lock_drop(&be->lock);
}

void
server_changes_end(struct engine *e, struct proxy *be)
{
	struct balance *lb = &be->lb;
	int is_due;

	lock_take(&be->lock, e->sys);
	is_due = lb->is_due;
	lb->is_held = lb->is_due = 0;
	if (is_due) {
		balance_refresh(be);
		count_backend_downs_locked(be, lb->was_usable, loop_now_ms(e->loop));
		proxy_note(be);
	}
	lock_drop(&be->lock);
	if (!is_due)
		return;
	queue_serve(e, be);
	report_group(e, be, lb->was_usable, lb->was_panic);
}

/* Has sessions follow a change of this server. */
static void
serve_after(struct engine *e, struct server *s, int was_usable)
{
	if (!s->be->lb.is_held)
		queue_serve(e, s->be);
	else if (was_usable && !server_is_usable(s))
		queue_move_waiting(e, s);
}

/* Idle connections to a server that takes no sessions are closed, on each worker by itself. */
static void
inform_workers(struct engine *e, struct server *s)
{
	if (e->hooks.on_server_change)
		e->hooks.on_server_change(e, s);
	for (unsigned int i = 0; e->hooks.wake_for_server && i < s->be->n_shards; i++)
		if (i != e->index)
			e->hooks.wake_for_server(e, i, s);
}

/*
 * True if a server that is up now has to start slowly: not when it is up for the first time, having
 * waited for a check (init-state) or an address since tacit started.
 */
static int
is_back(const struct server *s)
{
	if (s->changes == 0)
		return (s->admin & (SERVER_MAINT_FORCED | SERVER_MAINT_TRACKED)) != 0;
	return (s->admin & SERVER_MAINT) || !server_oper_is_up(s->oper);
}

static enum server_oper
up_or_starting(const struct server *s, unsigned int admin)
{
	if ((admin & SERVER_MAINT) || !s->conf.check.slowstart_ms)
		return SERVER_RUNNING;
	if (is_back(s))
		return SERVER_STARTING;
	return server_oper_is_up(s->oper) ? s->oper : SERVER_RUNNING;
}

static void
change_state(struct engine *e, struct server *s, struct server_state to, const char *cause);

/* The cause of changes of servers that track s. */
static void
put_via(char out[SERVER_STATUS_MAX], const struct server *s)
{
	(void)snprintf(out, SERVER_STATUS_MAX, " via %s/%s", s->be->name, s->name);
}

/* Servers that track it are in the same state. */
static void
change_trackers(struct engine *e, struct server *s)
{
	unsigned int inherited = (s->admin & SERVER_MAINT ? SERVER_MAINT_TRACKED : 0u) |
		(s->admin & SERVER_DRAIN ? SERVER_DRAIN_TRACKED : 0u);
	char via[SERVER_STATUS_MAX];

	put_via(via, s);
	list_each(it, &s->trackers) {
		struct server *t = list_entry(it, struct server, track_link);
		unsigned int own = t->admin & ~(unsigned int)(SERVER_MAINT_TRACKED |
			SERVER_DRAIN_TRACKED);

		change_state(e, t, (struct server_state){ own | inherited, s->oper }, via);
	}
}

static void
apply_state(struct engine *e, struct server *s, struct server_state to, const char *cause)
{
	struct server_before before = server_before(s);
	int was_usable = server_is_usable(s);

	lock_take(&s->be->lock, e->sys);
	server_put_state_locked(s, to, loop_now_ms(e->loop));
	server_note(s);
	proxy_note(s->be);
	lock_drop(&s->be->lock);
	serve_after(e, s, was_usable);
	server_report(e, s, &before, cause);
	slowstart_follow(e, s);
}

static void
change_state(struct engine *e, struct server *s, struct server_state to, const char *cause)
{
	if (server_oper_is_up(to.oper))
		to.oper = up_or_starting(s, to.admin);
	if (to.admin == s->admin && to.oper == s->oper)
		return;
	apply_state(e, s, to, cause);
	inform_workers(e, s);
	change_trackers(e, s);
}

/* Its `slowstart` is over: it is SERVER_RUNNING. */
static void
server_end_start(struct engine *e, struct server *s)
{
	char via[SERVER_STATUS_MAX] = "";

	if (s->track)
		put_via(via, s->track);
	apply_state(e, s, (struct server_state){ s->admin, SERVER_RUNNING }, via);
}

void
server_begin_stopped(struct engine *e, struct server *s)
{
	unsigned int downs;

	lock_take(&s->be->lock, e->sys);
	downs = s->be->downs;
	server_put_state_locked(s, (struct server_state){ s->admin, SERVER_STOPPED },
		loop_now_ms(e->loop));
	s->downs = 0;
	/* A server may be added at run time. */
	s->be->downs = downs;
	atomic_write(&s->changes, 0u);
	/* The server has never been up. */
	balance_refresh(s->be);
	lock_drop(&s->be->lock);
	list_each(it, &s->trackers) {
		server_begin_stopped(e, list_entry(it, struct server, track_link));
	}
}

void
server_restore(struct engine *e, struct server *s, unsigned int admin)
{
	unsigned int of_trackers = (admin & SERVER_MAINT ? SERVER_MAINT_TRACKED : 0u) |
		(admin & SERVER_DRAIN ? SERVER_DRAIN_TRACKED : 0u);

	lock_take(&s->be->lock, e->sys);
	server_put_state_locked(s, (struct server_state){ admin, s->oper }, loop_now_ms(e->loop));
	s->downs = s->be->downs = s->changes = 0;
	lock_drop(&s->be->lock);
	list_each(it, &s->trackers) {
		struct server *t = list_entry(it, struct server, track_link);

		server_restore(e, t, t->admin | of_trackers);
	}
}

/* A server that leaves maintenance is in its initial state until its next check. */
static enum server_oper
oper_after_maint(struct server *s)
{
	if (s->check)
		s->check->health = check_initial_health(s->check);
	if (s->agent)
		s->agent->health = check_initial_health(s->agent);
	if (s->track)
		return s->track->oper;
	return s->check && s->check->health < s->check->rise ? SERVER_STOPPED : SERVER_RUNNING;
}

static void
set_admin(struct engine *e, struct server *s, unsigned int admin, const char *cause)
{
	enum server_oper oper = s->oper;

	if ((s->admin & SERVER_MAINT) && !(admin & SERVER_MAINT))
		oper = oper_after_maint(s);
	change_state(e, s, (struct server_state){ admin, oper }, cause);
}

void
server_set_forced(struct engine *e, struct server *s, unsigned int forced)
{
	unsigned int others = s->admin & ~(unsigned int)(SERVER_MAINT_FORCED | SERVER_DRAIN_FORCED);

	set_admin(e, s, others | forced, "");
}

void
server_set_admin(struct engine *e, struct server *s, enum server_admin bit, int on,
	const char *cause)
{
	set_admin(e, s, on ? s->admin | bit : s->admin & ~(unsigned int)bit, cause);
}

void
server_set_oper(struct engine *e, struct server *s, enum server_oper oper, const char *cause)
{
	if (!(s->admin & SERVER_MAINT))
		change_state(e, s, (struct server_state){ s->admin, oper }, cause);
}

int
server_put_weight_locked(struct server *s, int weight)
{
	int was_usable = server_is_usable(s);

	lock_assert_held(&s->be->lock);
	if (weight < 0 || weight > SERVER_WEIGHT_MAX)
		return -ERR_RANGE;
	if (balance_is_static(s->be) && weight != 0 && weight != s->conf.weight)
		return -ERR_UNSUPPORTED;
	atomic_write(&s->uweight, weight);
	count_left_locked(s, was_usable);
	balance_refresh(s->be);
	return 0;
}

int
server_set_weight(struct engine *e, struct server *s, int weight)
{
	struct server_before before = server_before(s);
	int r;

	lock_take(&s->be->lock, e->sys);
	r = server_put_weight_locked(s, weight);
	server_note(s);
	lock_drop(&s->be->lock);
	if (r < 0)
		return r;
	serve_after(e, s, 0);
	server_report(e, s, &before, "");
	return 0;
}

void
server_set_maxconn(struct engine *e, struct server *s, int maxconn)
{
	lock_take(&s->be->lock, e->sys);
	atomic_write(&s->conf.maxconn, maxconn);
	lock_drop(&s->be->lock);
	server_note(s);
	queue_serve(e, s->be);
	/* Returning a place notifies the sessions that wait for one. */
	if (s->conf.strict_maxconn && server_place_take(e, s))
		server_place_put(e, s);
}
