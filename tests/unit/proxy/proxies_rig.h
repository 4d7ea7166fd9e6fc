/*
 * Configurations of proxies for tests: text in, proxies and diagnostics out (world_*). On top of
 * them: servers whose changes of state are logged to a socket of the test and noticed on its
 * terminal (state_rig_*), and rules of health checks with a context to evaluate them in
 * (check_rig_*). Users: tests of proxy/config, proxy/check, and each test of another folder that
 * needs a configured proxy.
 */
#ifndef TESTS_UNIT_PROXY_PROXIES_RIG_H
#define TESTS_UNIT_PROXY_PROXIES_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sys.h"
#include "cfg/env.h"
#include "cfg/reader.h"
#include "net/bind_cfg.h"
#include "proxy/check/check_context.h"
#include "proxy/check/check_expect.h"
#include "proxy/config/capture_cfg.h"
#include "proxy/config/check_cfg.h"
#include "proxy/config/http_error_cfg.h"
#include "proxy/config/forward_cfg.h"
#include "proxy/config/proxy_cfg_options.h"
#include "proxy/config/http_cfg.h"
#include "proxy/config/log_cfg.h"
#include "proxy/config/peers_cfg.h"
#include "proxy/config/proxies_finish.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/config/proxy_life.h"
#include "proxy/config/resolvers_cfg.h"
#include "proxy/config/rules_cfg.h"
#include "proxy/config/server_name_cfg.h"
#include "proxy/config/server_proxy_cfg.h"
#include "proxy/config/server_cfg.h"
#include "proxy/config/server_tls_cfg.h"
#include "proxy/config/stats_cfg.h"
#include "proxy/config/table_cfg.h"
#include "proxy/filter/bwlim.h"
#include "proxy/filter/cache_cfg.h"
#include "proxy/filter/cache_filter.h"
#include "proxy/filter/compress.h"
#include "proxy/filter/sequence.h"
#include "proxy/filter/spoe.h"
#include "proxy/config/unique_id_cfg.h"
#include "proxy/config/userlist_cfg.h"
#include "proxy/model/engine.h"
#include "proxy/model/proxies.h"
#include "proxy/sample/eval.h"
#include "rule/sample/regex.h"
#include "tls/bind_cfg_tls.h"
#include "fake/print_diag.h"
#include "unit/test.h"

/* Timeouts, so that nothing is missing. Four lines: the tested lines begin at line 5. */
#define WORLD_DEFAULTS "defaults\n timeout client 1s\n timeout connect 2s\n timeout server 3s\n"

/* Called when everything is set up and reading begins. */
#ifndef WORLD_BEGINS
#define WORLD_BEGINS() ((void)0)
#define WORLD_ENDS() ((void)0)
#endif

struct world {
	struct proxies proxies; /* first: ctx->root */
	struct cfg_registry registry;
	struct cfg_diag diag;
	struct cfg_env env;
	struct cfg_reader reader;
	struct sys sys; /* for files that the configuration names */
	char printed[32768];
	int result;
};

/* With the modules that are registered. */
static inline void
world_open_reader(struct world *w)
{
	static const struct cfg_facts facts = { .version = "3.4.0" };
	struct cfg_reader_opts opts = {
		.root = w,
		.registry = &w->registry,
		.diag = &w->diag,
		.env = &w->env,
		.sys = &w->sys,
		.facts = &facts,
	};

	cfg_reader_init(&w->reader, &opts);
}

static inline void
world_print(struct world *w)
{
	FILE *f = fmemopen(w->printed, sizeof(w->printed), "w");

	assert_non_null(f);
	print_diag(&w->diag, f, 0);
	(void)fclose(f);
}

