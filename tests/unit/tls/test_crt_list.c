#include "tls/crt_list.h"

#include "base/mem.h"

#include "base/err.h"
#include "unit/test.h"

#include <stdio.h>
#include <string.h>

static struct tls_list_line line;
static char text[256], why[TLS_WHY_MAX];

static int
parse(const char *from)
{
	tls_settings_free(&line.own);
	snprintf(text, sizeof(text), "%s", from);
	why[0] = '\0';
	return tls_list_line_parse(text, &line, why);
}

static int
teardown(void **state)
{
	(void)state;
	tls_settings_free(&line.own);
	return 0;
}

static int
setup(void **state)
{
	(void)state;
	return 0;
}

static void
test_lines(void **state)
{
	(void)state;
	assert_int_equal(parse("a.pem"), 0);
	assert_string_equal(line.path, "a.pem");
	assert_int_equal(line.n_filters, 0);
	assert_int_equal(parse("  a.pem \t *.x.test  !y.x.test\r"), 0);
	assert_int_equal(line.n_filters, 2);
	assert_string_equal(line.filter[0], "*.x.test");
	assert_string_equal(line.filter[1], "!y.x.test");
	assert_int_equal(parse(""), 0);
	assert_null(line.path);
	assert_int_equal(parse("   # a remark"), 0);
	assert_null(line.path);
}

static void
test_options(void **state)
{
	(void)state;
	assert_int_equal(parse("a.pem [alpn h2,http/1.1 ssl-min-ver TLSv1.3] x y"), 0);
	assert_int_equal(line.own.min, TLS_VERSION_13);
	assert_int_equal(line.own.alpn.len, 12);
	assert_int_equal(line.n_filters, 2);
	assert_int_equal(parse("a.pem [ verify required ] x"), 0);
	assert_int_equal(line.own.verify, TLS_VERIFY_REQUIRED);
	assert_int_equal(line.n_filters, 1);
	assert_int_equal(parse("a.pem [no-ca-names]"), 0);
	assert_int_equal(line.own.flags, TLS_NO_CA_NAMES);
	assert_int_equal(parse("a.pem []"), 0);
}

static void
test_errors(void **state)
{
	static const char *const rows[][2] = {
		{ "a.pem [alpn", "missing ']'" },
		{ "[alpn x] a.pem", "file must start with a cert" },
		{ "a.pem [alpn]", "ssl args out of '[]' for alpn" },
		{ "a.pem [alpn x]y", "blank" },
		{ "a.pem [strict-sni]", "unknown ssl keyword strict-sni" },
		{ "a.pem [verify maybe]", "'verify' : 'maybe'" },
		{ "a.pem [ocsp-update maybe]", "expects 'on' or 'off'" },
		{ "a.pem [npn h2]", "obsolete" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(parse(rows[i][0]) < 0);
		if (!strstr(why, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], why);
	}
}

static void
check_options(const char *options, const char *want)
{
	char written[256], *said;

	snprintf(written, sizeof(written), "a.pem [%s]", options);
	assert_int_equal(parse(written), 0);
	assert_true(line.has_options);
	said = tls_list_options(&line.own, "/base");
	assert_string_equal(said, want);
	mem_free(said);
}

/* As HAProxy shows them: in an order of its own, and with the paths of files. */
static void
test_options_as_text(void **state)
{
	(void)state;
	check_options("", "");
	check_options("ssl-max-ver TLSv1.3 ssl-min-ver TLSv1.2 alpn a,bc verify optional",
		"alpn a,bc verify optional ssl-min-ver TLSv1.2 ssl-max-ver TLSv1.3");
	check_options("crl-file r.pem ca-file @system-ca ca-verify-file /x no-ca-names no-alpn",
		"no-alpn no-ca-names ca-file @system-ca ca-verify-file /x crl-file /base/r.pem");
	check_options("alpn a allow-0rtt verify none ciphers c no-ca-names",
		"alpn a verify none no-ca-names allow-0rtt ciphers c");
	check_options("ciphersuites s ciphers c curves g sigalgs x client-sigalgs y",
		"ciphers c ciphersuites s curves g sigalgs x client-sigalgs y");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_lines),
		CASE(test_options),
		CASE(test_errors),
		CASE(test_options_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
