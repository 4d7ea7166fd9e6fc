/* The operations of the transport, on the worker of the connection. Each is one operation of
 * tls_counts.h: at most one send() at its end, and no call into OpenSSL after it has failed
 * once. */
#include "tls/transport.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "net/conn_err.h"
#include "net/xprt.h"
#include "resume.h"
#include "tls/capture.h"
#include "tls/openssl.h"
#include "tls/tls_counts.h"
#include "tls/conn_info.h"

/* Records are small until the transfer is this long: the client can decrypt what has come. */
#define SMALL_RECORD 4096
#define SMALL_UNTIL  65536
/* Idle time after which records are small again. */
#define SMALL_AGAIN_MS 1000
/* Sessions that a worker keeps of a server: of names, and of what checks do. */
#define SERVER_SESSIONS 8

/* Returns the failure of a handshake, in HAProxy's words: either the peer left before it sent a
 * complete message, or another error. */
static enum conn_err
failure_of(const struct tls *t, int has_left)
{
	if (SSL_get_verify_result(t->ssl) == X509_V_ERR_HOSTNAME_MISMATCH)
		return SSL_get_servername(t->ssl, TLSEXT_NAMETYPE_host_name) ? CONN_ERR_TLS_NAME
									     : CONN_ERR_TLS_HOST;
	return has_left ? CONN_ERR_TLS_CLOSED : CONN_ERR_TLS_FAILED;
}

/* --- bytes of the socket --------------------------------------------------------------------- */

/*
 * The BIO of a worker's transports and the bytes that are saved between two operations. On the
 * worker; between operations no pointer into the shared buffers is left.
 */

/* Reads of the socket in one operation: more would keep other connections waiting. */
#define READS_MAX 4

/* --- saved bytes --- */

static void
drop_kept(struct tls_io *io, struct tls_kept **k)
{
	if (*k)
		counter_sub(&io->counts.kept, (*k)->len);
	mem_free(*k);
	*k = NULL;
}

static void
tls_drop_kept(struct tls *t)
{
	drop_kept(t->io, &t->in);
	drop_kept(t->io, &t->out);
}

/* Bytes that were taken are no longer saved. */
static void
forget_taken(struct tls_io *io, struct tls_kept *k)
{
	counter_sub(&io->counts.kept, k->at);
	k->len -= k->at;
	memmove(k->bytes, k->bytes + k->at, k->len);
	k->at = 0;
}

/* Appends to the saved bytes. 0, or -ERR_NOMEM and no byte is lost. */
static int
keep_more(struct tls_io *io, struct tls_kept **k, const void *p, size_t n)
{
	struct tls_kept *grown;
	size_t old = 0;

	if (*k) {
		forget_taken(io, *k);
		old = (*k)->len;
	}
	grown = mem_resize(*k, 1, sizeof(**k) + old + n);
	if (!grown)
		return -ERR_NOMEM;
	grown->at = 0;
	memcpy(grown->bytes + old, p, n);
	grown->len = (uint32_t)(old + n);
	*k = grown;
	counter_add(&io->counts.kept, n);
	return 0;
}

static enum io_result
no_memory(struct tls *t, struct conn *c)
{
	t->has_failed = 1;
	t->x.failure = CONN_ERR_TLS_NOMEM;
	conn_failed(c, -ENOMEM);
	return IO_ERR;
}

/* --- reading --- */

/* Reads the socket: 1, or 0 with the result in in_result. */
static int
read_socket(struct tls_io *io)
{
	struct tls *t = io->cur;
	size_t got;

	io->in_result = IO_AGAIN;
	if (!io->reads)
		return 0;
	io->reads--;
	/* The saved bytes have been taken: p may have pointed there. */
	drop_kept(t->io, &t->in);
	io->in_result = conn_sock_recv(io->conn, io->in, io->read_max, &got);
	if (t->x.drained && !t->x.ended)
		io->reads = 0;
	/* The peer has left before the handshake was answered: no signature is made for it. */
	if (t->x.ended && !t->x.is_up && !io->conn->sends)
		got = 0;
	if (!got && io->in_result == IO_OK)
		io->in_result = IO_EOF;
	io->p = io->in;
	io->n = got;
	return io->in_result == IO_OK;
}