/* Reads and finishes; the result is in w->result, the diagnostics in w->printed. */
static inline void
world_load(struct world *w, const char *text)
{
	static const struct cfg_module *const modules[] = { &bind_cfg_module,
		&bind_cfg_tls_module, &server_tls_cfg_module, &proxy_cfg_module,
		&dispatch_cfg_module,
		&proxy_cfg_options_module, &http_error_cfg_module, &timeouts_cfg_module,
		&http_cfg_module, &errors_cfg_module, &forward_cfg_module, &rules_cfg_module,
		&server_cfg_module, &check_cfg_module, &http_check_cfg_module,
		&tcp_check_cfg_module, &check_server_cfg_module, &balance_cfg_module,
		&persist_cfg_module, &log_cfg_module, &capture_cfg_module, &unique_id_cfg_module,
		&server_state_cfg_module, &stats_cfg_module,
		&userlist_cfg_module, &server_name_cfg_module,
		&server_proxy_cfg_module, &resolvers_cfg_module, &peers_cfg_module,
		&table_cfg_module, &bwlim_cfg_module, &cache_cfg_module,
		&cache_section_module, &compress_cfg_module, &sequence_cfg_module,
		&spoe_cfg_module, &proxy_hints_module };

	memset(w, 0, sizeof(*w));
	sys_init(&w->sys, &sys_linux, NULL);
	proxies_init(&w->proxies);
	w->proxies.local_peer = "local";
	cfg_registry_init(&w->registry);
	for (size_t i = 0; i < ARRAY_LEN(modules); i++)
		assert_int_equal(cfg_registry_add(&w->registry, modules[i]), 0);
	cfg_diag_init(&w->diag, 0);
	cfg_env_init(&w->env);
	world_open_reader(w);
	WORLD_BEGINS();
	w->result = cfg_reader_text(&w->reader, "t.cfg", text, strlen(text));
	w->result |= cfg_reader_end(&w->reader);
	w->result |= peers_cfg_finish(&w->proxies, &w->diag);
	w->result |= proxies_finish(&w->proxies, &w->diag);
	WORLD_ENDS();
	world_print(w);
}

static inline void
world_fini(struct world *w)
{
	proxies_fini(&w->proxies);
	cfg_reader_fini(&w->reader);
	cfg_env_fini(&w->env);
	cfg_diag_fini(&w->diag);
	cfg_registry_fini(&w->registry);
}

/* Loads without any message. */
static inline void
world_good(struct world *w, const char *text)
{
	world_load(w, text);
	if (w->result != 0 || w->printed[0])
		fail_msg("%s\nloaded with %d and the messages\n%s\nexpected: 0 and none", text,
			w->result, w->printed);
}

/* Fails (result -1) or loads (0), and prints `what`. */
static inline void
world_reports(const char *text, int result, const char *what)
{
	struct world w;

	world_load(&w, text);
	if (w.result != result || !strstr(w.printed, what))
		fail_msg("%s\nloaded with %d and the messages\n%s\nexpected: %d and %s", text,
			w.result, w.printed, result, what);
	world_fini(&w);
}

static inline struct proxy *
world_proxy(struct world *w, const char *name)
{
	struct proxy *p = proxies_find(&w->proxies, name, PROXY_FE | PROXY_BE);

	if (!p)
		fail_msg("no proxy is named %s", name);
	return p;
}

static inline struct server *
world_server(struct proxy *p, int n)
{
	list_each(it, &p->servers) {
		if (n-- == 0)
			return list_entry(it, struct server, link);
	}
	fail_msg("there are not so many: server");
	return NULL;
}

static inline struct bind_conf *
world_bind(struct proxy *p, int n)
{
	list_each(it, &p->binds) {
		if (n-- == 0)
			return list_entry(it, struct bind_conf, link);
	}
	fail_msg("there are not so many: bind line");
	return NULL;
}

static inline struct listener *
world_listener(struct bind_conf *b, int n)
{
	list_each(it, &b->listeners) {
		if (n-- == 0)
			return list_entry(it, struct listener, link);
	}
	fail_msg("there are not so many: listener");
	return NULL;
}

/* A line of a table: the text after a prefix, and whether it is valid. */
struct world_line {
	const char *line;
	const char *error; /* NULL: valid, otherwise a part of the message */
};

static inline void
world_lines(const char *before, const struct world_line *t, size_t n, const char *after)
{
	for (size_t i = 0; i < n; i++) {
		struct world w;
		char text[2048];

		(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "%s%s\n%s", before, t[i].line,
			after);
		world_load(&w, text);
		if (t[i].error ? w.result == 0 || !strstr(w.printed, t[i].error) : w.result != 0)
			fail_msg("%s\nloaded with %d and the messages\n%s\nexpected: %s", text,
				w.result, w.printed, t[i].error ? t[i].error : "0");
		world_fini(&w);
	}
}

/* Loads a frontend of mode http with this line, a rule that is its tenth line: "" loads, any other
 * text is a part of the message. */
static inline void
world_rule_line(const char *line, const char *error)
{
	struct world w;
	char text[512];

	(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "frontend p\n mode http\n"
		" bind :80\n default_backend b\n tcp-request inspect-delay 1s\n %s\n"
		"backend b\n mode http\n", line);
	world_load(&w, text);
	if (!strstr(w.printed, error) || (!error[0] && w.result))
		fail_msg("%s\nloaded with %d and the messages\n%s\nexpected: %s", line, w.result,
			w.printed, error[0] ? error : "0");
	world_fini(&w);
}

/* --- servers whose changes of state are logged --- */

struct state_rig {
	struct world w;
	struct engine engine;
	struct sys sys;
	struct log_sink sink;
	struct log_line lines[8];
	unsigned int n_lines;
	char noticed[2000]; /* lines on the terminal; those of alerts begin with "! " */
	int from, to;
};

