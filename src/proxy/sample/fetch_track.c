/* Fetches of tracked entries and of entries of the client's address (manual 7.3.3). On the worker
 * of their stream. */
#include <string.h>

#include "proxy/model/addr_override.h"
#include "proxy/model/stream_extras.h"
#include "proxy/sample/table_word.h"

/* Names of fetches say how the entry is found. */
enum track_by { BY_SC0, BY_SC1, BY_SC2, BY_SC, BY_SRC };

/* A fetch's kind; KIND_AT: the first argument is the index of an array. */
#define KIND(by, w) ((intptr_t)(by) << 8 | (w))
#define KIND_AT 0x10000

/* The entry that is meant, which may not be there, and its table. */
struct spot {
	struct table *table;
	struct table_entry *entry;
	int is_held;               /* by a reference of this evaluation */
};

static enum track_word
word_of(const struct rule_args *a)
{
	return (enum track_word)(a->kind & 0xff);
}

static enum track_by
by_of(const struct rule_args *a)
{
	return (enum track_by)(a->kind >> 8 & 0xff);
}

static unsigned int
fetch_is_indexed(const struct rule_args *a)
{
	return (a->kind & KIND_AT) != 0;
}

/* The places of arguments: the index of an array, then the number of a counter, then the table. */
static unsigned int
fetch_table_place(const struct rule_args *a)
{
	return fetch_is_indexed(a) + (by_of(a) == BY_SC);
}

static int
init_track(struct rule_args *a, const struct rule_vocab *v, const char **why unused)
{
	if (by_of(a) == BY_SRC)
		table_arg_init(a, fetch_table_place(a), v);
	return 0;
}

static int
check_track_fetch(struct rule_args *a, void *root, const char **why)
{
	unsigned int i = fetch_table_place(a);

	/* Without a table it is the one of the tracked entry. */
	if (by_of(a) != BY_SRC && a->arg[i].type == ARG_END)
		return 0;
	return table_arg_check(a, i, root, why);
}

/* The key of an entry of table `from`, for another table: 0, or -1: that has keys of another
 * form. */
static int
key_of_entry(const struct tracked *from, const struct table *t, struct table_key *k)
{
	const struct table_conf *a = table_conf_of(from->table), *b = table_conf_of(t);
	const unsigned char *bytes = table_entry_key(from->table, from->entry);
	struct in6_addr ipv6;
	struct in_addr ipv4;
	uint32_t v;

	if (a->type != b->type)
		return -1;
	switch (a->type) {
	case TABLE_INTEGER:
		memcpy(&v, bytes, sizeof(v));
		return table_key_int(t, k, v);
	case TABLE_IPV4:
		memcpy(&ipv4, bytes, sizeof(ipv4));
		return table_key_ipv4(t, k, ipv4);
	case TABLE_IPV6:
		memcpy(&ipv6, bytes, sizeof(ipv6));
		return table_key_ipv6(t, k, &ipv6);
	case TABLE_STRING:
		/* A longer text is not cut: it would be the key of another one. */
		if (strnlen((const char *)bytes, a->key_len) > b->key_len)
			return -1;
		return table_key_bytes(t, k, bytes, a->key_len);
	case TABLE_BINARY:
		return table_key_bytes(t, k, bytes, a->key_len);
	case TABLE_TYPES:
		break;
	}
	return -1;
}

static struct table_entry *
entry_of_key(struct table *t, const struct table_key *k, enum track_word w, struct sample_ctx *cx)
{
	struct table_caller by = table_caller_of(cx);

	return table_word_makes(w) ? table_get(t, k, &by) : table_find(t, k, &by);
}

/* 1, or 0: nothing is tracked. */
static int
find_tracked_spot(const struct rule_args *a, struct sample_ctx *cx, struct spot *at)
{
	const struct rule_arg *number = &a->arg[fetch_is_indexed(a)];
	int64_t slot = by_of(a) == BY_SC ? number->num : (int64_t)by_of(a);
	struct table *named = a->arg[fetch_table_place(a)].ref;
	const struct tracked *t = NULL;
	struct table_key k;

	if (cx->stream && slot >= 0 && slot <= UINT8_MAX)
		t = stream_tracked(cx->stream, (unsigned int)slot);
	if (!t)
		return 0;
	*at = (struct spot){ .table = t->table, .entry = t->entry };
	if (!named || named == t->table)
		return 1;
	*at = (struct spot){ .table = named };
	if (key_of_entry(t, named, &k) == 0)
		at->entry = entry_of_key(named, &k, word_of(a), cx);
	at->is_held = at->entry != NULL;
	return 1;
}

