/* The words of a condition of `wait`. On the first worker. */
#include "app/admin/wait_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/stat_rows.h"
#include "app/admin/wait_cond.h"
#include "base/atomic.h"
#include "cfg/suggest.h"
#include "cfg/value.h"
#include "proxy/model/fsm.h"
#include "proxy/model/proxy.h"

static const char *const op_names[WAIT_OPS] = {
	[WAIT_EQ] = "eq", [WAIT_NE] = "ne", [WAIT_LT] = "lt", [WAIT_LE] = "le", [WAIT_GT] = "gt",
	[WAIT_GE] = "ge"
};

static int
is_server_state(const char *word)
{
	static const char *const names[] = { "UP", "DOWN", "MAINT", "DRAIN", "NOLB" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(word, names[i]) == 0)
			return 1;
	return 0;
}

/* --- comparisons --- */

/* 0 with *op, or -1. */
static int
find_op(const char *word, enum wait_op *op)
{
	for (int i = 0; i < WAIT_OPS; i++)
		if (strcmp(word, op_names[i]) == 0) {
			*op = (enum wait_op)i;
			return 0;
		}
	return -1;
}

/* The value behind a comparison. 0, or -1 after a message. */
static int
parse_expected(struct admin_conn *c, const char *text, struct wait_test *t)
{
	struct cfg_value_err err;

	t->word = op_names[t->op];
	if (!t->is_text) {
		if (cfg_value_int(text, INT64_MIN, INT64_MAX, &t->n, &err) == 0)
			return 0;
		admin_msg(c, ADMIN_ERR, "Invalid number: %s", err.text);
		return -1;
	}
	if (t->op != WAIT_EQ && t->op != WAIT_NE)
		admin_msg(c, ADMIN_ERR, "A text can be compared with 'eq' or 'ne', not with '%s'.",
			op_names[t->op]);
	else if (strlen(text) >= sizeof(t->text))
		admin_msg(c, ADMIN_ERR, "The text '%.20s...' is longer than %zu bytes.", text,
			sizeof(t->text) - 1);
	else {
		(void)snprintf(t->text, sizeof(t->text), "%s", text);
		return 0;
	}
	return -1;
}

/* "<op> <value>" and nothing behind it. 0, or -1 after a message. */
static int
parse_test(struct admin_conn *c, int argc, char **argv, struct wait_cond *cond)
{
	struct wait_test *t = &cond->test;

	if (argc < 1)
		admin_msg(c, ADMIN_ERR, "'%s' expects a comparison such as 'eq 0'.", cond->what);
	else if (find_op(argv[0], &t->op) < 0)
		admin_msg(c, ADMIN_ERR,
			"Unknown comparison '%s': it may be 'eq', 'ne', 'lt', 'le', 'gt' or 'ge'.",
			argv[0]);
	else if (argc < 2)
		admin_msg(c, ADMIN_ERR, "'%s %s' expects a value.", cond->what, argv[0]);
	else if (argc > 2)
		admin_msg(c, ADMIN_ERR, "Unexpected word '%s' behind the condition.", argv[2]);
	else
		return parse_expected(c, argv[1], t);
	return -1;
}

/* --- values ---------------------------------------------------------------------------------- */

/*
 * Values of `show info` and `show stat` that `wait` compares. On the first worker, which owns
 * checks; counters of others are read as they are.
 */

static void
see_text(struct wait_seen *out, const char *text)
{
	out->kind = WAIT_SEEN_TEXT;
	(void)snprintf(out->text, sizeof(out->text), "%s", text);
}

/* Numbers of some fields of type text are compared as texts. */
static void
see_field(struct wait_seen *out, const struct field_value *v, int is_text)
{
	struct sbuf b;

	if (v->kind == VAL_NONE) {
		out->kind = WAIT_SEEN_NONE;
	} else if (is_text) {
		out->kind = WAIT_SEEN_TEXT;
		sbuf_init_fixed(&b, out->text, sizeof(out->text));
		field_put_value(&b, v);
	} else {
		out->kind = WAIT_SEEN_NUMBER;
		out->n = v->kind == VAL_INT ? v->u.n : 0;
	}
}