static int
on_bio_read(BIO *bio, char *buf, size_t len, size_t *got)
{
	struct tls_io *io = BIO_get_data(bio);

	*got = 0;
	BIO_clear_retry_flags(bio);
	if (!io->cur || io->cur->is_flooded)
		return 0;
	if (!io->n && !read_socket(io)) {
		if (io->in_result == IO_AGAIN)
			BIO_set_retry_read(bio);
		return 0;
	}
	*got = MIN(len, io->n);
	memcpy(buf, io->p, *got);
	io->p += *got;
	io->n -= *got;
	return 1;
}

/* Saves the input that OpenSSL has not taken: 0 or -ERR_NOMEM. */
static int
keep_input(struct tls *t)
{
	struct tls_io *io = t->io;
	int is_kept = t->in && io->p >= t->in->bytes && io->p <= t->in->bytes + t->in->len;

	if (!io->n)
		drop_kept(t->io, &t->in);
	else if (is_kept)
		t->in->at = (uint32_t)(io->p - t->in->bytes);
	else
		return keep_more(io, &t->in, io->p, io->n);
	return 0;
}

static int
is_whole_record(const uint8_t *p, size_t n)
{
	return n >= 5 && n >= 5 + ((size_t)p[3] << 8 | p[4]);
}

/* True if a whole record has been read and waits. */
static int
tls_has_record(const struct tls *t)
{
	return t->in && is_whole_record(t->in->bytes + t->in->at, t->in->len - t->in->at);
}

/* The same within an operation, of what OpenSSL has not taken yet. */
static int
tls_has_unread_record(const struct tls_io *io)
{
	return is_whole_record(io->p, io->n);
}

/* --- writing --- */

static enum io_result
send_bytes(struct conn *c, const uint8_t *p, size_t n, int more, size_t *put)
{
	if (c->err)
		return IO_ERR;
	*put = 0;
	if (!loop_is_ready(c->loop, c->fd, DIR_W))
		return IO_AGAIN;
	return conn_sock_send(c, p, n, more, put);
}

/* True if more than the user's data and TLS_ANSWERS_MAX waits for the peer: it is not read then,
 * since its messages would cause more answers. */
static int
tls_owes_much(const struct tls *t)
{
	return t->out && t->out->len - t->out->at > TLS_OUT_SIZE + TLS_ANSWERS_MAX;
}

/* Sends what is left of earlier operations: IO_OK, IO_AGAIN or IO_ERR. */
static enum io_result
tls_flush(struct tls *t, struct conn *c, int more)
{
	while (t->out) {
		struct tls_kept *k = t->out;
		size_t put = 0;
		enum io_result r = send_bytes(c, k->bytes + k->at, k->len - k->at, more, &put);

		k->at += (uint32_t)put;
		if (k->at == k->len)
			drop_kept(t->io, &t->out);
		if (r != IO_OK)
			return r;
	}
	return IO_OK;
}

/* Makes room in out for n bytes: 1, or 0 and the socket has to take some first. */
static int
make_room_out(struct tls_io *io, size_t n)
{
	size_t put = 0;

	if (n <= sizeof(io->out) - io->out_len)
		return 1;
	if (tls_flush(io->cur, io->conn, 1) == IO_OK)
		(void)send_bytes(io->conn, io->out, io->out_len, 1, &put);
	io->out_len -= put;
	memmove(io->out, io->out + put, io->out_len);
	return n <= sizeof(io->out) - io->out_len;
}

static int
on_bio_write(BIO *bio, const char *buf, size_t len, size_t *put)
{
	struct tls_io *io = BIO_get_data(bio);
	size_t n = MIN(len, (size_t)TLS_RECORD_WIRE);

	*put = 0;
	BIO_clear_retry_flags(bio);
	if (!io->cur)
		return 0;
	if (!make_room_out(io, n)) {
		if (!io->conn->err)
			BIO_set_retry_write(bio);
		return 0;
	}
	memcpy(io->out + io->out_len, buf, n);
	io->out_len += n;
	*put = n;
	return 1;
}

