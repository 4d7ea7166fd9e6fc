/* A bind line with certificates in files, and a client of it in memory. */
#ifndef TESTS_UNIT_TLS_BIND_RIG_H
#define TESTS_UNIT_TLS_BIND_RIG_H

#include <stdlib.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tls/bind.h"
#include "tls/choose.h"
#include "tls/context.h"
#include "tls/openssl.h"
#include "tls/tls_conf.h"
#include "tls/tls_io.h"
#include "unit/tls/tls_rig.h"

struct bind_rig {
	struct sys sys;
	struct cfg_diag diag;
	struct tls_conf conf;
	struct tls_bind *bind;
	struct tls_io *io;
	struct rig_id ca;
	char dir[64];
	char path[160];
	/* The client. */
	SSL_CTX *client;
	SSL *ssl;
	char subject[64];      /* of the certificate that it got; "": the handshake failed */
};

static void
bind_rig_open(struct bind_rig *g)
{
	int reason;

	memset(g, 0, sizeof(*g));
	sys_init(&g->sys, &sys_linux, NULL);
	cfg_diag_init(&g->diag, 0);
	tls_conf_init(&g->conf);
	g->bind = tls_bind_new();
	g->bind->is_on = 1;
	g->io = tls_io_new(&reason);
	g->ca = rig_identity(rig_ec(), "test CA", NULL, NULL, 10);
	strcpy(g->dir, "/tmp/tacit-bind-XXXXXX");
	assert_non_null(mkdtemp(g->dir));
	g->client = SSL_CTX_new(TLS_client_method());
}

static void
bind_rig_close(struct bind_rig *g)
{
	char cmd[128];

	SSL_free(g->ssl);
	SSL_CTX_free(g->client);
	tls_bind_free(&g->bind);
	tls_conf_fini(&g->conf);
	tls_io_free(&g->io);
	cfg_diag_fini(&g->diag);
	rig_free(&g->ca);
	snprintf(cmd, sizeof(cmd), "rm -r %s", g->dir);
	assert_int_equal(system(cmd), 0);
}

static const char *
bind_rig_path(struct bind_rig *g, const char *name)
{
	snprintf(g->path, sizeof(g->path), "%s/%s", g->dir, name);
	return g->path;
}

static void
bind_rig_write(struct bind_rig *g, const char *name, const char *text)
{
	FILE *f = fopen(bind_rig_path(g, name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A certificate with its key, signed by the rig's CA. */
static unused void
bind_rig_cert(struct bind_rig *g, const char *file, EVP_PKEY *key, const char *cn,
	const char *names)
{
	struct rig_id id = rig_identity(key, cn, names, &g->ca, 10);
	char text[RIG_TEXT] = "";

	rig_pem_cert(text, id.cert);
	rig_pem_key(text, id.key, NULL);
	bind_rig_write(g, file, text);
	rig_free(&id);
}

static void
bind_rig_source(struct bind_rig *g, enum tls_source_kind kind, const char *name)
{
	struct tls_source *s = mem_zalloc(sizeof(*s));

	assert_non_null(s);
	s->kind = kind;
	s->path = mem_strdup(bind_rig_path(g, name));
	list_append(&g->bind->sources, &s->link);
}

static unused void
bind_rig_set(struct bind_rig *g, const char *name, const char *arg)
{
	char why[TLS_WHY_MAX];

	assert_true(tls_settings_set(&g->bind->set, TLS_AT_BIND, name, arg, why) >= 0);
}

static int
bind_rig_try_load(struct bind_rig *g, int is_http)
{
	struct tls_bind_use use = { .proxy = "px", .address = "1.2.3.4:5", .is_http = is_http };
	char why[TLS_WHY_MAX];

	assert_int_equal(tls_conf_finish(&g->conf, &g->sys, why), 0);
	return tls_bind_load(g->bind, &g->conf, &use, &g->sys, &g->diag);
}

static unused void
bind_rig_load(struct bind_rig *g)
{
	if (bind_rig_try_load(g, 1))
		fail_msg("%s", g->diag.nentry ? g->diag.entry[0].text : "no message");
	assert_int_equal(tls_bind_open(g->bind, &g->io, 1), 0);
}

static unused int
bind_rig_says(const struct bind_rig *g, const char *text)
{
	for (unsigned int i = 0; i < g->diag.nentry; i++)
		if (strstr(g->diag.entry[i].text, text))
			return 1;
	return 0;
}

static void
note_subject(struct bind_rig *g)
{
	X509 *x = SSL_get1_peer_certificate(g->ssl);

	assert_non_null(x);
	(void)X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, g->subject,
		sizeof(g->subject));
	X509_free(x);
}

/* A handshake with a client that asks for `name` (NULL: for none). Returns the subject. */
static unused const char *
bind_rig_meet(struct bind_rig *g, const char *name, SSL_SESSION *session)
{
	SSL *server = SSL_new(g->bind->acceptor[0].ctx[0]);
	BIO *a, *b;

	SSL_free(g->ssl);
	g->ssl = SSL_new(g->client);
	g->subject[0] = '\0';
	assert_int_equal(BIO_new_bio_pair(&a, 1 << 16, &b, 1 << 16), 1);
	SSL_set_bio(server, a, a);
	SSL_set_bio(g->ssl, b, b);
	SSL_set_accept_state(server);
	SSL_set_connect_state(g->ssl);
	if (name)
		SSL_set_tlsext_host_name(g->ssl, name);
	if (session)
		SSL_set_session(g->ssl, session);
	for (int i = 0; i < 10; i++) {
		char byte;

		(void)SSL_do_handshake(g->ssl);
		(void)SSL_do_handshake(server);
		if (SSL_is_init_finished(g->ssl) && SSL_is_init_finished(server))
			(void)SSL_read(g->ssl, &byte, 1); /* tickets */
	}
	if (SSL_is_init_finished(g->ssl) && SSL_is_init_finished(server))
		note_subject(g);
	(void)SSL_shutdown(server);
	SSL_set_shutdown(g->ssl, SSL_SENT_SHUTDOWN);
	SSL_free(server);
	ERR_clear_error();
	return g->subject;
}

#endif
