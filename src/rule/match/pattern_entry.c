/* An entry of a map or an ACL and its patterns, one for each set. Changed while workers are
 * paused, or by the one that holds the guard. */
#include "rule/match/pattern_entry.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* A map of a million hosts has a million of them. */
_Static_assert(sizeof(void *) != 8 || sizeof(struct pattern_entry) <= 96, "a small entry");

/* Returns an entry with `room` bytes at this offset between text and value. NULL when memory is
 * out, or for a text that no pattern may have. */
static struct pattern_entry *
alloc_entry(const struct keyhash *key, struct str text, struct str value, size_t at, size_t room)
{
	struct pattern_entry *e = NULL;

	if (text.len <= PATTERN_TEXT_MAX)
		e = mem_alloc(sizeof(*e) + at + room + (value.p ? value.len + 1 : 0));
	if (!e)
		return NULL;
	memset(e, 0, sizeof(*e));
	list_init(&e->link);
	e->hash = keyhash(key, text.p, text.len);
	if (text.len)
		memcpy(e->bytes, text.p, text.len);
	e->bytes[text.len] = '\0';
	e->first.text_len = (uint16_t)text.len;
	if (!value.p)
		return e;
	e->value = e->bytes + at + room;
	e->value_len = (uint32_t)value.len;
	memcpy(e->value, value.p, value.len);
	e->value[value.len] = '\0';
	return e;
}

struct pattern_entry *
pattern_entry_new(const struct keyhash *key, struct str text, struct str value)
{
	return alloc_entry(key, text, value, text.len + 1, 0);
}

/* The offset of the bytes that `first` needs. */
static size_t
room_at(size_t text_len, size_t alignment)
{
	return (text_len + 1 + alignment - 1) & ~(alignment - 1);
}

struct pattern_entry *
pattern_entry_new_for(const struct keyhash *key, struct str text, struct str value,
	const struct pattern_set *set, unsigned int flags)
{
	size_t room = pattern_room(set, flags, text, 1);
	struct pattern_entry *e = alloc_entry(
		key, text, value, room_at(text.len, pattern_room_alignment(set)), room);

	if (e)
		e->first.has_room = 1;
	return e;
}

char *
pattern_entry_bytes(const struct pattern *t, size_t alignment)
{
	struct pattern_entry *e = pattern_entry_of(t);

	return t->is_first ? e->bytes + room_at(e->first.text_len, alignment)
			   : container_of(t, struct pattern_more, t)->bytes;
}

static void
free_value(struct pattern_entry *e)
{
	if (e->first.owns_value)
		mem_free(e->value);
}

static void
free_pattern(struct pattern *t)
{
	if (!t->is_first)
		mem_free(container_of(t, struct pattern_more, t));
}

void
pattern_entry_free(struct pattern_entry *e)
{
	struct pattern *t, *next;

	for (t = pattern_entry_first(e); t; t = next) {
		next = t->next;
		pattern_drop(t);
		free_pattern(t);
	}
	free_value(e);
	mem_free(e);
}

/* Returns a pattern that is not yet one of its entry's. */
static struct pattern *
alloc_pattern(struct pattern_entry *e, const struct pattern_set *set, unsigned int flags)
{
	struct pattern_more *more;

	if (e->first.has_room && !e->first.is_first) {
		e->first.is_first = 1;
		return &e->first;
	}
	more = mem_zalloc(
		sizeof(*more) + pattern_room(set, flags, pattern_entry_text(e), 0));
	if (!more)
		return NULL;
	more->entry = e;
	return &more->t;
}

static void
append_pattern(struct pattern_entry *e, struct pattern *t)
{
	struct pattern *last = &e->first;

	if (t == last)
		return;
	while (last->next)
		last = last->next;
	last->next = t;
}

int
pattern_entry_feed(struct pattern_entry *e, const struct pattern_set *set, enum pattern_op op,
	unsigned int flags, struct pattern **out, struct rule_err *why)
{
	struct pattern *t = alloc_pattern(e, set, flags);
	int rc;

	why->at = 0;
	if (!t) {
		snprintf(why->text, sizeof(why->text), "%s", err_text(-ERR_NOMEM));
		return -ERR_NOMEM;
	}
	rc = pattern_make(t, set, op, flags, why);
	if (rc < 0) {
		free_pattern(t);
		e->first.is_first &= t != &e->first;
		return rc;
	}
	append_pattern(e, t);
	*out = t;
	return 0;
}

/* The sets of an entry's patterns: these, or those of the feeds. */
struct entry_sets {
	struct pattern_set *set;
	struct pattern_feed *const *feed;
};

static struct pattern_set *
nth_set(const struct entry_sets *s, unsigned int i)
{
	return s->set ? &s->set[i] : s->feed[i]->set;
}

/* Leaves those before `end`, NULL: all. */
static void
leave_before(struct pattern_entry *e, const struct entry_sets *s, const struct pattern *end)
{
	unsigned int i = 0;

	for (struct pattern *t = pattern_entry_first(e); t != end; t = t->next, i++)
		pattern_set_leave(nth_set(s, i), t);
}

static int
enter_all(struct pattern_entry *e, const struct entry_sets *s, struct rule_err *why)
{
	unsigned int i = 0;

	for (struct pattern *t = pattern_entry_first(e); t; t = t->next, i++) {
		int rc = pattern_set_enter(nth_set(s, i), t);

		if (rc == 0)
			continue;
		leave_before(e, s, t);
		why->at = 0;
		snprintf(why->text, sizeof(why->text), "%s", err_text(rc));
		return rc;
	}
	return 0;
}

int
pattern_entry_enter(struct pattern_entry *e, struct pattern_feed *const *feed, struct rule_err *why)
{
	return enter_all(e, &(struct entry_sets){ NULL, feed }, why);
}

void
pattern_entry_leave(struct pattern_entry *e, struct pattern_feed *const *feed)
{
	leave_before(e, &(struct entry_sets){ NULL, feed }, NULL);
}

int
pattern_entry_enter_sets(struct pattern_entry *e, struct pattern_set *sets, struct rule_err *why)
{
	return enter_all(e, &(struct entry_sets){ sets, NULL }, why);
}

void
pattern_entry_leave_sets(struct pattern_entry *e, struct pattern_set *sets)
{
	leave_before(e, &(struct entry_sets){ sets, NULL }, NULL);
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
	e->first.owns_value = 1;
	e->value = own;
	e->value_len = (uint32_t)value.len;
	return 0;
}
