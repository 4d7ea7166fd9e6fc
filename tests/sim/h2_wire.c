#include "sim/h2_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/h1_framing.h"
#include "http/h1_parse.h"
#include "http/h1_write.h"
#include "sim/h2_end.h"

#define HEAD_MAX 65536
/* Bytes of a request's body that wait for the window. */
#define UP_MAX 65536

struct answer {
	struct h2_exchange x;
	unsigned int nth;       /* exchanges before it */
	int is_begun;
	int is_connect, is_tunnel;
};

struct h2_wire {
	struct h2_end end;
	unsigned int n;         /* exchanges so far */
	int reports;            /* h2_wire_report_resets() */
	/* The request that is being sent. */
	char head[HEAD_MAX];
	size_t n_head;
	struct answer *sending; /* its body; NULL: its head is not complete */
	struct h1_body body;
};

static struct h2_wire *
h2_wire_of(struct wire *w)
{
	return container_of(w, struct h2_wire, end.wire);
}

static struct answer *
answer_of(struct h2_stream *st)
{
	return container_of(st, struct answer, x.st);
}

/* --- receiving --- */

/* A head says of itself where the body ends: that of HTTP/2 need not. */
static void
add_framing(struct answer *a, const struct http_head *h)
{
	int may_have_body = h->method != HTTP_HEAD && h->status != 204 && h->status != 304;

	if (h->framing == HTTP_BODY_CHUNKED)
		sbuf_adds(&a->x.text, "Transfer-Encoding: chunked\r\n");
	else if (h->framing == HTTP_BODY_NONE && h->status >= 200 && may_have_body)
		sbuf_adds(&a->x.text, "Content-Length: 0\r\n");
}

static struct h2_wire *
wire_of(struct h2_stream *st)
{
	return container_of(st->conn, struct h2_wire, end.conn);
}

/* The answer is complete: the peer takes no more of the request. */
static void
end_answer(struct answer *a)
{
	a->x.is_whole = 1;
	a->x.is_deaf |= !a->is_tunnel;
}

static int
on_head(struct h2_stream *st, struct http_head *h, int end)
{
	struct answer *a = answer_of(st);

	if (h->kind == HTTP_TRAILERS) {
		h2_exchange_add_trailers(&a->x, h);
		end_answer(a);
		return 0;
	}
	if (h->status >= 200)
		a->x.framing = h->framing;
	a->is_tunnel = (a->is_connect && h->status / 100 == 2) || h->status == 101;
	sbuf_addf(&a->x.text, "HTTP/2 %u\r\n", h->status);
	h2_exchange_add_fields(&a->x, h);
	if (wire_of(st)->reports && !a->is_tunnel)
		add_framing(a, h);
	sbuf_adds(&a->x.text, "\r\n");
	if (end)
		end_answer(a);
	return 0;
}

static void
on_data(struct h2_stream *st)
{
	struct answer *a = answer_of(st);

	if (h2_exchange_add_data(&a->x))
		end_answer(a);
}

static void
cut_answer(struct answer *a)
{
	a->x.is_whole = a->x.is_reset = a->x.is_deaf = 1;
}

static void
abort_answer(struct h2_wire *t, struct answer *a, uint32_t code)
{
	if (a->x.is_deaf)
		return;
	if (!t->reports)
		sbuf_addf(&a->x.text, "RST %u\n", code);
	cut_answer(a);
}

static void
on_reset(struct h2_stream *st, uint32_t code, int unprocessed)
{
	(void)unprocessed;
	abort_answer(wire_of(st), answer_of(st), code);
}

static const struct h2_user user = {
	.on_head = on_head,
	.on_data = on_data,
	.on_room = h2_end_on_room,
	.on_reset = on_reset,
	.on_output = h2_end_ignore,
	.on_goaway = h2_end_ignore,
	.on_continue = h2_end_on_continue,
};

/* --- sending --- */

static void
read_answers(struct h2_wire *t, struct fake_sock *s)
{
	h2_end_in(&t->end, s);
	if (!t->end.eof || !t->reports)
		return;
	list_each(it, &t->end.exchanges)
		abort_answer(t, list_entry(it, struct answer, x.link), 0);
}

