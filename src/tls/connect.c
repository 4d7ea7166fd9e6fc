/* TLS to servers. Main thread until the workers run; then each worker uses its own connector. */
#include "tls/connect.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "net/xprt.h"
#include "resume.h"
#include "tls/capture.h"
#include "tls/context.h"
#include "tls/names.h"
#include "tls/openssl.h"
#include "tls/sessions.h"
#include "tls/settings.h"
#include "tls/tls_conf.h"
#include "tls/transport.h"

/* --- the name in the certificate of a server --- */

static struct str
first_label(const char *name)
{
	return (struct str){ name, strcspn(name, ".") };
}

static struct str
last_bytes(struct str s, size_t n)
{
	return (struct str){ s.p + s.len - n, n };
}

/* True if the label matches a pattern with one '*'. */
static int
label_matches(struct str pattern, const char *star, struct str label)
{
	size_t before = (size_t)(star - pattern.p), after = pattern.len - before - 1;

	return label.len && label.len >= before + after &&
		str_is_nocase((struct str){ pattern.p, before }, (struct str){ label.p, before }) &&
		str_is_nocase(last_bytes(pattern, after), last_bytes(label, after));
}

/* True if a name of a certificate covers the host, in any case. A '*' in the first label of the
 * name stands for any part of the host's first label: *.lan covers a.lan, but not a.b.lan. */
static int
tls_name_covers(const char *name, const char *host)
{
	struct str pattern = first_label(name), label = first_label(host);
	const char *star = memchr(pattern.p, '*', pattern.len);

	if (!star)
		return str_is_nocase(str_of(name), str_of(host));
	/* A '*' alone covers nothing. */
	return name[pattern.len] && label_matches(pattern, star, label) &&
		str_is_nocase(str_of(name + pattern.len), str_of(host + label.len));
}

static int
compare_name(void *host, const char *name, struct tls_line *line unused)
{
	return tls_name_covers(name, host);
}

/* True if no name is asked for, or the certificate has it: as a name, or as an address. */
static int
cert_fits(X509 *x, const char *host)
{
	return !host || tls_names_of_cert(x, compare_name, (void *)(uintptr_t)host, NULL) ||
		X509_check_ip_asc(x, host, 0) == 1;
}

static int
on_server_verified(int ok, X509_STORE_CTX *x)
{
	const SSL *ssl = X509_STORE_CTX_get_ex_data(x, SSL_get_ex_data_X509_STORE_CTX_idx());
	const struct tls_settings *set = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	const char *host = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	if (!ok || X509_STORE_CTX_get_error_depth(x) > 0)
		return ok;
	if (cert_fits(X509_STORE_CTX_get_current_cert(x), host ? host : set->verifyhost))
		return 1;
	X509_STORE_CTX_set_error(x, X509_V_ERR_HOSTNAME_MISMATCH);
	return 0;
}

/* Has the certificates of connections of this context verified, with their names: that of SNI, or
 * verifyhost of the settings. The settings live on. */
static void
tls_server_name_enable(SSL_CTX *ctx, const struct tls_settings *set)
{
	(void)SSL_CTX_set_app_data(ctx, (void *)(uintptr_t)set);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, on_server_verified);
}

struct tls_connector {
	struct tls_maker maker;
	SSL_CTX *ctx;
};

/* The makers of connections, and what they verify with. */
struct tls_connectors {
	struct tls_connector *of;    /* one per worker */
	unsigned int n;
	struct tls_maker checks;
	X509_STORE *trusted;         /* NULL: nothing is verified */
};

struct tls_server {
	const struct tls_conf *conf;
	struct tls_settings set;
	struct tls_ca *ca, *crl;
	struct tls_entry *crt;       /* of the client's certificate; NULL: none */
	struct tls_connectors now;
	struct tls_connectors next;  /* of a change that is prepared, and what was before it */
	const struct xprt_maker **makers; /* those of the connectors */
};

/* --- contexts --- */

static int
set_client_cert(SSL_CTX *ctx, const struct tls_server *t, char *why)
{
	const struct tls_cert *c = t->crt ? tls_entry_latest(t->crt) : NULL;

	if (!c || SSL_CTX_use_cert_and_key(ctx, c->leaf, c->key, tls_cert_sent_chain(c), 1) == 1)
		return 0;
	(void)snprintf(why, TLS_WHY_MAX, "the certificate '%.300s' cannot be used", t->crt->name);
	return -ERR_INVAL;
}

