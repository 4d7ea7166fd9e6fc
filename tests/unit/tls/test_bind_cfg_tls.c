#include "tls/bind.h"
#include "unit/proxy/proxies_rig.h"

/* Every option, with values that are checked when the line is read. */
static const struct world_line lines[] = {
	{ "ssl crt /x", NULL },
	{ "crt", "<file|directory>" },
	{ "crt-list", "<file>" },
	{ "default-crt /x", NULL },
	{ "alpn h2,http/1.1", NULL },
	{ "alpn ,", "1 to 255 bytes" },
	{ "no-alpn", NULL },
	{ "ca-file /x ca-verify-file /y crl-file /z", NULL },
	{ "verify none", NULL },
	{ "verify optional", NULL },
	{ "verify required", NULL },
	{ "verify maybe", "'maybe' is unknown" },
	{ "crt-ignore-err all ca-ignore-err 1,2", NULL },
	{ "crt-ignore-err 200", "'200' is no error" },
	{ "no-ca-names", NULL },
	{ "ciphers A ciphersuites B curves C ecdhe D sigalgs E client-sigalgs F", NULL },
	{ "ssl-min-ver TLSv1.2 ssl-max-ver TLSv1.3", NULL },
	{ "ssl-min-ver TLSv2", "'TLSv2' is no version" },
	{ "force-tlsv12 no-tlsv13 no-sslv3", NULL },
	{ "no-tls-tickets tls-tickets prefer-client-ciphers strict-sni no-strict-sni", NULL },
	{ "ocsp-update off ocsp-update on", NULL },
	{ "ocsp-update maybe", "expects 'on' or 'off'" },
	{ "allow-0rtt alpn h3", NULL },
	{ "npn h2", NULL },
	{ "generate-certificates", "not made at run time" },
	{ "ca-sign-file /x", NULL },
	{ "generate-certificates", "not made at run time" },
};

static void
test_options(void **state)
{
	(void)state;
	world_lines("frontend f\n bind :80 ", lines, ARRAY_LEN(lines), "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
