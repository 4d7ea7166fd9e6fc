/* Parameters of a TLS connection after a dialogue on the fake kernel. */
#include "tls/conn_info.h"

#include "net/conn_stream.h"
#include "tls/capture.h"
#include "unit/tls/tls_rig.h"

static struct rig g;
static struct sbuf b;

static int
setup(void **state)
{
	struct dialogue d = { .role = TLS_ACCEPTS, .request = 10, .answer = 10, .read_len = 100,
			      .write_len = 100 };

	(void)state;
	rig_open(&g, 0);
	sbuf_init(&b, 0);
	SSL_CTX_set_max_proto_version(g.client_ctx, TLS1_2_VERSION);
	SSL_CTX_set_cipher_list(g.client_ctx, "ECDHE-ECDSA-AES128-GCM-SHA256");
	dialogue_run(&g, &d, 200);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	sbuf_fini(&b);
	rig_close(&g);
	return 0;
}

static const char *
text_of(enum tls_info what)
{
	sbuf_reset(&b);
	return tls_info_text(&g.c, what, &b) == 0 ? b.p : NULL;
}

static int64_t
number_of(enum tls_info what)
{
	int64_t n = -1;

	assert_int_equal(tls_info_number(&g.c, what, &n), 0);
	return n;
}

static void
test_connection(void **state)
{
	unsigned char random[32];

	(void)state;
	assert_true(tls_is_used(&g.c));
	assert_string_equal(text_of(TLS_INFO_VERSION), "TLSv1.2");
	assert_string_equal(text_of(TLS_INFO_CIPHER), "ECDHE-ECDSA-AES128-GCM-SHA256");
	assert_null(text_of(TLS_INFO_SERVER_NAME));
	assert_null(text_of(TLS_INFO_ALPN));
	assert_null(text_of(TLS_INFO_ERROR_TEXT));
	assert_non_null(text_of(TLS_INFO_CLIENT_RANDOM));
	assert_int_equal(SSL_get_client_random(g.peer, random, sizeof(random)), b.len);
	assert_memory_equal(b.p, random, b.len);
	assert_non_null(text_of(TLS_INFO_SESSION_KEY));
	assert_int_equal(b.len, 48);
	assert_int_equal(number_of(TLS_INFO_USE_KEYSIZE), 128);
	assert_int_equal(number_of(TLS_INFO_ALG_KEYSIZE), 128);
	assert_int_equal(number_of(TLS_INFO_IS_RESUMED), 0);
	assert_int_equal(number_of(TLS_INFO_HAS_CERT), 0);
	assert_int_equal(number_of(TLS_INFO_CERT_USED), 0);
	assert_int_equal(number_of(TLS_INFO_VERIFY), 0);
	assert_int_equal(number_of(TLS_INFO_CRT_ERR), 0);
	assert_int_equal(number_of(TLS_INFO_ERROR), 0);
}

/* The client's first message is what both sides know. */
static void
test_unique_id(void **state)
{
	unsigned char id[64];
	size_t n = SSL_get_finished(g.peer, id, sizeof(id));

	(void)state;
	assert_non_null(text_of(TLS_INFO_UNIQUE_ID));
	assert_int_equal(b.len, n);
	assert_memory_equal(b.p, id, n);
}

static const char *
cert_text(enum tls_cert_info what)
{
	sbuf_reset(&b);
	return tls_info_cert(&g.c, TLS_OWN, what, &b) == 0 ? b.p : NULL;
}

static void
test_certificate(void **state)
{
	(void)state;
	assert_non_null(cert_text(TLS_CERT_DER));
	assert_int_equal(b.p[0], 0x30);
	assert_non_null(cert_text(TLS_CERT_SHA1));
	assert_int_equal(b.len, 20);
	assert_string_equal(cert_text(TLS_CERT_SERIAL), "\1");
	assert_string_equal(cert_text(TLS_CERT_SIG_ALG), "ecdsa-with-SHA256");
	assert_string_equal(cert_text(TLS_CERT_KEY_ALG), "id-ecPublicKey");
	assert_int_equal(strlen(cert_text(TLS_CERT_NOT_AFTER)), 13);
	assert_int_equal(strlen(cert_text(TLS_CERT_NOT_BEFORE)), 13);
	assert_string_equal(cert_text(TLS_CERT_VERSION), "1");
	sbuf_reset(&b);
	assert_true(tls_info_cert(&g.c, TLS_OF_PEER, TLS_CERT_DER, &b) < 0);
}

static void
assert_name(const struct tls_dn_part *part, const char *want)
{
	sbuf_reset(&b);
	if (!want) {
		assert_true(tls_info_name(&g.c, TLS_OWN, 0, part, &b) < 0);
		return;
	}
	assert_int_equal(tls_info_name(&g.c, TLS_OWN, 0, part, &b), 0);
	assert_string_equal(b.p, want);
}

