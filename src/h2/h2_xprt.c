/* Translates between the frames of a stream and messages of HTTP/1, on the stream's worker. Heads
 * that its user writes are whole, since they are written from one buffer. */
#define _GNU_SOURCE
#include "h2/h2_xprt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "http/h1_framing.h"
#include "http/h1_parse.h"
#include "http/h1_write.h"

/* Bytes of heads that wait to be read, behind which further interim responses (1xx) are dropped:
 * no window bounds what a server sends of them. */
#define INTERIM_MAX 65536u

static struct h2_xprt *
xprt_of(const struct conn *c)
{
	return container_of(c->xprt, struct h2_xprt, link.x);
}

/* Counts the memory of what waits of heads and trailers: after each change of it. */
static void
count_heads(struct h2_xprt *x)
{
	size_t n = x->given_size + x->text.cap + x->trailers.cap;

	counter_add(&x->carrier->worker->shared.bytes, n - x->counted);
	x->counted = n;
}

/* --- reading --- */

/* The line of a chunk of n bytes. */
static void
set_chunk_line(struct h2_xprt *x, size_t n)
{
	x->line_at = 0;
	x->line_n = (uint8_t)snprintf(x->line, sizeof(x->line), "%zx\r\n", n);
}

/* The end of a chunk. */
static void
set_chunk_end(struct h2_xprt *x)
{
	x->line_at = 0;
	x->line_n = 2;
	memcpy(x->line, "\r\n", 2);
}

/* Prepares what is given next: 0, there is nothing yet. */
static int
begin_piece(struct h2_xprt *x)
{
	int chunked = x->framing == HTTP_BODY_CHUNKED;
	size_t n = h2_stream_readable(&x->st);

	if (x->is_read || (!n && !h2_stream_has_ended(&x->st)))
		return 0;
	x->left = n;
	if (chunked)
		set_chunk_line(x, n);
	x->is_read = !n;
	if (chunked && !n)
		sbuf_adds(&x->text, "\r\n");
	return n || chunked;
}

static size_t
give_head_text(struct h2_xprt *x, char *to, size_t room)
{
	size_t end = x->is_read ? x->text.len : x->heads_n, n = MIN(room, end - x->text_at);

	if (n)
		memcpy(to, x->text.p + x->text_at, n);
	x->text_at += n;
	return n;
}

static size_t
give_line(struct h2_xprt *x, char *to, size_t room)
{
	size_t n = MIN(room, (size_t)(x->line_n - x->line_at));

	memcpy(to, x->line + x->line_at, n);
	x->line_at += (uint8_t)n;
	return n;
}

static size_t
give_payload(struct h2_xprt *x, char *to, size_t room)
{
	size_t n = (size_t)MIN((uint64_t)room, x->left);

	if (n)
		n = h2_stream_take(&x->st, to, n);
	x->left -= n;
	/* At once: its reader may wait for it, and another chunk need not follow. */
	if (n && !x->left && x->framing == HTTP_BODY_CHUNKED)
		set_chunk_end(x);
	return n;
}

/* Frees the head that was kept as data. */
static void
drop_given(struct h2_xprt *x)
{
	mem_free(x->given);
	x->given = NULL;
	x->given_size = 0;
	count_heads(x);
}

/* Adds a head to the text. */
static void
write_text_of(struct h2_xprt *x, const struct http_head *h)
{
	char *room = mem_alloc(h1_size(h));

	if (room)
		sbuf_add(&x->text, room, h1_write(h, room));
	else
		x->text.failed = 1;
	mem_free(room);
	x->heads_n = x->text.len;
}

/* Turns the head that was kept as data into text, in front of trailers that have come already: its
 * user reads text, or another head follows. */
static void
write_given(struct h2_xprt *x)
{
	struct sbuf trailers = x->text;

	sbuf_init(&x->text, 0);
	write_text_of(x, x->given);
	if (trailers.len)
		sbuf_add(&x->text, trailers.p, trailers.len);
	sbuf_fini(&trailers);
	drop_given(x);
}

int
h2_xprt_take_head(struct conn *c, struct http_head *h, char *to, size_t room, size_t *n)
{
	struct h2_xprt *x = xprt_of(c);
	int r;

	if (!h2_xprt_below(c) || !x->given || x->link.err)
		return -ERR_UNKNOWN;
	r = h1_size(x->given) <= room ? http_head_copy(h, x->given) : -ERR_RANGE;
	if (r < 0)
		return r;
	*n = http_pack(h, to, to);
	drop_given(x);
	conn_stream_progress(&x->link);
	return 0;
}

