/* Reads files with states of servers and finds the server of each row. Main thread, at start. */
#include "app/process/state_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/process/process.h"
#include "app/process/report.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "cfg/value.h"
#include "net/addr.h"
#include "proxy/backend/server_addr.h"
#include "proxy/backend/server_state.h"
#include "proxy/backend/server_tls.h"
#include "proxy/model/check.h"
#include "proxy/model/proxy.h"

/* Fields of a row, in order. */
enum state_field {
	STATE_BE_ID, STATE_BE_NAME, STATE_SRV_ID, STATE_SRV_NAME, STATE_ADDR, STATE_OPER,
	STATE_ADMIN, STATE_UWEIGHT, STATE_IWEIGHT, STATE_SINCE, STATE_CHECK_STATUS,
	STATE_CHECK_RESULT, STATE_CHECK_HEALTH, STATE_CHECK_STATE, STATE_AGENT_STATE,
	STATE_BE_FORCED_ID, STATE_SRV_FORCED_ID, STATE_FQDN, STATE_PORT, STATE_SRVRECORD,
	STATE_SSL, STATE_CHECK_PORT, STATE_CHECK_ADDR, STATE_AGENT_ADDR, STATE_AGENT_PORT,
	STATE_FIELDS,
	STATE_FIELDS_MIN = STATE_SSL /* older files have fewer */
};

#define STATE_FILE_MAX (64u << 20)
#define PATH_BUF 4096

/* "" for the file of the section global, else "Proxy 'b': ". */
struct state_source {
	const struct report *report;
	const struct proxy *px;    /* NULL: the global file */
	char path[PATH_BUF];
};

/* HAProxy's words: "config: Can't open global server state file ...". */
static void
warn_of_file(const struct state_source *f, const char *what, const char *rest)
{
	if (f->px)
		report_msg(f->report, REPORT_WARNING,
			"config : Proxy '%s': %s server state file '%s'%s", f->px->name, what,
			f->path, rest);
	else
		report_msg(f->report, REPORT_WARNING,
			"config : config: %s global server state file '%s'%s", what, f->path, rest);
}

static char *
read_file(struct process *p, const struct state_source *f)
{
	char *text = NULL, why[160];
	size_t len;
	long r = file_read(p->sys, f->path, STATE_FILE_MAX, &text, &len);

	if (r < 0) {
		(void)snprintf(why, sizeof(why), ": %s%s", err_text((int)r), f->px ? "." : "");
		warn_of_file(f, "Can't open", why);
	}
	return text;
}

/* Relative names are in server-state-base. 0, or -1: too long. */
static int
set_path(struct state_source *f, const char *base, const char *name)
{
	int n;

	if (name[0] == '/' || !base)
		n = snprintf(f->path, sizeof(f->path), "%s", name);
	else
		n = snprintf(f->path, sizeof(f->path), "%s/%s", base, name);
	return n < (int)sizeof(f->path) ? 0 : -1;
}

static int
open_source(struct process *p, const struct proxy *px, struct state_source *f)
{
	const struct global_conf *g = &p->cfg->global;
	const char *name = !px ? g->state_file
		: px->state_file_name ? px->state_file_name
				      : px->name;

	f->report = p->report;
	f->px = px;
	return set_path(f, g->state_base, name);
}

static int
has_file(const struct proxy *px, enum state_file which)
{
	return !px->disabled && (px->caps & PROXY_BE) && px->state_file == which;
}

/* Backends that want the global file without there being one are reported. */
static unsigned int
count_users(struct process *p, enum state_file which)
{
	unsigned int n = 0;

	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, struct proxy, link);

		if (!has_file(px, which))
			continue;
		n++;
		if (which == STATE_FILE_GLOBAL && !p->cfg->global.state_file)
			report_msg(p->report, REPORT_WARNING,
				"config : backend '%s' configured to load server state file from "
				"global section 'server-state-file' directive. Unfortunately, "
				"'server-state-file' is not set!", px->name);
	}
	return n;
}

