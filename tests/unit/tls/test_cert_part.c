#include "tls/store.h"

#include "base/sbuf.h"
#include "tls/conn_info.h"
#include "unit/tls/tls_rig.h"

static struct tls_store store;
static struct rig_id ca, leaf;
static struct tls_cert *cert;
static char text[RIG_TEXT], why[TLS_WHY_MAX];

static int
setup(void **state)
{
	(void)state;
	tls_store_init(&store);
	ca = rig_identity(rig_ec(), "test CA", NULL, NULL, 10);
	leaf = rig_identity(rig_ec(), "leaf.test", "DNS:a.test,DNS:b.test", &ca, 10);
	cert = tls_cert_new();
	text[0] = '\0';
	return cert ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	tls_store_fini(&store);
	tls_cert_put(cert);
	rig_free(&ca);
	rig_free(&leaf);
	return 0;
}

/* A name that ends like a part may be a certificate itself. */
static void
test_names(void **state)
{
	struct tls_entry *a = tls_store_add(&store, "a.pem"), *k;
	enum tls_part part;

	(void)state;
	assert_ptr_equal(tls_part_find(&store, "a.pem", 0, &part), a);
	assert_int_equal(part, TLS_PART_PEM);
	assert_ptr_equal(tls_part_find(&store, "a.pem.key", 0, &part), a);
	assert_int_equal(part, TLS_PART_KEY);
	assert_ptr_equal(tls_part_find(&store, "a.pem.ocsp", 0, &part), a);
	assert_int_equal(part, TLS_PART_OCSP);
	assert_null(tls_part_find(&store, "b.pem", 0, &part));
	assert_null(tls_part_find(&store, ".key", 0, &part));
	k = tls_store_add(&store, "a.pem.key");
	assert_ptr_equal(tls_part_find(&store, "a.pem.key", 0, &part), k);
	assert_int_equal(part, TLS_PART_PEM);
}

/* ssl-load-extra-del-ext: a part's ending stands behind the certificate's or in place of it. */
static void
test_names_without_ending(void **state)
{
	struct tls_entry *a = tls_store_add(&store, "a.crt");
	enum tls_part part;

	(void)state;
	assert_ptr_equal(tls_part_find(&store, "a.key", 1, &part), a);
	assert_int_equal(part, TLS_PART_KEY);
	assert_ptr_equal(tls_part_find(&store, "a.crt.key", 1, &part), a);
	assert_ptr_equal(tls_part_find(&store, "a.issuer", 1, &part), a);
	assert_int_equal(part, TLS_PART_ISSUER);
	assert_null(tls_part_find(&store, "a.key", 0, &part));
	assert_null(tls_part_find(&store, "a", 1, &part));
}

static void
test_parts(void **state)
{
	(void)state;
	rig_pem_cert(text, leaf.cert);
	assert_int_equal(tls_part_set(cert, TLS_PART_PEM, text, why), 0);
	text[0] = '\0';
	rig_pem_key(text, leaf.key, NULL);
	assert_int_equal(tls_part_set(cert, TLS_PART_KEY, text, why), 0);
	text[0] = '\0';
	rig_pem_cert(text, ca.cert);
	assert_int_equal(tls_part_set(cert, TLS_PART_ISSUER, text, why), 0);
	assert_int_equal(tls_cert_complete(cert, why), 0);
	/* 0 3 0 1 'a' */
	assert_int_equal(tls_part_set(cert, TLS_PART_SCTL, "AAMA\nAWE=\n", why), 0);
	assert_int_equal(cert->sctl.len, 5);
	assert_true(tls_part_set(cert, TLS_PART_SCTL, "AAMA\nAWI", why) < 0);
	assert_true(tls_part_set(cert, TLS_PART_SCTL, "not base64!", why) < 0);
	assert_true(tls_part_set(cert, TLS_PART_OCSP, "AA-AA", why) < 0);
	assert_string_equal(why, "Error reading OCSP response in base64 format");
	assert_int_equal(cert->wants_ocsp, 0);
	/* The certificate of a response is known only when all parts are there. */
	assert_int_equal(tls_part_set(cert, TLS_PART_OCSP, "AAAA", why), 0);
	assert_int_equal(cert->ocsp_new.len, 3);
	assert_int_equal(ERR_peek_error(), 0);
}

static void
test_show(void **state)
{
	struct sbuf b;

	(void)state;
	rig_pem_cert(text, leaf.cert);
	rig_pem_cert(text, ca.cert);
	assert_int_equal(tls_part_set(cert, TLS_PART_PEM, text, why), 0);
	sbuf_init(&b, 0);
	tls_cert_show(cert, &b);
	assert_ptr_equal(strstr(b.p, "Serial: "), b.p);
	assert_non_null(strstr(b.p, "\nnotAfter: "));
	assert_non_null(strstr(b.p, " GMT\nSubject Alternative Name: DNS:a.test, DNS:b.test\n"));
	assert_non_null(strstr(b.p, "\nAlgorithm: EC256\nSHA1 FingerPrint: "));
	assert_non_null(strstr(b.p, "\nSubject: /CN=leaf.test\nIssuer: /CN=test CA\n"
				    "Chain Subject: /CN=test CA\nChain Issuer: /CN=test CA\n"));
	sbuf_fini(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_names),
		CASE(test_names_without_ending),
		CASE(test_parts),
		CASE(test_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
