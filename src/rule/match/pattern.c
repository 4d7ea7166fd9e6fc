/* Sets of patterns. A pattern is found through an index, through another one with the same
 * key, or in the list that is tried one by one. Changed while workers are paused, or under
 * the guard. */
#include "rule/match/pattern.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "rule/match/pattern_entry.h"
#include "rule/match/pattern_key.h"

/* --- the index ------------------------------------------------------------------------------- */

#define CAP_FIRST 4
/* Old slots moved with each added key: a table that has doubled has room for half as many as it
 * had. */
#define MOVED_AT_ONCE 4

static void
pattern_index_init(struct pattern_index *x, int fold, const struct keyhash *key)
{
	memset(x, 0, sizeof(*x));
	x->key = *key;
	x->fold = fold != 0;
}

static void
pattern_index_fini(struct pattern_index *x)
{
	mem_free(x->slot);
	mem_free(x->old);
	mem_free(x->lens);
	memset(x, 0, sizeof(*x));
}

static inline uint8_t *
slot_tags(struct pattern **slot, uint32_t cap)
{
	return (uint8_t *)(slot + cap);
}

/* Takes the lowest bits: the uppermost ones select the slot. */
static inline uint8_t
tag_of(uint32_t hash)
{
	return (uint8_t)(hash | 1);
}

static inline uint32_t
home_of(uint32_t hash, uint32_t cap)
{
	return (uint32_t)((uint64_t)hash * cap >> 32);
}

/* Stored keys are folded already: only lookups fold. */
static int
is_equal(const struct pattern_index *x, const struct pattern *t, const char *p, size_t len)
{
	struct str key = pattern_key(t);

	if (key.len != len)
		return 0;
	if (!x->fold)
		return memcmp(key.p, p, len) == 0;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)key.p[i] != pattern_fold((unsigned char)p[i]))
			return 0;
	return 1;
}

static inline struct pattern *
find_in_slots(const struct pattern_index *x, struct pattern **slot, uint32_t cap, uint32_t hash,
	struct str key)
{
	const uint8_t *tag = slot_tags(slot, cap);

	for (uint32_t at = home_of(hash, cap); tag[at]; at = (at + 1) & (cap - 1))
		if (tag[at] == tag_of(hash) && is_equal(x, slot[at], key.p, key.len))
			return slot[at];
	return NULL;
}

static one_copy struct pattern *
find_old(const struct pattern_index *x, uint32_t hash, const char *key, size_t len)
{
	return find_in_slots(x, x->old, x->old_cap, hash, (struct str){ key, len });
}

struct pattern *
pattern_index_find(const struct pattern_index *x, uint32_t hash, const char *key, size_t len)
{
	struct pattern *t;

	if (!x->cap)
		return NULL;
	t = find_in_slots(x, x->slot, x->cap, hash, (struct str){ key, len });
	return likely(t || !x->old) ? t : find_old(x, hash, key, len);
}

static void
put_in_slots(struct pattern **slot, uint32_t cap, struct pattern *item)
{
	uint8_t *tag = slot_tags(slot, cap);
	uint32_t at = home_of(item->hash, cap);

	while (tag[at])
		at = (at + 1) & (cap - 1);
	slot[at] = item;
	tag[at] = tag_of(item->hash);
}

/* A run is moved as a whole: a gap in it would hide the entries after it. */
static void
move_some(struct pattern_index *x, uint32_t n)
{
	uint8_t *tag = x->old ? slot_tags(x->old, x->old_cap) : NULL;

	while (x->old && (n || tag[x->moved])) {
		if (tag[x->moved])
			put_in_slots(x->slot, x->cap, x->old[x->moved]);
		tag[x->moved++] = 0;
		n -= n > 0;
		if (x->moved < x->old_cap)
			continue;
		mem_free(x->old);
		x->old = NULL;
	}
}

