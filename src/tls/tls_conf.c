/* The TLS settings of `global`, on the main thread, and the keys of session tickets: they change on
 * the first worker while the others are paused; OpenSSL asks on the worker of the connection. */
#include "tls/tls_conf.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "tls/bind.h"
#include "tls/ca.h"
#include "tls/cert.h"
#include "tls/cert_files.h"
#include "tls/crt_list.h"
#include "tls/openssl.h"
#include "tls/sessions.h"
#include "base/counter.h"
#include "base/sys.h"
#include "tls/base64.h"

/* --- tickets --- */

/* Bytes of the longest line of a file. */
#define BASE64_MAX 128

static struct tls_tickets *
make_tickets(struct sys *sys)
{
	struct tls_tickets *t = mem_zalloc(sizeof(*t));

	if (!t)
		return NULL;
	list_init(&t->link);
	t->keys = mem_alloc_aligned(TLS_SECRET_SIZE, TLS_SECRET_SIZE);
	if (!t->keys) {
		mem_free(t);
		return NULL;
	}
	memset(t->keys, 0, sizeof(*t->keys));
	/* If it fails, a core contains the keys, and nothing else changes. */
	(void)sys_madvise(sys, t->keys, TLS_SECRET_SIZE, MADV_DONTDUMP);
	return t;
}

/* No context may use them any more. NULL is allowed. */
static void
tls_tickets_free(struct tls_tickets *t)
{
	if (!t)
		return;
	list_remove(&t->link);
	OPENSSL_cleanse(t->keys, sizeof(*t->keys));
	mem_free(t->keys);
	EVP_CIPHER_free(t->cipher);
	mem_free(t->file);
	mem_free(t);
}

/* Sets the length of the keys, and finds their cipher once: a search takes a lock of OpenSSL. */
static int
set_key_len(struct tls_tickets *t, size_t len)
{
	t->key_len = len;
	t->cipher = EVP_CIPHER_fetch(
		NULL, len == TLS_TICKET_KEY_128 ? "AES-128-CBC" : "AES-256-CBC", NULL);
	return t->cipher ? 0 : -ERR_NOMEM;
}

/* Version 0 shows that a reader in another process would see a mixture: it is written before any
 * key. */
static void
write_copy(struct tls_ticket_keys *to, const struct tls_ticket_keys *from, uint32_t version)
{
	counter_set(&to->version, 0u);
	atomic_thread_fence(memory_order_release);
	to->renewed_ms = from->renewed_ms;
	memcpy(to->key, from->key, sizeof(to->key));
	atomic_store_explicit(&to->version, version, memory_order_release);
}

static void
note_change(struct tls_tickets *t)
{
	uint32_t version = counter_read(&t->keys->version) + 1;

	counter_set(&t->keys->version, version ? version : 1);
	if (t->kept)
		write_copy(t->kept, t->keys, counter_read(&t->keys->version));
}

static void
push_key(struct tls_tickets *t, const unsigned char *key)
{
	struct tls_ticket_keys *k = t->keys;

	memmove(k->key[0], k->key[1], sizeof(k->key) - sizeof(k->key[0]));
	memcpy(k->key[TLS_TICKETS_NO - 1], key, t->key_len);
	note_change(t);
}

int
tls_tickets_rotate(struct tls_tickets *t, uint64_t now_ms)
{
	unsigned char key[TLS_TICKET_KEY_256];

	if (RAND_priv_bytes(key, sizeof(key)) != 1) {
		ERR_clear_error();
		return -ERR_SYS;
	}
	t->keys->renewed_ms = now_ms;
	push_key(t, key);
	OPENSSL_cleanse(key, sizeof(key));
	return 0;
}