void
state_files_read(struct process *p)
{
	struct state_texts *t = &p->states;
	struct state_source f;
	size_t i = 0;

	if (count_users(p, STATE_FILE_GLOBAL) && p->cfg->global.state_file &&
		open_source(p, NULL, &f) == 0)
		t->global = read_file(p, &f);
	if (!count_users(p, STATE_FILE_LOCAL))
		return;
	t->local = mem_zalloc(p->cfg->proxies.n * sizeof(*t->local));
	t->n = t->local ? p->cfg->proxies.n : 0;
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, struct proxy, link);

		if (i < t->n && has_file(px, STATE_FILE_LOCAL) && open_source(p, px, &f) == 0)
			t->local[i] = read_file(p, &f);
		i++;
	}
}

void
state_files_free(struct process *p)
{
	struct state_texts *t = &p->states;

	mem_free(t->global);
	for (size_t i = 0; i < t->n; i++)
		mem_free(t->local[i]);
	mem_free(t->local);
	memset(t, 0, sizeof(*t));
}

/* Splits a row in place. */
static void
split_row(char *row, char *field[STATE_FIELDS])
{
	static char none[] = "";
	unsigned int n = 0;
	char *rest = NULL;

	for (char *w = strtok_r(row, " ", &rest); w && n < STATE_FIELDS;
		w = strtok_r(NULL, " ", &rest))
		field[n++] = w;
	for (unsigned int i = n; i < STATE_FIELDS; i++)
		field[i] = none;
}

/* --- rows ------------------------------------------------------------------------------------ */

/*
 * Applies a row of a state file to its server, as HAProxy does. On the first worker, before the
 * other threads start.
 */

#define CAUSE ", changed from server-state after a reload"
#define WHY_MAX 512

/* Bits of the field admin state. */
enum {
	FILE_MAINT_FORCED = 0x01,
	FILE_MAINT_CONFIGURED = 0x04,
	FILE_DRAIN_FORCED = 0x08,
	FILE_MAINT_UNRESOLVED = 0x20,
	FILE_OTHERS = 0x02 | 0x10 | 0x20 | 0x40 /* those that come from elsewhere */
};

/* Values of the field operational state. */
enum { FILE_STOPPED, FILE_STARTING, FILE_RUNNING, FILE_STOPPING };

/* Bits of the states of checks. */
enum { FILE_CHECK_CONFIGURED = 2, FILE_CHECK_ENABLED = 4, FILE_CHECK_BITS = 0x1f };

/* Numbers of a row. */
struct state_row {
	int64_t n[STATE_FIELDS];
	char why[WHY_MAX];
};

static const struct {
	enum state_field field;
	const char *name;
	int64_t max;
} numbers[] = {
	{ STATE_OPER, "srv_op_state", FILE_STOPPING },
	{ STATE_ADMIN, "srv_admin_state", 0x7f },
	{ STATE_UWEIGHT, "srv_uweight", SERVER_WEIGHT_MAX },
	{ STATE_IWEIGHT, "srv_iweight", SERVER_WEIGHT_MAX },
	{ STATE_SINCE, "srv_last_time_change", INT32_MAX },
	{ STATE_CHECK_STATUS, "srv_check_status", 20 },
	{ STATE_CHECK_RESULT, "srv_check_result", 4 },
	{ STATE_CHECK_STATE, "srv_check_state", FILE_CHECK_BITS },
	{ STATE_AGENT_STATE, "srv_agent_state", FILE_CHECK_BITS },
	{ STATE_BE_FORCED_ID, "bk_f_forced_id", 1 },
	{ STATE_SRV_FORCED_ID, "srv_f_forced_id", 1 },
	{ STATE_PORT, "srv_port", 65535 },
};

/* Without those that come from elsewhere it is one of the operator's states. */
static int
is_admin_valid(int64_t bits)
{
	bits &= ~(int64_t)FILE_OTHERS;
	return !(bits & FILE_DRAIN_FORCED) || !(bits & FILE_MAINT_FORCED);
}

