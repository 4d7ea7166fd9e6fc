/*
 * Items by name: a hash table for the names in a configuration, which commands may change. Not for
 * keys that clients choose: the hash is not keyed (base/hash.h).
 */
#ifndef TACIT_BASE_NAME_INDEX_H
#define TACIT_BASE_NAME_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct name_slot {
	uint64_t hash;
	const char *name;
	void *item;             /* NULL: the slot is free */
};

/* All zeros: empty. */
struct name_index {
	struct name_slot *slot;
	uint32_t n, cap;        /* cap: a power of two */
};

void name_index_fini(struct name_index *x);
/* name and item are borrowed and must stay valid. A name may be added more than once. 0 or
 * -ERR_NOMEM. */
int name_index_add(struct name_index *x, const char *name, void *item) must_check;
/* Removes this item, if it is there under this name; other items of the name stay in order. */
void name_index_remove(struct name_index *x, const char *name, const void *item);
/* Checks that so many items can be added without memory: then *out is all zeros, else a copy that
 * has room for them, to be put in place of x by the caller. 0 or -ERR_NOMEM. */
int name_index_make_room(const struct name_index *x, uint32_t more, struct name_index *out)
	must_check;
/* The first item added under this name; NULL: none. */
void *name_index_find(const struct name_index *x, const char *name);

#endif
