/* The values of an entry. The caller holds a reference, so the entry stays; counters change by
 * atomic additions, and only a new period of a rate takes the shard's lock. */
#include <string.h>

#include "base/mem.h"
#include "base/memfile.h"
#include "table_int.h"
#include "table_saved.h"

struct value {
	enum table_kind kind;
	uint32_t period_ms;
	char *p;
};

/* Returns the array that a type such as gpc0 is the first element of, or the type itself. */
static enum table_data
array_of(enum table_data type, unsigned int *element)
{
	static const struct {
		enum table_data type, array;
		unsigned int element;
	} numbered[] = {
		{ TABLE_GPT0, TABLE_GPT, 0 },
		{ TABLE_GPC0, TABLE_GPC, 0 },
		{ TABLE_GPC1, TABLE_GPC, 1 },
		{ TABLE_GPC0_RATE, TABLE_GPC_RATE, 0 },
		{ TABLE_GPC1_RATE, TABLE_GPC_RATE, 1 },
	};

	for (unsigned int i = 0; i < ARRAY_LEN(numbered); i++)
		if (numbered[i].type == type) {
			*element = numbered[i].element;
			return numbered[i].array;
		}
	return type;
}

/* Finds a value. e NULL: only whether there is one. 0 or -1. */
static int
find_value(const struct table *t, const struct table_entry *e, enum table_data type,
	unsigned int element, struct value *v)
{
	uint32_t size;

	if (unlikely(!t->at[type]))
		type = array_of(type, &element);
	if (element >= t->conf.store[type].n)
		return -1;
	v->kind = table_data_info[type].kind;
	v->period_ms = t->conf.store[type].period_ms;
	size = v->kind == TABLE_KIND_RATE ? sizeof(struct table_rate) : sizeof(uint32_t);
	v->p = e ? (char *)(uintptr_t)e + t->at[type] + (size_t)element * size : NULL;
	return 0;
}

#define U32(v) ((_Atomic uint32_t *)(void *)(v).p)
#define U64(v) ((_Atomic uint64_t *)(void *)(v).p)
#define RATE(v) ((struct table_rate *)(void *)(v).p)

/* --- rates --- */

/* True if the period that began at `tick` is the current one. */
static int
period_is_current(uint32_t tick, uint32_t period, uint32_t now)
{
	return now - tick < period || (tick && tick - now < CLOCK_SKEW_MS);
}

/* Begins a period with n events, unless another worker has: it then counts them there. */
static uint32_t
rotate_locked(const struct table_shard *sh, struct table_rate *r, uint32_t period, uint32_t now,
	uint32_t n)
{
	uint32_t tick = atomic_load_explicit(&r->tick, memory_order_relaxed), last;

	lock_assert_held(&sh->lock);
	if (period_is_current(tick, period, now))
		return atomic_fetch_add_explicit(&r->curr, n, memory_order_relaxed) + n;
	last = atomic_exchange_explicit(&r->curr, n, memory_order_relaxed);
	if (now - tick >= period && now - tick - period < period) {
		atomic_store_explicit(&r->prev, last, memory_order_relaxed);
		atomic_store_explicit(&r->tick, tick + period, memory_order_relaxed);
	} else {
		atomic_store_explicit(&r->prev, 0, memory_order_relaxed);
		atomic_store_explicit(&r->tick, now, memory_order_relaxed);
	}
	return n;
}

static void
rate_count(struct table *t, const struct table_entry *e, struct table_rate *r, uint32_t period,
	uint32_t n, const struct table_caller *by)
{
	uint32_t now = (uint32_t)by->now_ms;
	struct table_shard *sh;

	if (period_is_current(atomic_load_explicit(&r->tick, memory_order_relaxed), period, now)) {
		(void)atomic_fetch_add_explicit(&r->curr, n, memory_order_relaxed);
		return;
	}
	sh = table_entry_shard(t, e);
	lock_take(&sh->lock, by->sys);
	(void)rotate_locked(sh, r, period, now, n);
	lock_drop(&sh->lock);
}