static struct answer *
begin_exchange(struct h2_wire *t, const struct http_head *req)
{
	struct answer *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		abort();
	h2_exchange_init(&t->end, &a->x);
	a->nth = t->n++;
	a->is_connect = req->method == HTTP_CONNECT;
	r = h2_conn_open(&t->end.conn, &a->x.st, req, req->framing == HTTP_BODY_NONE);
	a->is_begun = r == 0;
	if (r)
		cut_answer(a);
	a->x.body_ends = a->x.has_ended = req->framing == HTTP_BODY_NONE && !a->is_connect &&
		http_find_id(req, HTTP_F_UPGRADE, 0) < 0;
	return a;
}

static void
reset_answer(struct answer *a)
{
	if (a->is_begun)
		h2_stream_reset(&a->x.st, H2_CANCEL);
	cut_answer(a);
}

static struct answer *
last_answer(const struct h2_wire *t)
{
	return list_is_empty(&t->end.exchanges)
		? NULL
		: list_entry(t->end.exchanges.prev, struct answer, x.link);
}

/* Takes bytes of a request's head: their number; -1: it is none. */
static long
take_head(struct h2_wire *t, const char *p, size_t n)
{
	struct http_field field[H2_END_FIELDS];
	struct h1_parser parser = { 0 };
	struct http_head req;
	size_t used, had = t->n_head;

	if (!t->n_head && n >= 4 && !memcmp(p, "RST\n", 4)) {
		if (last_answer(t))
			h2_stream_reset(&last_answer(t)->x.st, H2_CANCEL);
		return 4;
	}
	n = MIN(n, sizeof(t->head) - t->n_head);
	memcpy(t->head + t->n_head, p, n);
	t->n_head += n;
	http_head_init(&req, HTTP_REQUEST, field, H2_END_FIELDS);
	switch (h1_parse_request(&parser, t->head, t->n_head, &req, &used)) {
	case HTTP_MORE:
		return (long)n;
	case HTTP_BAD:
		return -1;
	case HTTP_COMPLETE:
		break;
	}
	t->sending = begin_exchange(t, &req);
	h1_body_begin(&t->body, &req);
	t->n_head = 0;
	return (long)(used - had);
}

/* Keeps bytes of a body until they can be sent: their number. */
static size_t
keep_up(struct answer *a, const char *p, size_t n)
{
	if (a->x.is_deaf)
		return n;
	n = MIN(n, UP_MAX - MIN(a->x.body.len, UP_MAX));
	sbuf_add(&a->x.body, p, n);
	return n;
}

/* Takes bytes of its body: their number; 0: later. */
static long
take_body(struct h2_wire *t, const char *p, size_t n)
{
	struct answer *a = t->sending;
	struct h1_body b = t->body;
	size_t len;

	switch (h1_body_next(&b, p, n, &len)) {
	case H1_PIECE_DATA:
		n = keep_up(a, p, len);
		if (!n)
			return 0;
		(void)h1_body_next(&t->body, p, n, &len);
		a->x.body_ends = t->body.framing == HTTP_BODY_LENGTH && h1_body_is_over(&t->body);
		h2_exchange_send(&a->x);
		return (long)n;
	case H1_PIECE_FRAME:
		t->body = b;
		a->x.body_ends = h1_body_is_over(&b);
		if (a->x.body_ends)
			h2_exchange_send(&a->x);
		return (long)len;
	case H1_PIECE_MORE:
	case H1_PIECE_BAD:
		break;
	}
	return -1;
}

/* The tunnel that the last request has opened; NULL: none. */
static struct answer *
open_tunnel(const struct h2_wire *t)
{
	struct answer *a = last_answer(t);

	return a && a->is_tunnel ? a : NULL;
}

static long
take_tunnel(struct answer *a, const char *p, size_t n)
{
	n = keep_up(a, p, n);
	h2_exchange_send(&a->x);
	return (long)n;
}

