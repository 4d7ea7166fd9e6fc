/* Tables of previous processes. Sizes that another process has written are verified before they are
 * used, and the rest is numbers, which may change while they are read: a slot is copied first. */
#include "table/table_follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "table_int.h"
#include "table_saved.h"

/* A process does not make as many changes. */
#define LOG_END_MAX (UINT64_C(1) << 62)

/* A chunk there. */
struct followed {
	const char *slots;
	char *seen;               /* what was added of it; NULL: only its connections were */
	struct table_entry **held; /* own entries of slots with connections; NULL: none has */
	uint32_t *cur;            /* their connections that were added */
};

struct table_follow {
	struct table *t;
	const struct memfile_view *view;
	struct table_saved saved;
	struct followed *chunk;
	unsigned int n, room;
	unsigned int n_items;     /* of the view: those that may be chunks of the table are here */
	int with_counts;          /* not the connections alone are followed */
	int is_late;              /* another process had added its counts, and has ended */
	unsigned int next;        /* the chunk that is compared next */
	unsigned int changes;     /* in this pass: changes and connections */
	unsigned int last_changes; /* in the one before; 1 before the first one */
	unsigned int last_passes; /* that are over since the process has ended */
	char *slot;               /* a copy of the one that is read */
	int is_complete;          /* TABLE_MARK_COMPLETE */
	char name[TABLE_RECORD_KEY_MAX]; /* the same */
};

/* --- records --- */

/* True if the slots are what they seem to be. */
static int
saved_is_sound(const struct table_saved *s)
{
	uint32_t head = sizeof(struct table_entry);

	if (!s->brates_factor || s->stride % 4 || s->stride > UINT16_MAX || s->chunk_bits > 16 ||
		s->key_at < head ||
		s->key_at > s->stride || s->key_len > s->stride - s->key_at ||
		(s->link_at && (s->link_at % 4 || s->link_at < s->key_at + s->key_len ||
			s->link_at > s->stride - 4)) ||
		(s->prev_at && (s->prev_at % 4 || s->prev_at < head || s->prev_at > s->key_at - 4)))
		return 0;
	for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++) {
		uint64_t size = table_value_size(table_data_info[i].kind);

		if (s->data[i].n && (s->data[i].at % 4 || s->data[i].at < head ||
			s->data[i].n > TABLE_ELEMENTS_MAX ||
			s->data[i].at + size * s->data[i].n > s->key_at))
			return 0;
	}
	return 1;
}

static enum table_restored
open_saved(const struct table *t, const struct memfile_view *v, struct table_saved *s)
{
	const struct memfile_item *item = memfile_find(v, RECORD_TABLE, t->name, "");

	if (!item)
		return TABLE_NOT_THERE;
	if (item->len < sizeof(*s))
		return TABLE_IS_DAMAGED;
	memcpy(s, item->payload, sizeof(*s));
	if (!saved_is_sound(s))
		return TABLE_IS_DAMAGED;
	return s->type == (uint32_t)t->conf.type && s->key_len == t->conf.key_len ? TABLE_RESTORED
										  : TABLE_IS_OTHER;
}

/* Bytes of the slots of a chunk. */
static size_t
slots_size(const struct table_follow *f)
{
	return (size_t)f->saved.stride << f->saved.chunk_bits;
}

/* is_new: the chunk was made since the copy, and nothing of it was added yet. */
static int
add_followed(struct table_follow *f, const char *slots, int is_new)
{
	struct followed *c = f->chunk;

	if (f->n == f->room) {
		c = mem_resize(f->chunk, f->room ? 2 * f->room : 64, sizeof(*c));
		if (!c)
			return -ERR_NOMEM;
		f->room = f->room ? 2 * f->room : 64;
		f->chunk = c;
	}
	c += f->n;
	*c = (struct followed){ .slots = slots };
	if (f->with_counts) {
		c->seen = mem_zalloc(slots_size(f));
		if (!c->seen)
			return -ERR_NOMEM;
		if (!is_new)
			memcpy(c->seen, slots, slots_size(f));
	}
	f->n++;
	return 0;
}

