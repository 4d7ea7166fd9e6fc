/* Keywords of balancing (manual 4.2: balance, hash-type, hash-balance-factor). */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "cfg/ctx.h"
#include "proxy/backend/balance.h"
#include "proxy/model/proxies.h"
#include "proxy/config/proxy_cfg.h"

/* Words that follow some of the algorithms. */
enum { WORD_WHOLE = BALANCE_RDP_COOKIE + 1, WORD_PATH_ONLY, WORD_LEN, WORD_DEPTH, WORD_CHECK_POST,
	WORD_DOMAIN_ONLY };

static const struct cfg_enum algorithms[] = {
	{ "roundrobin", BALANCE_ROUNDROBIN,
		"Each server in turn, as often as its weight says. Weights may "
		"change at run time." },
	{ "static-rr", BALANCE_STATIC_RR,
		"Each server in turn, as often as its weight says. At run time only "
		"the weights 0% and 100% can be set." },
	{ "leastconn", BALANCE_LEASTCONN,
		"The server with the fewest connections for its weight; among equals "
		"each in turn. For long connections." },
	{ "source", BALANCE_SOURCE,
		"A hash of the client's address: a client keeps its server while no "
		"server comes or goes." },
	{ "first", BALANCE_FIRST,
		"The first server, by id, that has a free slot (maxconn): the others "
		"stay idle." },
	{ "random[(<draws>)]", BALANCE_RANDOM,
		"Draws that many servers by weight, 2 if no number is given, "
		"and takes the one with the least load." },
	{ "uri", BALANCE_URI,
		"A hash of the path, in mode http: what is asked for again comes from the "
		"same cache." },
	{ "url_param <name>", BALANCE_URL_PARAM,
		"A hash of this parameter of the query, or of the body of a "
		"POST; without it roundrobin." },
	{ "hdr(<name>)", BALANCE_HDR, "A hash of this header field; without it roundrobin." },
	{ "hash <expression>", BALANCE_HASH,
		"A hash of what this expression gives; without a result "
		"roundrobin." },
	{ "rdp-cookie[(<name>)]", BALANCE_RDP_COOKIE,
		"A hash of the cookie that an RDP client begins with, "
		"mstshash if no name is given." },
	{ "whole", WORD_WHOLE, "With uri: the query counts, too." },
	{ "path-only", WORD_PATH_ONLY, "With uri: of an absolute target only the path counts." },
	{ "len <n>", WORD_LEN, "With uri: only the first n bytes count." },
	{ "depth <n>", WORD_DEPTH, "With uri: only the first n directories count." },
	{ "check_post", WORD_CHECK_POST, "With url_param: accepted; a body is searched anyway." },
	{ "use_domain_only", WORD_DOMAIN_ONLY,
		"With hdr: of a host name only the label before the last one "
		"counts." },
	{ 0 },
};

/* The argument of random(...): empty for the default, otherwise the number of draws. */
static int
parse_draws(struct cfg_ctx *ctx, const char *arg, unsigned int *out)
{
	struct cfg_value_err err;
	char text[32];
	size_t n = strlen(arg);
	int64_t v;

	if (n < 2 || n - 2 >= sizeof(text) || arg[n - 1] != ')')
		return cfg_error(ctx, 0, "'balance random' expects a number in parentheses.");
	if (n == 2)
		return 0;
	memcpy(text, arg + 1, n - 2);
	text[n - 2] = '\0';
	if (cfg_value_int(text, 1, BALANCE_DRAWS_MAX, &v, &err) < 0)
		return cfg_error(ctx, 0, "'balance random' : %s", err.text);
	*out = (unsigned int)v;
	return 0;
}

static int
report_unexpected(struct cfg_ctx *ctx, int i)
{
	return cfg_error(ctx, i, "'balance' cannot handle unexpected argument '%.60s'.",
		cfg_arg(ctx, i));
}

