/* Byte classes compared with the grammar, and each scan with its portable version. */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "http/scan.h"
#include "unit/test.h"

#define LOWER "0123456789abcdefghijklmnopqrstuvwxyz"
#define ALNUM LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
/* Longer than two vectors. */
#define LONGEST 80

static const struct {
	enum http_class class;
	size_t (*scan)(const char *p, size_t n);
	char inside; /* one of its bytes */
} scans[] = {
	{ HTTP_C_TOKEN, http_scan_token, 'x' },
	{ HTTP_C_VALUE, http_scan_value, ' ' },
	{ HTTP_C_TARGET, http_scan_target, '/' },
	{ HTTP_C_NAME, http_scan_name, '.' },
	{ HTTP_C_LOWER, http_scan_lower, 'x' },
};

static int
is_in(unsigned int c, const char *set)
{
	return c && strchr(set, (int)c) != NULL;
}

static void
the_classes_are_the_grammar(void **st)
{
	(void)st;
	for (unsigned int c = 0; c < 256; c++) {
		unsigned int want = 0;

		want |= is_in(c, "!#$%&'*+-.^_`|~" ALNUM) ? HTTP_C_TOKEN : 0;
		want |= c == '\t' || (c >= ' ' && c != 0x7f) ? HTTP_C_VALUE : 0;
		want |= c > ' ' && c < 0x7f && c != '#' ? HTTP_C_TARGET : 0;
		want |= is_in(c, "-._~!$&'()*+;=" ALNUM) ? HTTP_C_NAME : 0;
		want |= is_in(c, "0123456789") ? HTTP_C_DIGIT : 0;
		want |= is_in(c, "0123456789abcdefABCDEF") ? HTTP_C_HEX : 0;
		want |= is_in(c, "!#$%&'*+-.^_`|~" LOWER) ? HTTP_C_LOWER : 0;
		assert_int_equal(http_class[c], want);
		assert_int_equal(!!http_is((char)c, HTTP_C_TOKEN), !!(want & HTTP_C_TOKEN));
	}
}

/* The block ends where the bytes end, so that a sanitizer detects reads beyond them. */
static void
agree(unsigned int which, const char *text, size_t n)
{
	char *exact = malloc(n ? n : 1);
	size_t run;

	assert_non_null(exact);
	memcpy(exact, text, n);
	run = scans[which].scan(exact, n);
	assert_true(run <= n);
	for (size_t i = 0; i < run; i++)
		assert_true(http_is(exact[i], scans[which].class));
	assert_true(run == n || !http_is(exact[run], scans[which].class));
	free(exact);
}

/* Each byte at each position of a run of each length, at each alignment. */
static void
each_byte_at_each_place(void **st)
{
	char text[2 * LONGEST];

	(void)st;
	for (unsigned int s = 0; s < ARRAY_LEN(scans); s++) {
		for (size_t at = 0; at <= 64; at++) {
			for (unsigned int c = 0; c < 256; c++) {
				size_t from = c % 16;

				memset(text, scans[s].inside, sizeof(text));
				text[from + at] = (char)c;
				assert_int_equal(scans[s].scan(text + from, LONGEST),
					http_is((char)c, scans[s].class) ? LONGEST : at);
				/* As the last byte, and as the first one beyond the end. */
				assert_int_equal(scans[s].scan(text + from, at + 1),
					http_is((char)c, scans[s].class) ? at + 1 : at);
				assert_int_equal(scans[s].scan(text + from, at), at);
			}
		}
	}
}

static void
each_alignment(void **st)
{
	char text[256];

	(void)st;
	for (unsigned int s = 0; s < ARRAY_LEN(scans); s++)
		for (size_t from = 0; from < 64; from++)
			for (size_t n = 0; n <= LONGEST; n++) {
				memset(text, '\r', sizeof(text));
				memset(text + from, scans[s].inside, n);
				assert_int_equal(
					scans[s].scan(text + from, sizeof(text) - from), n);
			}
}

static void
random_bytes_agree(void **st)
{
	static const char bytes[] = ALNUM "-_ \t!:#\r\n\x7f\x80\xff";
	/* Any bytes, bytes of words only, and bytes that often end a run. */
	static const size_t from[] = { 0, sizeof(ALNUM) + 1, sizeof(bytes) - 1 };
	uint64_t x = 1;

	(void)st;
	for (int i = 0; i < 200000; i++) {
		char text[LONGEST];
		size_t n;

		for (size_t k = 0; k < sizeof(text); k++) {
			x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
			text[k] = from[i % 3] ? bytes[(x >> 33) % from[i % 3]] : (char)(x >> 56);
		}
		n = (size_t)(x >> 40) % (sizeof(text) + 1);
		agree((unsigned int)i % ARRAY_LEN(scans), text, n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_classes_are_the_grammar),
		cmocka_unit_test(each_byte_at_each_place),
		cmocka_unit_test(each_alignment),
		cmocka_unit_test(random_bytes_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
