/* Stores responses in a cache, and finds them there, on the stream's worker; the store is shared by
 * all. Its configuration is read on the main thread. */
#include "proxy/filter/cache_filter.h"

#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "http/caching.h"
#include "http/stored.h"
#include "http/vary.h"
#include "proxy/filter/cache_use.h"
#include "proxy/filter/compress_conf.h"
#include "proxy/model/caching.h"
#include "proxy/model/count.h"
#include "proxy/model/filter.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/proxies.h"
#include "rule/action/act.h"
#include "rule/sample/arena.h"
#include "rule/sample/args.h"
#include "tls/conn_info.h"

/* --- configuration --- */

_Static_assert((int)CACHE_BY_CODINGS == HTTP_BY_ACCEPT_ENCODING &&
	(int)CACHE_BY_TEXT == HTTP_BY_REFERER && (int)CACHE_BY_TEXT << 1 == HTTP_BY_ORIGIN,
	"a variant is selected by what Vary may name");

#define CACHE_EXAMPLE                                                                          \
	"http-request cache-use small\nhttp-response cache-store small"

static const struct filter_kind cache_filter_kind;

/* A filter of a proxy: implied by rules, unless a line says where it stands. */
struct cache_filter_conf {
	struct filter_conf conf;
	struct cfg_where where;
};

static void
cache_filter_conf_free(struct filter_conf *conf)
{
	mem_free(conf);
}

static struct cache_filter_conf *
find_filter(const struct proxy *p, const char *name)
{
	return (struct cache_filter_conf *)filter_conf_find(p->filters, &cache_filter_kind, name);
}

/* A new filter, behind all others: NULL without memory. */
static struct cache_filter_conf *
add_filter(struct proxy *p, const char *name, struct cfg_where where)
{
	struct cache_filter_conf *c = mem_zalloc(sizeof(*c));

	if (!c || mem_copy_string(&c->conf.name, name) < 0) {
		mem_free(c);
		return NULL;
	}
	c->conf.kind = &cache_filter_kind;
	c->conf.word = "cache";
	c->conf.sides = c->conf.implied = 1u << SERVER;
	c->where = where;
	filter_conf_add(&p->filters, &c->conf);
	return c;
}

static void
remove_filter(struct proxy *p, const struct filter_conf *conf)
{
	struct filter_conf **at = &p->filters;

	while (*at != conf)
		at = &(*at)->next;
	*at = conf->next;
}

/* --- `filter cache` --- */

static int
parse_cache_filter(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct cache_filter_conf *c = find_filter(p, cfg_arg(ctx, 0));

	if (c && !c->conf.implied)
		return cfg_error(ctx, 0,
			"'filter' : '%s: multiple explicit declarations of the cache filter "
			"'%s''.", p->name, c->conf.name);
	/* A rule has made it, further up. */
	if (c) {
		remove_filter(p, &c->conf);
		c->conf.next = NULL;
		filter_conf_add(&p->filters, &c->conf);
	} else {
		c = add_filter(p, cfg_arg(ctx, 0), cfg_arg_where(ctx, 0));
	}
	if (!c)
		return cfg_nomem(ctx);
	c->conf.implied = 0;
	return 0;
}

/* --- rules --- */

static int
cache_rule_parse(struct rule *r, const struct rule_vocab *v unused, struct cfg_ctx *ctx, int arg,
	unsigned int at unused)
{
	struct cache_rule *x = mem_zalloc(sizeof(*x));

	r->ref = x;
	if (!x)
		return cfg_nomem(ctx);
	x->px = ctx->obj;
	if (act_need(r, ctx, arg, 1) < 0 || act_text(ctx, arg, &r->text[0]) < 0)
		return -1;
	if (ctx->section->bit == CFG_DEFAULTS)
		return cfg_error(ctx, arg,
			"'%s %s' is not supported in a defaults section: write it in the sections "
			"that have this one.", rule_place_name(r->place), r->action->name);
	if (!find_filter(x->px, r->text[0].p) &&
		!add_filter(x->px, r->text[0].p, cfg_arg_where(ctx, arg)))
		return cfg_nomem(ctx);
	return arg + 1;
}

