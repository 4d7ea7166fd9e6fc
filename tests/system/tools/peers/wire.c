#include "wire.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

struct wire {
	SSL *ssl;
	size_t again; /* length of the write that has to be repeated; 0: none */
	uint64_t chance;
	bool read_waits, write_waits, is_up;
};

struct wire_tally wire_tally;

static SSL_CTX *ctx[2]; /* of clients, of servers */
static enum wire_versions versions[2];
/* The last sessions of clients: TLS 1.2, TLS 1.3. */
static SSL_SESSION *session[2];
static char why[256];

static int
on_session(SSL *ssl, SSL_SESSION *s)
{
	int is_13 = SSL_version(ssl) == TLS1_3_VERSION;

	SSL_SESSION_free(session[is_13]);
	session[is_13] = s;
	return 1;
}

int
wire_set_up(enum wire_versions v, const char *pem)
{
	SSL_CTX *c = SSL_CTX_new(pem ? TLS_server_method() : TLS_client_method());

	if (!c || (pem && (SSL_CTX_use_certificate_chain_file(c, pem) != 1 ||
			SSL_CTX_use_PrivateKey_file(c, pem, SSL_FILETYPE_PEM) != 1))) {
		ERR_print_errors_fp(stderr);
		SSL_CTX_free(c);
		return -1;
	}
	SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	if (!pem) {
		SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_CLIENT |
			SSL_SESS_CACHE_NO_INTERNAL);
		SSL_CTX_sess_set_new_cb(c, on_session);
	} else {
		SSL_CTX_set_session_id_context(c, (const unsigned char *)"peers", 5);
	}
	if (v == WIRE_TLS12)
		SSL_CTX_set_max_proto_version(c, TLS1_2_VERSION);
	if (v == WIRE_TLS13)
		SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION);
	ctx[pem != NULL] = c;
	versions[pem != NULL] = v;
	return 0;
}

static void
choose(struct wire *w, bool accepts)
{
	bool is_12 = versions[accepts] == WIRE_TLS12;

	if (versions[accepts] == WIRE_BOTH && w->chance % 3 == 0) {
		SSL_set_max_proto_version(w->ssl, TLS1_2_VERSION);
		is_12 = true;
	}
	if (!accepts && session[!is_12] && w->chance / 3 % 4)
		SSL_set_session(w->ssl, session[!is_12]);
}

struct wire *
wire_new(int fd, bool accepts, uint64_t chance)
{
	struct wire *w;

	if (!ctx[accepts])
		return NULL;
	w = calloc(1, sizeof(*w));
	if (!w || !(w->ssl = SSL_new(ctx[accepts])) || !SSL_set_fd(w->ssl, fd))
		abort();
	w->chance = chance;
	choose(w, accepts);
	if (accepts)
		SSL_set_accept_state(w->ssl);
	else
		SSL_set_connect_state(w->ssl);
	return w;
}

void
wire_free(struct wire *w)
{
	if (!w)
		return;
	/* Otherwise OpenSSL forgets the session of a connection that was reset. */
	SSL_set_shutdown(w->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(w->ssl);
	free(w);
}

static void
note_up(struct wire *w)
{
	if (w->is_up || !SSL_is_init_finished(w->ssl))
		return;
	w->is_up = true;
	wire_tally.handshakes++;
	wire_tally.resumed += SSL_session_reused(w->ssl) == 1;
	wire_tally.tls12 += SSL_version(w->ssl) == TLS1_2_VERSION;
}

/* The result of a call that did not succeed: as recv() and send(), with errno. */
static ssize_t
failed(struct wire *w, int ret, int saved_errno)
{
	switch (SSL_get_error(w->ssl, ret)) {
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	case SSL_ERROR_WANT_READ:
		w->write_waits = true;
		errno = EAGAIN;
		return -1;
	case SSL_ERROR_WANT_WRITE:
		w->read_waits = true;
		errno = EAGAIN;
		return -1;
	case SSL_ERROR_SYSCALL:
		errno = saved_errno ? saved_errno : EPROTO;
		break;
	default:
		errno = ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING
			? EPROTO : EBADMSG;
		ERR_error_string_n(ERR_peek_error(), why, sizeof(why));
	}
	saved_errno = errno;
	ERR_clear_error();
	errno = saved_errno;
	return -1;
}

ssize_t
wire_recv(struct wire *w, int fd, void *buf, size_t n)
{
	size_t got;
	int ret;

	if (!w)
		return recv(fd, buf, n, 0);
	errno = 0;
	w->read_waits = false;
	ret = SSL_read_ex(w->ssl, buf, n, &got);
	note_up(w);
	if (ret == 1)
		return (ssize_t)got;
	ret = (int)failed(w, ret, errno);
	w->write_waits = false;
	return ret;
}

/* Every now and then both sides' keys change. */
static void
update_keys(struct wire *w)
{
	w->chance = w->chance * 6364136223846793005u + 1442695040888963407u;
	if (w->again || !w->is_up || SSL_version(w->ssl) != TLS1_3_VERSION || w->chance >> 61)
		return;
	wire_tally.updates += (uint64_t)SSL_key_update(w->ssl, w->chance >> 60 & 1
		? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED);
}

ssize_t
wire_send(struct wire *w, int fd, const void *buf, size_t n)
{
	size_t put;
	int ret, saved;

	if (!w)
		return send(fd, buf, n, MSG_NOSIGNAL);
	update_keys(w);
	errno = 0;
	w->write_waits = false;
	ret = SSL_write_ex(w->ssl, buf, n, &put);
	note_up(w);
	w->again = 0;
	if (ret == 1)
		return (ssize_t)put;
	saved = errno;
	ret = (int)failed(w, ret, saved);
	/* The peer sent the closing message before, and is gone. */
	if (ret == 0) {
		errno = saved ? saved : EPIPE;
		return -1;
	}
	if (errno == EAGAIN)
		w->again = n;
	w->read_waits = false;
	return ret;
}

size_t
wire_again(const struct wire *w)
{
	return w ? w->again : 0;
}

int
wire_end(struct wire *w)
{
	int ret;

	if (!w)
		return 0;
	errno = 0;
	ret = SSL_shutdown(w->ssl);
	return ret >= 0 ? 0 : (int)failed(w, ret, errno);
}

bool
wire_has_more(const struct wire *w)
{
	return w && SSL_pending(w->ssl) > 0;
}

bool
wire_read_waits(const struct wire *w)
{
	return w && w->read_waits;
}

bool
wire_write_waits(const struct wire *w)
{
	return w && w->write_waits;
}

const char *
wire_why(void)
{
	return why;
}
