/* Reads the files of issuers-chain-path. Main thread. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "tls/cert.h"
#include "tls/cert_dir.h"
#include "tls/cert_files.h"
#include "tls/chains.h"
#include "tls/openssl.h"

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
	STACK_OF(X509) *certs = whole_chain(from);
	int r = certs ? tls_chains_add(t, path, certs) : -ERR_NOMEM;

	if (r < 0)
		sk_X509_pop_free(certs, X509_free);
	return r;
}

/* In HAProxy's words. */
static int
take_chain(struct tls_chains *t, const char *path, const struct tls_cert *c, struct cfg_diag *d)
{
	const ASN1_OCTET_STRING *id = c->leaf ? X509_get0_subject_key_id(c->leaf) : NULL;
	const struct tls_chain *known = id ? tls_chains_find_key(t, id) : NULL;

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
	tls_chains_clear(t);
	r = tls_dir_read(sys, t->dir, is_any_name, &dir);
	if (r == 0) {
		for (unsigned int i = 0; r == 0 && i < dir.n; i++)
			r = read_chain(t, sys, dir.path[i], d);
		tls_dir_free(&dir);
	}
	if (r == 0)
		return 0;
	cfg_diag_add(d, CFG_ALERT, &t->where,
		"global statement 'issuers-chain-path' expects a directory path as an argument: "
		"%s: %s.",
		t->dir, err_text(r));
	return -1;
}
