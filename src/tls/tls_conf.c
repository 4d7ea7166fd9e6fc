/* The TLS settings of `global`. Main thread. */
#include "tls/tls_conf.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "tls/bind.h"
#include "tls/cert.h"
#include "tls/cert_files.h"
#include "tls/chains.h"
#include "tls/crt_list.h"
#include "tls/openssl.h"
#include "tls/sessions.h"
#include "tls/tickets.h"

/* --- chains ---------------------------------------------------------------------------------- */

/* Reads the files of issuers-chain-path. Main thread. */

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

/* --- the configuration ----------------------------------------------------------------------- */

void
tls_conf_init(struct tls_conf *t)
{
	memset(t, 0, sizeof(*t));
	t->files.extra = TLS_EXTRA_ALL;
	t->cache_size = TLS_CACHE_DEFAULT;
	t->lifetime_s = TLS_LIFETIME_DEFAULT_S;
	t->ocsp.min_s = TLS_OCSP_MIN_S;
	t->ocsp.max_s = TLS_OCSP_MAX_S;
	list_init(&t->ticket_files);
	tls_store_init(&t->certs);
	tls_issuers_init(&t->issuers);
	tls_chains_init(&t->chains);
	tls_ca_files_init(&t->cas);
	list_init(&t->crt_lists);
	list_init(&t->crt_stores);
}

void
tls_conf_fini(struct tls_conf *t)
{
	mem_free(t->files.crt_base);
	mem_free(t->files.ca_base);
	mem_free(t->files.key_base);
	tls_settings_free(&t->bind_defaults);
	tls_settings_free(&t->server_defaults);
	mem_free(t->ocsp.hosts);
	mem_free(t->dh_file);
	EVP_PKEY_free(t->dh);
	tls_store_fini(&t->certs);
	tls_issuers_fini(&t->issuers);
	tls_chains_fini(&t->chains);
	tls_ca_files_fini(&t->cas);
	tls_crt_lists_free(&t->crt_lists);
	tls_crt_stores_free(&t->crt_stores);
	tls_tickets_free(t->tickets);
	list_each_safe(it, &t->ticket_files)
		tls_tickets_free(list_entry(it, struct tls_tickets, link));
	tls_sessions_free(t->sessions);
}

static int
load_dh(struct tls_conf *t, struct sys *sys, char *why)
{
	struct tls_cert *c = tls_cert_new();
	char *text = NULL, said[TLS_WHY_MAX] = "out of memory";
	size_t len = 0;
	long r = file_read(sys, t->dh_file, TLS_FILE_MAX, &text, &len);

	if (r < 0)
		(void)snprintf(said, sizeof(said), "%s", err_text((int)r));
	else if (c && tls_cert_add_pem(c, text, len, said) == 0 && c->dh && EVP_PKEY_up_ref(c->dh))
		t->dh = c->dh;
	mem_free(text);
	tls_cert_put(c);
	if (t->dh)
		return 0;
	(void)snprintf(why, TLS_WHY_MAX,
		"'ssl-dh-param-file' : unable to load DH parameters from file <%.200s>: %.200s",
		t->dh_file, said);
	return -ERR_INVAL;
}

/* The standard group of at most so many bits (RFC 7919). */
static int
make_dh(struct tls_conf *t, char *why)
{
	const char *group = t->default_dh >= 4096 ? "ffdhe4096"
		: t->default_dh >= 3072 ? "ffdhe3072"
		: "ffdhe2048";
	OSSL_PARAM params[2] = { OSSL_PARAM_construct_utf8_string("group", (char *)(uintptr_t)group,
					 0),
		OSSL_PARAM_construct_end() };
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "DH", NULL);

	if (!ctx || EVP_PKEY_fromdata_init(ctx) != 1 ||
		EVP_PKEY_fromdata(ctx, &t->dh, EVP_PKEY_KEY_PARAMETERS, params) != 1)
		t->dh = NULL;
	EVP_PKEY_CTX_free(ctx);
	if (t->dh)
		return 0;
	(void)snprintf(why, TLS_WHY_MAX, "DH parameters cannot be made");
	return -ERR_INVAL;
}

struct tls_tickets *
tls_conf_ticket_file(struct tls_conf *t, struct sys *sys, const char *path, char *why)
{
	struct tls_tickets *made;
	unsigned int id = 0;

	list_each(it, &t->ticket_files) {
		struct tls_tickets *k = list_entry(it, struct tls_tickets, link);

		if (strcmp(k->file, path) == 0)
			return k;
		id++;
	}
	made = tls_tickets_read(sys, path, why);
	if (!made)
		return NULL;
	made->id = id;
	list_append(&t->ticket_files, &made->link);
	return made;
}

int
tls_conf_finish(struct tls_conf *t, struct sys *sys, char *why)
{
	if (!t->tickets)
		t->tickets = tls_tickets_new(sys);
	if (!t->sessions && t->cache_size)
		t->sessions = tls_sessions_new((unsigned int)t->cache_size);
	if (!t->tickets || (t->cache_size && !t->sessions)) {
		(void)snprintf(why, TLS_WHY_MAX, "there is no memory, or no random bytes, for TLS");
		return -ERR_NOMEM;
	}
	if (t->dh_file)
		return load_dh(t, sys, why);
	if (t->default_dh)
		return make_dh(t, why);
	return 0;
}
