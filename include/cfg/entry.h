/*
 * Entries of the manual: a word of the language with its arguments and its meaning. The tables of
 * keywords and of rules make them; tacit.cfg(5) and --explain print them.
 */
#ifndef TACIT_CFG_ENTRY_H
#define TACIT_CFG_ENTRY_H

#include "base/sbuf.h"
#include "cfg/value.h"

struct cfg_entry {
	const char *heading;		/* the section of the page */
	const char *intro;		/* text below the heading, roff; NULL: none */
	const char *name;
	const char *syntax;		/* the arguments; NULL: none */
	int in_parens;			/* they stand in parentheses */
	int is_hint;			/* accepted without effect */
	const char *doc;
	const struct cfg_enum *values;	/* words that may be arguments; NULL: none */
	const char *dflt;		/* NULL: none is shown */
	const char *answer;		/* of a command; NULL: none */
	const char *place;		/* where it may stand, or its types */
	const char *example;		/* lines; NULL: none */
};

typedef void cfg_entry_fn(void *arg, const struct cfg_entry *e);

/* Appends the entry in roff; the heading where it is another than *heading. */
void cfg_entry_man(struct sbuf *out, const struct cfg_entry *e, const char **heading);
/* Appends the entry as text for a terminal of 80 columns. */
void cfg_entry_text(struct sbuf *out, const struct cfg_entry *e);

/* True if one of the patterns of fnmatch(3), which commas separate, is for the name. */
int cfg_entry_is_listed(const char *patterns, const char *name);

#endif