/* Fills the buffer as far as the message has arrived: the number of bytes. */
static size_t
give_message(struct h2_xprt *x, char *to, size_t room)
{
	size_t n = 0;

	do {
		if (x->text_at < x->heads_n)
			n += give_head_text(x, to + n, room - n);
		n += give_line(x, to + n, room - n);
		n += give_payload(x, to + n, room - n);
		n += give_line(x, to + n, room - n);
		if (x->is_read && x->line_at == x->line_n)
			n += give_head_text(x, to + n, room - n);
	} while (n < room && begin_piece(x));
	return n;
}

static enum io_result
xprt_recv(struct conn *c, void *buf, size_t len, size_t *got)
{
	struct h2_xprt *x = xprt_of(c);

	*got = 0;
	/* Without memory for a head nothing behind it may be read. */
	if (x->given && !x->link.err)
		write_given(x);
	if (x->text.failed)
		x->link.err = ENOMEM;
	if (x->link.err) {
		c->err = x->link.err;
		return IO_ERR;
	}
	*got = x->is_begun ? give_message(x, buf, len) : 0;
	if (*got)
		return IO_OK;
	conn_stream_block(&x->link, EV_R);
	/* The end of other messages is in their framing. */
	return x->is_read && (x->framing == HTTP_BODY_TUNNEL || x->framing == HTTP_BODY_CLOSE ||
		x->carrier->is_shut)
		? IO_EOF
		: IO_AGAIN;
}

/* --- writing --- */

static enum io_result
fail_stream(struct conn *c, enum h2_code code, int err)
{
	struct h2_xprt *x = xprt_of(c);

	if (x->is_begun)
		h2_stream_reset(&x->st, code);
	x->end_sent = 1;
	c->err = x->link.err = err;
	return IO_ERR;
}

/* True if nothing of a body follows the head. */
static int
has_no_body(const struct http_head *h)
{
	return h->framing == HTTP_BODY_NONE || (h->framing == HTTP_BODY_LENGTH && !h->length);
}

static int
is_to_server(const struct h2_xprt *x)
{
	return x->carrier->h2.is_client;
}

void
h2_xprt_keep_accept(struct h2_xprt *x, const struct http_head *h)
{
	int at = websocket_is_named(h) ? http_find(h, WEBSOCKET_KEY, 0) : -1;

	if (at < 0 || h->field[at].value.len != WEBSOCKET_KEY_LEN)
		return;
	websocket_accept(h->field[at].value.p, x->accept);
	x->has_accept = 1;
}

int
h2_xprt_agrees(const struct conn *client, const struct http_head *h)
{
	const struct h2_xprt *x = h2_xprt_below(client);
	int at;

	if (!x || !x->has_accept)
		return 1;
	at = http_find(h, WEBSOCKET_ACCEPT, 0);
	return at >= 0 &&
		str_is(h->field[at].value, (struct str){ x->accept, sizeof(x->accept) });
}

/* x cannot begin yet: the server allows no more streams, or has not sent its SETTINGS.
 * h2_carrier_wake() reports it. */
static void
await_room(struct h2_xprt *x)
{
	x->carrier->n_waiting += !x->awaits_room;
	x->awaits_room = 1;
}

/* Begins a stream to a server. As put_head(); before the server's SETTINGS it is not known whether
 * it takes a websocket. */
static int
begin_stream(struct h2_xprt *x, const struct http_head *h, int end)
{
	struct h2_conn *h2 = &x->carrier->h2;
	int r = h2_conn_open(h2, &x->st, h, end);

	if (r == -ERR_UNSUPPORTED && !h2->has_settings)
		r = -ERR_FULL;
	if (r == -ERR_FULL)
		await_room(x);
	if (r == -ERR_CLOSED)
		x->link.is_unprocessed = 1;
	x->is_begun = r == 0;
	h2_xprt_keep_accept(x, h);
	return r;
}

/* Sends a head; the stream to a server begins with it. 0, -ERR_FULL: later, or another reason. */
static int
put_head(struct h2_xprt *x, const struct http_head *h, int end)
{
	return x->is_begun ? h2_stream_send_head(&x->st, h, end) : begin_stream(x, h, end);
}

/* Sends a head; the body follows that it announces. As put_head(). */
static int
begin_sending(struct h2_xprt *x, const struct http_head *h)
{
	int is_last = is_to_server(x) || h->status >= 200;
	int r = put_head(x, h, has_no_body(h) && is_last);

	if (r < 0)
		return r;
	x->head_sent = is_last || h->status == 101;
	x->method = h->method;
	h1_body_begin(&x->out, h);
	if (is_to_server(x) && (x->st.is_extended || h->method == HTTP_CONNECT))
		x->out.framing = HTTP_BODY_TUNNEL;
	else
		x->end_sent = has_no_body(h) && is_last;
	return 0;
}