static int
grow_slots(struct pattern_index *x, uint32_t cap)
{
	struct pattern **slot = mem_alloc((size_t)cap * (sizeof(struct pattern *) + 1));

	if (!slot)
		return -ERR_NOMEM;
	memset(slot_tags(slot, cap), 0, cap);
	/* While it grows, nothing of the old table is left. */
	move_some(x, UINT32_MAX);
	x->old = x->slot;
	x->old_cap = x->cap;
	x->moved = 0;
	x->slot = slot;
	x->cap = cap;
	return 0;
}

static int
reserve_slot(struct pattern_index *x)
{
	if (2 * (x->n + 1) > x->cap && grow_slots(x, x->cap ? 2 * x->cap : CAP_FIRST) < 0)
		return -ERR_NOMEM;
	move_some(x, MOVED_AT_ONCE);
	return 0;
}

/* Lengths up to this one have a bit. */
static int
make_lens(struct pattern_index *x, size_t len)
{
	size_t words = len / 64 + 1;
	uint64_t *lens;

	if (words <= x->len_words)
		return 0;
	lens = mem_resize(x->lens, words, sizeof(*lens));
	if (!lens)
		return -ERR_NOMEM;
	memset(lens + x->len_words, 0, (words - x->len_words) * sizeof(*lens));
	x->lens = lens;
	x->len_words = (uint16_t)words;
	return 0;
}

/* Reserves room for n keys of up to this length. 0 or -ERR_NOMEM. */
static int
pattern_index_reserve(struct pattern_index *x, uint32_t n, size_t len_max)
{
	uint32_t cap = CAP_FIRST;

	while (cap < 2 * n)
		cap *= 2;
	if (cap > x->cap && grow_slots(x, cap) < 0)
		return -ERR_NOMEM;
	move_some(x, UINT32_MAX);
	return make_lens(x, len_max);
}

/* Asks for the memory that adding or finding a key with this hash will touch. */
static void
pattern_index_prefetch(const struct pattern_index *x, uint32_t hash)
{
	if (!x->cap)
		return;
	__builtin_prefetch(&x->slot[home_of(hash, x->cap)], 1);
	__builtin_prefetch(&slot_tags(x->slot, x->cap)[home_of(hash, x->cap)], 1);
}

/*
 * Adds an item whose key is not in the index; its hash is one of the key's bytes in any order; len:
 * the value for pattern_index_has_len(). Returns 0 or -ERR_NOMEM.
 */
static int
pattern_index_add(struct pattern_index *x, struct pattern *item, size_t len)
{
	if (reserve_slot(x) < 0 || make_lens(x, len) < 0)
		return -ERR_NOMEM;
	x->lens[len / 64] |= UINT64_C(1) << len % 64;
	x->len_max = MAX(x->len_max, (uint32_t)len);
	put_in_slots(x->slot, x->cap, item);
	x->n++;
	return 0;
}

/* A free slot ends a search, so the gap is closed: the next entry that may be there is moved up,
 * and so on. */
static void
close_gap(struct pattern **slot, uint32_t cap, uint32_t gap)
{
	const uint32_t mask = cap - 1;
	uint8_t *tag = slot_tags(slot, cap);

	for (uint32_t at = (gap + 1) & mask; tag[at]; at = (at + 1) & mask) {
		uint32_t home = home_of(slot[at]->hash, cap);

		/* True if its home slot is after the gap; it would not be found in the gap. */
		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		slot[gap] = slot[at];
		tag[gap] = tag[at];
		gap = at;
	}
	tag[gap] = 0;
}

/* Replaces item by one with an equal key, or removes it if that is NULL. */
static void
pattern_index_replace(struct pattern_index *x, const struct pattern *item, struct pattern *heir)
{
	int is_old = find_in_slots(x, x->slot, x->cap, item->hash, pattern_key(item)) != item;
	struct pattern **slot = is_old ? x->old : x->slot;
	uint32_t cap = is_old ? x->old_cap : x->cap, at = home_of(item->hash, cap);

	while (slot[at] != item)
		at = (at + 1) & (cap - 1);
	if (heir) {
		slot[at] = heir;
		return;
	}
	x->n--;
	close_gap(slot, cap, at);
}

