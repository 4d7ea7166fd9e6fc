/* Definitions and entries of tables as peers send them: HAProxy's peers-v2.0.txt, and what it sends
 * beyond that. */
#include "table/table_wire.h"

#include "base/err.h"
#include "base/mem.h"
#include "table/table_log.h"
#include "table_int.h"

/* Types of keys in the messages. */
static const uint8_t wire_types[TABLE_TYPES] = {
	[TABLE_INTEGER] = 2,
	[TABLE_IPV4] = 4,
	[TABLE_IPV6] = 5,
	[TABLE_STRING] = 6,
	[TABLE_BINARY] = 7,
};

/* Returns the length of a key in messages: a string is counted with its NUL there. */
static uint32_t
wire_key_len(const struct table *t)
{
	return t->conf.key_len + (t->conf.type == TABLE_STRING);
}

/* --- definitions --- */

static uint64_t
stored_bits(const struct table *t, enum table_data last)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i <= last; i++)
		bits |= (uint64_t)(t->conf.store[i].n != 0) << i;
	return bits;
}

void
table_wire_put_def(const struct table *t, uint64_t id, struct str name, enum table_data last,
	struct wire_out *w)
{
	uint64_t bits = stored_bits(t, last);

	wire_put_number(w, id);
	wire_put_text(w, name);
	wire_put_number(w, wire_types[t->conf.type]);
	wire_put_number(w, wire_key_len(t));
	wire_put_number(w, bits);
	wire_put_number(w, t->conf.expire_ms);
	for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++) {
		int is_array = table_data_info[i].flags & TABLE_ARRAY;
		int is_rate = table_data_info[i].kind == TABLE_KIND_RATE;

		if (!(bits >> i & 1) || !(is_array || is_rate))
			continue;
		wire_put_number(w, i);
		if (is_array)
			wire_put_number(w, t->conf.store[i].n);
		if (is_rate)
			wire_put_number(w, t->conf.store[i].period_ms);
	}
}

/* Reads the arguments of the data types, in their order. Those of unknown types come last. */
static void
take_def_args(struct wire_in *r, struct table_wire_def *d)
{
	for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++) {
		int is_array = table_data_info[i].flags & TABLE_ARRAY;
		int is_rate = table_data_info[i].kind == TABLE_KIND_RATE;
		uint64_t n = 1, period = 0;

		if (!(d->stores >> i & 1))
			continue;
		if ((is_array || is_rate) && wire_take_number(r) != i)
			r->failed = 1;
		if (is_array)
			n = wire_take_number(r);
		if (is_rate)
			period = wire_take_number(r);
		if (!n || n > TABLE_ELEMENTS_MAX || period > UINT32_MAX)
			r->failed = 1;
		d->store[i] = (struct table_store){ (uint16_t)n, (uint32_t)period };
	}
}

int
table_wire_take_def(struct wire_in *r, struct table_wire_def *d)
{
	uint64_t type, len;

	memset(d, 0, sizeof(*d));
	d->id = wire_take_number(r);
	d->name = wire_take_text(r);
	type = wire_take_number(r);
	len = wire_take_number(r);
	d->stores = wire_take_number(r);
	/* HAProxy before 1.8 ended here. */
	d->expire_ms = wire_left(r) ? wire_take_number(r) : 0;
	if (r->failed || len > TABLE_KEY_MAX + 1 || type > UINT8_MAX)
		return -1;
	d->wire_type = (uint32_t)type;
	d->key_len = (uint32_t)len;
	take_def_args(r, d);
	return r->failed ? -1 : 0;
}

int
table_wire_fits(const struct table *t, const struct table_wire_def *d)
{
	return d->wire_type == wire_types[t->conf.type] && d->key_len == wire_key_len(t);
}

/* --- names --- */

/* The number of a name, from 1. *is_new: its text has to be sent. */
static unsigned int
number_of_name(struct table_wire_sent *sent, const char *name, int *is_new)
{
	unsigned int oldest = 0, i = 0;

	for (; i < TABLE_WIRE_NAMES && sent->name[i] != name; i++)
		if (sent->used[i] < sent->used[oldest])
			oldest = i;
	*is_new = i == TABLE_WIRE_NAMES;
	if (*is_new)
		i = oldest;
	sent->name[i] = name;
	sent->used[i] = ++sent->turn;
	return i + 1;
}

static void
put_server_name(const struct table *t, const struct table_entry *e, struct table_wire_sent *sent,
	struct wire_out *w)
{
	uint8_t text[TABLE_WIRE_NAME_MAX + 3 * WIRE_NUMBER_MAX];
	struct wire_out part = { text, text + sizeof(text), 0 };
	const char *name = table_server_key(t, e);
	int is_new;

