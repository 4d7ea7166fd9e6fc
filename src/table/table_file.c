/* Tables in memory files. Sizes that another process has written are verified before they are used,
 * and the rest is numbers. */
#include "table/table_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "table_int.h"

/* Changes with the meaning of the members. */
#define TABLE_FORM 1u
#define NAME_TEXT_MAX 1024
#define NAMES_ROOM 1024

/* Kinds of records: the table; a chunk; a name of the dictionary. */
enum { RECORD_TABLE = 1, RECORD_CHUNK, RECORD_NAME };

/* The payload of RECORD_TABLE. */
struct table_saved {
	uint32_t type, key_len, key_at, stride, chunk_bits, expire_ms, prev_at;
	struct {
		uint32_t at, n, period_ms;
	} data[TABLE_DATA_TYPES];
};

/* A previous table that is read: its records, and what they say, verified. */
struct reader {
	const struct memfile_view *view;
	size_t name_len;
	const char *name;
	struct table_saved saved;
};

uint32_t
table_file_layout(void)
{
	const size_t size[] = { TABLE_FORM, sizeof(struct table_entry), sizeof(struct table_rate),
		sizeof(struct table_saved), TABLE_DATA_TYPES };

	return hash_crc32c(0, size, sizeof(size));
}

/* --- the own file --- */

/* "name\n<kind><a>.<b>" */
static void
record_key(const struct table *t, char *key, char kind, uint32_t a, uint32_t b)
{
	(void)snprintf(key, NAME_TEXT_MAX, "%s\n%c%u.%u", t->name, kind, a, b);
}

size_t
table_file_room(const struct table *t)
{
	char key[NAME_TEXT_MAX];
	uint64_t slots = (uint64_t)t->conf.size + t->conf.size / 8, chunks;

	record_key(t, key, 'c', UINT32_MAX, UINT32_MAX);
	/* A shard may have more than its part, and its last chunk is not full. */
	chunks = (slots >> t->chunk_bits) + 4u * t->n_shards;
	return memfile_record_size(key, "", sizeof(struct table_saved)) +
		chunks * memfile_record_size(key, "", table_chunk_bytes(t)) +
		(t->at[TABLE_SERVER_KEY] ? NAMES_ROOM * memfile_record_size(key, "", NAME_TEXT_MAX)
					 : 0);
}

int
table_file_place(struct table *t, struct memfile *f)
{
	struct table_saved *s = memfile_add(f, RECORD_TABLE, t->name, "", sizeof(*s));

	if (!s)
		return -ERR_FULL;
	s->type = t->conf.type;
	s->key_len = t->conf.key_len;
	s->key_at = t->key_at;
	s->stride = t->stride;
	s->chunk_bits = t->chunk_bits;
	s->expire_ms = t->conf.expire_ms;
	s->prev_at = t->prev_at;
	for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++) {
		s->data[i].at = t->at[i];
		s->data[i].n = t->conf.store[i].n;
		s->data[i].period_ms = t->conf.store[i].period_ms;
	}
	t->file = f;
	t->file_start = f->map;
	t->file_end = f->map + f->size;
	return 0;
}

char *
table_chunk_new(struct table *t, const struct table_shard *sh, uint32_t number)
{
	char key[NAME_TEXT_MAX], *chunk = NULL;

	record_key(t, key, 'c', (uint32_t)(sh - t->shard), number);
	if (t->file)
		chunk = memfile_add(t->file, RECORD_CHUNK, key, "", table_chunk_bytes(t));
	return chunk ? chunk : mem_zalloc_aligned(CACHE_LINE, table_chunk_bytes(t));
}

void
table_chunk_free(struct table *t, char *chunk)
{
	if (chunk < t->file_start || chunk >= t->file_end)
		mem_free(chunk);
}

