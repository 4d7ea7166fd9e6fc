/* Limits of bandwidth. Read on the main thread; a filter runs on its stream's worker, and the
 * entries of tables are shared with others. */
#include "proxy/filter/bwlim.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pace.h"
#include "cfg/ctx.h"
#include "proxy/model/filter.h"
#include "proxy/model/proxies.h"
#include "proxy/sample/table_word.h"
#include "rule/action/act.h"
#include "rule/sample/args.h"
#include "table/table.h"

/* The interval at which a stream reads the bytes that are left in its shared entry. In each
 * interval its part of them passes. */
#define SHARED_PIECE_MS 10u

struct bwlim_conf {
	struct filter_conf conf;
	struct cfg_where where;
	int side;               /* that sends the limited bytes */
	uint32_t limit;         /* bytes in a period; 0: not set */
	uint32_t period_ms;     /* of a table's rate, once that is known; 0: not set */
	uint32_t min_size;
	struct rule_expr *key;  /* of a shared one; NULL: it is per stream */
	char *table_name;       /* NULL: of the proxy's own table */
	struct table *table;
};

struct bwlim {
	struct filter f;
	struct pace pace;
	uint32_t limit, period_ms; /* as the rule has set them */
	int has_begun;
	struct table_entry *entry; /* of a shared one */
};

static const struct bwlim_conf *
bwlim_conf_of(const struct filter *f)
{
	return (const struct bwlim_conf *)f->conf;
}

/* --- shared: the rate of an entry --- */

static enum table_data
rate_of(const struct bwlim_conf *c)
{
	return c->side == CLIENT ? TABLE_BYTES_IN_RATE : TABLE_BYTES_OUT_RATE;
}

/* Returns the bytes that all streams of the entry together may still pass in this period. */
static uint64_t
shared_left(const struct bwlim_conf *c, const struct table_entry *e, const struct table_caller *by)
{
	uint64_t rate = 0;

	(void)table_read(c->table, e, rate_of(c), 0, by, &rate);
	rate *= table_conf_of(c->table)->brates_factor;
	return rate < c->limit ? c->limit - rate : 0;
}

/* An equal part of what is left, as in HAProxy; nothing, before that is the stream's part of a
 * piece, or the min-size. */
static size_t
grant_shared(struct filter *f, struct stream *s, size_t n, uint64_t *wake_ms)
{
	const struct bwlim_conf *c = bwlim_conf_of(f);
	const struct bwlim *b = (const struct bwlim *)f;
	struct table_caller by = stream_table_caller(s);
	uint64_t left = shared_left(c, b->entry, &by), users = table_refs(b->entry) + 1ull;
	uint64_t piece = (uint64_t)c->limit * SHARED_PIECE_MS / c->period_ms / users;
	uint64_t need = MIN(MAX(MAX(piece, c->min_size), 1), MIN(c->limit, n));

	if (left < need) {
		uint64_t ms = (need - left) * c->period_ms / c->limit;

		*wake_ms = by.now_ms + MAX(ms, SHARED_PIECE_MS);
		return 0;
	}
	return (size_t)MIN(n, MAX(need, left / users));
}

/* --- the filter --- */

static enum filter_part
bwlim_begin(const struct filter_conf *conf, struct stream *s, int side,
	struct http_head *head unused)
{
	struct filter *f = filter_find(s, side, conf);
	struct bwlim *b = (struct bwlim *)f;

	if (!f)
		return FILTER_ABSENT;
	if (!b->has_begun && !b->entry)
		pace_init(&b->pace, b->limit, b->period_ms, bwlim_conf_of(f)->min_size,
			stream_now_ms(s));
	b->has_begun = 1;
	return FILTER_PASSES;
}

static size_t
bwlim_grant(struct filter *f, struct stream *s, size_t n, uint64_t *wake_ms)
{
	struct bwlim *b = (struct bwlim *)f;

	if (b->entry)
		return grant_shared(f, s, n, wake_ms);
	return pace_grant(&b->pace, n, stream_now_ms(s), wake_ms);
}

static void
bwlim_passed(struct filter *f, struct stream *s, const char *p unused, size_t n)
{
	const struct bwlim_conf *c = bwlim_conf_of(f);
	struct bwlim *b = (struct bwlim *)f;
	struct table_caller by = stream_table_caller(s);

	if (!b->entry) {
		pace_used(&b->pace, n);
		return;
	}
	(void)table_add(c->table, b->entry, rate_of(c), 0, &by, n);
	/* The next stream is to find these bytes, however long this one takes. */
	table_touch(c->table, b->entry, &by);
}

