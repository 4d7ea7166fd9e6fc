#include "sim/h2_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sbuf.h"
#include "h2/h2_conn.h"
#include "http/h1_body.h"
#include "http/h1_framing.h"
#include "http/h1_parse.h"
#include "http/h1_write.h"

#define CHUNK 4096
#define HEAD_MAX 8192
#define FIELDS 64

/* An exchange. */
struct answer {
	struct list link;       /* h2_wire.answers */
	struct h2_stream st;
	struct sbuf text;       /* of its answer */
	int is_begun, is_over;
	enum http_framing framing;
};

struct h2_wire {
	struct wire wire;
	struct h2_shared shared;
	struct h2_config cfg;
	struct h2_conn conn;
	struct list answers;    /* in the order of the requests */
	size_t given;           /* of the text of the first one */
	/* The request that is being sent. */
	char head[HEAD_MAX];
	size_t n_head;
	struct answer *sending; /* its body; NULL: its head is not complete */
	struct h1_body body;
	int eof;
};

static struct h2_wire *
h2_wire_of(struct wire *w)
{
	return container_of(w, struct h2_wire, wire);
}

static struct answer *
answer_of(struct h2_stream *st)
{
	return container_of(st, struct answer, st);
}

/* --- receiving --- */

static void
add_fields(struct sbuf *out, const struct http_head *h)
{
	for (unsigned int i = 0; i < h->n; i++)
		sbuf_addf(out, "%.*s: %.*s\r\n", (int)h->field[i].name.len, h->field[i].name.p,
			(int)h->field[i].value.len, h->field[i].value.p);
}

static int
on_head(struct h2_stream *st, struct http_head *h, int end)
{
	struct answer *a = answer_of(st);

	if (h->kind == HTTP_TRAILERS) {
		sbuf_adds(&a->text, "0\r\n");
		add_fields(&a->text, h);
		sbuf_adds(&a->text, "\r\n");
		a->is_over = 1;
		return 0;
	}
	if (h->status >= 200)
		a->framing = h->framing;
	sbuf_addf(&a->text, "HTTP/2 %u\r\n", h->status);
	add_fields(&a->text, h);
	sbuf_adds(&a->text, "\r\n");
	a->is_over = end;
	return 0;
}

static void
on_data(struct h2_stream *st)
{
	struct answer *a = answer_of(st);
	char buf[CHUNK];
	size_t n;

	while ((n = h2_stream_take(st, buf, sizeof(buf))) > 0) {
		if (a->framing == HTTP_BODY_CHUNKED)
			sbuf_addf(&a->text, "%zx\r\n", n);
		sbuf_add(&a->text, buf, n);
		if (a->framing == HTTP_BODY_CHUNKED)
			sbuf_adds(&a->text, "\r\n");
	}
	if (!h2_stream_has_ended(st) || a->is_over)
		return;
	if (a->framing == HTTP_BODY_CHUNKED)
		sbuf_adds(&a->text, "0\r\n\r\n");
	a->is_over = 1;
}

static void
on_room(struct h2_stream *st)
{
	(void)st;
}

static void
on_reset(struct h2_stream *st, uint32_t code, int unprocessed)
{
	struct answer *a = answer_of(st);

	(void)unprocessed;
	if (!a->is_over)
		sbuf_addf(&a->text, "RST %u\n", code);
	a->is_over = 1;
}

static void
ignore(void *arg)
{
	(void)arg;
}

static const struct h2_user user = {
	.on_head = on_head,
	.on_data = on_data,
	.on_room = on_room,
	.on_reset = on_reset,
	.on_output = ignore,
	.on_goaway = ignore,
	.on_continue = ignore,
};

/* --- sending --- */

static int
move_out(struct h2_wire *t, struct fake_sock *s)
{
	while (h2_conn_has_output(&t->conn)) {
		struct str out = h2_conn_output(&t->conn);
		long r = fake_peer_send(s, out.p, out.len);

		if (r <= 0)
			return 0;
		h2_conn_sent(&t->conn, (size_t)r);
	}
	return 1;
}

static void
move_in(struct h2_wire *t, struct fake_sock *s)
{
	uint8_t buf[CHUNK];
	long r;

	while (!t->eof && (r = fake_peer_recv(s, buf, sizeof(buf))) != -EAGAIN) {
		t->eof = r <= 0;
		if (r > 0 && h2_conn_input(&t->conn, buf, (size_t)r) < 0)
			t->eof = 1;
	}
}

static struct answer *
begin_exchange(struct h2_wire *t, const struct http_head *req)
{
	struct answer *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		abort();
	sbuf_init(&a->text, 0);
	list_append(&t->answers, &a->link);
	r = h2_conn_open(&t->conn, &a->st, req, req->framing == HTTP_BODY_NONE);
	a->is_begun = r == 0;
	a->is_over = r != 0;
	return a;
}

