/* The sections in which logging keywords are permitted, without the other keywords of proxies. */
#ifndef TESTS_PROXY_LOG_CFG_WORLD_H
#define TESTS_PROXY_LOG_CFG_WORLD_H

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "cfg/env.h"
#include "cfg/reader.h"
#include "proxy/config/log_cfg.h"
#include "proxy/config/log_profile_cfg.h"
#include "proxy/config/ring_cfg.h"
#include "proxy/log/log_conf.h"
#include "proxy/log/log_format.h"
#include "proxy/model/proxies.h"
#include "proxy/config/proxy_life.h"
#include "unit/test.h"

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
