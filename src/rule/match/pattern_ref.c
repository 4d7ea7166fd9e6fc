/* The entries of a map or an ACL and the sets that are made of them. Changed while workers
 * are paused, or under the guard; entries and sets always agree. */
#include "rule/match/pattern_ref.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "rule/match/pattern_coming.h"
#include "rule/match/pattern_kept.h"

struct pattern_ref *
pattern_ref_new(const char *path, const struct keyhash *key)
{
	struct pattern_ref *ref = mem_zalloc(sizeof(*ref));

	if (!ref)
		return NULL;
	list_init(&ref->link);
	list_init(&ref->entries);
	ref->id = PATTERN_ID_NONE;
	pattern_table_init(&ref->table, key);
	if (mem_copy_string(&ref->path, path) < 0) {
		mem_free(ref);
		return NULL;
	}
	return ref;
}

static int
ref_no_memory(struct rule_err *why)
{
	why->at = 0;
	snprintf(why->text, sizeof(why->text), "%s", err_text(-ERR_NOMEM));
	return -ERR_NOMEM;
}

/* --- entries --- */

/* Removes it from its table and frees it. */
static void
drop_entry(struct pattern_ref *ref, struct pattern_entry *e, int in_sets)
{
	pattern_kept_drop(ref, e, in_sets);
	if (in_sets)
		pattern_entry_leave(e, ref->feed);
	if (pattern_coming_has(ref, e))
		pattern_entry_leave_sets(e, ref->coming.set);
	pattern_table_remove(&ref->table, e);
	if (ref->walks)
		cursors_leave(ref->walks, &e->link);
	list_remove(&e->link);
	counter_sub(&ref->n, 1);
	pattern_entry_free(e);
}

void
pattern_ref_free(struct pattern_ref **refp)
{
	struct pattern_ref *ref = *refp;

	if (!ref)
		return;
	list_each_safe(it, &ref->entries)
		pattern_entry_free(list_entry(it, struct pattern_entry, link));
	pattern_table_fini(&ref->table);
	pattern_coming_end(ref);
	for (unsigned int i = 0; i < ref->n_feeds; i++)
		mem_free(ref->feed[i]);
	mem_free(ref->feed);
	mem_free(ref->kept);
	mem_free(ref->path);
	mem_free(ref->where);
	mem_free(ref->walks);
	mem_free(ref);
	*refp = NULL;
}

struct list *
pattern_ref_resume(struct pattern_ref *ref, uint64_t after)
{
	struct list *at = NULL;

	if (after && ref->walks)
		at = cursors_take(ref->walks, after);
	if (at)
		return at;
	at = ref->entries.next;
	while (at != &ref->entries && list_entry(at, struct pattern_entry, link)->id <= after)
		at = at->next;
	return at;
}

void
pattern_ref_pause(struct pattern_ref *ref, uint64_t after, struct list *next)
{
	if (!ref->walks)
		ref->walks = mem_zalloc(sizeof(*ref->walks));
	/* Without memory it is found by the id. */
	if (ref->walks)
		cursors_put(ref->walks, after, next);
}

/* --- sets of entries --- */

int
pattern_ref_feed(
	struct pattern_ref *ref, struct pattern_set *set, unsigned int flags, struct rule_err *why)
{
	struct pattern_feed **grown =
		mem_resize(ref->feed, ref->n_feeds + 1, sizeof(struct pattern_feed *));
	struct pattern_feed *feed = mem_alloc(sizeof(*feed));

	assert(ref->table.key.point == set->index[0].key.point);
	if (grown)
		ref->feed = grown;
	if (!grown || !feed) {
		mem_free(feed);
		return ref_no_memory(why);
	}
	pattern_coming_end(ref);
	*feed = (struct pattern_feed){ ref, set, flags, set->feeds };
	set->feeds = feed;
	ref->feed[ref->n_feeds++] = feed;
	if (ref->is_live)
		set->guard = &ref->lock;
	list_each(it, &ref->entries) {
		struct pattern_entry *e = list_entry(it, struct pattern_entry, link);
		struct pattern *t;
		int rc = pattern_entry_feed(e, set, PATTERN_EQ, flags, &t, why);

		if (rc == 0 && e->version == ref->version && pattern_set_enter(set, t) < 0)
			rc = ref_no_memory(why);
		if (rc < 0)
			return rc;
	}
	return 0;
}

void
pattern_ref_unfeed(struct pattern_ref *ref)
{
	for (unsigned int i = 0; i < ref->n_feeds; i++) {
		struct pattern_feed **at = &ref->feed[i]->set->feeds;

		while (*at != ref->feed[i])
			at = &(*at)->other;
		*at = ref->feed[i]->other;
		mem_free(ref->feed[i]);
	}
	ref->n_feeds = 0;
}

void
pattern_ref_guard(struct pattern_ref *ref)
{
	assert(ref->path);
	ref->is_live = 1;
	for (unsigned int i = 0; i < ref->n_feeds; i++)
		ref->feed[i]->set->guard = &ref->lock;
}

int
pattern_ref_has_version(const struct pattern_ref *ref, uint32_t version)
{
	return (int32_t)(ref->next - version) >= 0;
}

int
pattern_ref_make(struct pattern_ref *ref, uint32_t version, struct str text, struct str value,
	struct pattern_entry **out, struct rule_err *why)
{
	struct pattern_entry *e;
	struct pattern *t;
	int rc = pattern_check_text(text, why);