/* Takes bytes of a request's head: their number; -1: it is none. */
static long
take_head(struct h2_wire *t, const char *p, size_t n)
{
	struct http_field field[FIELDS];
	struct h1_parser parser = { 0 };
	struct http_head req;
	size_t used, had = t->n_head;

	if (!t->n_head && n >= 4 && !memcmp(p, "RST\n", 4)) {
		if (!list_is_empty(&t->answers))
			h2_stream_reset(&list_entry(t->answers.prev, struct answer, link)->st,
				H2_CANCEL);
		return 4;
	}
	n = MIN(n, sizeof(t->head) - t->n_head);
	memcpy(t->head + t->n_head, p, n);
	t->n_head += n;
	http_head_init(&req, HTTP_REQUEST, field, FIELDS);
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

/* Takes bytes of its body: their number; 0: later. */
static long
take_body(struct h2_wire *t, const char *p, size_t n)
{
	struct h1_body b = t->body;
	size_t len, may;

	switch (h1_body_next(&b, p, n, &len)) {
	case H1_PIECE_DATA:
		/* Nobody reads the rest of a request that was reset. */
		if (t->sending->is_over) {
			t->body = b;
			return (long)len;
		}
		may = h2_stream_may_send(&t->sending->st);
		if (!may)
			return 0;
		(void)h1_body_next(&t->body, p, MIN(n, may), &len);
		return (long)h2_stream_send(&t->sending->st, p, len,
			t->body.framing == HTTP_BODY_LENGTH && h1_body_is_over(&t->body));
	case H1_PIECE_FRAME:
		t->body = b;
		if (h1_body_is_over(&b) && !t->sending->is_over)
			h2_stream_end(&t->sending->st);
		return (long)len;
	case H1_PIECE_MORE:
	case H1_PIECE_BAD:
		break;
	}
	return -1;
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
		n = t->sending ? take_body(t, p + at, len - at) : take_head(t, p + at, len - at);
		at += n > 0 ? (size_t)n : 0;
	}
	(void)move_out(t, s);
	fake_memory_is_ours--;
	if (fake_peer_poll(s) & (EPOLLERR | EPOLLHUP))
		return -EPIPE;
	return at ? (long)at : n < 0 ? -EPIPE : -EAGAIN;
}

static void
drop_answer(struct answer *a)
{
	if (a->is_begun)
		h2_stream_release(&a->st);
	sbuf_fini(&a->text);
	list_remove(&a->link);
	free(a);
}

static long
h2_wire_recv(struct wire *w, struct fake_sock *s, void *buf, size_t len)
{
	struct h2_wire *t = h2_wire_of(w);
	long n = 0;

	fake_memory_is_ours++;
	move_in(t, s);
	while (!n && !list_is_empty(&t->answers)) {
		struct answer *a = list_first(&t->answers, struct answer, link);

		n = (long)MIN(len, a->text.len - t->given);
		if (n)
			memcpy(buf, a->text.p + t->given, (size_t)n);
		t->given += (size_t)n;
		if (n || !a->is_over || a == t->sending)
			break;
		drop_answer(a);
		t->given = 0;
	}
	(void)move_out(t, s);
	fake_memory_is_ours--;
	return n ? n : t->eof ? 0 : -EAGAIN;
}

static int
h2_wire_flush(struct wire *w, struct fake_sock *s)
{
	int r;

	fake_memory_is_ours++;
	r = move_out(h2_wire_of(w), s);
	fake_memory_is_ours--;
	return r;
}

static int
h2_wire_end(struct wire *w, struct fake_sock *s)
{
	return h2_wire_flush(w, s) || (fake_peer_poll(s) & (EPOLLERR | EPOLLHUP));
}

static void
h2_wire_free(struct wire *w)
{
	struct h2_wire *t = h2_wire_of(w);

	fake_memory_is_ours++;
	while (!list_is_empty(&t->answers))
		drop_answer(list_first(&t->answers, struct answer, link));
	h2_conn_fini(&t->conn);
	h2_shared_fini(&t->shared);
	free(t);
	fake_memory_is_ours--;
}

static const struct wire_ops h2_wire_ops = {
	h2_wire_send, h2_wire_recv, h2_wire_flush, h2_wire_end, h2_wire_free,
};

struct wire *
h2_wire_new(void)
{
	struct h2_wire *t;

	fake_memory_is_ours++;
	t = calloc(1, sizeof(*t));
	if (!t)
		abort();
	t->wire.ops = &h2_wire_ops;
	list_init(&t->answers);
	h2_config_default(&t->cfg);
	if (h2_shared_init(&t->shared, HEAD_MAX, FIELDS) < 0 ||
		h2_conn_init(&t->conn, &t->cfg, &t->shared, &user, t, 1) < 0)
		abort();
	fake_memory_is_ours--;
	return &t->wire;
}
