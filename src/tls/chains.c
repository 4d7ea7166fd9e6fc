/* The chains of issuers-chain-path. Changed on the main thread before the workers start. */
#include "tls/chains.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/openssl.h"

void
tls_chains_init(struct tls_chains *t)
{
	memset(t, 0, sizeof(*t));
	list_init(&t->all);
}

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

void
tls_chains_fini(struct tls_chains *t)
{
	tls_chains_clear(t);
	mem_free(t->dir);
	t->dir = NULL;
}

int
tls_chains_add(struct tls_chains *t, const char *path, STACK_OF(X509) *certs)
{
	struct tls_chain *c = mem_zalloc(sizeof(*c));

	if (!c)
		return -ERR_NOMEM;
	c->path = mem_strdup(path);
	if (!c->path) {
		mem_free(c);
		return -ERR_NOMEM;
	}
	c->certs = certs;
	list_append(&t->all, &c->link);
	return 0;
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

const struct tls_chain *
tls_chains_find(const struct tls_chains *t, X509 *leaf)
{
	const ASN1_OCTET_STRING *id = X509_get0_authority_key_id(leaf);
	const struct tls_chain *c = id ? tls_chains_find_key(t, id) : NULL;

	if (!c || X509_check_issued(leaf, leaf) == X509_V_OK ||
		X509_check_issued(sk_X509_value(c->certs, 0), leaf) != X509_V_OK)
		return NULL;
	return c;
}