/* Three random keys, of 80 bytes. NULL when memory or random bytes are out. */
static struct tls_tickets *
tls_tickets_new(struct sys *sys)
{
	struct tls_tickets *t = make_tickets(sys);
	int r = t ? set_key_len(t, TLS_TICKET_KEY_256) : -ERR_NOMEM;

	for (unsigned int i = 0; i < TLS_TICKETS_NO && !r; i++)
		r = tls_tickets_rotate(t, 0);
	if (r) {
		tls_tickets_free(t);
		return NULL;
	}
	return t;
}

/* The number of bytes, or -ERR_SYNTAX. */
static int
decode_ticket_key(const char *text, size_t len, unsigned char out[BASE64_MAX])
{
	long n = len <= BASE64_MAX - 8 ? tls_base64_decode(text, len, out) : 0;

	return n > 0 ? (int)n : -ERR_SYNTAX;
}

int
tls_tickets_push(struct tls_tickets *t, const char *base64)
{
	unsigned char key[BASE64_MAX];
	int n = decode_ticket_key(base64, strlen(base64), key), r = 0;

	if (n < 0)
		r = n;
	else if ((size_t)n != t->key_len)
		r = -ERR_RANGE;
	else
		push_key(t, key);
	OPENSSL_cleanse(key, sizeof(key));
	return r;
}

void
tls_tickets_show(const struct tls_tickets *t, unsigned int i, struct sbuf *out)
{
	unsigned char text[BASE64_MAX];

	(void)EVP_EncodeBlock(text, t->keys->key[i], (int)t->key_len);
	sbuf_adds(out, (const char *)text);
	OPENSSL_cleanse(text, sizeof(text));
}

/* --- a file --- */

