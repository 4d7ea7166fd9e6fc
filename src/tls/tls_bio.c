/* The BIO of a worker's transports and the bytes that are saved between two operations. On the
 * worker; between operations no pointer into the shared buffers is left. */
#include "tls_bio.h"

#include <errno.h>
#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "net/conn_err.h"

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

void
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
	/* A peer that has left before it was answered: no signature is made for it. */
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
	if (!io->cur)
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

int
tls_has_record(const struct tls *t)
{
	return t->in && is_whole_record(t->in->bytes + t->in->at, t->in->len - t->in->at);
}

int
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

int
tls_owes_much(const struct tls *t)
{
	return t->out && t->out->len - t->out->at > TLS_OUT_SIZE + TLS_ANSWERS_MAX;
}

enum io_result
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

void
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

void
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

void
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

enum io_result
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

void
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
