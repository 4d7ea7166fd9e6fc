/* The features that a configuration asks for and that are not there. Constant data and pure
 * functions. */
#include "cfg/missing.h"

#include <string.h>

#include "base/compiler.h"
#include "cfg/diag.h"

enum {
	NAME_MAX_LEN = 128,	/* longer names belong to no feature */
	LINES_MAX = 12,		/* line numbers shown with a feature */
};

#define MISSING_WORD(id, word)
#define MISSING(id, name, instead) { name, instead },
static const struct {
	const char *name, *instead;
} features[CFG_MISSING_COUNT] = {
#include "cfg/missing.tbl.h"
};
#undef MISSING
#undef MISSING_WORD

#define MISSING_WORD(id, word) { word, CFG_MISSING_##id },
#define MISSING(id, name, instead)
static const struct {
	const char *word;
	enum cfg_missing feature;
} words[] = {
#include "cfg/missing.tbl.h"
};
#undef MISSING
#undef MISSING_WORD

const char *
cfg_missing_name(enum cfg_missing m)
{
	return features[m].name;
}

const char *
cfg_missing_instead(enum cfg_missing m)
{
	return features[m].instead;
}

static int
fits_word(const char *pattern, const char *word)
{
	size_t n = strcspn(pattern, "*");

	return strncmp(pattern, word, n) == 0 && (pattern[n] == '*' || word[n] == '\0');
}

/* The feature that this word of the language belongs to; CFG_MISSING_COUNT if there is none. */
static enum cfg_missing
find_missing_word(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (fits_word(words[i].word, word))
			return words[i].feature;
	return CFG_MISSING_COUNT;
}

/* Looks up what stands between quotes before `end`: all of it, then without its first words. */
static enum cfg_missing
find_quoted(const char *start, const char *end)
{
	enum cfg_missing m = CFG_MISSING_COUNT;
	char name[NAME_MAX_LEN];
	const char *from = end, *word;

	while (from > start && from[-1] != '\'')
		from--;
	if (from == start || (size_t)(end - from) >= sizeof(name))
		return m;
	memcpy(name, from, (size_t)(end - from));
	name[end - from] = '\0';
	for (word = name; word && m == CFG_MISSING_COUNT; word = strchr(word, ' ')) {
		word += *word == ' ';
		m = find_missing_word(word);
	}
	return m;
}

enum cfg_missing
cfg_missing_in(const char *message)
{
	static const char *const ends[] = { "' is not supported", "' is known but not supported" };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const char *at = strstr(message, ends[i]);
		enum cfg_missing m = at ? find_quoted(message, at) : CFG_MISSING_COUNT;

		if (m != CFG_MISSING_COUNT)
			return m;
	}
	return CFG_MISSING_COUNT;
}

static void
list_lines(const struct cfg_places *p, int several, struct sbuf *out)
{
	const struct cfg_file *file = NULL;

	if (p->n > 1)
		sbuf_addf(out, " (%u lines: ", p->n);
	else
		sbuf_adds(out, " (");
	for (unsigned int i = 0; i < p->n && i < LINES_MAX; i++) {
		sbuf_adds(out, i ? ", " : "");
		if (several && p->at[i].file != file)
			sbuf_addf(out, "%s:", p->at[i].file->name);
		file = p->at[i].file;
		sbuf_addf(out, "%u", p->at[i].line);
	}
	sbuf_adds(out, p->n > LINES_MAX ? ", ...)" : ")");
}

void
cfg_missing_list(const struct cfg_places *places, int several, struct sbuf *out)
{
	const char *comma = "";

	for (unsigned int m = 0; m < CFG_MISSING_COUNT; m++) {
		if (!places[m].n)
			continue;
		sbuf_addf(out, "%s%s", comma, features[m].name);
		list_lines(&places[m], several, out);
		comma = ", ";
	}
}