static long
h2_wire_send(struct wire *w, struct fake_sock *s, const void *buf, size_t len)
{
	struct h2_wire *t = h2_wire_of(w);
	const char *p = buf;
	size_t at = 0;
	long n = 1;

	fake_memory_is_ours++;
	while (at < len && n > 0) {
		if (t->sending && h1_body_is_over(&t->body))
			t->sending = NULL;
		if (t->sending)
			n = take_body(t, p + at, len - at);
		else if (open_tunnel(t))
			n = take_tunnel(open_tunnel(t), p + at, len - at);
		else
			n = take_head(t, p + at, len - at);
		at += n > 0 ? (size_t)n : 0;
	}
	(void)h2_end_out(&t->end, s);
	fake_memory_is_ours--;
	if (fake_peer_poll(s) & (EPOLLERR | EPOLLHUP))
		return -EPIPE;
	return at ? (long)at : n < 0 ? -EPIPE : -EAGAIN;
}

static void
drop_answer(struct answer *a)
{
	if (a->is_begun)
		h2_stream_release(&a->x.st);
	h2_exchange_fini(&a->x);
	free(a);
}

/* True if the answer, or what its script sends to it, is not over. */
static int
is_running(const struct h2_wire *t, const struct answer *a)
{
	if (a == t->sending && !h1_body_is_over(&t->body))
		return 1;
	return !a->x.is_whole || (a->is_tunnel && !a->x.is_reset && !a->x.has_ended);
}

static long
h2_wire_recv(struct wire *w, struct fake_sock *s, void *buf, size_t len)
{
	struct h2_wire *t = h2_wire_of(w);
	long n = 0;

	fake_memory_is_ours++;
	read_answers(t, s);
	while (n == 0 && !list_is_empty(&t->end.exchanges)) {
		struct answer *a = list_first(&t->end.exchanges, struct answer, x.link);

		n = (long)h2_exchange_give(&a->x, buf, len);
		if (n || is_running(t, a))
			break;
		if (a == t->sending)
			t->sending = NULL;
		n = a->x.is_reset && t->reports ? -ECANCELED : 0;
		drop_answer(a);
	}
	(void)h2_end_out(&t->end, s);
	fake_memory_is_ours--;
	return n ? n : t->end.eof ? 0 : -EAGAIN;
}

static void
h2_wire_free(struct wire *w)
{
	struct h2_wire *t = h2_wire_of(w);

	fake_memory_is_ours++;
	while (last_answer(t))
		drop_answer(last_answer(t));
	h2_end_fini(&t->end);
	free(t);
	fake_memory_is_ours--;
}

static const struct wire_ops h2_wire_ops = {
	h2_wire_send, h2_wire_recv, h2_end_wire_flush, h2_end_wire_end, h2_wire_free,
};

struct wire *
h2_wire_new(void)
{
	struct h2_wire *t;

	fake_memory_is_ours++;
	t = calloc(1, sizeof(*t));
	if (!t)
		abort();
	h2_config_default(&t->end.cfg);
	h2_end_init(&t->end, &h2_wire_ops, &user, HEAD_MAX, 1);
	fake_memory_is_ours--;
	return &t->end.wire;
}

void
h2_wire_report_resets(struct wire *w)
{
	h2_wire_of(w)->reports = 1;
}

void
h2_wire_cancel(struct wire *w, struct fake_sock *s, unsigned int nth)
{
	struct h2_wire *t = h2_wire_of(w);

	fake_memory_is_ours++;
	list_each(it, &t->end.exchanges) {
		struct answer *a = list_entry(it, struct answer, x.link);

		if (a->nth == nth && !a->x.is_whole)
			reset_answer(a);
	}
	(void)h2_end_out(&t->end, s);
	fake_memory_is_ours--;
}

int
h2_wire_end_tunnel(struct wire *w, struct fake_sock *s)
{
	struct h2_wire *t = h2_wire_of(w);
	struct answer *a = open_tunnel(t);

	fake_memory_is_ours++;
	if (a && !a->x.body_ends) {
		a->x.body_ends = 1;
		h2_exchange_send(&a->x);
		(void)h2_end_out(&t->end, s);
	}
	fake_memory_is_ours--;
	return !a || (a->x.is_whole && !a->x.is_reset);
}
