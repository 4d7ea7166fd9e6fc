/* Repeats what a previous process has changed in a map or ACL file. Main thread, before others
 * run. The previous process may write meanwhile, and may be hostile: slots are copied, and sizes
 * verified in the copy. */
#include "rule/match/pattern_restore.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/counter.h"
#include "base/mem.h"
#include "rule/match/pattern_ref.h"
#include "rule/match/pattern_version.h"

/* A change, copied. */
struct kept_change {
	uint64_t serial;
	uint32_t kind, version;
	struct str text, value;
	char *bytes;
};

struct kept_changes {
	struct kept_change *v;
	unsigned int n, cap;
};

static void
free_changes(struct kept_changes *all)
{
	for (size_t i = 0; i < all->n; i++)
		mem_free(all->v[i].bytes);
	mem_free(all->v);
}

static int
add_change(struct kept_changes *all, const struct kept_change *c)
{
	struct kept_change *v = array_grow(all->v, all->n, &all->cap, sizeof(*v));

	if (!v)
		return -1;
	all->v = v;
	all->v[all->n++] = *c;
	return 0;
}

/* 1: a change; 0: the slot is free, or was freed meanwhile; -1: damaged, or no memory. */
static int
copy_slot(const struct kept_slot *s, uint32_t size, struct kept_change *out)
{
	uint32_t kind = atomic_load_explicit(&s->kind, memory_order_acquire);
	uint32_t text_len = s->text_len, value_len = s->value_len;
	size_t room = size - sizeof(*s), n = text_len;

	if (kind == KEPT_SLOT_FREE)
		return 0;
	if (value_len != KEPT_SLOT_NO_VALUE)
		n += value_len;
	if (kind >= KEPT_SLOT_KINDS || text_len > room || n > room)
		return -1;
	*out = (struct kept_change){ .serial = counter_read(&s->serial), .kind = kind,
		.version = s->version, .bytes = mem_alloc(n + 1) };
	if (!out->bytes)
		return -1;
	memcpy(out->bytes, s->bytes, n);
	out->text = (struct str){ out->bytes, text_len };
	if (value_len != KEPT_SLOT_NO_VALUE)
		out->value = (struct str){ out->bytes + text_len, value_len };
	atomic_thread_fence(memory_order_acquire);
	if (counter_read(&s->kind) == kind && counter_read(&s->serial) == out->serial)
		return 1;
	mem_free(out->bytes);
	return 0;
}

static int
read_chunk(struct kept_changes *all, const struct memfile_item *item)
{
	const char *at = (const char *)item->payload + sizeof(struct pattern_kept_head);
	size_t left = item->len - sizeof(struct pattern_kept_head);

	while (left >= sizeof(struct kept_slot)) {
		const struct kept_slot *s = (const struct kept_slot *)(const void *)at;
		uint32_t size = s->size;
		struct kept_change c;
		int r;

		if (size == 0)
			return 0;
		if (size < 1u << KEPT_SLOT_MIN_BITS || size > left || (size & (size - 1)))
			return -1;
		r = copy_slot(s, size, &c);
		if (r < 0 || (r > 0 && add_change(all, &c) < 0))
			return -1;
		at += size;
		left -= size;
	}
	return 0;
}

/* Sorts deletions of the file's keys first, changes of its values next, then additions, in
 * order. */
static int
by_order(const void *a, const void *b)
{
	const struct kept_change *x = a, *y = b;
	unsigned int rank_x = x->kind == KEPT_SLOT_ENTRY, rank_y = y->kind == KEPT_SLOT_ENTRY;

	if (rank_x != rank_y)
		return rank_x < rank_y ? -1 : 1;
	return (x->serial > y->serial) - (x->serial < y->serial);
}

static int
repeat_change(struct pattern_ref *ref, const struct kept_change *c)
{
	struct rule_err why = { 0 };

	switch (c->kind) {
	case KEPT_SLOT_GONE:
		(void)pattern_ref_del(ref, c->text);
		return 0;
	case KEPT_SLOT_VALUE:
		return c->value.p ? pattern_ref_set(ref, c->text, c->value, &why) : -1;
	default:
		if (!c->value.p != !ref->two_columns)
			return -1;
		return pattern_ref_add(ref, ref->version, c->text, c->value, &why);
	}
}

static int
is_outdated_change(const struct kept_change *c, const struct pattern_kept_head *head)
{
	if (c->kind != KEPT_SLOT_ENTRY)
		return head->file_is_gone != 0;
	return c->version != head->version || c->serial <= head->cleared;
}

static int
repeat_all(struct pattern_ref *ref, const struct pattern_kept_head *head, struct kept_changes *all,
	struct pattern_restore *out)
{
	if (head->file_is_gone && pattern_version_replace(ref, ref->version, 1) < 0)
		return -1;
	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_order);
	for (size_t i = 0; i < all->n; i++) {
		const struct kept_change *c = &all->v[i];

		/* The entry was being changed: two records have the same serial. */
		if (is_outdated_change(c, head) || (i && c[-1].serial == c->serial))
			continue;
		if (memchr(c->bytes, '\0', c->text.len + c->value.len) ||
			repeat_change(ref, c) < 0)
			out->refused++;
		else
			out->n++;
	}
	return 0;
}

enum pattern_restored
pattern_kept_restore(struct pattern_ref *ref, const struct memfile_item *const *chunk,
	unsigned int n, struct pattern_restore *out)
{
	struct kept_changes all = { 0 };
	struct pattern_kept_head head;
	int bad = 0;

	*out = (struct pattern_restore){ 0 };
	if (n == 0)
		return PATTERN_UNCHANGED;
	for (unsigned int i = 0; i < n; i++)
		bad |= chunk[i]->len < sizeof(head);
	if (bad)
		return PATTERN_DAMAGED;
	memcpy(&head, chunk[0]->payload, sizeof(head));
	if (head.is_first != 1)
		return PATTERN_DAMAGED;
	if (head.file_hash != ref->file_hash)
		return PATTERN_FILE_CHANGED;
	for (unsigned int i = 0; i < n && !bad; i++)
		bad = read_chunk(&all, chunk[i]) < 0;
	if (!bad)
		bad = repeat_all(ref, &head, &all, out) < 0;
	out->refused += (unsigned int)MIN(head.lost, (uint64_t)UINT32_MAX / 2);
	free_changes(&all);
	return bad ? PATTERN_DAMAGED : PATTERN_RESTORED;
}