/* The state of a server in one word, where the status of `show stat` has several. */
static const char *
state_word(const struct server *s)
{
	unsigned int admin = atomic_read(&s->admin);

	return admin & SERVER_MAINT               ? "MAINT"
		: s->oper == SERVER_STOPPED       ? "DOWN"
		: admin & SERVER_DRAIN            ? "DRAIN"
		: s->oper == SERVER_STOPPING      ? "NOLB"
						  : "UP";
}

static void
read_server(const struct process *p, const struct server *s, const struct wait_cond *cond,
	struct wait_seen *out)
{
	enum stat_col col = (enum stat_col)cond->value.field;
	struct stat_texts texts;
	struct stat_row row;

	if (cond->value.of == WAIT_OF_STATE) {
		see_text(out, state_word(s));
		return;
	}
	stat_server_row(p, s, col, &row, &texts);
	see_field(out, &row.v[col], cond->test.is_text);
}

static void
read_proxy(const struct process *p, const struct wait_cond *cond, struct wait_seen *out)
{
	enum stat_col col = (enum stat_col)cond->value.field;
	struct stat_row row;

	if (cond->value.of == WAIT_OF_FRONTEND)
		stat_frontend_row(p, cond->value.px, &row);
	else
		stat_backend_row(p, cond->value.px, col, &row);
	see_field(out, &row.v[col], cond->test.is_text);
}

int
wait_value_read(struct admin_conn *c, const struct wait_cond *cond, struct wait_seen *out)
{
	const struct process *p = c->admin->process;
	const struct server *s;
	struct info info;

	switch (cond->value.of) {
	case WAIT_OF_PROCESS:
		info_read(&info, p, 0);
		see_field(out, &info.v[cond->value.field], cond->test.is_text);
		return 0;
	case WAIT_OF_FRONTEND:
	case WAIT_OF_BACKEND:
		read_proxy(p, cond, out);
		return 0;
	case WAIT_OF_SERVER:
	case WAIT_OF_STATE:
	default:
		break;
	}
	s = proxy_find_server(cond->value.px, str_of(cond->server));
	if (s) {
		read_server(p, s, cond, out);
		return 0;
	}
	admin_msg(c, ADMIN_ERR, "No such server.");
	return -1;
}

/* --- the compared value --- */

static void
name_condition(struct wait_cond *cond, int argc, char **argv)
{
	struct sbuf b;

	sbuf_init_fixed(&b, cond->what, sizeof(cond->what));
	for (int i = 0; i < argc; i++)
		sbuf_addf(&b, "%s%s", i ? " " : "", argv[i]);
}

/* 0, or -1 after a message. */
static int
set_server(struct admin_conn *c, char *text, struct wait_cond *cond)
{
	const struct server *s = admin_find_any_server(c, 1, &text);

	if (!s)
		return -1;
	if (strlen(s->name) >= sizeof(cond->server)) {
		admin_msg(c, ADMIN_ERR, "The server's name is too long.");
		return -1;
	}
	(void)snprintf(cond->server, sizeof(cond->server), "%s", s->name);
	cond->value.px = s->be;
	return 0;
}