/* Finds the chunks of the table among the records that were not examined yet. 0 or -ERR_NOMEM. */
static int
find_followed(struct table_follow *f, int is_new)
{
	size_t name = strlen(f->t->name), heads = (size_t)4 << f->saved.chunk_bits;

	for (; f->n_items < f->view->n; f->n_items++) {
		const struct memfile_item *item = &f->view->item[f->n_items];

		if (item->kind != RECORD_CHUNK || item->len < heads + slots_size(f) ||
			strncmp(item->key, f->t->name, name) != 0 || item->key[name] != '\n')
			continue;
		if (add_followed(f, (const char *)item->payload + heads, is_new) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Begins with the table of this file. NULL: *how says why, or memory is out. */
static struct table_follow *
open_follow(struct table *t, const struct memfile_view *v, int with_counts,
	const struct table_caller *by, enum table_restored *how)
{
	struct table_follow *f;
	struct table_saved saved;

	*how = open_saved(t, v, &saved);
	f = *how == TABLE_RESTORED ? mem_zalloc(sizeof(*f)) : NULL;
	if (!f)
		return NULL;
	f->t = t;
	f->view = v;
	f->saved = saved;
	f->last_changes = 1;
	f->with_counts = with_counts;
	f->slot = mem_alloc(saved.stride);
	if (f->slot && find_followed(f, 0) == 0)
		return f;
	table_follow_free(f, by);
	return NULL;
}

uint64_t
table_follow_mark(const struct table *t, const struct memfile_view *v, const char *reader)
{
	char key[TABLE_RECORD_KEY_MAX];
	const struct memfile_item *item;
	uint64_t n = 0;

	table_mark_key(t, key, reader);
	item = memfile_find(v, RECORD_MARK, key, "");
	if (item && item->len >= sizeof(n))
		memcpy(&n, item->payload, sizeof(n));
	return n;
}

/* --- slots --- */

static uint32_t
word_at(const char *slot, uint32_t at)
{
	uint32_t v;

	memcpy(&v, slot + at, sizeof(v));
	return v;
}

static uint32_t
slot_refs(const char *slot)
{
	return word_at(slot, offsetof(struct table_entry, refs));
}

static uint32_t
slot_expire(const char *slot)
{
	return word_at(slot, offsetof(struct table_entry, expire));
}

/* The connections that are of that process, not of those before it. */
static uint32_t
slot_connections(const struct table_follow *f, const char *slot)
{
	uint32_t cur, prev;

	if (!(slot_refs(slot) & ENTRY_LIVE) || !f->t->prev_at || !f->saved.prev_at ||
		!f->saved.data[TABLE_CONN_CUR].n)
		return 0;
	cur = word_at(slot, f->saved.data[TABLE_CONN_CUR].at);
	prev = word_at(slot, f->saved.prev_at);
	return cur > prev ? cur - prev : 0;
}

/* Sets *k to the key of a slot. */
static int
slot_key(const struct table_follow *f, const char *slot, struct table_key *k)
{
	const char *key = slot + f->saved.key_at;
	struct in6_addr six;
	struct in_addr four;
	uint32_t v;

	switch (f->t->conf.type) {
	case TABLE_INTEGER:
		memcpy(&v, key, sizeof(v));
		return table_key_int(f->t, k, v);
	case TABLE_IPV4:
		memcpy(&four, key, sizeof(four));
		return table_key_ipv4(f->t, k, four);
	case TABLE_IPV6:
		memcpy(&six, key, sizeof(six));
		return table_key_ipv6(f->t, k, &six);
	case TABLE_STRING:
	case TABLE_BINARY:
	case TABLE_TYPES:
		break;
	}
	return table_key_bytes(f->t, k, key, f->saved.key_len);
}

/* The own entry of a slot, made if there is none. */
static struct table_entry *
own_entry(const struct table_follow *f, const char *slot, const struct table_caller *by)
{
	struct table_key k;

	return slot_key(f, slot, &k) < 0 ? NULL : table_get(f->t, &k, by);
}

/* A copy of name number n of the dictionary there; NULL: there is none. */
static const char *
saved_name(struct table_follow *f, uint32_t n)
{
	char key[TABLE_RECORD_KEY_MAX];
	const struct memfile_item *item;

	table_record_key(f->t, key, 'n', n, 0);
	item = n ? memfile_find(f->view, RECORD_NAME, key, "") : NULL;
	if (!item)
		return NULL;
	memcpy(f->name, item->payload, MIN(item->len, sizeof(f->name) - 1));
	return f->name;
}

/* --- values --- */

/* Returns by how much a counter has grown there. One that was lowered has been set, or has begun
 * again: then it is its value. */
static uint64_t
added_to(uint64_t now, uint64_t seen)
{
	return now >= seen ? now - seen : now;
}

/* Returns the events of a rate that were counted there since the copy `seen`. */
static uint32_t
events_since(const char *now, const char *seen, uint32_t period)
{
	uint32_t tick = word_at(now, 0), curr = word_at(now, 4), prev = word_at(now, 8);
	uint32_t seen_tick = word_at(seen, 0), seen_curr = word_at(seen, 4);

	if (tick == seen_tick)
		return (uint32_t)added_to(curr, seen_curr);
	if (tick - seen_tick == period)
		return (uint32_t)added_to(prev, seen_curr) + curr;
	return curr + prev;
}

/* Returns the events of a rate in the units of this table's brates-factor. */
static uint32_t
in_own_units(const struct table_follow *f, enum table_data type, uint32_t events)
{
	uint64_t then = f->saved.brates_factor, now = f->t->conf.brates_factor;

	if ((type != TABLE_BYTES_IN_RATE && type != TABLE_BYTES_OUT_RATE) || then == now)
		return events;
	return (uint32_t)MIN((events * then + now - 1) / now, UINT32_MAX);
}

static void
add_value(struct table_follow *f, struct table_entry *e, enum table_data type,
	unsigned int element, const char *now, const char *seen, const struct table_caller *by)
{
	uint64_t wide = 0, seen_wide = 0;
	const char *name;

	switch (table_data_info[type].kind) {
	case TABLE_KIND_U32:
		if (type == TABLE_SERVER_ID || type == TABLE_GPT0 || type == TABLE_GPT)
			(void)table_set(f->t, e, type, element, by, word_at(now, 0));
		else
			(void)table_add(f->t, e, type, element, by,
				added_to(word_at(now, 0), word_at(seen, 0)));
		break;
	case TABLE_KIND_U64:
		memcpy(&wide, now, sizeof(wide));
		memcpy(&seen_wide, seen, sizeof(seen_wide));
		(void)table_add(f->t, e, type, element, by, added_to(wide, seen_wide));
		break;
	case TABLE_KIND_RATE:
		table_count(f->t, e, type, element, by,
			in_own_units(f, type,
				events_since(now, seen, f->saved.data[type].period_ms)));
		break;
	case TABLE_KIND_NAME:
		name = saved_name(f, word_at(now, 0));
		if (name)
			(void)table_set_server_key(f->t, e, name, by);
		break;
	}
}

/* Adds what differs between two states of a slot. */
static void
add_changes(struct table_follow *f, struct table_entry *e, const char *now, const char *seen,
	const struct table_caller *by)
{
	for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++) {
		uint32_t size = table_value_size(table_data_info[i].kind);
		uint32_t n = MIN(f->saved.data[i].n, (uint32_t)f->t->conf.store[i].n);

		if (i == TABLE_CONN_CUR ||
			f->saved.data[i].period_ms != f->t->conf.store[i].period_ms)
			continue;
		for (uint32_t j = 0, at = f->saved.data[i].at; j < n; j++, at += size)
			if (memcmp(now + at, seen + at, size) != 0)
				add_value(f, e, (enum table_data)i, j, now + at, seen + at, by);
	}
}

/* True if the slots have counts of the same peers, and all values in the same places. */
static int
has_same_parts(const struct table *t, const struct table_saved *s)
{
	if (!t->n_parts || s->n_parts != t->n_parts || s->parts_names != t->parts_names ||
		s->brates_factor != t->conf.brates_factor || s->parts_at != t->parts_at ||
		s->part_size != t->part_size ||
		s->stride != t->stride || s->prev_at != t->prev_at)
		return 0;
	for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++)
		if (s->data[i].at != t->at[i] || s->data[i].n != t->conf.store[i].n ||
			s->data[i].period_ms != t->conf.store[i].period_ms)
			return 0;
	return 1;
}

/* Copies what peers have counted, until they send it again; not their connections. */
static void
copy_peer_parts(const struct table_follow *f, struct table_entry *e, const char *from)
{
	if (!has_same_parts(f->t, &f->saved))
		return;
	memcpy((char *)e + f->t->parts_at, from + f->t->parts_at,
		(size_t)f->t->n_parts * f->t->part_size);
	for (unsigned int i = 0; f->t->prev_at && i < f->t->n_parts; i++)
		atomic_store_explicit(table_part_begun(f->t, e, i), 0, memory_order_relaxed);
}

/* Changes a rate that was copied: of two periods. */
static void
rescale_rate(const struct table_follow *f, enum table_data type, char *rate)
{
	for (uint32_t at = 4; at <= 8; at += 4) {
		uint32_t v = in_own_units(f, type, word_at(rate, at));

		memcpy(rate + at, &v, sizeof(v));
	}
}

/* Copies all values of a slot to an entry that was just made. */
static void
copy_values(struct table_follow *f, struct table_entry *e, const char *from,
	const struct table_caller *by)
{
	for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++) {
		enum table_kind kind = table_data_info[i].kind;
		uint32_t n = MIN(f->saved.data[i].n, (uint32_t)f->t->conf.store[i].n);
		const char *name;

		if (!n || i == TABLE_CONN_CUR ||
			f->saved.data[i].period_ms != f->t->conf.store[i].period_ms)
			continue;
		if (kind != TABLE_KIND_NAME) {
			memcpy((char *)e + f->t->at[i], from + f->saved.data[i].at,
				(size_t)table_value_size(kind) * n);
			if (kind == TABLE_KIND_RATE)
				rescale_rate(f, (enum table_data)i, (char *)e + f->t->at[i]);
			continue;
		}
		name = saved_name(f, word_at(from, f->saved.data[i].at));
		if (name)
			(void)table_set_server_key(f->t, e, name, by);
	}
}