/* "uri [whole] [path-only] [len <n>] [depth <n>]" */
static int
parse_uri(struct cfg_ctx *ctx, struct balance_by *by)
{
	for (int i = 1; i < ctx->argc; i++) {
		int word = cfg_arg_word(ctx, i, algorithms),
		    takes = word == WORD_LEN || word == WORD_DEPTH, v = 0;

		if (takes && i + 1 == ctx->argc)
			return cfg_error(ctx, i, "'balance uri' : '%s' expects a number.",
				cfg_arg(ctx, i));
		if (takes && cfg_arg_int(ctx, i + 1, 1, BALANCE_URI_MAX, &v) < 0)
			return -1;
		if (word == WORD_WHOLE)
			by->whole = 1;
		else if (word == WORD_PATH_ONLY)
			by->path_only = 1;
		else if (word == WORD_LEN)
			by->len = (unsigned int)v;
		else if (word == WORD_DEPTH)
			by->depth = (unsigned int)v;
		else
			return report_unexpected(ctx, i);
		i += takes;
	}
	return 0;
}

/* "url_param <name> [check_post [<max_wait>]]" */
static int
parse_url_param(struct cfg_ctx *ctx, struct balance_by *by)
{
	int ignored;

	if (ctx->argc < 2)
		return cfg_error(ctx, 0, "'balance url_param' expects the name of a parameter.");
	/* The body of a POST is searched without it too. */
	if (ctx->argc > 2 && cfg_arg_word(ctx, 2, algorithms) != WORD_CHECK_POST)
		return report_unexpected(ctx, 2);
	/* The number of bytes to wait for was once configurable: it is the size of the buffer. */
	if (ctx->argc > 3 && cfg_arg_int(ctx, 3, 0, INT_MAX, &ignored) < 0)
		return -1;
	if (ctx->argc > 4)
		return report_unexpected(ctx, 4);
	return cfg_arg_dup(ctx, 1, &by->name);
}

/* Places where a backend computes a hash in either mode: balance_check() knows which one
 * applies. */
#define HASH_SCOPES (SAMPLE_AT_CONN | SAMPLE_AT_REQ | SAMPLE_AT_BACK)

/* "hash <expression>" */
static int
parse_hash(struct cfg_ctx *ctx, struct balance_by *by)
{
	const struct rule_vocab *v = &((const struct proxies *)ctx->root)->vocab;
	const char *text = cfg_arg(ctx, 1);
	struct rule_err why;
	size_t used;

	if (ctx->argc < 2)
		return cfg_error(ctx, 0, "'balance hash' expects an expression.");
	if (ctx->argc > 2)
		return report_unexpected(ctx, 2);
	by->where = cfg_arg_where(ctx, 1);
	if (rule_expr_parse(v, text, strlen(text), HASH_SCOPES, 0, &by->expr, &used, &why) == 0)
		return 0;
	by->where.col += (unsigned int)why.at;
	cfg_diag_add(ctx->diag, CFG_ALERT, &by->where, "'balance hash' : %s", why.text);
	return -1;
}

/* "hdr(<name>) [use_domain_only]" */
static int
parse_hdr(struct cfg_ctx *ctx, const char *paren, struct balance_by *by)
{
	size_t n = strlen(paren);

	if (n < 3 || paren[n - 1] != ')')
		return cfg_error(ctx, 0,
			"'balance hdr' expects the name of a header in parentheses.");
	if (ctx->argc > 1 && cfg_arg_word(ctx, 1, algorithms) != WORD_DOMAIN_ONLY)
		return report_unexpected(ctx, 1);
	if (ctx->argc > 2)
		return report_unexpected(ctx, 2);
	by->domain_only = ctx->argc > 1;
	by->name = mem_strndup(paren + 1, n - 2);
	return by->name ? 0 : cfg_nomem(ctx);
}

/* "rdp-cookie[(<name>)]" */
static int
parse_rdp_cookie(struct cfg_ctx *ctx, const char *paren, struct balance_by *by)
{
	size_t n = strlen(paren);

	if (n && (n < 3 || paren[n - 1] != ')'))
		return cfg_error(ctx, 0,
			"'balance rdp-cookie' expects the name of a cookie in parentheses.");
	by->name = n ? mem_strndup(paren + 1, n - 2) : mem_strdup("mstshash");
	return by->name ? 0 : cfg_nomem(ctx);
}