#define ALL_TYPES (~0u)
#define T(t) (1u << SAMPLE_##t)
#define IPS (T(IPV4) | T(IPV6) | T(ADDR))

static const struct {
	const char *name;
	unsigned int types; /* types of samples it supports */
	const char *doc;
} methods[PATTERN_METHODS] = {
	[PATTERN_FOUND] = { "found", ALL_TYPES,
		"True if the sample exists; there are no values." },
	[PATTERN_BOOL] = { "bool", T(BOOL) | T(SINT) | T(IPV4) | T(ADDR) | T(STR),
		"True if the sample is true or a number other than 0; there are no values." },
	[PATTERN_INT] = { "int", T(BOOL) | T(SINT) | IPS | T(STR),
		"Integers and ranges such as 1:5 and 10:, after gt, ge, lt, le or eq." },
	[PATTERN_VER] = { NULL, T(SINT), NULL },
	[PATTERN_IP] = { "ip", T(SINT) | IPS | T(STR),
		"Addresses and networks such as 10.0.0.0/8; host names are resolved at start." },
	[PATTERN_BIN] = { "bin", ALL_TYPES,
		"Bytes in hexadecimal; those of a number are eight." },
	[PATTERN_LEN] = { "len", ALL_TYPES,
		"The length of the sample, as int." },
	[PATTERN_STR] = { "str", ALL_TYPES,
		"The whole text." },
	[PATTERN_BEG] = { "beg", ALL_TYPES,
		"The beginning of the text." },
	[PATTERN_END] = { "end", ALL_TYPES,
		"The end of the text." },
	[PATTERN_SUB] = { "sub", ALL_TYPES,
		"Any part of the text." },
	[PATTERN_DIR] = { "dir", ALL_TYPES,
		"A part between slashes." },
	[PATTERN_DOM] = { "dom", ALL_TYPES,
		"A part between dots." },
	[PATTERN_REG] = { "reg", ALL_TYPES,
		"A regular expression." },
};

const char *
pattern_method_name(enum pattern_method m)
{
	return m < PATTERN_METHODS ? methods[m].name : NULL;
}

const char *
pattern_method_doc(enum pattern_method m)
{
	return m < PATTERN_METHODS ? methods[m].doc : NULL;
}

enum pattern_method
pattern_method_of(struct str name)
{
	unsigned int m = 0;

	while (m < PATTERN_METHODS && !(methods[m].name && str_is(name, str_of(methods[m].name))))
		m++;
	return (enum pattern_method)m;
}

int
pattern_method_fits(enum pattern_method m, enum sample_type t)
{
	return m < PATTERN_METHODS && (methods[m].types >> t & 1 || t == SAMPLE_ANY);
}

/* --- the set --- */

void
pattern_set_init(struct pattern_set *p, enum pattern_method m, enum sample_type out,
	const struct keyhash *key)
{
	memset(p, 0, sizeof(*p));
	p->method = m;
	p->out = out;
	pattern_index_init(&p->index[0], 0, key);
	pattern_index_init(&p->index[1], m != PATTERN_IP, key);
}

void
pattern_set_init_like(struct pattern_set *to, const struct pattern_set *p)
{
	pattern_set_init(to, p->method, p->out, &p->index[0].key);
}

void
pattern_set_fini(struct pattern_set *p)
{
	for (uint32_t i = 0; i < p->n_all; i++)
		pattern_entry_free(pattern_entry_of(p->all[i]));
	mem_free(p->all);
	mem_free(p->list);
	pattern_index_fini(&p->index[0]);
	pattern_index_fini(&p->index[1]);
	memset(p, 0, sizeof(*p));
}

