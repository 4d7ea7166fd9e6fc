/* PEM text as parts of a certificate. Main thread, or the first worker for a command; whatever was
 * a private key in memory is cleansed. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "tls/cert.h"
#include "tls/issuers.h"
#include "tls/openssl.h"

/* One block: "-----BEGIN name-----". */
struct pem_block {
	char *name, *header;
	unsigned char *data;
	long len;
};

/* The contents of a text. */
struct pem_parts {
	X509 *leaf;
	STACK_OF(X509) *chain;
	EVP_PKEY *key, *dh;
	struct tls_issuers *issuers;
};

static void
free_pem_block(struct pem_block *b)
{
	OPENSSL_free(b->name);
	OPENSSL_free(b->header);
	OPENSSL_clear_free(b->data, b->len > 0 ? (size_t)b->len : 0);
	memset(b, 0, sizeof(*b));
}

static void
free_pem_parts(struct pem_parts *p)
{
	X509_free(p->leaf);
	sk_X509_pop_free(p->chain, X509_free);
	EVP_PKEY_free(p->key);
	EVP_PKEY_free(p->dh);
}

static int
bad_block(const struct pem_block *b, char *why)
{
	char reason[TLS_ERROR_MAX];

	(void)snprintf(why, TLS_WHY_MAX, "%s cannot be read: %s", b->name,
		tls_error_take(reason, sizeof(reason)));
	return -ERR_SYNTAX;
}

static X509 *
parse_cert(const struct pem_parts *p, const struct pem_block *b)
{
	const unsigned char *at = b->data;

	if (strcmp(b->name, PEM_STRING_X509_TRUSTED) == 0)
		return d2i_X509_AUX(NULL, &at, b->len);
	if (p->leaf && p->issuers)
		return tls_issuers_take(p->issuers, at, b->len);
	return d2i_X509(NULL, &at, b->len);
}

static int
take_cert_block(struct pem_parts *p, const struct pem_block *b, char *why)
{
	X509 *x = parse_cert(p, b);

	if (!x)
		return bad_block(b, why);
	if (!p->leaf) {
		p->leaf = x;
		return 0;
	}
	if (!p->chain)
		p->chain = sk_X509_new_null();
	if (p->chain && sk_X509_push(p->chain, x) > 0)
		return 0;
	X509_free(x);
	return -ERR_NOMEM;
}

/* The first key counts, as in HAProxy. */
static int
take_key_block(struct pem_parts *p, const struct pem_block *b, char *why)
{
	const unsigned char *at = b->data;

	if (p->key)
		return 0;
	if (strcmp(b->name, PEM_STRING_PKCS8) == 0 || strstr(b->header, "ENCRYPTED")) {
		(void)snprintf(why, TLS_WHY_MAX,
			"the private key has a passphrase; keys with one are not supported");
		return -ERR_UNSUPPORTED;
	}
	p->key = d2i_AutoPrivateKey(NULL, &at, b->len);
	return p->key ? 0 : bad_block(b, why);
}

static int
take_dh_block(struct pem_parts *p, const struct pem_block *b, char *why)
{
	const unsigned char *at = b->data;
	size_t len = (size_t)b->len;
	OSSL_DECODER_CTX *d;

	if (p->dh)
		return 0;
	d = OSSL_DECODER_CTX_new_for_pkey(&p->dh, "DER", NULL, "DH",
		OSSL_KEYMGMT_SELECT_ALL_PARAMETERS, NULL, NULL);
	if (!d || !OSSL_DECODER_from_data(d, &at, &len))
		p->dh = NULL;
	OSSL_DECODER_CTX_free(d);
	return p->dh ? 0 : bad_block(b, why);
}

static int
take_pem_block(struct pem_parts *p, const struct pem_block *b, char *why)
{
	size_t n = strlen(b->name);
	static const char key[] = "PRIVATE KEY";

	if (strcmp(b->name, PEM_STRING_X509) == 0 || strcmp(b->name, PEM_STRING_X509_OLD) == 0 ||
		strcmp(b->name, PEM_STRING_X509_TRUSTED) == 0)
		return take_cert_block(p, b, why);
	if (n >= sizeof(key) - 1 && strcmp(b->name + n - (sizeof(key) - 1), key) == 0)
		return take_key_block(p, b, why);
	if (strcmp(b->name, PEM_STRING_DHPARAMS) == 0)
		return take_dh_block(p, b, why);
	/* EC PARAMETERS and others */
	return 0;
}

