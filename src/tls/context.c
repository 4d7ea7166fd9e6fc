/* Contexts that connections are accepted with. Main thread, or the first worker while the others
 * are paused; all contexts refer to the same certificates and keys. */
#include "tls/context.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "event/loop.h"
#include "net/conn_err.h"
#include "tls/bind.h"
#include "tls/capture.h"
#include "tls/names.h"
#include "tls/ocsp.h"
#include "tls/openssl.h"
#include "tls/sessions.h"
#include "tls/tls_conf.h"
#include "tls/cert.h"
#include "tls/transport.h"

static const int versions[TLS_VERSIONS] = {
	[TLS_VERSION_SSL30] = SSL3_VERSION,
	[TLS_VERSION_10] = TLS1_VERSION,
	[TLS_VERSION_11] = TLS1_1_VERSION,
	[TLS_VERSION_12] = TLS1_2_VERSION,
	[TLS_VERSION_13] = TLS1_3_VERSION,
};

static const uint64_t version_off[TLS_VERSIONS] = {
	[TLS_VERSION_SSL30] = SSL_OP_NO_SSLv3,
	[TLS_VERSION_10] = SSL_OP_NO_TLSv1,
	[TLS_VERSION_11] = SSL_OP_NO_TLSv1_1,
	[TLS_VERSION_12] = SSL_OP_NO_TLSv1_2,
	[TLS_VERSION_13] = SSL_OP_NO_TLSv1_3,
};

static int
context_failed(char *why, const char *what, const char *value)
{
	char reason[TLS_ERROR_MAX];

	(void)snprintf(why, TLS_WHY_MAX, "unable to set %s to '%.200s': %s", what, value,
		tls_error_take(reason, sizeof(reason)));
	return -ERR_INVAL;
}

static int
set_versions(SSL_CTX *ctx, const struct tls_settings *set, char *why)
{
	enum tls_version min = set->min ? set->min : TLS_VERSION_12;
	unsigned int left = 0, off = tls_settings_ignores_off(set) ? 0 : set->off;

	if (!set->min && set->max && set->max < min)
		min = set->max;
	for (unsigned int i = min; i < TLS_VERSIONS; i++) {
		if (off & 1u << i)
			(void)SSL_CTX_set_options(ctx, version_off[i]);
		else if (!set->max || i <= set->max)
			left++;
	}
	if (!left) {
		(void)snprintf(why, TLS_WHY_MAX,
			"all SSL/TLS versions are disabled by ssl-min-ver, ssl-max-ver and no-*");
		return -ERR_INVAL;
	}
	if (!SSL_CTX_set_min_proto_version(ctx, versions[min]))
		return context_failed(why, "ssl-min-ver", "this version");
	if (set->max && !SSL_CTX_set_max_proto_version(ctx, versions[set->max]))
		return context_failed(why, "ssl-max-ver", "this version");
	return 0;
}

int
tls_context_settle(SSL_CTX *ctx, const struct tls_settings *set, char *why)
{
	int r = set_versions(ctx, set, why);

	if (r)
		return r;
	/* Before the ciphers: "@SECLEVEL=n" there counts more. */
	if (set->level)
		SSL_CTX_set_security_level(ctx, set->level - 1);
	if (set->ciphers && !SSL_CTX_set_cipher_list(ctx, set->ciphers))
		return context_failed(why, "SSL cipher list", set->ciphers);
	if (set->ciphersuites && !SSL_CTX_set_ciphersuites(ctx, set->ciphersuites))
		return context_failed(why, "TLS 1.3 cipher suites", set->ciphersuites);
	if (set->curves && !SSL_CTX_set1_curves_list(ctx, set->curves))
		return context_failed(why, "SSL curves list", set->curves);
	if (set->sigalgs && !SSL_CTX_set1_sigalgs_list(ctx, set->sigalgs))
		return context_failed(why, "SSL Signature Algorithm list", set->sigalgs);
	if (set->client_sigalgs && !SSL_CTX_set1_client_sigalgs_list(ctx, set->client_sigalgs))
		return context_failed(why, "SSL Signature Algorithm list", set->client_sigalgs);
	return 0;
}