static int
parse_arguments(struct cfg_ctx *ctx, struct proxy *p, const char *paren)
{
	struct balance_by by = { .where = cfg_arg_where(ctx, 0) };
	int r = 0;

	balance_by_fini(&p->balance_by);
	p->balance_draws = BALANCE_DRAWS_DEFAULT;
	switch (p->balance) {
	case BALANCE_URI:
		r = parse_uri(ctx, &by);
		break;
	case BALANCE_URL_PARAM:
		r = parse_url_param(ctx, &by);
		break;
	case BALANCE_HDR:
		r = parse_hdr(ctx, paren, &by);
		break;
	case BALANCE_HASH:
		r = parse_hash(ctx, &by);
		break;
	case BALANCE_RDP_COOKIE:
		r = parse_rdp_cookie(ctx, paren, &by);
		break;
	case BALANCE_RANDOM:
		r = *paren ? parse_draws(ctx, paren, &p->balance_draws) : 0;
		break;
	case BALANCE_ROUNDROBIN:
	case BALANCE_STATIC_RR:
	case BALANCE_LEASTCONN:
	case BALANCE_SOURCE:
	case BALANCE_FIRST:
		break;
	}
	p->balance_by = by;
	if (r == 0 && ctx->argc > 1 && p->balance != BALANCE_HASH &&
		!balance_needs_http(p->balance))
		return report_unexpected(ctx, 1);
	return r;
}

static int
parse_balance(struct cfg_ctx *ctx)
{
	static const char *const others[] = { "sticky", "log-sticky", "log-hash" };
	struct proxy *p = ctx->obj;
	const char *arg = ctx->argc ? cfg_arg(ctx, 0) : "roundrobin";
	const struct cfg_enum *e;
	size_t n = strcspn(arg, "(");

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		if (strlen(others[i]) == n && strncmp(arg, others[i], n) == 0)
			return cfg_error(
				ctx, 0, "'balance %.*s' is not supported.", (int)n, arg);
	}
	e = cfg_enum_find(algorithms, arg, n);
	if (e && e->value <= BALANCE_RDP_COOKIE && (!arg[n] || strchr(e->name, '('))) {
		p->balance = (enum balance_algo)e->value;
		p->has_balance = 1;
		return parse_arguments(ctx, p, arg + n);
	}
	return cfg_error(ctx, 0,
		"'balance' : unknown algorithm '%.40s'; 'roundrobin', 'static-rr', 'leastconn', "
		"'source', 'first', 'random', 'uri', 'url_param', 'hdr', 'hash' and 'rdp-cookie' "
		"are supported",
		arg);
}

static const struct cfg_enum hash_methods[] = {
	{ "map-based", 0, "A table of servers, as long as the sum of the weights: when a "
		"server comes or goes most clients get another one, and at run time only the "
		"weights 0% and 100% can be set." },
	{ "consistent", 1, "A ring of servers: when a server comes or goes only its own share "
		"moves." },
	{ 0 },
};

static const struct cfg_enum hash_functions[] = {
	{ "sdbm", HASH_SDBM, "The function SDBM." },
	{ "djb2", HASH_DJB2, "The function DJB2." },
	{ "crc32", HASH_CRC32, "The function CRC32." },
	{ 0 },
};

static int
parse_hash_type(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct hash_type t = { .function = HASH_SDBM };
	int v;

	if (cfg_arg_enum(ctx, 0, hash_methods, &v) < 0)
		return -1;
	t.consistent = (uint8_t)v;
	/* Consistent hashing needs well-distributed bits: the default is sdbm with avalanche. */
	t.avalanche = t.consistent && ctx->argc == 1;
	if (ctx->argc > 1) {
		if (strcmp(cfg_arg(ctx, 1), "wt6") == 0 || strcmp(cfg_arg(ctx, 1), "none") == 0)
			return cfg_error(ctx, 1, "'hash-type' : function '%s' is not supported.",
				cfg_arg(ctx, 1));
		if (cfg_arg_enum(ctx, 1, hash_functions, &v) < 0)
			return -1;
		t.function = (uint8_t)v;
	}
	if (ctx->argc > 2) {
		if (strcmp(cfg_arg(ctx, 2), "avalanche") != 0)
			return cfg_error(ctx, 2, "'hash-type' : unknown modifier '%.40s', "
				"'avalanche' is the only one", cfg_arg(ctx, 2));
		t.avalanche = 1;
	}
	p->hash_type = t;
	return 0;
}