static int
client_address(struct sample_ctx *cx, struct sample *s)
{
	const struct addr *addr = cx->stream ? addr_override_source(cx->stream) : NULL;

	if (!addr)
		return 0;
	if (addr_family(addr) == AF_INET) {
		s->type = SAMPLE_IPV4;
		s->u.ipv4 = addr->u.in.sin_addr;
	} else if (addr_family(addr) == AF_INET6) {
		s->type = SAMPLE_IPV6;
		s->u.ipv6 = addr->u.in6.sin6_addr;
	} else {
		return 0;
	}
	return 1;
}

/* 1, or 0: the client's address is no key of the table. */
static int
find_source(const struct rule_args *a, struct sample_ctx *cx, struct spot *at)
{
	struct table *t = a->arg[fetch_table_place(a)].ref;
	struct table_key k;
	struct sample src;

	if (!client_address(cx, &src) || sample_cast(&src, table_key_sample(t), cx->arena) < 0)
		return 0;
	table_key_of(t, &src, &k);
	*at = (struct spot){ .table = t, .entry = entry_of_key(t, &k, word_of(a), cx) };
	at->is_held = at->entry != NULL;
	return 1;
}

static void
release_spot(const struct spot *at)
{
	if (at->is_held)
		table_unref(at->entry);
}

/* True if a sample is found by its entry. */
static int
find_spot(const struct rule_args *a, struct sample_ctx *cx, struct spot *at)
{
	return by_of(a) == BY_SRC ? find_source(a, cx, at) : find_tracked_spot(a, cx, at);
}

static int
fetch_word(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct table_caller by = table_caller_of(cx);
	size_t mark = arena_mark(cx->arena);
	struct spot at;
	int found;

	if (!find_spot(a, cx, &at)) {
		arena_release(cx->arena, mark);
		return 0;
	}
	found = table_word_result(word_of(a),
		fetch_is_indexed(a) ? table_word_index(a, word_of(a)) : 0, at.table, at.entry, &by,
		s);
	/* The slot's own reference counts, that of a look-up does not. */
	if (found && word_of(a) == TRACK_TRACKERS && at.entry && !at.is_held)
		s->u.sint++;
	release_spot(&at);
	arena_release(cx->arena, mark);
	return found;
}

static int
fetch_tracked(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct spot at;
	int found = find_spot(a, cx, &at);

	if (found)
		release_spot(&at);
	sample_set_bool(s, found);
	return 1;
}

/* The key of an entry, as a sample of the table's type: a text is copied. */
static int
key_as_sample(const struct spot *at, struct arena *a, struct sample *s)
{
	const unsigned char *bytes = table_entry_key(at->table, at->entry);
	size_t n = table_conf_of(at->table)->key_len;
	uint32_t v;

	s->type = table_key_sample(at->table);
	if (s->type == SAMPLE_SINT) {
		memcpy(&v, bytes, sizeof(v));
		s->u.sint = v;
	} else if (s->type == SAMPLE_IPV4) {
		memcpy(&s->u.ipv4, bytes, sizeof(s->u.ipv4));
	} else if (s->type == SAMPLE_IPV6) {
		memcpy(&s->u.ipv6, bytes, sizeof(s->u.ipv6));
	} else {
		if (s->type == SAMPLE_STR)
			n = strnlen((const char *)bytes, n);
		s->u.str = arena_copy(a, (struct str){ (const char *)bytes, n });
		return s->u.str.p != NULL;
	}
	return 1;
}

/* The named table may have no entry of the key. */
static int
fetch_key(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct spot at;
	int found;

	if (!find_spot(a, cx, &at))
		return 0;
	found = at.entry && key_as_sample(&at, cx->arena, s);
	release_spot(&at);
	return found;
}

/* --- table_avl, table_cnt --- */

enum room { ROOM_LEFT, ROOM_USED };

static int
init_room(struct rule_args *a, const struct rule_vocab *v, const char **why unused)
{
	table_arg_init(a, 0, v);
	return 0;
}

static int
check_room(struct rule_args *a, void *root, const char **why)
{
	return table_arg_check(a, 0, root, why);
}

static int
fetch_room(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	const struct table *t = a->arg[0].ref;

	sample_set_int(s, a->kind == ROOM_LEFT ? table_avail(t) : table_used(t));
	return 1;
}

/* --- the table --- */

#define FETCH(n, w, by, args, least, text, help, type, f)                                      \
	{ .name = n, .arg = args, .min = least, .out = type, .needs = SAMPLE_AT_CONN,          \
		.fetch = f, .init = init_track, .check = check_track_fetch, .kind = KIND(by, w), \
		.syntax = text, .doc = help }