static void
bwlim_fini(struct filter *f)
{
	struct bwlim *b = (struct bwlim *)f;

	if (b->entry)
		table_unref(b->entry);
}

static void
bwlim_conf_free(struct filter_conf *conf)
{
	struct bwlim_conf *c = (struct bwlim_conf *)conf;

	mem_free(c->table_name);
	rule_expr_free(&c->key);
	mem_free(c);
}

static const struct filter_kind bwlim_kind = {
	.name = "bwlim",
	.size = sizeof(struct bwlim),
	.begin = bwlim_begin,
	.grant = bwlim_grant,
	.passed = bwlim_passed,
	.fini = bwlim_fini,
	.conf_free = bwlim_conf_free,
};

/* --- `filter` --- */

/* A key is evaluated by rules at any of these places; the rule knows which. */
static unsigned int
scopes_of_rules(void)
{
	return rule_place_scope(RULE_TCP_REQ_CONTENT) | rule_place_scope(RULE_TCP_RES_CONTENT) |
		rule_place_scope(RULE_HTTP_REQUEST) | rule_place_scope(RULE_HTTP_RESPONSE);
}

static int
take_bwlim_key(struct cfg_ctx *ctx, int i, struct rule_expr **out)
{
	const struct rule_vocab *v = &((const struct proxies *)ctx->root)->vocab;
	const char *text = cfg_arg(ctx, i);
	struct cfg_where where = cfg_arg_where(ctx, i);
	struct rule_err why;
	size_t used;

	rule_expr_free(out);
	if (rule_expr_parse(v, text, strlen(text), scopes_of_rules(), 0, out, &used, &why) == 0)
		return 0;
	where.col += (unsigned int)why.at;
	cfg_diag_add(ctx->diag, CFG_ALERT, &where, "'%s' : %s.", cfg_kw_name(ctx), why.text);
	return -1;
}

static int
take_bytes(struct cfg_ctx *ctx, int i, uint64_t min, uint32_t *out)
{
	uint64_t n = 0;

	if (cfg_arg_size(ctx, i, min, UINT32_MAX, &n) < 0)
		return -1;
	*out = (uint32_t)n;
	return 0;
}

static int
take_period(struct cfg_ctx *ctx, int i, uint32_t *out)
{
	uint64_t ms = 0;

	if (cfg_arg_time(ctx, i, CFG_UNIT_MS, 1, PACE_PERIOD_MAX_MS, &ms) < 0)
		return -1;
	*out = (uint32_t)ms;
	return 0;
}

enum word { DEFAULT_LIMIT, DEFAULT_PERIOD, LIMIT, KEY, TABLE, MIN_SIZE, WORDS };

static const struct cfg_enum bwlim_words[] = {
	{ "default-limit", DEFAULT_LIMIT,
		"Per stream: so many bytes pass in each period, unless the rule says otherwise." },
	{ "default-period", DEFAULT_PERIOD, "The period, in milliseconds without a unit." },
	{ "limit", LIMIT, "Shared: so many bytes pass in each period of the table's rate, in "
		"equal parts for the streams of an entry." },
	{ "key", KEY, "Shared: the key of the entry, such as src." },
	{ "table", TABLE, "Shared: the stick table; without it the section's own. It stores "
		"bytes_in_rate for bwlim-in, bytes_out_rate for bwlim-out." },
	{ "min-size", MIN_SIZE, "The least number of bytes that pass together, but for the last "
		"ones. Without it those of 50 ms." },
	{ 0 },
};

/* Sets what one word says. 0, or -1 after an error. */
static int
take_bwlim_word(struct cfg_ctx *ctx, int i, enum word w, struct bwlim_conf *c)
{
	switch (w) {
	case DEFAULT_LIMIT:
	case LIMIT:
		return take_bytes(ctx, i, 1, &c->limit);
	case DEFAULT_PERIOD:
		return take_period(ctx, i, &c->period_ms);
	case KEY:
		return take_bwlim_key(ctx, i, &c->key);
	case TABLE:
		return cfg_arg_dup(ctx, i, &c->table_name);
	case MIN_SIZE:
		return take_bytes(ctx, i, 0, &c->min_size);
	case WORDS:
		break;
	}
	return -1;
}

