/* Results of checks. On the first worker; health is between 0 and rise + fall - 1, and the server
 * is up from `rise` on. */
#include "proxy/check/check_result.h"

#include <stdio.h>

#include "proxy/backend/server_state.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server_kept.h"

#define INTER_DEFAULT_MS 2000u

/* --- messages, in HAProxy's words --- */

/* "reason: Layer7 wrong status, code: 503, info: "No", check duration: 1ms" */
static void
reason_text(const struct check *c, char *out, size_t size)
{
	char code[32] = "", info[CHECK_INFO_MAX + 16] = "", time[48] = "";

	if (check_has_code(c))
		(void)snprintf(code, sizeof(code), ", code: %d", c->code);
	if (c->info[0])
		(void)snprintf(info, sizeof(info), ", info: \"%s\"", c->info);
	if (check_has_duration(c))
		(void)snprintf(time, sizeof(time), ", check duration: %ums", c->duration_ms);
	(void)snprintf(out, size, "reason: %s%s%s%s", check_status_text(c->status), code, info,
		time);
}

static const char *
result_word(enum check_result r)
{
	switch (r) {
	case CHECK_PASSED:
		return "succeeded";
	case CHECK_CONDPASS:
		return "conditionally succeeded";
	case CHECK_FAILED:
	case CHECK_NEUTRAL:
	case CHECK_UNKNOWN:
		break;
	}
	return "failed";
}

/* option log-health-checks */
static void
log_result(struct engine *e, const struct check *c, enum check_result result)
{
	int up = c->health >= c->rise;
	char reason[2 * CHECK_INFO_MAX], text[4 * CHECK_INFO_MAX];

	reason_text(c, reason, sizeof(reason));
	(void)snprintf(text, sizeof(text), "%s check for %sserver %s/%s %s, %s, status: %d/%d %s.",
		c->is_agent ? "Agent" : "Health", c->srv->conf.backup ? "backup " : "",
		c->srv->be->name, c->srv->name, result_word(result), reason,
		up ? c->health - c->rise + 1 : c->health, up ? c->fall : c->rise,
		!up ? "DOWN" : c->srv->uweight ? "UP" : "DRAIN");
	server_log(e, c->srv, LOG_LEVEL_NOTICE, text);
	server_send_alert(e, c->srv, LOG_LEVEL_INFO, text);
}

/* --- health --- */

static void
lose_health(struct check *c)
{
	if (c->health > 0)
		c->fails++;
	if (c->health > c->rise)
		c->health--;
	else
		c->health = 0;
}

static void
gain_health(struct check *c)
{
	if (c->health >= check_full_health(c))
		return;
	c->health++;
	if (c->health >= c->rise)
		c->health = check_full_health(c);
}

static int
is_allowed_up(const struct check *c)
{
	const struct check *other = c->is_agent ? c->srv->check : c->srv->agent;

	return !other || !other->enabled || other->health >= other->rise;
}

static void
change_server(struct engine *e, struct check *c, enum check_result result)
{
	struct server *s = c->srv;
	char reason[2 * CHECK_INFO_MAX], cause[2 * CHECK_INFO_MAX + 2] = "";

	if (!(s->be->options & OPT_LOG_CHECKS)) {
		reason_text(c, reason, sizeof(reason));
		(void)snprintf(cause, sizeof(cause), ", %s", reason);
	}
	if (c->health == 0)
		server_set_oper(e, s, SERVER_STOPPED, cause);
	else if (c->health < c->rise || !is_allowed_up(c))
		return;
	else if (result == CHECK_PASSED)
		server_set_oper(e, s, SERVER_RUNNING, cause);
	else if (result == CHECK_CONDPASS && server_oper_is_up(s->oper))
		server_set_oper(e, s, SERVER_STOPPING, cause);
}

/* Returns the result of a check with this status. An agent that cannot be asked changes nothing:
 * only its words count (manual 5.2, agent-check). */
static enum check_result
result_of(const struct check *c, enum check_status status)
{
	if (c->is_agent && status != CHECK_L7OK && status != CHECK_L7STS)
		return CHECK_NEUTRAL;
	return check_status_result(status);
}

/* health, before: those before this result. */
static void
apply_result(struct engine *e, struct check *c, enum check_result result, int health,
	enum check_status before)
{
	if (result == CHECK_FAILED) {
		lose_health(c);
	} else if (result == CHECK_PASSED || result == CHECK_CONDPASS) {
		gain_health(c);
		if (!c->is_agent)
			server_forget_errors(c->srv);
	}
	if ((c->srv->be->options & OPT_LOG_CHECKS) && (c->health != health || before != c->status))
		log_result(e, c, result);
	change_server(e, c, result);
}

/* Stores the text of a result. It may be the server's: with a line feed it would begin a line of
 * its own in answers of the stats socket. */
static void
store_info(struct check *c, const char *text)
{
	(void)snprintf(c->info, sizeof(c->info), "%s", text);
	for (char *p = c->info; *p; p++)
		if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f)
			*p = ' ';
}

void
check_result_apply(struct engine *e, struct check *c, const struct check_verdict *v,
	unsigned int duration_ms)
{
	enum check_result result = result_of(c, v->status);
	int health = c->health;
	enum check_status before = c->status;

	c->status = v->status;
	c->code = v->code;
	c->duration_ms = duration_ms;
	store_info(c, v->info);
	if (!(c->srv->admin & SERVER_MAINT))
		apply_result(e, c, result, health, before);
	server_note(c->srv);
}

unsigned int
check_result_inter(const struct check *c)
{
	const struct check_server_conf *conf = &c->srv->conf.check;
	unsigned int inter = c->is_agent ? conf->agent_inter_ms : conf->inter_ms;

	return inter ? inter : INTER_DEFAULT_MS;
}

unsigned int
check_result_interval(const struct check *c)
{
	const struct check_server_conf *conf = &c->srv->conf.check;
	unsigned int inter = check_result_inter(c);

	if (c->is_agent)
		return inter;
	if (c->health == 0)
		return conf->downinter_ms ? conf->downinter_ms : inter;
	if (c->health == check_full_health(c) && c->status != CHECK_INI)
		return inter;
	return conf->fastinter_ms ? conf->fastinter_ms : inter;
}