/* "<backend>/<server> state|cur|queue|idle <op> <value>" */
static int
parse_wait_server(struct admin_conn *c, int argc, char **argv, struct wait_cond *cond)
{
	static const struct {
		const char *name;
		enum stat_col col;
	} values[] = { { "cur", STAT_scur }, { "queue", STAT_qcur }, { "idle", STAT_srv_icur } };

	cond->kind = WAIT_VALUE;
	if (argc < 3) {
		admin_msg(c, ADMIN_ERR,
			"'server' expects <backend>/<server> and 'state', 'cur', 'queue' or "
			"'idle'.");
		return -1;
	}
	name_condition(cond, 3, argv);
	if (set_server(c, argv[1], cond) < 0)
		return -1;
	if (strcmp(argv[2], "state") == 0) {
		cond->value.of = WAIT_OF_STATE;
		cond->test.is_text = 1;
		if (parse_test(c, argc - 3, argv + 3, cond) < 0)
			return -1;
		if (is_server_state(cond->test.text))
			return 0;
		admin_msg(c, ADMIN_ERR,
			"Unknown state '%s': it may be 'UP', 'DOWN', 'MAINT', 'DRAIN' or 'NOLB'.",
			cond->test.text);
		return -1;
	}
	cond->value.of = WAIT_OF_SERVER;
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		if (strcmp(argv[2], values[i].name) == 0) {
			cond->value.field = (int)values[i].col;
			return parse_test(c, argc - 3, argv + 3, cond);
		}
	admin_msg(c, ADMIN_ERR,
		"Unknown value '%s' of a server: it may be 'state', 'cur', 'queue' or 'idle'.",
		argv[2]);
	return -1;
}

/* The name of a field that is meant, behind a blank; "": none is near. */
static const char *
suggest_name(const struct cfg_suggest *s, char *buf, size_t len)
{
	(void)snprintf(buf, len, s->best ? "; did you mean '%s'?" : ".", s->best);
	return buf;
}

/* A field of `show info`. 0, or -1 after a message. */
static int
find_info_field(struct admin_conn *c, const char *name, struct wait_cond *cond)
{
	struct cfg_suggest near;
	char hint[CFG_SUGGEST_MAX + 20];

	cfg_suggest_init(&near, name);
	for (int f = 0; f < INFO_FIELDS; f++) {
		const struct field *i = info_field_of((enum info_field)f);

		if (strcmp(i->name, name) == 0) {
			cond->value.of = WAIT_OF_PROCESS;
			cond->value.field = f;
			cond->test.is_text = i->type == FIELD_STR;
			return 0;
		}
		cfg_suggest_offer(&near, i->name);
	}
	admin_msg(c, ADMIN_ERR, "'show info' has no field '%s'%s", name,
		suggest_name(&near, hint, sizeof(hint)));
	return -1;
}

/* A column of `show stat`. 0, or -1 after a message. */
static int
find_column(struct admin_conn *c, const char *name, struct wait_cond *cond)
{
	struct cfg_suggest near;
	char hint[CFG_SUGGEST_MAX + 20];

	cfg_suggest_init(&near, name);
	for (int col = 0; col < STAT_COLS; col++) {
		const struct field *f = stat_field((enum stat_col)col);

		if (strcmp(f->name, name) == 0) {
			cond->value.field = col;
			cond->test.is_text = f->type == FIELD_STR;
			return 0;
		}
		cfg_suggest_offer(&near, f->name);
	}
	admin_msg(c, ADMIN_ERR, "'show stat' has no column '%s'%s", name,
		suggest_name(&near, hint, sizeof(hint)));
	return -1;
}

/* The proxy of a "<proxy>/<column>", if only one has that name. 0, or -1 after a message. */
static int
set_only_proxy(struct admin_conn *c, const char *name, struct wait_cond *cond)
{
	const struct proxies *ps = &c->admin->process->cfg->proxies;
	const struct proxy *fe = proxies_find(ps, name, PROXY_FE);
	const struct proxy *be = proxies_find(ps, name, PROXY_BE);

	if (!fe && !be)
		admin_msg(c, ADMIN_ERR, "No such proxy.");
	else if (fe && be)
		admin_msg(c, ADMIN_ERR,
			"'%s' is a frontend and a backend: expects %s/FRONTEND/<column> or "
			"%s/BACKEND/<column>.",
			name, name, name);
	else {
		cond->value.of = fe ? WAIT_OF_FRONTEND : WAIT_OF_BACKEND;
		cond->value.px = fe ? fe : be;
		return 0;
	}
	return -1;
}

/* Parses the name of a row of `show stat`: "<proxy>", "<proxy>/FRONTEND", "<proxy>/BACKEND" or
 * "<backend>/<server>". 0, or -1 after a message. */
