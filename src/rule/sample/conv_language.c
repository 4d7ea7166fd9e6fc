/* The converter language (manual 7.3.1): which of ours an Accept-Language field prefers
 * (RFC 9110, 12.5.4). */
#include "rule/sample/conv.h"

/* Splits at the next `sep`. *rest is the text after it. */
static struct str
cut_at(struct str *rest, char sep)
{
	const char *end = memchr(rest->p, sep, rest->len);
	struct str word = { rest->p, end ? (size_t)(end - rest->p) : rest->len };
	size_t n = word.len + (end != NULL);

	*rest = (struct str){ rest->p + n, rest->len - n };
	return str_trim(word);
}

/* "q=0.5" in thousandths, 1000 if missing, 0 if invalid. */
static int
weight_of(struct str params)
{
	while (params.len > 0) {
		struct str p = cut_at(&params, ';');
		int q, unit = 100;

		if (p.len < 3 || (p.p[0] != 'q' && p.p[0] != 'Q') || p.p[1] != '=')
			continue;
		if (p.p[2] != '0' && p.p[2] != '1')
			return 0;
		q = (p.p[2] - '0') * 1000;
		for (size_t i = 4; i < p.len && p.p[i] >= '0' && p.p[i] <= '9'; i++, unit /= 10)
			q += (p.p[i] - '0') * unit;
		return MIN(q, 1000);
	}
	return 1000;
}

/* The entry of this language in our list, or one with p NULL. */
static struct str
find_language(struct str list, struct str lang)
{
	while (list.len > 0) {
		struct str x = cut_at(&list, ';');

		if (str_is(x, lang))
			return x;
	}
	return (struct str){ NULL, 0 };
}

static int
conv_language(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	struct str rest = s->u.str, best = { NULL, 0 };
	int best_q = 0;

	while (rest.len > 0) {
		struct str params = cut_at(&rest, ','), lang = { NULL, 0 }, ours;
		int q;

		if (params.len > 0)
			lang = cut_at(&params, ';');
		q = weight_of(params);
		if (lang.len == 0 || q <= best_q)
			continue;
		ours = find_language(a->arg[0].text, lang);
		if (!ours.p)
			ours = find_language(a->arg[0].text, cut_at(&lang, '-'));
		if (ours.p) {
			best = ours;
			best_q = q;
		}
	}
	if (!best.p && a->n > 1)
		best = a->arg[1].text;
	if (!best.p)
		return 0;
	sample_set_str(s, best);
	return 1;
}

const struct rule_conv rule_language_convs[] = {
	{ .name = "language",
		.arg = { ARG_ENUM, ARG_STR },
		.in = SAMPLE_STR,
		.out = SAMPLE_STR,
		.conv = conv_language,
		.syntax = "[<lang>[;<lang>...]][,<default>]",
		.doc = "The one of these languages that an Accept-Language field prefers." },
	{ .name = NULL },
};
