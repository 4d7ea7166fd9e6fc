/* A connection with TLS on the fake kernel, and its peer: OpenSSL over memory. */
#ifndef TACIT_UNIT_TLS_TRANSPORT_RIG_H
#define TACIT_UNIT_TLS_TRANSPORT_RIG_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "fake/kernel.h"
#include "net/xprt.h"
#include "tls/openssl.h"
#include "tls/tls_io.h"
#include "tls/transport.h"
#include "unit/test.h"

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

#endif
