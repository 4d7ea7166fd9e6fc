#ifndef TACIT_CFG_MISSING_H
#define TACIT_CFG_MISSING_H

#include "base/sbuf.h"

/*
 * The features of HAProxy that are not there, as a configuration asks for them. Each line that
 * needs one has a message of its own; which features these are, and what to use instead, is
 * reported once, behind all messages:
 *
 *   [ALERT]    (1234) : config : not supported here: stick tables (3 lines: 12, 14, 30), Lua (5)
 *      | instead of stick tables: ...
 *      | instead of Lua: ...
 */

#define MISSING_WORD(id, word)
#define MISSING(id, name, instead) CFG_MISSING_##id,
enum cfg_missing {
#include "cfg/missing.tbl.h"
	CFG_MISSING_COUNT
};
#undef MISSING
#undef MISSING_WORD

struct cfg_places;

/* The feature that is missing by a message "... 'NAME' is not supported ..." or "... 'NAME' is
 * known but not supported ...". The last word of NAME counts, too. CFG_MISSING_COUNT: none. */
enum cfg_missing cfg_missing_in(const char *message);

/* Writes "stick tables (3 lines: 12, 14, 30), Lua (5)". With `several` the files are named. */
void cfg_missing_list(const struct cfg_places *places, int several, struct sbuf *out);

const char *cfg_missing_name(enum cfg_missing m);
const char *cfg_missing_instead(enum cfg_missing m);

#endif
