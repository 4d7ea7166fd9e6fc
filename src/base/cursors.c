/* Remembered places in lists. Runs under what guards the list; a place's item is in the list. */
#include "base/cursors.h"

void
cursors_put(struct cursors *cs, uint64_t after, struct list *next)
{
	unsigned int i = 0;

	while (i < CURSORS_MAX && cs->at[i].next)
		i++;
	if (i == CURSORS_MAX)
		i = cs->replaced++ % CURSORS_MAX;
	else
		cs->n++;
	cs->at[i].after = after;
	cs->at[i].next = next;
}

struct list *
cursors_take(struct cursors *cs, uint64_t after)
{
	for (unsigned int i = 0; i < CURSORS_MAX; i++) {
		struct list *next = cs->at[i].next;

		if (!next || cs->at[i].after != after)
			continue;
		cs->at[i].next = NULL;
		cs->n--;
		return next;
	}
	return NULL;
}

void
cursors_skip(struct cursors *cs, const struct list *item)
{
	for (unsigned int i = 0; i < CURSORS_MAX; i++)
		if (cs->at[i].next == item)
			cs->at[i].next = item->next;
}
