/* Keywords of compression: `compression`, `filter compression`, `filter comp-req` and `filter
 * comp-res`. Main thread, while the configuration is read. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "proxy/filter/compress.h"
#include "proxy/filter/compress_conf.h"

#define BOTH_SIDES (1u << CLIENT | 1u << SERVER)

/* Appends a place with these settings to the filters of p: NULL without memory. */
static struct compress_place *
add_place(struct proxy *p, struct compress_conf *c, unsigned int sides)
{
	struct compress_place *place = mem_zalloc(sizeof(*place));

	if (!place)
		return NULL;
	place->conf.kind = &compress_kind;
	place->conf.word = "compression";
	place->conf.alias[CLIENT] = "comp-req";
	place->conf.alias[SERVER] = "comp-res";
	place->conf.sides = (uint8_t)sides;
	place->of = c;
	c->n_places++;
	filter_conf_add(&p->filters, &place->conf);
	return place;
}

/* The settings of p, made with a place that no line `filter` has if there are none: NULL without
 * memory. */
static struct compress_conf *
compress_made(struct proxy *p)
{
	struct compress_conf *c = compress_of(p);
	struct compress_place *place;

	if (c)
		return c;
	c = mem_zalloc(sizeof(*c));
	if (!c)
		return NULL;
	place = add_place(p, c, BOTH_SIDES);
	if (!place) {
		mem_free(c);
		return NULL;
	}
	place->conf.implied = BOTH_SIDES;
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
	c->direction_where = from->direction_where;
	for (int side = 0; side < SIDES; side++) {
		const struct compress_side *a = &from->side[side];
		struct compress_side *b = &c->side[side];

		memcpy(b->algo, a->algo, sizeof(b->algo));
		b->is_ordered = a->is_ordered;
		b->n_algos = a->n_algos;
		b->has_min_size = a->has_min_size;
		b->min_size = a->min_size;
		for (unsigned int i = 0; i < a->n_types; i++, b->n_types++) {
			b->type[i] = mem_strdup(a->type[i]);
			if (!b->type[i])
				return -ERR_NOMEM;
		}
	}
	return 0;
}

/* The same for a line, whose place is noted if it is the section's first one. */
static struct compress_conf *
compress_here(struct cfg_ctx *ctx)
{
	struct compress_conf *c = compress_made(ctx->obj);

	if (c && !c->where.file)
		c->where = cfg_arg_where(ctx, -1);
	return c;
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
	struct compress_conf *c = compress_here(ctx);
	const struct coder *coder;
	struct compress_side *to;
	int algo;

	if (!c)
		return cfg_nomem(ctx);
	to = &c->side[ctx->kw->arg];
	if (!to->where.file)
		to->where = cfg_arg_where(ctx, -1);
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
	struct compress_conf *c = compress_here(ctx);
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
	struct compress_conf *c = compress_here(ctx);

	if (!c)
		return cfg_nomem(ctx);
	c->side[ctx->kw->arg].has_min_size = 1;
	return cfg_arg_size(ctx, 0, 0, UINT32_MAX, &c->side[ctx->kw->arg].min_size);
}

static const struct cfg_enum direction_words[] = {
	{ "request", 1u << CLIENT, "Bodies of requests, by the first word of algo-req." },
	{ "response", 1u << SERVER, "Bodies of responses: the default." },
	{ "both", BOTH_SIDES, "Both of them." },
	{ 0 },
};

static int
parse_compress_direction(struct cfg_ctx *ctx)
{
	struct compress_conf *c = compress_here(ctx);
	int bits;

	if (!c)
		return cfg_nomem(ctx);
	if (cfg_arg_enum(ctx, 0, direction_words, &bits) < 0)
		return -1;
	c->directions = (unsigned int)bits;
	c->direction_where = cfg_arg_where(ctx, -1);
	return 0;
}

static int
parse_compress_offload(struct cfg_ctx *ctx)
{
	struct compress_conf *c = compress_here(ctx);

	if (!c)
		return cfg_nomem(ctx);
	c->offload = 1;
	return 0;
}

/* Takes the implied place out of the filters of p: the filter of a line is to stand behind all
 * others. NULL: the section has lines of its own. */
static struct compress_place *
take_implied_place(struct proxy *p)
{
	struct compress_place *place = compress_place_of(p);
	struct filter_conf **at = &p->filters;

	if (!place->conf.implied)
		return NULL;
	while (*at != &place->conf)
		at = &(*at)->next;
	*at = place->conf.next;
	place->conf.next = NULL;
	place->conf.implied = 0;
	filter_conf_add(&p->filters, &place->conf);
	return place;
}