/* Names of the CAs are sent to clients, so that they can choose a certificate. */
static int
add_ca_names(SSL_CTX *ctx, const struct tls_ca *ca)
{
	STACK_OF(X509_NAME) *names = sk_X509_NAME_new_null();

	for (int i = 0; names && i < sk_X509_num(ca->certs); i++) {
		X509_NAME *name =
			X509_NAME_dup(X509_get_subject_name(sk_X509_value(ca->certs, i)));

		if (!name || sk_X509_NAME_push(names, name) <= 0) {
			X509_NAME_free(name);
			sk_X509_NAME_pop_free(names, X509_NAME_free);
			return -ERR_NOMEM;
		}
	}
	if (!names)
		return -ERR_NOMEM;
	SSL_CTX_set_client_CA_list(ctx, names);
	return 0;
}

/* --- the choice of a certificate ------------------------------------------------------------- */

/*
 * Chooses the certificate and the settings that a client gets. On the worker of the connection;
 * the tables change only while the workers are paused.
 */

/* The signatures that a client can verify. */
struct abilities {
	int ecdsa, rsa;
};

static int
offers_ecdsa_cipher(SSL *ssl)
{
	const STACK_OF(SSL_CIPHER) *all = SSL_get_client_ciphers(ssl);

	for (int i = 0; i < sk_SSL_CIPHER_num(all); i++) {
		int auth = SSL_CIPHER_get_auth_nid(sk_SSL_CIPHER_value(all, i));

		if (auth == NID_auth_any || auth == NID_auth_ecdsa)
			return 1;
	}
	return 0;
}

static int
hello_offers_ecdsa(SSL *ssl)
{
	const unsigned char *p;
	size_t n = SSL_client_hello_isv2(ssl) ? 0 : SSL_client_hello_get0_ciphers(ssl, &p);

	for (size_t i = 0; i + 1 < n; i += 2) {
		const SSL_CIPHER *c = SSL_CIPHER_find(ssl, p + i);

		/* The ciphers of TLS 1.3; signalling values have "any" key, too. */
		if (p[i] == 0x13 || (c && SSL_CIPHER_get_auth_nid(c) == NID_auth_ecdsa))
			return 1;
	}
	return 0;
}

static struct abilities
client_abilities(SSL *ssl)
{
	struct abilities a = { 0, 0 };
	int n = SSL_get_sigalgs(ssl, 0, NULL, NULL, NULL, NULL, NULL);

	/* Without the extension SHA-1 with RSA is meant (RFC 5246, 7.4.1.4.1). */
	if (n <= 0)
		a.rsa = 1;
	for (int i = 0; i < n; i++) {
		int sign = NID_undef;

		(void)SSL_get_sigalgs(ssl, i, &sign, NULL, NULL, NULL, NULL);
		a.ecdsa |= sign == EVP_PKEY_EC;
		a.rsa |= sign == EVP_PKEY_RSA || sign == EVP_PKEY_RSA_PSS;
	}
	if (a.ecdsa)
		a.ecdsa = offers_ecdsa_cipher(ssl);
	return a;
}

/* The first line of each kind of key. */
struct by_kind {
	const struct tls_line *of[TLS_KEY_OTHER + 1];
	unsigned int n;
};

static void
note_line(struct by_kind *k, const struct tls_line *l)
{
	const struct tls_cert *c = l->entry->cert;

	if (!c || k->of[c->kind])
		return;
	k->of[c->kind] = l;
	k->n++;
}

static const struct tls_line *
pick_line(const struct by_kind *k, struct abilities can)
{
	static const enum tls_key_kind order[] = { TLS_KEY_ECDSA, TLS_KEY_RSA, TLS_KEY_OTHER };

	if (k->of[TLS_KEY_ECDSA] && can.ecdsa)
		return k->of[TLS_KEY_ECDSA];
	if (k->of[TLS_KEY_RSA] && can.rsa)
		return k->of[TLS_KEY_RSA];
	if (k->of[TLS_KEY_OTHER])
		return k->of[TLS_KEY_OTHER];
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		if (k->of[order[i]])
			return k->of[order[i]];
	return NULL;
}

/* Notes the lines for a name, and for other kinds of keys those of the wildcard that covers it.
 * ssl: only lines whose settings the connection has; NULL: all. */
static void
note_name(struct by_kind *k, const struct tls_acceptor *a, const struct tls_name *name, SSL *ssl)
{
	const SSL_CTX *has = ssl ? SSL_get_SSL_CTX(ssl) : NULL;

	for (; name; name = tls_names_find_wider(&a->bind->names, name))
		for (unsigned int i = 0; i < name->n; i++)
			if (!has || a->ctx[name->line[i]->variant->index] == has)
				note_line(k, name->line[i]);
}