static int
cache_rule_check(struct rule *r, void *root, struct rule_err *why)
{
	struct cache_rule *x = r->ref;
	const struct cache_filter_conf *c = find_filter(x->px, r->text[0].p);

	x->section = proxies_find_cache(root, r->text[0].p);
	if (!x->section)
		return rule_fail(why, 0, -1, "there is no section 'cache %.100s'", r->text[0].p);
	assert(c);
	x->conf = &c->conf;
	return 0;
}

static void
cache_rule_free(struct rule *r)
{
	mem_free(r->ref);
}

/* --- the complete configuration --- */

/* Moves filters that only rules have made in front of all others: these see what is stored. */
static void
place_implicit(struct proxy *p)
{
	struct filter_conf *conf = p->filters, *next;

	for (; conf; conf = next) {
		next = conf->next;
		if (conf->kind != &cache_filter_kind || !conf->implied || conf == p->filters)
			continue;
		remove_filter(p, conf);
		conf->next = p->filters;
		p->filters = conf;
	}
}

/* 0, or -1 after an error. */
static int
check_section(const struct cache_filter_conf *c, const struct proxies *ps, struct cfg_diag *d)
{
	const char *name = c->conf.name;

	if (c->conf.implied || proxies_find_cache(ps, name) || cfg_diag_is_lost(d, name))
		return 0;
	cfg_diag_add(d, CFG_ALERT, &c->where, "'filter cache' : there is no section 'cache %s'.",
		name);
	return -1;
}

/* Reports a cache that would store compressed bytes. 0, or -1 after an error. */
static int
check_cache_order(const struct proxy *p, struct cfg_diag *d)
{
	const struct filter_sequence *q = p->sequence[SERVER];
	const struct filter_conf *conf = filter_conf_first(p, SERVER);

	while (conf && (conf->kind != &compress_kind || !(conf->sides >> SERVER & 1)))
		conf = filter_conf_after(p, SERVER, conf);
	while (conf && conf->kind != &cache_filter_kind)
		conf = filter_conf_after(p, SERVER, conf);
	if (!conf)
		return 0;
	cfg_diag_add(d, CFG_ALERT, q ? &q->where : &((const struct cache_filter_conf *)conf)->where,
		"unable to enable the compression filter before the cache '%s': what is stored "
		"would have the head of the response as it was.", conf->name);
	return -1;
}

int
cache_filters_finish(struct proxy *p, struct proxies *ps, struct cfg_diag *d)
{
	int r = 0;

	place_implicit(p);
	for (struct filter_conf *conf = p->filters; conf; conf = conf->next)
		if (conf->kind == &cache_filter_kind)
			r |= check_section((struct cache_filter_conf *)conf, ps, d);
	return r | check_cache_order(p, d);
}

static const struct cfg_kw kws[] = {
	{ .name = "filter cache", .sections = CFG_FRONTEND | CFG_LISTEN | CFG_BACKEND, .min = 1,
		.max = 1, .parse = parse_cache_filter, .syntax = "<cache>",
		.dflt = "before all other filters",
		.doc = "Stores responses here among the filters of the section, which has to be "
		       "before filter compression. Rules cache-use and cache-store need no such "
		       "line.",
		.example = "filter cache small\nfilter compression\ncompression algo gzip\n"
			   CACHE_EXAMPLE },
	{ 0 },
};

const struct cfg_module cache_cfg_module = {
	.name = "cache",
	.kws = kws,
};

/* The object that a response becomes; of a request, its wait alone. */
struct cache_fill {
	struct cache_part part;
	struct stream *s;
	struct cache *cache;
	struct cache_entry *entry; /* NULL: nothing is stored, or no more */
	struct str key;            /* in the stream's cache_use, which lives as long */
	uint64_t left;             /* bytes of a body whose length is known */
	/* When the head was stored. */
	uint8_t was_encoded;       /* it had Content-Encoding */
	uint8_t was_empty;         /* its length was 0 */
};

