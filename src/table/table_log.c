/* The log of changes. The list of a shard goes through a word of the slots, which is the number of
 * the last change outside of it. A slot stays in the list when its entry is removed, since the list
 * has one direction; it is skipped, or stands for the next entry in the slot. */
#include "table/table_log.h"

#include "table_int.h"

/* The word of a slot: 0, the number of its last change modulo 2^31, */
#define CHANGE_NUMBERED 0x80000000u
/* or the slot + 1 behind it in the list. */
#define CHANGE_REPLACED 0x40000000u /* a peer's values have replaced the change */
#define CHANGE_LINK 0x07ffffffu
#define CHANGE_END 0x04000000u      /* the last slot of the list */
/* Slots that are taken while the lock is held. */
#define COLLECT_SLOTS 64u
/* A place in the log: the shard above, the slot below. */
#define PLACE_SHARD_SHIFT 26
#define PLACE_SLOT ((1u << PLACE_SHARD_SHIFT) - 1)

_Static_assert(SHARD_SLOTS_MAX <= PLACE_SLOT, "a slot's number fits");
_Static_assert(SHARD_SLOTS_MAX < CHANGE_END, "a slot's number is not the end");

static _Atomic uint32_t *
change_word(const struct table *t, const struct table_entry *e)
{
	return (_Atomic uint32_t *)(void *)((char *)(uintptr_t)e + t->link_at);
}

static uint32_t
load_word(const struct table *t, const struct table_entry *e)
{
	return atomic_load_explicit(change_word(t, e), memory_order_relaxed);
}

/* True in the list, with a change that was not replaced. */
static int
awaits_number(uint32_t word)
{
	return word && !(word & (CHANGE_NUMBERED | CHANGE_REPLACED));
}

/* The word of change n. */
static uint32_t
number_word(uint64_t n)
{
	return CHANGE_NUMBERED | (uint32_t)n;
}

/* --- changes --- */

/* Links the last slot of the list to another one. Its change may be replaced meanwhile. */
static void
link_last_locked(const struct table *t, const struct table_shard *sh, uint32_t slot)
{
	_Atomic uint32_t *last = change_word(t, table_slot(t, sh, sh->changed_last - 1));
	uint32_t word = atomic_load_explicit(last, memory_order_relaxed);

	lock_assert_held(&sh->lock);
	while (!atomic_compare_exchange_weak_explicit(last, &word, (word & CHANGE_REPLACED) | slot,
		memory_order_relaxed, memory_order_relaxed))
		;
}

/* Appends the slot to the list, where it may be. */
static void
append_change_locked(
	const struct table *t, struct table_shard *sh, struct table_entry *e, uint32_t slot)
{
	uint32_t word = load_word(t, e);

	lock_assert_held(&sh->lock);
	if (word && !(word & CHANGE_NUMBERED)) {
		(void)atomic_fetch_and_explicit(
			change_word(t, e), ~CHANGE_REPLACED, memory_order_relaxed);
		return;
	}
	atomic_store_explicit(change_word(t, e), CHANGE_END, memory_order_relaxed);
	if (sh->changed)
		link_last_locked(t, sh, slot);
	else
		sh->changed = slot;
	sh->changed_last = slot;
}

void
table_log_change(struct table *t, struct table_entry *e, const struct table_caller *by)
{
	struct table_shard *sh;
	uint32_t word;

	/* A slot leaves the list before its values are read, and a change is replaced before the
	 * values are: either this change is read or replaced, or the word shows it here. */
	atomic_thread_fence(memory_order_seq_cst);
	word = load_word(t, e);
	if (awaits_number(word))
		return;
	sh = table_entry_shard(t, e);
	lock_take(&sh->lock, by->sys);
	append_change_locked(t, sh, e, table_slot_of(t, sh, e));
	lock_drop(&sh->lock);
	if (!atomic_load_explicit(t->log->news, memory_order_relaxed))
		atomic_store_explicit(t->log->news, 1, memory_order_relaxed);
}

void
table_log_forget(const struct table *t, const struct table_entry *e)
{
	uint32_t word = load_word(t, e);

	while (word && !atomic_compare_exchange_weak_explicit(change_word(t, e), &word,
			       word & CHANGE_NUMBERED ? 0 : word | CHANGE_REPLACED,
			       memory_order_seq_cst, memory_order_relaxed))
		;
	atomic_thread_fence(memory_order_seq_cst);
}

