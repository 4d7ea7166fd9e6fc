#include "unit/tls/tls_rig.h"

static struct bind_rig g;

static int
setup(void **state)
{
	(void)state;
	bind_rig_open(&g);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	bind_rig_close(&g);
	return 0;
}

#define MEETS(name, subject) assert_string_equal(bind_rig_meet(&g, name, NULL), subject)

static void
test_names(void **state)
{
	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", "DNS:a.test,DNS:*.w.test");
	bind_rig_cert(&g, "b.pem", rig_ec(), "b.test", "DNS:b.test,DNS:x.w.test");
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_source(&g, TLS_SOURCE_CRT, "b.pem");
	bind_rig_load(&g);
	MEETS(NULL, "a.test");
	MEETS("a.test", "a.test");
	MEETS("B.Test", "b.test");
	MEETS("x.w.test", "b.test");
	MEETS("y.w.test", "a.test");
	MEETS("z.y.w.test", "a.test");
	MEETS("unknown", "a.test");
}

static void
test_strict_sni(void **state)
{
	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_set(&g, "strict-sni", "");
	bind_rig_load(&g);
	MEETS("a.test", "a.test");
	MEETS("b.test", "");
	MEETS(NULL, "");
}

/* A directory is read in order, so that the first file is the default. */
static void
test_directory(void **state)
{
	(void)state;
	bind_rig_cert(&g, "b.pem", rig_ec(), "b.test", NULL);
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "");
	bind_rig_load(&g);
	MEETS(NULL, "a.test");
	MEETS("b.test", "b.test");
}

