/* Messages about tables, compared byte by byte with what HAProxy 2.6 has sent. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/keyhash.h"
#include "base/sys.h"
#include "table/table_log.h"
#include "table/table_wire.h"
#include "unit/test.h"

static struct sys sys;
static struct table_caller by = { .sys = &sys, .now_ms = 1000000 };
static struct table_caller as_peer = { .sys = &sys, .now_ms = 1000000, .is_peer = 1 };

struct stored {
	enum table_data type;
	unsigned int n;
	uint32_t period_ms;
};

#define STORED_MAX 5

/* A table, and what HAProxy says about the same: `define`, its number before it. */
static const struct kind {
	const char *name;
	enum table_type type;
	uint32_t key_len, expire_ms;
	struct stored stored[STORED_MAX];
	const char *define;
} kinds[] = {
	{ "/t1", TABLE_STRING, 16, 60000, { { TABLE_GPC0, 1, 0 } },
		"01 03 2f 74 31 06 11 04 f0 97 1c" },
	{ "ip", TABLE_IPV4, 4, 60000,
		{ { TABLE_GPC0, 1, 0 }, { TABLE_CONN_CUR, 1, 0 }, { TABLE_HTTP_REQ_RATE, 1, 10000 },
			{ TABLE_BYTES_IN_CNT, 1, 0 } },
		"02 02 69 70 04 04 f4 b5 03 f0 97 1c 0a f0 e2 03" },
	{ "six", TABLE_IPV6, 16, 0, { { TABLE_GPT0, 1, 0 }, { TABLE_CONN_CNT, 1, 0 } },
		"03 03 73 69 78 05 10 12 00" },
	{ "int", TABLE_INTEGER, 4, 100000,
		{ { TABLE_GPT, 2, 0 }, { TABLE_GPC, 3, 0 }, { TABLE_GPC_RATE, 2, 5000 } },
		"04 03 69 6e 74 02 04 f0 f1 fe 6e f0 db 2f 16 02 17 03 18 02 f8 a9 01" },
	{ "bin", TABLE_BINARY, 6, 60000, { { TABLE_HTTP_ERR_CNT, 1, 0 } },
		"05 03 62 69 6e 07 06 f0 71 f0 97 1c" },
	{ "srv", TABLE_STRING, 20, 60000, { { TABLE_SERVER_ID, 1, 0 }, { TABLE_SERVER_KEY, 1, 0 } },
		"06 03 73 72 76 06 15 f1 f1 fe 00 f0 97 1c" },
};

enum { T1, IP, SIX, INT, BIN, SRV };

static struct table *
make_table(const struct kind *k)
{
	struct table_conf c = { .type = k->type, .key_len = k->key_len, .size = 1000,
		.expire_ms = k->expire_ms, .brates_factor = 1 };
	struct table *t;

	for (unsigned int i = 0; i < STORED_MAX && k->stored[i].n; i++) {
		c.store[k->stored[i].type].n = (uint16_t)k->stored[i].n;
		c.store[k->stored[i].type].period_ms = k->stored[i].period_ms;
	}
	sys_init(&sys, &sys_linux, NULL);
	t = table_new(k->name, &c, &keyhash_known);
	assert_non_null(t);
	return t;
}

/* The bytes of a text of hexadecimal digits. */
static size_t
bytes_of(const char *hex, uint8_t *out)
{
	size_t n = 0;

	for (; *hex; hex += 2 + (hex[2] == ' '))
		out[n++] = (uint8_t)(str_hex_digit(hex[0]) << 4 | str_hex_digit(hex[1]));
	return n;
}

static void
assert_bytes(const struct wire_out *w, const uint8_t *from, const char *hex)
{
	uint8_t want[512];
	size_t n = bytes_of(hex, want);

	assert_false(w->failed);
	assert_int_equal(w->p - from, n);
	assert_memory_equal(from, want, n);
}

static void
numbers_have_up_to_ten_bytes(void **st)
{
	static const struct {
		uint64_t v;
		const char *hex;
	} t[] = { { 0, "00" }, { 239, "ef" }, { 240, "f0 00" }, { 0x1234, "f4 94 01" },
		{ 2287, "ff 7f" }, { 2288, "f0 80 00" }, { 5000000000, "f0 91 bd 80 94 00" },
		{ UINT64_MAX, "ff f0 fe fe fe fe fe fe fe 0e" } };

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(t); i++) {
		uint8_t buf[16], in[16];
		struct wire_out w = { buf, buf + sizeof(buf), 0 };
		struct wire_in r = { in, in + bytes_of(t[i].hex, in), 0 };

		wire_put_number(&w, t[i].v);
		assert_bytes(&w, buf, t[i].hex);
		assert_true(wire_take_number(&r) == t[i].v);
		assert_false(r.failed || wire_left(&r));
		r = (struct wire_in){ in, in + bytes_of(t[i].hex, in) - 1, 0 };
		assert_int_equal(wire_take_number(&r), 0);
		assert_true(r.failed);
	}
}