static int
read_pem_blocks(struct pem_parts *p, BIO *bio, char *why)
{
	char reason[TLS_ERROR_MAX];
	unsigned long code;
	int r = 0;

	while (!r) {
		struct pem_block b = { 0 };

		if (!PEM_read_bio(bio, &b.name, &b.header, &b.data, &b.len))
			break;
		r = take_pem_block(p, &b, why);
		free_pem_block(&b);
	}
	code = ERR_peek_last_error();
	if (!r && ERR_GET_REASON(code) != PEM_R_NO_START_LINE && code) {
		(void)snprintf(why, TLS_WHY_MAX, "the PEM text cannot be read: %s",
			tls_error_take(reason, sizeof(reason)));
		r = -ERR_SYNTAX;
	}
	ERR_clear_error();
	return r;
}

static int
read_pem_text(struct pem_parts *p, struct tls_issuers *issuers, const char *text, size_t len,
	char *why)
{
	BIO *bio = len <= INT32_MAX ? BIO_new_mem_buf(text, (int)len) : NULL;
	int r;

	*p = (struct pem_parts){ .issuers = issuers };
	if (!bio) {
		(void)snprintf(why, TLS_WHY_MAX, "out of memory");
		return -ERR_NOMEM;
	}
	ERR_clear_error();
	r = read_pem_blocks(p, bio, why);
	BIO_free(bio);
	if (r == -ERR_NOMEM)
		(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	if (r)
		free_pem_parts(p);
	return r;
}

int
tls_cert_add_pem(struct tls_cert *c, const char *text, size_t len, char *why)
{
	struct pem_parts p;
	int r = read_pem_text(&p, c->issuers, text, len, why);

	if (r)
		return r;
	if (p.leaf) {
		X509_free(c->leaf);
		tls_cert_drop_chain(c);
		X509_free(c->issuer);
		/* They were about the certificate before. */
		tls_cert_drop_ocsp(c);
		c->leaf = p.leaf;
		c->ends = 0;
		c->chain = p.chain;
		c->issuer = NULL;
	}
	if (p.key) {
		EVP_PKEY_free(c->key);
		c->key = p.key;
	}
	if (p.dh) {
		EVP_PKEY_free(c->dh);
		c->dh = p.dh;
	}
	if (p.leaf || p.key || p.dh)
		return 0;
	(void)snprintf(why, TLS_WHY_MAX, "there is no certificate and no key");
	return -ERR_MISSING;
}

int
tls_cert_add_key(struct tls_cert *c, const char *text, size_t len, char *why)
{
	struct pem_parts p;
	int r = read_pem_text(&p, c->issuers, text, len, why);

	if (r)
		return r;
	if (!p.key) {
		free_pem_parts(&p);
		(void)snprintf(why, TLS_WHY_MAX, "No Private Key found");
		return -ERR_MISSING;
	}
	EVP_PKEY_free(c->key);
	c->key = p.key;
	p.key = NULL;
	free_pem_parts(&p);
	return 0;
}

int
tls_cert_add_issuer(struct tls_cert *c, const char *text, size_t len, char *why)
{
	struct pem_parts p;
	int r = read_pem_text(&p, c->issuers, text, len, why);

	if (r)
		return r;
	if (!p.leaf) {
		free_pem_parts(&p);
		(void)snprintf(why, TLS_WHY_MAX, "there is no certificate");
		return -ERR_MISSING;
	}
	if (c->leaf && X509_check_issued(p.leaf, c->leaf) != X509_V_OK) {
		free_pem_parts(&p);
		(void)snprintf(why, TLS_WHY_MAX, "it is not the certificate's issuer");
		return -ERR_INVAL;
	}
	X509_free(c->issuer);
	c->issuer = p.leaf;
	p.leaf = NULL;
	free_pem_parts(&p);
	return 0;
}
