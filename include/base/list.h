/* Intrusive doubly linked list. The head is a node too; an unlinked node points to itself. */
#ifndef TACIT_BASE_LIST_H
#define TACIT_BASE_LIST_H

#include "base/compiler.h"

struct list {
	struct list *next;
	struct list *prev;
};

static inline void
list_init(struct list *l)
{
	l->next = l;
	l->prev = l;
}

static inline int
list_is_empty(const struct list *l)
{
	return l->next == l;
}

static inline void
list_append(struct list *head, struct list *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

/* Safe on a node that is not linked. */
static inline void
list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

/* Moves all nodes behind those of another list; their order stays. */
static inline void
list_move_all(struct list *from, struct list *to)
{
	if (list_is_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#define list_entry(ptr, type, member) container_of(ptr, type, member)
#define list_first(head, type, member) list_entry((head)->next, type, member)

#define list_each(it, head) \
	for (struct list *it = (head)->next; it != (head); it = it->next)
static inline unsigned int
list_length(const struct list *head)
{
	unsigned int n = 0;

	list_each(it, head)
		n++;
	return n;
}

/* `it` may be removed inside. */
#define list_each_safe(it, head)                                                        \
	for (struct list *it = (head)->next, *it##_next = it->next; it != (head);      \
	     it = it##_next, it##_next = it->next)

#endif