static const struct tls_line *
line_for(const struct tls_acceptor *a, SSL *ssl)
{
	const struct tls_bind *b = a->bind;
	const char *asked = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	struct abilities can = { 1, 1 };
	struct by_kind k = { { NULL }, 0 };

	if (asked)
		note_name(&k, a, tls_names_find(&b->names, asked, strlen(asked)), ssl);
	if (!k.n && !(b->set.flags & TLS_STRICT_SNI))
		note_name(&k, a, &b->names.fallback, NULL);
	if (k.n > 1)
		can = client_abilities(ssl);
	return pick_line(&k, can);
}

/* OpenSSL frees the copy. */
static void
staple_ocsp(SSL *ssl, const struct tls_acceptor *a, const struct tls_cert *c)
{
	const struct tls_io *io = a->maker.io;
	unsigned char *copy;

	if (!c->ocsp || SSL_get_tlsext_status_type(ssl) != TLSEXT_STATUSTYPE_ocsp)
		return;
	if (io && io->conn &&
		(int64_t)(loop_wall_ns(io->conn->loop) / 1000000000) > c->ocsp->expires)
		return;
	copy = OPENSSL_memdup(c->ocsp->p, c->ocsp->len);
	if (copy && !SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)c->ocsp->len))
		OPENSSL_free(copy);
}

/* Chooses the certificate of a handshake. 1, or 0: the handshake fails. */
static int
on_certificate(SSL *ssl, void *arg)
{
	const struct tls_acceptor *a = arg;
	const struct tls_line *l = line_for(a, ssl);
	const struct tls_cert *c = l ? l->entry->cert : NULL;

	if (!c)
		return 0;
	if (SSL_get_certificate(ssl) != c->leaf) {
		SSL_certs_clear(ssl);
		if (SSL_use_cert_and_key(ssl, c->leaf, c->key, tls_cert_sent_chain(c), 1) != 1)
			return 0;
	}
	if (c->dh && EVP_PKEY_up_ref(c->dh) && !SSL_set0_tmp_dh_pkey(ssl, c->dh))
		EVP_PKEY_free(c->dh);
	staple_ocsp(ssl, a, c);
	return 1;
}

static int
on_status_asked(SSL *ssl, void *arg unused)
{
	const unsigned char *p;

	return SSL_get_tlsext_status_ocsp_resp(ssl, &p) > 0 ? SSL_TLSEXT_ERR_OK
							    : SSL_TLSEXT_ERR_NOACK;
}

/* Accepts every name; OpenSSL keeps it in the session: tls_hello_match_session(). */
static int
on_servername(SSL *ssl unused, int *alert unused, void *arg unused)
{
	return SSL_TLSEXT_ERR_OK;
}

/* Sets again what OpenSSL has copied from the first context at SSL_new(). Versions stay those of
 * the bind line, as in HAProxy, for a client that is given a certificate by default. */
static int
switch_context(SSL *ssl, const struct tls_acceptor *a, const struct tls_variant *v, int is_named)
{
	const struct tls_settings *set = &v->set;
	SSL_CTX *ctx = a->ctx[v->index];

	if (!SSL_set_SSL_CTX(ssl, ctx))
		return 0;
	SSL_set_verify(ssl, SSL_CTX_get_verify_mode(ctx), SSL_CTX_get_verify_callback(ctx));
	if (is_named) {
		(void)SSL_set_min_proto_version(ssl, (int)SSL_CTX_get_min_proto_version(ctx));
		(void)SSL_set_max_proto_version(ssl, (int)SSL_CTX_get_max_proto_version(ctx));
	}
	(void)SSL_set_options(ssl, SSL_CTX_get_options(ctx));
	if (set->curves)
		(void)SSL_set1_curves_list(ssl, set->curves);
	if (set->ciphersuites)
		(void)SSL_set_ciphersuites(ssl, set->ciphersuites);
	return 1;
}

/* Returns what client_abilities() does, before OpenSSL has read the extensions. */
static struct abilities
hello_abilities(SSL *ssl)
{
	struct abilities a = { 0, 0 };
	const unsigned char *p;
	size_t n;

	if (!SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_signature_algorithms, &p, &n)) {
		a.rsa = 1;
		return a;
	}
	for (size_t i = 2; i + 1 < n; i += 2) {
		int is_pss = p[i] == 8 && p[i + 1] >= 4 && p[i + 1] <= 11 && p[i + 1] != 7 &&
			p[i + 1] != 8;

		a.ecdsa |= p[i] < 8 && p[i + 1] == TLSEXT_signature_ecdsa;
		a.rsa |= is_pss || (p[i] < 8 && p[i + 1] == TLSEXT_signature_rsa);
	}
	if (a.ecdsa)
		a.ecdsa = hello_offers_ecdsa(ssl);
	return a;
}

