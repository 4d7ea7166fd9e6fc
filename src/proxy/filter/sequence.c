/* `filter-sequence`. Main thread, while the configuration is read. */
#include "proxy/filter/sequence.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cfg/ctx.h"
#include "cfg/suggest.h"
#include "proxy/model/filter.h"
#include "proxy/model/proxy.h"

static const struct cfg_enum direction_words[] = {
	{ "request", CLIENT, "What clients send to servers." },
	{ "response", SERVER, "What servers, or a cache, send to clients." },
	{ 0 },
};

static int
parse_sequence(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct filter_sequence *q;
	int side;

	if (cfg_arg_enum(ctx, 0, direction_words, &side) < 0)
		return -1;
	if (p->sequence[side])
		return cfg_error(ctx, 0, "'filter-sequence' : '%s' has an order already: write all "
			"names in one line.", cfg_arg(ctx, 0));
	q = mem_zalloc(sizeof(*q));
	if (!q)
		return cfg_nomem(ctx);
	p->sequence[side] = q;
	q->where = cfg_arg_where(ctx, 1);
	return cfg_arg_dup(ctx, 1, &q->names);
}

/* --- the configuration is complete --- */

/* A name of a sequence is looked up. */
struct search {
	struct proxy *p;
	int side;
	struct cfg_diag *d;
	struct cfg_where where;   /* of the name */
	const char *name;
	struct filter_conf **end; /* where the next filter is put */
};

/* True if the name is the word behind `filter`, or the filter's own. */
static int
has_filter_name(const struct filter_conf *c, const struct search *x)
{
	return c->word && (strcmp(c->word, x->name) == 0 ||
		(c->alias[x->side] && strcmp(c->alias[x->side], x->name) == 0) ||
		(c->name && strcmp(c->name, x->name) == 0));
}

/* Reports a name whose filter a name before it has taken. */
static int
report_twice(struct search *x, const struct filter_conf *taken)
{
	if (taken->name && strcmp(taken->name, x->name) == 0)
		cfg_diag_add(x->d, CFG_ALERT, &x->where,
			"'filter-sequence' : '%.60s' is given twice; its word '%s' counts, too.",
			x->name, taken->word);
	else
		cfg_diag_add(x->d, CFG_ALERT, &x->where,
			"'filter-sequence' : '%.60s' is given twice.", x->name);
	return -1;
}

/* Reports a name that no filter has. Its line may have been refused. */
static int
report_absent(struct search *x)
{
	static const char *const words[] = { "bwlim-in", "bwlim-out", "cache", "comp-req",
		"comp-res", "compression", "spoe" };
	struct cfg_suggest near;

	if (x->p->errors_read)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strcmp(words[i], x->name) != 0)
			continue;
		cfg_diag_add(x->d, CFG_ALERT, &x->where,
			"'filter-sequence' : there is no filter '%s' in this section: add a line "
			"'filter %s', or leave the name out.", words[i], words[i]);
		return -1;
	}
	cfg_suggest_init(&near, x->name);
	for (const struct filter_conf *c = x->p->filters; c; c = c->next) {
		if (c->word)
			cfg_suggest_offer(&near, c->word);
		if (c->name)
			cfg_suggest_offer(&near, c->name);
	}
	cfg_diag_add(x->d, CFG_ALERT, &x->where,
		"'filter-sequence' : there is no filter '%.60s' in this section%s%s%s", x->name,
		near.best ? "; did you mean '" : "", near.best ? near.best : "",
		near.best ? "'?" : ".");
	return -1;
}