/* OpenSSL asks to flush after each flight: that is done when it returns. */
static long
on_bio_ctrl(BIO *bio, int cmd, long num, void *arg)
{
	const struct tls_io *io = BIO_get_data(bio);

	(void)num;
	(void)arg;
	switch (cmd) {
	case BIO_CTRL_FLUSH:
	case BIO_CTRL_DUP:
		return 1;
	case BIO_CTRL_EOF:
		return io->cur && io->in_result == IO_EOF;
	default:
		return 0;
	}
}

/* --- operations --- */

/* Begins an operation; read_max: so many bytes of the socket at a time. */
static void
tls_enter(struct tls *t, struct conn *c, size_t read_max)
{
	struct tls_io *io = t->io;

	assert(!io->cur);
	io->cur = t;
	io->conn = c;
	io->p = t->in ? t->in->bytes + t->in->at : io->in;
	io->n = t->in ? t->in->len - t->in->at : 0;
	/* The loop believes that the socket is readable because of bytes in memory. */
	io->reads = t->x.holds && t->x.drained && !t->x.ended ? 0 : READS_MAX;
	io->read_max = MIN(read_max, sizeof(io->in));
	io->in_result = IO_OK;
	io->out_len = 0;
}

/* At the beginning of an operation: bytes that wait leave with those written now. */
static void
tls_take_waiting(struct tls *t)
{
	struct tls_io *io = t->io;

	assert(io->cur == t && !io->out_len);
	if (!t->out || !t->out_waits)
		return;
	io->out_len = t->out->len - t->out->at;
	memcpy(io->out, t->out->bytes + t->out->at, io->out_len);
	drop_kept(t->io, &t->out);
	t->out_waits = 0;
}

/* Sends what was written in this operation. */
static enum io_result
send_output(struct tls *t, struct conn *c, int hold, int more)
{
	struct tls_io *io = t->io;
	enum io_result r = IO_OK;
	size_t put = 0;

	if (!io->out_len)
		return t->out && !t->out_waits ? tls_flush(t, c, more) : IO_OK;
	if (!hold) {
		r = tls_flush(t, c, 1);
		if (r == IO_OK)
			r = send_bytes(c, io->out, io->out_len, more, &put);
		if (r == IO_ERR || put == io->out_len)
			return r;
	}
	t->out_waits = hold && (!t->out || t->out_waits);
	if (keep_more(io, &t->out, io->out + put, io->out_len - put) < 0)
		return no_memory(t, c);
	return t->out_waits ? IO_OK : IO_AGAIN;
}

/* Before it ends, when OpenSSL has failed: sends what it has written, as far as the socket takes
 * it. */
static void
tls_send_alert(struct tls *t, struct conn *c)
{
	struct tls_io *io = t->io;
	size_t put = 0;

	if (io->cur != t || !io->out_len)
		return;
	if (tls_flush(t, c, 1) == IO_OK)
		(void)send_bytes(c, io->out, io->out_len, 0, &put);
	io->out_len = 0;
}

/* Ends it. hold: what was written need not be sent before the next data; more: data or the FIN
 * follows at once. IO_OK: nothing is left to send; IO_AGAIN, or IO_ERR. */
static enum io_result
tls_leave(struct tls *t, struct conn *c, int hold, int more)
{
	struct tls_io *io = t->io;
	enum io_result r = send_output(t, c, hold, more);

	assert(io->cur == t);
	if (keep_input(t) < 0)
		r = no_memory(t, c);
	io->cur = NULL;
	io->conn = NULL;
	return r;
}

/* Takes OpenSSL's errors off its queue and keeps the first. */
static void
tls_note_failure(struct tls *t)
{
	unsigned long e = ERR_peek_error();

	if (!t->failure)
		t->failure = e;
	ERR_clear_error();
}

int
tls_bio_open(struct tls_io *io)
{
	io->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "tacit");
	if (io->method && BIO_meth_set_read_ex(io->method, on_bio_read) &&
		BIO_meth_set_write_ex(io->method, on_bio_write) &&
		BIO_meth_set_ctrl(io->method, on_bio_ctrl))
		io->bio = BIO_new(io->method);
	if (!io->bio) {
		ERR_clear_error();
		tls_bio_close(io);
		return -ERR_NOMEM;
	}
	BIO_set_data(io->bio, io);
	BIO_set_init(io->bio, 1);
	return 0;
}

