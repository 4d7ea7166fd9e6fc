/*
 * Input of logs and fetches for tests: a session made by hand with a value for every field
 * (log_world_*), its captures (capture_*) and request line (log_rig_line_keep), and configurations
 * of logging (cfg_world_*). Users: tests of proxy/log, of proxy/sample that read a session without
 * an engine, and of the logging keywords in proxy/config.
 */
#ifndef TESTS_UNIT_PROXY_LOG_RIG_H
#define TESTS_UNIT_PROXY_LOG_RIG_H

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "cfg/env.h"
#include "cfg/reader.h"
#include "proxy/config/log_cfg.h"
#include "proxy/config/proxy_life.h"
#include "proxy/config/ring_cfg.h"
#include "proxy/config/vocab.h"
#include "proxy/log/log_conf.h"
#include "proxy/log/log_format.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/proxies.h"
#include "proxy/model/session.h"
#include "proxy/sample/capture.h"
#include "proxy/sample/http_line.h"
#include "unit/test.h"

/* --- a session with a value for every field --- */

/* Must be static: the stack of the address sanitizer does not align cache lines. */
struct log_world {
	struct engine engine;
	struct bind_conf bind;
	struct listener listener;
	struct proxy fe, be;
	struct server srv;
	struct session sess;
	struct stream s;
	struct log_ident id;
	struct wall wall;
	struct log_context cx;
	char line[4096], room[512];
};

static inline void
log_world_addr(struct addr *a, const char *ip, unsigned int port)
{
	memset(a, 0, sizeof(*a));
	if (strchr(ip, ':')) {
		a->len = sizeof(a->u.in6);
		a->u.in6.sin6_family = AF_INET6;
		assert_int_equal(inet_pton(AF_INET6, ip, &a->u.in6.sin6_addr), 1);
	} else {
		a->len = sizeof(a->u.in);
		a->u.in.sin_family = AF_INET;
		assert_int_equal(inet_pton(AF_INET, ip, &a->u.in.sin_addr), 1);
	}
	addr_set_port(a, port);
}

static inline void
log_world_unix(struct addr *a)
{
	memset(a, 0, sizeof(*a));
	a->len = sizeof(a->u.un);
	a->u.un.sun_family = AF_UNIX;
}

/* The example of the manual (8.2.2), with distinct counters. */
static inline void
log_world_init(struct log_world *w)
{
	static char fnt[] = "fnt", bck[] = "bck", srv1[] = "srv1";
	struct addr a;

	memset(w, 0, sizeof(*w));
	setenv("TZ", "UTC0", 1);
	w->fe.name = fnt;
	w->be.name = bck;
	w->srv.name = srv1;
	w->srv.be = &w->be;
	w->srv.id = 3;
	w->listener.bind = &w->bind;
	w->listener.id = 2;
	log_world_addr(&w->listener.addr, "10.0.3.31", 8012);
	log_world_addr(&a, "127.0.0.1", 8000);
	addr_cell_set(&w->srv.addr, &a);
	stream_join(&w->s, &w->sess, &w->sess.conn);
	w->s.engine = &w->engine;
	w->engine.eval.arena = (struct arena){ .p = w->room, .cap = sizeof(w->room) };
	vars_init(&w->s.sess->vars);
	vars_init(&w->engine.alone.vars);
	w->engine.shared = &w->engine.alone;
	w->s.sess->listener = &w->listener;
	w->s.sess->fe = &w->fe;
	w->s.be = &w->be;
	w->s.srv = &w->srv;
	w->s.conn[CLIENT]->fd = w->s.conn[SERVER]->fd = -1;
	log_world_addr(&w->s.sess->peer, "10.0.1.2", 33313);
	w->s.sess->accept_wall_ns = UINT64_C(1233922371443999999); /* 06/Feb/2009:12:12:51.443 */
	w->s.sess->accept_ms = w->s.sess->begun_ms = 1000;
	w->s.queued_ms = 1011;
	w->s.connected_ms = 1033;
	w->cx.now_ms = 6007;
	w->s.dir[SERVER].bytes = 212;
	w->s.dir[CLIENT].bytes = 99;
	w->s.term[0] = w->s.term[1] = '-';
	w->s.id = 77;
	w->engine.alone.gate.n = 5;
	w->fe.fe_gate.n = 4;
	w->be.be_cur = 3;
	w->srv.cur = 2;
	w->s.retries = 1;
	w->s.queue_before = 6;
	w->s.be_queue_before = 7;
	w->fe.log.count = w->cx.count = 8;
	w->id.tag = "tacit";
	w->id.node = "host1";
	w->id.pid = 31185;
	w->cx.id = &w->id;
	w->cx.wall = &w->wall;
}