void
table_log_restore(struct table *t, struct table_entry *e, uint32_t word,
	const struct table_caller *by)
{
	uint32_t was = load_word(t, e);

	/* The slot may be in the list for an entry before this one: it stays there, and gets
	 * another number. */
	while (word & CHANGE_NUMBERED && (!was || was & CHANGE_NUMBERED))
		if (atomic_compare_exchange_weak_explicit(change_word(t, e), &was, word,
			memory_order_relaxed, memory_order_relaxed))
			return;
	if (word & CHANGE_NUMBERED || awaits_number(word))
		table_log_change(t, e, by);
}

int
table_log_has(const struct table *t, const struct table_entry *e)
{
	uint32_t word = load_word(t, e);

	return word & CHANGE_NUMBERED || awaits_number(word);
}

int
table_log_has_since(const struct table *t, const struct table_entry *e, uint64_t n)
{
	uint32_t word = load_word(t, e);
	uint64_t last = t->log->end - 1;

	if (!(word & CHANGE_NUMBERED))
		return awaits_number(word);
	return last - ((uint32_t)(last - word) & ~CHANGE_NUMBERED) >= n;
}

/* --- the log --- */

/* Takes a slot off the list. It gets this word; 0 if it has no entry, or its change was replaced.
 * Returns the word that it had, with CHANGE_REPLACED if it got 0. */
static uint32_t
take_change_locked(const struct table *t, const struct table_shard *sh,
	const struct table_entry *e, uint32_t word)
{
	int is_live = (atomic_load_explicit(&e->refs, memory_order_relaxed) & ENTRY_LIVE) != 0;
	uint32_t was = load_word(t, e);

	lock_assert_held(&sh->lock);
	while (!atomic_compare_exchange_weak_explicit(change_word(t, e), &was,
		is_live && !(was & CHANGE_REPLACED) ? word : 0, memory_order_seq_cst,
		memory_order_relaxed))
		;
	return is_live ? was : was | CHANGE_REPLACED;
}

/* Takes up to `most` slots off the list. Those with a change get the next numbers. Returns how many
 * there were, and how many are in slot[]. */
static unsigned int
take_changes_locked(const struct table *t, struct table_shard *sh, unsigned int most,
	uint32_t slot[COLLECT_SLOTS], unsigned int *n)
{
	unsigned int taken = 0;

	lock_assert_held(&sh->lock);
	for (*n = 0; sh->changed && taken < most; taken++) {
		uint32_t at = sh->changed;
		uint32_t was = take_change_locked(t, sh, table_slot(t, sh, at - 1),
			number_word(t->log->end + *n));

		sh->changed = (was & CHANGE_LINK) == CHANGE_END ? 0 : was & CHANGE_LINK;
		if (!(was & CHANGE_REPLACED))
			slot[(*n)++] = at - 1;
	}
	return taken;
}

/* For the next process. */
static void
save_end(const struct table_log *log)
{
	if (log->saved_end)
		atomic_store_explicit(log->saved_end, log->end, memory_order_relaxed);
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
	save_end(log);
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

	return t->log->end > room ? MAX(t->log->end - room, t->log->first) : t->log->first;
}

void
table_log_continue(struct table *t, uint64_t end)
{
	t->log->first = t->log->end = end;
	save_end(t->log);
}

struct table_entry *
table_log_entry(struct table *t, uint64_t n, const struct table_caller *by)
{
	uint32_t place = t->log->at[n & t->log->mask];
	struct table_shard *sh = &t->shard[place >> PLACE_SHARD_SHIFT];
	struct table_entry *e;
	uint32_t refs, word;

	lock_take(&sh->lock, by->sys);
	e = table_slot(t, sh, place & PLACE_SLOT);
	refs = atomic_load_explicit(&e->refs, memory_order_acquire);
	word = load_word(t, e);
	if (!(refs & ENTRY_LIVE) || (word != number_word(n) && !awaits_number(word)) ||
		(!(refs & ENTRY_REFS) && table_is_due(t, e, (uint32_t)by->now_ms)))
		e = NULL;
	else
		table_add_ref(e);
	lock_drop(&sh->lock);
	return e;
}