/* Reports a line before this one that compresses the same messages: -1, or 0: there is none. */
static int
check_places(struct cfg_ctx *ctx, const struct proxy *p, unsigned int sides)
{
	for (const struct filter_conf *conf = p->filters; conf; conf = conf->next)
		if (conf->kind == &compress_kind && !conf->implied && (conf->sides & sides))
			return cfg_error(ctx, -1, "'%s' : this section has 'filter %s' already.",
				cfg_kw_name(ctx), conf->word);
	return 0;
}

/* Places the filter here among the others. The keyword's arg: the sides. */
static int
parse_compress_filter(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct compress_conf *c = compress_here(ctx);
	unsigned int sides = (unsigned int)ctx->kw->arg;
	struct compress_place *place;

	if (!c)
		return cfg_nomem(ctx);
	if (check_places(ctx, p, sides) < 0)
		return -1;
	place = take_implied_place(p);
	if (!place)
		place = add_place(p, c, sides);
	if (!place)
		return cfg_nomem(ctx);
	place->conf.word = strchr(ctx->kw->name, ' ') + 1;
	place->conf.sides = (uint8_t)sides;
	if (sides != BOTH_SIDES)
		place->conf.alias[CLIENT] = place->conf.alias[SERVER] = NULL;
	c->split |= sides == BOTH_SIDES ? 0 : sides;
	return 0;
}

/* Notes algorithms of a side whose filter the section does not have. */
static void
note_unused_algos(const struct compress_conf *c, int side, struct cfg_diag *d)
{
	static const char *const lines[SIDES][2] = { [CLIENT] = { "algo-req", "comp-req" },
		[SERVER] = { "algo", "comp-res" } };

	if (c->side[side].where.file && c->split && !(c->split >> side & 1))
		cfg_diag_add(d, CFG_NOTICE, &c->side[side].where,
			"'compression %s' has no effect in this section without 'filter %s'.",
			lines[side][0], lines[side][1]);
}

void
compress_finish(struct proxy *p, struct cfg_diag *d)
{
	const struct compress_conf *c = compress_of(p);

	if (!c)
		return;
	if (c->where.file && p->mode == PROXY_TCP && !p->may_upgrade)
		cfg_diag_add(d, CFG_NOTICE, &c->where,
			"compression has no effect in mode tcp: it is for bodies of mode http.");
	if (c->split && c->directions && c->directions != c->split)
		cfg_diag_add(d, CFG_NOTICE, &c->direction_where,
			"'compression direction' has no effect beside 'filter comp-req' or "
			"'filter comp-res', which say it themselves.");
	for (int side = 0; side < SIDES; side++)
		/* Settings of a frontend or backend are for the filter of the other one, too. */
		if (p->caps == (PROXY_FE | PROXY_BE))
			note_unused_algos(c, side, d);
	compress_place_of(p)->conf.implied &= 1u << SERVER | c->directions;
}

#define NOT_DEFAULTS (CFG_FRONTEND | CFG_LISTEN | CFG_BACKEND)
#define COMPRESSION(n, where, least, most, fn, from, text, words, otherwise, what, ...)         \
	{ .name = "compression " n, .sections = where, .min = least, .max = most, .parse = fn, \
		.arg = from, .syntax = text, .values = words, .dflt = otherwise,               \
		.doc = what, __VA_ARGS__ }
#define COMPRESSION_EXAMPLE                                                                    \
	"compression algo gzip\ncompression type text/ application/json application/javascript"
#define EXAMPLE .example = COMPRESSION_EXAMPLE

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
		.arg = BOTH_SIDES, .dflt = "the place of the first compression line",
		.doc = "Compresses here among the filters of the section: those before it see the "
		       "body as it is, those behind it the compressed bytes. compression direction "
		       "says which messages it compresses." },
	{ .name = "filter comp-req", .sections = NOT_DEFAULTS, .parse = parse_compress_filter,
		.arg = 1u << CLIENT, .dflt = "none",
		.doc = "Compresses the bodies of requests here, by compression algo-req, whatever "
		       "compression direction says. Responses are compressed only with a line "
		       "filter comp-res, which may have another place.",
		.example = "filter comp-req\ncompression algo-req gzip" },
	{ .name = "filter comp-res", .sections = NOT_DEFAULTS, .parse = parse_compress_filter,
		.arg = 1u << SERVER, .dflt = "none",
		.doc = "Compresses the bodies of responses here, by compression algo. Requests are "
		       "compressed only with a line filter comp-req.",
		.example = "filter comp-res\n" COMPRESSION_EXAMPLE },
	{ 0 },
};

const struct cfg_module compress_cfg_module = {
	.name = "compression",
	.kws = kws,
};