static int
settle_connect(SSL_CTX *ctx, const struct tls_server *t, X509_STORE *trusted, char *why)
{
	int r = tls_context_settle(ctx, &t->set, why);

	if (!r)
		r = set_client_cert(ctx, t, why);
	if (r)
		return r;
	(void)SSL_CTX_set_options(ctx, SSL_OP_ALL | SSL_OP_NO_COMPRESSION |
			((t->set.flags & TLS_NO_TICKETS) ? SSL_OP_NO_TICKET : 0));
	tls_capture_enable(ctx, t->conf, 0);
	if (trusted)
		tls_server_name_enable(ctx, &t->set);
	if (trusted && !SSL_CTX_set1_verify_cert_store(ctx, trusted))
		return -ERR_NOMEM;
	if (t->set.alpn.len &&
		SSL_CTX_set_alpn_protos(ctx, t->set.alpn.p, (unsigned int)t->set.alpn.len) != 0)
		return -ERR_NOMEM;
	return 0;
}

static SSL_CTX *
make_connect_context(const struct tls_server *t, X509_STORE *trusted, char *why)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	if (ctx && settle_connect(ctx, t, trusted, why) < 0) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	return ctx;
}

/* --- files --- */

static int
load_server_cas(struct tls_server *t, struct tls_conf *conf, struct sys *sys, char *why)
{
	const struct tls_settings *set = &t->set;
	const char *name = set->ca_file;
	char *path;
	int r;

	if (set->verify == TLS_VERIFY_NONE)
		return 0;
	if (!name) {
		(void)snprintf(why, TLS_WHY_MAX,
			"verify is enabled by default but no CA file specified. If you're running "
			"on a LAN where you're certain to trust the server's certificate, please "
			"set an explicit 'verify none' statement on the 'server' line, or use "
			"'ssl-server-verify none' in the global section to disable server-side "
			"verifications by default");
		return -ERR_MISSING;
	}
	path = tls_path(name[0] == '@' ? NULL : conf->files.ca_base, name);
	r = path ? tls_ca_load(&conf->cas, sys, TLS_CA_FILE, path, &t->ca, why) : -ERR_NOMEM;
	mem_free(path);
	if (!r && set->crl_file) {
		path = tls_path(conf->files.ca_base, set->crl_file);
		r = path ? tls_ca_load(&conf->cas, sys, TLS_CRL_FILE, path, &t->crl, why)
			 : -ERR_NOMEM;
		mem_free(path);
	}
	if (r)
		return r;
	t->now.trusted = tls_ca_make_store(t->ca, NULL, t->crl);
	return t->now.trusted ? 0 : -ERR_NOMEM;
}

static int
load_crt(struct tls_server *t, struct tls_conf *conf, struct sys *sys, char *why)
{
	char warning[TLS_WHY_MAX], *path;
	int r;

	if (!t->set.crt)
		return 0;
	path = tls_crt_path(&conf->files, t->set.crt);
	r = path ? tls_store_load(&conf->certs, sys, &conf->files, path, &t->crt, why, warning)
		 : -ERR_NOMEM;
	mem_free(path);
	if (!r)
		t->crt->uses++;
	return r;
}

static int
load_all(struct tls_server *t, struct tls_conf *conf, struct sys *sys, char *why)
{
	SSL_CTX *ctx;
	int r = load_server_cas(t, conf, sys, why);

	if (!r)
		r = load_crt(t, conf, sys, why);
	if (r)
		return r;
	ctx = make_connect_context(t, t->now.trusted, why);
	SSL_CTX_free(ctx);
	return ctx ? 0 : -ERR_INVAL;
}

int
tls_server_load(struct tls_server **out, struct tls_conf *conf, const struct tls_settings *set,
	struct sys *sys, char *why)
{
	struct tls_server *t = mem_zalloc(sizeof(*t));
	int r = -ERR_NOMEM;

	(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	if (t && tls_settings_copy(&t->set, set) == 0 &&
		tls_settings_inherit(&t->set, &conf->server_defaults) == 0) {
		if (!t->set.verify && conf->server_verify_none)
			t->set.verify = TLS_VERIFY_NONE;
		t->conf = conf;
		r = load_all(t, conf, sys, why);
	}
	if (r)
		tls_server_free(&t);
	*out = t;
	return r;
}

int
tls_server_ignores_off(const struct tls_server *t)
{
	return tls_settings_ignores_off(&t->set);
}

/* --- the workers' --- */

static void
free_connectors(struct tls_connectors *c)
{
	tls_maker_fini(&c->checks);
	for (unsigned int i = 0; i < c->n; i++) {
		tls_maker_fini(&c->of[i].maker);
		SSL_CTX_free(c->of[i].ctx);
	}
	mem_free(c->of);
	X509_STORE_free(c->trusted);
	memset(c, 0, sizeof(*c));
}

/* Makes the connector of one more worker. */
static int
add_connector(const struct tls_server *t, struct tls_connectors *c, struct tls_io *io, char *why)
{
	enum tls_role role = t->set.flags & TLS_NO_REUSE ? TLS_CONNECTS_ANEW : TLS_CONNECTS;
	struct tls_connector *k = &c->of[c->n];
	int r;

	k->ctx = make_connect_context(t, c->trusted, why);
	if (!k->ctx)
		return -ERR_INVAL;
	r = tls_maker_init(&k->maker, io, k->ctx, role);
	if (!r && !c->n)
		r = tls_maker_init(
			&c->checks, io, k->ctx, role == TLS_CONNECTS ? TLS_CHECKS : role);
	c->n++;
	return r;
}

/* Lets each worker resume sessions that other workers have got. Connectors of a change share them
 * among themselves. */
static int
share_sessions(const struct tls_connectors *c)
{
	struct shared_sessions *sh;

	if (c->n < 2 || !c->of->maker.resume)
		return 0;
	sh = shared_sessions_new();
	if (!sh)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < c->n; i++)
		tls_resume_share(c->of[i].maker.resume, sh);
	shared_sessions_put(sh);
	return 0;
}