static void
numbers_beyond_64_bits_are_refused(void **st)
{
	static const char *const hex[] = { "ff f1 fe fe fe fe fe fe fe 0e",
		"ff f0 fe fe fe fe fe fe fe 0f", "ff ff ff ff ff ff ff ff ff ff 00" };

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(hex); i++) {
		uint8_t in[16];
		struct wire_in r = { in, in + bytes_of(hex[i], in), 0 };

		assert_int_equal(wire_take_number(&r), 0);
		assert_true(r.failed);
	}
}

static void
definitions_are_those_of_haproxy(void **st)
{
	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(kinds); i++) {
		struct table *t = make_table(&kinds[i]), *other = make_table(&kinds[!i]);
		uint8_t buf[128], in[128];
		struct wire_out w = { buf, buf + sizeof(buf), 0 };
		struct wire_in r = { in, in + bytes_of(kinds[i].define, in), 0 };
		struct table_wire_def d;

		table_wire_put_def(t, i + 1, str_of(kinds[i].name), TABLE_DATA_TYPES - 1, &w);
		assert_bytes(&w, buf, kinds[i].define);
		assert_int_equal(table_wire_take_def(&r, &d), 0);
		assert_int_equal(d.id, i + 1);
		assert_true(str_is(d.name, str_of(kinds[i].name)));
		assert_int_equal(d.expire_ms, kinds[i].expire_ms);
		assert_true(table_wire_fits(t, &d));
		assert_false(table_wire_fits(other, &d));
		for (unsigned int j = 0; j < STORED_MAX && kinds[i].stored[j].n; j++) {
			const struct stored *s = &kinds[i].stored[j];

			assert_int_equal(d.store[s->type].n, s->n);
			assert_int_equal(d.store[s->type].period_ms, s->period_ms);
		}
		table_free(t);
		table_free(other);
	}
}

/* Any prefix is refused, but for those that end before the expiry, as old ones do. */
static void
definitions_are_verified(void **st)
{
	static const char *const bad[] = {
		"01 01 61 04 04 f0 f1 fe 6e 00 17 02 16 03 18 02 f8 a9 01", /* order */
		"01 01 61 04 04 f0 f1 fe 6e 00 16 00 17 03 18 02 f8 a9 01", /* no element */
		"01 01 61 04 04 f0 f1 fe 6e 00 16 65 17 03 18 02 f8 a9 01", /* 101 elements */
		"01 01 61 f0 01 04 04 00",                                  /* type 256 */
		"01 01 61 06 f4 f2 07 04 00",                               /* a long key */
		"01 20 61 06 04 04 00",                                     /* a longer name */
	};

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(bad); i++) {
		uint8_t in[64];
		struct wire_in r = { in, in + bytes_of(bad[i], in), 0 };
		struct table_wire_def d;

		assert_int_equal(table_wire_take_def(&r, &d), -1);
	}
	for (size_t n = 0, all = 1; n < all; n++) {
		uint8_t in[64];
		struct wire_in r;
		struct table_wire_def d;

		all = bytes_of(kinds[INT].define, in);
		r = (struct wire_in){ in, in + n, 0 };
		assert_int_equal(table_wire_take_def(&r, &d), -1);
	}
}

/* Reads the definition of a kind. */
static void
define(unsigned int kind, struct table_wire_def *d)
{
	static uint8_t in[ARRAY_LEN(kinds)][128];
	struct wire_in r = { in[kind], in[kind] + bytes_of(kinds[kind].define, in[kind]), 0 };

	assert_int_equal(table_wire_take_def(&r, d), 0);
}

static int
learn(struct table *t, const struct table_wire_def *d, const char *hex,
	struct table_wire_names *names, int has_time, uint32_t left_ms)
{
	uint8_t in[512];
	struct wire_in r = { in, in + bytes_of(hex, in), 0 };

	return table_wire_learn(t, d, &r, names, has_time, left_ms, &as_peer);
}

