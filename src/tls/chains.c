/* The files of issuers-chain-path. Main thread; later only read. */
#include "tls/chains.h"

#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "tls/cert.h"
#include "tls/cert_dir.h"
#include "tls/cert_files.h"
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

static void
free_chains(struct tls_chains *t)
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
	free_chains(t);
	mem_free(t->dir);
	t->dir = NULL;
}

/* The chain of a certificate that was issued under this key; NULL: none. */
static const struct tls_chain *
find_by_key(const struct tls_chains *t, const ASN1_OCTET_STRING *id)
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
	const struct tls_chain *c = id ? find_by_key(t, id) : NULL;

	if (!c || X509_check_issued(leaf, leaf) == X509_V_OK ||
		X509_check_issued(sk_X509_value(c->certs, 0), leaf) != X509_V_OK)
		return NULL;
	return c;
}

/* --- the files --- */

/* All of them in one stack. NULL: memory is out. */
static STACK_OF(X509) *
whole_chain(const struct tls_cert *c)
{
	STACK_OF(X509) *all = c->chain ? X509_chain_up_ref(c->chain) : sk_X509_new_null();

	if (!all || !X509_up_ref(c->leaf))
		goto fail;
	if (sk_X509_unshift(all, c->leaf) > 0)
		return all;
	X509_free(c->leaf);
fail:
	sk_X509_pop_free(all, X509_free);
	return NULL;
}

static int
add_chain(struct tls_chains *t, const char *path, const struct tls_cert *from)
{
	struct tls_chain *c = mem_zalloc(sizeof(*c));

	if (!c)
		return -ERR_NOMEM;
	list_init(&c->link);
	c->path = mem_strdup(path);
	c->certs = whole_chain(from);
	if (!c->path || !c->certs) {
		free_chain(c);
		return -ERR_NOMEM;
	}
	list_append(&t->all, &c->link);
	return 0;
}

/* In HAProxy's words. */
static int
take_chain(struct tls_chains *t, const char *path, const struct tls_cert *c, struct cfg_diag *d)
{
	const ASN1_OCTET_STRING *id = c->leaf ? X509_get0_subject_key_id(c->leaf) : NULL;
	const struct tls_chain *known = id ? find_by_key(t, id) : NULL;

	if (!id)
		cfg_diag_add(d, CFG_WARNING, &t->where,
			"unable to load issuers-chain %s : %s not found.", path,
			c->leaf ? "SubjectKeyIdentifier" : "pem certificate");
	else if (known)
		cfg_diag_add(d, CFG_WARNING, &t->where,
			"duplicate issuers-chain %s: %s already in store", path, known->path);
	else
		return add_chain(t, path, c);
	return 0;
}

/* A file that cannot be read, too, is only reported. */
static int
read_chain(struct tls_chains *t, struct sys *sys, const char *path, struct cfg_diag *d)
{
	struct tls_cert *c = tls_cert_new();
	char *text = NULL, why[TLS_WHY_MAX];
	size_t len = 0;
	int r = c ? 0 : -ERR_NOMEM, bad;

	if (r)
		return r;
	bad = (int)file_read(sys, path, TLS_FILE_MAX, &text, &len);
	if (bad < 0)
		cfg_diag_add(d, CFG_WARNING, &t->where, "unable to load issuers-chain %s : %s.",
			path, err_text(bad));
	else
		bad = tls_cert_add_pem(c, text, len, why);
	if (bad == -ERR_MISSING || bad >= 0)
		r = take_chain(t, path, c, d);
	else if (text)
		cfg_diag_add(d, CFG_WARNING, &t->where, "unable to load issuers-chain %s : %s.",
			path, why);
	OPENSSL_cleanse(text, len);
	mem_free(text);
	tls_cert_put(c);
	return r;
}

static int
is_any_name(const char *name)
{
	(void)name;
	return 1;
}

int
tls_chains_read(struct tls_chains *t, struct sys *sys, struct cfg_diag *d)
{
	struct tls_dir dir;
	int r;

	if (!t->dir)
		return 0;
	free_chains(t);
	r = tls_dir_read(sys, t->dir, is_any_name, &dir);
	for (unsigned int i = 0; r == 0 && i < dir.n; i++)
		r = read_chain(t, sys, dir.path[i], d);
	if (r == 0) {
		tls_dir_free(&dir);
		return 0;
	}
	cfg_diag_add(d, CFG_ALERT, &t->where,
		"global statement 'issuers-chain-path' expects a directory path as an argument: "
		"%s: %s.",
		t->dir, err_text(r));
	return -1;
}