/* Ensures room for one more item in an array of pointers. */
static int
reserve_pointer(struct pattern ***array, uint32_t n, uint32_t *cap)
{
	struct pattern **grown = array_grow(*array, n, cap, sizeof(struct pattern *));

	if (!grown)
		return -ERR_NOMEM;
	*array = grown;
	return 0;
}

/* The index for t, and the length that it has there. NULL: it is in no index. */
static struct pattern_index *
pattern_key_index(struct pattern_set *p, const struct pattern *t, size_t *len)
{
	struct pattern_index *text = &p->index[t->nocase];
	const struct pattern_range *range = pattern_range(t);
	struct str key = pattern_key(t);

	*len = key.len;
	switch (p->method) {
	case PATTERN_INT:
	case PATTERN_VER:
	case PATTERN_LEN:
		return range->lo == range->hi ? &p->index[0] : NULL;
	case PATTERN_IP:
		*len = (unsigned char)key.p[key.len - 1];
		return &p->index[key.len == PATTERN_NET_KEY];
	case PATTERN_BIN:
		return &p->index[0];
	case PATTERN_STR:
	case PATTERN_BEG:
	case PATTERN_END:
		return text;
	case PATTERN_DIR:
	case PATTERN_DOM:
		return key.len && key.len <= PATTERN_PART_MAX ? text : NULL;
	case PATTERN_FOUND:
	case PATTERN_BOOL:
	case PATTERN_SUB:
	case PATTERN_REG:
	case PATTERN_METHODS:
		break;
	}
	return NULL;
}

/* Adds it to the index that finds it, or to the list. */
static int
enter_pattern(struct pattern_set *p, struct pattern *t)
{
	struct pattern_index *x;
	struct pattern *first;
	struct str key = pattern_key(t);
	size_t len;

	x = pattern_key_index(p, t, &len);
	if (!x) {
		if (reserve_pointer(&p->list, p->n_list, &p->list_cap) < 0)
			return -ERR_NOMEM;
		p->list[p->n_list++] = t;
		return 0;
	}
	first = pattern_index_find(x, t->hash, key.p, key.len);
	if (!first)
		return pattern_index_add(x, t, len);
	list_append(&first->same, &t->same);
	return 0;
}

int
pattern_set_enter(struct pattern_set *p, struct pattern *t)
{
	if (p->n == PATTERN_SET_MAX)
		return -ERR_FULL;
	if (enter_pattern(p, t) < 0)
		return -ERR_NOMEM;
	p->n++;
	return 0;
}

/* True if patterns of this method are found one by one. */
static int
tries_one_by_one(enum pattern_method m)
{
	return m == PATTERN_SUB || m == PATTERN_REG;
}

int
pattern_set_expect(struct pattern_set *p, unsigned int flags, uint64_t n)
{
	if (p->n || n > PATTERN_SET_MAX || tries_one_by_one(p->method))
		return 0;
	/* Networks are most often those of IPv4: the other index grows as needed. */
	return pattern_index_reserve(&p->index[p->method != PATTERN_IP && flags & PATTERN_NOCASE],
		(uint32_t)n, 0);
}

void
pattern_set_prefetch(struct pattern_set *p, const struct pattern *t)
{
	size_t len;
	const struct pattern_index *x = pattern_key_index(p, t, &len);

	if (x)
		pattern_index_prefetch(x, t->hash);
}

/* Removes it from an array that has it. */
static void
leave_array(struct pattern **array, uint32_t *n, const struct pattern *t)
{
	uint32_t i = 0;

	while (array[i] != t)
		i++;
	--*n;
	memmove(array + i, array + i + 1, (*n - i) * sizeof(struct pattern *));
}

void
pattern_set_leave(struct pattern_set *p, struct pattern *t)
{
	struct pattern_index *x;
	struct pattern *heir = NULL;
	struct str key = pattern_key(t);
	size_t len;

	x = pattern_key_index(p, t, &len);
	if (!x) {
		leave_array(p->list, &p->n_list, t);
	} else if (pattern_index_find(x, t->hash, key.p, key.len) == t) {
		if (!list_is_empty(&t->same))
			heir = list_first(&t->same, struct pattern, same);
		pattern_index_replace(x, t, heir);
	}
	list_remove(&t->same);
	p->n--;
	if (p->n_all)
		leave_array(p->all, &p->n_all, t);
}