static struct table_entry *
only_entry(struct table *t)
{
	struct table_walk w = { 0 };
	unsigned int most = UINT_MAX;
	struct table_entry *e = table_walk(t, &w, &most, &by);

	assert_non_null(e);
	assert_int_equal(table_used(t), 1);
	return e;
}

static uint64_t
value(struct table *t, const struct table_entry *e, enum table_data type, unsigned int i)
{
	uint64_t v = 0;

	assert_int_equal(table_read(t, e, type, i, &by, &v), 0);
	return v;
}

/* Entries as HAProxy has sent them, and that they are sent so again. */
static void
entries_are_those_of_haproxy(void **st)
{
	static const struct {
		unsigned int kind;
		const char *hex;
	} sent[] = {
		{ T1, "05 68 65 6c 6c 6f 05" },
		{ IP, "01 02 03 04 fc 03 00 04 07 00 f0 91 bd 80 94 00" },
		{ SIX, "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 09 00" },
		{ INT, "00 00 00 4d 00 00 00 00 00 f4 a7 f0 81 0f 00 00 f4 a7 f0 81 0f 00 00" },
		{ SRV, "01 61 01 04 01 02 73 31" },
	};

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(sent); i++) {
		struct table *t = make_table(&kinds[sent[i].kind]);
		struct table_wire_names names = { .name = { NULL } };
		struct table_wire_sent again = { .turn = 0 };
		struct table_wire_def d;
		struct table_entry *e;
		uint8_t buf[512];
		struct wire_out w = { buf, buf + sizeof(buf), 0 };

		define(sent[i].kind, &d);
		assert_int_equal(learn(t, &d, sent[i].hex, &names, 0, 0), 0);
		e = only_entry(t);
		table_wire_put_entry(t, e, TABLE_DATA_TYPES - 1, &again, &by, &w);
		assert_bytes(&w, buf, sent[i].hex);
		table_unref(e);
		table_wire_names_free(&names);
		table_free(t);
	}
}

static void
values_are_applied(void **st)
{
	struct table *t = make_table(&kinds[IP]);
	struct table_wire_names names = { .name = { NULL } };
	struct table_wire_def d;
	struct table_entry *e;

	(void)st;
	define(IP, &d);
	/* conn_cur, 7, stays here alone. */
	assert_int_equal(learn(t, &d, "01 02 03 04 fc 03 07 04 07 00 f0 91 bd 80 94 00", &names, 0,
				 0), 0);
	e = only_entry(t);
	assert_int_equal(value(t, e, TABLE_GPC0, 0), 300);
	assert_int_equal(value(t, e, TABLE_CONN_CUR, 0), 0);
	assert_int_equal(value(t, e, TABLE_HTTP_REQ_RATE, 0), 7);
	assert_true(value(t, e, TABLE_BYTES_IN_CNT, 0) == 5000000000);
	assert_int_equal(table_expires_in(t, e, &by), 60000);
	table_unref(e);
	table_free(t);
}

/* The other table has tags and servers, and no counters. */
static void
tags_are_written_to_another_table(void **st)
{
	struct table *t = make_table(&kinds[INT]), *to = make_table(&kinds[INT]);
	struct table *other = make_table(&kinds[IP]);
	struct table_wire_names names = { .name = { NULL } };
	struct table_wire_def d;
	struct table_entry *e;

	(void)st;
	assert_int_equal(table_write_to(t, t), -1);
	assert_int_equal(table_write_to(t, other), -1);
	assert_int_equal(table_write_to(t, to), 0);
	define(INT, &d);
	assert_int_equal(learn(t, &d, "00 00 00 09 05 06 01 02 03 00 04 00 00 05 00", &names, 0,
				 0), 0);
	e = only_entry(t);
	assert_int_equal(value(t, e, TABLE_GPT, 1), 6);
	assert_int_equal(value(t, e, TABLE_GPC, 2), 3);
	table_unref(e);
	e = only_entry(to);
	assert_int_equal(value(to, e, TABLE_GPT, 0), 5);
	assert_int_equal(value(to, e, TABLE_GPT, 1), 6);
	assert_int_equal(value(to, e, TABLE_GPC, 2), 0);
	assert_int_equal(value(to, e, TABLE_GPC_RATE, 1), 0);
	table_unref(e);
	table_free(t);
	table_free(to);
	table_free(other);
}

/* An entry that is taught expires when it does there; one that is here already is not shortened,
 * and none lives longer than the table says. */