/* The events in a window of one period: of the previous period the part that it covers. */
static uint64_t
rate_in_window(uint32_t tick, uint32_t curr, uint32_t prev, uint32_t period, uint32_t now)
{
	uint32_t age = tick - now < CLOCK_SKEW_MS ? 0 : now - tick;
	uint64_t past = prev, left = period;

	if (age >= period) {
		age -= period;
		past = age < period ? curr : 0;
		curr = 0;
	}
	left = age < period ? period - age : 0;
	/* One event a period would otherwise be none most of the time. */
	if (!curr && past <= 1)
		return past;
	return (past * left + (uint64_t)curr * period) / period;
}

static uint64_t
rate_read(struct table *t, const struct table_entry *e, struct table_rate *r, uint32_t period,
	const struct table_caller *by)
{
	struct table_rate_now now = table_rate_get(t, e, r, by->sys);

	return rate_in_window(now.tick, now.curr, now.prev, period, (uint32_t)by->now_ms);
}

/* --- the parts of peers --- */

/* True if the connections that it has sent are still there. */
static int
part_has_connections(const struct table *t, const struct table_entry *e, unsigned int part,
	uint64_t now_ms)
{
	const struct table_part *p = &t->part[part];

	return now_ms < atomic_load_explicit(&p->until_ms, memory_order_relaxed) &&
		atomic_load_explicit(table_part_begun(t, e, part), memory_order_relaxed) ==
			atomic_load_explicit(&p->begun, memory_order_relaxed);
}

/* Returns the value that one peer has sent, by the place of the own value. */
static uint64_t
read_part(struct table *t, const struct table_entry *e, enum table_data type,
	const struct value *own, unsigned int part, const struct table_caller *by)
{
	struct value v = *own;

	v.p = table_part_value(t, own->p, part);
	if (type == TABLE_CONN_CUR && !part_has_connections(t, e, part, by->now_ms))
		return 0;
	if (v.kind == TABLE_KIND_RATE)
		return rate_read(t, e, RATE(v), v.period_ms, by);
	return v.kind == TABLE_KIND_U64 ? atomic_load_explicit(U64(v), memory_order_relaxed)
					: atomic_load_explicit(U32(v), memory_order_relaxed);
}

/* The values of all peers. Parts of tags and servers are 0. */
static uint64_t
read_parts(struct table *t, const struct table_entry *e, enum table_data type,
	const struct value *own, const struct table_caller *by)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < t->n_parts; i++)
		sum += read_part(t, e, type, own, i, by);
	return sum;
}

static void
rate_begin(struct table *t, const struct table_entry *e, struct table_rate *r, uint32_t v,
	const struct table_caller *by)
{
	struct table_shard *sh = table_entry_shard(t, e);

	lock_take(&sh->lock, by->sys);
	atomic_store_explicit(&r->tick, (uint32_t)by->now_ms, memory_order_relaxed);
	atomic_store_explicit(&r->curr, v, memory_order_relaxed);
	atomic_store_explicit(&r->prev, 0, memory_order_relaxed);
	lock_drop(&sh->lock);
}

/* --- any value --- */

int
table_read(struct table *t, const struct table_entry *e, enum table_data type,
	unsigned int element, const struct table_caller *by, uint64_t *out)
{
	struct value v;

	if (find_value(t, e, type, element, &v) < 0)
		return -1;
	if (v.kind == TABLE_KIND_RATE)
		*out = rate_read(t, e, RATE(v), v.period_ms, by);
	else if (v.kind == TABLE_KIND_U64)
		*out = atomic_load_explicit(U64(v), memory_order_relaxed);
	else
		*out = atomic_load_explicit(U32(v), memory_order_relaxed);
	if (unlikely(t->n_parts))
		*out += read_parts(t, e, type, &v, by);
	return 0;
}

int
table_read_part(struct table *t, const struct table_entry *e, enum table_data type,
	unsigned int element, unsigned int part, const struct table_caller *by, uint64_t *out)
{
	struct value v;

	if (part >= t->n_parts || find_value(t, e, type, element, &v) < 0)
		return -1;
	*out = read_part(t, e, type, &v, part, by);
	return 0;
}

