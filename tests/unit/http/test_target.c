/* Forms of the target, authorities, and the Host that a target requires. */
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "http/target.h"
#include "unit/test.h"

static void
forms(void **st)
{
	static const struct {
		enum http_method method;
		const char *target;
		enum http_form form;
		const char *authority;
	} rows[] = {
		{ HTTP_GET, "/", HTTP_FORM_ORIGIN, "" },
		{ HTTP_GET, "//a/b", HTTP_FORM_ORIGIN, "" },
		{ HTTP_OPTIONS, "/", HTTP_FORM_ORIGIN, "" },
		{ HTTP_GET, "", HTTP_FORM_NONE, "" },
		{ HTTP_GET, "a", HTTP_FORM_NONE, "" },
		{ HTTP_GET, "?a", HTTP_FORM_NONE, "" },
		{ HTTP_GET, "a:80", HTTP_FORM_NONE, "" },
		{ HTTP_GET, "*", HTTP_FORM_NONE, "" },
		{ HTTP_OPTIONS, "*", HTTP_FORM_ASTERISK, "" },
		{ HTTP_OPTIONS, "**", HTTP_FORM_NONE, "" },
		{ HTTP_GET, "http://a", HTTP_FORM_ABSOLUTE, "a" },
		{ HTTP_GET, "http://a/b", HTTP_FORM_ABSOLUTE, "a" },
		{ HTTP_GET, "HTTPs://a:1?b", HTTP_FORM_ABSOLUTE, "a:1" },
		{ HTTP_GET, "http://[::1]:80/", HTTP_FORM_ABSOLUTE, "[::1]:80" },
		{ HTTP_OTHER, "http://a?b/c", HTTP_FORM_ABSOLUTE, "a" },
		{ HTTP_GET, "http:/a", HTTP_FORM_NONE, NULL },
		{ HTTP_GET, "http://", HTTP_FORM_NONE, NULL },
		{ HTTP_GET, "http:///a", HTTP_FORM_NONE, NULL },
		{ HTTP_GET, "http://:80/", HTTP_FORM_NONE, NULL },
		{ HTTP_GET, "http://?a", HTTP_FORM_NONE, NULL },
		{ HTTP_GET, "http://u@a/", HTTP_FORM_NONE, NULL },
		{ HTTP_GET, "http://a,b/", HTTP_FORM_NONE, NULL },
		{ HTTP_GET, "http://a\\b/", HTTP_FORM_NONE, NULL },
		{ HTTP_GET, "http://a:b/", HTTP_FORM_NONE, NULL },
		{ HTTP_GET, "ftp://a/", HTTP_FORM_NONE, NULL },
		{ HTTP_GET, "httpss://a/", HTTP_FORM_NONE, NULL },
		{ HTTP_CONNECT, "a:443", HTTP_FORM_AUTHORITY, "a:443" },
		{ HTTP_CONNECT, "[::1]:443", HTTP_FORM_AUTHORITY, "[::1]:443" },
		{ HTTP_CONNECT, "a", HTTP_FORM_NONE, NULL },
		{ HTTP_CONNECT, "a:", HTTP_FORM_NONE, NULL },
		{ HTTP_CONNECT, ":443", HTTP_FORM_NONE, NULL },
		{ HTTP_CONNECT, "/", HTTP_FORM_NONE, NULL },
		{ HTTP_CONNECT, "*", HTTP_FORM_NONE, NULL },
		{ HTTP_CONNECT, "http://a:80/", HTTP_FORM_NONE, NULL },
		{ HTTP_CONNECT, "a:443/", HTTP_FORM_NONE, NULL },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str authority;
		enum http_form f =
			http_target_form(rows[i].method, str_of(rows[i].target), &authority);

		if (f != rows[i].form)
			fail_msg("'%s' has form %d", rows[i].target, (int)f);
		if (rows[i].authority)
			assert_true(str_is(authority, str_of(rows[i].authority)));
	}
}