/* One line. The first one decides about the length of the others. */
static int
take_key_line(struct tls_tickets *t, const char *line, size_t len, char *why)
{
	unsigned char key[BASE64_MAX];
	int n = decode_ticket_key(line, len, key), r = 0;

	if (!t->key_len && (n == TLS_TICKET_KEY_128 || n == TLS_TICKET_KEY_256)) {
		r = set_key_len(t, (size_t)n);
		(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	} else if (n < 0 || (size_t)n != t->key_len) {
		(void)snprintf(why, TLS_WHY_MAX, "%s",
			n < 0 ? "unable to decode base64 key"
			: t->key_len
				? "wrong key size"
				: "wrong key size, a key has 48 or 80 bytes");
		r = -ERR_INVAL;
	}
	if (!r)
		push_key(t, key);
	OPENSSL_cleanse(key, sizeof(key));
	return r;
}

static int
take_lines(struct tls_tickets *t, const char *text, char *why)
{
	char reason[TLS_WHY_MAX];
	unsigned int n = 0, at = 0;

	while (*text) {
		size_t whole = strcspn(text, "\n"), len = whole;

		at++;
		while (len && strchr(" \t\r", text[len - 1]))
			len--;
		if (len && take_key_line(t, text, len, reason) < 0) {
			(void)snprintf(why, TLS_WHY_MAX, "%.300s on line %u", reason, at);
			return -ERR_INVAL;
		}
		n += len != 0;
		text += whole + (text[whole] != '\0');
	}
	if (n >= TLS_TICKETS_NO)
		return 0;
	(void)snprintf(why, TLS_WHY_MAX, "please supply at least %d keys in the tls-tickets-file",
		TLS_TICKETS_NO);
	return -ERR_MISSING;
}

struct tls_tickets *
tls_tickets_read(struct sys *sys, const char *path, char *why)
{
	struct tls_tickets *t = make_tickets(sys);
	char *text = NULL, reason[TLS_WHY_MAX] = "out of memory";
	size_t len = 0;
	long r = t ? file_read(sys, path, TLS_FILE_MAX, &text, &len) : -ERR_NOMEM;

	if (r < 0)
		(void)snprintf(reason, sizeof(reason), "%s", err_text((int)r));
	else if (mem_copy_string(&t->file, path) < 0)
		r = -ERR_NOMEM;
	else
		r = take_lines(t, text, reason);
	if (text)
		OPENSSL_cleanse(text, len);
	mem_free(text);
	if (r >= 0)
		return t;
	tls_tickets_free(t);
	(void)snprintf(why, TLS_WHY_MAX, "'%.200s' : %.250s", path, reason);
	return NULL;
}

int
tls_tickets_replace(struct tls_tickets *t, const char *text, char *why)
{
	unsigned char old[TLS_TICKETS_NO][TLS_TICKET_KEY_256];
	int r;

	memcpy(old, t->keys->key, sizeof(old));
	r = take_lines(t, text, why);
	if (r < 0) {
		memcpy(t->keys->key, old, sizeof(old));
		note_change(t);
	}
	OPENSSL_cleanse(old, sizeof(old));
	return r;
}

/* --- over reloads --- */

void
tls_tickets_keep(struct tls_tickets *t, struct sys *sys, struct tls_ticket_keys *kept)
{
	(void)sys_madvise(sys, kept, TLS_SECRET_SIZE, MADV_DONTDUMP);
	t->kept = kept;
	write_copy(kept, t->keys, counter_read(&t->keys->version));
}

int
tls_tickets_restore(struct tls_tickets *t, const struct tls_ticket_keys *kept)
{
	struct tls_ticket_keys copy;
	uint32_t version = atomic_load_explicit(&kept->version, memory_order_acquire);

	copy.renewed_ms = kept->renewed_ms;
	memcpy(copy.key, kept->key, sizeof(copy.key));
	/* The keys are read before the version is read again. */
	atomic_thread_fence(memory_order_acquire);
	if (version && counter_read(&kept->version) == version) {
		t->keys->renewed_ms = copy.renewed_ms;
		memcpy(t->keys->key, copy.key, sizeof(copy.key));
		note_change(t);
	} else {
		version = 0;
	}
	OPENSSL_cleanse(&copy, sizeof(copy));
	return version != 0;
}

/* --- callbacks of OpenSSL --- */

/* --- settings --- */

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

static void
tls_ca_files_init(struct tls_ca_files *f)
{
	memset(f, 0, sizeof(*f));
	list_init(&f->all);
}

static void
tls_chains_init(struct tls_chains *t)
{
	memset(t, 0, sizeof(*t));
	list_init(&t->all);
}

void
tls_conf_init(struct tls_conf *t)
{
	memset(t, 0, sizeof(*t));
	t->files.extra = TLS_EXTRA_ALL;
	t->cache_size = TLS_CACHE_DEFAULT;
	t->lifetime_s = TLS_LIFETIME_DEFAULT_S;
	t->key_updates = TLS_KEY_UPDATES_DEFAULT;
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

static void
tls_ca_files_fini(struct tls_ca_files *f)
{
	for (unsigned int i = 0; i < TLS_CA_KINDS; i++)
		tls_ca_free(f->change[i].made);
	list_each_safe(it, &f->all)
		tls_ca_free(list_entry(it, struct tls_ca, link));
}

static void
tls_chains_fini(struct tls_chains *t)
{
	tls_chains_clear(t);
	mem_free(t->dir);
	t->dir = NULL;
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
	tls_passphrases_clear(&t->passphrases);
	tls_providers_unload(&t->providers);
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
	char *text = NULL, reason[TLS_WHY_MAX] = "out of memory";
	size_t len = 0;
	long r = file_read(sys, t->dh_file, TLS_FILE_MAX, &text, &len);

	if (r < 0)
		(void)snprintf(reason, sizeof(reason), "%s", err_text((int)r));
	else if (c && tls_cert_add_pem(c, text, len, reason) == 0 && c->dh &&
		EVP_PKEY_up_ref(c->dh))
		t->dh = c->dh;
	mem_free(text);
	tls_cert_put(c);
	if (t->dh)
		return 0;
	(void)snprintf(why, TLS_WHY_MAX,
		"'ssl-dh-param-file' : unable to load DH parameters from file <%.200s>: %.200s",
		t->dh_file, reason);
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
