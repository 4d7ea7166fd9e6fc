/* Sections `cache`: read on the main thread. */
#include "proxy/filter/cache_cfg.h"

#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/caching.h"
#include "proxy/model/proxies.h"

/* As HAProxy's. */
#define MAX_AGE_S 60
#define OBJECTS_PER_CACHE 256
#define VARIANTS_MAX 10

/* --- the section --- */

static int
begin_cache(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	struct cache_section *c;

	if (proxies_find_cache(ps, ctx->name))
		return cfg_error(ctx, 0, "Duplicate cache name '%s'.", ctx->name);
	c = mem_zalloc(sizeof(*c));
	if (!c || mem_copy_string(&c->name, ctx->name) < 0) {
		mem_free(c);
		return cfg_nomem(ctx);
	}
	c->where = cfg_arg_where(ctx, 0);
	c->conf.max_age_s = MAX_AGE_S;
	c->variants_max = VARIANTS_MAX;
	list_append(&ps->caches, &c->link);
	ctx->obj = c;
	return 0;
}

static int
parse_total(struct cfg_ctx *ctx)
{
	struct cache_section *c = ctx->obj;
	int n;

	if (cfg_arg_int(ctx, 0, 1, CACHE_MEGABYTES_MAX, &n) < 0)
		return -1;
	c->conf.megabytes = (uint32_t)n;
	return 0;
}

static int
parse_max_object(struct cfg_ctx *ctx)
{
	struct cache_section *c = ctx->obj;
	int n;

	if (cfg_arg_int(ctx, 0, 1, INT32_MAX, &n) < 0)
		return -1;
	c->conf.max_object = (uint64_t)n;
	return 0;
}

static int
parse_max_age(struct cfg_ctx *ctx)
{
	struct cache_section *c = ctx->obj;
	int n;

	if (cfg_arg_int(ctx, 0, 0, INT32_MAX, &n) < 0)
		return -1;
	c->conf.max_age_s = (uint32_t)n;
	return 0;
}

static const struct cfg_enum vary_words[] = {
	{ "off", 0, "Responses with Vary are not stored." },
	{ "on", 1, "They are stored if only Accept-Encoding, Referer and Origin are named." },
	{ 0 },
};

static int
parse_vary(struct cfg_ctx *ctx)
{
	struct cache_section *c = ctx->obj;

	return cfg_arg_enum(ctx, 0, vary_words, &c->varies);
}

static int
parse_secondary(struct cfg_ctx *ctx)
{
	struct cache_section *c = ctx->obj;
	int n;

	if (cfg_arg_int(ctx, 0, 1, INT32_MAX, &n) < 0)
		return -1;
	c->variants_max = (uint32_t)n;
	return 0;
}

static int
parse_collapse(struct cfg_ctx *ctx)
{
	struct cache_section *c = ctx->obj;

	return cfg_arg_timeout(ctx, 0, &c->conf.collapse_ms);
}

#define KW(n, fn, syn, text, ...)                                                              \
	{ .name = n, .sections = CFG_CACHE, .min = 1, .max = 1, .parse = fn, .syntax = syn,   \
		.doc = text, __VA_ARGS__ }

static const struct cfg_kw kws[] = {
	KW("total-max-size", parse_total, "<megabytes>",
		"Memory for objects, up to 4095 megabytes. It is taken as objects come, and stays "
		"when they are gone.", .dflt = "none: it is mandatory"),
	KW("max-object-size", parse_max_object, "<bytes>",
		"Size of the largest object, with its fields and its URL; at most half of "
		"total-max-size.", .dflt = "a 256th of total-max-size"),
	KW("max-age", parse_max_age, "<seconds>",
		"How long an object is served at most, whatever its response says; and how long "
		"if it says nothing, but has a validator.", .dflt = "60"),
	KW("process-vary", parse_vary, "{off | on}",
		"Whether responses with Vary are stored. One that names Accept-Encoding serves "
		"requests that accept the codings of its Content-Encoding, or identity if it has "
		"none; one that names Referer or Origin those with the same value. A request "
		"that has several of one of these fields is not served, and its response is "
		"not stored. One that names another field, or has a "
		"Content-Encoding that is not registered, is not stored.", .values = vary_words,
		.dflt = "off",
		.example = "process-vary on\nmax-secondary-entries 4"),
	KW("max-secondary-entries", parse_secondary, "<number>",
		"How many responses of one URL are stored that depend on fields of the request; "
		"further ones are not stored. It has an effect with process-vary on.",
		.dflt = "10"),
	KW("collapse", parse_collapse, "<time>",
		"Lets one request at a time ask a server for what the cache does not have. Others "
		"for the same URL wait until its response is stored, and at most so long, in "
		"milliseconds by default; then they ask a server, too, as do those that come when "
		"it has been asked for so long. They do so at once if the response is none that is "
		"stored, and requests of the next second do not wait. When the request ends "
		"otherwise the next one takes its place. Requests with Upgrade do not take part. "
		"This is tacit's own word.",
		.dflt = "0: none waits", .example = "collapse 500ms"),
	{ 0 },
};

static const struct cfg_section sections[] = {
	{ .name = "cache",
		.bit = CFG_CACHE,
		.flags = CFG_SEC_NAMED,
		.begin = begin_cache,
		.doc = "Memory for responses that http-response cache-store puts there and "
		       "http-request cache-use serves. All workers share it, and under a master "
		       "its objects survive reloads. The oldest objects make room for new ones." },
	{ 0 },
};

const struct cfg_module cache_section_module = {
	.name = "cache section",
	.kws = kws,
	.sections = sections,
};

/* --- the complete configuration --- */

/* 0, or -1 after an error. */
static int
finish_cache(struct cache_section *c, const struct proxies *ps, struct cfg_diag *d)
{
	uint64_t total = (uint64_t)c->conf.megabytes << 20;

	if (!c->conf.megabytes) {
		cfg_diag_add(d, CFG_ALERT, &c->where,
			"Size not specified for cache '%s': it needs total-max-size.", c->name);
		return -1;
	}
	if (!c->conf.max_object)
		c->conf.max_object = total / OBJECTS_PER_CACHE;
	c->conf.variants_max = c->varies ? c->variants_max : 0;
	if (c->conf.max_object > total / 2) {
		cfg_diag_add(d, CFG_ALERT, &c->where,
			"\"max-object-size\" is limited to an half of \"total-max-size\" => %llu",
			(unsigned long long)(total / 2));
		return -1;
	}
	c->store = cache_new(c->name, &c->conf, &ps->files.key);
	if (c->store)
		return 0;
	cfg_diag_add(d, CFG_ALERT, NULL, "%s", err_text(-ERR_NOMEM));
	return -1;
}

void
cache_sections_free(struct list *caches)
{
	list_each_safe(it, caches) {
		struct cache_section *c = list_entry(it, struct cache_section, link);

		list_remove(it);
		cache_free(c->store);
		mem_free(c->name);
		mem_free(c);
	}
}

int
cache_sections_finish(struct proxies *ps, struct cfg_diag *d)
{
	int r = 0;

	list_each(it, &ps->caches) {
		if (finish_cache(list_entry(it, struct cache_section, link), ps, d) < 0)
			r = -1;
	}
	return r;
}