int
table_add(struct table *t, struct table_entry *e, enum table_data type, unsigned int element,
	const struct table_caller *by, uint64_t n)
{
	struct value v;

	if (find_value(t, e, type, element, &v) < 0)
		return -1;
	if (type == TABLE_BYTES_IN_RATE || type == TABLE_BYTES_OUT_RATE)
		n = n / t->conf.brates_factor + (n % t->conf.brates_factor != 0);
	if (v.kind == TABLE_KIND_RATE)
		rate_count(t, e, RATE(v), v.period_ms, (uint32_t)n, by);
	else if (v.kind == TABLE_KIND_U64)
		(void)atomic_fetch_add_explicit(U64(v), n, memory_order_relaxed);
	else
		(void)atomic_fetch_add_explicit(U32(v), (uint32_t)n, memory_order_relaxed);
	table_changed(t, e, by);
	return 0;
}

void
table_count(struct table *t, struct table_entry *e, enum table_data type, unsigned int element,
	const struct table_caller *by, uint32_t n)
{
	struct value v;

	if (n && find_value(t, e, type, element, &v) == 0)
		rate_count(t, e, RATE(v), v.period_ms, n, by);
}

int
table_less(struct table *t, struct table_entry *e, enum table_data type)
{
	struct value v;
	uint32_t was;

	if (find_value(t, e, type, 0, &v) < 0 || v.kind != TABLE_KIND_U32)
		return -1;
	was = atomic_load_explicit(U32(v), memory_order_relaxed);
	while (was && !atomic_compare_exchange_weak_explicit(U32(v), &was, was - 1,
			      memory_order_relaxed, memory_order_relaxed))
		;
	return 0;
}

int
table_set(struct table *t, struct table_entry *e, enum table_data type, unsigned int element,
	const struct table_caller *by, uint64_t n)
{
	struct value v;

	if (find_value(t, e, type, element, &v) < 0)
		return -1;
	if (v.kind == TABLE_KIND_RATE)
		rate_begin(t, e, RATE(v), (uint32_t)n, by);
	else if (v.kind == TABLE_KIND_U64)
		atomic_store_explicit(U64(v), n, memory_order_relaxed);
	else
		atomic_store_explicit(U32(v), (uint32_t)n, memory_order_relaxed);
	table_changed(t, e, by);
	return 0;
}

int
table_reset(struct table *t, struct table_entry *e, enum table_data type, unsigned int element,
	const struct table_caller *by, uint64_t *was)
{
	struct value v;

	if (find_value(t, e, type, element, &v) < 0 || v.kind == TABLE_KIND_RATE)
		return -1;
	*was = v.kind == TABLE_KIND_U64
		? atomic_exchange_explicit(U64(v), 0, memory_order_relaxed)
		: atomic_exchange_explicit(U32(v), 0, memory_order_relaxed);
	table_changed(t, e, by);
	return 0;
}

/* Adds n to a counter and to a rate, which may be stored or not. 0, or -1: neither is. */
static int
inc_pair(struct table *t, struct table_entry *e, enum table_data count, unsigned int count_at,
	enum table_data rate, unsigned int rate_at, const struct table_caller *by, uint64_t n,
	uint64_t *out)
{
	struct value v;
	int is_counted = find_value(t, e, count, count_at, &v) == 0;

	if (is_counted)
		*out = atomic_fetch_add_explicit(U32(v), (uint32_t)n, memory_order_relaxed) +
			(uint32_t)n;
	if (is_counted && unlikely(t->n_parts))
		*out += read_parts(t, e, count, &v, by);
	if (table_add(t, e, rate, rate_at, by, n) < 0) {
		if (is_counted)
			table_changed(t, e, by);
		return is_counted ? 0 : -1;
	}
	return is_counted ? 0 : table_read(t, e, rate, rate_at, by, out);
}

int
table_inc_gpc(struct table *t, struct table_entry *e, unsigned int which,
	const struct table_caller *by, uint64_t n, uint64_t *out)
{
	return inc_pair(t, e, which ? TABLE_GPC1 : TABLE_GPC0, 0,
		which ? TABLE_GPC1_RATE : TABLE_GPC0_RATE, 0, by, n, out);
}

int
table_inc_element(struct table *t, struct table_entry *e, unsigned int element,
	const struct table_caller *by, uint64_t n, uint64_t *out)
{
	return inc_pair(t, e, TABLE_GPC, element, TABLE_GPC_RATE, element, by, n, out);
}

/* --- names of servers --- */

