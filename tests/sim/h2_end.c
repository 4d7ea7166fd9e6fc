#include "sim/h2_end.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- a connection --- */

void
h2_end_init(struct h2_end *e, const struct wire_ops *ops, const struct h2_user *user,
	size_t head_max, int is_client)
{
	e->wire.ops = ops;
	e->may_send = SIZE_MAX;
	list_init(&e->exchanges);
	if (h2_shared_init(&e->shared, head_max, H2_END_FIELDS) < 0 ||
		h2_conn_init(&e->conn, &e->cfg, &e->shared, user, e, is_client) < 0)
		abort();
}

void
h2_end_fini(struct h2_end *e)
{
	h2_conn_fini(&e->conn);
	h2_shared_fini(&e->shared);
}

int
h2_end_out(struct h2_end *e, struct fake_sock *s)
{
	while (h2_conn_has_output(&e->conn)) {
		struct str out = h2_conn_output(&e->conn);
		size_t n = MIN(out.len, e->may_send);
		long r = n ? fake_peer_send(s, out.p, n) : 0;

		if (r <= 0)
			return 0;
		if (e->may_send != SIZE_MAX)
			e->may_send -= (size_t)r;
		h2_conn_sent(&e->conn, (size_t)r);
	}
	return 1;
}

void
h2_end_in(struct h2_end *e, struct fake_sock *s)
{
	uint8_t buf[H2_END_CHUNK];
	long r;

	while (!e->eof && (r = fake_peer_recv(s, buf, sizeof(buf))) != -EAGAIN)
		e->eof = r <= 0 || h2_conn_input(&e->conn, buf, (size_t)r) < 0;
	while (e->has_more) {
		e->has_more = 0;
		e->eof |= h2_conn_continue(&e->conn) < 0;
	}
}

int
h2_end_wire_flush(struct wire *w, struct fake_sock *s)
{
	struct h2_end *e = container_of(w, struct h2_end, wire);
	int r;

	fake_memory_is_ours++;
	r = h2_end_out(e, s);
	fake_memory_is_ours--;
	list_each(it, &e->exchanges) {
		const struct h2_exchange *x = list_entry(it, struct h2_exchange, link);

		r &= x->is_deaf || x->body_at == x->body.len;
	}
	return r;
}

int
h2_end_wire_end(struct wire *w, struct fake_sock *s)
{
	return h2_end_wire_flush(w, s) || (fake_peer_poll(s) & (EPOLLERR | EPOLLHUP));
}

/* --- exchanges --- */

void
h2_exchange_init(struct h2_end *e, struct h2_exchange *x)
{
	sbuf_init(&x->text, 0);
	sbuf_init(&x->body, 0);
	list_append(&e->exchanges, &x->link);
}

void
h2_exchange_fini(struct h2_exchange *x)
{
	sbuf_fini(&x->text);
	sbuf_fini(&x->body);
	list_remove(&x->link);
}

void
h2_exchange_add_fields(struct h2_exchange *x, const struct http_head *h)
{
	for (unsigned int i = 0; i < h->n; i++)
		sbuf_addf(&x->text, "%.*s: %.*s\r\n", (int)h->field[i].name.len,
			h->field[i].name.p, (int)h->field[i].value.len, h->field[i].value.p);
}

void
h2_exchange_add_trailers(struct h2_exchange *x, const struct http_head *h)
{
	sbuf_adds(&x->text, "0\r\n");
	h2_exchange_add_fields(x, h);
	sbuf_adds(&x->text, "\r\n");
	x->is_whole = 1;
}

int
h2_exchange_add_data(struct h2_exchange *x)
{
	int is_chunked = x->framing == HTTP_BODY_CHUNKED;
	char buf[H2_END_CHUNK];
	size_t n;

	while ((n = h2_stream_take(&x->st, buf, sizeof(buf))) > 0) {
		if (is_chunked)
			sbuf_addf(&x->text, "%zx\r\n", n);
		sbuf_add(&x->text, buf, n);
		if (is_chunked)
			sbuf_adds(&x->text, "\r\n");
	}
	if (!h2_stream_has_ended(&x->st) || x->is_whole)
		return 0;
	if (is_chunked)
		sbuf_adds(&x->text, "0\r\n\r\n");
	x->is_whole = 1;
	return 1;
}

size_t
h2_exchange_give(struct h2_exchange *x, char *to, size_t room)
{
	size_t n = MIN(room, x->text.len - x->given);

	if (n)
		memcpy(to, x->text.p + x->given, n);
	x->given += n;
	return n;
}

void
h2_exchange_send(struct h2_exchange *x)
{
	while (!x->is_deaf && x->body_at < x->body.len) {
		size_t n = MIN(x->body.len - x->body_at, h2_stream_may_send(&x->st));

		if (!n)
			return;
		x->has_ended = x->body_ends && x->body_at + n == x->body.len;
		x->body_at += h2_stream_send(
			&x->st, x->body.p + x->body_at, n, x->has_ended);
	}
	sbuf_reset(&x->body);
	x->body_at = 0;
	if (x->body_ends && !x->has_ended && !x->is_deaf)
		h2_stream_end(&x->st);
	x->has_ended |= x->body_ends;
}

/* --- callbacks --- */

void
h2_end_on_room(struct h2_stream *st)
{
	h2_exchange_send(container_of(st, struct h2_exchange, st));
}

void
h2_end_on_continue(void *arg)
{
	struct h2_end *e = arg;

	e->has_more = 1;
}

void
h2_end_ignore(void *arg)
{
	(void)arg;
}
