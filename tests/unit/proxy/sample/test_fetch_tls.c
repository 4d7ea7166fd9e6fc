#include "proxy/sample/fetch.h"

#include "unit/proxy/log_rig.h"

static struct log_world w;

static int
setup(void **state)
{
	(void)state;
	log_world_init(&w);
	return 0;
}

#define IS(format, text) assert_string_equal(log_world_line(&w, format), text)

/* On a plain connection flags are false and values unknown, as in HAProxy. */
static void
without_tls(void **state)
{
	(void)state;
	IS("%[ssl_fc] %[ssl_bc] %[ssl_fc,iif(https,http)]", "0 0 http");
	IS("%[ssl_fc_has_sni] %[ssl_fc_has_crt] %[ssl_c_used] %[ssl_fc_is_resumed]", "0 - - 0");
	IS("%[ssl_fc_sni] %[ssl_fc_protocol] %[ssl_fc_cipher] %[ssl_fc_alpn]", "- - - -");
	IS("%[ssl_c_verify] %[ssl_c_err] %[ssl_c_ca_err] %[ssl_fc_err,hex]", "- - - -");
	IS("%[ssl_c_s_dn] %[ssl_c_s_dn(CN,-1)] %[ssl_c_i_dn(,0,rfc2253)] %[ssl_f_sha1,hex]",
		"- - - -");
	IS("%[ssl_c_version] %[ssl_s_version] %[ssl_bc_use_keysize]", "- - -");
	IS("%[ssl_fc_cipherlist_bin(1),hex] %[ssl_fc_cipherlist_hex] %[ssl_fc_cipherlist_str]",
		"- - -");
	IS("%[ssl_fc_protocol_hello_id] %[ssl_fc_cipherlist_xxh] %[ssl_fc_exporter_secret]",
		"- - -");
	IS("%sslv %sslc", "- -");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_tls, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