/* --- the filter --- */

/* Ends the stream's claim of this cache, which a rule of its other proxy may have taken.
 * is_refused: its response is not stored. */
static void
end_claim(struct stream *s, const struct cache *c, int is_refused)
{
	for (struct filter *f = s->extras->filters[CLIENT]; f; f = f->next) {
		struct cache_wait *w = &((struct cache_part *)f)->wait;

		if (f->conf->kind == &cache_filter_kind && w->end && w->cache == c)
			w->end(w, is_refused);
	}
}

static void
abort_fill(struct cache_fill *f)
{
	struct cache_caller by;

	if (!f->entry)
		return;
	by = stream_cache_caller(f->s);
	cache_abort(f->cache, &by, f->entry);
	f->entry = NULL;
	f->s->extras->cache_use->is_filled = 0;
}

/* Ends the claim that was taken here, unless a rule of the other proxy stores the response. */
static void
refuse_claim(struct cache_part *part)
{
	struct cache_wait *w = &part->wait;
	const struct cache_use *use;

	if (!w->end)
		return;
	use = w->s->extras->cache_use;
	if (!use || !use->is_filled || use->cache != w->cache)
		w->end(w, 1);
}

static void
commit_fill(struct cache_fill *f)
{
	struct cache_caller by = stream_cache_caller(f->s);

	cache_commit(f->cache, &by, f->entry, f->key);
	f->entry = NULL;
	end_claim(f->s, f->cache, 0);
}

static void
store_bytes(struct cache_fill *f, const char *p, size_t n)
{
	struct cache_caller by = stream_cache_caller(f->s);

	if (f->entry && cache_write(f->cache, &by, f->entry, p, n) < 0) {
		abort_fill(f);
		end_claim(f->s, f->cache, 1);
	}
}

static int
is_encoded(const struct http_head *h)
{
	return http_find_id(h, HTTP_F_CONTENT_ENCODING, 0) >= 0;
}

/* A body in chunks is stored without them. One that a filter before this one makes another of has
 * another head than the stored one. */
static enum filter_part
cache_filter_begin(const struct filter_conf *conf, struct stream *s, int side,
	struct http_head *head)
{
	struct cache_fill *f = (struct cache_fill *)filter_find(s, SERVER, conf);
	struct cache_part *asked = (struct cache_part *)filter_find(s, CLIENT, conf);

	if (side == CLIENT || !head)
		return FILTER_ABSENT;
	if (f && f->entry && is_encoded(head) != f->was_encoded) {
		abort_fill(f);
		end_claim(s, f->cache, 1);
	}
	if (!f || !f->entry) {
		if (asked)
			refuse_claim(asked);
		return FILTER_ABSENT;
	}
	f->left = head->length;
	return head->framing == HTTP_BODY_CHUNKED ? FILTER_CHANGES : FILTER_PASSES;
}

/* The object is its head. A rule may have set a status that has no body. */
static void
store_empty(struct filter *filter)
{
	struct cache_fill *f = (struct cache_fill *)filter;

	if (f->entry && f->was_empty) {
		commit_fill(f);
		return;
	}
	abort_fill(f);
	refuse_claim(&f->part);
}

static void
store_passing(struct filter *filter, struct stream *s unused, const char *p, size_t n)
{
	struct cache_fill *f = (struct cache_fill *)filter;

	store_bytes(f, p, n);
	f->left -= MIN(n, f->left);
	if (f->entry && !f->left)
		commit_fill(f);
}

static size_t
most_stored(const struct filter *f unused, size_t n)
{
	return n;
}

static size_t
store_copied(struct filter *filter, struct stream *s unused, const char *p, size_t n, int last,
	char *to)
{
	struct cache_fill *f = (struct cache_fill *)filter;

	memcpy(to, p, n);
	store_bytes(f, p, n);
	if (f->entry && last)
		commit_fill(f);
	return n;
}

