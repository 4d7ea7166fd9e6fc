#include "tls/settings.h"

#include "base/err.h"
#include "base/mem.h"
#include "tls/verify_names.h"
#include "unit/test.h"

#include <string.h>

static struct tls_settings s;
static char why[TLS_WHY_MAX];

static int
setup(void **state)
{
	(void)state;
	memset(&s, 0, sizeof(s));
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	tls_settings_free(&s);
	return 0;
}

static void
test_places(void **state)
{
	(void)state;
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "ciphers", "HIGH", why), 1);
	assert_string_equal(s.ciphers, "HIGH");
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "ciphers", "LOW", why), 1);
	assert_string_equal(s.ciphers, "LOW");
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "strict-sni", "", why), 0);
	assert_int_equal(s.flags, TLS_STRICT_SNI);
	assert_int_equal(tls_settings_set(&s, TLS_AT_SERVER, "strict-sni", "", why), -ERR_UNKNOWN);
	assert_int_equal(tls_settings_set(&s, TLS_AT_CRT_LIST, "crt-ignore-err", "1", why),
		-ERR_UNKNOWN);
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND_DEFAULTS, "ciphers", "x", why),
		-ERR_UNKNOWN);
	assert_int_equal(tls_settings_args(TLS_AT_BIND, "alpn"), 1);
	assert_int_equal(tls_settings_args(TLS_AT_BIND, "no-alpn"), 0);
	assert_int_equal(tls_settings_args(TLS_AT_BIND, "none"), -ERR_UNKNOWN);
}

static void
test_versions(void **state)
{
	(void)state;
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "ssl-min-ver", "TLSv1.1", why), 1);
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "ssl-max-ver", "TLSv1.3", why), 1);
	assert_int_equal(s.min, TLS_VERSION_11);
	assert_int_equal(s.max, TLS_VERSION_13);
	assert_int_equal(
		tls_settings_set(&s, TLS_AT_BIND, "ssl-min-ver", "TLSv1", why), -ERR_INVAL);
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "no-tlsv12", "", why), 0);
	assert_int_equal(s.off, 1u << TLS_VERSION_12);
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "force-tlsv12", "", why), 0);
	assert_int_equal(s.min, TLS_VERSION_12);
	assert_int_equal(s.max, TLS_VERSION_12);
}

static void
test_verify(void **state)
{
	(void)state;
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "verify", "optional", why), 1);
	assert_int_equal(s.verify, TLS_VERIFY_OPTIONAL);
	assert_int_equal(tls_settings_set(&s, TLS_AT_SERVER, "verify", "required", why), 1);
	assert_int_equal(s.verify, TLS_VERIFY_REQUIRED);
	assert_int_equal(
		tls_settings_set(&s, TLS_AT_SERVER, "verify", "optional", why), -ERR_INVAL);
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "crt-ignore-err",
		"10,X509_V_ERR_CERT_REVOKED,127", why), 1);
	assert_true(tls_error_is_in(&s.crt_ignore, 10));
	assert_true(tls_error_is_in(&s.crt_ignore, 23));
	assert_true(tls_error_is_in(&s.crt_ignore, 127));
	assert_false(tls_error_is_in(&s.crt_ignore, 11));
	assert_false(tls_error_is_in(&s.ca_ignore, 10));
	assert_int_equal(
		tls_settings_set(&s, TLS_AT_BIND, "ca-ignore-err", "128", why), -ERR_INVAL);
	assert_int_equal(
		tls_settings_set(&s, TLS_AT_BIND, "ca-ignore-err", "1,,2", why), -ERR_INVAL);
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "ca-ignore-err", "all", why), 1);
	assert_true(tls_error_is_in(&s.ca_ignore, 99));
	assert_string_equal(tls_verify_error_name(10), "X509_V_ERR_CERT_HAS_EXPIRED");
	assert_null(tls_verify_error_name(-5));
}

static void
test_alpn(void **state)
{
	char longest[258];

	(void)state;
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "alpn", "h2,http/1.1", why), 1);
	assert_int_equal(s.alpn.len, 12);
	assert_memory_equal(s.alpn.p, "\2h2\10http/1.1", 12);
	assert_true(tls_alpn_offers_http2(&s.alpn));
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "alpn", "h2,", why), -ERR_INVAL);
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "alpn", "", why), -ERR_INVAL);
	memset(longest, 'a', 256);
	longest[256] = '\0';
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "alpn", longest, why), -ERR_INVAL);
	longest[255] = '\0';
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "alpn", longest, why), 1);
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "no-alpn", "", why), 0);
	assert_int_equal(s.alpn.len, 0);
}

static void
test_inherit(void **state)
{
	struct tls_settings from = { 0 }, copy = { 0 };

	(void)state;
	assert_int_equal(tls_settings_set(&from, TLS_AT_BIND, "ciphers", "A", why), 1);
	assert_int_equal(tls_settings_set(&from, TLS_AT_BIND, "alpn", "x", why), 1);
	assert_int_equal(tls_settings_set(&from, TLS_AT_BIND, "curves", "B", why), 1);
	assert_int_equal(tls_settings_set(&from, TLS_AT_BIND, "ssl-min-ver", "TLSv1.3", why), 1);
	from.level = 3;
	assert_int_equal(tls_settings_set(&s, TLS_AT_BIND, "ciphers", "C", why), 1);
	assert_int_equal(tls_settings_inherit(&s, &from), 0);
	assert_string_equal(s.ciphers, "C");
	assert_string_equal(s.curves, "B");
	assert_int_equal(s.min, TLS_VERSION_13);
	assert_int_equal(s.level, 3);
	assert_false(tls_settings_equal(&s, &from));
	assert_int_equal(tls_settings_copy(&copy, &s), 0);
	assert_true(tls_settings_equal(&s, &copy));
	copy.level = 1;
	assert_false(tls_settings_equal(&s, &copy));
	copy.level = s.level;
	assert_true(tls_settings_equal(&s, &copy));
	copy.alpn.p[1] = 'y';
	assert_false(tls_settings_equal(&s, &copy));
	tls_settings_free(&copy);
	/* no-alpn is not undone by a default */
	assert_int_equal(tls_settings_set(&copy, TLS_AT_BIND, "no-alpn", "", why), 0);
	assert_int_equal(tls_settings_inherit(&copy, &from), 0);
	assert_int_equal(copy.alpn.len, 0);
	tls_settings_free(&copy);
	tls_settings_free(&from);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_places),
		CASE(test_versions),
		CASE(test_verify),
		CASE(test_alpn),
		CASE(test_inherit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
