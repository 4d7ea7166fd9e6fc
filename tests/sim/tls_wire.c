#include "sim/tls_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "tls/openssl.h"

#define CHUNK  4096
#define RECORD 4096 /* payload of a record */

struct tls_wire {
	struct wire wire;
	struct tls_sides *of;
	SSL *ssl;
	BIO *in, *out;
	unsigned int sent;
	int is_cut; /* a FIN, or an error */
	int sent_end;
};

/* Contexts of the program: they outlive its worlds. */
static SSL_CTX *accepts, *connects, *peer_client, *peer_server;

/* --- contexts --- */

static void
certify(SSL_CTX *ctx, EVP_PKEY *key)
{
	X509 *x = X509_new();
	X509_NAME *name = X509_get_subject_name(x);

	(void)ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
	(void)X509_gmtime_adj(X509_getm_notBefore(x), -3600);
	(void)X509_gmtime_adj(X509_getm_notAfter(x), 86400);
	(void)X509_set_pubkey(x, key);
	(void)X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"t", -1, -1, 0);
	(void)X509_set_issuer_name(x, name);
	if (X509_sign(x, key, NULL) <= 0 || SSL_CTX_use_certificate(ctx, x) != 1 ||
		SSL_CTX_use_PrivateKey(ctx, key) != 1)
		abort();
	X509_free(x);
}

static int
on_session(SSL *ssl, SSL_SESSION *s)
{
	struct tls_sides *t = SSL_get_app_data(ssl);

	SSL_SESSION_free(t->session);
	t->session = s;
	return 1;
}

static void
free_contexts(void)
{
	SSL_CTX_free(accepts);
	SSL_CTX_free(connects);
	SSL_CTX_free(peer_client);
	SSL_CTX_free(peer_server);
}