/* Copies the number of the last change. */
static void
copy_change(const struct table_follow *f, struct table_entry *e, const char *from,
	const struct table_caller *by)
{
	if (!f->t->log || !f->saved.link_at)
		return;
	table_log_restore(f->t, e, word_at(from, f->saved.link_at), by);
	if (f->is_complete)
		(void)atomic_fetch_or_explicit(&e->refs, ENTRY_SENT, memory_order_relaxed);
}

/* Continues with the numbers there, if that process has logged changes. */
static void
continue_log(const struct table_follow *f)
{
	struct table_saved now;

	if (f->t->log && open_saved(f->t, f->view, &now) == TABLE_RESTORED && now.log_end &&
		now.log_end <= LOG_END_MAX)
		table_log_continue(f->t, now.log_end);
}

/* --- connections --- */

/* Adds to conn_cur and to its part of previous processes; peers are sent the sum. */
static void
add_previous(struct table *t, struct table_entry *e, uint32_t n, const struct table_caller *by)
{
	char *at = (char *)e;

	(void)atomic_fetch_add_explicit((_Atomic uint32_t *)(void *)(at + t->prev_at), n,
		memory_order_relaxed);
	(void)atomic_fetch_add_explicit(
		(_Atomic uint32_t *)(void *)(at + t->at[TABLE_CONN_CUR]), n, memory_order_relaxed);
	if (by)
		table_changed(t, e, by);
}