int
h2_xprt_respond(struct conn *c, const struct http_head *res)
{
	struct h2_xprt *x = xprt_of(c);

	if (!h2_xprt_below(c) || x->head_sent || x->link.err || x->drops_output)
		return -ERR_CLOSED;
	conn_stream_progress(&x->link);
	return begin_sending(x, res);
}

/* Sends the head at p: *used is its length. */
static enum io_result
send_head(struct conn *c, const char *p, size_t n, size_t *used)
{
	struct h2_xprt *x = xprt_of(c);
	struct h1_parser parser = { 0 };
	struct http_head h;
	enum h1_parse_status status;
	int r;

	http_head_init(&h, is_to_server(x) ? HTTP_REQUEST : HTTP_RESPONSE,
		x->carrier->worker->field, x->carrier->worker->max_fields);
	h.method = x->method;
	h.takes_old_content = 1;
	status = is_to_server(x) ? h1_parse_request(&parser, p, n, &h, used)
				 : h1_parse_response(&parser, p, n, &h, used);
	if (status != HTTP_COMPLETE)
		return fail_stream(c, H2_INTERNAL_ERROR, EPROTO);
	r = begin_sending(x, &h);
	if (r == -ERR_FULL)
		return IO_AGAIN;
	if (r < 0)
		return fail_stream(c, H2_INTERNAL_ERROR, r == -ERR_NOMEM ? ENOMEM : EPROTO);
	return IO_OK;
}

/* The text up to this mark, which it takes with it; all of it without a mark. */
static struct str
split_text(struct str *text, const char *mark)
{
	const char *at = memmem(text->p, text->len, mark, strlen(mark));
	struct str s = { text->p, at ? (size_t)(at - text->p) : text->len };
	size_t n = at ? s.len + strlen(mark) : s.len;

	*text = (struct str){ text->p + n, text->len - n };
	return s;
}

/* The fields of trailers, whose text was checked as it arrived: 0 or -ERR_RANGE. */
static int
parse_trailers(struct str text, struct http_head *h)
{
	struct str line, name;
	int r = 0;

	while (r == 0 && text.len) {
		line = split_text(&text, "\r\n");
		name = split_text(&line, ":");
		/* The empty line, as far as it has come. */
		if (name.len && *name.p != '\r')
			r = http_add(h, name, str_trim(line));
	}
	return r;
}

/* The body is over: sends the trailers, or just the end. 0, -ERR_FULL: later, or another reason:
 * the trailers cannot be sent, and without them the message would be taken for a complete one. */
static int
send_trailers(struct h2_xprt *x)
{
	struct http_head h;
	int r;

	if (x->trailers.failed)
		return -ERR_NOMEM;
	http_head_init(
		&h, HTTP_TRAILERS, x->carrier->worker->field, x->carrier->worker->max_fields);
	r = parse_trailers((struct str){ x->trailers.p, x->trailers.len }, &h);
	if (r < 0)
		return r;
	if (h.n)
		return h2_stream_send_head(&x->st, &h, 1);
	h2_stream_end(&x->st);
	return 0;
}

/* Removes framing: the number of its bytes, with the last one only if the end could be sent; -1: it
 * is none, or the end can never be sent. */
static long
send_framing(struct h2_xprt *x, const char *p, size_t n)
{
	size_t at = 0, len;
	int r = 0;

	while (at < n) {
		struct h1_body b = x->out;
		int was_trailer = h1_body_is_in_trailers(&b);

		if (h1_body_next(&b, p + at, 1, &len) != H1_PIECE_FRAME)
			break;
		if (h1_body_is_over(&b)) {
			r = send_trailers(x);
			if (r < 0)
				break;
			x->end_sent = 1;
		} else if (was_trailer) {
			sbuf_addc(&x->trailers, p[at]);
		}
		x->out = b;
		at++;
	}
	count_heads(x);
	return x->out.bad == HTTP_BAD_NONE && (r == 0 || r == -ERR_FULL) ? (long)at : -1;
}

/* Sends as much of a run of payload as flow control allows: the number of bytes. */
static size_t
send_payload(struct h2_xprt *x, const char *p, size_t n)
{
	size_t len, most = h2_stream_may_send(&x->st);

	if (!most)
		return 0;
	(void)h1_body_next(&x->out, p, MIN(n, most), &len);
	/* The end of chunks is in the framing that follows. */
	x->end_sent = x->out.framing == HTTP_BODY_LENGTH && h1_body_is_over(&x->out);
	return h2_stream_send(&x->st, p, len, x->end_sent);
}