static inline void
state_rig_on_notice(struct engine *by, int is_alert, const char *text)
{
	struct state_rig *r = container_of(by, struct state_rig, engine);
	size_t n = strlen(r->noticed);

	(void)snprintf(r->noticed + n, sizeof(r->noticed) - n, "%s%s\n", is_alert ? "! " : "",
		text);
}

static inline void
state_rig_open(struct state_rig *r, const char *config)
{
	static const struct log_ident id = { "tacit", NULL, 1, NULL };
	struct loop_config lc = { .poller = poller_find("epoll"), .max_fd = 64, .max_events = 8 };
	int sv[2], why;

	memset(r, 0, sizeof(*r));
	world_good(&r->w, config);
	sys_init(&r->sys, &sys_linux, NULL);
	log_sink_init(&r->sink, &r->sys, &id);
	r->engine.sys = &r->sys;
	r->engine.loop = loop_new(&r->sys, &lc, &why);
	assert_non_null(r->engine.loop);
	r->engine.log = &r->sink;
	r->engine.hooks.on_notice = state_rig_on_notice;
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, sv), 0);
	r->from = sv[0];
	r->to = sv[1];
	list_each(it, &r->w.proxies.all) {
		struct log_line *line = &r->lines[r->n_lines++];

		log_line_init(line);
		line->dest.kind = LOG_DEST_FD;
		line->dest.fd = r->to;
		line->form = LOG_FORM_SHORT;
		list_append(&list_entry(it, struct proxy, link)->logs, &line->link);
	}
}

static inline void
state_rig_close(struct state_rig *r)
{
	while (r->n_lines)
		list_remove(&r->lines[--r->n_lines].link);
	log_sink_fini(&r->sink);
	loop_free(&r->engine.loop);
	world_fini(&r->w);
	(void)close(r->from);
	(void)close(r->to);
}

/* All lines since the last call, joined by "|". */
static inline const char *
state_rig_logged(struct state_rig *r)
{
	static char all[2000];
	size_t n = 0;
	ssize_t got;

	log_flush(&r->sink);
	while ((got = recv(r->from, all + n, sizeof(all) - n - 1, MSG_DONTWAIT)) > 0) {
		n += (size_t)got;
		all[n - 1] = '|';
	}
	all[n ? n - 1 : 0] = '\0';
	return all;
}

static inline struct server *
state_rig_server(struct state_rig *r, const char *be, const char *name)
{
	struct proxy *p = world_proxy(&r->w, be);

	list_each(it, &p->servers) {
		struct server *s = list_entry(it, struct server, link);

		if (strcmp(s->name, name) == 0)
			return s;
	}
	fail_msg("no server %s/%s", be, name);
	return NULL;
}

/* --- rules of health checks --- */

struct check_rig {
	struct world w;
	struct check_conf *conf;
	struct server *srv;
	struct sys_ops ops;
	struct sys sys;
	struct log_sink sink;
	struct engine engine;
	struct check check;
	struct check_shared shared;
	struct check_run run;
	struct sample_ctx cx;    /* that of the run */
};

/* Answers that it is 2026-11-23 14:54:53.036. */
static inline long
check_rig_clock(void *ctx unused, clockid_t id unused, struct timespec *ts)
{
	*ts = (struct timespec){ 1795445693, 36000000 };
	return 0;
}

static inline void
check_rig_open_run(struct check_rig *r)
{
	static const struct log_ident id = { .tag = "t", .pid = 77, .node = "vm" };
	struct loop_config lc = { .poller = poller_find("epoll"), .max_fd = 64, .max_events = 8,
		.lazy = 1 };
	struct loop *loop;
	int why;

	r->ops = sys_linux;
	r->ops.clock_gettime = check_rig_clock;
	sys_init(&r->sys, &r->ops, NULL);
	log_sink_init(&r->sink, &r->sys, &id);
	loop = loop_new(&r->sys, &lc, &why);
	assert_non_null(loop);
	assert_int_equal(engine_init(&r->engine, &r->sys, loop, 16384, 1), 0);
	r->engine.log = &r->sink;
	r->check.srv = r->srv;
	r->shared.engine = &r->engine;
	r->run.check = &r->check;
	r->run.shared = &r->shared;
	vars_init(&r->run.vars);
	check_context_init(&r->run, &r->cx);
}

