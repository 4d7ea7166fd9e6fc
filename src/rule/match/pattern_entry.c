/* An entry of a map or an ACL and its patterns, one for each set. Changed while workers are
 * paused, or by the one that holds the guard. */
#include "rule/match/pattern_entry.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* Returns an entry with n bytes, of which text and value are the first. */
static struct pattern_entry *
alloc_entry(const struct keyhash *key, struct str text, struct str value, size_t n)
{
	struct pattern_entry *e = mem_alloc(sizeof(*e) + n);

	if (!e)
		return NULL;
	memset(e, 0, sizeof(*e));
	list_init(&e->link);
	e->hash = keyhash(key, text.p, text.len);
	if (text.len)
		memcpy(e->bytes, text.p, text.len);
	e->bytes[text.len] = '\0';
	e->text_len = (uint32_t)text.len;
	if (!value.p)
		return e;
	e->value = e->bytes + text.len + 1;
	e->value_len = (uint32_t)value.len;
	memcpy(e->value, value.p, value.len);
	e->value[value.len] = '\0';
	return e;
}

struct pattern_entry *
pattern_entry_new(const struct keyhash *key, struct str text, struct str value)
{
	return alloc_entry(key, text, value, text.len + 1 + value.len + 1);
}

struct pattern_entry *
pattern_entry_new_for(const struct keyhash *key, struct str text, struct str value,
	const struct pattern_set *set, unsigned int flags)
{
	size_t room = pattern_room(set, flags, text.len), n = text.len + 1 + value.len + 1;
	/* There may be numbers in it. */
	size_t at = room ? (n + 7) & ~(size_t)7 : n;
	struct pattern_entry *e = alloc_entry(key, text, value, at + room);

	if (e)
		e->first_at = at & INT32_MAX;
	return e;
}

/* Frees a value that is not part of the entry. */
static void
free_value(struct pattern_entry *e)
{
	if (e->value != e->bytes + e->text_len + 1)
		mem_free(e->value);
}

void
pattern_entry_free(struct pattern_entry *e, int in_sets)
{
	struct pattern *t, *next;

	for (t = pattern_entry_first(e); t; t = next) {
		next = t->next;
		if (in_sets)
			pattern_set_leave(t->feed->set, t);
		pattern_drop(t);
		if (t != &e->first)
			mem_free(t);
	}
	free_value(e);
	mem_free(e);
}

int
pattern_entry_feed(struct pattern_entry *e, const struct pattern_feed *feed, enum pattern_op op,
	unsigned int flags, struct pattern **out, struct rule_err *why)
{
	struct pattern *last = &e->first, *t = &e->first;
	int is_first = e->first_at && !e->has_first, rc;

	why->at = 0;
	if (!is_first)
		t = mem_zalloc(sizeof(*t) + pattern_room(feed->set, flags, e->text_len));
	if (!t) {
		snprintf(why->text, sizeof(why->text), "%s", err_text(-ERR_NOMEM));
		return -ERR_NOMEM;
	}
	rc = pattern_make(t, feed, e, op, flags, why);
	if (rc < 0) {
		if (!is_first)
			mem_free(t);
		return rc;
	}
	e->has_first |= is_first;
	while (!is_first && last->next)
		last = last->next;
	if (!is_first)
		last->next = t;
	*out = t;
	return 0;
}

/* sets: one for each pattern, in order; NULL: the sets that the patterns were made for. Leaves
 * those before `end`, NULL: all. */
static void
leave_before(struct pattern_entry *e, struct pattern_set *sets, const struct pattern *end)
{
	unsigned int i = 0;

	for (struct pattern *t = pattern_entry_first(e); t != end; t = t->next, i++)
		pattern_set_leave(sets ? &sets[i] : t->feed->set, t);
}

int
pattern_entry_enter_sets(struct pattern_entry *e, struct pattern_set *sets, struct rule_err *why)
{
	unsigned int i = 0;

	for (struct pattern *t = pattern_entry_first(e); t; t = t->next, i++) {
		int rc = pattern_set_enter(sets ? &sets[i] : t->feed->set, t);

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
	for (struct pattern *t = pattern_entry_first(e); t && rc == 0; t = t->next)
		rc = pattern_change(t, copy, why);
	if (rc < 0) {
		struct rule_err old;

		/* If one set rejects the value, the others get the old one back. */
		for (struct pattern *t = pattern_entry_first(e); t; t = t->next)
			if (pattern_change(t, pattern_entry_value(e), &old) < 0)
				break;
		mem_free(own);
		return rc;
	}
	free_value(e);
	e->value = own;
	e->value_len = (uint32_t)value.len;
	return 0;
}
