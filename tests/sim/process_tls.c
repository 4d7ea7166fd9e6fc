#include "sim/process_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "sim/tls_wire.h"
#include "tls/openssl.h"

#define DAY 86400L
#define PEM_MAX 16384

struct process_tls {
	struct tls_sides sides;
	EVP_PKEY *ca_key, *key;
	X509 *ca, *cert;
};

static void
must(int ok)
{
	if (!ok) {
		ERR_print_errors_fp(stderr);
		abort();
	}
}

static void
add_extension(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX c;
	X509_EXTENSION *e;

	X509V3_set_ctx(&c, issuer, x, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &c, nid, value);
	must(e && X509_add_ext(x, e, -1));
	X509_EXTENSION_free(e);
}

static X509 *
make_cert(EVP_PKEY *key, const char *name, X509 *issuer, EVP_PKEY *issuer_key)
{
	X509 *x = X509_new();
	X509_NAME *n;
	char access[80];

	must(x && X509_set_version(x, X509_VERSION_3) && X509_set_pubkey(x, key) &&
		ASN1_INTEGER_set(X509_get_serialNumber(x), issuer ? 2 : 1) &&
		X509_gmtime_adj(X509_getm_notBefore(x), -DAY) &&
		X509_gmtime_adj(X509_getm_notAfter(x), 90 * DAY));
	n = X509_get_subject_name(x);
	must(X509_NAME_add_entry_by_txt(n, "CN", MBSTRING_ASC, (const uint8_t *)name, -1, -1, 0) &&
		X509_set_issuer_name(x, issuer ? X509_get_subject_name(issuer) : n));
	add_extension(x, issuer ? issuer : x, NID_basic_constraints,
		issuer ? "CA:FALSE" : "critical,CA:TRUE");
	if (issuer) {
		snprintf(access, sizeof(access), "OCSP;URI:http://127.0.0.1:%d/",
			PROCESS_TLS_RESPONDER);
		add_extension(x, issuer, NID_info_access, access);
	}
	must(X509_sign(x, issuer_key, EVP_sha256()) > 0);
	return x;
}

static void
put_files(struct process_tls *t, struct fake *k)
{
	static char text[PEM_MAX];
	BIO *b = BIO_new(BIO_s_mem());
	int n;

	must(b && PEM_write_bio_X509(b, t->cert) &&
		PEM_write_bio_PKCS8PrivateKey(b, t->key, NULL, NULL, 0, NULL, NULL) &&
		PEM_write_bio_X509(b, t->ca));
	n = BIO_read(b, text, PEM_MAX);
	must(n > 0 && n < PEM_MAX);
	fake_put_file(k, "site.pem", text, (size_t)n);
	must(PEM_write_bio_X509(b, t->ca));
	n = BIO_read(b, text, PEM_MAX);
	must(n > 0 && n < PEM_MAX);
	fake_put_file(k, "ca.pem", text, (size_t)n);
	BIO_free(b);
}

struct process_tls *
process_tls_new(struct fake *k)
{
	struct process_tls *t = calloc(1, sizeof(*t));

	must(t && tls_sides_open(&t->sides) == 0);
	t->ca_key = EVP_EC_gen("P-256");
	t->key = EVP_EC_gen("P-256");
	must(t->ca_key && t->key);
	t->ca = make_cert(t->ca_key, "test CA", NULL, t->ca_key);
	t->cert = make_cert(t->key, "site.test", t->ca, t->ca_key);
	put_files(t, k);
	return t;
}

void
process_tls_free(struct process_tls **tp)
{
	struct process_tls *t = *tp;

	if (!t)
		return;
	tls_sides_close(&t->sides);
	X509_free(t->ca);
	X509_free(t->cert);
	EVP_PKEY_free(t->ca_key);
	EVP_PKEY_free(t->key);
	free(t);
	*tp = NULL;
}

struct wire *
process_tls_wire(struct process_tls *t, int resumes)
{
	struct ssl_session_st *kept = t->sides.session;
	struct wire *w;

	if (!resumes)
		t->sides.session = NULL;
	w = tls_wire_new(&t->sides, 1);
	t->sides.session = kept;
	return w;
}

size_t
process_tls_ocsp(struct process_tls *t, uint64_t valid_s, char *out, size_t size)
{
	OCSP_BASICRESP *basic = OCSP_BASICRESP_new();
	OCSP_CERTID *id = OCSP_cert_to_id(EVP_sha1(), t->cert, t->ca);
	ASN1_TIME *now = X509_gmtime_adj(NULL, 0), *until = X509_gmtime_adj(NULL, (long)valid_s);
	OCSP_RESPONSE *r;
	unsigned char *der = NULL;
	size_t n;
	int len;

	must(basic && id && now && until);
	(void)ASN1_TIME_to_generalizedtime(now, &now);
	(void)ASN1_TIME_to_generalizedtime(until, &until);
	must(OCSP_basic_add1_status(basic, id, V_OCSP_CERTSTATUS_GOOD, 0, NULL, now, until) &&
		OCSP_basic_sign(basic, t->ca, t->ca_key, EVP_sha256(), NULL, 0));
	r = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
	len = i2d_OCSP_RESPONSE(r, &der);
	must(r && len > 0);
	n = (size_t)snprintf(out, size,
		"HTTP/1.1 200 OK\r\nContent-Type: application/ocsp-response\r\n"
		"Content-Length: %d\r\n\r\n", len);
	must(n + (size_t)len <= size);
	memcpy(out + n, der, (size_t)len);
	OPENSSL_free(der);
	OCSP_RESPONSE_free(r);
	OCSP_BASICRESP_free(basic);
	OCSP_CERTID_free(id);
	ASN1_TIME_free(now);
	ASN1_TIME_free(until);
	return n + (size_t)len;
}