void
table_name_save(struct table *t, uint32_t number, const char *name)
{
	size_t n = strlen(name) + 1;
	char key[NAME_TEXT_MAX], *to;

	if (!t->file || n > NAME_TEXT_MAX)
		return;
	record_key(t, key, 'n', number, 0);
	to = memfile_add(t->file, RECORD_NAME, key, "", n);
	if (to)
		memcpy(to, name, n);
}

/* --- a previous file --- */

/* True if the slots are what they seem to be. */
static int
saved_is_sound(const struct table_saved *s)
{
	uint32_t head = sizeof(struct table_entry);

	if (s->stride % 4 || s->stride > UINT16_MAX || s->chunk_bits > 16 || s->key_at < head ||
		s->key_at > s->stride || s->key_len > s->stride - s->key_at ||
		(s->prev_at && (s->prev_at % 4 || s->prev_at < head || s->prev_at + 4 > s->key_at)))
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
open_reader(struct reader *r, const struct table *t, const struct memfile_view *v)
{
	const struct memfile_item *item = memfile_find(v, RECORD_TABLE, t->name, "");

	if (!item)
		return TABLE_NOT_THERE;
	if (item->len < sizeof(r->saved))
		return TABLE_IS_DAMAGED;
	*r = (struct reader){ .view = v, .name = t->name, .name_len = strlen(t->name) };
	memcpy(&r->saved, item->payload, sizeof(r->saved));
	if (!saved_is_sound(&r->saved))
		return TABLE_IS_DAMAGED;
	return r->saved.type == (uint32_t)t->conf.type && r->saved.key_len == t->conf.key_len
		? TABLE_RESTORED : TABLE_IS_OTHER;
}

/* The payload of item i, if that is a chunk of the table. */
static const char *
chunk_of_reader(const struct reader *r, unsigned int i)
{
	const struct memfile_item *item = &r->view->item[i];
	size_t size = ((size_t)4 + r->saved.stride) << r->saved.chunk_bits;

	if (item->kind != RECORD_CHUNK || item->len < size ||
		strncmp(item->key, r->name, r->name_len) != 0 || item->key[r->name_len] != '\n')
		return NULL;
	return item->payload;
}

/* A slot of a chunk; NULL: it has no entry. */
static const struct table_entry *
slot_of_reader(const struct reader *r, const char *chunk, uint32_t slot)
{
	const char *at = chunk + ((size_t)4 << r->saved.chunk_bits) +
		(size_t)slot * r->saved.stride;
	const struct table_entry *e = (const struct table_entry *)(const void *)at;

	return atomic_load_explicit(&e->refs, memory_order_relaxed) & ENTRY_LIVE ? e : NULL;
}

/* A key of the table, whose bytes are those of the slot. */
static int
key_of_slot(const struct reader *r, const struct table *t, const struct table_entry *e,
	struct table_key *k)
{
	const char *key = (const char *)e + r->saved.key_at;
	struct in6_addr six;
	struct in_addr four;
	uint32_t v;

	switch (t->conf.type) {
	case TABLE_INTEGER:
		memcpy(&v, key, sizeof(v));
		return table_key_int(t, k, v);
	case TABLE_IPV4:
		memcpy(&four, key, sizeof(four));
		return table_key_ipv4(t, k, four);
	case TABLE_IPV6:
		memcpy(&six, key, sizeof(six));
		return table_key_ipv6(t, k, &six);
	case TABLE_STRING:
	case TABLE_BINARY:
	case TABLE_TYPES:
		break;
	}
	return table_key_bytes(t, k, key, r->saved.key_len);
}

/* --- copies --- */

/* An entry to be copied, and the milliseconds until it expires there. */
struct found {
	uint32_t left;
	const struct table_entry *e;
};

static int
by_time_left(const void *a, const void *b)
{
	uint32_t x = ((const struct found *)a)->left, y = ((const struct found *)b)->left;

	return (x > y) - (x < y);
}

/* A list of entries that grows. */
struct found_list {
	struct found *v;
	size_t n, room;
};

static int
add_found(struct found_list *list, uint32_t left, const struct table_entry *e)
{
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 1024;
		struct found *v = mem_resize(list->v, room, sizeof(*v));

		if (!v)
			return -ERR_NOMEM;
		list->v = v;
		list->room = room;
	}
	list->v[list->n++] = (struct found){ .left = left, .e = e };
	return 0;
}

