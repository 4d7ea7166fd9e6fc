/* A certificate with what belongs to it: its life, and whether it is complete. Main thread, or the
 * first worker while the others are paused. */
#include "tls/cert.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/ocsp.h"
#include "tls/openssl.h"

static void
free_chain(struct tls_chain *c)
{
	sk_X509_pop_free(c->certs, X509_free);
	mem_free(c->path);
	mem_free(c);
}

void
tls_chains_clear(struct tls_chains *t)
{
	list_each_safe(it, &t->all) {
		struct tls_chain *c = list_entry(it, struct tls_chain, link);

		list_remove(&c->link);
		free_chain(c);
	}
}

const struct tls_chain *
tls_chains_find_key(const struct tls_chains *t, const ASN1_OCTET_STRING *id)
{
	list_each(it, &t->all) {
		const struct tls_chain *c = list_entry(it, const struct tls_chain, link);

		if (ASN1_OCTET_STRING_cmp(
			    X509_get0_subject_key_id(sk_X509_value(c->certs, 0)), id) == 0)
			return c;
	}
	return NULL;
}

/* The chain whose first certificate has issued this one and is named by its Authority Key
 * Identifier. NULL: none, as for a certificate that has issued itself. */
static const struct tls_chain *
tls_chains_find(const struct tls_chains *t, X509 *leaf)
{
	const ASN1_OCTET_STRING *id = X509_get0_authority_key_id(leaf);
	const struct tls_chain *c = id ? tls_chains_find_key(t, id) : NULL;

	if (!c || X509_check_issued(leaf, leaf) == X509_V_OK ||
		X509_check_issued(sk_X509_value(c->certs, 0), leaf) != X509_V_OK)
		return NULL;
	return c;
}

/* --- errors of OpenSSL ----------------------------------------------------------------------- */

/* OpenSSL's reasons as texts. Any thread: the queue belongs to the thread. */

const char *
tls_error_take(char *out, size_t size)
{
	unsigned long code = ERR_peek_error();
	const char *reason = code ? ERR_reason_error_string(code) : NULL;

	if (reason)
		(void)snprintf(out, size, "%s", reason);
	else if (code)
		(void)snprintf(out, size, "error %08lX of OpenSSL", code);
	else
		(void)snprintf(out, size, "no reason given");
	ERR_clear_error();
	return out;
}

/* --- certificates ---------------------------------------------------------------------------- */

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
	tls_cert_drop_chain(c);
	/* OpenSSL cleanses the numbers of a private key when it frees them. */
	EVP_PKEY_free(c->key);
	EVP_PKEY_free(c->dh);
	X509_free(c->issuer);
	tls_cert_drop_ocsp(c);
	mem_free(c->sctl.p);
	mem_free(c);
}

struct stack_st_X509 *
tls_cert_chain(const struct tls_cert *c)
{
	return c->found ? c->found->certs : c->chain;
}

struct stack_st_X509 *
tls_cert_sent_chain(const struct tls_cert *c)
{
	return c->kept ? c->kept : tls_cert_chain(c);
}

void
tls_cert_drop_chain(struct tls_cert *c)
{
	sk_X509_pop_free(c->chain, X509_free);
	sk_X509_pop_free(c->kept, X509_free);
	c->chain = c->kept = NULL;
	c->found = NULL;
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
	to->chains = from->chains;
	to->found = from->found;
	if (from->chain)
		to->chain = X509_chain_up_ref(from->chain);
	if (from->kept)
		to->kept = X509_chain_up_ref(from->kept);
	if (from->ocsp_id)
		to->ocsp_id = OCSP_CERTID_dup(from->ocsp_id);
	if ((from->chain && !to->chain) || (from->kept && !to->kept) ||
		(from->ocsp_id && !to->ocsp_id))
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

static int
is_self_issued(const X509 *x)
{
	return X509_NAME_cmp(X509_get_subject_name(x), X509_get_issuer_name(x)) == 0;
}

/* ssl-skip-self-issued-ca. */
static int
keep_sent(struct tls_cert *c)
{
	STACK_OF(X509) *all = tls_cert_chain(c);

	if (!c->chains->skip_self_issued || !all || c->kept)
		return 0;
	c->kept = sk_X509_new_null();
	if (!c->kept)
		return -ERR_NOMEM;
	for (int i = 0; i < sk_X509_num(all); i++) {
		X509 *x = sk_X509_value(all, i);

		if (is_self_issued(x))
			continue;
		if (!X509_up_ref(x))
			return -ERR_NOMEM;
		if (sk_X509_push(c->kept, x) <= 0) {
			X509_free(x);
			return -ERR_NOMEM;
		}
	}
	return 0;
}

static int
find_chain(struct tls_cert *c)
{
	if (!c->chains)
		return 0;
	if (!c->chain)
		c->found = tls_chains_find(c->chains, c->leaf);
	return keep_sent(c);
}

/* Finds the issuer, anywhere in the chain. */
int
tls_cert_find_issuer(struct tls_cert *c)
{
	STACK_OF(X509) *chain;

	if (!c->leaf)
		return 0;
	if (find_chain(c) < 0)
		return -ERR_NOMEM;
	if (c->issuer || X509_check_issued(c->leaf, c->leaf) == X509_V_OK)
		return 0;
	chain = tls_cert_chain(c);
	for (int i = 0; i < sk_X509_num(chain) && !c->issuer; i++) {
		X509 *x = sk_X509_value(chain, i);

		if (X509_check_issued(x, c->leaf) == X509_V_OK && X509_up_ref(x))
			c->issuer = x;
	}
	return 0;
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
	if (tls_cert_find_issuer(c) == 0)
		return 0;
	(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	return -ERR_NOMEM;
}
