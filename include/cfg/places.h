#ifndef TACIT_CFG_PLACES_H
#define TACIT_CFG_PLACES_H

/*
 * A set of configuration lines, sorted by file (in the order of reading) and line.
 */

enum { CFG_PLACES_MAX = 65536 };	/* lines in one set; more are dropped */

struct cfg_file;

/* A place. file == NULL: none. Lines and columns count from 1; col 0: whole line. */
struct cfg_where {
	const struct cfg_file *file;
	unsigned int line;
	unsigned int col;
};

struct cfg_places {
	struct cfg_where *at;
	unsigned int n, cap;
};

void cfg_places_fini(struct cfg_places *p);

/* A line that is in the set already keeps its column. A line for which there is no room or memory
 * is dropped. */
void cfg_places_add(struct cfg_places *p, const struct cfg_where *where);

int cfg_places_has(const struct cfg_places *p, const struct cfg_where *where);

#endif
