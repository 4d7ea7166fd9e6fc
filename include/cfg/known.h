#ifndef TACIT_CFG_KNOWN_H
#define TACIT_CFG_KNOWN_H

#include <stdbool.h>

#include "cfg/registry.h"

/*
 * Every name of HAProxy's language, 2.6 to 3.x, that a file written for it may
 * hold. A name that no module registered but that stands here is "known but not
 * supported", which is another mistake than a misspelling. Pure tables.
 */

struct cfg_known_kw {
	const char *name;
	unsigned sections;
	const char *fix;	/* what to write instead, or NULL */
};

struct cfg_known_opt {
	const char *name;
	int args;		/* how many follow; -1: depends */
};

extern const struct cfg_known_kw cfg_known_kws[];	/* each table ends with a NULL name */
extern const struct cfg_known_opt *const cfg_known_opts[CFG_OPT_PLACES];
extern const char *const cfg_known_sections[];

/* The row exactly called `name`, or NULL. */
const struct cfg_known_kw *cfg_known_kw(const char *name);
const struct cfg_known_opt *cfg_known_opt(enum cfg_opt_place place, const char *name);
bool cfg_known_is_section(const char *name);

#endif