void
tls_bio_close(struct tls_io *io)
{
	BIO_free(io->bio);
	BIO_meth_free(io->method);
	io->bio = NULL;
	io->method = NULL;
}

/* --- the transport --------------------------------------------------------------------------- */

static enum io_result
tls_failed(struct tls *t, struct conn *c, int err)
{
	/* OpenSSL has no error of an end that HAProxy takes for a regular one. */
	if (err == ECONNABORTED && t->x.is_up)
		ERR_clear_error();
	tls_note_failure(t);
	t->has_failed = 1;
	if (!t->x.failure)
		t->x.failure = (uint8_t)failure_of(t, err == ECONNABORTED && !c->sends);
	/* Nothing is sent after conn_failed(). */
	if (err != ECONNABORTED)
		tls_send_alert(t, c);
	conn_failed(c, -err);
	return IO_ERR;
}

/* The reason of a call of OpenSSL that did not succeed; dir: the user's direction. */
static enum io_result
why_not(struct tls *t, struct conn *c, int ret, uint8_t *waits)
{
	switch (SSL_get_error(t->ssl, ret)) {
	case SSL_ERROR_WANT_READ:
		*waits = EV_R;
		return IO_AGAIN;
	case SSL_ERROR_WANT_WRITE:
		*waits = EV_W;
		return IO_AGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return IO_EOF;
	default:
		/* An end without the closing message is a truncated stream. */
		return tls_failed(t, c, t->io->in_result == IO_EOF ? ECONNABORTED : EPROTO);
	}
}

/* Sends the saved bytes, before which nothing else may be written. */
static enum io_result
flush_first(struct tls *t, struct conn *c, uint8_t *waits)
{
	enum io_result r;

	if (t->has_failed)
		return IO_ERR;
	if (!t->out || t->out_waits)
		return IO_OK;
	r = tls_flush(t, c, 0);
	if (r == IO_AGAIN)
		*waits = EV_W;
	return r;
}

/* The tickets that a server sends after a handshake of TLS 1.3 leave with its first data if the
 * client's data have come. If not, the client may wait for an acknowledgement before it sends any
 * (Nagle's algorithm), which the kernel delays by 40 ms unless something is sent. */
static int
tickets_can_wait(const struct tls *t)
{
	return SSL_is_server(t->ssl) && SSL_version(t->ssl) == TLS1_3_VERSION &&
		tls_has_unread_record(t->io);
}

static enum io_result
tls_step(struct conn *c)
{
	struct tls *t = tls_of(c);
	enum io_result r = flush_first(t, c, &t->waits_r), out;
	int ret;

	t->waits_w = t->waits_r;
	if (r != IO_OK)
		return r;
	if (t->resume && SSL_in_before(t->ssl))
		tls_resume_offer(t->resume, t->ssl, t->service);
	tls_enter(t, c, TLS_IN_SIZE);
	ret = SSL_do_handshake(t->ssl);
	if (ret != 1)
		r = why_not(t, c, ret, &t->waits_r);
	out = tls_leave(t, c, r == IO_OK && tickets_can_wait(t), 0);
	if (r == IO_OK || r == IO_AGAIN) {
		if (out == IO_AGAIN)
			t->waits_r = EV_W;
		if (out != IO_OK)
			r = out;
	}
	t->waits_w = t->waits_r;
	if (r == IO_EOF)
		return tls_failed(t, c, ECONNABORTED);
	if (r == IO_OK) {
		t->waits_r = EV_R;
		t->waits_w = EV_W;
		tls_count_handshake(t, loop_now_ms(c->loop));
	}
	t->x.holds = r == IO_OK && tls_has_record(t);
	return r;
}

/* Reads while whole records are there: OpenSSL allocates a buffer for each try. */
static enum io_result
read_records(struct tls *t, struct conn *c, char *buf, size_t len, size_t *got)
{
	size_t n;

	*got = 0;
	do {
		int ret = SSL_read_ex(t->ssl, buf + *got, len - *got, &n);

		if (ret != 1)
			return why_not(t, c, ret, &t->waits_r);
		*got += n;
		t->io->reads = 0;
	} while (*got < len && tls_has_unread_record(t->io));
	return IO_OK;
}