	if (name && strlen(name) <= TABLE_WIRE_NAME_MAX) {
		wire_put_number(&part, number_of_name(sent, name, &is_new));
		if (is_new)
			wire_put_text(&part, str_of(name));
	}
	wire_put_text(w, (struct str){ (char *)text, (size_t)(part.p - text) });
}

void
table_wire_names_free(struct table_wire_names *names)
{
	for (unsigned int i = 0; i < TABLE_WIRE_NAMES; i++) {
		mem_free(names->name[i]);
		names->name[i] = NULL;
	}
}

/* Reads a name. *name NULL: the entry has none. 0, -1 or -ERR_NOMEM. */
static int
take_known_name(struct wire_in *r, struct table_wire_names *names, const char **name)
{
	struct str s = wire_take_text(r), text;
	struct wire_in in = { (const uint8_t *)s.p, (const uint8_t *)s.p + s.len, r->failed };
	uint64_t number;

	*name = NULL;
	if (!s.len)
		return r->failed ? -1 : 0;
	number = wire_take_number(&in);
	if (in.failed || !number || number > TABLE_WIRE_NAMES)
		return -1;
	if (wire_left(&in)) {
		text = wire_take_text(&in);
		if (in.failed || !text.len || text.len > TABLE_WIRE_NAME_MAX ||
			memchr(text.p, '\0', text.len))
			return -1;
		mem_free(names->name[number - 1]);
		names->name[number - 1] = mem_strndup(text.p, text.len);
		if (!names->name[number - 1])
			return -ERR_NOMEM;
	}
	*name = names->name[number - 1];
	return *name ? 0 : -1;
}

/* --- values out --- */

static char *
value_at(const struct table *t, const struct table_entry *e, unsigned int type, unsigned int i)
{
	return (char *)(uintptr_t)e + t->at[type] +
		(size_t)i * table_value_size(table_data_info[type].kind);
}

/* Reads the three numbers of a rate as they belong together. */
static void
put_rate(struct table *t, const struct table_entry *e, const void *at,
	const struct table_caller *by, struct wire_out *w)
{
	struct table_rate_now r = table_rate_get(t, e, at, by->sys);
	uint32_t ahead = r.tick - (uint32_t)by->now_ms;

	/* A worker's clock may be a little ahead. */
	wire_put_number(w, (int32_t)ahead > 0 && ahead < CLOCK_SKEW_MS ? 0 : 0 - ahead);
	wire_put_number(w, r.curr);
	wire_put_number(w, r.prev);
}

static void
put_entry_value(struct table *t, const struct table_entry *e, unsigned int type, unsigned int i,
	struct table_wire_sent *sent, const struct table_caller *by, struct wire_out *w)
{
	void *at = value_at(t, e, type, i);

	if (by->returns && !table_data_is_set(type))
		at = table_part_value(t, at, by->part);
	switch (table_data_info[type].kind) {
	case TABLE_KIND_U32:
		wire_put_number(w, atomic_load_explicit((_Atomic uint32_t *)at,
					   memory_order_relaxed));
		break;
	case TABLE_KIND_U64:
		wire_put_number(w, atomic_load_explicit((_Atomic uint64_t *)at,
					   memory_order_relaxed));
		break;
	case TABLE_KIND_RATE:
		put_rate(t, e, at, by, w);
		break;
	case TABLE_KIND_NAME:
		put_server_name(t, e, sent, w);
		break;
	}
}

static void
put_entry_key(const struct table *t, const struct table_entry *e, struct wire_out *w)
{
	const unsigned char *key = table_entry_key(t, e);
	uint32_t v;

	switch (t->conf.type) {
	case TABLE_INTEGER:
		memcpy(&v, key, sizeof(v));
		wire_put_u32(w, v);
		break;
	case TABLE_STRING:
		wire_put_text(w, str_of((const char *)key));
		break;
	case TABLE_IPV4:
	case TABLE_IPV6:
	case TABLE_BINARY:
	case TABLE_TYPES:
		wire_put(w, key, t->conf.key_len);
		break;
	}
}

size_t
table_wire_entry_max(const struct table *t)
{
	size_t n = WIRE_NUMBER_MAX + t->conf.key_len;

	for (unsigned int type = 0; type < TABLE_DATA_TYPES; type++)
		n += (size_t)t->conf.store[type].n *
			(table_data_info[type].kind == TABLE_KIND_NAME
					? TABLE_WIRE_NAME_MAX + 3 * WIRE_NUMBER_MAX
					: 3 * WIRE_NUMBER_MAX);
	return n;
}

