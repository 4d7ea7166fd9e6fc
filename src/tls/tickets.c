/* Keys of session tickets. They change on the first worker while the others are paused; OpenSSL
 * asks for them on the worker of the connection. */
#include "tls/tickets.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tls/base64.h"
#include "tls/bind.h"
#include "tls/cert_files.h"
#include "tls/openssl.h"

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
	/* Where it fails a core has them, and nothing else changes. */
	(void)sys_madvise(sys, t->keys, TLS_SECRET_SIZE, MADV_DONTDUMP);
	return t;
}

void
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

/* Found once: a search takes a lock of OpenSSL. */
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

struct tls_tickets *
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
	char said[TLS_WHY_MAX];
	unsigned int n = 0, at = 0;

	while (*text) {
		size_t whole = strcspn(text, "\n"), len = whole;

		at++;
		while (len && strchr(" \t\r", text[len - 1]))
			len--;
		if (len && take_key_line(t, text, len, said) < 0) {
			(void)snprintf(why, TLS_WHY_MAX, "%.300s on line %u", said, at);
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
	char *text = NULL, said[TLS_WHY_MAX] = "out of memory";
	size_t len = 0;
	long r = t ? file_read(sys, path, TLS_FILE_MAX, &text, &len) : -ERR_NOMEM;

	if (r < 0)
		(void)snprintf(said, sizeof(said), "%s", err_text((int)r));
	else if (mem_copy_string(&t->file, path) < 0)
		r = -ERR_NOMEM;
	else
		r = take_lines(t, text, said);
	if (text)
		OPENSSL_cleanse(text, len);
	mem_free(text);
	if (r >= 0)
		return t;
	tls_tickets_free(t);
	(void)snprintf(why, TLS_WHY_MAX, "'%.200s' : %.250s", path, said);
	return NULL;
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

static int
start_ticket(const struct tls_tickets *t, const unsigned char *key, const unsigned char *iv,
	EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int encrypts)
{
	int is_128 = t->key_len == TLS_TICKET_KEY_128;
	const unsigned char *first = key + TLS_TICKET_NAME, *second = first + (is_128 ? 16 : 32);
	const unsigned char *mac_key = is_128 ? second : first;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_octet_string(
			OSSL_MAC_PARAM_KEY, (void *)(uintptr_t)mac_key, is_128 ? 16 : 32),
		OSSL_PARAM_construct_utf8_string(
			OSSL_MAC_PARAM_DIGEST, (char *)(uintptr_t)"SHA256", 0),
		OSSL_PARAM_construct_end(),
	};

	return EVP_CipherInit_ex2(cipher, t->cipher, is_128 ? first : second, iv, encrypts,
		       NULL) == 1 &&
		EVP_MAC_CTX_set_params(mac, params) == 1;
}

/* -1: failure; 0: there is no such key, so that the session is not resumed; 1; 2: resumed, and the
 * client gets a new ticket. A client of TLS 1.3 uses each ticket once (RFC 8446, C.4). */
static int
on_ticket_key(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
	EVP_MAC_CTX *mac, int encrypts)
{
	const struct tls_acceptor *a = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	const struct tls_tickets *t = a->bind->tickets;
	unsigned int i = TLS_TICKETS_NO - 2;

	if (encrypts) {
		memcpy(name, t->keys->key[i], TLS_TICKET_NAME);
		return RAND_bytes(iv, EVP_CIPHER_get_iv_length(t->cipher)) == 1 &&
				start_ticket(t, t->keys->key[i], iv, cipher, mac, 1)
			? 1 : -1;
	}
	for (i = 0; i < TLS_TICKETS_NO; i++) {
		if (memcmp(name, t->keys->key[i], TLS_TICKET_NAME) != 0)
			continue;
		if (!start_ticket(t, t->keys->key[i], iv, cipher, mac, 0))
			return -1;
		return i < TLS_TICKETS_NO - 2 || SSL_version(ssl) == TLS1_3_VERSION ? 2 : 1;
	}
	return 0;
}

void
tls_tickets_use(SSL_CTX *ctx)
{
	(void)SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, on_ticket_key);
}
