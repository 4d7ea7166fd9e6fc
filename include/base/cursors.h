/*
 * Where those who walk a list piece by piece go on, while its items come and go: the items have
 * numbers, in the order of the list, and a walk knows the last one that it has seen. A few places
 * are remembered beside that, so that nobody has to look for its own from the beginning; a place
 * that is not remembered any more is found by its number. What is in the list from the beginning
 * of a walk to its end is seen once; what comes or goes meanwhile, once or not at all. All zero
 * remembers nothing. Under whatever guards the list.
 */
#ifndef TACIT_BASE_CURSORS_H
#define TACIT_BASE_CURSORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

#define CURSORS_MAX 4 /* walks at a time that have a place */

struct cursors {
	struct {
		uint64_t after;    /* the number that was seen last */
		struct list *next; /* the item behind it, or the list's head; NULL: a free place */
	} at[CURSORS_MAX];
	unsigned int n;        /* in use */
	unsigned int replaced; /* the next one to go when all are */
};

/* A walk that has seen `after` goes on at `next`. */
void cursors_put(struct cursors *cs, uint64_t after, struct list *next);
/* Where it goes on, which is forgotten; NULL: nobody knows. */
struct list *cursors_take(struct cursors *cs, uint64_t after) must_check;
void cursors_skip(struct cursors *cs, const struct list *item);

/* Before an item leaves the list. */
static inline void
cursors_leave(struct cursors *cs, const struct list *item)
{
	if (unlikely(cs->n))
		cursors_skip(cs, item);
}

#endif