/* Takes the filters of this name that are not taken yet. 0, or -1 after an error. */
static int
take_filters(struct search *x)
{
	const struct filter_conf *taken = NULL;
	int n = 0;

	if (!*x->name) {
		cfg_diag_add(x->d, CFG_ALERT, &x->where,
			"'filter-sequence' : a name is missing beside the comma.");
		return -1;
	}
	for (struct filter_conf *c = x->p->filters; c; c = c->next) {
		if (!has_filter_name(c, x))
			continue;
		if (filter_conf_runs(c, x->side)) {
			taken = c;
			continue;
		}
		if (!(c->sides >> x->side & 1))
			cfg_diag_add(x->d, CFG_NOTICE, &x->where,
				"'filter-sequence %s' : '%.60s' does nothing with %ss.",
				direction_words[x->side].name, x->name,
				direction_words[x->side].name);
		c->left_out &= (uint8_t)~(1u << x->side);
		*x->end = c;
		x->end = &c->after[x->side];
		n++;
	}
	if (n)
		return 0;
	if (!taken)
		return report_absent(x);
	return report_twice(x, taken);
}

/* Warns of a filter that is left out and has no line: other lines need it. */
static void
warn_left_out(const struct proxy *p, int side, struct cfg_diag *d)
{
	for (const struct filter_conf *c = p->filters; c; c = c->next)
		if (!filter_conf_runs(c, side) && c->implied >> side & 1)
			cfg_diag_add(d, CFG_WARNING, &p->sequence[side]->where,
				"'filter-sequence %s' : it leaves out '%s', which lines of this "
				"section use: add the name, or remove those lines.",
				direction_words[side].name, c->word);
}

/* Puts the filters of options behind the others. */
static void
take_options(struct search *x)
{
	for (struct filter_conf *c = x->p->filters; c; c = c->next)
		if (!c->word) {
			*x->end = c;
			x->end = &c->after[x->side];
		}
	*x->end = NULL;
}

static int
finish_sequence(struct proxy *p, int side, struct cfg_diag *d)
{
	struct filter_sequence *q = p->sequence[side];
	struct search x = { .p = p, .side = side, .d = d, .where = q->where, .end = &q->first };
	char *name = q->names, *comma;
	int r = 0;

	for (struct filter_conf *c = p->filters; c; c = c->next)
		if (c->word)
			c->left_out |= (uint8_t)(1u << side);
	do {
		comma = strchr(name, ',');
		if (comma)
			*comma = '\0';
		x.where.col = q->where.col + (unsigned int)(name - q->names);
		x.name = name;
		r |= take_filters(&x);
		name = comma + 1;
	} while (comma);
	take_options(&x);
	if (r == 0)
		warn_left_out(p, side, d);
	return r;
}

int
filter_sequences_finish(struct proxy *p, struct cfg_diag *d)
{
	int r = 0;

	for (int side = 0; side < SIDES; side++)
		/* Without names its line was refused. */
		if (p->sequence[side] && p->sequence[side]->names)
			r |= finish_sequence(p, side, d);
	return r;
}

static const struct cfg_kw kws[] = {
	{ .name = "filter-sequence", .sections = CFG_FRONTEND | CFG_LISTEN | CFG_BACKEND, .min = 2,
		.max = 2, .parse = parse_sequence,
		.syntax = "{request | response} <filter>[,<filter>...]",
		.values = direction_words, .dflt = "the order of the lines filter",
		.doc = "The order in which the filters of the section run in that direction. A "
		       "filter is named by the word behind filter, such as comp-res, which stands "
		       "for all filters of that word that are not named before it, or by its own "
		       "name, as bwlim-out has one. A filter that is left out does not run in that "
		       "direction: so it can be disabled without its lines being removed. Of spoe "
		       "it is the order of events; a cache has to be before compression.",
		.example = "filter comp-res\n"
			   "filter bwlim-out slow default-limit 100k default-period 1s\n"
			   "filter-sequence response bwlim-out,comp-res\n"
			   "compression algo gzip\n"
			   "http-request set-bandwidth-limit slow" },
	{ 0 },
};

const struct cfg_module sequence_cfg_module = {
	.name = "filter-sequence",
	.kws = kws,
};