/* lines: of the backend b; "mode http" may be among them. */
static inline void
check_rig_load(struct check_rig *r, const char *lines)
{
	char text[4096];

	memset(r, 0, sizeof(*r));
	(void)snprintf(text, sizeof(text),
		WORLD_DEFAULTS "backend b\n%s server s1 10.0.0.1:80 check\n", lines);
	world_load(&r->w, text);
	if (r->w.result != 0)
		fail_msg("%s\n%s", text, r->w.printed);
	r->conf = &world_proxy(&r->w, "b")->check;
	r->srv = world_server(world_proxy(&r->w, "b"), 0);
	check_rig_open_run(r);
}

static inline void
check_rig_fini(struct check_rig *r)
{
	struct loop *loop = r->engine.loop;

	assert_int_equal(r->cx.arena->used, 0);
	vars_fini(&r->run.vars);
	engine_fini(&r->engine);
	loop_free(&loop);
	log_sink_fini(&r->sink);
	world_fini(&r->w);
}

/* The n-th rule of this kind, from 0. */
static inline struct check_rule *
check_rig_rule(struct check_rig *r, enum check_rule_kind kind, int n)
{
	list_each(it, &r->conf->rules) {
		struct check_rule *rule = list_entry(it, struct check_rule, link);

		if (rule->kind == kind && n-- == 0)
			return rule;
	}
	fail_msg("there are not so many rules of kind %d", (int)kind);
	return NULL;
}

/* The bytes stand at the end of an allocated block, so that a read beyond them is found. */
static inline enum check_step
check_rig_eval(struct check_rig *r, const struct check_rule *rule, struct str bytes, int ended,
	struct check_verdict *v)
{
	char *copy = malloc(bytes.len ? bytes.len : 1);
	struct check_input in = { .ended = (uint8_t)ended };
	enum check_step step;

	assert_non_null(copy);
	if (bytes.len)
		memcpy(copy, bytes.p, bytes.len);
	in.received = (struct str){ copy, bytes.len };
	memset(v, 0, sizeof(*v));
	step = check_expect_eval(rule, &in, &r->cx, v);
	free(copy);
	return step;
}

/* The first rule that sets a variable, check.a, gives it this value when these bytes have come. */
static inline void
check_rig_sets(const char *lines, struct str bytes, const char *expected)
{
	struct check_verdict v;
	struct check_rule *rule;
	struct check_rig r;
	struct sample s;

	check_rig_load(&r, lines);
	rule = check_rig_rule(&r, CHECK_RULE_SET_VAR, 0);
	assert_int_equal(check_rig_eval(&r, rule, bytes, 0, &v), CHECK_STEP_NEXT);
	assert_int_equal(var_find(&r.cx, rule->u.var.name, &s), 1);
	if (!str_is(s.u.str, str_of(expected)))
		fail_msg("%s <- %.*s: '%.*s', expected '%s'", lines, (int)bytes.len, bytes.p,
			(int)s.u.str.len, s.u.str.p, expected);
	check_rig_fini(&r);
}

/* A server's bytes, and the resulting message. */
struct check_case {
	const char *lines;
	struct str bytes;
	int ended;
	enum check_step step;
	enum check_status status;
	int code;                /* -1: not compared */
	const char *info;
};

#define CHECK_STEPS "wait", "next", "fail"

/*
 * Evaluates the n-th expect rule, and the same with the bytes cut at every place: what is decided
 * early is decided in the same way.
 */
static inline void
check_rig_run(const struct check_case *c, int nth)
{
	static const char *const steps[] = { CHECK_STEPS };
	struct check_verdict v;
	struct check_rule *rule;
	struct check_rig r;
	enum check_step step;

	check_rig_load(&r, c->lines);
	rule = check_rig_rule(&r, CHECK_RULE_EXPECT, nth);
	step = check_rig_eval(&r, rule, c->bytes, c->ended, &v);
	if (step != c->step)
		fail_msg("%s <- %.*s: %s, expected %s (%s)", c->lines, (int)c->bytes.len,
			c->bytes.p, steps[step], steps[c->step], v.info);
	if (step != CHECK_STEP_WAIT &&
		(v.status != c->status || strcmp(v.info, c->info) != 0 ||
			(c->code >= 0 && v.code != c->code)))
		fail_msg("%s <- %.*s: %s %d '%s', expected %s %d '%s'", c->lines, (int)c->bytes.len,
			c->bytes.p, check_status_code(v.status), v.code, v.info,
			check_status_code(c->status), c->code, c->info);
	for (size_t n = 0; n < c->bytes.len; n++) {
		enum check_step cut;

		cut = check_rig_eval(&r, rule, (struct str){ c->bytes.p, n }, 0, &v);
		if (cut != CHECK_STEP_WAIT && cut != step)
			fail_msg("%s <- %.*s: cut at %zu: %s, expected %s", c->lines,
				(int)c->bytes.len, c->bytes.p, n, steps[cut], steps[step]);
	}
	check_rig_fini(&r);
}

#endif