int
table_wire_is_own(
	const struct table *t, const struct table_entry *e, const struct table_caller *by)
{
	const char *own = (const char *)e + sizeof(*e) +
		(by->returns ? t->parts_at - sizeof(*e) + (size_t)by->part * t->part_size : 0);
	size_t n = t->key_at - sizeof(*e);

	return n && (own[0] || memcmp(own, own + 1, n - 1) != 0);
}

void
table_wire_put_entry(struct table *t, const struct table_entry *e, enum table_data last,
	struct table_wire_sent *sent, const struct table_caller *by, struct wire_out *w)
{
	put_entry_key(t, e, w);
	for (unsigned int type = 0; type <= last; type++)
		for (unsigned int i = 0; i < t->conf.store[type].n; i++)
			put_entry_value(t, e, type, i, sent, by, w);
}

/* --- values in --- */

/* A value of a message. */
struct learned {
	uint64_t v;             /* of a rate: the age of the period */
	uint64_t curr, prev;
	const char *name;
};

/* Reads the value of a type. 0, -1 or -ERR_NOMEM. */
static int
take_entry_value(struct wire_in *r, enum table_kind kind, struct table_wire_names *names,
	struct learned *l)
{
	*l = (struct learned){ .v = 0 };
	if (kind == TABLE_KIND_NAME)
		return take_known_name(r, names, &l->name);
	l->v = wire_take_number(r);
	if (kind == TABLE_KIND_RATE) {
		l->curr = wire_take_number(r);
		l->prev = wire_take_number(r);
	}
	return r->failed || (kind != TABLE_KIND_U64 && (l->v | l->curr | l->prev) > UINT32_MAX)
		? -1 : 0;
}

static void
set_rate_locked(const struct table_shard *sh, struct table_rate *r, const struct learned *l,
	const struct table_caller *by)
{
	lock_assert_held(&sh->lock);
	atomic_store_explicit(&r->tick, (uint32_t)by->now_ms - (uint32_t)l->v,
		memory_order_relaxed);
	atomic_store_explicit(&r->curr, (uint32_t)l->curr, memory_order_relaxed);
	atomic_store_explicit(&r->prev, (uint32_t)l->prev, memory_order_relaxed);
}

static void
learn_rate(struct table *t, const struct table_entry *e, void *at, const struct learned *l,
	const struct table_caller *by)
{
	struct table_shard *sh = table_entry_shard(t, e);

	lock_take(&sh->lock, by->sys);
	set_rate_locked(sh, at, l, by);
	lock_drop(&sh->lock);
}

/* Notes that the connections which follow are of the peer's process as it is now. */
static void
note_begun(const struct table *t, const struct table_entry *e, unsigned int part)
{
	atomic_store_explicit(table_part_begun(t, e, part),
		atomic_load_explicit(&t->part[part].begun, memory_order_relaxed),
		memory_order_relaxed);
}

/* Sets a rate that has counted nothing since the start. True if it did. */
static int
return_rate(struct table *t, const struct table_entry *e, struct table_rate *r,
	const struct learned *l, const struct table_caller *by)
{
	struct table_shard *sh = table_entry_shard(t, e);
	int is_new;

	lock_take(&sh->lock, by->sys);
	is_new = !atomic_load_explicit(&r->curr, memory_order_relaxed) &&
		!atomic_load_explicit(&r->prev, memory_order_relaxed) && (l->curr || l->prev);
	if (is_new)
		set_rate_locked(sh, r, l, by);
	lock_drop(&sh->lock);
	return is_new;
}

/* Raises *at to v. True if it was lower. Other workers may add to it meanwhile. */
static int
raise_u32(_Atomic uint32_t *at, uint32_t v)
{
	uint32_t own = atomic_load_explicit(at, memory_order_relaxed);

	while (own < v && !atomic_compare_exchange_weak_explicit(at, &own, v,
				  memory_order_relaxed, memory_order_relaxed))
		;
	return own < v;
}

static int
raise_u64(_Atomic uint64_t *at, uint64_t v)
{
	uint64_t own = atomic_load_explicit(at, memory_order_relaxed);

	while (own < v && !atomic_compare_exchange_weak_explicit(at, &own, v,
				  memory_order_relaxed, memory_order_relaxed))
		;
	return own < v;
}

/* Applies what this process had counted before its start: it may have counted since, and another
 * peer may have returned it already. Peers that have all other counts are sent what was raised. */
