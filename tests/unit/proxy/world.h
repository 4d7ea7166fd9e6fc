/* Configurations of proxies for tests: text in, proxies and diagnostics out. */
#ifndef TESTS_PROXY_WORLD_H
#define TESTS_PROXY_WORLD_H

#include <stdio.h>
#include <string.h>

#include "base/sys.h"
#include "cfg/env.h"
#include "cfg/reader.h"
#include "net/bind_cfg.h"
#include "proxy/config/capture_cfg.h"
#include "proxy/config/check_cfg.h"
#include "proxy/config/dispatch_cfg.h"
#include "proxy/config/errors_cfg.h"
#include "proxy/config/forward_cfg.h"
#include "proxy/config/hints_cfg.h"
#include "proxy/config/http_cfg.h"
#include "proxy/config/log_cfg.h"
#include "proxy/config/proxies_finish.h"
#include "proxy/model/proxies.h"
#include "proxy/config/peers_cfg.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/config/resolvers_cfg.h"
#include "proxy/config/rules_cfg.h"
#include "proxy/config/server_name_cfg.h"
#include "proxy/config/server_proxy_cfg.h"
#include "proxy/config/server_state_cfg.h"
#include "proxy/config/server_tls_cfg.h"
#include "proxy/config/stats_cfg.h"
#include "proxy/config/unique_id_cfg.h"
#include "proxy/config/userlist_cfg.h"
#include "proxy/config/proxy_life.h"
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
	print_diag(&w->diag, f, false);
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
		&proxy_hints_module };

	memset(w, 0, sizeof(*w));
	sys_init(&w->sys, &sys_linux, NULL);
	proxies_init(&w->proxies);
	cfg_registry_init(&w->registry);
	for (size_t i = 0; i < ARRAY_LEN(modules); i++)
		assert_int_equal(cfg_registry_add(&w->registry, modules[i]), 0);
	cfg_diag_init(&w->diag, 0);
	cfg_env_init(&w->env);
	world_open_reader(w);
	WORLD_BEGINS();
	w->result = cfg_reader_text(&w->reader, "t.cfg", text, strlen(text));
	w->result |= cfg_reader_end(&w->reader);
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
		fail_msg("%s\n=> %d\n%s", text, w->result, w->printed);
}

/* Fails (result -1) or loads (0), and prints `what` if it is not NULL. */
static inline void
world_reports(const char *text, int result, const char *what)
{
	struct world w;

	world_load(&w, text);
	if (w.result != result || !strstr(w.printed, what))
		fail_msg("%s\n=> %d\n%s\nwithout: %s", text, w.result, w.printed, what);
	world_fini(&w);
}

static inline struct proxy *
world_proxy(struct world *w, const char *name)
{
	struct proxy *p = proxies_find(&w->proxies, name, PROXY_FE | PROXY_BE);

	assert_non_null(p);
	return p;
}

static inline struct server *
world_server(struct proxy *p, int n)
{
	list_each(it, &p->servers) {
		if (n-- == 0)
			return list_entry(it, struct server, link);
	}
	fail();
	return NULL;
}

static inline struct bind_conf *
world_bind(struct proxy *p, int n)
{
	list_each(it, &p->binds) {
		if (n-- == 0)
			return list_entry(it, struct bind_conf, link);
	}
	fail();
	return NULL;
}

static inline struct listener *
world_listener(struct bind_conf *b, int n)
{
	list_each(it, &b->listeners) {
		if (n-- == 0)
			return list_entry(it, struct listener, link);
	}
	fail();
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
			fail_msg("%s\n=> %d\n%s\nexpected: %s", text, w.result, w.printed,
				t[i].error ? t[i].error : "to load");
		world_fini(&w);
	}
}

#endif
