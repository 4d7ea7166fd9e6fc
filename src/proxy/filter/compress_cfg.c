/* Keywords of compression: `compression`, `filter compression`. Main thread, while the
 * configuration is read. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "proxy/filter/compress.h"
#include "proxy/filter/compress_conf.h"

/* The settings of p, made and appended if there are none: NULL without memory. */
static struct compress_conf *
compress_made(struct proxy *p)
{
	struct compress_conf *c = compress_of(p);

	if (c)
		return c;
	c = mem_zalloc(sizeof(*c));
	if (!c)
		return NULL;
	c->conf.kind = &compress_kind;
	filter_conf_add(&p->filters, &c->conf);
	return c;
}

int
compress_inherit(struct proxy *p, const struct proxy *defaults)
{
	const struct compress_conf *from = compress_of(defaults);
	struct compress_conf *c = from ? compress_made(p) : NULL;

	if (!from)
		return 0;
	if (!c)
		return -ERR_NOMEM;
	c->directions = from->directions;
	for (int side = 0; side < SIDES; side++) {
		const struct compress_side *a = &from->side[side];
		struct compress_side *b = &c->side[side];

		memcpy(b->algo, a->algo, sizeof(b->algo));
		b->is_ordered = a->is_ordered;
		b->n_algos = a->n_algos;
		b->min_size = a->min_size;
		for (unsigned int i = 0; i < a->n_types; i++, b->n_types++) {
			b->type[i] = mem_strdup(a->type[i]);
			if (!b->type[i])
				return -ERR_NOMEM;
		}
	}
	return 0;
}

static const struct cfg_enum algo_words[] = {
	{ "identity", ALGO_IDENTITY, "No compression; bodies stay as they are." },
	{ "gzip", ALGO_GZIP, "The format that all clients can read." },
	{ "deflate", ALGO_DEFLATE, "DEFLATE in the frame of zlib (RFC 1950)." },
	{ "raw-deflate", ALGO_RAW_DEFLATE, "DEFLATE without it, under the same name, as a few "
		"clients expect it." },
	{ "br", ALGO_BR, "Brotli at quality 3, of which a body has 768 kB while it is compressed. "
		"tacit only." },
	{ "zstd", ALGO_ZSTD, "Zstandard at level 1, with 288 kB a body. tacit only." },
	{ 0 },
};

/* The keyword's arg: the side. */
static int
parse_compress_algo(struct cfg_ctx *ctx)
{
	struct compress_conf *c = compress_made(ctx->obj);
	const struct coder *coder;
	struct compress_side *to;
	int algo;

	if (!c)
		return cfg_nomem(ctx);
	to = &c->side[ctx->kw->arg];
	for (int i = 0; i < ctx->argc; i++) {
		if (cfg_arg_enum(ctx, i, algo_words, &algo) < 0)
			return -1;
		if (to->n_algos == COMPRESS_ALGOS_MAX)
			return cfg_error(ctx, i, "'%s' : there are more than %d words.",
				cfg_kw_name(ctx), COMPRESS_ALGOS_MAX);
		coder = compress_algos[algo].coder;
		if (coder && !coder->memory)
			return cfg_error(ctx, i, "'%s' : '%s' is not built in: install %s and "
				"build tacit again.", cfg_kw_name(ctx), cfg_arg(ctx, i),
				coder->package);
		to->is_ordered |= coder != NULL;
		to->algo[to->n_algos++] = (uint8_t)algo;
	}
	return 0;
}

static int
parse_compress_type(struct cfg_ctx *ctx)
{
	struct compress_conf *c = compress_made(ctx->obj);
	struct compress_side *to;

	if (!c)
		return cfg_nomem(ctx);
	to = &c->side[ctx->kw->arg];
	for (int i = 0; i < ctx->argc; i++, to->n_types++) {
		if (to->n_types == COMPRESS_TYPES_MAX)
			return cfg_error(ctx, i, "'%s' : there are more than %d words.",
				cfg_kw_name(ctx), COMPRESS_TYPES_MAX);
		if (cfg_arg_dup(ctx, i, &to->type[to->n_types]) < 0)
			return -1;
	}
	return 0;
}

static int
parse_compress_minsize(struct cfg_ctx *ctx)
{
	struct compress_conf *c = compress_made(ctx->obj);

	return c ? cfg_arg_size(ctx, 0, 0, UINT32_MAX, &c->side[ctx->kw->arg].min_size)
		 : cfg_nomem(ctx);
}

static const struct cfg_enum direction_words[] = {
	{ "request", 1u << CLIENT, "Bodies of requests, by the first word of algo-req." },
	{ "response", 1u << SERVER, "Bodies of responses: the default." },
	{ "both", 1u << CLIENT | 1u << SERVER, "Both of them." },
	{ 0 },
};

