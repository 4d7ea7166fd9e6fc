/* Open addressing with linear probing, at most half full. Built by one thread while the
 * configuration is read; afterwards any may look names up. */
#include "base/name_index.h"

#include <string.h>

#include "base/err.h"
#include "base/keyhash.h"
#include "base/mem.h"

#define CAP_FIRST 2

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

/* Starts after a free slot, so that no run begins in its middle. */
static void
copy_slots(const struct name_index *x, struct name_slot *slots, uint32_t cap)
{
	uint32_t from = 0;

	while (from < x->cap && x->slot[from].item)
		from++;
	for (uint32_t i = 0; i < x->cap; i++) {
		const struct name_slot *old = &x->slot[(from + i) & (x->cap - 1)];

		if (old->item)
			put_slot(slots, cap, *old);
	}
}

static int
grow_table(struct name_index *x)
{
	uint32_t cap = x->cap ? 2 * x->cap : CAP_FIRST;
	struct name_slot *slots = mem_zalloc(cap * sizeof(*slots));

	if (!slots)
		return -ERR_NOMEM;
	copy_slots(x, slots, cap);
	mem_free(x->slot);
	x->slot = slots;
	x->cap = cap;
	return 0;
}

int
name_index_make_room(const struct name_index *x, uint32_t more, struct name_index *out)
{
	uint32_t cap = x->cap ? x->cap : CAP_FIRST;

	memset(out, 0, sizeof(*out));
	/* As name_index_add() checks it before the last one. */
	while (more && 2 * (x->n + more - 1) >= cap)
		cap *= 2;
	if (!more || cap == x->cap)
		return 0;
	out->slot = mem_zalloc(cap * sizeof(*out->slot));
	if (!out->slot)
		return -ERR_NOMEM;
	out->n = x->n;
	out->cap = cap;
	copy_slots(x, out->slot, cap);
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

/* Moves slots behind this free one up, if their items stand there only because other items were in
 * their place. */
static void
move_up_slots(struct name_index *x, uint32_t gap)
{
	uint32_t mask = x->cap - 1;

	for (uint32_t at = (gap + 1) & mask; x->slot[at].item; at = (at + 1) & mask) {
		uint32_t home = keyhash_slot(x->slot[at].hash, x->cap);

		/* Its way from home to where it is must pass the gap. */
		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		x->slot[gap] = x->slot[at];
		gap = at;
	}
	memset(&x->slot[gap], 0, sizeof(x->slot[gap]));
}

void
name_index_remove(struct name_index *x, const char *name, const void *item)
{
	uint64_t hash = hash_name(name);
	uint32_t at;

	if (!x->cap)
		return;
	for (at = keyhash_slot(hash, x->cap); x->slot[at].item; at = (at + 1) & (x->cap - 1)) {
		if (x->slot[at].item != item || x->slot[at].hash != hash ||
			strcmp(x->slot[at].name, name) != 0)
			continue;
		x->n--;
		move_up_slots(x, at);
		return;
	}
}