int
tls_server_open(struct tls_server *t, struct tls_io *const *io, unsigned int n)
{
	char why[TLS_WHY_MAX];
	int r = 0;

	t->now.of = mem_zalloc(n * sizeof(*t->now.of));
	t->makers = mem_zalloc(n * sizeof(struct xprt_maker *));
	if (!t->now.of || !t->makers)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < n && !r; i++) {
		r = add_connector(t, &t->now, io[i], why);
		t->makers[i] = &t->now.of[i].maker.maker;
	}
	return r ? r : share_sessions(&t->now);
}

/* --- a change at run time --- */

int
tls_server_prepare(struct tls_server *t, const struct tls_change *change, unsigned int *uses,
	char *why)
{
	int is_crt = change->entry && change->entry == t->crt, r = 0;
	int is_ca = change->ca && (change->ca == t->ca || change->ca == t->crl);
	struct tls_connectors *c = &t->next;

	if (!is_crt && !is_ca)
		return 0;
	/* As in HAProxy, which counts certificates. */
	*uses += t->crt != NULL;
	(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	c->of = mem_zalloc(MAX(t->now.n, 1) * sizeof(*c->of));
	if (t->ca)
		c->trusted = tls_ca_make_store(t->ca, NULL, t->crl);
	if (!c->of || (t->ca && !c->trusted))
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < t->now.n && !r; i++)
		r = add_connector(t, c, t->now.of[i].maker.io, why);
	return r ? r : share_sessions(c);
}

void
tls_server_exchange(struct tls_server *t)
{
	struct tls_connectors *now = &t->now, *next = &t->next, made = *next;

	if (!next->of)
		return;
	/* Servers point to the makers. */
	for (unsigned int i = 0; i < now->n; i++) {
		struct tls_connector was = now->of[i];

		now->of[i] = next->of[i];
		next->of[i] = was;
	}
	next->checks = now->checks;
	now->checks = made.checks;
	next->trusted = now->trusted;
	now->trusted = made.trusted;
}

void
tls_server_settle(struct tls_server *t)
{
	free_connectors(&t->next);
}

void
tls_server_free(struct tls_server **tp)
{
	struct tls_server *t = *tp;

	if (!t)
		return;
	*tp = NULL;
	free_connectors(&t->now);
	free_connectors(&t->next);
	mem_free(t->makers);
	if (t->crt)
		t->crt->uses--;
	tls_ca_drop(t->ca);
	tls_ca_drop(t->crl);
	tls_settings_free(&t->set);
	mem_free(t);
}

const struct xprt_maker *const *
tls_server_makers(const struct tls_server *t)
{
	return t->makers;
}

const struct xprt_maker *
tls_server_check_maker(const struct tls_server *t)
{
	return &t->now.checks.maker;
}

/* 0 or a negative reason. */
static int
set_asked_name(struct conn *c, struct str name)
{
	char text[TLS_NAME_MAX + 1];

	if (name.len > TLS_NAME_MAX || memchr(name.p, '\0', name.len))
		return -ERR_RANGE;
	memcpy(text, name.p, name.len);
	text[name.len] = '\0';
	return conn_set_name(c, text);
}

int
tls_connect_as(struct conn *c, const struct tls_ask *ask)
{
	SSL *ssl = tls_of(c)->ssl;
	int r = ask->name.len ? set_asked_name(c, ask->name) : 0;

	if (r < 0)
		return r;
	tls_of(c)->service = ask->service;
	if (ask->alpn && ask->alpn->len &&
		SSL_set_alpn_protos(ssl, ask->alpn->p, (unsigned int)ask->alpn->len) != 0)
		return -ERR_NOMEM;
	return 0;
}

int
tls_awaits_session(const struct conn *c)
{
	const struct tls *t = tls_of(c);

	return t->x.is_up && t->resume && !t->has_session && !t->has_failed &&
		SSL_version(t->ssl) == TLS1_3_VERSION;
}
