/* OCSP responders: where one is, what it is asked, and which answers are believed. */
#include "tls/ocsp_responder.h"

#include <stdlib.h>

#include "base/err.h"
#include "tls/ocsp.h"
#include "unit/tls/tls_rig.h"

static struct rig_id ca, leaf, stranger, delegate;
static struct tls_cert *cert;
static char why[TLS_WHY_MAX];

static void
sign_again(struct rig_id *id, const struct rig_id *by)
{
	assert_true(X509_sign(id->cert, by->key, EVP_sha256()) > 0);
}

/* A certificate with this access to OCSP; NULL: none. */
static struct tls_cert *
cert_with(const char *access)
{
	struct rig_id id = rig_identity(rig_ec(), "leaf.test", NULL, &ca, 10);
	struct tls_cert *c = tls_cert_new();

	assert_non_null(c);
	if (access)
		rig_add_ext(id.cert, ca.cert, NID_info_access, access);
	sign_again(&id, &ca);
	c->leaf = id.cert;
	c->key = id.key;
	assert_true(X509_up_ref(ca.cert));
	c->issuer = ca.cert;
	return c;
}

static int
setup(void **state)
{
	(void)state;
	ca = rig_identity(rig_ec(), "test CA", NULL, NULL, 10);
	stranger = rig_identity(rig_ec(), "test CA", NULL, NULL, 10);
	delegate = rig_identity(rig_ec(), "responder", NULL, &ca, 10);
	rig_add_ext(delegate.cert, ca.cert, NID_ext_key_usage, "OCSPSigning");
	sign_again(&delegate, &ca);
	leaf = rig_identity(rig_ec(), "other leaf", NULL, &ca, 10);
	cert = cert_with("OCSP;URI:http://ocsp.test/a");
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	tls_cert_put(cert);
	rig_free(&ca);
	rig_free(&leaf);
	rig_free(&stranger);
	rig_free(&delegate);
	return 0;
}

