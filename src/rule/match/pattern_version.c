/* Versions of a map or an ACL: cleared and committed as a whole. The rest is in
 * pattern_ref.c. */
#include "rule/match/pattern_version.h"

#include <limits.h>

#include "base/err.h"
#include "base/mem.h"
#include "rule/match/pattern_ref.h"

/* Appends the patterns that entries of a feed's ref have for its set: those of the current version,
 * or, if the feed is ours, of the one that becomes current. */
static void
gather_feed(const struct pattern_feed *feed, int is_ours, uint32_t version, struct pattern **all,
	uint32_t *n)
{
	unsigned int nth = 0;

	while (feed->ref->feed[nth] != feed)
		nth++;
	list_each(it, &feed->ref->entries) {
		struct pattern_entry *e = list_entry(it, struct pattern_entry, link);
		struct pattern *t = pattern_entry_first(e);

		for (unsigned int i = 0; i < nth; i++)
			t = t->next;
		if (is_ours ? e->version == version : pattern_ref_is_current(feed->ref, e))
			all[(*n)++] = t;
	}
}

/* The contents of the feed's set when `version` is current (with `none`: nothing of ours), in *all
 * from mem_alloc(). */
static int
gather_patterns(const struct pattern_feed *ours, uint32_t version, int none, struct pattern ***all,
	uint32_t *n)
{
	const struct pattern_set *set = ours->set;

	*n = 0;
	*all = mem_alloc((set->n + ours->ref->n + 1) * sizeof(struct pattern *));
	if (!*all)
		return -ERR_NOMEM;
	/* Patterns of other lines of the ACL, whose order is irrelevant. */
	for (const struct pattern_feed *f = set->feeds; f; f = f->other)
		if (f != ours)
			gather_feed(f, 0, 0, *all, n);
	if (!none)
		gather_feed(ours, 1, version, *all, n);
	return 0;
}

void
pattern_version_forget(struct pattern_ref *ref, struct pattern_change *ch)
{
	for (unsigned int i = 0; ch->to && i < ref->n_feeds; i++)
		pattern_set_forget(&ch->to[i]);
	mem_free(ch->to);
	ch->to = NULL;
}

static int
plan_change(const struct pattern_ref *ref, struct pattern_change *ch)
{
	/* Sets of a file have no patterns of other refs. */
	int is_empty = ch->is_coming || (ch->clears && ref->path);
	struct pattern **all;
	uint32_t n;
	int rc;

	for (unsigned int i = 0; i < ref->n_feeds; i++) {
		const struct pattern_set *set = ref->feed[i]->set;

		if (is_empty) {
			pattern_set_init_like(&ch->to[i], set);
			continue;
		}
		rc = gather_patterns(ref->feed[i], ch->version, ch->clears, &all, &n);
		if (rc < 0)
			return rc;
		rc = pattern_set_plan(set, &ch->to[i], all, n);
		if (rc < 0) {
			mem_free(all);
			return rc;
		}
		if (ref->path)
			pattern_set_fill(&ch->to[i]);
	}
	return 0;
}

int
pattern_version_plan(
	struct pattern_ref *ref, uint32_t version, int clears, struct pattern_change *ch)
{
	int rc;

	*ch = (struct pattern_change){ .version = version, .clears = clears,
		.until = ref->last_id };
	if (clears && version != ref->version)
		return 0;
	if (!clears && ((int32_t)(version - ref->version) <= 0 ||
			!pattern_ref_has_version(ref, version)))
		return -ERR_RANGE;
	ch->is_coming = !clears && ref->coming.set && ref->coming.version == version;
	ch->to = mem_zalloc((ref->n_feeds + 1) * sizeof(*ch->to));
	rc = ch->to ? plan_change(ref, ch) : -ERR_NOMEM;
	if (rc < 0)
		pattern_version_forget(ref, ch);
	return rc;
}

static void
apply_commit(struct pattern_ref *ref, const struct pattern_change *ch)
{
	ref->cleared = ch->is_coming ? ref->coming.after : 0;
	ref->version = ch->version;
	if (ref->coming.set && (int32_t)(ref->coming.version - ch->version) <= 0)
		pattern_coming_end(ref);
	pattern_kept_replace(ref, 0);
}

/* Prepares empty sets for a version that has no entries yet, or whose entries are all deleted:
 * entries that are added to it go there at once, so that its commit is short. There is one such
 * version; the previous one loses its sets. Without memory there are none, and the commit takes
 * longer. */
static void
pattern_coming_begin(struct pattern_ref *ref, uint32_t version)
{
	pattern_coming_end(ref);
	/* The sets of a line may have patterns of others. */
	if (!ref->path || !ref->n_feeds)
		return;
	ref->coming.set = mem_zalloc(ref->n_feeds * sizeof(*ref->coming.set));
	if (!ref->coming.set)
		return;
	for (unsigned int i = 0; i < ref->n_feeds; i++)
		pattern_set_init_like(&ref->coming.set[i], ref->feed[i]->set);
	ref->coming.version = version;
	ref->coming.after = ref->last_id;
}

void
pattern_version_apply(struct pattern_ref *ref, struct pattern_change *ch)
{
	ch->until = ref->last_id;
	for (unsigned int i = 0; ch->to && i < ref->n_feeds; i++) {
		if (ch->is_coming)
			pattern_set_swap(&ch->to[i], &ref->coming.set[i]);
		if (!ref->path)
			pattern_set_fill(&ch->to[i]);
		pattern_set_swap(ref->feed[i]->set, &ch->to[i]);
	}
	if (!ch->clears) {
		apply_commit(ref, ch);
	} else if (ch->version == ref->version) {
		ref->cleared = ch->until;
		pattern_kept_replace(ref, 1);
	} else if (ref->coming.set && ref->coming.version == ch->version) {
		pattern_coming_begin(ref, ch->version);
	}
}

static int
is_outdated(const struct pattern_change *ch, const struct pattern_entry *e)
{
	if (e->id > ch->until)
		return 0;
	return ch->clears ? e->version == ch->version : (int32_t)(ch->version - e->version) > 0;
}

int
pattern_version_sweep(struct pattern_ref *ref, struct pattern_change *ch, unsigned int n)
{
	struct list *at = pattern_ref_resume(ref, ch->after);

	for (; n && at != &ref->entries; n--) {
		struct pattern_entry *e = list_entry(at, struct pattern_entry, link);

		at = at->next;
		ch->after = e->id;
		if (is_outdated(ch, e))
			pattern_ref_del_entry(ref, e);
	}
	if (at == &ref->entries)
		return 0;
	pattern_ref_pause(ref, ch->after, at);
	return 1;
}

int
pattern_version_replace(struct pattern_ref *ref, uint32_t version, int clears)
{
	struct pattern_change ch;
	int rc = pattern_version_plan(ref, version, clears, &ch);

	if (rc < 0)
		return rc;
	pattern_version_apply(ref, &ch);
	pattern_version_forget(ref, &ch);
	while (pattern_version_sweep(ref, &ch, UINT_MAX))
		;
	return 0;
}

uint32_t
pattern_version_prepare(struct pattern_ref *ref)
{
	pattern_coming_begin(ref, ++ref->next);
	return ref->next;
}
