/*
 * The log of changes. The list of a shard goes through a word of the slots: 0 in one that is not
 * in it. A slot stays there when its entry is removed, since the list has one direction; it is
 * skipped, or stands for the next entry in the slot.
 */
#include "table/table_log.h"

#include "table_int.h"

/* In the last slot of the list. */
#define LINK_END UINT32_MAX
/* Slots that are taken while the lock is held. */
#define COLLECT_SLOTS 64u
/* A place in the log: the shard above, the slot below. */
#define PLACE_SHARD_SHIFT 26
#define PLACE_SLOT ((1u << PLACE_SHARD_SHIFT) - 1)

_Static_assert(SHARD_SLOTS_MAX <= PLACE_SLOT, "a slot's number fits");

static _Atomic uint32_t *
link_of(const struct table *t, const struct table_entry *e)
{
	return (_Atomic uint32_t *)(void *)((char *)(uintptr_t)e + t->link_at);
}

static void
append_change_locked(
	const struct table *t, struct table_shard *sh, struct table_entry *e, uint32_t slot)
{
	lock_assert_held(&sh->lock);
	if (atomic_load_explicit(link_of(t, e), memory_order_relaxed))
		return;
	atomic_store_explicit(link_of(t, e), LINK_END, memory_order_relaxed);
	if (sh->changed)
		atomic_store_explicit(link_of(t, table_slot(t, sh, sh->changed_last - 1)), slot,
			memory_order_relaxed);
	else
		sh->changed = slot;
	sh->changed_last = slot;
}

void
table_log_change(struct table *t, struct table_entry *e, const struct table_caller *by)
{
	struct table_shard *sh;

	/* The link is cleared before values are read: either this change is read, or the link is
	 * seen cleared here. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(link_of(t, e), memory_order_relaxed))
		return;
	sh = table_entry_shard(t, e);
	lock_take(&sh->lock, by->sys);
	append_change_locked(t, sh, e, table_slot_of(t, sh, e));
	lock_drop(&sh->lock);
	if (!atomic_load_explicit(t->log->news, memory_order_relaxed))
		atomic_store_explicit(t->log->news, 1, memory_order_relaxed);
}

/* Takes up to `most` slots off the list; those without an entry are dropped. Returns how many
 * there were, and how many are in slot[]. */
static unsigned int
take_changes_locked(const struct table *t, struct table_shard *sh, unsigned int most,
	uint32_t slot[COLLECT_SLOTS], unsigned int *n)
{
	unsigned int taken = 0;

	lock_assert_held(&sh->lock);
	for (*n = 0; sh->changed && taken < most; taken++) {
		uint32_t at = sh->changed;
		struct table_entry *e = table_slot(t, sh, at - 1);
		uint32_t next = atomic_exchange_explicit(link_of(t, e), 0, memory_order_seq_cst);

		sh->changed = next == LINK_END ? 0 : next;
		if (atomic_load_explicit(&e->refs, memory_order_relaxed) & ENTRY_LIVE)
			slot[(*n)++] = at - 1;
	}
	return taken;
}

unsigned int
table_log_collect(struct table *t, unsigned int most, const struct table_caller *by)
{
	struct table_log *log = t->log;
	unsigned int all = 0;

	for (uint32_t i = 0; i < t->n_shards && all < most;) {
		struct table_shard *sh = &t->shard[i];
		uint32_t slot[COLLECT_SLOTS];
		unsigned int n, taken, want = MIN(COLLECT_SLOTS, most - all);

		lock_take(&sh->lock, by->sys);
		taken = take_changes_locked(t, sh, want, slot, &n);
		lock_drop(&sh->lock);
		for (unsigned int j = 0; j < n; j++)
			log->at[log->end++ & log->mask] = i << PLACE_SHARD_SHIFT | slot[j];
		all += taken;
		i += taken < want;
	}
	return all;
}

uint64_t
table_log_end(const struct table *t)
{
	return t->log->end;
}

uint64_t
table_log_first(const struct table *t)
{
	uint64_t room = (uint64_t)t->log->mask + 1;

	return t->log->end > room ? t->log->end - room : 1;
}

struct table_entry *
table_log_entry(struct table *t, uint64_t n, const struct table_caller *by)
{
	uint32_t place = t->log->at[n & t->log->mask];
	struct table_shard *sh = &t->shard[place >> PLACE_SHARD_SHIFT];
	struct table_entry *e;
	uint32_t refs;

	lock_take(&sh->lock, by->sys);
	e = table_slot(t, sh, place & PLACE_SLOT);
	refs = atomic_load_explicit(&e->refs, memory_order_acquire);
	if (!(refs & ENTRY_LIVE) ||
		(!(refs & ENTRY_REFS) && table_is_due(t, e, (uint32_t)by->now_ms)))
		e = NULL;
	else
		table_add_ref(e);
	lock_drop(&sh->lock);
	return e;
}