/* Reads the words; a bit for each one is set in *seen. 0, or -1 after an error. */
static int
take_bwlim_words(struct cfg_ctx *ctx, struct bwlim_conf *c, unsigned int *seen)
{
	for (int i = 1; i < ctx->argc; i += 2) {
		int w;

		if (cfg_arg_enum(ctx, i, bwlim_words, &w) < 0)
			return -1;
		if (i + 1 >= ctx->argc)
			return cfg_error(ctx, i, "'%s' : '%s' expects a value.", cfg_kw_name(ctx),
				cfg_arg(ctx, i));
		if (*seen & 1u << w)
			return cfg_error(ctx, i, "'%s' : '%s' is given twice.", cfg_kw_name(ctx),
				cfg_arg(ctx, i));
		*seen |= 1u << w;
		if (take_bwlim_word(ctx, i + 1, (enum word)w, c) < 0)
			return -1;
	}
	return 0;
}

#define SEEN(w) (1u << (w))
#define PER_STREAM (SEEN(DEFAULT_LIMIT) | SEEN(DEFAULT_PERIOD))
#define SHARED (SEEN(LIMIT) | SEEN(KEY))

static int
check_words(struct cfg_ctx *ctx, const struct bwlim_conf *c, unsigned int seen)
{
	const struct proxy *p = ctx->obj;
	int per_stream = (seen & PER_STREAM) == PER_STREAM;
	int shared = (seen & SHARED) == SHARED;

	if ((per_stream && (seen & (SHARED | SEEN(TABLE)))) || (shared && (seen & PER_STREAM)) ||
		(!per_stream && !shared))
		return cfg_error(ctx, 0, "'%s' : expects 'default-limit' and 'default-period' for "
			"a limit per stream, or 'limit' and 'key' for a shared one.",
			cfg_kw_name(ctx));
	if (filter_conf_find(p->filters, &bwlim_kind, c->conf.name))
		return cfg_error(ctx, 0, "'%s' : there is a filter '%s' already.",
			cfg_kw_name(ctx), c->conf.name);
	return 0;
}

/* The keyword's arg: the side that sends the bytes. */
static int
parse_bwlim(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct bwlim_conf *c = mem_zalloc(sizeof(*c));
	unsigned int seen = 0;

	if (!c)
		return cfg_nomem(ctx);
	c->conf.kind = &bwlim_kind;
	c->side = (int)ctx->kw->arg;
	c->conf.word = strchr(ctx->kw->name, ' ') + 1;
	c->conf.sides = (uint8_t)(1u << c->side);
	c->where = cfg_arg_where(ctx, 0);
	if (cfg_arg_dup(ctx, 0, &c->conf.name) < 0 || take_bwlim_words(ctx, c, &seen) < 0 ||
		check_words(ctx, c, seen) < 0) {
		filter_conf_free(&c->conf);
		return -1;
	}
	filter_conf_add(&p->filters, &c->conf);
	return 0;
}

static int
fail_filter(const struct bwlim_conf *c, struct cfg_diag *d, const char *what, const char *name)
{
	cfg_diag_add(d, CFG_ALERT, &c->where, "filter '%s' : %s '%s'.", c->conf.name, what, name);
	return -1;
}

/* 0, or -1 after an error. */
static int
finish_shared(struct bwlim_conf *c, struct proxy *p, struct proxies *ps, struct cfg_diag *d)
{
	const char *name = c->table_name ? c->table_name : p->name;
	const struct table_store *rate;
	struct rule_err why;

	if (rule_expr_check(c->key, ps, &why) < 0)
		return fail_filter(c, d, "wrong key:", why.text);
	c->table = proxies_find_table(ps, name);
	if (!c->table)
		return fail_filter(c, d, "there is no stick-table", name);
	if (!sample_can_cast(rule_expr_type(c->key), table_key_sample(c->table)))
		return fail_filter(c, d, "the key has another type than the stick-table", name);
	rate = &table_conf_of(c->table)->store[rate_of(c)];
	if (!rate->n)
		return fail_filter(c, d, c->side == CLIENT
			? "it needs bytes_in_rate in the stick-table"
			: "it needs bytes_out_rate in the stick-table", name);
	c->period_ms = MIN(rate->period_ms, PACE_PERIOD_MAX_MS);
	return 0;
}