static int
find_stat_row(struct admin_conn *c, char *row, struct wait_cond *cond)
{
	char *of = strchr(row, '/');
	int is_fe = of && strcmp(of, "/FRONTEND") == 0;
	const struct proxy *px;

	if (!of)
		return set_only_proxy(c, row, cond);
	if (!is_fe && strcmp(of, "/BACKEND") != 0) {
		cond->value.of = WAIT_OF_SERVER;
		return set_server(c, row, cond);
	}
	*of = '\0';
	px = proxies_find(&c->admin->process->cfg->proxies, row, is_fe ? PROXY_FE : PROXY_BE);
	*of = '/';
	cond->value.of = is_fe ? WAIT_OF_FRONTEND : WAIT_OF_BACKEND;
	cond->value.px = px;
	if (!px)
		admin_msg(c, ADMIN_ERR, "No such %s.", is_fe ? "frontend" : "backend");
	return px ? 0 : -1;
}

/* "<field>" of show info, or "<row>/<column>" of show stat, then a comparison. */
static int
parse_counter(struct admin_conn *c, int argc, char **argv, struct wait_cond *cond)
{
	char *last = argc > 1 ? strrchr(argv[1], '/') : NULL;
	struct wait_seen seen;
	int r;

	cond->kind = WAIT_VALUE;
	if (argc < 2) {
		admin_msg(c, ADMIN_ERR,
			"'counter' expects a field of 'show info', <proxy>/<column> or "
			"<backend>/<server>/<column>.");
		return -1;
	}
	name_condition(cond, 2, argv);
	if (last) {
		*last = '\0';
		r = find_stat_row(c, argv[1], cond);
		*last = '/';
		if (r == 0)
			r = find_column(c, last + 1, cond);
	} else {
		r = find_info_field(c, argv[1], cond);
	}
	if (r < 0 || parse_test(c, argc - 2, argv + 2, cond) < 0)
		return -1;
	if (wait_value_read(c, cond, &seen) < 0)
		return -1;
	/* Some columns of a server come and go with its checks. */
	if (seen.kind != WAIT_SEEN_NONE || cond->value.of == WAIT_OF_SERVER)
		return 0;
	admin_msg(c, ADMIN_ERR, "'%s' has no value.", cond->what);
	return -1;
}

/* --- sessions --- */

/* "frontend/<name>" or "backend/<name>": 0, or -1 after a message. */
static int
set_filter_proxy(struct admin_conn *c, const char *name, unsigned int cap, const struct proxy **to)
{
	*to = proxies_find(&c->admin->process->cfg->proxies, name, cap);
	if (*to)
		return 0;
	admin_msg(c, ADMIN_ERR, "No such %s: '%s'.", cap == PROXY_FE ? "frontend" : "backend",
		name);
	return -1;
}

static int
set_filter_state(struct admin_conn *c, const char *name, struct wait_filter *f)
{
	for (unsigned int i = 0; i < STREAM_STATES + SESSION_STATES; i++) {
		unsigned int state =
			i < STREAM_STATES ? i : HISTORY_OF_SESSION | (i - STREAM_STATES);

		if (strcmp(history_state_name(state), name) == 0) {
			f->state = (int)state;
			return 0;
		}
	}
	admin_msg(c, ADMIN_ERR, "Unknown state '%s': expects one that 'show sess' shows.", name);
	return -1;
}

static int
set_filter_id(struct admin_conn *c, const char *text, struct wait_filter *f)
{
	char *end;

	f->id = strtoull(text, &end, 16);
	if (f->id && !*end)
		return 0;
	admin_msg(c, ADMIN_ERR, "Invalid session '%s': expects an identifier such as 0x1f.", text);
	return -1;
}