static void
test_default_crt(void **state)
{
	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_cert(&g, "b.pem", rig_ec(), "b.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_source(&g, TLS_SOURCE_DEFAULT_CRT, "b.pem");
	bind_rig_load(&g);
	MEETS(NULL, "b.test");
	MEETS("a.test", "a.test");
}

/* One name, two keys: the client's signature algorithms decide. */
static void
test_two_keys(void **state)
{
	(void)state;
	bind_rig_cert(&g, "x.pem.rsa", EVP_RSA_gen(2048), "x.test", NULL);
	bind_rig_cert(&g, "x.pem.ecdsa", rig_ec(), "x.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "x.pem");
	bind_rig_load(&g);
	for (int named = 0; named < 2; named++) {
		for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
			const char *name = named ? "x.test" : NULL;

			SSL_CTX_set_max_proto_version(g.client, version);
			SSL_CTX_set1_sigalgs_list(g.client, "ECDSA+SHA256:RSA-PSS+SHA256");
			MEETS(name, "x.test");
			assert_int_equal(EVP_PKEY_get_base_id(X509_get0_pubkey(
				SSL_get0_peer_certificate(g.ssl))), EVP_PKEY_EC);
			SSL_CTX_set1_sigalgs_list(g.client, "RSA-PSS+SHA256");
			MEETS(name, "x.test");
			assert_int_equal(EVP_PKEY_get_base_id(X509_get0_pubkey(
				SSL_get0_peer_certificate(g.ssl))), EVP_PKEY_RSA);
		}
	}
}

/* A cipher list without ECDSA rules the other key out. */
static void
test_two_keys_by_cipher(void **state)
{
	(void)state;
	bind_rig_cert(&g, "r.pem", EVP_RSA_gen(2048), "x.test", NULL);
	bind_rig_cert(&g, "e.pem", rig_ec(), "x.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "r.pem");
	bind_rig_source(&g, TLS_SOURCE_CRT, "e.pem");
	bind_rig_load(&g);
	SSL_CTX_set_max_proto_version(g.client, TLS1_2_VERSION);
	MEETS("x.test", "x.test");
	assert_string_equal(SSL_get_cipher_name(g.ssl), "ECDHE-ECDSA-AES256-GCM-SHA384");
	SSL_CTX_set_cipher_list(g.client, "ECDHE-RSA-AES128-GCM-SHA256");
	MEETS("x.test", "x.test");
	assert_string_equal(SSL_get_cipher_name(g.ssl), "ECDHE-RSA-AES128-GCM-SHA256");
}

static void
test_crt_list(void **state)
{
	char text[512];

	(void)state;
	bind_rig_cert(&g, "f.pem", rig_ec(), "f.test", NULL);
	bind_rig_cert(&g, "w.pem", rig_ec(), "w.x", "DNS:*.w.test");
	bind_rig_cert(&g, "b.pem", rig_ec(), "b.test", NULL);
	snprintf(text, sizeof(text),
		"# names\n\n%s/f.pem !*\n%s/w.pem [ssl-max-ver TLSv1.2] *.w.test !n.w.test\n"
		"%s/b.pem [allow-0rtt alpn x/1]", g.dir, g.dir, g.dir);
	bind_rig_write(&g, "list", text);
	bind_rig_source(&g, TLS_SOURCE_LIST, "list");
	bind_rig_load(&g);
	assert_true(bind_rig_says(&g, "'allow-0rtt' has no effect here"));
	assert_int_equal(g.bind->n_variants, 3);
	MEETS("f.test", "f.test");
	MEETS("m.w.test", "w.x");
	assert_int_equal(SSL_version(g.ssl), TLS1_2_VERSION);
	MEETS("n.w.test", "f.test");
	assert_int_equal(SSL_version(g.ssl), TLS1_3_VERSION);
	SSL_CTX_set_alpn_protos(g.client, (const unsigned char *)"\3x/1", 4);
	MEETS("b.test", "b.test");
	{
		const unsigned char *p;
		unsigned int n;

		SSL_get0_alpn_selected(g.ssl, &p, &n);
		assert_int_equal(n, 3);
	}
}

/* OpenSSL takes no RSA key of 512 bits, unless the settings of the line allow it: that is found
 * before a client asks for the name. */
static void
test_refused_certificates(void **state)
{
	char text[512];

	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_cert(&g, "w.pem", EVP_RSA_gen(512), "w.test", NULL);
	snprintf(text, sizeof(text),
		"%s/a.pem\n%s/w.pem [ciphers DEFAULT@SECLEVEL=0] v.test\n %s/w.pem\n", g.dir,
		g.dir, g.dir);
	bind_rig_write(&g, "list", text);
	bind_rig_source(&g, TLS_SOURCE_LIST, "list");
	assert_int_equal(bind_rig_try_load(&g), -1);
	assert_int_equal(g.diag.nentry, 1);
	assert_true(bind_rig_says(&g, "w.pem': ee key too small"));
	assert_int_equal(g.diag.entry[0].where.line, 3);
	assert_int_equal(g.diag.entry[0].where.col, 2);
	assert_int_equal(ERR_peek_error(), 0);
}

/* ssl-security-level 0 permits a key of 512 bits; "@SECLEVEL=2" in the ciphers of a line counts
 * more. */
static void
test_security_level(void **state)
{
	char text[512];

	(void)state;
	g.conf.bind_defaults.level = 1;
	bind_rig_cert(&g, "w.pem", EVP_RSA_gen(512), "w.test", NULL);
	snprintf(text, sizeof(text), "%s/w.pem\n%s/w.pem [ciphers DEFAULT@SECLEVEL=2] v.test\n",
		g.dir, g.dir);
	bind_rig_write(&g, "list", text);
	bind_rig_source(&g, TLS_SOURCE_LIST, "list");
	assert_int_equal(bind_rig_try_load(&g), -1);
	assert_int_equal(g.diag.nentry, 1);
	assert_true(bind_rig_says(&g, "w.pem': ee key too small"));
	assert_int_equal(g.diag.entry[0].where.line, 2);
}

/* Level 4 asks for 192 bits: a key of P-256 has 128. */
static void
test_high_security_level(void **state)
{
	(void)state;
	g.conf.bind_defaults.level = 5;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	assert_int_equal(bind_rig_try_load(&g), -1);
	assert_true(bind_rig_says(&g, "a.pem': ee key too small"));
}

/* Errors name the line of the list. */
static void
test_crt_list_errors(void **state)
{
	struct cfg_places *at;

	(void)state;
	bind_rig_write(&g, "list", "# a remark\nno.pem\nno.pem [bad]\n");
	bind_rig_source(&g, TLS_SOURCE_LIST, "list");
	assert_int_equal(bind_rig_try_load(&g), -1);
	assert_true(bind_rig_says(&g, "unable to stat SSL certificate"));
	assert_true(bind_rig_says(&g, "unknown ssl keyword bad"));
	at = &g.diag.entry[0].places;
	(void)at;
	assert_int_equal(g.diag.entry[0].where.line, 2);
	assert_int_equal(g.diag.entry[1].where.line, 3);
}

static void
test_load_errors(void **state)
{
	(void)state;
	assert_int_equal(bind_rig_try_load(&g), -1);
	assert_true(bind_rig_says(&g, "no SSL certificate specified for bind '1.2.3.4:5'"));
}

static void
test_bad_ciphers(void **state)
{
	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_set(&g, "ciphers", "NO-SUCH");
	assert_int_equal(bind_rig_try_load(&g), -1);
	assert_true(bind_rig_says(&g, "SSL cipher list to 'NO-SUCH': no cipher match"));
}

static void
test_no_version(void **state)
{
	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_set(&g, "no-tlsv12", "");
	bind_rig_set(&g, "no-tlsv13", "");
	assert_int_equal(bind_rig_try_load(&g), -1);
	assert_true(bind_rig_says(&g, "all SSL/TLS versions are disabled"));
}

/* As HAProxy has it: no-* count for nothing beside a bound. */
static void
test_ignored_versions(void **state)
{
	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_set(&g, "ssl-min-ver", "TLSv1.3");
	bind_rig_set(&g, "no-tlsv13", "");
	bind_rig_load(&g);
	assert_true(bind_rig_says(&g, "no-sslv3/no-tlsv1x are ignored for bind"));
}

/* Both versions of HTTP are offered. */
static void
test_alpn_http2(void **state)
{
	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_set(&g, "alpn", "h2,http/1.1");
	bind_rig_load(&g);
	assert_int_equal(g.bind->variant[0]->set.alpn.len, 12);
	assert_int_equal(g.diag.nentry, 0);
}

/* The client's certificate: verified with the CA, or refused. */
static void
test_verify(void **state)
{
	struct rig_id good = rig_identity(rig_ec(), "client", NULL, &g.ca, 10);
	struct rig_id bad = rig_identity(rig_ec(), "stranger", NULL, NULL, 10);
	char text[RIG_TEXT] = "";

	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	rig_pem_cert(text, g.ca.cert);
	bind_rig_write(&g, "ca.pem", text);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_set(&g, "verify", "required");
	bind_rig_set(&g, "ca-file", bind_rig_path(&g, "ca.pem"));
	bind_rig_load(&g);
	MEETS(NULL, "");
	SSL_CTX_use_cert_and_key(g.client, good.cert, good.key, NULL, 1);
	MEETS(NULL, "a.test");
	assert_int_equal(sk_X509_NAME_num(SSL_get_client_CA_list(g.ssl)), 1);
	SSL_CTX_use_cert_and_key(g.client, bad.cert, bad.key, NULL, 1);
	MEETS(NULL, "");
	/* X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, and what follows it */
	bind_rig_set(&g, "ca-ignore-err", "18");
	MEETS(NULL, "");
	bind_rig_set(&g, "crt-ignore-err", "18");
	MEETS(NULL, "a.test");
	rig_free(&good);
	rig_free(&bad);
}

static void
test_verify_needs_ca(void **state)
{
	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_set(&g, "verify", "optional");
	assert_int_equal(bind_rig_try_load(&g), -1);
	assert_true(bind_rig_says(&g, "verify is enabled but no CA file"));
}

static void
test_dhe(void **state)
{
	(void)state;
	g.conf.default_dh = 2048;
	bind_rig_cert(&g, "a.pem", EVP_RSA_gen(2048), "a.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_load(&g);
	SSL_CTX_set_max_proto_version(g.client, TLS1_2_VERSION);
	SSL_CTX_set_cipher_list(g.client, "DHE-RSA-AES128-GCM-SHA256");
	MEETS(NULL, "a.test");
}

/* A session is resumed, but not with other settings: these may ask for a certificate. */
static void
test_resumption(void **state)
{
	SSL_SESSION *s;
	char text[256];

	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_cert(&g, "b.pem", rig_ec(), "b.test", NULL);
	snprintf(text, sizeof(text), "%s/b.pem [ssl-min-ver TLSv1.1]", g.dir);
	bind_rig_write(&g, "list", text);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_source(&g, TLS_SOURCE_LIST, "list");
	bind_rig_load(&g);
	for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
		SSL_CTX_set_max_proto_version(g.client, version);
		MEETS("b.test", "b.test");
		s = SSL_get1_session(g.ssl);
		assert_string_equal(bind_rig_meet(&g, "b.test", s), "b.test");
		assert_true(SSL_session_reused(g.ssl));
		assert_string_equal(bind_rig_meet(&g, "a.test", s), "a.test");
		assert_false(SSL_session_reused(g.ssl));
		SSL_SESSION_free(s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_names),
		CASE(test_strict_sni),
		CASE(test_directory),
		CASE(test_default_crt),
		CASE(test_two_keys),
		CASE(test_two_keys_by_cipher),
		CASE(test_crt_list),
		CASE(test_crt_list_errors),
		CASE(test_refused_certificates),
		CASE(test_security_level),
		CASE(test_high_security_level),
		CASE(test_load_errors),
		CASE(test_bad_ciphers),
		CASE(test_no_version),
		CASE(test_ignored_versions),
		CASE(test_alpn_http2),
		CASE(test_verify),
		CASE(test_verify_needs_ca),
		CASE(test_dhe),
		CASE(test_resumption),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