	if (rc < 0)
		return rc;
	e = ref->n_feeds ? pattern_entry_new_for(&ref->table.key, text, value, ref->feed[0]->set,
				   ref->feed[0]->flags)
			 : pattern_entry_new(&ref->table.key, text, value);
	if (!e)
		return ref_no_memory(why);
	e->version = version;
	for (unsigned int i = 0; i < ref->n_feeds && rc == 0; i++)
		rc = pattern_entry_feed(
			e, ref->feed[i]->set, PATTERN_EQ, ref->feed[i]->flags, &t, why);
	if (rc < 0)
		pattern_entry_free(e);
	else
		*out = e;
	return rc;
}

int
pattern_ref_join(struct pattern_ref *ref, struct pattern_entry *e, struct rule_err *why)
{
	int rc = 0;

	why->at = 0;
	if (ref->n == PATTERN_SET_MAX) {
		snprintf(why->text, sizeof(why->text), "more than %u patterns", PATTERN_SET_MAX);
		return -ERR_FULL;
	}
	if (pattern_table_reserve(&ref->table, ref->n) < 0)
		return ref_no_memory(why);
	if (e->version == ref->version)
		rc = pattern_entry_enter(e, ref->feed, why);
	else if (ref->coming.set && e->version == ref->coming.version)
		rc = pattern_entry_enter_sets(e, ref->coming.set, why);
	if (rc < 0)
		return rc;
	pattern_table_add(&ref->table, e);
	e->id = ++ref->last_id;
	list_append(&ref->entries, &e->link);
	counter_add(&ref->n, 1);
	pattern_kept_add(ref, e);
	return 0;
}

int
pattern_ref_expect(struct pattern_ref *ref, uint64_t n, struct rule_err *why)
{
	int rc = pattern_table_expect(&ref->table, n);

	for (unsigned int i = 0; i < ref->n_feeds && rc == 0; i++)
		rc = pattern_set_expect(ref->feed[i]->set, ref->feed[i]->flags, n);
	return rc < 0 ? ref_no_memory(why) : 0;
}

void
pattern_ref_prefetch(struct pattern_ref *ref, struct pattern_entry *e)
{
	const struct pattern *t = pattern_entry_first(e);

	pattern_table_prefetch(&ref->table, e);
	for (unsigned int i = 0; t; t = t->next, i++)
		pattern_set_prefetch(ref->feed[i]->set, t);
}

int
pattern_ref_add(struct pattern_ref *ref, uint32_t version, struct str text, struct str value,
	struct rule_err *why)
{
	struct pattern_entry *e;
	int rc = pattern_ref_make(ref, version, text, value, &e, why);

	if (rc < 0)
		return rc;
	rc = pattern_ref_join(ref, e, why);
	if (rc < 0)
		pattern_entry_free(e);
	return rc;
}

/* --- one by one --- */

unsigned int
pattern_ref_del(struct pattern_ref *ref, struct str text)
{
	struct pattern_entry *e = pattern_table_find(&ref->table, text), *next;
	unsigned int n = 0;

	for (; e; e = next, n++) {
		next = pattern_table_next(e);
		drop_entry(ref, e, pattern_ref_is_current(ref, e));
	}
	return n;
}

struct pattern_entry *
pattern_ref_by_id(const struct pattern_ref *ref, uint64_t id)
{
	list_each(it, &ref->entries) {
		struct pattern_entry *e = list_entry(it, struct pattern_entry, link);

		if (e->id == id)
			return e;
	}
	return NULL;
}

void
pattern_ref_del_entry(struct pattern_ref *ref, struct pattern_entry *e)
{
	drop_entry(ref, e, pattern_ref_is_current(ref, e));
}

int
pattern_ref_set(struct pattern_ref *ref, struct str text, struct str value, struct rule_err *why)
{
	struct pattern_entry *e = pattern_table_find(&ref->table, text);
	int rc, n = 0;

	for (; e; e = pattern_table_next(e), n++) {
		/* All of them have patterns for the same sets, so the first one is enough. */
		rc = pattern_ref_set_entry(ref, e, value, why);
		if (rc < 0)
			return rc;
	}
	return n;
}

int
pattern_ref_set_entry(struct pattern_ref *ref, struct pattern_entry *e, struct str value,
	struct rule_err *why)
{
	int rc = pattern_entry_change(e, value, why);

	if (rc == 0)
		pattern_kept_change(ref, e);
	return rc;
}

const struct pattern_entry *
pattern_ref_find(const struct pattern_ref *ref, struct str text)
{
	const struct pattern_entry *e = pattern_table_find(&ref->table, text), *first = NULL;

	for (; e; e = pattern_table_next(e))
		if (pattern_ref_is_current(ref, e) && (!first || e->id < first->id))
			first = e;
	return first;
}

int
pattern_ref_has(const struct pattern_ref *ref, struct str text, struct str value)
{
	const struct pattern_entry *e = pattern_table_find(&ref->table, text);
	int current = 0;

	for (; e; e = pattern_table_next(e)) {
		if (value.p && !(e->value && str_is(pattern_entry_value(e), value)))
			return 0;
		current |= pattern_ref_is_current(ref, e);
	}
	return current;
}