/* Makes the pattern of an entry and adds it as the last one. */
static int
add_alone(struct pattern_set *p, struct pattern_entry *e, enum pattern_op op, unsigned int flags,
	struct rule_err *why)
{
	struct pattern *t;
	int rc = pattern_entry_feed(e, p, op, flags, &t, why);

	if (rc < 0)
		return rc;
	e->id = p->n_all ? pattern_entry_of(p->all[p->n_all - 1])->id + 1 : 1;
	if (reserve_pointer(&p->all, p->n_all, &p->all_cap) < 0)
		return -ERR_NOMEM;
	rc = pattern_set_enter(p, t);
	if (rc == 0)
		p->all[p->n_all++] = t;
	return rc;
}

int
pattern_set_add(struct pattern_set *p, struct str text, enum pattern_op op, unsigned int flags,
	struct str value, struct rule_err *why)
{
	struct pattern_entry *e;
	int rc = pattern_check_text(text, why);

	if (rc < 0)
		return rc;
	e = pattern_entry_new_for(&p->index[0].key, text, value, p, flags);
	rc = e ? add_alone(p, e, op, flags, why) : -ERR_NOMEM;
	if (rc == -ERR_NOMEM || rc == -ERR_FULL) {
		why->at = 0;
		snprintf(why->text, sizeof(why->text), "%s", err_text(rc));
	}
	if (rc < 0 && e)
		pattern_entry_free(e);
	return rc;
}

/* --- another whole --- */

int
pattern_set_plan(
	const struct pattern_set *p, struct pattern_set *to, struct pattern **all, uint32_t n)
{
	uint32_t count[2] = { 0, 0 }, list = 0;
	size_t longest[2] = { 0, 0 }, len;
	int bad;

	pattern_set_init_like(to, p);
	for (uint32_t i = 0; i < n; i++) {
		struct pattern_index *x = pattern_key_index(to, all[i], &len);

		if (!x) {
			list++;
			continue;
		}
		count[x - to->index]++;
		longest[x - to->index] = MAX(longest[x - to->index], len);
	}
	bad = n > PATTERN_SET_MAX;
	for (int i = 0; i < 2 && !bad; i++)
		bad = count[i] && pattern_index_reserve(&to->index[i], count[i], longest[i]) < 0;
	if (!bad && list) {
		to->list = mem_alloc(list * sizeof(struct pattern *));
		to->list_cap = list;
		bad = !to->list;
	}
	if (bad) {
		pattern_set_forget(to);
		return -ERR_NOMEM;
	}
	to->all = all;
	to->n_all = n;
	return 0;
}

static void
drop_arrays(struct pattern_set *p)
{
	mem_free(p->all);
	mem_free(p->list);
	pattern_index_fini(&p->index[0]);
	pattern_index_fini(&p->index[1]);
}

void
pattern_set_forget(struct pattern_set *to)
{
	drop_arrays(to);
	memset(to, 0, sizeof(*to));
}

void
pattern_set_fill(struct pattern_set *to)
{
	for (uint32_t i = 0; i < to->n_all; i++)
		list_init(&to->all[i]->same);
	for (uint32_t i = 0; i < to->n_all; i++) {
		int rc = enter_pattern(to, to->all[i]);

		assert(rc == 0); /* there is room for all of them */
		(void)rc;
		to->n++;
	}
	mem_free(to->all);
	to->all = NULL;
	to->n_all = 0;
}

void
pattern_set_swap(struct pattern_set *p, struct pattern_set *to)
{
	struct pattern_set was = *p;

	to->guard = p->guard;
	to->feeds = p->feeds;
	*p = *to;
	*to = was;
}
