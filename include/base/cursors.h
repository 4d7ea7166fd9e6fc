/*
 * Cursors for walks over a list in several steps, while items are added and removed. Items have
 * ascending numbers in list order, and a walk knows the number of the last item that it has seen. A
 * few walks also have their position stored; a walk without one finds its position by the number.
 * An item that stays in the list during a whole walk is seen once; one that is added or removed
 * meanwhile is seen at most once. All zero is empty. Protected by the lock of the list.
 */
#ifndef TACIT_BASE_CURSORS_H
#define TACIT_BASE_CURSORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

#define CURSORS_MAX 4 /* concurrent walks with a stored position */

struct cursors {
	struct {
		uint64_t after;    /* number of the last item seen */
		struct list *next; /* the item after it, or the list head; NULL: free entry */
	} at[CURSORS_MAX];
	unsigned int n;        /* in use */
	unsigned int replaced; /* the entry to be replaced next when all are used */
};

/* Stores that a walk that has seen `after` continues at `next`. */
void cursors_put(struct cursors *cs, uint64_t after, struct list *next);
/* Takes the stored position out. NULL: not stored. */
struct list *cursors_take(struct cursors *cs, uint64_t after) must_check;
void cursors_skip(struct cursors *cs, const struct list *item);

/* Moves cursors off an item, before it is removed from the list. */
static inline void
cursors_leave(struct cursors *cs, const struct list *item)
{
	if (unlikely(cs->n))
		cursors_skip(cs, item);
}

#endif