/* Room for the entries of a chunk with connections. 0 or -ERR_NOMEM. */
static int
make_held(const struct table_follow *f, struct followed *c)
{
	size_t n = (size_t)1 << f->saved.chunk_bits;

	if (c->held)
		return 0;
	c->held = mem_zalloc(n * sizeof(struct table_entry *));
	c->cur = c->held ? mem_zalloc(n * sizeof(*c->cur)) : NULL;
	if (c->cur)
		return 0;
	mem_free(c->held);
	c->held = NULL;
	return -ERR_NOMEM;
}

/* Sets the connections of slot i that are counted here; its entry is held while there are some. */
static void
set_connections(const struct table_follow *f, struct followed *c, uint32_t i, uint32_t n,
	const char *slot, const struct table_caller *by)
{
	if (!n && (!c->held || !c->held[i]))
		return;
	if (make_held(f, c) < 0)
		return;
	if (!c->held[i])
		c->held[i] = own_entry(f, slot, by);
	if (!c->held[i])
		return;
	if (n != c->cur[i])
		add_previous(f->t, c->held[i], n - c->cur[i], by);
	c->cur[i] = n;
	if (n)
		return;
	table_touch(f->t, c->held[i], by);
	table_unref(c->held[i]);
	c->held[i] = NULL;
}

/* --- passes --- */

/* True if key, values or expiry differ; links do not count. */
static int
slot_has_changed(const struct table_follow *f, const char *now, const char *seen)
{
	size_t head = sizeof(struct table_entry), end = (size_t)f->saved.key_at + f->saved.key_len;

	return (slot_refs(now) & ENTRY_LIVE) &&
		(!(slot_refs(seen) & ENTRY_LIVE) || slot_expire(now) != slot_expire(seen) ||
			memcmp(now + head, seen + head, end - head) != 0);
}