static void
learn_returned(struct table *t, struct table_entry *e, unsigned int type, void *at,
	const struct learned *l, const struct table_caller *by)
{
	int is_raised = 0;

	switch (table_data_info[type].kind) {
	case TABLE_KIND_U32:
		is_raised = raise_u32(at, (uint32_t)l->v);
		break;
	case TABLE_KIND_U64:
		is_raised = raise_u64(at, l->v);
		break;
	case TABLE_KIND_RATE:
		is_raised = return_rate(t, e, at, l, by);
		break;
	case TABLE_KIND_NAME:
		break;
	}
	if (is_raised && t->log)
		table_log_change(t, e, by);
}

/* Applies a value, if the table stores it. In a table that adds up, counts have a place for each
 * peer. */
static int
learn_value(struct table *t, struct table_entry *e, const struct table_wire_def *d,
	unsigned int type, unsigned int i, const struct learned *l, const struct table_caller *by)
{
	void *at = value_at(t, e, type, i);

	if (i >= t->conf.store[type].n ||
		(type == TABLE_CONN_CUR && !t->conf.recv_only && !t->n_parts) ||
		d->store[type].period_ms != t->conf.store[type].period_ms)
		return 0;
	if (by->returns) {
		if (!table_data_is_set(type) && type != TABLE_CONN_CUR)
			learn_returned(t, e, type, at, l, by);
		return 0;
	}
	if (t->n_parts && !table_data_is_set(type))
		at = table_part_value(t, at, by->part);
	if (t->n_parts && type == TABLE_CONN_CUR)
		note_begun(t, e, by->part);
	switch (table_data_info[type].kind) {
	case TABLE_KIND_U32:
		atomic_store_explicit((_Atomic uint32_t *)at, (uint32_t)l->v,
			memory_order_relaxed);
		break;
	case TABLE_KIND_U64:
		atomic_store_explicit((_Atomic uint64_t *)at, l->v, memory_order_relaxed);
		break;
	case TABLE_KIND_RATE:
		learn_rate(t, e, at, l, by);
		break;
	case TABLE_KIND_NAME:
		return l->name && table_set_server_key(t, e, l->name, by) == -ERR_NOMEM
			? -ERR_NOMEM : 0;
	}
	return 0;
}

/* Reads the values, and applies them to e unless it is NULL; is_copy: what is set alone, since e is
 * of the table that t writes to. 0, -1 or -ERR_NOMEM. */
static int
take_entry_values(struct table *t, struct table_entry *e, const struct table_wire_def *d,
	struct wire_in *r, struct table_wire_names *names, int is_copy,
	const struct table_caller *by)
{
	for (unsigned int type = 0; type < TABLE_DATA_TYPES; type++)
		for (unsigned int i = 0; i < d->store[type].n; i++) {
			struct learned l;
			int rc = take_entry_value(r, table_data_info[type].kind, names, &l);

			if (rc == 0 && e && (!is_copy || table_data_is_set(type)))
				rc = learn_value(t, e, d, type, i, &l, by);
			if (rc < 0)
				return rc;
		}
	/* Values of unknown types follow. */
	return wire_left(r) && !(d->stores >> TABLE_DATA_TYPES) ? -1 : 0;
}

/* Reads a key of the table. 0 or -1. */
static int
take_entry_key(const struct table *t, const struct table_wire_def *d, struct wire_in *r,
	struct table_key *k)
{
	const uint8_t *p = NULL;
	struct in6_addr six;
	struct in_addr four;
	struct str s = { "", 0 };

	if (d->wire_type == wire_types[TABLE_STRING])
		s = wire_take_text(r);
	else if (d->wire_type == wire_types[TABLE_INTEGER])
		p = wire_take(r, 4);
	else
		p = wire_take(r, d->key_len);
	if (r->failed || (!p && s.len >= d->key_len))
		return -1;
	if (!t)
		return 0;
	switch (t->conf.type) {
	case TABLE_INTEGER:
		return table_key_int(t, k, (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
				(uint32_t)p[2] << 8 | p[3]);
	case TABLE_IPV4:
		memcpy(&four, p, sizeof(four));
		return table_key_ipv4(t, k, four);
	case TABLE_IPV6:
		memcpy(&six, p, sizeof(six));
		return table_key_ipv6(t, k, &six);
	case TABLE_STRING:
		return table_key_bytes(t, k, s.p, s.len);
	case TABLE_BINARY:
	case TABLE_TYPES:
		break;
	}
	return table_key_bytes(t, k, p, d->key_len);
}

/* The entry of the key, with its expiry as the peer has it, `expire` from now at most: one that is
 * here already and expires later keeps its time. */
static struct table_entry *
learned_entry(struct table *t, const struct table_key *k, int has_time, uint32_t left_ms,
	const struct table_caller *by)
{
	struct table_entry *e = has_time ? table_find(t, k, by) : NULL;
	uint32_t own = e ? table_expires_in(t, e, by) : 0;

	if (e)
		table_unref(e);
	e = table_get(t, k, by);
	if (e && has_time && t->conf.expire_ms)
		atomic_store_explicit(&e->expire,
			(uint32_t)by->now_ms + MAX(own, MIN(left_ms, t->conf.expire_ms)),
			memory_order_relaxed);
	return e;
}

/* Applies what was learned to the table that t writes to. The message has been verified. */
static int
learn_copy(const struct table *t, const struct table_wire_def *d, struct wire_in r,
	struct table_wire_names *names, const struct table_caller *by)
{
	struct table *to = t->write_to;
	struct table_entry *e;
	struct table_key k;
	int rc;