/* The text that a format produces for the session; http: as a log line of mode http. */
static inline const char *
log_world_format(struct log_world *w, const char *format, int http)
{
	struct rule_vocab vocab;
	struct rule_fmt *f;
	struct rule_err why;
	struct sbuf b;

	proxy_vocab_init(&vocab);
	if (log_format_compile(&vocab, format, http, &f, &why) < 0)
		fail_msg("%s: %s", format, why.text);
	sbuf_init_fixed(&b, w->line, sizeof(w->line));
	log_format_render(f, NULL, &w->s, &w->cx, &b);
	assert_false(b.failed);
	rule_fmt_free(&f);
	return w->line;
}

static inline const char *
log_world_line(struct log_world *w, const char *format)
{
	return log_world_format(w, format, 0);
}

/* --- captures of that session --- */

static struct http_txn capture_txn;

static inline void
capture_slot(struct log_world *w, enum capture_kind kind, const char *name, unsigned int max)
{
	unsigned int i;

	assert_int_equal(capture_add(&w->fe.captures, kind, name, max, &i), 0);
}

/* req.hdr 0: Host, 5 bytes; 1: for rules, 8 bytes; res.hdr 0: Server, 5 bytes; the cookie, 8
 * bytes. */
static inline void
capture_open(struct log_world *w)
{
	log_world_init(w);
	memset(&capture_txn, 0, offsetof(struct http_txn, line));
	w->fe.mode = PROXY_HTTP;
	w->s.is_http = 1;
	w->s.txn = &capture_txn;
	capture_txn.head_ms = 1;
	capture_slot(w, CAPTURE_REQUEST, "Host", 5);
	capture_slot(w, CAPTURE_REQUEST, NULL, 8);
	capture_slot(w, CAPTURE_RESPONSE, "Server", 5);
	capture_slot(w, CAPTURE_COOKIE, "SID", 8);
	capture_slot(w, CAPTURE_COOKIE, "SID", 8);
	capture_conf_finish(&w->fe.captures);
	engine_allow_captures(&w->engine, w->fe.captures.size);
	captures_begin(&w->s);
	assert_non_null(w->s.captures);
}

static inline void
capture_close(struct log_world *w)
{
	captures_end(&w->s);
	assert_int_equal(w->engine.pools.capture.live, 0);
	pool_fini(&w->engine.pools.capture);
	capture_conf_fini(&w->fe.captures);
}

static inline void
capture_is(struct log_world *w, enum capture_kind kind, unsigned int i, const char *want)
{
	struct str got;

	if (!capture_get(&w->s, kind, i, &got)) {
		if (want)
			fail_msg("capture %u is empty, expected \"%s\"", i, want);
	} else if (!want || !str_is(got, str_of(want))) {
		fail_msg("capture %u is \"%.*s\", expected \"%s\"", i, (int)got.len, got.p,
			want ? want : "(none)");
	}
}

/* --- request lines --- */

#define LOG_RIG_LINES 4

/* Gives a transaction that is in no pool room for its line; the last few have it. */
static inline void
log_rig_line_room(struct http_txn *t)
{
	static char room[LOG_RIG_LINES][HTTP_LINE_MAX];
	static unsigned int n;

	if (t->line)
		return;
	t->line = room[n++ % LOG_RIG_LINES];
	t->line_max = HTTP_LINE_MAX;
}

/* "": no request was parsed. A line without a version was truncated before it. */
static inline void
log_rig_line_keep(struct http_txn *t, const char *line)
{
	const char *end = line + strlen(line), *version = strstr(line, " HTTP/");
	const char *blank = strchr(line, ' ');
	const struct http_head kept = t->req;

	log_rig_line_room(t);
	http_line_drop(t);
	if (end == line)
		return;
	if (!version)
		version = end;
	if (!blank)
		blank = end;
	t->req.method_text = (struct str){ line, (size_t)(blank - line) };
	t->req.target = STR("");
	if (blank < version)
		t->req.target = (struct str){ blank + 1, (size_t)(version - blank - 1) };
	t->req.version = strcmp(version, " HTTP/1.0") == 0 ? HTTP_1_0 : HTTP_1_1;
	http_line_keep(t);
	t->line_len = (uint32_t)(end - line);
	t->req = kept;
}