/* Adds what has changed in slot i. */
static void
follow_counts(struct table_follow *f, struct followed *c, uint32_t i,
	const struct table_caller *by)
{
	char *seen = c->seen + (size_t)i * f->saved.stride;
	size_t key = f->saved.key_at, end = key + f->saved.key_len;
	struct table_entry *e = slot_has_changed(f, f->slot, seen) ? own_entry(f, f->slot, by)
								  : NULL;

	if (e) {
		/* Another entry there: all of it is new. */
		if (!(slot_refs(seen) & ENTRY_LIVE) ||
			memcmp(f->slot + key, seen + key, end - key) != 0)
			memset(seen, 0, f->saved.stride);
		add_changes(f, e, f->slot, seen, by);
		table_unref(e);
		f->changes++;
	}
	memcpy(seen, f->slot, f->saved.stride);
}

static void
follow_chunk(struct table_follow *f, struct followed *c, const struct table_caller *by)
{
	size_t stride = f->saved.stride;
	struct table_caller conns_by = *by;

	for (uint32_t i = 0; i < 1u << f->saved.chunk_bits; i++) {
		const char *there = c->slots + i * stride;
		uint32_t n;

		if (c->seen ? memcmp(there, c->seen + i * stride, stride) == 0 &&
				(!c->held || !c->held[i]) && !slot_connections(f, there)
			    : !slot_connections(f, there) && (!c->held || !c->held[i]))
			continue;
		memcpy(f->slot, there, stride);
		n = slot_connections(f, f->slot);
		/* Peers have been sent the connections that there were when it was copied. */
		conns_by.is_peer = by->is_peer || (c->seen && !f->is_late &&
			(!c->held || !c->held[i]) &&
			memcmp(f->slot, c->seen + i * stride, stride) == 0);
		set_connections(f, c, i, n, f->slot, &conns_by);
		f->changes += n != 0;
		if (c->seen)
			follow_counts(f, c, i, by);
	}
}

/* Copies the chunk as it is now, if another process has added its counts: changes are added from
 * now on. Without memory it is copied in a later pass. */
static void
see_chunk(const struct table_follow *f, struct followed *c)
{
	if (!f->is_late || c->seen)
		return;
	c->seen = mem_alloc(slots_size(f));
	if (c->seen)
		memcpy(c->seen, c->slots, slots_size(f));
}

int
table_follow_step(struct table_follow *f, unsigned int most, const struct table_caller *by)
{
	/* Only connections are followed, and there are none. */
	if (!f->with_counts && (!f->t->prev_at || table_follow_is_idle(f)))
		return 0;
	/* Without memory they are found later. */
	if (!f->next)
		(void)!find_followed(f, 1);
	for (; most && f->next < f->n; most -= MIN(most, 1u << f->saved.chunk_bits)) {
		see_chunk(f, &f->chunk[f->next]);
		follow_chunk(f, &f->chunk[f->next++], by);
	}
	if (f->next < f->n)
		return 1;
	f->next = 0;
	f->last_changes = f->changes;
	f->changes = 0;
	return 0;
}

int
table_follow_rest(struct table_follow *f, unsigned int most, const struct table_caller *by)
{
	/* The rest of the pass that has begun, and a whole one. */
	if (f->last_passes < 2 && !table_follow_step(f, most, by))
		f->last_passes++;
	return f->last_passes < 2;
}

int
table_follow_is_idle(const struct table_follow *f)
{
	return f->last_changes == 0;
}

static void
free_followed(const struct table_follow *f, const struct followed *c, const struct table_caller *by)
{
	for (uint32_t j = 0; c->held && j < 1u << f->saved.chunk_bits; j++) {
		if (!c->held[j])
			continue;
		add_previous(f->t, c->held[j], 0u - c->cur[j], by);
		table_unref(c->held[j]);
	}
	mem_free(c->held);
	mem_free(c->cur);
	mem_free(c->seen);
}

int
table_follow_shrink(struct table_follow *f, unsigned int most, const struct table_caller *by)
{
	for (; most && f->n; most--)
		free_followed(f, &f->chunk[--f->n], by);
	return f->n != 0;
}

void
table_follow_free(struct table_follow *f, const struct table_caller *by)
{
	if (!f)
		return;
	(void)table_follow_shrink(f, UINT32_MAX, by);
	mem_free(f->chunk);
	mem_free(f->slot);
	mem_free(f);
}

struct table_follow *
table_follow_connections(struct table *t, const struct memfile_view *v,
	const struct table_caller *by)
{
	enum table_restored how;
	struct table_follow *f = open_follow(t, v, 0, by, &how);

	if (f)
		(void)table_follow_step(f, UINT32_MAX, by);
	return f;
}

