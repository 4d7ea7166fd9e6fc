#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "h2/h2_conn_int.h"
#include "http/h1_framing.h"
#include "http/h1_parse.h"
#include "http/h1_write.h"
#include "sim/h2_end.h"
#include "sim/h2_wire.h"

#define HEAD_MAX 65536
#define SAID_MAX 8192
/* Bytes of a response that wait for the window of a stream that is an end of its own. */
#define DOWN_MAX 4096

struct exchange {
	struct h2_exchange x;
	struct wire wire;    /* where it is an end of its own */
	enum http_method method;
	struct h1_body body; /* of the response, */
	int is_in_body;      /* whose head was sent */
	int has_said;        /* a head was sent */
	int is_released;
	char head[SAID_MAX];
	size_t n_head;
};

struct h2_origin_wire {
	struct h2_end end;
	struct exchange *says; /* its response is not complete; NULL: none has begun */
	struct h2_origin_conf conf; /* of ends of their own */
};

static struct h2_origin_wire *
wire_of(struct wire *w)
{
	return container_of(w, struct h2_origin_wire, end.wire);
}

static const struct wire_ops stream_ops;

static struct exchange *
exchange_of(struct h2_stream *st)
{
	return container_of(st, struct exchange, x.st);
}

/* --- receiving --- */

static int
on_request(void *arg, const struct http_head *h, int end, struct h2_stream **out)
{
	struct h2_origin_wire *t = arg;
	struct exchange *x = calloc(1, sizeof(*x));

	if (!x)
		abort();
	h2_exchange_init(&t->end, &x->x);
	x->method = h->method;
	x->x.framing = h->framing;
	x->x.is_whole = end;
	sbuf_addf(&x->x.text, "%.*s %.*s HTTP/2\r\n", (int)h->method_text.len, h->method_text.p,
		(int)h->target.len, h->target.p);
	h2_exchange_add_fields(&x->x, h);
	if (t->conf.on_stream && h->framing == HTTP_BODY_CHUNKED)
		sbuf_adds(&x->x.text, "Transfer-Encoding: chunked\r\n");
	sbuf_adds(&x->x.text, "\r\n");
	*out = &x->x.st;
	x->wire.ops = &stream_ops;
	if (t->conf.on_stream)
		t->conf.on_stream(t->conf.arg, &x->wire);
	return 0;
}

static int
on_head(struct h2_stream *st, struct http_head *h, int end)
{
	(void)end;
	h2_exchange_add_trailers(&exchange_of(st)->x, h);
	return 0;
}

static void
on_data(struct h2_stream *st)
{
	(void)h2_exchange_add_data(&exchange_of(st)->x);
}

static void
cut_exchange(struct exchange *x)
{
	x->x.is_whole = x->x.is_reset = x->x.is_deaf = 1;
}

static struct h2_origin_wire *
origin_of(struct exchange *x)
{
	return container_of(x->x.st.conn, struct h2_origin_wire, end.conn);
}

static void
on_reset(struct h2_stream *st, uint32_t code, int unprocessed)
{
	struct exchange *x = exchange_of(st);

	(void)unprocessed;
	if (!x->x.is_whole && !origin_of(x)->conf.on_stream)
		sbuf_addf(&x->x.text, "RST %u\n", code);
	cut_exchange(x);
}

static const struct h2_user user = {
	.on_request = on_request,
	.on_head = on_head,
	.on_data = on_data,
	.on_room = h2_end_on_room,
	.on_reset = on_reset,
	.on_output = h2_end_ignore,
	.on_goaway = h2_end_ignore,
	.on_continue = h2_end_on_continue,
};

/* --- sending --- */

/* The request that has no complete response; NULL: none. */
static struct exchange *
next_exchange(const struct h2_origin_wire *t)
{
	list_each(it, &t->end.exchanges) {
		struct exchange *x = list_entry(it, struct exchange, x.link);

		if (!x->x.is_deaf && !x->x.body_ends)
			return x;
	}
	return NULL;
}

