/* A small configuration language, with every kind of keyword and section. Users: tests of cfg that
 * read statements. */
#ifndef TESTS_UNIT_CFG_RIG_H
#define TESTS_UNIT_CFG_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sbuf.h"
#include "cfg/env.h"
#include "cfg/reader.h"
#include "fake/print_diag.h"
#include "unit/test.h"

struct world {
	struct cfg_registry registry;
	struct cfg_diag diag;
	struct cfg_env env;
	struct cfg_reader reader;
	struct sbuf seen;	/* the calls of the keywords' owners, one line each */
	char printed[65536];
	char *kept[CFG_DEFAULTS_MAX + 1];	/* objects that others may inherit from */
	unsigned nkept;
};

static inline struct world *
world_of(struct cfg_ctx *ctx)
{
	return ctx->root;
}

/* The object of a section is a copy of its name. */
static int
world_begin(struct cfg_ctx *ctx)
{
	struct sbuf *b = &world_of(ctx)->seen;

	if (strcmp(ctx->name, "refused") == 0)
		return cfg_error(ctx, 0, "'%s' is a name nobody likes.", ctx->name);
	if (strcmp(ctx->name, "silent") == 0)
		return -1;
	ctx->obj = strdup(ctx->name);
	if (ctx->section->bit == CFG_DEFAULTS)
		world_of(ctx)->kept[world_of(ctx)->nkept++] = ctx->obj;
	sbuf_addf(b, "begin %s <%s> from <%s>\n", ctx->section->name, ctx->name,
		  ctx->from ? (char *)ctx->from : "-");
	return 0;
}

static int
world_end(struct cfg_ctx *ctx)
{
	sbuf_addf(&world_of(ctx)->seen, "end %s <%s>\n", ctx->section->name, (char *)ctx->obj);
	if (ctx->section->bit != CFG_DEFAULTS)
		free(ctx->obj);
	return 0;
}

static int
world_kw(struct cfg_ctx *ctx)
{
	static const char *const form[] = { "", "no ", "default " };
	struct sbuf *b = &world_of(ctx)->seen;

	sbuf_addf(b, "%s%s", form[ctx->form], cfg_kw_name(ctx));
	for (int i = 0; i < ctx->argc; i++)
		sbuf_addf(b, " [%s]", cfg_arg(ctx, i));
	sbuf_adds(b, "\n");
	return 0;
}

static int
world_int(struct cfg_ctx *ctx)
{
	int v = 0;

	if (cfg_arg_int(ctx, 0, 1, 1000000, &v))
		return -1;
	sbuf_addf(&world_of(ctx)->seen, "%s = %d\n", cfg_kw_name(ctx), v);
	return 0;
}

static int
world_timeout(struct cfg_ctx *ctx)
{
	uint32_t v = 0;

	if (cfg_arg_timeout(ctx, 0, &v))
		return -1;
	sbuf_addf(&world_of(ctx)->seen, "%s = %u\n", cfg_kw_name(ctx), v);
	return 0;
}

static int
world_mute(struct cfg_ctx *ctx)
{
	(void)ctx;
	return -1;
}

static int
world_bind(struct cfg_ctx *ctx)
{
	sbuf_addf(&world_of(ctx)->seen, "bind %s\n", cfg_arg(ctx, 0));
	return cfg_parse_opts(ctx, CFG_OPT_BIND, 1, ctx->root);
}

static int
world_opt_int(struct cfg_ctx *ctx, void *obj)
{
	struct world *w = obj;
	int v = 0;

	if (cfg_arg_int(ctx, 0, 0, 65535, &v))
		return -1;
	sbuf_addf(&w->seen, "  %s = %d\n", ctx->opt->name, v);
	return 0;
}

static int
world_opt_flag(struct cfg_ctx *ctx, void *obj)
{
	struct world *w = obj;

	sbuf_addf(&w->seen, "  %s of %d\n", ctx->opt->name, ctx->argc);
	return 0;
}

/* takes each following word that is a number */
static int
world_opt_many(struct cfg_ctx *ctx, void *obj)
{
	struct world *w = obj;
	int n = 0;

	while (cfg_arg(ctx, n)[0] >= '0' && cfg_arg(ctx, n)[0] <= '9')
		n++;
	cfg_take(ctx, n);
	sbuf_addf(&w->seen, "  %s took %d of %d\n", ctx->opt->name, n, ctx->argc);
	return 0;
}