static int
parse_factor(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	int v;

	if (cfg_arg_int(ctx, 0, 0, BALANCE_FACTOR_MAX, &v) < 0)
		return -1;
	if (v != 0 && v < BALANCE_FACTOR_MIN)
		return cfg_error(ctx, 0, "'hash-balance-factor' must be 0 or above 100.");
	p->hash_balance_factor = (unsigned int)v;
	return 0;
}

static const struct cfg_enum affinities[] = {
	{ "always", HASH_AFFINITY_ALWAYS, "Never uses another server than the one of the hash." },
	{ "maxconn", HASH_AFFINITY_CONN, "Passes over servers without a free slot." },
	{ "maxqueue", HASH_AFFINITY_QUEUE, "Passes over servers whose queue is full." },
	{ 0 },
};

static int
parse_affinity(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	int v;

	if (cfg_arg_enum(ctx, 0, affinities, &v) < 0)
		return -1;
	p->hash_affinity = (enum hash_affinity)v;
	return 0;
}

static int
parse_panic(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	int v;

	if (cfg_arg_int(ctx, 0, 0, 100, &v) < 0)
		return -1;
	p->panic_threshold = (unsigned int)v;
	return 0;
}

static const struct cfg_kw kws[] = {
	{ .name = "balance",
		.dflt = "roundrobin",
		.values = algorithms,
		.example = "balance leastconn\n"
			"balance uri depth 2\n"
			"balance hash req.hdr(x-user)",
		.once = "balance",
		.sections = CFG_BE,
		.max = CFG_ANY,
		.parse = parse_balance,
		.syntax = "roundrobin|static-rr|leastconn|source|first|random[(<draws>)]|"
			  "uri [whole] [path-only] [len <n>] [depth <n>]|"
			  "url_param <name> [check_post]|"
			  "hdr(<name>) [use_domain_only]|hash <expression>|"
			  "rdp-cookie[(<name>)]",
		.doc = "How a server is selected for a session that no cookie, persistence or "
			"rule binds to one." },
	{ .name = "hash-type",
		.dflt = "map-based sdbm",
		.values = hash_methods,
		.once = "hash-type",
		.sections = CFG_BE,
		.min = 1,
		.max = 3,
		.parse = parse_hash_type,
		.syntax = "map-based|consistent [sdbm|djb2|crc32 [avalanche]]",
		.doc = "How a hash is mapped to a server, and which function makes it: sdbm, "
			"djb2 or crc32. The word avalanche mixes the result once more; a "
			"consistent hash without a function is sdbm with avalanche. With the "
			"same servers, weights and ids the server is the one that HAProxy 2.6 "
			"selects." },
	{ .name = "hash-balance-factor",
		.dflt = "0",
		.sections = CFG_DEFAULTS | CFG_BACKEND | CFG_LISTEN,
		.min = 1,
		.max = 1,
		.parse = parse_factor,
		.syntax = "<percent>",
		.doc = "Limits each server's load to this percentage of its share of the sessions, "
			"with consistent hashing and balance random; 0 sets no limit." },
	{ .name = "hash-preserve-affinity",
		.dflt = "maxqueue",
		.values = affinities,
		.sections = CFG_BE,
		.min = 1,
		.max = 1,
		.parse = parse_affinity,
		.syntax = "{always | maxconn | maxqueue}",
		.doc = "With consistent hashing: which servers are passed over for the next one "
			"on the ring." },
	{ .name = "balance-panic-threshold",
		.dflt = "0, which is off",
		.sections = CFG_DEFAULTS | CFG_BACKEND | CFG_LISTEN,
		.min = 1,
		.max = 1,
		.parse = parse_panic,
		.syntax = "<percent>",
		.doc = "While fewer than this percentage of the servers are up, sessions also "
			"go to those that are down. HAProxy does not have this keyword." },
	{ 0 },
};

const struct cfg_module balance_cfg_module = {
	.name = "balance",
	.kws = kws,
};