/* Takes "RST 7\n" and "GOAWAY 0\n" in place of a response: the length, 0: that is none. */
static long
take_word(struct h2_origin_wire *t, struct fake_sock *s, const char *p, size_t n)
{
	const char *end = memchr(p, '\n', n);
	struct exchange *x = next_exchange(t);
	uint8_t frame[H2_HEADER_LEN + H2_GOAWAY_LEN];
	unsigned int arg;

	if (t->says || !end)
		return 0;
	if (sscanf(p, "RST %u", &arg) == 1 && x) {
		h2_stream_reset(&x->x.st, arg);
		x->x.is_whole = x->x.is_deaf = 1;
	} else if (sscanf(p, "GOAWAY %u", &arg) == 1) {
		(void)h2_end_out(&t->end, s);
		(void)fake_peer_send(s, frame, h2_put_goaway(frame, arg, H2_NO_ERROR));
	} else {
		return 0;
	}
	return end - p + 1;
}

/* Takes bytes of a response's head: their number; 0: later; -1: it is no head. */
static long
take_head(struct exchange *x, const char *p, size_t n)
{
	struct http_field field[H2_END_FIELDS];
	struct h1_parser parser = { 0 };
	struct http_head h;
	size_t used, had = x->n_head;
	int r, ends;

	n = MIN(n, sizeof(x->head) - x->n_head);
	memcpy(x->head + x->n_head, p, n);
	x->n_head += n;
	http_head_init(&h, HTTP_RESPONSE, field, H2_END_FIELDS);
	h.method = x->method;
	switch (h1_parse_response(&parser, x->head, x->n_head, &h, &used)) {
	case HTTP_MORE:
		return (long)n;
	case HTTP_BAD:
		return -1;
	case HTTP_COMPLETE:
		break;
	}
	x->n_head = 0;
	ends = h.status >= 200 && h.framing == HTTP_BODY_NONE;
	r = h2_stream_send_head(&x->x.st, &h, ends);
	if (r == -ERR_FULL) {
		x->n_head = had;
		return 0;
	}
	if (r < 0)
		return -1;
	x->has_said = 1;
	x->x.body_ends = x->x.has_ended = ends;
	x->is_in_body = (h.status >= 200 || h.status == 101) && !x->x.has_ended;
	h1_body_begin(&x->body, &h);
	return (long)(used - had);
}

/* Takes bytes of its body: their number. */
static long
take_body(struct exchange *x, const char *p, size_t n)
{
	size_t len;

	switch (h1_body_next(&x->body, p, n, &len)) {
	case H1_PIECE_DATA:
		sbuf_add(&x->x.body, p, len);
		break;
	case H1_PIECE_FRAME:
		break;
	case H1_PIECE_MORE:
	case H1_PIECE_BAD:
		return -1;
	}
	x->x.body_ends = h1_body_is_over(&x->body);
	h2_exchange_send(&x->x);
	return (long)len;
}

/* Takes bytes of a response: their number; 0: there is no request; -1: it is no response. */
static long
take_response(struct h2_origin_wire *t, const char *p, size_t n)
{
	struct exchange *x = t->says ? t->says : next_exchange(t);
	long r;

	if (!x)
		return 0;
	r = x->is_in_body ? take_body(x, p, n) : take_head(x, p, n);
	t->says = x->n_head || (x->is_in_body && !x->x.body_ends) ? x : NULL;
	return r;
}

static long
origin_send(struct wire *w, struct fake_sock *s, const void *buf, size_t len)
{
	struct h2_origin_wire *t = wire_of(w);
	const char *p = buf;
	size_t at = 0;
	long n = 1;

	fake_memory_is_ours++;
	while (at < len && n > 0) {
		n = take_word(t, s, p + at, len - at);
		if (!n)
			n = take_response(t, p + at, len - at);
		at += n > 0 ? (size_t)n : 0;
	}
	(void)h2_end_out(&t->end, s);
	fake_memory_is_ours--;
	if (t->end.eof || (fake_peer_poll(s) & (EPOLLERR | EPOLLHUP)))
		return -EPIPE;
	return at ? (long)at : n < 0 ? -EPIPE : -EAGAIN;
}

static void
drop_exchange(struct exchange *x)
{
	h2_stream_release(&x->x.st);
	h2_exchange_fini(&x->x);
	free(x);
}

