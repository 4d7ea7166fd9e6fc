/* Contexts that connections are accepted with. Main thread, or the first worker while the others
 * are paused; all contexts refer to the same certificates and keys. */
#include "tls/context.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "tls/choose.h"
#include "tls/openssl.h"
#include "tls/sessions.h"
#include "tls/tickets.h"
#include "tls/tls_conf.h"
#include "tls/tls_error.h"

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