/* 0, or -1 with every invalid field in r->why. */
static int
parse_row_numbers(struct state_row *r, char *const *field)
{
	struct sbuf why;

	sbuf_init_fixed(&why, r->why, sizeof(r->why));
	r->why[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		const char *text = field[numbers[i].field];
		int64_t *n = &r->n[numbers[i].field];

		if (cfg_value_int(text, 0, numbers[i].max, n, NULL) < 0 ||
			(numbers[i].field == STATE_ADMIN && !is_admin_valid(*n)))
			sbuf_addf(&why, ", invalid %s value '%.40s'", numbers[i].name, text);
	}
	return r->why[0] ? -1 : 0;
}

/* --- addresses --- */

/* True if the address of the state file is used: before other methods, or when they have found
 * none. */
static int
takes_last_addr(const struct server *s)
{
	const struct resolve_conf *c = &s->conf.resolve;

	if (!s->fqdn)
		return 0;
	for (unsigned int i = 0; i < c->n_init; i++)
		if (c->init[i] == INIT_ADDR_LAST)
			return i == 0 || server_is_unresolved(s);
	return !c->n_init;
}

/* A server with a name keeps the address that it had, and each one its port. */
static void
restore_addr(struct engine *e, struct server *s, char *const *field, unsigned int port)
{
	struct addr a, own;
	int known = takes_last_addr(s) && addr_parse_ip(field[STATE_ADDR], &a) == 0;

	(void)addr_cell_get(&s->addr, &own);
	if (addr_family(&own) == AF_UNIX && !s->fqdn)
		return;
	if (!known)
		a = own;
	if (!s->spec.has_offset && port)
		addr_set_port(&a, port);
	else if (known)
		addr_set_port(&a, s->fqdn && server_is_unresolved(s) ? s->spec.port_lo
								     : addr_port(&own));
	if (known || (!server_is_unresolved(s) && addr_port(&a) != addr_port(&own)))
		server_set_addr(e, s, &a);
	if (known && server_is_unresolved(s))
		server_restore(e, s, s->admin & ~(unsigned int)SERVER_MAINT_UNRESOLVED);
}

static void
restore_target(struct addr *to, unsigned int *to_port, const char *text, const char *port)
{
	struct addr a;
	int64_t n;

	if (addr_parse_ip(text, &a) == 0)
		*to = a;
	if (cfg_value_int(port, 1, 65535, &n, NULL) == 0)
		*to_port = (unsigned int)n;
}

static int
names_target(const char *addr, const char *port)
{
	return (*addr && strcmp(addr, "-") != 0) || (*port && strcmp(port, "0") != 0);
}

/* A disabled check has no targets. */
static void
restore_check_target(
	struct server *s, const struct report *report, int is_agent, char *const *field)
{
	const struct check *c = is_agent ? s->agent : s->check;
	const char *addr = field[is_agent ? STATE_AGENT_ADDR : STATE_CHECK_ADDR];
	const char *port = field[is_agent ? STATE_AGENT_PORT : STATE_CHECK_PORT];
	struct check_server_conf *conf = &s->conf.check;

	if (!names_target(addr, port))
		return;
	if (!c || !c->enabled)
		report_msg(report, REPORT_WARNING,
			"config : server-state partially applied for server '%s/%s', %s checks are "
			"not enabled on this server", s->be->name, s->name,
			is_agent ? "agent" : "health");
	else if (is_agent)
		restore_target(&conf->agent_addr, &conf->agent_port, addr, port);
	else
		restore_target(&conf->addr, &conf->port, addr, port);
}

/* --- states --- */

static void
restore_check(struct check *c, int64_t bits)
{
	if (c && (bits & FILE_CHECK_CONFIGURED) && !(bits & FILE_CHECK_ENABLED))
		c->enabled = 0;
}