/* The script's end of a tunnel ends with the other one. */
static void
end_tunnel(struct exchange *x)
{
	x->x.body_ends = 1;
	h2_exchange_send(&x->x);
}

/* Gives the requests as far as they have arrived, one after the other. */
static size_t
give_text(struct h2_origin_wire *t, char *to, size_t room)
{
	list_each_safe(it, &t->end.exchanges) {
		struct exchange *x = list_entry(it, struct exchange, x.link);
		size_t n = h2_exchange_give(&x->x, to, room);

		if (n || !x->x.is_whole)
			return n;
		if (x->x.framing == HTTP_BODY_TUNNEL)
			end_tunnel(x);
		if ((x->x.has_ended || x->x.is_deaf) && x != t->says)
			drop_exchange(x);
	}
	return 0;
}

static long
origin_recv(struct wire *w, struct fake_sock *s, void *buf, size_t len)
{
	struct h2_origin_wire *t = wire_of(w);
	size_t n;

	fake_memory_is_ours++;
	h2_end_in(&t->end, s);
	n = give_text(t, buf, len);
	(void)h2_end_out(&t->end, s);
	fake_memory_is_ours--;
	return n ? (long)n : t->end.eof ? 0 : -EAGAIN;
}

/* --- streams that are ends of their own --- */

static struct exchange *
stream_of(const struct wire *w)
{
	return container_of(w, struct exchange, wire);
}

static long
stream_send(struct wire *w, struct fake_sock *s, const void *buf, size_t len)
{
	struct exchange *x = stream_of(w);
	const char *p = buf;
	size_t at = 0;
	long n = 1;

	(void)s;
	fake_memory_is_ours++;
	while (at < len && n > 0 && !x->x.is_deaf && x->x.body.len - x->x.body_at < DOWN_MAX) {
		n = x->is_in_body ? take_body(x, p + at, MIN(len - at, (size_t)DOWN_MAX))
				  : take_head(x, p + at, len - at);
		at += n > 0 ? (size_t)n : 0;
	}
	fake_memory_is_ours--;
	if (x->x.is_deaf)
		return -EPIPE;
	return at ? (long)at : n < 0 ? -EPIPE : -EAGAIN;
}

static long
stream_recv(struct wire *w, struct fake_sock *s, void *buf, size_t len)
{
	struct exchange *x = stream_of(w);
	size_t n = h2_exchange_give(&x->x, buf, len);

	(void)s;
	if (n)
		return (long)n;
	if (x->x.is_reset)
		return -ECONNRESET;
	return x->x.is_whole && x->x.framing == HTTP_BODY_TUNNEL ? 0 : -EAGAIN;
}

static int
stream_flush(struct wire *w, struct fake_sock *s)
{
	(void)w;
	(void)s;
	return 1;
}

static int
stream_end(struct wire *w, struct fake_sock *s)
{
	(void)s;
	h2_stream_wire_end(w);
	return 1;
}

static void
stream_free(struct wire *w)
{
	(void)w;
}

static const struct wire_ops stream_ops = {
	stream_send, stream_recv, stream_flush, stream_end, stream_free,
};

int
h2_stream_wire_has_said(const struct wire *w)
{
	return stream_of(w)->has_said;
}

void
h2_stream_wire_end(struct wire *w)
{
	struct exchange *x = stream_of(w);

	if (x->x.body_ends || x->x.is_deaf)
		return;
	if (!x->is_in_body) {
		h2_stream_wire_reset(w, H2_INTERNAL_ERROR);
		return;
	}
	fake_memory_is_ours++;
	x->x.body_ends = 1;
	h2_exchange_send(&x->x);
	fake_memory_is_ours--;
}

void
h2_stream_wire_reset(struct wire *w, uint32_t code)
{
	struct exchange *x = stream_of(w);

	if (x->x.is_deaf)
		return;
	fake_memory_is_ours++;
	h2_stream_reset(&x->x.st, code);
	cut_exchange(x);
	fake_memory_is_ours--;
}