static int
parse_compress_direction(struct cfg_ctx *ctx)
{
	struct compress_conf *c = compress_made(ctx->obj);
	int bits;

	if (!c)
		return cfg_nomem(ctx);
	if (cfg_arg_enum(ctx, 0, direction_words, &bits) < 0)
		return -1;
	c->directions = (unsigned int)bits;
	return 0;
}

static int
parse_compress_offload(struct cfg_ctx *ctx)
{
	struct compress_conf *c = compress_made(ctx->obj);

	if (!c)
		return cfg_nomem(ctx);
	c->offload = 1;
	return 0;
}

/* Places the filter here among the others. */
static int
parse_compress_filter(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct compress_conf *c = compress_made(p);
	struct filter_conf **at = &p->filters;

	if (!c)
		return cfg_nomem(ctx);
	while (*at != &c->conf)
		at = &(*at)->next;
	*at = c->conf.next;
	c->conf.next = NULL;
	filter_conf_add(&p->filters, &c->conf);
	return 0;
}

#define NOT_DEFAULTS (CFG_FRONTEND | CFG_LISTEN | CFG_BACKEND)
#define COMPRESSION(n, where, least, most, fn, from, text, words, otherwise, what, ...)         \
	{ .name = "compression " n, .sections = where, .min = least, .max = most, .parse = fn, \
		.arg = from, .syntax = text, .values = words, .dflt = otherwise,               \
		.doc = what, __VA_ARGS__ }
#define EXAMPLE                                                                                \
	.example = "compression algo gzip\n"                                                   \
		   "compression type text/ application/json application/javascript"

static const struct cfg_kw kws[] = {
	COMPRESSION("algo", CFG_PROXIES, 1, CFG_ANY, parse_compress_algo, SERVER, "<algorithm>...",
		algo_words, "none", "Compresses responses with one of these algorithms, if the "
		"client accepts it, the status is 200 to 203, both sides speak HTTP/1.1 or newer, "
		"the length is known or the body comes in chunks, and it is not encoded yet, nor "
		"multipart, nor forbidden by Cache-Control: no-transform. It is sent in chunks, "
		"with Vary: Accept-Encoding, and a strong ETag becomes a weak one.", EXAMPLE),
	COMPRESSION("algo-res", CFG_PROXIES, 1, CFG_ANY, parse_compress_algo, SERVER,
		"<algorithm>...", algo_words, "none", "As compression algo."),
	COMPRESSION("algo-req", CFG_PROXIES, 1, 1, parse_compress_algo, CLIENT, "<algorithm>",
		algo_words, "none", "The algorithm for bodies of requests."),
	COMPRESSION("type", CFG_PROXIES, 1, CFG_ANY, parse_compress_type, SERVER, "<type>...", NULL,
		"all types", "Compresses only responses whose Content-Type begins with one of "
		"these texts.", EXAMPLE),
	COMPRESSION("type-res", CFG_PROXIES, 1, CFG_ANY, parse_compress_type, SERVER,
		"<type>...", NULL, "all types", "As compression type."),
	COMPRESSION("type-req", CFG_PROXIES, 1, CFG_ANY, parse_compress_type, CLIENT,
		"<type>...", NULL, "all types", "Compresses only requests whose Content-Type "
		"begins with one of these texts."),
	COMPRESSION("minsize-res", CFG_PROXIES, 1, 1, parse_compress_minsize, SERVER,
		"<size>", NULL, "0", "Does not compress responses whose Content-Length is below "
		"this."),
	COMPRESSION("minsize-req", CFG_PROXIES, 1, 1, parse_compress_minsize, CLIENT,
		"<size>", NULL, "0", "Does not compress requests whose Content-Length is below "
		"this."),
	COMPRESSION("direction", CFG_PROXIES, 1, 1, parse_compress_direction, 0,
		"{request | response | both}", direction_words, "response",
		"Which messages are compressed."),
	COMPRESSION("offload", NOT_DEFAULTS, 0, 0, parse_compress_offload, 0, NULL, NULL, "not set",
		"Removes Accept-Encoding from requests whose response tacit will compress, so that "
		"servers do not."),
	{ .name = "filter compression", .sections = NOT_DEFAULTS, .parse = parse_compress_filter,
		.dflt = "the place of the first compression line",
		.doc = "Compresses here among the filters of the section: those before it see the "
		       "body as it is, those behind it the compressed bytes." },
	{ 0 },
};

const struct cfg_module compress_cfg_module = {
	.name = "compression",
	.kws = kws,
};
