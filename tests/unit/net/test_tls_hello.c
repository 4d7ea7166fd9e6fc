#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "net/tls_hello.h"
#include "unit/net/net_rig.h"
#include "unit/test.h"

#define RECORD 5
#define ALL HELLO_SNI_A HELLO_ALPN HELLO_GROUPS HELLO_TICKET

/* As "type|version|name|protocol|groups|ticket", or "not", "more". */
static const char *
read_as(struct str bytes)
{
	static char out[400], room[sizeof(hello_bytes)];
	struct hello_message m;
	struct hello h;
	enum hello_found found = hello_find(bytes, &m);

	if (found == HELLO_WHOLE) {
		assert_true(m.len <= sizeof(room));
		hello_read(hello_join(&m, room), &h);
	}
	if (found != HELLO_WHOLE)
		return found == HELLO_MORE ? "more" : "not";
	snprintf(out, sizeof(out), "%d|%u.%u|%.*s|%.*s|%d|%d|%d", h.type, h.version >> 16,
		h.version & 0xffff, (int)h.name.len, h.name.len ? h.name.p : "",
		(int)h.protocol.len, h.protocol.len ? h.protocol.p : "", h.has_groups, h.ticket,
		h.is_client);
	return out;
}

/* A comment after a row has what HAProxy 2.6 does, where it differs. */
static void
hellos_are_taken_apart(void **state)
{
	static const struct {
		struct hello_parts h;
		const char *want;
	} t[] = {
		{ { .extensions = STR(ALL) }, "1|3.3|a|h2|1|1|1" },
		{ { .extensions = STR(ALL), .record = "\3\0" }, "1|3.3|a|h2|1|1|1" },
		{ { .extensions = STR(ALL), .record = "\3\4" }, "1|3.3|a|h2|1|1|1" },
		{ { .extensions = STR(ALL), .record = "\2\0" }, "not" },
		{ { .extensions = STR(ALL), .record = "\4\0" }, "1|3.3|a|h2|1|1|1" },
		{ { .extensions = STR(ALL), .version = "\3\0" }, "1|3.0|||0|0|0" },
		{ { .extensions = STR(ALL), .version = "\3\1" }, "1|3.1|a|h2|1|1|1" },
		{ { .extensions = STR(ALL), .version = "\3\4" }, "1|3.4|a|h2|1|1|1" },
		{ { .extensions = STR(ALL), .version = "\2\0" }, "1|2.0|||0|0|0" },
		{ { .extensions = STR(ALL), .version = "\4\0" }, "1|4.0|||0|0|0" },
		{ { .no_extensions = 1 }, "1|3.3|||0|0|1" },
		{ { .extensions = STR("") }, "1|3.3|||0|0|1" },
		{ { .extensions = STR(ALL), .type = 2 }, "2|3.3|||0|0|0" },
		{ { .extensions = STR(ALL), .type = 11 }, "11|3.3|||0|0|0" },
		/* lengths */
		{ { .extensions = STR(ALL), .more_message = 1 }, "more" },
		{ { .extensions = STR(ALL), .more_message = -1 }, "1|3.3|||0|0|0" },
		{ { .extensions = STR(ALL), .more_record = 1 }, "1|3.3|a|h2|1|1|1" },
		{ { .extensions = STR(ALL), .more_record = -1 }, "not" },             /* takes it */
		{ { .extensions = STR(ALL), .behind = STR("pp") }, "1|3.3|||0|0|0" }, /* takes it */
		{ { .extensions = STR(ALL), .session = 32 }, "1|3.3|a|h2|1|1|1" },
		{ { .extensions = STR(ALL), .session = 33 }, "1|3.3|||0|0|0" },
		{ { .extensions = STR(ALL), .ciphers = 1 }, "1|3.3|||0|0|0" },
		{ { .extensions = STR(ALL), .no_ciphers = 1 }, "1|3.3|||0|0|0" },
		{ { .extensions = STR(ALL), .no_compressions = 1 }, "1|3.3|||0|0|0" },
		{ { .extensions = STR("\0\0\0\377\0") }, "1|3.3|||0|0|0" },
		{ { .extensions = STR(HELLO_SNI_A "\0") }, "1|3.3|||0|0|0" },
		/* names */
		{ { .extensions = STR("\0\0\0\12\0\10\0\0\1a\0\0\1b") }, "1|3.3|a||0|0|1" },
		{ { .extensions = STR("\0\0\0\6\0\4\1\0\1a") }, "1|3.3|||0|0|1" },
		{ { .extensions = STR("\0\0\0\5\0\3\0\0\0") }, "1|3.3|||0|0|1" },
		{ { .extensions = STR("\0\0\0\0") }, "1|3.3|||0|0|0" },
		{ { .extensions = STR("\0\0\0\7\0\5\0\0\2a\0") }, "1|3.3|||0|0|0" }, /* "a" */
		{ { .extensions = STR("\0\0\0\7\0\5\0\0\2a ") }, "1|3.3|||0|0|0" },
		{ { .extensions = STR("\0\0\0\7\0\5\0\0\1a\0") }, "1|3.3|||0|0|0" },
		{ { .extensions = STR(HELLO_SNI_A HELLO_SNI_A) }, "1|3.3|||0|0|0" }, /* the first */
		{ { .extensions = STR("\1\1\0\0\1\1\0\0") }, "1|3.3|||0|0|1" },
		/* others */
		{ { .extensions = STR("\0\20\0\15\0\13\12acme-tls/1") },
			"1|3.3||acme-tls/1|0|0|1" },
		{ { .extensions = STR("\0\20\0\2\0\0") }, "1|3.3|||0|0|1" },
		{ { .extensions = STR("\0\20\0\3\0\1\0") }, "1|3.3|||0|0|0" },
		{ { .extensions = STR("\0\43\0\3abc") }, "1|3.3|||0|2|1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		if (strcmp(read_as(hello_make(&t[i].h)), t[i].want) != 0)
			fail_msg("%zu: %s, not %s", i, read_as(hello_make(&t[i].h)), t[i].want);
}

/* An incomplete hello is not decided, and bytes after it are not read. */
static void
an_incomplete_hello_is_not_decided(void **state)
{
	const struct hello_parts parts = { .extensions = STR(ALL) };
	struct str whole = hello_make(&parts);

	(void)state;
	for (size_t n = 0; n < whole.len; n++) {
		char *copy = malloc(n + 1);

		memcpy(copy, whole.p, n);
		assert_string_equal(read_as((struct str){ copy, n }), "more");
		free(copy);
	}
	hello_bytes[whole.len] = 'x';
	assert_string_equal(read_as((struct str){ whole.p, whole.len + 1 }), "1|3.3|a|h2|1|1|1");
}

static void
what_is_no_hello_is_refused(void **state)
{
	static const struct str t[] = { STR("G"), STR("GET / HTTP/1.1\r\n"),
		STR("\25\3\1\0\3\1\0\0"), STR("\24\3\1\0\2"), STR("\27\3\1\0\1x"),
		STR("\26\3\1\0\4\1\2\0\1"), STR("\26\2"), STR("\26\3\1\0\3\1\0\0\0"),
		STR("\26\3\1\0\5\1\0\0\1\0") };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		assert_string_equal(read_as(t[i]), "not");
	assert_string_equal(read_as((struct str){ NULL, 0 }), "more");
}

/* A message in records of `size` bytes; `between` stands before each of them. */
static struct str
cut(struct str whole, size_t size, struct str between, char *to)
{
	size_t n = 0, at = RECORD;

	while (at < whole.len) {
		size_t some = whole.len - at < size ? whole.len - at : size;

		memcpy(to + n, between.p, between.len);
		n += between.len;
		memcpy(to + n, "\26\3\3", 3);
		to[n + 3] = (char)(some >> 8);
		to[n + 4] = (char)some;
		memcpy(to + n + RECORD, whole.p + at, some);
		n += RECORD + some;
		at += some;
	}
	return (struct str){ to, n };
}

#define EMPTY "\26\3\1\0\0"
#define ALERT "\25\3\1\0\2\1\0"
#define CCS   "\24\3\3\0\1\1"

/* One message in any records is the same message, and is waited for. */
static void
a_hello_in_any_records_is_one_message(void **state)
{
	static const struct str between[] = { STR(""), STR(EMPTY), STR(ALERT), STR(CCS),
		STR(EMPTY CCS ALERT ALERT EMPTY) };
	static char to[1 << 14];
	const struct hello_parts parts = { .extensions = STR(ALL) };
	struct str whole = hello_make(&parts);

	(void)state;
	for (size_t size = 1; size <= whole.len; size++) {
		for (size_t i = 0; i < ARRAY_LEN(between); i++) {
			struct str s = cut(whole, size, between[i], to);

			assert_string_equal(read_as(s), "1|3.3|a|h2|1|1|1");
			for (size_t n = 0; n < s.len; n++)
				assert_string_equal(read_as((struct str){ to, n }), "more");
		}
	}
	/* Nothing else may come between. */
	assert_string_equal(read_as(cut(whole, 50, STR("\27\3\3\0\1x"), to)), "not");
	assert_string_equal(read_as(cut(whole, 50, STR("\26\2\3\0\0"), to)), "not");
	assert_string_equal(read_as(cut(whole, 50, STR("\24\3\3\0\2\1\1"), to)), "not");
}

static void
fields_of_a_hello_are_found(void **state)
{
	const struct hello_parts parts = { .extensions = STR(ALL), .session = 7, .ciphers = 4 };
	struct hello_fields f;
	struct str m = hello_make(&parts);

	(void)state;
	m.p += RECORD;
	m.len -= RECORD;
	assert_int_equal(hello_read_fields(m, &f), 0);
	assert_int_equal(f.version, 0x303);
	assert_int_equal(f.session.len, 7);
	assert_int_equal(f.ciphers.len, 4);
	assert_int_equal(f.compressions.len, 1);
	assert_int_equal(f.rest.len, sizeof(ALL) - 1 + 2);
	m.len -= f.rest.len + 1;
	assert_true(hello_read_fields(m, &f) < 0);
}

static void
versions_are_found(void **state)
{
	static const char old[] = "\x80\x0b\1\3\1\0\3\0\0\0\20ab";
	const struct hello_parts parts = { .version = "\3\2", .no_extensions = 1 };
	uint32_t v = 0;

	(void)state;
	assert_int_equal(hello_ssl2_version(hello_make(&parts), &v), HELLO_NOT);
	assert_int_equal(hello_ssl2_version(STR(old), &v), HELLO_WHOLE);
	assert_int_equal(v, 3 << 16 | 1);
	for (size_t n = 1; n < sizeof(old) - 1; n++)
		assert_int_equal(hello_ssl2_version((struct str){ old, n }, &v), HELLO_MORE);
	assert_int_equal(hello_ssl2_version(STR("\x80\x08\1\3"), &v), HELLO_NOT);
	assert_int_equal(hello_ssl2_version(STR("\x80\x2e\4"), &v), HELLO_NOT);
	assert_int_equal(hello_ssl2_version(STR("SSH-2.0"), &v), HELLO_NOT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hellos_are_taken_apart),
		cmocka_unit_test(an_incomplete_hello_is_not_decided),
		cmocka_unit_test(what_is_no_hello_is_refused),
		cmocka_unit_test(a_hello_in_any_records_is_one_message),
		cmocka_unit_test(fields_of_a_hello_are_found),
		cmocka_unit_test(versions_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