static void
cache_fill_end(struct filter *filter)
{
	struct cache_fill *f = (struct cache_fill *)filter;

	if (f->part.wait.end)
		f->part.wait.end(&f->part.wait, 0);
	if (f->entry)
		abort_fill(f);
}

static const struct filter_kind cache_filter_kind = {
	.name = "cache",
	.size = sizeof(struct cache_fill),
	.begin = cache_filter_begin,
	.no_body = store_empty,
	.passed = store_passing,
	.most = most_stored,
	.change = store_copied,
	.fini = cache_fill_end,
	.conf_free = cache_filter_conf_free,
};

/* --- `cache-store` --- */

/* Fields of a connection, and those that are made when the response is served. */
static int
is_stored_field(const struct http_field *f)
{
	static const char *const not[] = { "Age", "Connection", "Content-Length", "Keep-Alive",
		"Proxy-Authenticate", "Proxy-Connection", "TE",
		"Trailer", "Transfer-Encoding", "Upgrade" };

	for (size_t i = 0; i < ARRAY_LEN(not); i++)
		if (str_is_nocase(f->name, str_of(not[i])))
			return 0;
	return !f->dropped;
}

/* 0, or negative: the object has no room. */
static int
store_head(struct cache_fill *f, const struct http_head *h)
{
	struct cache_caller by = stream_cache_caller(f->s);
	char size[HTTP_STORED_FIELD];
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < h->n; i++) {
		const struct http_field *field = &h->field[i];

		if (!is_stored_field(field))
			continue;
		r = http_stored_size(field, size);
		if (r == 0)
			r = cache_write(f->cache, &by, f->entry, size, sizeof(size));
		if (r == 0)
			r = cache_write(f->cache, &by, f->entry, field->name.p, field->name.len);
		if (r == 0)
			r = cache_write(f->cache, &by, f->entry, field->value.p, field->value.len);
	}
	cache_end_head(f->entry);
	return r;
}

/* Sets what selects this response among those of its URL. 0, or -1: it is not stored. */
static int
select_by(const struct cache_section *c, const struct cache_use *use, const struct http_head *h,
	struct cache_variant *v)
{
	int by = http_vary_of(h);

	*v = use->asked;
	v->by = (uint32_t)by;
	if (by < 0 || (by && !c->varies))
		return -1;
	return by & HTTP_BY_ACCEPT_ENCODING ? http_codings_of(h, &v->codings) : 0;
}

/* Begins the object of a response that may be stored for so long. 0, or -1: it is not stored. */
static int
begin_fill(struct stream *s, const struct cache_rule *x, struct cache_use *use,
	const struct http_head *h, const struct http_freshness *fresh)
{
	struct cache_caller by = stream_cache_caller(s);
	struct cache_variant v;
	struct cache_fill *f;

	if (select_by(x->section, use, h, &v) < 0)
		return -1;
	f = (struct cache_fill *)filter_get(s, SERVER, x->conf);
	if (!f)
		return -1;
	assert(!f->entry);
	f->s = s;
	f->cache = use->cache;
	f->key = (struct str){ use->key, use->key_len };
	f->was_encoded = (uint8_t)is_encoded(h);
	f->was_empty = h->framing == HTTP_BODY_LENGTH && !h->length;
	if (h->framing == HTTP_BODY_LENGTH && h->length > cache_conf_of(f->cache)->max_object)
		return -1;
	f->entry = cache_begin(f->cache, &by, f->key, &v, use->mark);
	if (!f->entry)
		return -1;
	f->entry->born_ms = by.now_ms - fresh->age_s * 1000;
	f->entry->expires_ms = by.now_ms + fresh->lifetime_s * 1000;
	use->is_filled = 1;
	if (store_head(f, h) == 0)
		return 0;
	abort_fill(f);
	return -1;
}

/* Removes the stored responses of the URL: a method that may change the resource has succeeded (RFC
 * 9111, 4.4). */
static void
forget_stored(const struct stream *s, const struct cache_use *use, const struct http_head *res)
{
	struct cache_caller by = stream_cache_caller(s);

	if (res->status >= 200 && res->status < 400)
		(void)cache_remove(use->cache, &by, (struct str){ use->key, use->key_len });
}

