/* The TLS settings of `global`. Main thread. */
#include "tls/tls_conf.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "tls/crt_lists.h"
#include "tls/crt_store.h"
#include "tls/openssl.h"
#include "tls/sessions.h"
#include "tls/tickets.h"

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
