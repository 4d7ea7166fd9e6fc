/* The nearest name, by edit distance. Pure; its cost is bounded by CFG_SUGGEST_MAX. */
#include "cfg/suggest.h"

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"

/* Computes an optimal string alignment with three rows; the strings are short. */
unsigned int
cfg_distance(const char *a, const char *b, unsigned int limit)
{
	unsigned int row[3][CFG_SUGGEST_MAX + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > CFG_SUGGEST_MAX || lb > CFG_SUGGEST_MAX)
		return limit + 1;
	if ((la > lb ? la - lb : lb - la) > limit)
		return limit + 1;
	for (size_t j = 0; j <= lb; j++)
		row[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned int *cur = row[i % 3], *prev = row[(i + 2) % 3], *prev2 = row[(i + 1) % 3];
		unsigned int least = cur[0] = (unsigned int)i;

		for (size_t j = 1; j <= lb; j++) {
			unsigned int d = prev[j - 1] + (a[i - 1] != b[j - 1]);

			d = MIN(d, prev[j] + 1);
			d = MIN(d, cur[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d = MIN(d, prev2[j - 2] + 1);
			cur[j] = d;
			least = MIN(least, d);
		}
		/* a transposition can still save one compared to the previous row */
		if (least > limit + 1)
			return limit + 1;
	}
	return MIN(row[la % 3][lb], limit + 1);
}

void
cfg_suggest_init(struct cfg_suggest *s, const char *given)
{
	size_t len = strlen(given);

	s->given = given;
	s->best = NULL;
	/* one more than the maximum distance */
	s->distance = (unsigned int)MIN(MAX(len / 3, (size_t)1), (size_t)4) + 1;
}

void
cfg_suggest_offer(struct cfg_suggest *s, const char *candidate)
{
	unsigned int d;

	/* a name that would be replaced completely is not near */
	if (s->distance == 0 || strlen(s->given) < 2)
		return;
	d = cfg_distance(s->given, candidate, s->distance - 1);
	if (d < s->distance && d < strlen(candidate)) {
		s->distance = d;
		s->best = candidate;
	}
}

const char *
cfg_word_oddity(const char *word)
{
	if (strncmp(word, "\xef\xbb\xbf", 3) == 0)
		return " It begins with a byte order mark: save the file without one.";
	if (strstr(word, "\xc2\xa0"))
		return " It contains a no-break space.";
	for (; *word; word++)
		if ((unsigned char)*word >= 0x80)
			return " It contains characters that are not ASCII.";
	return "";
}
