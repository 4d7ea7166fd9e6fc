/* A certificate with what belongs to it: its life, and whether it is complete. Main thread, or the
 * first worker while the others are paused. */
#include "tls/cert.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/ocsp.h"
#include "tls/openssl.h"
#include "tls/tls_error.h"

struct tls_cert *
tls_cert_new(void)
{
	struct tls_cert *c = mem_zalloc(sizeof(*c));

	if (c)
		c->refs = 1;
	return c;
}

struct tls_cert *
tls_cert_ref(struct tls_cert *c)
{
	c->refs++;
	return c;
}

void
tls_cert_put(struct tls_cert *c)
{
	if (!c || --c->refs)
		return;
	X509_free(c->leaf);
	sk_X509_pop_free(c->chain, X509_free);
	/* OpenSSL cleanses the numbers of a private key when it frees them. */
	EVP_PKEY_free(c->key);
	EVP_PKEY_free(c->dh);
	X509_free(c->issuer);
	tls_cert_drop_ocsp(c);
	mem_free(c->sctl.p);
	mem_free(c);
}

static int
copy_bytes(struct tls_bytes *to, const struct tls_bytes *from)
{
	if (!from->len)
		return 0;
	to->p = mem_alloc(from->len);
	if (!to->p)
		return -ERR_NOMEM;
	memcpy(to->p, from->p, from->len);
	to->len = from->len;
	return 0;
}

/* The parts never change, so that references are enough. */
static int
copy_parts(struct tls_cert *to, const struct tls_cert *from)
{
	if (from->leaf && X509_up_ref(from->leaf))
		to->leaf = from->leaf;
	if (from->key && EVP_PKEY_up_ref(from->key))
		to->key = from->key;
	if (from->dh && EVP_PKEY_up_ref(from->dh))
		to->dh = from->dh;
	if (from->issuer && X509_up_ref(from->issuer))
		to->issuer = from->issuer;
	if (from->chain)
		to->chain = X509_chain_up_ref(from->chain);
	if (from->ocsp_id)
		to->ocsp_id = OCSP_CERTID_dup(from->ocsp_id);
	if ((from->chain && !to->chain) || (from->ocsp_id && !to->ocsp_id))
		return -ERR_NOMEM;
	return 0;
}

struct tls_cert *
tls_cert_copy(const struct tls_cert *c)
{
	struct tls_cert *copy = tls_cert_new();

	if (!copy)
		return NULL;
	copy->kind = c->kind;
	copy->wants_ocsp = c->wants_ocsp;
	if (c->ocsp)
		copy->ocsp = tls_ocsp_ref(c->ocsp);
	if (copy_parts(copy, c) < 0 || copy_bytes(&copy->ocsp_new, &c->ocsp_new) < 0 ||
		copy_bytes(&copy->sctl, &c->sctl) < 0) {
		tls_cert_put(copy);
		return NULL;
	}
	return copy;
}

static enum tls_key_kind
key_kind_of(const EVP_PKEY *key)
{
	switch (EVP_PKEY_get_base_id(key)) {
	case EVP_PKEY_RSA:
	case EVP_PKEY_RSA_PSS:
		return TLS_KEY_RSA;
	case EVP_PKEY_EC:
		return TLS_KEY_ECDSA;
	default:
		return TLS_KEY_OTHER;
	}
}

/* Finds the issuer, anywhere in the chain. */
void
tls_cert_find_issuer(struct tls_cert *c)
{
	if (!c->leaf || c->issuer || X509_check_issued(c->leaf, c->leaf) == X509_V_OK)
		return;
	for (int i = 0; i < sk_X509_num(c->chain) && !c->issuer; i++) {
		X509 *x = sk_X509_value(c->chain, i);

		if (X509_check_issued(x, c->leaf) == X509_V_OK && X509_up_ref(x))
			c->issuer = x;
	}
}

int
tls_cert_complete(struct tls_cert *c, char *why)
{
	char reason[TLS_ERROR_MAX];

	if (!c->leaf) {
		(void)snprintf(why, TLS_WHY_MAX, "there is no certificate");
		return -ERR_MISSING;
	}
	if (!c->key) {
		(void)snprintf(why, TLS_WHY_MAX, "No Private Key found");
		return -ERR_MISSING;
	}
	if (X509_check_private_key(c->leaf, c->key) != 1) {
		(void)snprintf(why, TLS_WHY_MAX,
			"inconsistencies between private key and certificate loaded: %s",
			tls_error_take(reason, sizeof(reason)));
		return -ERR_INVAL;
	}
	c->kind = key_kind_of(c->key);
	tls_cert_find_issuer(c);
	return 0;
}
