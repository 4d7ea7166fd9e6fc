#ifndef TACIT_CFG_SUGGEST_H
#define TACIT_CFG_SUGGEST_H

/*
 * The nearest of several candidates, by edit distance with transpositions. Names longer than
 * CFG_SUGGEST_MAX are never suggested.
 */

enum { CFG_SUGGEST_MAX = 63 };

struct cfg_suggest {
	const char *given;
	const char *best;	/* NULL: none within a third of the length, at most 4 */
	unsigned int distance;
};

void cfg_suggest_init(struct cfg_suggest *s, const char *given);
void cfg_suggest_offer(struct cfg_suggest *s, const char *candidate);

/* Edit distance, at most `limit` + 1. */
unsigned int cfg_distance(const char *a, const char *b, unsigned int limit);

/* Describes invisible bytes in an unknown word, as a sentence behind a blank: "", a byte order
 * mark, a no-break space, or other bytes that are not ASCII. No keyword has one. */
const char *cfg_word_oddity(const char *word);

#endif
