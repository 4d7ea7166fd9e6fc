/* The form of the statistics page. On the first worker, which changes the states of servers; other
 * workers end their own sessions. */
#include "app/stats/stats_form.h"

#include <string.h>

#include "app/admin/admin_server.h"
#include "app/process/process.h"
#include "app/stats/stats_query.h"
#include "event/mailbox.h"
#include "event/profile.h"
#include "proxy/backend/server_state.h"
#include "proxy/model/check.h"
#include "proxy/model/server_kept.h"
#include "proxy/session/session.h"

/* Servers that are changed in one turn of the loop. */
#define SERVERS_PER_TURN 32
#define VALUE_MAX 256
#define CAUSE ", changed from the statistics page"

/* --- results --- */

static const struct stats_message messages[STATS_RESULTS] = {
	[STATS_NONE] = { "NONE", "Nothing was changed.", 0 },
	[STATS_PART] = { "PART", "Some of the servers were changed; others do not exist.", 0 },
	[STATS_ERRP] = { "ERRP", "The backend, the servers or the action do not exist. Nothing was "
		"changed.", 0 },
	[STATS_EXCD] = { "EXCD", "The form is too long: select fewer servers. Nothing was changed.",
		0 },
	[STATS_DENY] = { "DENY", "Access denied. Nothing was changed.", 0 },
	[STATS_DONE] = { "DONE", "The servers were changed.", 1 },
	[STATS_UNKN] = { "UNKN", "Unexpected result.", 0 },
};

const struct stats_message *
stats_message(enum stats_result r)
{
	return &messages[r];
}

const struct stats_message *
stats_message_of(struct str word)
{
	size_t i = 0;

	while (i < STATS_UNKN && !str_is(word, str_of(messages[i].word)))
		i++;
	return &messages[i];
}

/* --- actions: 1 if it changed something --- */

static int
force_state(struct process *p, struct server *s, unsigned int to)
{
	server_set_forced(&process_first(p)->engine, s, to);
	return 1;
}

static int
set_ready(struct process *p, struct server *s)
{
	return force_state(p, s, SERVER_READY);
}

static int
set_drain(struct process *p, struct server *s)
{
	return force_state(p, s, SERVER_DRAIN_FORCED);
}

static int
set_maint(struct process *p, struct server *s)
{
	return force_state(p, s, SERVER_MAINT_FORCED);
}

static int
enable_check(struct check *c, int on)
{
	if (!c || c->enabled == on)
		return 0;
	check_set_enabled(c, on);
	return 1;
}

static int
enable_health(struct process *p, struct server *s)
{
	(void)p;
	return enable_check(s->check, 1);
}

static int
disable_health(struct process *p, struct server *s)
{
	(void)p;
	return enable_check(s->check, 0);
}

static int
enable_agent(struct process *p, struct server *s)
{
	(void)p;
	return enable_check(s->agent, 1);
}

static int
disable_agent(struct process *p, struct server *s)
{
	(void)p;
	return enable_check(s->agent, 0);
}

static int
force_oper(struct process *p, struct server *s, int is_up, enum server_oper to)
{
	if (s->track)
		return 0;
	if (s->check)
		s->check->health = is_up ? check_full_health(s->check) : 0;
	server_set_oper(&process_first(p)->engine, s, to, CAUSE);
	return 1;
}

static int
set_running(struct process *p, struct server *s)
{
	return force_oper(p, s, 1, SERVER_RUNNING);
}

static int
set_stopping(struct process *p, struct server *s)
{
	return force_oper(p, s, 1, SERVER_STOPPING);
}

static int
set_down(struct process *p, struct server *s)
{
	return force_oper(p, s, 0, SERVER_STOPPED);
}

static int
set_agent_up(struct process *p, struct server *s)
{
	if (!s->agent || !s->agent->enabled)
		return 0;
	s->agent->health = check_full_health(s->agent);
	if (!s->check || s->check->health >= s->check->rise)
		server_set_oper(&process_first(p)->engine, s, SERVER_RUNNING, CAUSE);
	return 1;
}

static int
set_agent_down(struct process *p, struct server *s)
{
	if (!s->agent || !s->agent->enabled)
		return 0;
	s->agent->health = 0;
	server_set_oper(&process_first(p)->engine, s, SERVER_STOPPED, CAUSE);
	return 1;
}

static void
end_sessions_of(struct worker *w, const struct server *s)
{
	list_each_safe(it, &w->engine.streams) {
		struct stream *one = list_entry(it, struct stream, link);

		if (one->srv == s)
			stream_kill(one, 'K');
	}
}

static void
on_end_sessions(void *worker, struct mail *m)
{
	end_sessions_of(worker, m->arg);
}
PROFILE_NAME(on_end_sessions, stats_end_sessions)