#define ARGS(...) { __VA_ARGS__ }
/* The rows of a word about tracked entries. */
#define OF_SLOTS(n, w, help, type, f)                                                          \
	FETCH("sc_" n, w, BY_SC, ARGS(ARG_INT, ARG_TABLE), 1, "<ctr>[,<table>]", help, type, f), \
		FETCH("sc0_" n, w, BY_SC0, ARGS(ARG_TABLE), 0, "[<table>]",                      \
			"As sc_" n " of counter 0.", type, f),                                 \
		FETCH("sc1_" n, w, BY_SC1, ARGS(ARG_TABLE), 0, "[<table>]",                      \
			"As sc_" n " of counter 1.", type, f),                                 \
		FETCH("sc2_" n, w, BY_SC2, ARGS(ARG_TABLE), 0, "[<table>]",                      \
			"As sc_" n " of counter 2.", type, f)
#define OF_SRC(n, w, help)                                                                     \
	FETCH("src_" n, w, BY_SRC, ARGS(ARG_TABLE), 0, "[<table>]", help, SAMPLE_SINT, fetch_word)
#define TRACK_VALUE(id, n, conv, data, help)                                                   \
	OF_SLOTS(n, TRACK_##id, help, SAMPLE_SINT, fetch_word),                                \
		OF_SRC(n, TRACK_##id, "As sc_" n ", of the client's address."),
#define TRACK_ELEMENT(id, n, conv, data, help)                                                 \
	FETCH("sc_" n, TRACK_##id | KIND_AT, BY_SC, ARGS(ARG_INT, ARG_INT, ARG_TABLE), 2,      \
		"<idx>,<ctr>[,<table>]", help, SAMPLE_SINT, fetch_word),                       \
		FETCH("sc0_" n, TRACK_##id | KIND_AT, BY_SC0, ARGS(ARG_INT, ARG_TABLE), 1,         \
			"<idx>[,<table>]", "As sc_" n " of counter 0.", SAMPLE_SINT,           \
			fetch_word),                                                           \
		FETCH("sc1_" n, TRACK_##id | KIND_AT, BY_SC1, ARGS(ARG_INT, ARG_TABLE), 1,         \
			"<idx>[,<table>]", "As sc_" n " of counter 1.", SAMPLE_SINT,           \
			fetch_word),                                                           \
		FETCH("sc2_" n, TRACK_##id | KIND_AT, BY_SC2, ARGS(ARG_INT, ARG_TABLE), 1,         \
			"<idx>[,<table>]", "As sc_" n " of counter 2.", SAMPLE_SINT,           \
			fetch_word),                                                           \
		FETCH("src_" n, TRACK_##id | KIND_AT, BY_SRC, ARGS(ARG_INT, ARG_TABLE), 1,         \
			"<idx>[,<table>]", "As sc_" n ", of the client's address.",            \
			SAMPLE_SINT, fetch_word),
#define TRACK_CHANGE(id, n, element, help) TRACK_VALUE(id, n, n, 0, help)
#define TRACK_CHANGE_AT(id, n, help) TRACK_ELEMENT(id, n, n, 0, help)

const struct rule_fetch track_fetches[] = {
#include "proxy/sample/track.tbl.h"
#undef TRACK_VALUE
#undef TRACK_ELEMENT
#undef TRACK_CHANGE
#undef TRACK_CHANGE_AT
	OF_SLOTS("key", TRACK_KEY, "The key of the tracked entry.", SAMPLE_ANY, fetch_key),
	OF_SLOTS("tracked", TRACK_TRACKED, "True if something is tracked.", SAMPLE_BOOL,
		fetch_tracked),
	OF_SLOTS("trackers", TRACK_TRACKERS,
		"Number of connections and requests that track the entry.", SAMPLE_SINT,
		fetch_word),
	OF_SRC("updt_conn_cnt", TRACK_UPDT_CONN_CNT,
		"Counts a connection of the client's address, and returns their number."),
	{ .name = "table_avl", .arg = { ARG_TABLE }, .syntax = "[<table>]", .out = SAMPLE_SINT,
		.either = SAMPLE_AT_CONN | SAMPLE_AT_CHECK, .fetch = fetch_room,
		.init = init_room, .check = check_room, .kind = ROOM_LEFT,
		.doc = "Number of entries that the table has room for." },
	{ .name = "table_cnt", .arg = { ARG_TABLE }, .syntax = "[<table>]", .out = SAMPLE_SINT,
		.either = SAMPLE_AT_CONN | SAMPLE_AT_CHECK, .fetch = fetch_room,
		.init = init_room, .check = check_room, .kind = ROOM_USED,
		.doc = "Number of entries that the table has." },
	{ .name = NULL },
};