/* The number of bytes that were taken, or -1: they are no body. */
static long
send_body(struct h2_xprt *x, const char *p, size_t n)
{
	struct h1_body b = x->out;
	size_t len;

	switch (h1_body_next(&b, p, n, &len)) {
	case H1_PIECE_DATA:
		return (long)send_payload(x, p, len);
	case H1_PIECE_FRAME:
		return send_framing(x, p, len);
	case H1_PIECE_MORE:
	case H1_PIECE_BAD:
		break;
	}
	return -1;
}

/* True if a client that sends no more would have to open a window. */
static int
will_stay_blocked(const struct h2_xprt *x)
{
	return x->carrier->is_shut && x->is_begun && h2_stream_lacks_window(&x->st);
}

static enum io_result
xprt_send(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	struct h2_xprt *x = xprt_of(c);
	const char *p = buf;
	size_t at = 0, used;

	(void)more;
	*put = 0;
	if (x->link.err) {
		c->err = x->link.err;
		return IO_ERR;
	}
	if (unlikely(x->drops_output))
		at = len;
	while (at < len) {
		enum io_result r = IO_OK;
		long n = 0;

		if (!x->head_sent) {
			r = send_head(c, p + at, len - at, &used);
			n = r == IO_OK ? (long)used : 0;
		} else {
			n = send_body(x, p + at, len - at);
		}
		if (r == IO_ERR || n < 0)
			return n < 0 ? fail_stream(c, H2_INTERNAL_ERROR, EPROTO) : r;
		if (!n)
			break;
		at += (size_t)n;
	}
	if (at < len)
		conn_stream_block(&x->link, EV_W);
	if (unlikely(at < len && will_stay_blocked(x)))
		h2_xprt_on_reset(x, 0);
	*put = at;
	c->sent += at;
	return at ? IO_OK : IO_AGAIN;
}

/* The user's end: a message that is not complete is reset. */
static enum io_result
xprt_shutdown(struct conn *c)
{
	struct h2_xprt *x = xprt_of(c);

	if (x->end_sent || x->link.err || !x->is_begun || x->link.ends_below == CONN_STREAM_DROPS)
		return IO_OK;
	if (x->head_sent &&
		(x->out.framing == HTTP_BODY_CLOSE || x->out.framing == HTTP_BODY_TUNNEL))
		h2_stream_end(&x->st);
	else
		h2_stream_reset(&x->st, H2_INTERNAL_ERROR);
	x->end_sent = 1;
	return IO_OK;
}

static int
xprt_query(const struct conn *c, enum xprt_query what, struct str *out)
{
	const struct conn *below = xprt_of(c)->link.below;

	return below ? conn_query(below, what, out) : -ERR_UNKNOWN;
}

static void
xprt_close(struct conn *c)
{
	struct h2_xprt *x = xprt_of(c);
	struct h2_carrier *k = x->carrier;
	enum conn_stream_end end = x->link.ends_below;

	if (x->is_begun)
		h2_stream_release(&x->st);
	sbuf_fini(&x->text);
	sbuf_fini(&x->trailers);
	drop_given(x);
	list_remove(&x->chain);
	k->n_streams--;
	k->n_waiting -= x->awaits_room;
	pool_put(&k->worker->streams, x);
	h2_carrier_wake(k);
	k->user->on_close(k, end);
}

const struct xprt_ops h2_xprt_ops = {
	.recv = xprt_recv,
	.send = xprt_send,
	.shutdown = xprt_shutdown,
	.query = xprt_query,
	.close = xprt_close,
};

int
h2_xprt_open(struct h2_carrier *k, struct conn *c, loop_fd_fn *fn, void *owner,
	const struct http_head *req, struct h2_xprt **out)
{
	struct h2_xprt *x = pool_get(&k->worker->streams);

	if (!x)
		return -ERR_NOMEM;
	memset(x, 0, sizeof(*x));
	x->carrier = k;
	sbuf_init(&x->text, 0);
	sbuf_init(&x->trailers, H1_CHUNK_EXCESS_MAX);
	list_append(&k->streams, &x->chain);
	k->n_streams++;
	x->link.x.ops = &h2_xprt_ops;
	conn_stream_open(c, &x->link, k->conn, fn, owner);
	x->link.ready = EV_W;
	x->is_begun = req != NULL;
	if (req) {
		x->method = req->method;
		x->framing = req->framing;
		/* Without a body there is nothing to read: a try would cost a turn. */
		x->link.ready = req->framing == HTTP_BODY_NONE ? EV_W : EV_RW;
	}
	*out = x;
	return 0;
}

