/* Slots of changed entries. Under the guard of the ref, or while the workers are paused. A slot is
 * complete before its kind is written, and free before another entry gets it. */
#include "rule/match/pattern_kept.h"

#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"

enum { FIRST_CHUNK = 4096, CHUNK = 65536 };

int
pattern_kept_begin(struct pattern_ref *ref, struct memfile *file, uint32_t kind)
{
	ref->kept = mem_zalloc(sizeof(*ref->kept));
	if (!ref->kept)
		return -ERR_NOMEM;
	ref->kept->file = file;
	ref->kept->kind = kind;
	return 0;
}

/* --- memory --- */

static int
add_chunk(struct pattern_ref *ref, size_t size)
{
	struct pattern_kept *k = ref->kept;
	struct pattern_kept_head *head;

	size = MAX(size + sizeof(*head), (size_t)(k->head ? CHUNK : FIRST_CHUNK));
	head = memfile_add(k->file, k->kind, ref->path, "", size);
	if (!head)
		return -ERR_FULL;
	if (!k->head) {
		*head = (struct pattern_kept_head){ .is_first = 1, .file_hash = ref->file_hash,
			.version = ref->version };
		k->head = head;
	}
	k->at = (char *)(head + 1);
	k->left = size - sizeof(*head);
	return 0;
}

static unsigned int
bits_of(size_t size)
{
	unsigned int bits = KEPT_SLOT_MIN_BITS;

	while (bits <= KEPT_SLOT_MAX_BITS && ((size_t)1 << bits) < size)
		bits++;
	return bits;
}

/* The next free slot of this size is named in its bytes. */
static struct kept_slot *
take_free_slot(struct pattern_kept *k, unsigned int bits)
{
	struct kept_slot *s = k->free[bits];

	if (s)
		memcpy(&k->free[bits], s->bytes, sizeof(s));
	return s;
}

static struct kept_slot *
new_slot(struct pattern_ref *ref, size_t bytes)
{
	struct pattern_kept *k = ref->kept;
	unsigned int bits = bits_of(sizeof(struct kept_slot) + bytes);
	size_t size = (size_t)1 << bits;
	struct kept_slot *s;

	if (bits > KEPT_SLOT_MAX_BITS)
		return NULL;
	s = take_free_slot(k, bits);
	if (s)
		return s;
	if (k->left < size && add_chunk(ref, size) < 0)
		return NULL;
	s = (struct kept_slot *)(void *)k->at;
	s->size = (uint32_t)size;
	k->at += size;
	k->left -= size;
	return s;
}

static void
free_slot(struct pattern_kept *k, struct kept_slot *s)
{
	unsigned int bits = bits_of(s->size);

	counter_set(&s->kind, KEPT_SLOT_FREE);
	/* A reader that has seen the kind sees another serial. */
	atomic_store_explicit(&s->serial, 0, memory_order_release);
	memcpy(s->bytes, &k->free[bits], sizeof(s));
	k->free[bits] = s;
}

/* NULL: there is no room, which is counted. */
static struct kept_slot *
fill_new_slot(struct pattern_ref *ref, enum kept_slot_kind kind, const struct pattern_entry *e,
	uint64_t serial)
{
	int has_value = kind != KEPT_SLOT_GONE && e->value;
	struct kept_slot *s =
		new_slot(ref, e->first.text_len + (has_value ? e->value_len : 0));

	if (!s) {
		if (ref->kept->head)
			ref->kept->head->lost++;
		return NULL;
	}
	s->version = e->version;
	s->text_len = e->first.text_len;
	s->value_len = has_value ? e->value_len : KEPT_SLOT_NO_VALUE;
	memcpy(s->bytes, e->bytes, e->first.text_len);
	if (has_value)
		memcpy(s->bytes + e->first.text_len, e->value, e->value_len);
	counter_set(&s->serial, serial);
	atomic_store_explicit(&s->kind, (uint32_t)kind, memory_order_release);
	return s;
}

/* --- changes --- */

void
pattern_kept_add(struct pattern_ref *ref, struct pattern_entry *e)
{
	if (ref->kept)
		e->slot = fill_new_slot(ref, KEPT_SLOT_ENTRY, e, ++ref->kept->serial);
}

/* The old slot goes when the new one is complete: with the same serial they are one to a reader. */
void
pattern_kept_change(struct pattern_ref *ref, struct pattern_entry *e)
{
	struct kept_slot *old = e->slot;
	struct pattern_kept *k = ref->kept;

	if (!k)
		return;
	if (old)
		e->slot = fill_new_slot(ref, (enum kept_slot_kind)counter_read(&old->kind), e,
			counter_read(&old->serial));
	else
		e->slot = fill_new_slot(ref, KEPT_SLOT_VALUE, e, ++k->serial);
	if (old)
		free_slot(k, old);
}

void
pattern_kept_drop(struct pattern_ref *ref, struct pattern_entry *e, int is_current)
{
	struct pattern_kept *k = ref->kept;
	int was_added = 0;

	if (!k)
		return;
	if (e->slot) {
		was_added = counter_read(&e->slot->kind) == KEPT_SLOT_ENTRY;
		free_slot(k, e->slot);
		e->slot = NULL;
	}
	if (!was_added && is_current && !(k->head && k->head->file_is_gone))
		(void)!fill_new_slot(ref, KEPT_SLOT_GONE, e, ++k->serial);
}

void
pattern_kept_replace(struct pattern_ref *ref, int clears)
{
	struct pattern_kept *k = ref->kept;

	if (!k || (!k->head && add_chunk(ref, 0) < 0))
		return;
	k->head->file_is_gone = 1;
	k->head->version = ref->version;
	k->head->cleared = clears ? k->serial : 0;
}