static void
expiry_is_learned(void **st)
{
	static const struct {
		uint32_t left, want;
	} t[] = { { 20000, 20000 }, { 10000, 20000 }, { 30000, 30000 }, { 4000000, 60000 } };
	struct table *tab = make_table(&kinds[T1]);
	struct table_wire_names names = { .name = { NULL } };
	struct table_wire_def d;
	struct table_entry *e;

	(void)st;
	define(T1, &d);
	assert_int_equal(learn(tab, &d, "01 61 05", &names, 1, 0), 0);
	assert_int_equal(table_used(tab), 0);
	for (unsigned int i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(learn(tab, &d, "01 61 05", &names, 1, t[i].left), 0);
		e = only_entry(tab);
		assert_int_equal(table_expires_in(tab, e, &by), t[i].want);
		table_unref(e);
	}
	table_free(tab);
}

/* A name is sent once; one that was not used for long gives its number to another. */
static void
names_are_numbered(void **st)
{
	struct table *t = make_table(&kinds[SRV]);
	struct table_wire_names names = { .name = { NULL } };
	struct table_wire_sent sent = { .turn = 0 };
	struct table_entry *e;
	struct table_wire_def d;
	struct table_key k;

	(void)st;
	define(SRV, &d);
	assert_int_equal(table_key_bytes(t, &k, "a", 1), 0);
	e = table_get(t, &k, &by);
	for (unsigned int i = 0; i < 3 * TABLE_WIRE_NAMES; i++) {
		char name[16];
		uint8_t buf[512];
		struct wire_out w = { buf, buf + sizeof(buf), 0 };
		struct wire_in r;
		int is_old = i % 3 == 2;

		(void)snprintf(name, sizeof(name), "s%u", is_old ? 0 : i);
		assert_int_equal(table_set_server_key(t, e, name, &by), 0);
		table_wire_put_entry(t, e, TABLE_DATA_TYPES - 1, &sent, &by, &w);
		/* The key, server_id, the length of the name, its number. */
		assert_int_equal(w.p - buf, is_old ? 5 : 6 + strlen(name));
		r = (struct wire_in){ buf, w.p, 0 };
		assert_int_equal(table_set_server_key(t, e, "other", &by), 0);
		assert_int_equal(table_wire_learn(t, &d, &r, &names, 0, 0, &as_peer), 0);
		assert_string_equal(table_server_key(t, e), name);
	}
	table_unref(e);
	table_wire_names_free(&names);
	table_free(t);
}

static void
entries_are_verified(void **st)
{
	static const struct {
		unsigned int kind;
		const char *hex;
	} bad[] = {
		{ T1, "05 68 65 6c 6c 6f 05 00" },                /* a byte more */
		{ T1, "11 61 61 61 61 61 61 61 61 61 61 61 61 61 61 61 61 61 05" }, /* 17 bytes */
		{ T1, "01 61 f0 80 80 80 80 10" },                /* over 32 bits */
		{ SRV, "01 61 01 01 01" },                        /* a number without a name */
		{ SRV, "01 61 01 03 00 01 61" },                  /* number 0 */
		{ SRV, "01 61 01 04 81 01 61 61" },               /* number 129 */
		{ SRV, "01 61 01 02 01 00" },                     /* an empty name */
		{ SRV, "01 61 01 03 01 01 00" },                  /* with a NUL */
		{ SRV, "01 61 01 05 01 02 73 31" },               /* a longer one */
	};
	static const char whole[] = "01 02 03 04 fc 03 00 04 07 00 f0 91 bd 80 94 00";

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(bad) + sizeof(whole) / 3; i++) {
		unsigned int kind = i < ARRAY_LEN(bad) ? bad[i].kind : IP;
		struct table *t = make_table(&kinds[kind]);
		struct table_wire_names names = { .name = { NULL } };
		struct table_wire_def d;
		char text[128];

		define(kind, &d);
		(void)snprintf(text, sizeof(text), "%.*s",
			i < ARRAY_LEN(bad) ? 100 : (int)(i - ARRAY_LEN(bad)) * 3,
			i < ARRAY_LEN(bad) ? bad[i].hex : whole);
		assert_int_equal(learn(t, &d, text, &names, 0, 0), -1);
		assert_int_equal(table_used(t), 0);
		table_wire_names_free(&names);
		table_free(t);
	}
}