int
bwlim_finish(struct proxy *p, struct proxies *ps, struct cfg_diag *d)
{
	int r = 0;

	for (struct filter_conf *conf = p->filters; conf; conf = conf->next) {
		struct bwlim_conf *c = (struct bwlim_conf *)conf;

		if (conf->kind == &bwlim_kind && c->key && finish_shared(c, p, ps, d) < 0)
			r = -1;
	}
	return r;
}

#define BWLIM(n, from, text)                                                                   \
	{                                                                                      \
		.name = n, .sections = CFG_FRONTEND | CFG_LISTEN | CFG_BACKEND, .min = 5,      \
		.max = CFG_ANY, .parse = parse_bwlim, .arg = from,                             \
		.syntax = "<name> {default-limit <size> default-period <time> | limit <size> " \
			  "key <expr> [table <table>]} [min-size <size>]",                     \
		.doc = text, .dflt = "none", .values = bwlim_words

static const struct cfg_kw kws[] = {
	BWLIM("filter bwlim-in", CLIENT,
		"Limits the bytes that are received from clients and sent to servers, in those "
		"streams for which a rule set-bandwidth-limit names it. In mode http the bodies "
		"of requests are limited, not their heads. Several filters apply together."),
		.example = "filter bwlim-in uploads default-limit 100k default-period 1s\n"
			   "http-request set-bandwidth-limit uploads" },
	BWLIM("filter bwlim-out", SERVER,
		"Limits the bytes that are received from servers and sent to clients, in those "
		"streams for which a rule set-bandwidth-limit names it. In mode http the bodies "
		"of responses are limited, not their heads. A stream that no rule limits is not "
		"slowed, and is spliced as without it."),
		.example = "filter bwlim-out each default-limit 1m default-period 1s\n"
			   "filter bwlim-out all limit 10m key src\n"
			   "stick-table type ip size 100k expire 1m store bytes_out_rate(1s)\n"
			   "http-request set-bandwidth-limit each\n"
			   "http-request set-bandwidth-limit all" },
	{ 0 },
};

const struct cfg_module bwlim_cfg_module = {
	.name = "bwlim",
	.kws = kws,
};

/* --- `set-bandwidth-limit` --- */

/* A rule's num[], 0: the filter's; its expr is the limit's. */
enum { AT_LIMIT, AT_PERIOD };

/* A rule's ref. */
struct bwlim_rule {
	const struct proxy *px;      /* that has the rule; until it is checked */
	const struct bwlim_conf *conf;
	struct rule_expr *period;
};

static void
free_rule(struct rule *r)
{
	struct bwlim_rule *x = r->ref;

	if (x)
		rule_expr_free(&x->period);
	mem_free(x);
}

static int
begins_with_digit(const char *word)
{
	return *word >= '0' && *word <= '9';
}

/* One of the two values, at argument arg. 0, or -1 after an error. */
static int
take_rule_value(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, int is_limit)
{
	struct bwlim_rule *x = r->ref;
	uint32_t n = 0;
	int rc;

	if (!begins_with_digit(cfg_arg(ctx, arg)))
		return act_expr(r, v, ctx, arg, at, is_limit ? &r->expr : &x->period);
	rc = is_limit ? take_bytes(ctx, arg, 1, &n) : take_period(ctx, arg, &n);
	r->num[is_limit ? AT_LIMIT : AT_PERIOD] = n;
	return rc;
}

static int
parse_bandwidth(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	struct bwlim_rule *x = mem_zalloc(sizeof(*x));

	r->ref = x;
	if (!x)
		return cfg_nomem(ctx);
	x->px = ctx->obj;
	if (act_need(r, ctx, arg, 1) < 0 || act_text(ctx, arg, &r->text[0]) < 0)
		return -1;
	for (arg++; act_is(ctx, arg, "limit") || act_is(ctx, arg, "period"); arg += 2) {
		if (act_need(r, ctx, arg, 2) < 0 ||
			take_rule_value(r, v, ctx, arg + 1, at, act_is(ctx, arg, "limit")) < 0)
			return -1;
	}
	return arg;
}

