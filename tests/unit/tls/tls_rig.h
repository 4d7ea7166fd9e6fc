/*
 * For tests of tls: a bind line with certificates (identity.h) in files and a client of it in
 * memory (bind_rig_*), a connection with TLS on the fake kernel with its peer, OpenSSL over memory
 * (struct rig), and a dialogue over it (dialogue_*). Users: tests of tls, fuzz_tls.c.
 */
#ifndef TESTS_UNIT_TLS_RIG_H
#define TESTS_UNIT_TLS_RIG_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"
#include "fake/kernel.h"
#include "net/xprt.h"
#include "tls/bind.h"
#include "tls/cert.h"
#include "tls/context.h"
#include "tls/openssl.h"
#include "tls/tls_conf.h"
#include "tls/tls_io.h"
#include "tls/transport.h"
#include "unit/test.h"
#include "unit/tls/identity.h"

/* --- a bind line --- */

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

static inline void
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

static inline void
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

static inline const char *
bind_rig_path(struct bind_rig *g, const char *name)
{
	snprintf(g->path, sizeof(g->path), "%s/%s", g->dir, name);
	return g->path;
}

static inline void
bind_rig_write(struct bind_rig *g, const char *name, const char *text)
{
	FILE *f = fopen(bind_rig_path(g, name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A certificate with its key, signed by the rig's CA. */
static inline void
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

static inline void
bind_rig_source(struct bind_rig *g, enum tls_source_kind kind, const char *name)
{
	struct tls_source *s = mem_zalloc(sizeof(*s));

	assert_non_null(s);
	s->kind = kind;
	s->path = mem_strdup(bind_rig_path(g, name));
	list_append(&g->bind->sources, &s->link);
}

static inline void
bind_rig_set(struct bind_rig *g, const char *name, const char *arg)
{
	char why[TLS_WHY_MAX];

	assert_true(tls_settings_set(&g->bind->set, TLS_AT_BIND, name, arg, why) >= 0);
}

static inline int
bind_rig_try_load(struct bind_rig *g)
{
	struct tls_bind_use use = { .proxy = "px", .address = "1.2.3.4:5" };
	char why[TLS_WHY_MAX];

	assert_int_equal(tls_conf_finish(&g->conf, &g->sys, why), 0);
	return tls_bind_load(g->bind, &g->conf, &use, &g->sys, &g->diag);
}

static inline void
bind_rig_load(struct bind_rig *g)
{
	if (bind_rig_try_load(g))
		fail_msg("%s", g->diag.nentry ? g->diag.entry[0].text : "no message");
	assert_int_equal(tls_bind_open(g->bind, &g->io, 1), 0);
}

static inline int
bind_rig_says(const struct bind_rig *g, const char *text)
{
	for (unsigned int i = 0; i < g->diag.nentry; i++)
		if (strstr(g->diag.entry[i].text, text))
			return 1;
	return 0;
}

static inline void
note_subject(struct bind_rig *g)
{
	X509 *x = SSL_get1_peer_certificate(g->ssl);

	assert_non_null(x);
	(void)X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, g->subject,
		sizeof(g->subject));
	X509_free(x);
}

/* A handshake with a client that asks for `name` (NULL: for none). Returns the subject. */
static inline const char *
bind_rig_meet(struct bind_rig *g, const char *name, SSL_SESSION *session)
{
	SSL *server = SSL_new(g->bind->acceptor[0].ctx[0]);
	BIO *a, *b;

	SSL_free(g->ssl);
	g->ssl = SSL_new(g->client);
	g->subject[0] = '\0';
	assert_int_equal(BIO_new_bio_pair(&a, 1 << 16, &b, 1 << 16), 1);
	SSL_set_bio(server, a, a);
	/* The callback of capture.c expects the BIO of transport.c. */
	SSL_set_msg_callback(server, NULL);
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

/* --- a connection and its peer --- */

#define RIG_PORT 2000

struct rig {
	struct fake *k;
	struct sys sys;
	struct loop *loop;
	struct fake_sock *origin, *sock; /* sock: the peer's */
	struct tls_io *io;
	struct tls_maker maker;
	struct conn c;
	uint32_t seen;
	SSL_CTX *server_ctx, *client_ctx; /* of the peer, too, but for connect_ctx */
	SSL_CTX *connect_ctx;
	int keeps_maker; /* the next connection is made by the same */
	/* The peer. */
	SSL *peer;
	BIO *to_peer, *from_peer;
	int peer_eof;
	uint64_t torture;  /* this call of the daemon's fails from its connection on; 0: none */
	unsigned int torture_errno;
	size_t piece;      /* bytes that it sends at a time; 0: all */
};

static inline void
rig_on_io(void *owner, int fd, uint32_t ev)
{
	struct rig *g = owner;

	assert_int_equal(fd, g->c.fd);
	g->seen |= ev;
}

static inline void
rig_certify(SSL_CTX *ctx, EVP_PKEY *key)
{
	X509 *x = X509_new();
	X509_NAME *name = X509_get_subject_name(x);

	assert_non_null(key);
	ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
	X509_gmtime_adj(X509_getm_notBefore(x), 0);
	X509_gmtime_adj(X509_getm_notAfter(x), 3600);
	X509_set_pubkey(x, key);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"t", -1, -1, 0);
	X509_set_issuer_name(x, name);
	assert_true(X509_sign(x, key, EVP_sha256()) > 0);
	assert_int_equal(SSL_CTX_use_certificate(ctx, x), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
	X509_free(x);
	EVP_PKEY_free(key);
}

static inline void
rig_open(struct rig *g, unsigned int buffers)
{
	struct loop_config cfg = { .poller = &poller_epoll, .mode = INTEREST_EDGE, .max_fd = 64,
				   .max_events = 16, .lazy = 1 };
	int reason;

	memset(g, 0, sizeof(*g));
	conn_init(&g->c);
	g->k = fake_new();
	if (buffers)
		fake_set_buffers(g->k, buffers, buffers);
	sys_init(&g->sys, &sys_fake, g->k);
	g->loop = loop_new(&g->sys, &cfg, &reason);
	assert_non_null(g->loop);
	g->origin = fake_origin(g->k, RIG_PORT, 8);
	g->io = tls_io_new(&reason);
	assert_non_null(g->io);
	g->server_ctx = SSL_CTX_new(TLS_server_method());
	g->client_ctx = SSL_CTX_new(TLS_client_method());
	g->connect_ctx = SSL_CTX_new(TLS_client_method());
	rig_certify(g->server_ctx, EVP_EC_gen("P-256"));
}

static inline void
rig_disconnect(struct rig *g)
{
	conn_close(&g->c);
	SSL_free(g->peer);
	g->peer = NULL;
	if (g->sock)
		fake_peer_close(g->sock);
	g->sock = NULL;
	g->peer_eof = 0;
	(void)fake_run_due(g->k);
}

static inline void
rig_close(struct rig *g)
{
	rig_disconnect(g);
	tls_maker_fini(&g->maker);
	tls_io_free(&g->io);
	SSL_CTX_free(g->server_ctx);
	SSL_CTX_free(g->client_ctx);
	SSL_CTX_free(g->connect_ctx);
	assert_int_equal(loop_fds(g->loop), 0);
	loop_free(&g->loop);
	fake_free(&g->k);
	assert_int_equal(ERR_peek_error(), 0);
}

/* A connection between the daemon's side, in that role, and the peer. 0 or a negative reason. */
static inline int
rig_connect(struct rig *g, enum tls_role role, void (*on_daemon)(int))
{
	struct addr a = { .len = sizeof(a.u.in) };
	long fd = sys_socket(&g->sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int r = 0;

	a.u.in.sin_family = AF_INET;
	a.u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.u.in.sin_port = htons(RIG_PORT);
	assert_int_equal(sys_connect(&g->sys, (int)fd, &a.u.sa, a.len), -EINPROGRESS);
	(void)fake_run_due(g->k);
	g->sock = fake_origin_accept(g->origin);
	assert_non_null(g->sock);
	g->seen = 0;
	if (g->torture)
		fake_torture(g->k, fake_calls(g->k) + g->torture, g->torture_errno);
	if (on_daemon)
		on_daemon(1);
	if (!g->keeps_maker || !g->maker.ctx) {
		tls_maker_fini(&g->maker);
		r = tls_maker_init(&g->maker, g->io,
			role == TLS_ACCEPTS ? g->server_ctx : g->connect_ctx, role);
	}
	if (r == 0)
		r = conn_open_xprt(&g->c, g->loop, (int)fd, rig_on_io, g, CONN_TCP,
			&g->maker.maker);
	if (on_daemon)
		on_daemon(0);
	if (r < 0) {
		(void)sys_close(&g->sys, (int)fd);
		return r;
	}
	g->peer = SSL_new(role == TLS_ACCEPTS ? g->client_ctx : g->server_ctx);
	SSL_set_msg_callback(g->peer, NULL); /* as above */
	g->to_peer = BIO_new(BIO_s_mem());
	g->from_peer = BIO_new(BIO_s_mem());
	BIO_set_mem_eof_return(g->to_peer, -1);
	SSL_set_bio(g->peer, g->to_peer, g->from_peer);
	if (role == TLS_ACCEPTS)
		SSL_set_connect_state(g->peer);
	else
		SSL_set_accept_state(g->peer);
	return 0;
}

/* Moves bytes from the peer's memory to its socket. */
static inline void
rig_peer_say(struct rig *g)
{
	char buf[4096];
	long r;

	while (BIO_pending(g->from_peer) > 0) {
		char *p;
		long n = BIO_get_mem_data(g->from_peer, &p);

		r = fake_peer_send(g->sock, p, g->piece ? MIN((size_t)n, g->piece) : (size_t)n);
		if (r <= 0)
			break;
		(void)BIO_read(g->from_peer, buf, (int)MIN((size_t)r, sizeof(buf)));
		for (long left = r - (long)sizeof(buf); left > 0; left -= (long)sizeof(buf))
			(void)BIO_read(g->from_peer, buf, (int)MIN((size_t)left, sizeof(buf)));
		if (g->piece)
			break;
	}
}

/* The same in both directions. */
static inline void
rig_peer_move(struct rig *g)
{
	char buf[4096];
	long r;

	while ((r = fake_peer_recv(g->sock, buf, sizeof(buf))) > 0)
		BIO_write(g->to_peer, buf, (int)r);
	if (r == 0 && !g->peer_eof) {
		g->peer_eof = 1;
		BIO_set_mem_eof_return(g->to_peer, 0);
	}
	rig_peer_say(g);
}

static inline void
rig_turn(struct rig *g)
{
	assert_int_equal(loop_turn(g->loop, 1), 0);
}

/* --- a dialogue: the peer sends a request and ends, the daemon's side answers and ends --- */

struct dialogue {
	enum tls_role role;     /* of the daemon's side */
	const char *name;       /* of the server, asked for; NULL: none */
	size_t request, answer; /* lengths */
	size_t read_len;        /* of each conn_recv() */
	size_t write_len;       /* of each conn_send() */
	void (*on_daemon)(int); /* 1: the daemon's side runs from now on; 0: not */
	int uses_more;          /* the last conn_send() announces the FIN */
	/* The result. */
	size_t heard, told;     /* bytes of the request, and of the answer that the peer has read */
	size_t written;         /* bytes of the answer that conn_send() has accepted */
	int is_up, eof, failed, shut;
	int peer_ended;         /* it has read the closing message */
	size_t peer_sent;
	int peer_said_end;
};

static inline char
dialogue_byte(size_t at)
{
	return (char)(at * 31 + at / 251);
}

static inline void
dialogue_check(const char *p, size_t at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(p[i], dialogue_byte(at + i));
}

static inline void
dialogue_fill(char *p, size_t at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = dialogue_byte(at + i);
}

static inline void
dialogue_peer(struct rig *g, struct dialogue *d)
{
	char buf[3000];
	int n;

	rig_peer_move(g);
	if (!SSL_is_init_finished(g->peer))
		(void)SSL_do_handshake(g->peer);
	if (SSL_is_init_finished(g->peer) && d->peer_sent < d->request) {
		n = (int)MIN(sizeof(buf), d->request - d->peer_sent);
		dialogue_fill(buf, d->peer_sent, (size_t)n);
		if (BIO_pending(g->from_peer) < 40000 && SSL_write(g->peer, buf, n) == n)
			d->peer_sent += (size_t)n;
	} else if (SSL_is_init_finished(g->peer) && !d->peer_said_end) {
		d->peer_said_end = 1;
		(void)SSL_shutdown(g->peer);
	}
	while ((n = SSL_read(g->peer, buf, sizeof(buf))) > 0) {
		assert_true(d->told + (size_t)n <= d->answer);
		dialogue_check(buf, d->told, (size_t)n);
		d->told += (size_t)n;
	}
	if (SSL_get_error(g->peer, n) == SSL_ERROR_ZERO_RETURN)
		d->peer_ended = 1;
	ERR_clear_error();
	rig_peer_move(g);
}

static inline void
dialogue_read(struct rig *g, struct dialogue *d)
{
	char buf[20000];
	size_t got;

	while (!d->eof && !d->failed && conn_is_ready(&g->c, DIR_R)) {
		enum io_result r = conn_recv(&g->c, buf, MIN(d->read_len, sizeof(buf)), &got);

		d->is_up |= r == IO_OK || r == IO_EOF;
		d->eof = g->c.eof;
		d->failed = r == IO_ERR;
		if (r != IO_OK)
			return;
		assert_true(got > 0 && d->heard + got <= d->request);
		dialogue_check(buf, d->heard, got);
		d->heard += got;
	}
}

/* The answer begins when the request is whole. */
static inline void
dialogue_write(struct rig *g, struct dialogue *d)
{
	char buf[70000];

	while (d->heard == d->request && d->written < d->answer && !d->failed &&
		conn_is_ready(&g->c, DIR_W)) {
		size_t n = MIN(MIN(d->write_len, sizeof(buf)), d->answer - d->written), put;
		enum io_result r;

		dialogue_fill(buf, d->written, n);
		r = conn_send(&g->c, buf, n, d->uses_more && d->written + n == d->answer, &put);
		d->failed = r == IO_ERR;
		if (r != IO_OK)
			return;
		assert_true(put > 0 && put <= n);
		d->written += put;
	}
	if (d->written == d->answer && !d->shut && !d->failed) {
		d->shut = 1;
		conn_shut(&g->c);
	}
}

static inline void
dialogue_daemon(struct rig *g, struct dialogue *d)
{
	if (d->on_daemon)
		d->on_daemon(1);
	if (!d->failed) {
		dialogue_read(g, d);
		dialogue_write(g, d);
	}
	if (!d->failed) {
		int writes = d->heard == d->request && d->written < d->answer;

		conn_want(&g->c, (d->eof ? 0 : EV_R) | (writes ? EV_W : 0));
		(void)!loop_turn(g->loop, 1);
	}
	if (d->failed)
		conn_close(&g->c);
	if (d->on_daemon)
		d->on_daemon(0);
}

/* Runs it for at most so many turns. */
static inline void
dialogue_run(struct rig *g, struct dialogue *d, unsigned int turns)
{
	if (rig_connect(g, d->role, d->on_daemon) < 0) {
		d->failed = 1;
		return;
	}
	if (d->name)
		assert_int_equal(conn_set_name(&g->c, d->name), 0);
	for (unsigned int i = 0; i < turns && !(d->failed || (d->eof && d->peer_ended)); i++) {
		dialogue_peer(g, d);
		dialogue_daemon(g, d);
	}
	for (int i = 0; i < 3; i++)
		dialogue_peer(g, d);
}

static inline void
dialogue_must_be_whole(const struct dialogue *d)
{
	assert_int_equal(d->heard, d->request);
	assert_int_equal(d->told, d->answer);
	assert_true(d->eof);
	assert_true(d->peer_ended);
	assert_false(d->failed);
}

#endif