/* The result of the last check; one that was running then had none. */
static void
restore_result(struct check *c, const struct state_row *r)
{
	enum check_status status = check_status_of_number((unsigned int)r->n[STATE_CHECK_STATUS]);

	if (c && r->n[STATE_CHECK_RESULT] && status != CHECK_STATUSES)
		c->status = status;
}

/* A server that is `disabled` now stays so, and one that only was is up. */
static void
restore_admin(struct engine *e, struct server *s, int64_t bits)
{
	if (s->conf.disabled || (bits & FILE_MAINT_CONFIGURED))
		return;
	if (bits & FILE_MAINT_FORCED)
		server_restore(e, s, s->admin | SERVER_MAINT_FORCED);
	else if (bits & FILE_DRAIN_FORCED)
		server_restore(e, s, s->admin | SERVER_DRAIN_FORCED);
}

/* A server that was starting or stopping keeps what it had above the bound. */
static int
restored_health(const struct check *c, const struct state_row *r, const char *text)
{
	int64_t health;

	if (r->n[STATE_OPER] == FILE_STOPPED)
		return 0;
	if (r->n[STATE_OPER] == FILE_RUNNING)
		return check_full_health(c);
	if (cfg_value_int(text, c->rise, check_full_health(c) - 1, &health, NULL) < 0)
		return c->rise;
	return (int)health;
}

/* In maintenance the operational state means nothing; a server that tracks has that of another. */
static void
restore_oper(struct engine *e, struct server *s, const struct state_row *r, const char *health)
{
	static const enum server_oper states[] = {
		[FILE_STOPPED] = SERVER_STOPPED, [FILE_STARTING] = SERVER_RUNNING,
		[FILE_RUNNING] = SERVER_RUNNING, [FILE_STOPPING] = SERVER_STOPPING
	};
	enum server_oper to = states[r->n[STATE_OPER]];

	if (s->track || (r->n[STATE_ADMIN] &
		(FILE_MAINT_FORCED | FILE_MAINT_CONFIGURED | FILE_MAINT_UNRESOLVED)))
		return;
	if (s->check)
		s->check->health = restored_health(s->check, r, health);
	server_set_oper(e, s, to, CAUSE);
}

/* Unless the configured weight has changed. */
static void
restore_weight(struct engine *e, struct server *s, const struct state_row *r)
{
	if (r->n[STATE_IWEIGHT] == s->conf.weight && r->n[STATE_UWEIGHT] != s->uweight)
		(void)!server_set_weight(e, s, (int)r->n[STATE_UWEIGHT]);
}

static void
restore_times(struct server *s, uint64_t now_ms, uint64_t since_s)
{
	/* The machine may have started later. */
	s->last_change_ms = now_ms - since_s * 1000;
	if (!server_is_running(s))
		s->down_since_ms = s->last_change_ms;
}

/* Applies a row; field: STATE_FIELDS texts, "" for missing ones. */
static void
state_row_apply(struct engine *e, const struct report *report, struct server *s,
	char *const *field)
{
	struct state_row r;

	if (parse_row_numbers(&r, field) < 0) {
		report_msg(report, REPORT_WARNING,
			"config : server-state application failed for server '%s/%s'%s",
			s->be->name, s->name, r.why);
		return;
	}
	s->has_file_state = 1;
	/* As in HAProxy a row does not make a server use what it is not configured with. */
	if (s->conf.tls.is_on && strcmp(field[STATE_SSL], "0") == 0 && server_may_use_tls(s))
		server_restore_tls(s, 0);
	restore_addr(e, s, field, (unsigned int)r.n[STATE_PORT]);
	restore_check(s->check, r.n[STATE_CHECK_STATE]);
	restore_check(s->agent, r.n[STATE_AGENT_STATE]);
	restore_check_target(s, report, 0, field);
	restore_check_target(s, report, 1, field);
	restore_admin(e, s, r.n[STATE_ADMIN]);
	restore_weight(e, s, &r);
	restore_oper(e, s, &r, field[STATE_CHECK_HEALTH]);
	restore_result(s->check, &r);
	restore_times(s, loop_now_ms(e->loop), (uint64_t)r.n[STATE_SINCE]);
}