/* Milliseconds until it expires; one in use has all its time left. -1: it has expired. Without
 * expiry: when it was touched, relative to now, modulo 2^32. */
static int64_t
time_left(const struct reader *r, const struct table_entry *e, uint32_t now)
{
	uint32_t left = atomic_load_explicit(&e->expire, memory_order_relaxed) - now;

	if (!r->saved.expire_ms || left <= r->saved.expire_ms)
		return left;
	return atomic_load_explicit(&e->refs, memory_order_relaxed) & ENTRY_REFS
		? (int64_t)r->saved.expire_ms : -1;
}

/* The entries that have not expired, those that expire first, or were touched first, in front. */
static struct found_list
find_entries(const struct reader *r, uint32_t now)
{
	struct found_list list = { .n = 0 };
	int rc = 0;

	for (unsigned int i = 0; i < r->view->n && rc == 0; i++) {
		const char *chunk = chunk_of_reader(r, i);

		for (uint32_t j = 0; chunk && j < 1u << r->saved.chunk_bits && rc == 0; j++) {
			const struct table_entry *e = slot_of_reader(r, chunk, j);
			int64_t left = e ? time_left(r, e, now) : -1;

			if (left >= 0)
				rc = add_found(&list, (uint32_t)left, e);
		}
	}
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), by_time_left);
	return list;
}

/* The text of name number n of the dictionary; NULL: there is none. */
static const char *
saved_name(const struct reader *r, const struct table *t, uint32_t n)
{
	char key[NAME_TEXT_MAX];
	const struct memfile_item *item;

	record_key(t, key, 'n', n, 0);
	item = memfile_find(r->view, RECORD_NAME, key, "");
	return item && item->len && memchr(item->payload, '\0', item->len) ? item->payload : NULL;
}

static void
copy_values(const struct reader *r, struct table *t, struct table_entry *e, const char *from,
	const struct table_caller *by)
{
	for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++) {
		enum table_kind kind = table_data_info[i].kind;
		uint32_t n = MIN(r->saved.data[i].n, (uint32_t)t->conf.store[i].n), number;
		const char *name;

		if (!n || i == TABLE_CONN_CUR ||
			r->saved.data[i].period_ms != t->conf.store[i].period_ms)
			continue;
		if (kind != TABLE_KIND_NAME) {
			memcpy((char *)e + t->at[i], from + r->saved.data[i].at,
				(size_t)table_value_size(kind) * n);
			continue;
		}
		memcpy(&number, from + r->saved.data[i].at, sizeof(number));
		name = number ? saved_name(r, t, number) : NULL;
		if (name)
			(void)table_set_server_key(t, e, name, by);
	}
}

enum table_restored
table_file_restore(struct table *t, const struct memfile_view *v, const struct table_caller *by,
	unsigned int *n)
{
	struct reader r;
	enum table_restored how = open_reader(&r, t, v);
	struct found_list list;

	*n = 0;
	if (how != TABLE_RESTORED)
		return how;
	list = find_entries(&r, (uint32_t)by->now_ms);
	for (size_t i = 0; i < list.n; i++) {
		uint32_t left = list.v[i].left;
		struct table_key k;
		struct table_entry *e = key_of_slot(&r, t, list.v[i].e, &k) == 0
			? table_get(t, &k, by) : NULL;

		if (!e)
			continue;
		copy_values(&r, t, e, (const char *)list.v[i].e, by);
		if (t->conf.expire_ms)
			left = MIN(left, t->conf.expire_ms);
		if (!t->conf.expire_ms == !r.saved.expire_ms)
			atomic_store_explicit(&e->expire, (uint32_t)by->now_ms + left,
				memory_order_relaxed);
		table_unref(e);
		++*n;
	}
	mem_free(list.v);
	return how;
}

