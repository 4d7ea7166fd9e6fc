#ifndef TACIT_CFG_KNOWN_H
#define TACIT_CFG_KNOWN_H

#include "cfg/registry.h"

/*
 * All names of HAProxy's language, 2.6 to 3.x. A name that is not registered but listed here is
 * reported as "known but not supported", not as a misspelling. Tables only.
 */

struct cfg_known_kw {
	const char *name;
	unsigned int sections;
	const char *removed;	/* the version of HAProxy that removed it, or NULL */
	const char *fix;	/* suggested replacement, or NULL */
};

struct cfg_known_opt {
	const char *name;
	int args;		/* number of arguments; -1: variable */
};

extern const struct cfg_known_kw cfg_known_kws[];	/* each table ends with a NULL name */
extern const struct cfg_known_opt *const cfg_known_opts[CFG_OPT_PLACES];
extern const char *const cfg_known_sections[];

/* The row with this exact name, or NULL. */
const struct cfg_known_kw *cfg_known_kw(const char *name);
const struct cfg_known_opt *cfg_known_opt(enum cfg_opt_place place, const char *name);
int cfg_known_is_section(const char *name);
/* Returns what to use instead of an option, an action, a fetch, a converter or a section that is
 * not supported, for its message, or NULL: the feature that it belongs to has the text. */
const char *cfg_known_instead(const char *name);
/* The same, or the text of that feature. */
const char *cfg_known_advice(const char *name);

#endif