	if (take_entry_key(to, d, &r, &k) < 0)
		return -1;
	e = table_get(to, &k, by);
	if (!e)
		return 0;
	rc = take_entry_values(to, e, d, &r, names, 1, by);
	table_unref(e);
	return rc;
}

/* True if a peer that does not teach it has sent it. */
static int
was_sent(const struct table_entry *e)
{
	return (atomic_load_explicit(&e->refs, memory_order_relaxed) & ENTRY_SENT) != 0;
}

/* True if what is here is newer than what is taught. */
static int
is_newer(const struct table *t, const struct table_entry *e, const struct table_caller *by)
{
	return by->teaches && (was_sent(e) || (by->keeps && t->log && table_log_has(t, e)));
}

/* True if a message of this form has all that changes here, but for connections. */
static int
has_all_values(const struct table *t, const struct table_wire_def *d)
{
	for (unsigned int type = 0; type < TABLE_DATA_TYPES; type++)
		if ((type != TABLE_CONN_CUR || t->conf.recv_only) &&
			(d->store[type].n < t->conf.store[type].n ||
				(t->conf.store[type].n &&
					d->store[type].period_ms != t->conf.store[type].period_ms)))
			return 0;
	return 1;
}

/* True if a message that has been verified has no name, so that an own one stays. */
static int
lacks_name(const struct table_wire_def *d, struct wire_in r, struct table_wire_names *names)
{
	unsigned int end = d->store[TABLE_SERVER_KEY].n ? TABLE_SERVER_KEY + 1 : 0;

	for (unsigned int type = 0; type < end; type++)
		for (unsigned int i = 0; i < d->store[type].n; i++) {
			struct learned l;

			if (take_entry_value(&r, table_data_info[type].kind, names, &l) < 0 ||
				(type == TABLE_SERVER_KEY && !l.name))
				return 1;
		}
	return 0;
}

/* Notes that values are about to be applied. Own changes which they replace are not sent: other
 * peers get the values from the peer that has sent them here. */
static void
note_learned(struct table *t, struct table_entry *e, const struct table_wire_def *d,
	const struct wire_in *r, struct table_wire_names *names, const struct table_caller *by)
{
	int is_nameless;

	if (!by->teaches && !was_sent(e))
		(void)atomic_fetch_or_explicit(&e->refs, ENTRY_SENT, memory_order_relaxed);
	if (!t->log || t->n_parts || !table_log_has(t, e) || !has_all_values(t, d))
		return;
	is_nameless = lacks_name(d, *r, names);
	if (is_nameless && table_server_key(t, e))
		return;
	table_log_forget(t, e);
	/* Another worker may have set one meanwhile. */
	if (is_nameless && table_server_key(t, e))
		table_log_change(t, e, by);
}

int
table_wire_learn(struct table *t, const struct table_wire_def *d, struct wire_in *r,
	struct table_wire_names *names, int has_time, uint32_t left_ms,
	const struct table_caller *by)
{
	struct wire_in values, whole = *r;
	struct table_entry *e;
	struct table_key k;
	int rc;

	if (take_entry_key(t, d, r, &k) < 0)
		return -1;
	/* Once to verify them, which also notes the names, and once to apply them. */
	values = *r;
	rc = take_entry_values(t, NULL, d, r, names, 0, by);
	if (rc < 0 || !t || (has_time && !left_ms && d->expire_ms))
		return rc;
	e = learned_entry(t, &k, has_time && d->expire_ms, left_ms, by);
	if (!e)
		return 0;
	if (is_newer(t, e, by)) {
		table_unref(e);
		return 0;
	}
	note_learned(t, e, d, &values, names, by);
	rc = take_entry_values(t, e, d, &values, names, 0, by);
	table_unref(e);
	return rc == 0 && t->write_to ? learn_copy(t, d, whole, names, by) : rc;
}
