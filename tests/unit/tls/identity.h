/* Keys and certificates for tests, made when they are needed, and their PEM texts. Users:
 * tls_rig.h, tests of configurations that name certificates. */
#ifndef TESTS_UNIT_TLS_IDENTITY_H
#define TESTS_UNIT_TLS_IDENTITY_H

#include <string.h>

#include "tls/openssl.h"
#include "unit/test.h"

struct rig_id {
	EVP_PKEY *key;
	X509 *cert;
};

static inline void
rig_add_ext(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *e;

	X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	assert_non_null(e);
	assert_int_equal(X509_add_ext(x, e, -1), 1);
	X509_EXTENSION_free(e);
}

/* An identity named cn, with these subjectAltNames ("DNS:a,DNS:b", or NULL), signed by `by` or by
 * itself. days: it is valid from a day ago until then. */
static inline struct rig_id
rig_identity(EVP_PKEY *key, const char *cn, const char *names, const struct rig_id *by, long days)
{
	static long serial = 100;
	struct rig_id id = { .key = key, .cert = X509_new() };
	X509_NAME *name = X509_get_subject_name(id.cert);

	assert_non_null(key);
	X509_set_version(id.cert, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(id.cert), serial++);
	X509_gmtime_adj(X509_getm_notBefore(id.cert), -86400);
	X509_gmtime_adj(X509_getm_notAfter(id.cert), days * 86400);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)cn, -1, -1, 0);
	X509_set_issuer_name(id.cert, by ? X509_get_subject_name(by->cert) : name);
	X509_set_pubkey(id.cert, key);
	if (names)
		rig_add_ext(id.cert, by ? by->cert : id.cert, NID_subject_alt_name, names);
	if (!by)
		rig_add_ext(id.cert, id.cert, NID_basic_constraints, "critical,CA:TRUE");
	assert_true(X509_sign(id.cert, by ? by->key : key, EVP_sha256()) > 0);
	return id;
}

static inline EVP_PKEY *
rig_ec(void)
{
	return EVP_EC_gen("P-256");
}

static inline void
rig_free(struct rig_id *id)
{
	EVP_PKEY_free(id->key);
	X509_free(id->cert);
}

/* PEM texts, each up to RIG_TEXT bytes, appended to `out`. */
#define RIG_TEXT 16384

static inline void
rig_append(char *out, BIO *b)
{
	char *p;
	long n = BIO_get_mem_data(b, &p);
	size_t at = strlen(out);

	assert_true(at + (size_t)n < RIG_TEXT);
	memcpy(out + at, p, (size_t)n);
	out[at + (size_t)n] = '\0';
	BIO_free(b);
}

static inline void
rig_pem_cert(char *out, X509 *x)
{
	BIO *b = BIO_new(BIO_s_mem());

	assert_int_equal(PEM_write_bio_X509(b, x), 1);
	rig_append(out, b);
}

static inline void
rig_pem_key(char *out, EVP_PKEY *key, const char *passphrase)
{
	BIO *b = BIO_new(BIO_s_mem());

	assert_int_equal(PEM_write_bio_PKCS8PrivateKey(b, key,
		passphrase ? EVP_aes_128_cbc() : NULL, passphrase,
		passphrase ? (int)strlen(passphrase) : 0, NULL, NULL), 1);
	rig_append(out, b);
}

#endif