static void
authorities(void **st)
{
	static const struct {
		const char *text, *host, *port; /* NULL: rejected */
	} rows[] = {
		{ "", "", "" },
		{ ":", "", "" },
		{ ":80", "", "80" },
		{ "a", "a", "" },
		{ "a:", "a", "" },
		{ "a:0", "a", "0" },
		{ "a:00080", "a", "00080" },
		{ "a:65535", "a", "65535" },
		{ "a:65536", NULL, NULL },
		{ "a:99999", NULL, NULL },
		{ "a:000080", NULL, NULL },
		{ "a:8x", NULL, NULL },
		{ "a:-1", NULL, NULL },
		{ "a:80:80", NULL, NULL },
		{ "a::80", NULL, NULL },
		{ "a b", NULL, NULL },
		{ "a\tb", NULL, NULL },
		{ "a,b", NULL, NULL },
		{ "u@a", NULL, NULL },
		{ "u:p@a", NULL, NULL },
		{ "a/b", NULL, NULL },
		{ "a?b", NULL, NULL },
		{ "a#b", NULL, NULL },
		{ "a\\b", NULL, NULL },
		{ "a\"b", NULL, NULL },
		{ "a\x80", NULL, NULL },
		{ "a%41", "a%41", "" },
		{ "a%4", NULL, NULL },
		{ "a%", NULL, NULL },
		{ "a%4g", NULL, NULL },
		{ "-._~!$&'()*+;=", "-._~!$&'()*+;=", "" },
		{ "127.0.0.1:8080", "127.0.0.1", "8080" },
		{ "[::1]", "[::1]", "" },
		{ "[::ffff:1.2.3.4]:80", "[::ffff:1.2.3.4]", "80" },
		{ "[::1", NULL, NULL },
		{ "[]", NULL, NULL },
		{ "[", NULL, NULL },
		{ "[1]", NULL, NULL },
		{ "[::1]a", NULL, NULL },
		{ "[::1]]", NULL, NULL },
		{ "[::g]", NULL, NULL },
		{ "[fe80::1%25eth0]", NULL, NULL },
		{ "[[::1]]", NULL, NULL },
		{ "]", NULL, NULL },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str host, port;
		int err = http_authority_split(str_of(rows[i].text), &host, &port);

		if (err != (rows[i].host ? 0 : -ERR_SYNTAX))
			fail_msg("'%s': %d", rows[i].text, err);
		if (err)
			continue;
		assert_true(str_is(host, str_of(rows[i].host)));
		assert_true(str_is(port, str_of(rows[i].port)));
	}
}

static void
hosts(void **st)
{
	static const struct {
		enum http_method method;
		const char *target, *host;
		int fits;
	} rows[] = {
		{ HTTP_GET, "/", "a", 1 },
		{ HTTP_GET, "/", "", 1 },
		{ HTTP_OPTIONS, "*", "a", 1 },
		{ HTTP_GET, "http://a/", "a", 1 },
		{ HTTP_GET, "http://A/", "a", 1 },
		{ HTTP_GET, "http://a/", "A", 1 },
		{ HTTP_GET, "http://a:80/", "a", 1 },
		{ HTTP_GET, "http://a:/", "a", 1 },
		{ HTTP_GET, "http://a/", "a:80", 1 },
		{ HTTP_GET, "https://a/", "a:443", 1 },
		{ HTTP_GET, "https://a:8443/", "a:8443", 1 },
		{ HTTP_GET, "http://a/", "a:443", 0 },
		{ HTTP_GET, "https://a/", "a:80", 0 },
		{ HTTP_GET, "http://a:8080/", "a", 0 },
		{ HTTP_GET, "http://a/", "b", 0 },
		{ HTTP_GET, "http://a/", "", 0 },
		{ HTTP_GET, "http://a/", "aa", 0 },
		{ HTTP_GET, "http://a/", "a b", 0 },
		{ HTTP_CONNECT, "a:443", "a:443", 1 },
		{ HTTP_CONNECT, "a:443", "a", 1 },
		{ HTTP_CONNECT, "a:443", "a:80", 0 },
		{ HTTP_CONNECT, "a:443", "b:443", 0 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str target = str_of(rows[i].target), authority;
		enum http_form form = http_target_form(rows[i].method, target, &authority);

		if (http_host_fits(str_of(rows[i].host), form, target, authority) != rows[i].fits)
			fail_msg("'%s' and Host '%s'", rows[i].target, rows[i].host);
	}
	/* For a text that is not an authority the answer is no. */
	assert_int_equal(http_host_fits(STR("a"), HTTP_FORM_ABSOLUTE, STR("http://a b"),
				 STR("a b")), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(authorities),
		cmocka_unit_test(hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
