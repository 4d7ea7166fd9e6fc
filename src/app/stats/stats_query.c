/* What a request for the statistics asks for: ";csv", "?scope=name". Pure. */
#include "app/stats/stats_int.h"

/* Words may follow the prefix in any order, each behind one of these. */
static int
ends_word(char c)
{
	return c == ';' || c == '?' || c == '&';
}

static int
take_query_word(struct str word, struct stats_query *q)
{
	struct str scope = STR("scope=");

	if (str_is(word, STR("csv")))
		q->output = STATS_CSV;
	else if (word.len >= scope.len && str_is((struct str){ word.p, scope.len }, scope))
		q->scope = (struct str){ word.p + scope.len, word.len - scope.len };
	else
		return 0;
	return 1;
}

void
stats_query_parse(struct str target, struct str prefix, struct stats_query *out)
{
	size_t at = prefix.len;

	*out = (struct stats_query){ .output = STATS_HTML, .scope = STR("") };
	while (at < target.len) {
		size_t from = at;

		while (at < target.len && !ends_word(target.p[at]))
			at++;
		(void)take_query_word((struct str){ target.p + from, at - from }, out);
		at++;
	}
}