/* --- the file -------------------------------------------------------------------------------- */

/* Finds the server of a row by an index of its backend, which is made for the first one. Without
 * memory the list is searched. */
static struct server *
find_row_server(struct proxy *be, const char *name)
{
	struct name_index *x = &be->server_names;
	int r = 0;

	if (!x->cap)
		list_each(it, &be->servers) {
			struct server *s = list_entry(it, struct server, link);

			r = r < 0 ? r : name_index_add(x, s->name, s);
		}
	if (r == 0)
		return name_index_find(x, name);
	name_index_fini(x);
	return proxy_find_server(be, str_of(name));
}

static void
drop_indexes(struct process *p)
{
	list_each(it, &p->cfg->proxies.all)
		name_index_fini(&list_entry(it, struct proxy, link)->server_names);
}

static void
apply_row(struct process *p, const struct state_source *f, char *const *field)
{
	struct proxy *be = proxies_find(&p->cfg->proxies, field[STATE_BE_NAME], PROXY_BE);
	struct server *s;

	if (f->px && be != f->px) {
		report_msg(f->report, REPORT_WARNING,
			"config : Proxy '%s': backend name mismatch: from server state file: '%s', "
			"from running config '%s'", f->px->name, field[STATE_BE_NAME], f->px->name);
		return;
	}
	if (!be || !has_file(be, f->px ? STATE_FILE_LOCAL : STATE_FILE_GLOBAL))
		return;
	s = find_row_server(be, field[STATE_SRV_NAME]);
	if (s)
		state_row_apply(&process_first(p)->engine, p->report, s, field);
	else if (f->px)
		report_msg(f->report, REPORT_WARNING,
			"config : Proxy '%s': can't find server '%s' in backend '%s'", f->px->name,
			field[STATE_SRV_NAME], f->px->name);
}

static int
is_row(const char *line)
{
	return *line && *line != '\n' && *line != '#';
}

static unsigned int
count_fields(const char *line)
{
	unsigned int n = 0;

	while (*(line += strspn(line, " ")) && *line != '\n') {
		n++;
		line += strcspn(line, " \n");
	}
	return n;
}

/* The first line is the version, and the second one has the names of the fields. As in HAProxy
 * lines are counted from there, and nothing of a file with an incomplete line is used. */
static int
check_text(const struct state_source *f, const char *text)
{
	const char *end;
	char why[40];

	if (strncmp(text, "1\n", 2) != 0) {
		warn_of_file(f, "Can't get version of the", ".");
		return -1;
	}
	text += 2;
	for (unsigned int line = 1; *text; line++, text = end + 1) {
		end = strchr(text, '\n');
		if (end && (!is_row(text) || count_fields(text) >= STATE_FIELDS_MIN))
			continue;
		(void)snprintf(why, sizeof(why), " at line %u.", line);
		warn_of_file(f, "corrupted", why);
		return -1;
	}
	return 0;
}

static void
apply_text(struct process *p, const struct state_source *f, char *text)
{
	char *field[STATE_FIELDS], *rest = NULL;

	if (check_text(f, text) < 0)
		return;
	for (char *line = strtok_r(text + 2, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (is_row(line)) {
			split_row(line, field);
			apply_row(p, f, field);
		}
}

void
state_files_apply(struct process *p)
{
	struct state_texts *t = &p->states;
	struct state_source f;
	size_t i = 0;

	if (t->global && open_source(p, NULL, &f) == 0)
		apply_text(p, &f, t->global);
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, struct proxy, link);

		if (i < t->n && t->local[i] && open_source(p, px, &f) == 0)
			apply_text(p, &f, t->local[i]);
		i++;
	}
	drop_indexes(p);
	state_files_free(p);
}