/* A peer that stores other types, more elements, or a rate over another period. */
static void
other_types_are_skipped(void **st)
{
	struct table *t = make_table(&kinds[INT]);
	struct table_wire_names names = { .name = { NULL } };
	struct table_wire_def d;
	struct table_entry *e;
	uint8_t in[64];
	/* server_id, gpt(3), gpc_rate(1,6s), and type 60, which is not known. */
	struct wire_out w = { in, in + sizeof(in), 0 };
	struct wire_in r = { in, in, 0 };

	(void)st;
	d.stores = 1 | 1u << 22 | 1u << 24 | UINT64_C(1) << 60;
	wire_put_number(&w, 4);
	wire_put_text(&w, STR("int"));
	wire_put_number(&w, 2);
	wire_put_number(&w, 4);
	wire_put_number(&w, d.stores);
	wire_put_number(&w, 0);
	wire_put_number(&w, 22);
	wire_put_number(&w, 3);
	wire_put_number(&w, 24);
	wire_put_number(&w, 1);
	wire_put_number(&w, 6000);
	wire_put_number(&w, 99);
	r.end = w.p;
	assert_int_equal(table_wire_take_def(&r, &d), 0);
	assert_int_equal(learn(t, &d, "00 00 00 4d 09 01 02 03 00 05 06 77 77", &names, 0, 0), 0);
	e = only_entry(t);
	assert_int_equal(value(t, e, TABLE_GPT, 0), 1);
	assert_int_equal(value(t, e, TABLE_GPT, 1), 2);
	assert_int_equal(value(t, e, TABLE_GPC, 0), 0);
	assert_int_equal(value(t, e, TABLE_GPC_RATE, 0), 0);
	table_unref(e);
	/* Nobody has such a table: the message is verified all the same. */
	assert_int_equal(
		learn(NULL, &d, "00 00 00 4d 09 01 02 03 00 05 06 77 77", &names, 0, 0), 0);
	assert_int_equal(learn(NULL, &d, "00 00 00 4d 09 01", &names, 0, 0), -1);
	table_free(t);
}

/* Each change is there once, in order; what a peer has changed is not. */
static void
changes_are_logged(void **st)
{
	struct table *t = make_table(&kinds[INT]);
	_Atomic int news = 0;
	struct table_entry *e[3];

	(void)st;
	assert_int_equal(table_share(t, &news), 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct table_key k;

		assert_int_equal(table_key_int(t, &k, i), 0);
		e[i] = table_get(t, &k, &as_peer);
	}
	assert_int_equal(news, 0);
	assert_int_equal(table_log_collect(t, 100, &by), 0);
	assert_int_equal(table_set(t, e[2], TABLE_GPC, 0, &by, 5), 0);
	assert_int_equal(table_add(t, e[1], TABLE_GPC_RATE, 0, &by, 1), 0);
	assert_int_equal(table_set(t, e[2], TABLE_GPC, 1, &by, 5), 0);
	assert_int_equal(table_set(t, e[0], TABLE_GPC, 1, &as_peer, 5), 0);
	assert_int_equal(news, 1);
	assert_int_equal(table_log_collect(t, 100, &by), 2);
	assert_int_equal(table_log_first(t), 1);
	assert_int_equal(table_log_end(t), 3);
	for (uint64_t i = 1; i < 3; i++) {
		assert_ptr_equal(table_log_entry(t, i, &by), e[3 - i]);
		table_unref(e[3 - i]);
	}
	/* One that is removed before it is collected, and after. */
	table_touch(t, e[0], &by);
	assert_int_equal(table_remove(t, e[0], &by), 0);
	assert_int_equal(table_remove(t, e[1], &by), 0);
	assert_int_equal(table_log_collect(t, 100, &by), 1);
	assert_int_equal(table_log_end(t), 3);
	assert_null(table_log_entry(t, 2, &by));
	for (int i = 0; i < 2000; i++) {
		table_touch(t, e[2], &by);
		assert_int_equal(table_log_collect(t, 100, &by), 1);
	}
	assert_int_equal(table_log_end(t) - table_log_first(t), 1024);
	table_unref(e[2]);
	table_free(t);
}

/* A peer sends the values that the entry has. */
static void
learn_same(struct table *t, const struct table_entry *e)
{
	static struct table_wire_names names;
	struct table_wire_sent sent = { .turn = 0 };
	struct table_wire_def def;
	uint8_t bytes[512];
	struct wire_out w = { bytes, bytes + sizeof(bytes), 0 };
	struct wire_in in = { bytes, NULL, 0 };

	table_wire_put_def(t, 1, STR("t"), TABLE_DATA_TYPES - 1, &w);
	in.end = w.p;
	assert_int_equal(table_wire_take_def(&in, &def), 0);
	table_wire_put_entry(t, e, TABLE_DATA_TYPES - 1, &sent, &as_peer, &w);
	in.end = w.p;
	assert_int_equal(table_wire_learn(t, &def, &in, &names, 0, 0, &as_peer), 0);
	table_wire_names_free(&names);
}