/* The memory of a server that is removed meanwhile is kept. */
static int
shut_sessions(struct process *p, struct server *s)
{
	struct mail m = { .fn = on_end_sessions, .arg = s };
	int done = 1;

	end_sessions_of(process_first(p), s);
	for (unsigned int i = 1; i < p->n_workers; i++)
		if (p->workers[i].has_thread &&
			mailbox_post(process_first(p)->mailbox, p->workers[i].mailbox, &m) < 0)
			done = 0;
	return done;
}

struct stats_action {
	const char *word, *text; /* text NULL: another word for one above */
	int (*run)(struct process *p, struct server *s);
};

static const struct stats_action actions[] = {
	{ "ready", "Set state to READY", set_ready },
	{ "drain", "Set state to DRAIN", set_drain },
	{ "maint", "Set state to MAINT", set_maint },
	{ "dhlth", "Health: disable checks", disable_health },
	{ "ehlth", "Health: enable checks", enable_health },
	{ "hrunn", "Health: force UP", set_running },
	{ "hnolb", "Health: force NOLB", set_stopping },
	{ "hdown", "Health: force DOWN", set_down },
	{ "dagent", "Agent: disable checks", disable_agent },
	{ "eagent", "Agent: enable checks", enable_agent },
	{ "arunn", "Agent: force UP", set_agent_up },
	{ "adown", "Agent: force DOWN", set_agent_down },
	{ "shutdown", "End sessions", shut_sessions },
	{ "enable", NULL, set_ready },
	{ "disable", NULL, set_maint },
};

void
stats_actions_put(struct sbuf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (actions[i].text)
			sbuf_addf(out, "<option value=\"%s\">%s</option>", actions[i].word,
				actions[i].text);
}

/* --- the form --- */

/* The next field, with its decoded value. 0: there are no more. */
static int
next_field(struct str *rest, struct str *name, char value[VALUE_MAX])
{
	const char *end, *eq;
	struct str pair;

	if (!rest->len)
		return 0;
	end = memchr(rest->p, '&', rest->len);
	pair = (struct str){ rest->p, end ? (size_t)(end - rest->p) : rest->len };
	rest->p += pair.len + (end != NULL);
	rest->len -= pair.len + (end != NULL);
	eq = pair.len ? memchr(pair.p, '=', pair.len) : NULL;
	*name = (struct str){ pair.p, eq ? (size_t)(eq - pair.p) : pair.len };
	value[0] = '\0';
	if (eq)
		(void)stats_decode((struct str){ eq + 1, pair.len - name->len - 1 }, value,
			VALUE_MAX);
	return 1;
}

static const struct stats_action *
action_named(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (strcmp(actions[i].word, word) == 0)
			return &actions[i];
	return NULL;
}

void
stats_form_begin(struct stats_form *f, const struct process *p, struct str body)
{
	char value[VALUE_MAX];
	struct str rest = body, name;
	int has_be = 0, has_action = 0, has_server = 0;

	*f = (struct stats_form){ .rest = body };
	while (next_field(&rest, &name, value)) {
		if (str_is(name, STR("b"))) {
			has_be = 1;
			f->be = admin_find_backend(&p->cfg->proxies, value);
		} else if (str_is(name, STR("action"))) {
			has_action = 1;
			f->action = action_named(value);
		} else if (str_is(name, STR("s"))) {
			has_server = 1;
		}
	}
	f->is_complete = has_be && has_action && has_server;
}

static void
change_form_server(struct stats_form *f, struct process *p, const char *name)
{
	struct server *s = proxy_find_server(f->be, str_of(name));

	if (s)
		f->changed += f->action->run(p, s) > 0;
	else
		f->unknown++;
}

static int
is_changeable(const struct proxy *be)
{
	return be && !be->disabled && be->listening != PROXY_STOPPED;
}

int
stats_form_next(struct stats_form *f, struct process *p)
{
	char value[VALUE_MAX];
	struct str name;

	if (!f->is_complete || !f->action || !is_changeable(f->be))
		return 0;
	for (int i = 0; i < SERVERS_PER_TURN; i++) {
		if (!next_field(&f->rest, &name, value))
			return 0;
		if (str_is(name, STR("s")))
			change_form_server(f, p, value);
	}
	return 1;
}

enum stats_result
stats_form_result(const struct stats_form *f)
{
	if (!f->is_complete)
		return STATS_NONE;
	if (!f->action || !is_changeable(f->be))
		return STATS_ERRP;
	if (!f->changed)
		return f->unknown ? STATS_ERRP : STATS_NONE;
	return f->unknown ? STATS_PART : STATS_DONE;
}
