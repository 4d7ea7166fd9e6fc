#ifndef TACIT_CFG_PLACES_H
#define TACIT_CFG_PLACES_H

#include <stdbool.h>

/*
 * A set of lines of configuration files, sorted by file and line. Files stand in the order in
 * which they were read.
 */

enum { CFG_PLACES_MAX = 65536 };	/* lines in one set; more are not kept */

struct cfg_file;

/* A place. file == NULL: none. Lines and columns count from 1; col 0: whole line. */
struct cfg_where {
	const struct cfg_file *file;
	unsigned line;
	unsigned col;
};

struct cfg_places {
	struct cfg_where *at;
	unsigned n, cap;
};

void cfg_places_fini(struct cfg_places *p);

/* A line that is in the set already keeps its column. What does not fit, or finds no memory, is
 * left out. */
void cfg_places_add(struct cfg_places *p, const struct cfg_where *where);

bool cfg_places_has(const struct cfg_places *p, const struct cfg_where *where);

#endif