/* A message without a name replaces no own name, so the change that set it is sent all the same. */
static void
names_that_a_peer_does_not_replace_are_sent(void **st)
{
	struct table *t = make_table(&kinds[SRV]);
	struct table_wire_names names = { .name = { NULL } };
	_Atomic int news = 0;
	struct table_wire_def d;
	struct table_entry *e;
	struct table_key k;

	(void)st;
	define(SRV, &d);
	assert_int_equal(table_share(t, &news), 0);
	assert_int_equal(table_key_bytes(t, &k, "a", 1), 0);
	e = table_get(t, &k, &by);
	table_touch(t, e, &by);
	/* The key, server_id 5, no name. */
	assert_int_equal(learn(t, &d, "01 61 05 00", &names, 0, 0), 0);
	assert_false(table_log_has(t, e));
	assert_int_equal(table_set_server_key(t, e, "s1", &by), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(learn(t, &d, "01 61 06 00", &names, 0, 0), 0);
		assert_true(table_log_has(t, e));
		assert_string_equal(table_server_key(t, e), "s1");
		assert_int_equal(value(t, e, TABLE_SERVER_ID, 0), 6);
		assert_int_equal(table_log_collect(t, 100, &by), !i);
	}
	/* Name 1, "s2". */
	assert_int_equal(learn(t, &d, "01 61 07 04 01 02 73 32", &names, 0, 0), 0);
	assert_string_equal(table_server_key(t, e), "s2");
	assert_false(table_log_has(t, e));
	table_unref(e);
	table_wire_names_free(&names);
	table_free(t);
}

/* A change is replaced before it has a number, or after that; a later one is logged. */
static void
changes_that_a_peer_replaces_are_not_sent(void **st)
{
	struct table *t = make_table(&kinds[INT]);
	_Atomic int news = 0;
	struct table_entry *e;
	struct table_key k;

	(void)st;
	assert_int_equal(table_share(t, &news), 0);
	assert_int_equal(table_key_int(t, &k, 1), 0);
	e = table_get(t, &k, &by);
	assert_true(table_log_has(t, e));
	learn_same(t, e);
	assert_false(table_log_has(t, e) || table_log_has_since(t, e, 1));
	assert_int_equal(table_log_collect(t, 100, &by), 1);
	assert_int_equal(table_log_end(t), 1);
	table_touch(t, e, &by);
	learn_same(t, e);
	table_touch(t, e, &by);
	assert_true(table_log_has(t, e) && table_log_has_since(t, e, 100));
	assert_int_equal(table_log_collect(t, 100, &by), 1);
	assert_int_equal(table_log_end(t), 2);
	assert_true(table_log_has_since(t, e, 1) && !table_log_has_since(t, e, 2));
	assert_ptr_equal(table_log_entry(t, 1, &by), e);
	table_unref(e);
	learn_same(t, e);
	assert_null(table_log_entry(t, 1, &by));
	assert_false(table_log_has(t, e));
	/* The entry's last change has a number, and no earlier one. */
	table_touch(t, e, &by);
	assert_int_equal(table_log_collect(t, 100, &by), 1);
	table_touch(t, e, &by);
	assert_int_equal(table_log_collect(t, 100, &by), 1);
	assert_null(table_log_entry(t, 2, &by));
	assert_ptr_equal(table_log_entry(t, 3, &by), e);
	table_unref(e);
	table_unref(e);
	table_free(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_up_to_ten_bytes),
		cmocka_unit_test(numbers_beyond_64_bits_are_refused),
		cmocka_unit_test(definitions_are_those_of_haproxy),
		cmocka_unit_test(definitions_are_verified),
		cmocka_unit_test(entries_are_those_of_haproxy),
		cmocka_unit_test(values_are_applied),
		cmocka_unit_test(tags_are_written_to_another_table),
		cmocka_unit_test(expiry_is_learned),
		cmocka_unit_test(names_are_numbered),
		cmocka_unit_test(entries_are_verified),
		cmocka_unit_test(other_types_are_skipped),
		cmocka_unit_test(changes_are_logged),
		cmocka_unit_test(names_that_a_peer_does_not_replace_are_sent),
		cmocka_unit_test(changes_that_a_peer_replaces_are_not_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
