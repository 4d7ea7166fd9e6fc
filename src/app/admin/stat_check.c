/* Columns about servers and checks. On the first worker, which owns checks. */
#include "app/admin/stat_check.h"

#include <stdio.h>

#include "proxy/backend/server_state.h"
#include "proxy/model/check.h"
#include "proxy/model/proxy.h"

/* The columns of one kind of check. */
struct check_cols {
	enum stat_col status, code, duration, desc, last, rise, fall, health;
};

static const struct check_cols health_cols = { STAT_check_status, STAT_check_code,
	STAT_check_duration, STAT_check_desc, STAT_last_chk, STAT_check_rise, STAT_check_fall,
	STAT_check_health };
static const struct check_cols agent_cols = { STAT_agent_status, STAT_agent_code,
	STAT_agent_duration, STAT_agent_desc, STAT_last_agt, STAT_agent_rise, STAT_agent_fall,
	STAT_agent_health };

static void
put_result(struct stat_row *r, const struct check *c, const struct check_cols *cols, char *status)
{
	int running = c->is_running;

	if (running)
		(void)snprintf(status, sizeof(((struct stat_texts *)NULL)->check_status), "* %s",
			check_status_code(c->status));
	stat_row_text(r, cols->status, running ? status : check_status_code(c->status));
	if (check_has_code(c))
		stat_row_int(r, cols->code, (uint32_t)c->code);
	if (check_has_duration(c))
		stat_row_int(r, cols->duration, c->duration_ms);
	stat_row_text(r, cols->desc, check_status_text(c->status));
	if (!running)
		stat_row_text(r, cols->last, c->info);
	stat_row_int(r, cols->rise, c->rise);
	stat_row_int(r, cols->fall, c->fall);
	stat_row_int(r, cols->health, c->health);
}

/* Prints the findings of servers with observe, and of those that track one. */
static void
put_observed(struct stat_row *r, const struct server *s)
{
	const struct server *from = s;

	while (from->track)
		from = from->track;
	if (from->check && from->check->enabled &&
		from->conf.check.observe != CHECK_OBSERVE_NONE)
		stat_row_int(r, STAT_hanafail, s->check ? (int64_t)s->check->observed_fails : 0);
}

static void
put_checks(struct stat_row *r, const struct server *s, struct stat_texts *texts, uint64_t now)
{
	const struct check *c = s->check;

	if (c && c->enabled) {
		stat_row_int(r, STAT_chkfail, (int64_t)c->fails);
		stat_row_int(r, STAT_chkdown, s->downs);
		stat_row_int(r, STAT_downtime, (int64_t)(server_down_ms(s, now) / 1000));
	}
	if (c && c->enabled && !(s->admin & SERVER_MAINT))
		put_result(r, c, &health_cols, texts->check_status);
	if (s->agent && s->agent->enabled)
		put_result(r, s->agent, &agent_cols, texts->agent_status);
}

void
stat_put_server_state(struct stat_row *r, const struct server *s, struct stat_texts *texts,
	uint64_t now_ms)
{
	stat_row_text(r, STAT_status, server_status_text(s, texts->status));
	stat_row_int(r, STAT_lastchg, (int64_t)((now_ms - s->last_change_ms) / 1000));
	put_checks(r, s, texts, now_ms);
	put_observed(r, s);
	if (s->track) {
		(void)snprintf(texts->tracked, sizeof(texts->tracked), "%s/%s", s->track->be->name,
			s->track->name);
		stat_row_text(r, STAT_tracked, texts->tracked);
	}
}
