/* The captured parts of a client's hello: the lists, cut to the room that they share. */
#include "tls/capture.c"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "unit/test.h"

static const uint8_t hello[] = {
	1, 0, 0, 73, 3, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
	20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0,
	/* ciphers */
	0, 6, 0x0a, 0x0a, 0x13, 1, 0xc0, 0x2b,
	/* compression */
	1, 0,
	/* extensions */
	0, 26, 0x1a, 0x1a, 0, 0, 0, 10, 0, 8, 0, 6, 0x2a, 0x2a, 0, 29, 0, 23, 0, 11, 0, 2, 1, 0,
	0, 51, 0, 0
};

static struct tls_capture *c;
static struct sbuf out;

static int
setup(void **state)
{
	(void)state;
	sbuf_init(&out, 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	sbuf_fini(&out);
	tls_capture_free(&c);
	assert_null(c);
	return 0;
}

static void
assert_list(enum tls_hello_list list, int without_grease, const char *want, size_t n)
{
	sbuf_reset(&out);
	assert_int_equal(tls_capture_list(c, list, without_grease, &out), 0);
	assert_int_equal(out.len, n);
	assert_memory_equal(out.p, want, n);
}

static void
test_lists(void **state)
{
	int64_t n, hash;

	(void)state;
	assert_int_equal(tls_capture_hello(&c, 100, hello, sizeof(hello)), 0);
	assert_list(TLS_HELLO_CIPHERS, 0, "\x0a\x0a\x13\1\xc0\x2b", 6);
	assert_list(TLS_HELLO_CIPHERS, 1, "\x13\1\xc0\x2b", 4);
	assert_list(TLS_HELLO_EXTENSIONS, 0, "\x1a\x1a\0\x0a\0\x0b\0\x33", 8);
	assert_list(TLS_HELLO_EXTENSIONS, 1, "\0\x0a\0\x0b\0\x33", 6);
	assert_list(TLS_HELLO_GROUPS, 1, "\0\x1d\0\x17", 4);
	assert_list(TLS_HELLO_POINT_FORMATS, 1, "\0", 1);
	assert_int_equal(tls_capture_number(c, TLS_HELLO_VERSION, &n), 0);
	assert_int_equal(n, 771);
	assert_int_equal(tls_capture_number(c, TLS_HELLO_CIPHERS_HASH, &hash), 0);
	/* The hash is of all ciphers, however little is kept; the second hello counts. */
	assert_int_equal(tls_capture_hello(&c, 3, hello, sizeof(hello)), 0);
	assert_list(TLS_HELLO_CIPHERS, 0, "\x0a\x0a\x13", 3);
	assert_list(TLS_HELLO_CIPHERS, 1, "\x13", 1);
	assert_int_equal(tls_capture_number(c, TLS_HELLO_CIPHERS_HASH, &n), 0);
	assert_true(n == hash);
}

/* The parts never exceed the room, whatever it is, and whole parts come before cut ones. */
static void
test_room(void **state)
{
	(void)state;
	for (size_t room = 1; room < 24; room++) {
		size_t sum = 0;

		assert_int_equal(tls_capture_hello(&c, room, hello, sizeof(hello)), 0);
		for (int list = 0; list < TLS_HELLO_LISTS; list++) {
			sbuf_reset(&out);
			assert_int_equal(
				tls_capture_list(c, (enum tls_hello_list)list, 0, &out), 0);
			sum += out.len;
		}
		assert_true(sum <= room && sum <= 21);
		tls_capture_free(&c);
	}
}

/* A hello that is cut anywhere is none, or has fewer extensions; nothing is read behind its end. */
static void
test_cut(void **state)
{
	int64_t n;

	(void)state;
	for (size_t len = 0; len < sizeof(hello); len++) {
		uint8_t *copy = malloc(len ? len : 1);

		assert_non_null(copy);
		memcpy(copy, hello, len);
		assert_int_equal(tls_capture_hello(&c, 100, copy, len), 0);
		free(copy);
		assert_int_equal(tls_capture_number(c, TLS_HELLO_VERSION, &n) == 0, len >= 49);
		tls_capture_free(&c);
	}
}

static void
test_secrets(void **state)
{
	(void)state;
	assert_true(tls_capture_secret_text(c, TLS_EXPORTER_SECRET, &out) < 0);
	assert_int_equal(tls_capture_secret(&c, "EXPORTER_SECRET 0011 aabb"), 0);
	assert_int_equal(tls_capture_secret(&c, "EXPORTER_SECRET 0011 other"), 0);
	assert_int_equal(tls_capture_secret(&c, "CLIENT_RANDOM 0011 cc"), 0);
	assert_int_equal(tls_capture_secret(&c, "EARLY_EXPORTER_SECRET"), 0);
	assert_int_equal(tls_capture_secret_text(c, TLS_EXPORTER_SECRET, &out), 0);
	assert_string_equal(out.p, "aabb");
	assert_true(tls_capture_secret_text(c, TLS_EARLY_EXPORTER_SECRET, &out) < 0);
	/* There was no hello. */
	assert_true(tls_capture_list(c, TLS_HELLO_CIPHERS, 0, &out) < 0);
	assert_null(tls_capture_of(NULL));
	assert_true(tls_capture_cipher_names(NULL, 0, &out) < 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(test_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_secrets, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