static enum io_result
tls_recv(struct conn *c, void *buf, size_t len, size_t *got)
{
	struct tls *t = tls_of(c);
	enum io_result r, out;

	if (t->has_failed)
		return IO_ERR;
	if (tls_owes_much(t)) {
		t->waits_r = EV_W;
		r = tls_flush(t, c, 0);
		if (r != IO_OK)
			return r;
	}
	t->waits_r = EV_R;
	tls_enter(t, c, MAX(len, (size_t)TLS_READ_MIN) + TLS_READ_MORE);
	r = read_records(t, c, buf, len, got);
	/* Nothing follows the closing message, not even the keys that the peer asks for (RFC 8446,
	 * 6.1): the socket may be shut, too. */
	if (t->sent_end)
		t->io->out_len = 0;
	out = tls_leave(t, c, 0, 0);
	/* OpenSSL has an answer for the peer that could not be sent. */
	if (out == IO_AGAIN)
		t->waits_r |= EV_W;
	if (out == IO_ERR && r != IO_EOF)
		r = IO_ERR;
	t->x.holds = !t->has_failed && (SSL_pending(t->ssl) > 0 || tls_has_record(t));
	if (!*got)
		return r;
	if (r == IO_EOF)
		c->eof = 1;
	/* A failure is reported by the next call. */
	t->x.holds |= r == IO_ERR;
	second_ticket_on_read(t);
	return IO_OK;
}

/* --- writing --- */

static size_t
record_size(struct tls *t, uint64_t now_ms)
{
	if (now_ms - t->sent_ms >= SMALL_AGAIN_MS)
		t->sent = 0;
	return t->sent < SMALL_UNTIL ? SMALL_RECORD : TLS_RECORD;
}

/* Encrypts what fits into one send. *put: bytes of the user's data. */
static enum io_result
write_records(struct tls *t, struct conn *c, const char *buf, size_t len, size_t *put)
{
	uint64_t now_ms = loop_now_ms(c->loop);
	size_t n;

	for (*put = 0; *put < len && tls_has_room(t->io); *put += n) {
		size_t most = record_size(t, now_ms);
		int ret = SSL_write_ex(t->ssl, buf + *put, MIN(len - *put, most), &n);

		if (ret != 1)
			return *put ? IO_OK : why_not(t, c, ret, &t->waits_w);
		t->sent += n;
		t->sent_ms = now_ms;
	}
	return IO_OK;
}

/* The closing message: nothing is written after it. */
static void
write_end(struct tls *t)
{
	if (t->sent_end)
		return;
	t->sent_end = 1;
	if (SSL_shutdown(t->ssl) < 0)
		tls_note_failure(t);
}

/* Sends the rest of a write whose records could not be sent at once. */
static enum io_result
send_rest(struct tls *t, struct conn *c, int more, size_t *put)
{
	enum io_result r = tls_flush(t, c, more);

	if (r == IO_OK) {
		*put = t->taken;
		t->taken = 0;
	}
	return r;
}

static enum io_result
tls_send(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	struct tls *t = tls_of(c);
	enum io_result r;
	size_t n;

	t->waits_w = EV_W;
	if (t->taken)
		return send_rest(t, c, more, put);
	r = flush_first(t, c, &t->waits_w);
	if (r != IO_OK)
		return r;
	tls_enter(t, c, TLS_IN_SIZE);
	tls_take_waiting(t);
	second_ticket_on_write(t);
	r = write_records(t, c, buf, len, &n);
	/* The FIN follows. */
	if (more && n == len)
		write_end(t);
	if (r == IO_OK)
		r = tls_leave(t, c, 0, more);
	else
		(void)tls_leave(t, c, 0, 0);
	if (r == IO_AGAIN)
		t->taken = n;
	else if (r == IO_OK)
		*put = n;
	return r;
}

static enum io_result
tls_shutdown(struct conn *c)
{
	struct tls *t = tls_of(c);
	enum io_result r = t->has_failed ? IO_ERR : IO_OK;

	t->waits_w = EV_W;
	if (r != IO_OK || t->sent_end)
		return r == IO_OK ? tls_flush(t, c, 1) : r;
	tls_enter(t, c, TLS_IN_SIZE);
	tls_take_waiting(t);
	write_end(t);
	return tls_leave(t, c, 0, 1);
}