/* --- connections of a process that drains --- */

/* The connections that are its own, not those of processes before it. */
static uint32_t
own_connections(const struct table_drained *x)
{
	uint32_t cur = atomic_load_explicit(x->cur, memory_order_relaxed);
	uint32_t prev = atomic_load_explicit(x->prev, memory_order_relaxed);

	return cur > prev ? cur - prev : 0;
}

static int
add_drained(struct table_drain *d, const struct table_drained *x)
{
	struct table_drained *v = d->v;

	if (d->n == d->room) {
		v = mem_resize(d->v, d->room ? 2 * d->room : 64, sizeof(*v));
		if (!v)
			return -ERR_NOMEM;
		d->room = d->room ? 2 * d->room : 64;
		d->v = v;
	}
	v[d->n++] = *x;
	return 0;
}

static int
drain_slot(struct table_drain *d, const struct reader *r, const struct table_entry *e,
	const struct table_caller *by)
{
	const char *at = (const char *)e;
	struct table_drained x = {
		.cur = (const _Atomic uint32_t *)(const void *)
			(at + r->saved.data[TABLE_CONN_CUR].at),
		.prev = (const _Atomic uint32_t *)(const void *)(at + r->saved.prev_at),
	};
	struct table_key k;
	int rc;

	if (!own_connections(&x) || key_of_slot(r, d->t, e, &k) < 0)
		return 0;
	x.e = table_get(d->t, &k, by);
	rc = x.e ? add_drained(d, &x) : -ERR_NOMEM;
	if (rc < 0 && x.e)
		table_unref(x.e);
	return rc;
}

int
table_drain_add(struct table_drain *d, struct table *t, const struct memfile_view *v,
	const struct table_caller *by)
{
	struct reader r;
	int rc = 0;

	d->t = t;
	if (!t->prev_at || open_reader(&r, t, v) != TABLE_RESTORED || !r.saved.prev_at ||
		!r.saved.data[TABLE_CONN_CUR].n)
		return 0;
	for (unsigned int i = 0; i < v->n; i++) {
		const char *chunk = chunk_of_reader(&r, i);

		for (uint32_t j = 0; chunk && j < 1u << r.saved.chunk_bits; j++) {
			const struct table_entry *e = slot_of_reader(&r, chunk, j);

			if (e && drain_slot(d, &r, e, by) < 0)
				rc = -ERR_NOMEM;
		}
	}
	(void)table_drain_update(d);
	return rc;
}

/* Adds to conn_cur and to its part of previous processes. */
static void
add_previous(const struct table *t, struct table_entry *e, uint32_t n)
{
	char *at = (char *)e;

	(void)atomic_fetch_add_explicit((_Atomic uint32_t *)(void *)(at + t->prev_at), n,
		memory_order_relaxed);
	(void)atomic_fetch_add_explicit(
		(_Atomic uint32_t *)(void *)(at + t->at[TABLE_CONN_CUR]), n, memory_order_relaxed);
}

unsigned int
table_drain_update(struct table_drain *d)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < d->n; i++) {
		struct table_drained *x = &d->v[i];
		uint32_t now = own_connections(x);

		if (now != x->seen)
			add_previous(d->t, x->e, now - x->seen);
		x->seen = now;
		left += now != 0;
	}
	return left;
}

void
table_drain_fini(struct table_drain *d)
{
	for (unsigned int i = 0; i < d->n; i++) {
		add_previous(d->t, d->v[i].e, 0u - d->v[i].seen);
		table_unref(d->v[i].e);
	}
	mem_free(d->v);
	*d = (struct table_drain){ .t = d->t };
}