static enum rule_result
run_cache_store(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	const struct cache_rule *x = r->ref;
	struct stream *s = out->proxy;
	struct cache_use *use = s->extras ? s->extras->cache_use : NULL;
	int64_t now_s = (int64_t)(loop_wall_ns(s->engine->loop) / 1000000000u);
	struct http_freshness fresh;

	/* A response of a cache is stored already. */
	if (!use || use->cache != x->section->store || s->extras->hit.cache)
		return RULE_CONT;
	if (use->may & HTTP_CACHE_FORGETS)
		forget_stored(s, use, cx->res);
	else if (use->is_filled)
		return RULE_CONT; /* A rule before this one stores it. */
	else if (!(use->may & HTTP_CACHE_STORES) || !filter_conf_runs(x->conf, SERVER) ||
		!http_caching_of_response(cx->res, (use->may & HTTP_CACHE_IF_PUBLIC) != 0, now_s,
			x->section->conf.max_age_s, &fresh) ||
		begin_fill(s, x, use, cx->res, &fresh) < 0)
		end_claim(s, use->cache, 1);
	return RULE_CONT;
}

const struct rule_action cache_actions[] = {
	{ .name = "cache-use",
		.places = RULE_IN(HTTP_REQUEST),
		.parse = cache_rule_parse,
		.run = cache_use_run,
		.has_begun = cache_use_has_waited,
		.free = cache_rule_free,
		.check = cache_rule_check,
		.syntax = "<cache>",
		.doc = "Responds with what the cache has of this URL and host, if that is fresh "
		       "and the client accepts a stored response: a GET or HEAD of HTTP/1.1 or "
		       "newer without a body, Authorization, and max-age, max-stale, min-fresh or "
		       "no-cache in Cache-Control. If-None-Match, or else If-Modified-Since, may "
		       "make it a 304. Rules behind this one still run, and http-response on the "
		       "stored response, and filters see it, but no server is asked. Otherwise "
		       "the request continues, and cache-store may store its response.",
		.example = CACHE_EXAMPLE },
	{ .name = "cache-store",
		.places = RULE_IN(HTTP_RESPONSE),
		.parse = cache_rule_parse,
		.run = run_cache_store,
		.free = cache_rule_free,
		.check = cache_rule_check,
		.syntax = "<cache>",
		.doc = "Stores the response to a GET for which cache-use has looked, with the "
		       "fields that it has now: status 200, a length or chunks, s-maxage, max-age, "
		       "Expires, or ETag or Last-Modified for max-age of the cache; and not "
		       "no-store, no-cache, private, Pragma: no-cache, Vary unless process-vary "
		       "is on, nor Set-Cookie unless it is public or has s-maxage. A response to a "
		       "request with Authorization has to be public. If a POST, PUT, DELETE or the "
		       "like succeeds, what is stored of its URL is removed instead.",
		.example = CACHE_EXAMPLE },
	{ .name = NULL },
};

/* --- fetches --- */

/* The cache that has responded, or NULL. */
static const struct cache *
serving_cache(const struct sample_ctx *cx)
{
	const struct stream *s = cx->stream;

	return s && s->extras ? s->extras->hit.cache : NULL;
}

static int
fetch_cache_hit(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	sample_set_bool(s, serving_cache(cx) != NULL);
	return 1;
}

static int
fetch_cache_name(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	const struct cache *c = serving_cache(cx);

	sample_set_str(s, str_of(c ? cache_name(c) : ""));
	return 1;
}

const struct rule_fetch cache_fetches[] = {
	{ .name = "res.cache_hit", .needs = SAMPLE_AT_SERVER, .out = SAMPLE_BOOL,
		.fetch = fetch_cache_hit, .doc = "True if a cache has responded." },
	{ .name = "res.cache_name", .needs = SAMPLE_AT_SERVER, .out = SAMPLE_STR,
		.fetch = fetch_cache_name,
		.doc = "The name of the cache that has responded; empty if none has." },
	{ .name = NULL },
};