static const struct cfg_kw world_kws[] = { { .name = "maxconn",
						   .sections = CFG_GLOBAL | CFG_FE,
						   .min = 1,
						   .max = 1,
						   .parse = world_int,
						   .syntax = "<number>",
						   .doc = "Connections at most." },
	{ .name = "daemon", .sections = CFG_GLOBAL, .parse = world_kw },
	{ .name = "stats socket",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = CFG_ANY,
		.parse = world_kw,
		.syntax = "<address> [<option>...]" },
	{ .name = "timeout client",
		.sections = CFG_FE,
		.min = 1,
		.max = 1,
		.parse = world_timeout,
		.once = "timeout client",
		.syntax = "<time>" },
	{ .name = "timeout connect",
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.flags = CFG_KW_FIRST,
		.once = "timeout connect",
		.parse = world_timeout,
		.syntax = "<time>" },
	{ .name = "option tcplog", .sections = CFG_PROXIES, .parse = world_kw },
	{ .name = "option tcpka", .sections = CFG_PROXIES, .flags = CFG_KW_NO, .parse = world_kw },
	{ .name = "option contstats",
		.sections = CFG_FE,
		.flags = CFG_KW_NO,
		.class = CFG_HINT,
		.doc = "counters are always continuous." },
	{ .name = "option splice-auto",
		.sections = CFG_PROXIES,
		.class = CFG_UNSUPPORTED,
		.doc = "it comes later" },
	{ .name = "tune.quiet", .sections = CFG_GLOBAL, .class = CFG_HINT, .flags = CFG_KW_QUIET },
	{ .name = "balance",
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.parse = world_kw,
		.syntax = "<algorithm>" },
	{ .name = "server",
		.sections = CFG_BACKEND | CFG_LISTEN,
		.flags = CFG_KW_STRICT,
		.min = 2,
		.max = CFG_ANY,
		.parse = world_kw,
		.syntax = "<name> <address> [<option>...]" },
	{ .name = "bind",
		.sections = CFG_FRONTEND | CFG_LISTEN,
		.min = 1,
		.max = CFG_ANY,
		.parse = world_bind,
		.syntax = "<address> [<option>...]" },
	{ .name = "mute", .sections = CFG_GLOBAL, .flags = CFG_KW_SWITCH, .parse = world_mute },
	{ .name = "log",
		.sections = CFG_GLOBAL | CFG_PROXIES,
		.flags = CFG_KW_NO,
		.min = 1,
		.max = CFG_ANY,
		.parse = world_kw,
		.syntax = "<target>" },
	{ 0 } };

static const struct cfg_opt world_bind_opts[] = {
	{ .name = "backlog", .min = 1, .max = 1, .parse = world_opt_int, .syntax = "<number>" },
	{ .name = "tfo", .parse = world_opt_flag },
	{ .name = "many", .min = 0, .max = CFG_ANY, .parse = world_opt_many },
	{ .name = "nice",
		.min = 1,
		.max = 1,
		.class = CFG_HINT,
		.doc = "there are no priorities." },
	{ .name = "shards", .min = 1, .max = 1, .class = CFG_UNSUPPORTED }, { 0 }
};

static const struct cfg_section world_sections[] = {
	{ "global", CFG_GLOBAL, 0, world_begin, world_end, NULL },
	{ "defaults", CFG_DEFAULTS, CFG_SEC_OPTNAME | CFG_SEC_FROM | CFG_SEC_DEFAULTS, world_begin,
	  world_end, NULL },
	{ "frontend", CFG_FRONTEND, CFG_SEC_NAMED | CFG_SEC_FROM, world_begin, world_end, NULL },
	{ "backend", CFG_BACKEND, CFG_SEC_NAMED | CFG_SEC_FROM, world_begin, world_end, NULL },
	{ "listen", CFG_LISTEN, CFG_SEC_NAMED | CFG_SEC_FROM, world_begin, world_end, NULL },
	{ 0 }
};

static const struct cfg_module world_module = {
	.name = "world",
	.kws = world_kws,
	.sections = world_sections,
	.opts = { [CFG_OPT_BIND] = world_bind_opts },
};

static inline void
world_init(struct world *w)
{
	static const char *const features[] = { "THREAD", "EPOLL", NULL };
	static const struct cfg_facts facts = { .version = "3.4.0", .features = features };
	struct cfg_reader_opts opts = {
		.root = w,
		.registry = &w->registry,
		.diag = &w->diag,
		.env = &w->env,
		.facts = &facts,
	};

	memset(w, 0, sizeof(*w));
	cfg_registry_init(&w->registry);
	assert_int_equal(cfg_registry_add(&w->registry, &world_module), 0);
	assert_int_equal(cfg_registry_add(&w->registry, &env_cfg_module), 0);
	cfg_diag_init(&w->diag, 0);
	cfg_env_init(&w->env);
	sbuf_init(&w->seen, 0);
	cfg_reader_init(&w->reader, &opts);
}

static inline void
world_fini(struct world *w)
{
	cfg_reader_fini(&w->reader);
	for (unsigned i = 0; i < w->nkept; i++)
		free(w->kept[i]);
	cfg_env_fini(&w->env);
	cfg_diag_fini(&w->diag);
	cfg_registry_fini(&w->registry);
	sbuf_fini(&w->seen);
}

static inline int
world_read(struct world *w, const char *name, const char *text)
{
	return cfg_reader_text(&w->reader, name, text, strlen(text));
}

static inline const char *
world_printed(struct world *w)
{
	FILE *f = fmemopen(w->printed, sizeof(w->printed), "w");

	assert_non_null(f);
	print_diag(&w->diag, f, 0);
	fclose(f);
	return w->printed;
}

/* Reads one file and compares the calls of the owners and the printed diagnostics. */
static inline void
world_expect(const char *text, const char *seen, const char *printed)
{
	struct world w;

	world_init(&w);
	world_read(&w, "t.cfg", text);
	assert_string_equal(w.seen.p ? w.seen.p : "", seen);
	assert_string_equal(world_printed(&w), printed);
	world_fini(&w);
}

#endif