/* --- reports of the connection --- */

void
h2_xprt_on_data(struct h2_xprt *x)
{
	conn_stream_report(&x->link, h2_stream_has_ended(&x->st) ? EV_R | EV_RDHUP : EV_R);
}

/* The fields of trailers, which stand behind the last chunk: other bodies have no place for
 * them. */
static void
add_trailers(struct h2_xprt *x, const struct http_head *h)
{
	for (unsigned int i = 0; i < h->n; i++) {
		sbuf_add(&x->text, h->field[i].name.p, h->field[i].name.len);
		sbuf_adds(&x->text, ": ");
		sbuf_add(&x->text, h->field[i].value.p, h->field[i].value.len);
		sbuf_adds(&x->text, "\r\n");
	}
}

/* Keeps a head as data, in one piece of memory: 0 or -ERR_NOMEM. */
static must_check int
keep_head(struct h2_xprt *x, const struct http_head *h)
{
	size_t fields = h->n * sizeof(*h->field);
	size_t size = sizeof(struct http_head) + fields + http_texts_size(h);
	struct http_head *copy = mem_alloc(size);
	char *texts;

	if (!copy)
		return -ERR_NOMEM;
	copy->field = (struct http_field *)(copy + 1);
	copy->max = h->n;
	(void)!http_head_copy(copy, h);
	texts = (char *)(copy->field + h->n);
	(void)http_pack(copy, texts, texts);
	x->given = copy;
	x->given_size = size;
	return 0;
}

/* A response, as a server of HTTP/1.1 would send it. */
static int
add_response(struct h2_xprt *x, struct http_head *h)
{
	if (x->text_at == x->text.len)
		x->text.len = x->text_at = x->heads_n = 0;
	if (h->status < 200 && h->status != 101 && x->text.len > INTERIM_MAX)
		return 0;
	if (h->status >= 200 || h->status == 101)
		x->framing = h->framing;
	if (h->status == 101 && x->has_accept &&
		http_add(h, WEBSOCKET_ACCEPT, (struct str){ x->accept, sizeof(x->accept) }) < 0)
		return -ERR_RANGE;
	if (h1_framing_to_fields(h, HTTP_1_1) < 0)
		return -ERR_RANGE;
	h->version = HTTP_1_1;
	if (!x->given && !x->text.len)
		return keep_head(x, h);
	if (x->given)
		write_given(x);
	write_text_of(x, h);
	return 0;
}

int
h2_xprt_on_head(struct h2_xprt *x, struct http_head *h, int end)
{
	int r = 0;

	if (h->kind != HTTP_TRAILERS)
		r = add_response(x, h);
	else if (x->framing == HTTP_BODY_CHUNKED)
		add_trailers(x, h);
	count_heads(x);
	/* A tunnel's end may come with the head. */
	conn_stream_report(&x->link, end ? EV_R | EV_RDHUP : EV_R);
	return x->text.failed ? -ERR_NOMEM : r;
}

void
h2_carrier_wake(struct h2_carrier *k)
{
	if (likely(!k->n_waiting))
		return;
	k->n_waiting = 0;
	list_each(it, &k->streams) {
		struct h2_xprt *x = list_entry(it, struct h2_xprt, chain);

		if (x->awaits_room)
			conn_stream_report(&x->link, EV_W);
		x->awaits_room = 0;
	}
}

void
h2_xprt_on_room(struct h2_xprt *x)
{
	conn_stream_report(&x->link, EV_W);
}

/* A response that is complete stays so when its connection is lost; the rest of the request
 * is dropped. */
void
h2_xprt_on_reset(struct h2_xprt *x, int unprocessed)
{
	x->end_sent = 1;
	/* The first reason counts, above all that of a GOAWAY before the end. */
	if (x->link.err)
		return;
	if (is_to_server(x) && x->is_begun && h2_stream_has_ended(&x->st)) {
		x->drops_output = 1;
		conn_stream_report(&x->link, EV_RW | EV_RDHUP);
		return;
	}
	x->link.err = ECONNRESET;
	x->link.is_unprocessed = (uint8_t)unprocessed;
	conn_stream_report(&x->link, EV_ERR);
}

void
h2_xprt_on_shut(struct h2_xprt *x)
{
	if (h2_stream_has_ended(&x->st) && !will_stay_blocked(x))
		conn_stream_report(&x->link, EV_R | EV_RDHUP);
	else
		h2_xprt_on_reset(x, 0);
}