/* --- configurations of logging: only the sections and keywords that logs need --- */

struct cfg_world {
	struct proxies proxies; /* ctx->root */
	struct cfg_registry registry;
	struct cfg_diag diag;
	struct cfg_env env;
	struct cfg_reader reader;
};

static int
cfg_world_global(struct cfg_ctx *ctx)
{
	ctx->obj = ctx->root;
	return 0;
}

static int
cfg_world_proxy(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	unsigned int caps = ctx->section->bit == CFG_BACKEND ? PROXY_BE : PROXY_FE;
	struct proxy *p = proxy_new(ctx->name, caps);

	assert_non_null(p);
	if (ctx->from)
		assert_int_equal(proxy_inherit(p, ctx->from), 0);
	list_append(ctx->section->bit == CFG_DEFAULTS ? &ps->defaults : &ps->all, &p->link);
	ctx->obj = p;
	return 0;
}

static const struct cfg_section cfg_world_sections[] = {
	{ "global", CFG_GLOBAL, 0, cfg_world_global, NULL, NULL },
	{ "defaults", CFG_DEFAULTS, CFG_SEC_OPTNAME | CFG_SEC_DEFAULTS, cfg_world_proxy, NULL,
		NULL },
	{ "frontend", CFG_FRONTEND, CFG_SEC_NAMED | CFG_SEC_FROM, cfg_world_proxy, NULL, NULL },
	{ "backend", CFG_BACKEND, CFG_SEC_NAMED | CFG_SEC_FROM, cfg_world_proxy, NULL, NULL },
	{ 0 }
};

static const struct cfg_module cfg_world_module = { .name = "world",
						    .sections = cfg_world_sections };

static inline void
cfg_world_read(struct cfg_world *w, const char *text)
{
	static const struct cfg_facts facts = { .version = "3.4.0" };
	struct cfg_reader_opts opts = {
		.root = w,
		.registry = &w->registry,
		.diag = &w->diag,
		.env = &w->env,
		.facts = &facts,
	};

	memset(w, 0, sizeof(*w));
	proxies_init(&w->proxies);
	cfg_registry_init(&w->registry);
	assert_int_equal(cfg_registry_add(&w->registry, &cfg_world_module), 0);
	assert_int_equal(cfg_registry_add(&w->registry, &log_cfg_module), 0);
	assert_int_equal(cfg_registry_add(&w->registry, &ring_cfg_module), 0);
	assert_int_equal(cfg_registry_add(&w->registry, &log_profile_cfg_module), 0);
	cfg_diag_init(&w->diag, 0);
	cfg_env_init(&w->env);
	cfg_reader_init(&w->reader, &opts);
	(void)cfg_reader_text(&w->reader, "t.cfg", text, strlen(text));
	(void)cfg_reader_end(&w->reader);
}

static inline void
cfg_world_free_proxies(struct list *l)
{
	list_each_safe(it, l) {
		struct proxy *p = list_entry(it, struct proxy, link);

		proxy_free(&p);
	}
}

static inline void
cfg_world_fini(struct cfg_world *w)
{
	cfg_world_free_proxies(&w->proxies.all);
	cfg_world_free_proxies(&w->proxies.defaults);
	log_global_fini(&w->proxies.log);
	cfg_reader_fini(&w->reader);
	cfg_env_fini(&w->env);
	cfg_diag_fini(&w->diag);
	cfg_registry_fini(&w->registry);
}

/* The n-th proxy of the configuration, from 0. */
static inline struct proxy *
cfg_world_proxy_at(struct cfg_world *w, unsigned int n)
{
	list_each(it, &w->proxies.all)
		if (n-- == 0)
			return list_entry(it, struct proxy, link);
	fail();
	return NULL;
}

/* The n-th line of a list. */
static inline const struct log_line *
cfg_world_line(const struct list *lines, unsigned int n)
{
	list_each(it, (struct list *)(uintptr_t)lines)
		if (n-- == 0)
			return list_entry(it, struct log_line, link);
	return NULL;
}

#endif
