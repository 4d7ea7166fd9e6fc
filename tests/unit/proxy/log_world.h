/* A session made by hand for tests of log lines: every field has a value of its own. */
#ifndef TESTS_PROXY_LOG_WORLD_H
#define TESTS_PROXY_LOG_WORLD_H

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "proxy/log/log_format.h"
#include "proxy/model/session.h"
#include "proxy/config/vocab.h"
#include "unit/test.h"

/* Must be static: the stack of the address sanitizer does not align cache lines. */
struct log_world {
	struct engine engine;
	struct bind_conf bind;
	struct listener listener;
	struct proxy fe, be;
	struct server srv;
	struct session s;
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
	w->s.engine = &w->engine;
	w->engine.eval.arena = (struct arena){ .p = w->room, .cap = sizeof(w->room) };
	vars_init(&w->s.vars);
	vars_init(&w->engine.alone.vars);
	w->engine.shared = &w->engine.alone;
	w->s.listener = &w->listener;
	w->s.fe = &w->fe;
	w->s.be = &w->be;
	w->s.srv = &w->srv;
	w->s.conn[CLIENT].fd = w->s.conn[SERVER].fd = -1;
	log_world_addr(&w->s.peer, "10.0.1.2", 33313);
	w->s.accept_wall_ns = UINT64_C(1233922371443999999); /* 06/Feb/2009:12:12:51.443 */
	w->s.accept_ms = w->s.begun_ms = 1000;
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

#endif