static void
test_urls(void **state)
{
	static const struct {
		const char *access, *host, *path;
		unsigned int port;
	} rows[] = {
		{ "OCSP;URI:http://ocsp.test", "ocsp.test", "/", 80 },
		{ "OCSP;URI:http://ocsp.test:8080/a/b?c=d", "ocsp.test", "/a/b?c=d", 8080 },
		{ "OCSP;URI:http://[2001:db8::1]:81/", "2001:db8::1", "/", 81 },
		{ "OCSP;URI:http://192.0.2.1/x", "192.0.2.1", "/x", 80 },
		{ "caIssuers;URI:http://ca.test/,OCSP;URI:https://ocsp.test/,"
		  "OCSP;URI:http://b.test/y", "b.test", "/y", 80 },
		{ "caIssuers;URI:http://ca.test/", NULL, NULL, 0 },
		{ "OCSP;URI:https://ocsp.test/", NULL, NULL, 0 },
		{ "OCSP;URI:ldap://ocsp.test/", NULL, NULL, 0 },
		{ "OCSP;URI:http://ocsp.test/a b", NULL, NULL, 0 },
		{ "OCSP;URI:http://ocsp.test:99999/", NULL, NULL, 0 },
		{ NULL, NULL, NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct tls_cert *c = cert_with(rows[i].access);
		struct tls_ocsp_responder to;
		int r = tls_ocsp_responder_of(c, &to);

		assert_int_equal(r, rows[i].host ? 0 : -ERR_MISSING);
		if (!r) {
			assert_string_equal(to.host, rows[i].host);
			assert_string_equal(to.path, rows[i].path);
			assert_int_equal(to.port, rows[i].port);
		}
		tls_cert_put(c);
	}
	assert_int_equal(ERR_peek_error(), 0);
}

/* A proxy gets the target of the request. */
static void
test_request_for_proxy(void **state)
{
	static const struct {
		struct tls_ocsp_responder to;
		const char *head;
	} rows[] = {
		{ { .host = "ocsp.test", .port = 80, .path = "/a?b" },
			"POST http://ocsp.test/a?b HTTP/1.1\r\nHost: ocsp.test\r\n" },
		{ { .host = "2001:db8::1", .port = 81, .path = "/" },
			"POST http://[2001:db8::1]:81/ HTTP/1.1\r\nHost: [2001:db8::1]:81\r\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sbuf b;

		sbuf_init(&b, 0);
		assert_int_equal(tls_ocsp_request(cert, &rows[i].to, 1, &b), 0);
		assert_memory_equal(b.p, rows[i].head, strlen(rows[i].head));
		sbuf_fini(&b);
	}
}

static void
test_request(void **state)
{
	struct tls_ocsp_responder to = { .host = "2001:db8::1", .port = 81, .path = "/x" };
	OCSP_CERTID *id = tls_cert_ocsp_id(cert);
	OCSP_REQUEST *req;
	const unsigned char *der;
	struct sbuf b;

	(void)state;
	sbuf_init(&b, 0);
	assert_int_equal(tls_ocsp_request(cert, &to, 0, &b), 0);
	assert_ptr_equal(strstr(b.p, "POST /x HTTP/1.1\r\nHost: [2001:db8::1]:81\r\n"), b.p);
	der = (const unsigned char *)strstr(b.p, "\r\n\r\n") + 4;
	assert_int_equal(strtol(strstr(b.p, "Content-Length: ") + 16, NULL, 10),
		b.len - (size_t)(der - (const unsigned char *)b.p));
	req = d2i_OCSP_REQUEST(NULL, &der, (const unsigned char *)b.p + b.len - der);
	assert_non_null(req);
	assert_int_equal(OCSP_request_onereq_count(req), 1);
	assert_int_equal(OCSP_id_cmp(OCSP_onereq_get0_id(OCSP_request_onereq_get0(req, 0)), id), 0);
	OCSP_REQUEST_free(req);
	OCSP_CERTID_free(id);
	sbuf_fini(&b);
}

/* True if a response about `about`, signed with this, is believed. */
static int
is_accepted(X509 *about, const struct rig_id *by)
{
	OCSP_BASICRESP *basic = OCSP_BASICRESP_new();
	OCSP_CERTID *id = OCSP_cert_to_id(NULL, about, ca.cert);
	ASN1_TIME *from = X509_gmtime_adj(NULL, -60), *until = X509_gmtime_adj(NULL, 3600);
	struct tls_ocsp *o;
	OCSP_RESPONSE *resp;
	unsigned char *p = NULL;
	int n;

	assert_non_null(OCSP_basic_add1_status(basic, id, V_OCSP_CERTSTATUS_GOOD, 0, NULL, from,
		until));
	assert_int_equal(OCSP_basic_sign(basic, by->cert, by->key, EVP_sha256(), NULL, 0), 1);
	resp = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
	n = i2d_OCSP_RESPONSE(resp, &p);
	o = tls_ocsp_accept(cert, p, (size_t)n, why);
	OPENSSL_free(p);
	OCSP_RESPONSE_free(resp);
	OCSP_BASICRESP_free(basic);
	OCSP_CERTID_free(id);
	ASN1_TIME_free(from);
	ASN1_TIME_free(until);
	tls_ocsp_put(o);
	return o != NULL;
}

static void
test_signatures(void **state)
{
	(void)state;
	assert_true(is_accepted(cert->leaf, &ca));
	assert_true(is_accepted(cert->leaf, &delegate));
	/* Another key of the same name; a certificate that may not sign responses; another one. */
	assert_false(is_accepted(cert->leaf, &stranger));
	assert_string_equal(why, "OCSP response: it is not signed by the issuer, nor for it");
	assert_false(is_accepted(cert->leaf, &leaf));
	assert_false(is_accepted(leaf.cert, &ca));
	assert_non_null(strstr(why, "Certificate ID does not match"));
	assert_null(tls_ocsp_accept(cert, "x", 1, why));
	assert_int_equal(ERR_peek_error(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_urls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_request, setup, teardown),
		cmocka_unit_test_setup_teardown(test_request_for_proxy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signatures, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