/* Returns the line whose settings apply to a client that asks for a name: the line of the
 * certificate that on_certificate() will choose. */
static const struct tls_line *
line_of_hello(const struct tls_acceptor *a, SSL *ssl, const struct tls_name *name)
{
	struct by_kind k = { { NULL }, 0 };
	struct abilities can = { 1, 1 };
	int differ = 0;

	note_name(&k, a, name, NULL);
	for (unsigned int i = 0; i < ARRAY_LEN(k.of); i++)
		differ |= k.of[i] && k.of[i]->variant != name->line[0]->variant;
	if (!differ)
		return name->line[0];
	if (k.n > 1)
		can = hello_abilities(ssl);
	return pick_line(&k, can);
}

static int
on_client_hello(SSL *ssl, int *alert, void *arg)
{
	const struct tls_acceptor *a = arg;
	const struct tls_bind *b = a->bind;
	size_t len = 0;
	const char *asked = tls_hello_name(ssl, &len);
	const struct tls_name *name = asked ? tls_names_find(&b->names, asked, len) : NULL;
	const struct tls_variant *v = NULL;

	if (!name && (b->set.flags & TLS_STRICT_SNI)) {
		*alert = SSL_AD_UNRECOGNIZED_NAME;
		return SSL_CLIENT_HELLO_ERROR;
	}
	if (name)
		v = line_of_hello(a, ssl, name)->variant;
	else if (b->names.fallback.n)
		v = b->names.fallback.line[0]->variant;
	if (v && v->index && !switch_context(ssl, a, v, name != NULL)) {
		*alert = SSL_AD_INTERNAL_ERROR;
		return SSL_CLIENT_HELLO_ERROR;
	}
	return SSL_CLIENT_HELLO_SUCCESS;
}