void
h2_stream_wire_err(struct wire *w, int of_connection)
{
	struct exchange *x = stream_of(w);
	uint8_t frame[H2_HEADER_LEN + H2_WINDOW_LEN];

	(void)h2_put_window(frame, of_connection ? 0 : x->x.st.id, 0);
	fake_memory_is_ours++;
	h2_conn_put(x->x.st.conn, frame, sizeof(frame));
	fake_memory_is_ours--;
}

void
h2_stream_wire_release(struct wire *w)
{
	stream_of(w)->is_released = 1;
}

static long
streams_recv(struct wire *w, struct fake_sock *s, void *buf, size_t len)
{
	struct h2_origin_wire *t = wire_of(w);

	(void)buf;
	(void)len;
	fake_memory_is_ours++;
	h2_end_in(&t->end, s);
	if (t->end.eof)
		list_each(it, &t->end.exchanges)
			cut_exchange(list_entry(it, struct exchange, x.link));
	fake_memory_is_ours--;
	return t->end.eof ? 0 : -EAGAIN;
}

static int
streams_flush(struct wire *w, struct fake_sock *s)
{
	struct h2_origin_wire *t = wire_of(w);

	fake_memory_is_ours++;
	list_each_safe(it, &t->end.exchanges) {
		struct exchange *x = list_entry(it, struct exchange, x.link);

		if (x->is_released && (x->x.has_ended || x->x.is_deaf))
			drop_exchange(x);
	}
	fake_memory_is_ours--;
	return h2_end_wire_flush(w, s);
}

void
h2_streams_allow(struct wire *w, size_t n)
{
	wire_of(w)->end.may_send = n;
}

int
h2_streams_have_output(const struct wire *w)
{
	return h2_conn_has_output(&wire_of((struct wire *)w)->end.conn);
}

int
h2_streams_have_input(const struct wire *w)
{
	return wire_of((struct wire *)w)->end.has_more;
}

void
h2_streams_leave(struct wire *w, int at_once)
{
	fake_memory_is_ours++;
	h2_conn_goaway(&wire_of(w)->end.conn, H2_NO_ERROR, at_once);
	fake_memory_is_ours--;
}

struct wire *
h2_streams_drop_newest(struct wire *w)
{
	struct h2_origin_wire *t = wire_of(w);
	struct exchange *x;

	if (list_is_empty(&t->end.exchanges))
		return NULL;
	x = list_entry(t->end.exchanges.prev, struct exchange, x.link);
	if (x->has_said || x->x.is_deaf || x->is_released ||
		h2_conn_is_closing(&t->end.conn))
		return NULL;
	t->end.conn.last_id = x->x.st.id - 1;
	h2_streams_leave(w, 1);
	cut_exchange(x);
	return &x->wire;
}

static void
origin_free(struct wire *w)
{
	struct h2_origin_wire *t = wire_of(w);

	fake_memory_is_ours++;
	while (!list_is_empty(&t->end.exchanges))
		drop_exchange(list_first(&t->end.exchanges, struct exchange, x.link));
	h2_end_fini(&t->end);
	free(t);
	fake_memory_is_ours--;
}

static const struct wire_ops origin_ops = {
	origin_send, origin_recv, h2_end_wire_flush, h2_end_wire_end, origin_free,
};

static const struct wire_ops streams_ops = {
	NULL, streams_recv, streams_flush, h2_end_wire_end, origin_free,
};

static struct wire *
origin_new(const struct wire_ops *ops, const struct h2_origin_conf *conf)
{
	struct h2_origin_wire *t;

	fake_memory_is_ours++;
	t = calloc(1, sizeof(*t));
	if (!t)
		abort();
	t->conf = *conf;
	h2_config_default(&t->end.cfg);
	if (conf->max_streams)
		t->end.cfg.max_streams = conf->max_streams;
	if (conf->window)
		t->end.cfg.window = conf->window;
	h2_end_init(&t->end, ops, &user, HEAD_MAX, 0);
	fake_memory_is_ours--;
	return &t->end.wire;
}

struct wire *
h2_origin_wire_new(unsigned int max_streams)
{
	return origin_new(&origin_ops, &(struct h2_origin_conf){ .max_streams = max_streams });
}

struct wire *
h2_streams_wire_new(const struct h2_origin_conf *conf)
{
	return origin_new(&streams_ops, conf);
}