static int
check_bandwidth(struct rule *r, void *root, struct rule_err *why)
{
	struct bwlim_rule *x = r->ref;
	const struct bwlim_conf *c = (struct bwlim_conf *)filter_conf_find(x->px->filters,
		&bwlim_kind, r->text[0].p);
	int is_request = r->place == RULE_TCP_REQ_CONTENT || r->place == RULE_HTTP_REQUEST;

	if (!c)
		return rule_fail(why, 0, -1, "there is no filter bwlim-in or bwlim-out '%.100s' in "
			"this section", r->text[0].p);
	if (c->side == CLIENT && !is_request)
		return rule_fail(why, 0, -1, "the request is on its way when this rule runs: "
			"enable '%.100s' in a rule of requests", c->conf.name);
	if (c->key && (r->expr || x->period || r->num[AT_LIMIT] || r->num[AT_PERIOD]))
		return rule_fail(why, 0, -1, "'%.100s' is shared: its limit and period are those "
			"of the filter and of the table", c->conf.name);
	if (c->key && !rule_expr_fits(c->key, rule_place_scope(r->place)))
		return rule_fail(why, 0, -1, "the key of '%.100s' is not known in this rule",
			c->conf.name);
	x->conf = c;
	return x->period ? rule_expr_check(x->period, root, why) : 0;
}

/* The value of the rule or of its expression; `otherwise` if that has none, or none in range. */
static uint32_t
rule_value(const struct rule_expr *e, int64_t n, uint32_t max, uint32_t otherwise,
	struct sample_ctx *cx)
{
	size_t mark = arena_mark(cx->arena);
	struct sample s;

	if (e) {
		n = rule_expr_eval_as(e, cx, SAMPLE_SINT, &s) == 1 ? s.u.sint : 0;
		arena_release(cx->arena, mark);
	}
	return n > 0 ? (uint32_t)MIN(n, (int64_t)max) : otherwise;
}

/* The entry of the key, with a reference, or NULL. 1: more data may give a key. */
static int
shared_entry(const struct bwlim_conf *c, struct sample_ctx *cx, struct table_entry **out)
{
	struct table_caller by = table_caller_of(cx);
	size_t mark = arena_mark(cx->arena);
	struct sample key;
	struct table_key k;
	int awaits = 0;

	*out = NULL;
	if (table_key_eval(c->table, c->key, cx, &key, &k))
		*out = table_get(c->table, &k, &by);
	else
		awaits = key.may_change && !cx->req_ended;
	arena_release(cx->arena, mark);
	return awaits;
}

/* Enables the filter for the stream. Without a key there is no limit, as in HAProxy. */
static enum rule_result
enable_shared(const struct rule *r, const struct bwlim_conf *c, struct sample_ctx *cx,
	struct stream *s)
{
	struct table_entry *e;
	struct bwlim *b;

	if (shared_entry(c, cx, &e) && r->place == RULE_TCP_REQ_CONTENT)
		return RULE_YIELD;
	if (!e)
		return RULE_CONT;
	b = (struct bwlim *)filter_get(s, c->side, &c->conf);
	if (!b || b->entry)
		table_unref(b ? b->entry : e);
	if (b)
		b->entry = e;
	return RULE_CONT;
}

/* The last rule that names a filter applies. */
static enum rule_result
run_bandwidth(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	const struct bwlim_rule *x = r->ref;
	const struct bwlim_conf *c = x->conf;
	struct bwlim *b;

	if (!filter_conf_runs(&c->conf, c->side))
		return RULE_CONT;
	if (c->key)
		return enable_shared(r, c, cx, out->proxy);
	b = (struct bwlim *)filter_get(out->proxy, c->side, &c->conf);
	if (!b)
		return RULE_CONT;
	b->limit = rule_value(r->expr, r->num[AT_LIMIT], UINT32_MAX, c->limit, cx);
	b->period_ms = rule_value(x->period, r->num[AT_PERIOD], PACE_PERIOD_MAX_MS, c->period_ms,
		cx);
	return RULE_CONT;
}

const struct rule_action bwlim_actions[] = {
	{ .name = "set-bandwidth-limit",
		.places = RULE_IN(TCP_REQ_CONTENT) | RULE_IN(TCP_RES_CONTENT) |
			RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE),
		.parse = parse_bandwidth,
		.run = run_bandwidth,
		.free = free_rule,
		.check = check_bandwidth,
		.syntax = "<filter> [limit {<size> | <expr>}] [period {<time> | <expr>}]",
		.doc = "Enables a filter bwlim-in or bwlim-out of the section for the stream. "
		       "limit and period replace those of a filter per stream; an expression "
		       "without a value, or with one below 1, leaves them. The last rule that "
		       "names a filter applies.",
		.example = "filter bwlim-out each default-limit 1m default-period 1s\n"
			   "http-request set-bandwidth-limit each limit 100k if { path_beg "
			   "/download/ }" },
	{ .name = NULL },
};
