/* An entry of a map or an ACL and its patterns, one for each set. Changed while workers stand
 * still, or by the one that holds the guard. */
#include "rule/match/pattern_entry.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

struct pattern_entry *
pattern_entry_new(const struct keyhash *key, struct str text, struct str value)
{
	struct pattern_entry *e = mem_zalloc(sizeof(*e) + text.len + 1 + value.len + 1);

	if (!e)
		return NULL;
	list_init(&e->link);
	e->hash = keyhash(key, text.p, text.len);
	if (text.len)
		memcpy(e->bytes, text.p, text.len);
	e->text = (struct str){ e->bytes, text.len };
	if (!value.p)
		return e;
	e->value = (struct str){ e->bytes + text.len + 1, value.len };
	memcpy(e->bytes + text.len + 1, value.p, value.len);
	return e;
}

void
pattern_entry_free(struct pattern_entry *e, int in_sets)
{
	struct pattern *t;

	while ((t = e->patterns) != NULL) {
		e->patterns = t->next;
		if (in_sets)
			pattern_set_leave(t->set, t);
		pattern_free(t);
	}
	mem_free(e->changed);
	mem_free(e);
}

int
pattern_entry_is(const struct pattern_entry *e, struct str text, uint64_t hash)
{
	return e->hash == hash && str_is(e->text, text);
}

int
pattern_entry_feed(struct pattern_entry *e, const struct pattern_feed *feed, const void *owner,
	struct pattern **out, struct rule_err *why)
{
	struct pattern **end = &e->patterns;
	int rc = pattern_make(
		feed->set, e->text, PATTERN_EQ, feed->flags | PATTERN_BORROW, e->value, out, why);

	if (rc < 0)
		return rc;
	(*out)->owner = owner;
	while (*end)
		end = &(*end)->next;
	*end = *out;
	return 0;
}

/* sets: one for each pattern, in order; NULL: the sets that the patterns were made for. Leaves
 * those before `end`, NULL: all. */
static void
leave_before(struct pattern_entry *e, struct pattern_set *sets, const struct pattern *end)
{
	unsigned int i = 0;

	for (struct pattern *t = e->patterns; t != end; t = t->next, i++)
		pattern_set_leave(sets ? &sets[i] : t->set, t);
}

int
pattern_entry_enter_sets(struct pattern_entry *e, struct pattern_set *sets, struct rule_err *why)
{
	unsigned int i = 0;

	for (struct pattern *t = e->patterns; t; t = t->next, i++) {
		int rc = pattern_set_enter(sets ? &sets[i] : t->set, t);

		if (rc == 0)
			continue;
		leave_before(e, sets, t);
		why->at = 0;
		snprintf(why->text, sizeof(why->text), "%s", err_text(rc));
		return rc;
	}
	return 0;
}

int
pattern_entry_enter(struct pattern_entry *e, struct rule_err *why)
{
	return pattern_entry_enter_sets(e, NULL, why);
}

void
pattern_entry_leave_sets(struct pattern_entry *e, struct pattern_set *sets)
{
	leave_before(e, sets, NULL);
}

int
pattern_entry_change(struct pattern_entry *e, struct str value, struct rule_err *why)
{
	char *own = mem_alloc(value.len + 1);
	struct str copy = { own, value.len };
	int rc = 0;

	if (!own) {
		why->at = 0;
		snprintf(why->text, sizeof(why->text), "%s", err_text(-ERR_NOMEM));
		return -ERR_NOMEM;
	}
	if (value.len)
		memcpy(own, value.p, value.len);
	own[value.len] = '\0';
	for (struct pattern *t = e->patterns; t && rc == 0; t = t->next)
		rc = pattern_change(t, copy, why);
	if (rc < 0) {
		/* If one set rejects the value, the others get the old one back. */
		for (struct pattern *t = e->patterns; t; t = t->next)
			if (pattern_change(t, e->value, why) < 0)
				break;
		mem_free(own);
		return rc;
	}
	mem_free(e->changed);
	e->changed = own;
	e->value = copy;
	return 0;
}