/* The place of name number i; NULL: it has no memory. */
static struct table_name *
name_place(const struct table *t, uint32_t i)
{
	unsigned int n = i / TABLE_NAMES_FIRST, level = n ? 32 - (unsigned int)__builtin_clz(n) : 0;
	struct table_name *names;

	if (level >= TABLE_NAME_LEVELS)
		return NULL;
	names = atomic_load_explicit(&t->names[level], memory_order_acquire);
	if (level)
		i -= TABLE_NAMES_FIRST << (level - 1);
	return names ? &names[i] : NULL;
}

/* The text of name number i, which is there. */
static const char *
name_text(const struct table *t, uint32_t i)
{
	return atomic_load_explicit(&name_place(t, i)->text, memory_order_acquire);
}

/* The number + 1 of a name in this chain; 0: it is not there. */
static uint32_t
find_name_locked(const struct table *t, uint32_t chain, const char *name)
{
	uint32_t i = t->name_chain[chain];

	lock_assert_held(&t->names_lock);
	while (i && strcmp(name_text(t, i - 1), name) != 0)
		i = name_place(t, i - 1)->next;
	return i;
}

/* Adds a name to its chain if there is a place: NULL in *copy. Returns its number + 1; 0: no place.
 */
static uint32_t
add_name_locked(struct table *t, uint32_t chain, char **copy)
{
	struct table_name *place = name_place(t, t->n_names);

	lock_assert_held(&t->names_lock);
	if (!place)
		return 0;
	place->next = t->name_chain[chain];
	atomic_store_explicit(&place->text, *copy, memory_order_release);
	*copy = NULL;
	t->name_chain[chain] = ++t->n_names;
	return t->n_names;
}

/* Makes room for more names. 0 or -ERR_NOMEM. */
static int
grow_names(struct table *t)
{
	for (unsigned int i = 0; i < TABLE_NAME_LEVELS; i++) {
		unsigned int n = i ? TABLE_NAMES_FIRST << (i - 1) : TABLE_NAMES_FIRST;
		struct table_name *none = NULL, *level;

		if (atomic_load_explicit(&t->names[i], memory_order_acquire))
			continue;
		level = mem_zalloc(n * sizeof(*level));
		if (!level)
			return -ERR_NOMEM;
		if (!atomic_compare_exchange_strong_explicit(&t->names[i], &none, level,
			    memory_order_acq_rel, memory_order_acquire))
			mem_free(level);
		return 0;
	}
	return -ERR_NOMEM;
}

/* Writes a name of the dictionary to the file. */
static void
save_name(struct table *t, uint32_t number, const char *name)
{
	size_t n = strlen(name) + 1;
	char key[TABLE_RECORD_KEY_MAX], *to;

	if (!t->file || n > TABLE_RECORD_KEY_MAX)
		return;
	table_record_key(t, key, 'n', number, 0);
	to = memfile_add(t->file, RECORD_NAME, key, "", n);
	if (to)
		memcpy(to, name, n);
}

int
table_set_server_key(struct table *t, struct table_entry *e, const char *name,
	const struct table_caller *by)
{
	struct value v;
	const char *is = table_server_key(t, e);
	uint32_t id = 0, chain;
	char *copy;
	int r = 0;

	if (find_value(t, e, TABLE_SERVER_KEY, 0, &v) < 0)
		return -1;
	if (is && strcmp(is, name) == 0)
		return 0;
	copy = mem_strdup(name);
	if (!copy)
		return -ERR_NOMEM;
	chain = (uint32_t)(keyhash(&t->hash, name, strlen(name)) >> (64 - TABLE_NAME_CHAIN_BITS));
	while (!id && r == 0) {
		lock_take(&t->names_lock, by->sys);
		id = find_name_locked(t, chain, name);
		if (!id)
			id = add_name_locked(t, chain, &copy);
		lock_drop(&t->names_lock);
		if (id && !copy)
			save_name(t, id, name);
		if (!id)
			r = grow_names(t);
	}
	mem_free(copy);
	if (id) {
		atomic_store_explicit(U32(v), id, memory_order_release);
		table_changed(t, e, by);
	}
	return r;
}

const char *
table_server_key(const struct table *t, const struct table_entry *e)
{
	struct value v;
	uint32_t id;

	if (find_value(t, e, TABLE_SERVER_KEY, 0, &v) < 0)
		return NULL;
	id = atomic_load_explicit(U32(v), memory_order_acquire);
	return id ? name_text(t, id - 1) : NULL;
}
