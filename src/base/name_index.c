/* Open addressing with linear probing, at most half full. Built by one thread while the
 * configuration is read; afterwards any may look names up. */
#include "base/name_index.h"

#include <string.h>

#include "base/err.h"
#include "base/keyhash.h"
#include "base/mem.h"

#define CAP_FIRST 16

static uint64_t
hash_name(const char *name)
{
	return keyhash(&keyhash_known, name, strlen(name));
}

/* Items with the same name stay in order: slots are filled from left to right. */
static void
put_slot(struct name_slot *slots, uint32_t cap, struct name_slot what)
{
	uint32_t at = keyhash_slot(what.hash, cap);

	while (slots[at].item)
		at = (at + 1) & (cap - 1);
	slots[at] = what;
}

static int
grow_table(struct name_index *x)
{
	uint32_t cap = x->cap ? 2 * x->cap : CAP_FIRST, from = 0;
	struct name_slot *slots = mem_zalloc(cap * sizeof(*slots));

	if (!slots)
		return -ERR_NOMEM;
	/* Starts after a free slot, so that no run begins in its middle. */
	while (from < x->cap && x->slot[from].item)
		from++;
	for (uint32_t i = 0; i < x->cap; i++) {
		const struct name_slot *old = &x->slot[(from + i) & (x->cap - 1)];

		if (old->item)
			put_slot(slots, cap, *old);
	}
	mem_free(x->slot);
	x->slot = slots;
	x->cap = cap;
	return 0;
}

void
name_index_fini(struct name_index *x)
{
	mem_free(x->slot);
	memset(x, 0, sizeof(*x));
}

int
name_index_add(struct name_index *x, const char *name, void *item)
{
	if (2 * x->n >= x->cap && grow_table(x) < 0)
		return -ERR_NOMEM;
	put_slot(x->slot, x->cap, (struct name_slot){ hash_name(name), name, item });
	x->n++;
	return 0;
}

void *
name_index_find(const struct name_index *x, const char *name)
{
	uint64_t hash;
	uint32_t at;

	if (!x->cap)
		return NULL;
	hash = hash_name(name);
	for (at = keyhash_slot(hash, x->cap); x->slot[at].item; at = (at + 1) & (x->cap - 1))
		if (x->slot[at].hash == hash && strcmp(x->slot[at].name, name) == 0)
			break;
	return x->slot[at].item;
}