void
table_follow_count(struct table_follow *f)
{
	/* Chunks that are found before this have been added by the other process. */
	(void)!find_followed(f, 0);
	f->is_late = f->with_counts = 1;
	f->next = 0;
	f->changes = 0;
	f->last_changes = 1;
}

/* --- copies at the start --- */

/* An entry to be copied, and the milliseconds until it expires there. */
struct found {
	uint32_t left;
	const char *slot;
};

/* A list of entries that grows. */
struct found_list {
	struct found *v;
	size_t n, room;
};

static int
by_time_left(const void *a, const void *b)
{
	uint32_t x = ((const struct found *)a)->left, y = ((const struct found *)b)->left;

	return (x > y) - (x < y);
}

static int
add_found(struct found_list *list, uint32_t left, const char *slot)
{
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 1024;
		struct found *v = mem_resize(list->v, room, sizeof(*v));

		if (!v)
			return -ERR_NOMEM;
		list->v = v;
		list->room = room;
	}
	list->v[list->n++] = (struct found){ .left = left, .slot = slot };
	return 0;
}

/* Milliseconds until it expires; one in use has all its time left. -1: it has expired. Without
 * expiry: when it was touched, relative to now, modulo 2^32. The previous process may have touched
 * it a little after `now`, which this one read when it started. */
static int64_t
time_left(const struct table_follow *f, const char *slot, uint32_t now)
{
	uint32_t left = slot_expire(slot) - now;

	if (!f->saved.expire_ms)
		return left < CLOCK_SKEW_MS ? UINT32_MAX : left;
	if (left <= f->saved.expire_ms + CLOCK_SKEW_MS)
		return left;
	return slot_refs(slot) & ENTRY_REFS ? (int64_t)f->saved.expire_ms : -1;
}

/* The entries that have not expired, those that expire first, or were touched first, in front. */
static struct found_list
find_entries(const struct table_follow *f, uint32_t now)
{
	struct found_list list = { .n = 0 };
	int rc = 0;

	for (unsigned int i = 0; i < f->n && rc == 0; i++) {
		const char *slots = f->chunk[i].seen ? f->chunk[i].seen : f->chunk[i].slots;

		for (uint32_t j = 0; j < 1u << f->saved.chunk_bits && rc == 0; j++) {
			const char *slot = slots + (size_t)j * f->saved.stride;
			int64_t left = slot_refs(slot) & ENTRY_LIVE ? time_left(f, slot, now) : -1;

			if (left >= 0)
				rc = add_found(&list, (uint32_t)left, slot);
		}
	}
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), by_time_left);
	return list;
}

/* 1 if it was copied, else 0. */
static unsigned int
copy_entry(struct table_follow *f, const struct found *found, const struct table_caller *by)
{
	uint32_t own = f->t->conf.expire_ms;
	struct table_entry *e;

	memcpy(f->slot, found->slot, f->saved.stride);
	e = own_entry(f, f->slot, by);
	if (!e)
		return 0;
	copy_values(f, e, f->slot, by);
	copy_peer_parts(f, e, f->slot);
	copy_change(f, e, f->slot, by);
	if (!own == !f->saved.expire_ms)
		atomic_store_explicit(&e->expire,
			(uint32_t)by->now_ms + (own ? MIN(found->left, own) : found->left),
			memory_order_relaxed);
	table_unref(e);
	return 1;
}

enum table_restored
table_follow_restore(struct table *t, const struct memfile_view *v, const struct table_caller *by,
	unsigned int *n, struct table_follow **follow)
{
	enum table_restored how;
	struct table_follow *f = open_follow(t, v, follow != NULL, by, &how);
	struct table_caller copier = *by;
	struct found_list list;

	copier.is_peer = 1;
	*n = 0;
	if (follow)
		*follow = f;
	if (!f)
		return how;
	t->is_restored = 1;
	f->is_complete = table_follow_mark(t, v, TABLE_MARK_COMPLETE) == 1;
	list = find_entries(f, (uint32_t)by->now_ms);
	for (size_t i = 0; i < list.n; i++)
		*n += copy_entry(f, &list.v[i], &copier);
	mem_free(list.v);
	/* Last: a number there is below the end. */
	continue_log(f);
	if (follow)
		(void)table_follow_step(f, UINT32_MAX, by);
	else
		table_follow_free(f, by);
	return how;
}

int
table_is_restored(const struct table *t)
{
	return t->is_restored;
}