/* Chooses a protocol. Without one in common the connection continues without a protocol. */
static int
on_alpn(SSL *ssl unused, const unsigned char **out, unsigned char *out_len,
	const unsigned char *in, unsigned int in_len, void *arg)
{
	const struct tls_settings *set = arg;
	unsigned char *chosen;

	if (SSL_select_next_proto(&chosen, out_len, set->alpn.p, (unsigned int)set->alpn.len, in,
		in_len) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_NOACK;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

/* Adds the signed certificate timestamps of the certificate that is sent (RFC 6962, 3.3.1). */
static int
on_add_sct(SSL *ssl, unsigned int type unused, unsigned int context unused,
	const unsigned char **out, size_t *out_len, X509 *x unused, size_t index, int *alert unused,
	void *arg)
{
	const struct tls_acceptor *a = arg;
	const struct tls_line *l = index == 0 ? line_for(a, ssl) : NULL;
	const struct tls_cert *c = l ? l->entry->cert : NULL;

	if (!c || !c->sctl.len)
		return 0;
	*out = c->sctl.p;
	*out_len = c->sctl.len;
	return 1;
}

static int
on_sct_asked(SSL *ssl unused, unsigned int type unused, unsigned int context unused,
	const unsigned char *in unused, size_t in_len, X509 *x unused, size_t index unused,
	int *alert, void *arg unused)
{
	*alert = SSL_AD_DECODE_ERROR;
	return in_len == 0;
}

/* Notes the first error of the peer's certificate, and the first error of those above it. */
static void
note_verify_error(struct tls *t, int error, int depth)
{
	if (!depth && !t->crt_err) {
		t->crt_err = (uint8_t)error;
	} else if (depth && !t->ca_err) {
		t->ca_err = (uint8_t)error;
		t->ca_err_depth = (uint8_t)MIN(depth, UINT8_MAX);
	}
}

/* SSL_CTX_set_verify()'s callback: errors that the settings ignore do not end the handshake. */
static int
tls_on_verify(int ok, X509_STORE_CTX *x)
{
	const SSL *ssl = X509_STORE_CTX_get_ex_data(x, SSL_get_ex_data_X509_STORE_CTX_idx());
	const struct tls_acceptor *a = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	int error = X509_STORE_CTX_get_error(x), depth = X509_STORE_CTX_get_error_depth(x);
	struct tls *t = a->maker.io ? a->maker.io->cur : NULL;

	if (ok)
		return 1;
	if (t)
		note_verify_error(t, error, depth);
	if (tls_error_is_in(depth ? &a->bind->set.ca_ignore : &a->bind->set.crt_ignore, error)) {
		ERR_clear_error();
		return 1;
	}
	if (t)
		t->x.failure = depth ? CONN_ERR_TLS_CA : CONN_ERR_TLS_CERT;
	return 0;
}

/* Enables the callbacks above for connections of this context. */
static void
tls_choose_enable(SSL_CTX *ctx, struct tls_acceptor *a, struct tls_variant *v)
{
	struct tls_settings *set = &v->set;

	(void)SSL_CTX_set_app_data(ctx, a);
	tls_capture_enable(ctx, a->bind->conf, 1);
	SSL_CTX_set_client_hello_cb(ctx, on_client_hello, a);
	SSL_CTX_set_cert_cb(ctx, on_certificate, a);
	(void)SSL_CTX_set_tlsext_servername_callback(ctx, on_servername);
	(void)SSL_CTX_set_tlsext_status_cb(ctx, on_status_asked);
	if (set->alpn.len)
		SSL_CTX_set_alpn_select_cb(ctx, on_alpn, set);
	(void)SSL_CTX_add_custom_ext(ctx, TLSEXT_TYPE_signed_certificate_timestamp,
		SSL_EXT_CLIENT_HELLO | SSL_EXT_TLS1_2_SERVER_HELLO | SSL_EXT_TLS1_3_CERTIFICATE,
		on_add_sct, NULL, a, on_sct_asked, NULL);
}

/* --- contexts -------------------------------------------------------------------------------- */

static int
set_verification(SSL_CTX *ctx, const struct tls_variant *v, char *why)
{
	X509_STORE *trusted = v->next ? v->next : v->trusted;
	int mode = SSL_VERIFY_PEER;

	if (!trusted)
		return 0;
	if (v->set.verify == TLS_VERIFY_REQUIRED)
		mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
	SSL_CTX_set_verify(ctx, mode, tls_on_verify);
	if (SSL_CTX_set1_verify_cert_store(ctx, trusted) &&
		(!v->ca || (v->set.flags & TLS_NO_CA_NAMES) || add_ca_names(ctx, v->ca) == 0))
		return 0;
	(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	return -ERR_NOMEM;
}

static void
add_text(EVP_MD_CTX *md, const char *text)
{
	/* With its NUL, so that texts do not run into each other. */
	(void)EVP_DigestUpdate(md, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void
add_errors(EVP_MD_CTX *md, const struct tls_error_set *set)
{
	(void)EVP_DigestUpdate(md, set->bits, sizeof(set->bits));
	(void)EVP_DigestUpdate(md, &set->all, sizeof(set->all));
}

static void
add_ca(EVP_MD_CTX *md, const struct tls_ca *ca)
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	for (int i = 0; ca && i < sk_X509_num(ca->certs); i++)
		if (X509_digest(sk_X509_value(ca->certs, i), EVP_sha256(), hash, &len))
			(void)EVP_DigestUpdate(md, hash, len);
	for (int i = 0; ca && i < sk_X509_CRL_num(ca->crls); i++)
		if (X509_CRL_digest(sk_X509_CRL_value(ca->crls, i), EVP_sha256(), hash, &len))
			(void)EVP_DigestUpdate(md, hash, len);
}

/*
 * A session is resumed only where clients are verified as they were when it was made: in the same
 * proxy, with the same settings, CAs and revocation lists. Keys of tickets outlive changes of all
 * of these. The address may be another one: machines share keys.
 */
static int
set_session_context(SSL_CTX *ctx, const struct tls_bind *b, const struct tls_variant *v)
{
	const struct tls_settings *set = &v->set;
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	unsigned char id[EVP_MAX_MD_SIZE];
	unsigned int len = 0;
	int r = md && EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1;

	if (r) {
		add_text(md, b->id);
		add_text(md, set->ca_file);
		add_text(md, set->ca_verify_file);
		add_text(md, set->crl_file);
		(void)EVP_DigestUpdate(md, &v->index, sizeof(v->index));
		(void)EVP_DigestUpdate(md, &set->verify, sizeof(set->verify));
		add_errors(md, &b->set.crt_ignore);
		add_errors(md, &b->set.ca_ignore);
		if (v->trusted) {
			add_ca(md, v->ca);
			add_ca(md, v->ca_verify);
			add_ca(md, v->crl);
		}
		r = EVP_DigestFinal_ex(md, id, &len) == 1 &&
			SSL_CTX_set_session_id_context(ctx, id, len);
	}
	EVP_MD_CTX_free(md);
	return r ? 0 : -ERR_INVAL;
}

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

/* Finds the key of a ticket. -1: failure; 0: the key is unknown, and the session is not resumed; 1:
 * it is; 2: it is, and the client gets a new ticket, since a client of TLS 1.3 uses each ticket
 * once (RFC 8446, C.4). */
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

/* Tickets of this context are made with its acceptor's keys (bind.tickets). */
static void
tls_tickets_use(SSL_CTX *ctx)
{
	(void)SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, on_ticket_key);
}

static int
set_sessions(SSL_CTX *ctx, const struct tls_acceptor *a, const struct tls_variant *v)
{
	const struct tls_conf *conf = a->bind->conf;

	(void)SSL_CTX_set_timeout(ctx, (long)conf->lifetime_s);
	(void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	if (a->bind->tickets)
		tls_tickets_use(ctx);
	if (conf->sessions)
		tls_sessions_use(ctx);
	return set_session_context(ctx, a->bind, v);
}

static void
set_accept_options(SSL_CTX *ctx, const struct tls_settings *set)
{
	uint64_t options = SSL_OP_ALL | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION;

	if (!(set->flags & TLS_PREFER_CLIENT_CIPHERS))
		options |= SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA;
	if (set->flags & TLS_NO_TICKETS)
		options |= SSL_OP_NO_TICKET;
	(void)SSL_CTX_set_options(ctx, options);
	/* Certificates come with their chains (tls/cert.h): none is looked for in handshakes. */
	(void)SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
}

static int
cert_refused(const char *name, char *why)
{
	char reason[TLS_ERROR_MAX];

	(void)snprintf(why, TLS_WHY_MAX,
		"unable to load SSL certificate into SSL Context '%.300s': %s", name,
		tls_error_take(reason, sizeof(reason)));
	return -ERR_INVAL;
}

int
tls_context_try(SSL *ssl, const struct tls_cert *c, const char *name, char *why)
{
	if (SSL_use_cert_and_key(ssl, c->leaf, c->key, tls_cert_sent_chain(c), 1) == 1)
		return 0;
	return cert_refused(name, why);
}

SSL *
tls_context_trial(const struct tls_settings *set, char *why)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	SSL *ssl = NULL;

	(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	if (ctx && tls_context_settle(ctx, set, why) == 0)
		ssl = SSL_new(ctx);
	SSL_CTX_free(ctx);
	return ssl;
}

static int
set_first(SSL_CTX *ctx, const struct tls_line *first, char *why)
{
	const struct tls_cert *c = first ? tls_entry_latest(first->entry) : NULL;

	if (!c || SSL_CTX_use_cert_and_key(ctx, c->leaf, c->key, tls_cert_sent_chain(c), 1) == 1)
		return 0;
	return cert_refused(first->entry->name, why);
}

static int
settle_accept(SSL_CTX *ctx, struct tls_acceptor *a, struct tls_variant *v, char *why)
{
	const struct tls_conf *conf = a->bind->conf;
	int r = tls_context_settle(ctx, &v->set, why);

	if (!r)
		r = set_verification(ctx, v, why);
	if (r)
		return r;
	set_accept_options(ctx, &v->set);
	if (set_sessions(ctx, a, v) < 0)
		return context_failed(why, "the session cache of", a->bind->id);
	if (conf->dh && EVP_PKEY_up_ref(conf->dh) && !SSL_CTX_set0_tmp_dh_pkey(ctx, conf->dh)) {
		EVP_PKEY_free(conf->dh);
		return context_failed(why, "the DH parameters", "those of global");
	}
	if (conf->maxrecord)
		(void)SSL_CTX_set_max_send_fragment(ctx, MAX(conf->maxrecord, 512));
	tls_choose_enable(ctx, a, v);
	return 0;
}

SSL_CTX *
tls_context_accept(struct tls_acceptor *a, struct tls_variant *v, const struct tls_line *first,
	char *why)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	if (!ctx) {
		(void)snprintf(why, TLS_WHY_MAX, "out of memory");
		return NULL;
	}
	if (settle_accept(ctx, a, v, why) < 0 || set_first(ctx, first, why) < 0) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	return ctx;
}