static void
test_names(void **state)
{
	X509_NAME *name = X509_get_subject_name(SSL_CTX_get0_certificate(g.server_ctx));
	const unsigned char *ou[] = { (const unsigned char *)"one", (const unsigned char *)"two" };

	(void)state;
	for (int i = 0; i < 2; i++)
		X509_NAME_add_entry_by_txt(name, "OU", MBSTRING_ASC, ou[i], -1, -1, 0);
	assert_name(&(struct tls_dn_part){ .nth = 1 }, "/CN=t/OU=one/OU=two");
	assert_name(&(struct tls_dn_part){ .nth = 1, .is_rfc2253 = 1 }, "OU=two,OU=one,CN=t");
	assert_name(&(struct tls_dn_part){ .entry = STR("CN"), .nth = 1 }, "t");
	assert_name(&(struct tls_dn_part){ .entry = STR("OU"), .nth = 1 }, "one");
	assert_name(&(struct tls_dn_part){ .entry = STR("OU"), .nth = 2 }, "two");
	assert_name(&(struct tls_dn_part){ .entry = STR("OU"), .nth = -1 }, "two");
	assert_name(&(struct tls_dn_part){ .entry = STR("OU"), .nth = -2 }, "one");
	assert_name(&(struct tls_dn_part){ .entry = STR("OU"), .nth = 3 }, NULL);
	assert_name(&(struct tls_dn_part){ .entry = STR("OU"), .nth = INT64_MIN }, NULL);
	assert_name(&(struct tls_dn_part){ .entry = STR("O"), .nth = 1 }, NULL);
	/* Without case, as the examples of HAProxy's manual have it. */
	assert_name(&(struct tls_dn_part){ .entry = STR("cn"), .nth = 1 }, "t");
	assert_name(&(struct tls_dn_part){ .entry = STR("Ou"), .nth = -1 }, "two");
	assert_name(&(struct tls_dn_part){ .entry = STR("c"), .nth = 1 }, NULL);
}

static int
ask_below(const struct conn *c, enum xprt_query what, struct str *out)
{
	return conn_query(conn_stream_of(c)->below, what, out);
}

static int64_t
number_below(const struct conn *c, enum tls_info what)
{
	int64_t n = -1;

	assert_int_equal(tls_info_number(c, what, &n), 0);
	return n;
}

/* A stream of HTTP/2 has what the connection has that carries it. */
static void
test_of_a_stream(void **state)
{
	static const struct xprt_ops ops = { .query = ask_below };
	struct conn_stream st = { .x.ops = &ops };
	struct tls *t = tls_of(&g.c);
	struct tls_capture *kept = t->capture;
	struct conn c;

	(void)state;
	conn_stream_open(&c, &st, &g.c, NULL, NULL);
	assert_true(tls_is_used(&c));
	t->failure = ERR_PACK(ERR_LIB_SSL, 0, SSL_R_BAD_LENGTH);
	t->crt_err = X509_V_ERR_CERT_HAS_EXPIRED;
	t->ca_err = X509_V_ERR_CERT_REVOKED;
	t->ca_err_depth = 2;
	assert_int_equal(number_below(&c, TLS_INFO_ERROR), t->failure);
	assert_int_equal(number_below(&c, TLS_INFO_CRT_ERR), X509_V_ERR_CERT_HAS_EXPIRED);
	assert_int_equal(number_below(&c, TLS_INFO_CA_ERR), X509_V_ERR_CERT_REVOKED);
	assert_int_equal(number_below(&c, TLS_INFO_CA_ERR_DEPTH), 2);
	sbuf_reset(&b);
	assert_int_equal(tls_info_text(&c, TLS_INFO_ERROR_TEXT, &b), 0);
	assert_non_null(strstr(b.p, "bad length"));
	t->capture = (struct tls_capture *)(void *)&b;
	assert_ptr_equal(tls_capture_of(&c), t->capture);
	t->capture = kept;
	t->failure = 0;
}

/* A plain connection has none of it. */
static void
test_without_tls(void **state)
{
	struct conn c;
	int64_t n;

	(void)state;
	conn_init(&c);
	assert_false(tls_is_used(&c));
	assert_false(tls_is_used(NULL));
	assert_true(tls_info_number(&c, TLS_INFO_VERIFY, &n) < 0);
	assert_true(tls_info_text(&c, TLS_INFO_VERSION, &b) < 0);
	assert_true(tls_info_cert(&c, TLS_OWN, TLS_CERT_DER, &b) < 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_connection),
		CASE(test_unique_id),
		CASE(test_certificate),
		CASE(test_names),
		CASE(test_of_a_stream),
		CASE(test_without_tls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