/* One word of a filter. 0, or -1 after a message. */
static int
parse_filter_word(struct admin_conn *c, char *word, struct wait_cond *cond)
{
	struct wait_filter *f = &cond->filter;

	if (strncmp(word, "frontend/", 9) == 0)
		return set_filter_proxy(c, word + 9, PROXY_FE, &f->fe);
	if (strncmp(word, "backend/", 8) == 0)
		return set_filter_proxy(c, word + 8, PROXY_BE, &f->be);
	if (strncmp(word, "state/", 6) == 0)
		return set_filter_state(c, word + 6, f);
	if (strncmp(word, "id/", 3) == 0)
		return set_filter_id(c, word + 3, f);
	if (strncmp(word, "server/", 7) == 0) {
		if (set_server(c, word + 7, cond) < 0)
			return -1;
		f->be = cond->value.px;
		f->has_server = 1;
		return 0;
	}
	admin_msg(c, ADMIN_ERR,
		"Unknown filter '%s': it may be frontend/<name>, backend/<name>, "
		"server/<backend>/<server>, state/<state> or id/<session>.",
		word);
	return -1;
}

/* A filter for which there is a counter needs no walk over the sessions. */
static void
choose_counter(struct wait_cond *cond)
{
	const struct wait_filter *f = &cond->filter;
	struct wait_value *v = &cond->value;

	cond->kind = WAIT_SESSIONS;
	if (f->state >= 0 || f->id || (f->fe && f->be))
		return;
	cond->kind = WAIT_VALUE;
	v->field = STAT_scur;
	v->px = f->fe ? f->fe : f->be;
	v->of = f->has_server ? WAIT_OF_SERVER
		: f->fe       ? WAIT_OF_FRONTEND
		: f->be       ? WAIT_OF_BACKEND
			      : WAIT_OF_PROCESS;
	if (v->of == WAIT_OF_PROCESS)
		v->field = INFO_currconns;
}

/* "[<filter>]... [<op> <n>]": until none matches, or until their number compares. */
static int
parse_wait_sessions(struct admin_conn *c, int argc, char **argv, struct wait_cond *cond)
{
	static char op[] = "eq", none[] = "0";
	char *until_none[] = { op, none };
	enum wait_op op_of;
	int n = 1;

	cond->filter.state = -1;
	for (; n < argc && find_op(argv[n], &op_of) < 0; n++)
		if (parse_filter_word(c, argv[n], cond) < 0)
			return -1;
	name_condition(cond, n, argv);
	choose_counter(cond);
	if (n == argc)
		return parse_test(c, 2, until_none, cond);
	return parse_test(c, argc - n, argv + n, cond);
}

/* --- all --- */

static int
parse_removable(struct admin_conn *c, int argc, char **argv, struct wait_cond *cond)
{
	cond->kind = WAIT_REMOVABLE;
	if (argc != 2)
		admin_msg(c, ADMIN_ERR, "'srv-removable' expects <backend>/<server>.");
	else if (strlen(argv[1]) >= sizeof(cond->server))
		admin_msg(c, ADMIN_ERR, "No such server.");
	else {
		(void)snprintf(cond->server, sizeof(cond->server), "%s", argv[1]);
		return 0;
	}
	return -1;
}

static int
parse_idle(struct admin_conn *c, int argc, char **argv, struct wait_cond *cond)
{
	cond->kind = WAIT_IDLE;
	if (argc == 1)
		return 0;
	admin_msg(c, ADMIN_ERR, "Unexpected word '%s' behind the condition.", argv[1]);
	return -1;
}

int
wait_cond_parse(struct admin_conn *c, int argc, char **argv, struct wait_cond *out)
{
	static const struct {
		const char *name;
		int (*parse)(struct admin_conn *c, int argc, char **argv, struct wait_cond *out);
	} kinds[] = { { "counter", parse_counter }, { "idle", parse_idle },
		{ "server", parse_wait_server }, { "sessions", parse_wait_sessions },
		{ "srv-removable", parse_removable } };

	memset(out, 0, sizeof(*out));
	if (argc < 1)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(argv[0], kinds[i].name) == 0)
			return kinds[i].parse(c, argc, argv, out);
	admin_msg(c, ADMIN_ERR,
		"Unknown condition '%s': it may be 'counter', 'idle', 'server', 'sessions' or "
		"'srv-removable'.",
		argv[0]);
	return -1;
}