static unsigned int
tls_want(const struct xprt *x, unsigned int dir)
{
	const struct tls *t = container_of(x, struct tls, x);

	return dir == EV_R ? t->waits_r : t->waits_w;
}

/* --- the life of one --- */

static int
tls_set_name(struct conn *c, const char *name)
{
	if (SSL_set_tlsext_host_name(tls_of(c)->ssl, name) == 1)
		return 0;
	ERR_clear_error();
	return -ERR_INVAL;
}

static void
tls_close(struct conn *c)
{
	struct tls *t = tls_of(c);

	tls_drop_kept(t);
	tls_capture_free(&t->capture);
	/* OpenSSL would not resume the session of a connection that was reset (RFC 5246, 7.2.1,
	 * lets it). One that failed is forgotten already. */
	SSL_set_shutdown(t->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(t->ssl);
	tls_resume_put(t->resume);
	ERR_clear_error();
	tls_count_end(t->io);
	mem_free(t);
}

static const struct xprt_ops tls_ops = {
	XPRT_MORE, tls_step, tls_recv, tls_send, tls_shutdown, tls_want, tls_query,
	tls_set_name, tls_close,
};

/* An SSL object that reads and writes through the worker's BIO, which has one more reference. */
static SSL *
new_ssl(const struct tls_maker *m)
{
	SSL *ssl = SSL_new(m->ctx);

	if (!ssl || BIO_up_ref(m->io->bio) != 1) {
		SSL_free(ssl);
		ERR_clear_error();
		return NULL;
	}
	SSL_set_bio(ssl, m->io->bio, m->io->bio);
	/* Otherwise OpenSSL forgets the session. */
	if (m->role == TLS_CHECKS)
		(void)SSL_set_options(ssl, SSL_OP_IGNORE_UNEXPECTED_EOF);
	if (m->role != TLS_ACCEPTS)
		SSL_set_connect_state(ssl);
	else
		SSL_set_accept_state(ssl);
	return ssl;
}

static struct xprt *
make_tls(const struct xprt_maker *maker, const struct conn *c, int *reason)
{
	const struct tls_maker *m = container_of(maker, struct tls_maker, maker);
	struct tls *t;

	*reason = tls_count_begin(m->io);
	if (*reason < 0)
		return NULL;
	*reason = -ERR_NOMEM;
	t = mem_zalloc(sizeof(*t));
	if (t)
		t->ssl = new_ssl(m);
	if (!t || !t->ssl) {
		mem_free(t);
		tls_count_end(m->io);
		return NULL;
	}
	if (m->role == TLS_ACCEPTS)
		tls_count_accept(m->io, loop_now_ms(c->loop));
	t->x.ops = &tls_ops;
	t->io = m->io;
	t->waits_r = t->waits_w = m->role == TLS_ACCEPTS ? EV_R : EV_W;
	if (m->resume)
		t->resume = tls_resume_get(m->resume);
	return &t->x;
}

static int
set_ctx(struct tls_maker *m, SSL_CTX *ctx)
{
	if (SSL_CTX_up_ref(ctx) != 1)
		return -ERR_NOMEM;
	/* The buffers of a connection go when they are empty; data may move between two tries. */
	(void)SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
		SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	(void)SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_free(m->ctx);
	m->ctx = ctx;
	return 0;
}

int
tls_maker_init(struct tls_maker *m, struct tls_io *io, SSL_CTX *ctx, enum tls_role role)
{
	int r;

	*m = (struct tls_maker){ .maker = { make_tls }, .io = io, .role = role };
	r = set_ctx(m, ctx);
	if (r == 0 && role == TLS_ACCEPTS)
		second_ticket_enable(ctx, io);
	if (r == 0 && (role == TLS_CONNECTS || role == TLS_CHECKS)) {
		m->resume = tls_resume_new(ctx, SERVER_SESSIONS);
		if (!m->resume)
			r = -ERR_NOMEM;
	}
	if (r < 0)
		tls_maker_fini(m);
	return r;
}

void
tls_maker_fini(struct tls_maker *m)
{
	SSL_CTX_free(m->ctx);
	m->ctx = NULL;
	tls_resume_put(m->resume);
	m->resume = NULL;
}
