/* Changes entries during look-ups of other workers. New entries are made first; the guard is held
 * only to put it in place. */
#include "rule/match/pattern_live.h"

#include "base/atomic.h"

/* Mostly nothing changes, which several readers can check concurrently. */
static int
find_entry_shared(struct pattern_ref *ref, struct sys *sys, struct str text, struct str value)
{
	int yes;

	shared_lock_look(&ref->lock, sys);
	yes = pattern_ref_has(ref, text, value);
	shared_lock_looked(&ref->lock);
	return yes;
}

/* Updates an existing entry. 1: the current version has it now. */
static int
update_entry_locked(
	struct pattern_ref *ref, struct str text, struct str value, struct rule_err *why)
{
	int rc = value.p ? pattern_ref_set(ref, text, value, why) : 0;

	shared_lock_assert_held(&ref->lock);
	return rc < 0 ? rc : pattern_ref_find(ref, text) != NULL;
}

static int
update_under_guard(struct pattern_ref *ref, struct sys *sys, struct str text, struct str value,
	struct rule_err *why)
{
	int rc;

	shared_lock_take(&ref->lock, sys);
	rc = update_entry_locked(ref, text, value, why);
	shared_lock_drop(&ref->lock);
	return rc;
}

static int
add_entry(struct pattern_ref *ref, struct sys *sys, struct str text, struct str value,
	struct rule_err *why)
{
	struct pattern_entry *e;
	int rc = pattern_ref_make(ref, ref->version, text, value, &e, why), joined = 0;

	if (rc < 0)
		return rc;
	shared_lock_take(&ref->lock, sys);
	/* Another worker may have added it first. */
	rc = update_entry_locked(ref, text, value, why);
	if (rc == 0) {
		rc = pattern_ref_join(ref, e, why);
		joined = rc == 0;
	}
	shared_lock_drop(&ref->lock);
	if (!joined)
		pattern_entry_free(e);
	return rc;
}

int
pattern_live_put(struct pattern_ref *ref, struct sys *sys, struct str text, struct str value,
	struct rule_err *why)
{
	int rc;

	if (find_entry_shared(ref, sys, text, value))
		return 0;
	/* An ACL's entries have no value to update. */
	rc = value.p ? update_under_guard(ref, sys, text, value, why) : 0;
	if (rc == 0)
		rc = add_entry(ref, sys, text, value, why);
	return rc < 0 ? rc : 0;
}

unsigned int
pattern_live_del(struct pattern_ref *ref, struct sys *sys, struct str text)
{
	unsigned int n;
	int none;

	/* A change after this lookup is equivalent to one after the operation. */
	shared_lock_look(&ref->lock, sys);
	none = !pattern_table_find(&ref->table, text);
	shared_lock_looked(&ref->lock);
	if (none)
		return 0;
	shared_lock_take(&ref->lock, sys);
	n = pattern_ref_del(ref, text);
	shared_lock_drop(&ref->lock);
	return n;
}

void
pattern_live_refuse(struct pattern_ref *ref)
{
	(void)atomic_add(&ref->refused, 1);
}