static void
make_contexts(void)
{
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");

	accepts = SSL_CTX_new(TLS_server_method());
	connects = SSL_CTX_new(TLS_client_method());
	peer_client = SSL_CTX_new(TLS_client_method());
	peer_server = SSL_CTX_new(TLS_server_method());
	if (!key || !accepts || !connects || !peer_client || !peer_server)
		abort();
	certify(accepts, key);
	certify(peer_server, key);
	EVP_PKEY_free(key);
	SSL_CTX_set_session_cache_mode(peer_client,
		SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(peer_client, on_session);
	(void)atexit(free_contexts);
}

int
tls_sides_open(struct tls_sides *t)
{
	int reason;

	fake_memory_is_ours++;
	if (!accepts)
		make_contexts();
	fake_memory_is_ours--;
	memset(t, 0, sizeof(*t));
	t->io = tls_io_new(&reason);
	if (!t->io || tls_maker_init(&t->accepts, t->io, accepts, TLS_ACCEPTS) < 0 ||
		tls_maker_init(&t->connects, t->io, connects, TLS_CONNECTS) < 0)
		return -1;
	return 0;
}

void
tls_sides_close(struct tls_sides *t)
{
	if (!t->io)
		return;
	SSL_SESSION_free(t->session);
	tls_maker_fini(&t->accepts);
	tls_maker_fini(&t->connects);
	tls_io_free(&t->io);
}

/* --- ends --- */

static struct tls_wire *
tls_wire_of(struct wire *w)
{
	return container_of(w, struct tls_wire, wire);
}

/* Moves the bytes that OpenSSL has written: 1 when none are left. */
static int
move_out(struct tls_wire *t, struct fake_sock *s)
{
	char buf[CHUNK], *p;

	while (BIO_pending(t->out) > 0) {
		long n = MIN(BIO_get_mem_data(t->out, &p), CHUNK);
		long r = fake_peer_send(s, p, (size_t)n);

		t->is_cut |= r < 0 && r != -EAGAIN;
		if (r <= 0)
			return 0;
		(void)BIO_read(t->out, buf, (int)r);
	}
	return 1;
}

/* The socket's bytes: 1, or 0 and none came; -errno. */
static long
move_in(struct tls_wire *t, struct fake_sock *s)
{
	char buf[CHUNK];
	long r = fake_peer_recv(s, buf, sizeof(buf));

	if (r > 0)
		return BIO_write(t->in, buf, (int)r) == r;
	if (r == -EAGAIN)
		return 0;
	t->is_cut = 1;
	return r == 0 ? -EPROTO : r;
}

/* Continues the handshake of an end, even if it reads no data. */
static void
shake(struct tls_wire *t, struct fake_sock *s)
{
	while (!SSL_is_init_finished(t->ssl) && !t->is_cut) {
		int r = SSL_do_handshake(t->ssl);

		if (r != 1)
			t->is_cut = SSL_get_error(t->ssl, r) != SSL_ERROR_WANT_READ;
		ERR_clear_error();
		(void)move_out(t, s);
		if (r == 1 || move_in(t, s) <= 0)
			return;
	}
}

static int
tls_wire_flush(struct wire *w, struct fake_sock *s)
{
	struct tls_wire *t = tls_wire_of(w);

	fake_memory_is_ours++;
	shake(t, s);
	fake_memory_is_ours--;
	return move_out(t, s);
}

static long
tls_wire_recv(struct wire *w, struct fake_sock *s, void *buf, size_t len)
{
	struct tls_wire *t = tls_wire_of(w);
	long r;

	fake_memory_is_ours++;
	for (;;) {
		int err;

		r = SSL_read(t->ssl, buf, (int)len);
		err = SSL_get_error(t->ssl, (int)r);
		ERR_clear_error();
		(void)move_out(t, s);
		if (r > 0)
			break;
		r = err == SSL_ERROR_ZERO_RETURN ? 0 : -EPROTO;
		if (err != SSL_ERROR_WANT_READ)
			break;
		r = move_in(t, s);
		if (r == 0)
			r = -EAGAIN;
		if (r < 0)
			break;
	}
	fake_memory_is_ours--;
	t->is_cut |= r == -EPROTO;
	return r;
}

static long
tls_wire_send(struct wire *w, struct fake_sock *s, const void *buf, size_t len)
{
	struct tls_wire *t = tls_wire_of(w);
	unsigned int every = t->of->update_every;
	int n;

	if (!tls_wire_flush(w, s) || !SSL_is_init_finished(t->ssl))
		return t->is_cut || (fake_peer_poll(s) & (EPOLLERR | EPOLLHUP)) ? -EPIPE : -EAGAIN;
	fake_memory_is_ours++;
	if (every && ++t->sent % every == 0 && SSL_version(t->ssl) == TLS1_3_VERSION)
		(void)SSL_key_update(t->ssl, SSL_KEY_UPDATE_REQUESTED);
	n = SSL_write(t->ssl, buf, (int)MIN(len, (size_t)RECORD));
	ERR_clear_error();
	(void)move_out(t, s);
	fake_memory_is_ours--;
	return n > 0 ? n : -EPIPE;
}

static int
tls_wire_end(struct wire *w, struct fake_sock *s)
{
	struct tls_wire *t = tls_wire_of(w);
	/* A handshake is not broken off by what ends well. */
	if (!tls_wire_flush(w, s) || !SSL_is_init_finished(t->ssl))
		return t->is_cut || (fake_peer_poll(s) & (EPOLLERR | EPOLLHUP));
	fake_memory_is_ours++;
	if (!t->sent_end)
		(void)SSL_shutdown(t->ssl);
	ERR_clear_error();
	t->sent_end = 1;
	fake_memory_is_ours--;
	return move_out(t, s);
}

static void
tls_wire_free(struct wire *w)
{
	struct tls_wire *t = tls_wire_of(w);

	SSL_free(t->ssl);
	free(t);
}

static const struct wire_ops tls_wire_ops = {
	tls_wire_send, tls_wire_recv, tls_wire_flush, tls_wire_end, tls_wire_free,
};

struct wire *
tls_wire_new(struct tls_sides *sides, int is_client)
{
	struct tls_wire *t;

	fake_memory_is_ours++;
	t = calloc(1, sizeof(*t));
	if (!t)
		abort();
	t->wire.ops = &tls_wire_ops;
	t->of = sides;
	t->ssl = SSL_new(is_client ? peer_client : peer_server);
	t->in = BIO_new(BIO_s_mem());
	t->out = BIO_new(BIO_s_mem());
	if (!t->ssl || !t->in || !t->out)
		abort();
	BIO_set_mem_eof_return(t->in, -1);
	SSL_set_bio(t->ssl, t->in, t->out);
	SSL_set_app_data(t->ssl, sides);
	if (sides->max_12)
		SSL_set_max_proto_version(t->ssl, TLS1_2_VERSION);
	if (is_client) {
		SSL_set_connect_state(t->ssl);
		if (sides->session)
			SSL_set_session(t->ssl, sides->session);
	} else {
		SSL_set_accept_state(t->ssl);
	}
	fake_memory_is_ours--;
	return &t->wire;
}

int
tls_wire_is_shaken(const struct wire *w)
{
	return SSL_is_init_finished(container_of(w, const struct tls_wire, wire)->ssl);
}

int
tls_wire_is_resumed(const struct wire *w)
{
	return SSL_session_reused(container_of(w, const struct tls_wire, wire)->ssl);
}
