/* Writes heads. On the session's worker. Connection-level fields never pass, and a head fits
 * or the message is not sent. */
#include "proxy/http1/http_out.h"

#include <string.h>

#include "base/err.h"
#include "h2/h2_xprt.h"
#include "http/h1_framing.h"
#include "http/h1_write.h"
#include "http/hop.h"
#include "http/uri.h"
#include "proxy/http1/case_adjust.h"
#include "proxy/http1/exchange.h"
#include "proxy/sample/capture.h"
#include "proxy/http1/persist.h"
#include "proxy/relay/direction.h"
#include "proxy/sample/unique_id.h"

/* The end of the last field, and of the head: CRLF CRLF. */
#define HEAD_TAIL 4

/* The head of n bytes has grown: the bytes that follow it, from offset *end on, are moved behind
 * it. 0, or -ERR_RANGE: it is longer than a buffer, or there is no larger one for both. */
static int
move_body(struct stream *s, int side, uint32_t *end, size_t n)
{
	struct engine *e = s->engine;

	if (n > e->bufsize || direction_make_room(e, &s->dir[side], *end, (uint32_t)n) < 0)
		return -ERR_RANGE;
	*end = (uint32_t)n;
	return 0;
}

/* The texts leave the buffer before the body is moved over them. */
static int
settle_grown(struct stream *s, int side, struct http_head *h, uint32_t *end, size_t n)
{
	char *to;

	if (n > s->engine->bufsize)
		return -ERR_RANGE;
	(void)http_pack(h, s->engine->scratch, s->engine->scratch);
	if (move_body(s, side, end, n) < 0)
		return -ERR_RANGE;
	to = s->dir[side].buf;
	(void)http_pack(h, to, to);
	return 0;
}

/* Moves the texts of a head into the buffer of that side, in front of *end. */
static int
settle_head(struct stream *s, int side, struct http_head *h, uint32_t *end)
{
	size_t n = h1_size(h);
	char *to;

	/* Changed heads are sent as HTTP/1. */
	if (unlikely(n > *end))
		return settle_grown(s, side, h, end, n);
	to = s->dir[side].buf + *end - n;
	n = http_pack(h, s->engine->scratch, to);
	memcpy(to, s->engine->scratch, n);
	return 0;
}

int
http_settle_request(struct stream *s)
{
	return settle_head(s, CLIENT, &s->txn->req, &s->txn->head_end);
}

int
http_settle_response(struct stream *s)
{
	uint32_t end = s->dir[SERVER].tail;

	return settle_head(s, SERVER, &s->txn->res, &end);
}

/* Forgets the texts of a head, which are not valid any more. */
static void
forget_texts(struct http_head *head)
{
	http_head_init(head, head->kind, head->field, head->max);
	head->target = head->method_text = head->reason = (struct str){ NULL, 0 };
}

/* Gives a head of so many bytes to a client's stream of HTTP/2, where nothing waits to be sent
 * before it: 0, or negative: it is written to the buffer. */
static int
respond_as_data(struct stream *s, struct http_head *head, size_t n)
{
	struct direction *d = &s->dir[SERVER];
	int r;

	if (direction_pending(d))
		return -ERR_FULL;
	r = h2_xprt_respond(s->conn[CLIENT], head);
	if (r < 0)
		return r;
	d->head = d->tail;
	s->conn[CLIENT]->sent += n;
	s->last_ms[CLIENT] = stream_now_ms(s);
	forget_texts(head);
	return 0;
}

/* Writes the head so that it ends at *end, where the old one ended: the body follows there. One
 * that is too long for that moves the body and *end. */
static int
place_head(struct stream *s, int side, struct http_head *head, uint32_t *end)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[side];
	size_t n = h1_size(head);

	if (unlikely(n > e->bufsize))
		return -ERR_RANGE;
	if (side == SERVER && s->is_carried && respond_as_data(s, head, n) == 0)
		return 0;
	(void)h1_write(head, e->scratch);
	if (side == CLIENT)
		case_adjust_to_server(s, e->scratch, n);
	else
		case_adjust_to_client(s, e->scratch, n);
	if (unlikely(n > *end) && move_body(s, side, end, n) < 0)
		return -ERR_RANGE;
	d->head = *end - (uint32_t)n;
	memcpy(d->buf + d->head, e->scratch, n);
	forget_texts(head);
	return 0;
}

static int
add_connection(struct http_head *h, const char *value)
{
	return http_add_id(h, HTTP_F_CONNECTION, str_of(value));
}

/* A dispatch address has no name: a request that was made for a server loses it. */
static struct str
sent_server_name(const struct stream *s)
{
	return s->srv->is_dispatch ? (struct str){ "", 0 } : str_of(s->srv->name);
}

/* Moves this field behind the others, whose order stays. */
static void
move_to_end(struct http_head *h, unsigned int place)
{
	struct http_field f = h->field[place];

	memmove(&h->field[place], &h->field[place + 1], (h->n - place - 1) * sizeof(f));
	h->field[h->n - 1] = f;
}

/* http-send-name-header. The last field, where change_server_name() finds it: a full head has put
 * it in the place of a dropped one. */
static int
add_server_name(struct stream *s)
{
	const char *field = s->be->http.send_name;
	struct str name = str_of(s->srv->name);
	int r;

	if (!field || s->srv->is_dispatch)
		return 0;
	(void)http_drop_all(&s->txn->req, str_of(field));
	s->txn->name_len = (uint32_t)name.len;
	r = http_add(&s->txn->req, str_of(field), name);
	if (r < 0)
		return r;
	move_to_end(&s->txn->req, (unsigned int)http_find(&s->txn->req, str_of(field), 0));
	return 0;
}

/* A request of HTTP/2 is sent in origin form, as that of a client of HTTP/1.1 would be; its Host
 * names the authority. */
static void
become_http1(struct http_head *req)
{
	struct http_uri uri;

	req->version = HTTP_1_1;
	if (req->method == HTTP_CONNECT)
		return;
	http_uri_split(req->target, &uri);
	if (uri.form != HTTP_FORM_ABSOLUTE)
		return;
	req->target = uri.pathq.len ? uri.pathq
		: req->method == HTTP_OPTIONS ? STR("*") : STR("/");
}

/* True if the server's connection may be reused, as far as is known before the response. */
static int
exchange_may_reuse(const struct stream *s)
{
	const struct http_txn *t = s->txn;

	return !http_closes_server(s->sess->fe, s->be) &&
		!(t->hop & (HTTP_HOP_UPGRADE | HTTP_HOP_CLOSE));
}

static int
write_request(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct arena *a = &s->engine->eval.arena;
	int r, says_kept;

	/* The rules have run and may have changed it. */
	capture_cookie(s, &t->req);
	if (t->req.version == HTTP_2)
		become_http1(&t->req);
	http_close_after(t, SERVER);
	if (exchange_may_reuse(s))
		http_keep(t, SERVER);
	r = h1_framing_to_fields(&t->req, HTTP_1_1);
	/* HTTP/1.0 has no chunks: filters have made them of a length. */
	if (t->req.framing == HTTP_BODY_CHUNKED)
		t->req.version = HTTP_1_1;
	if (r == 0)
		r = persist_strip(s, a);
	if (r == 0)
		r = unique_id_add(s, &t->req);
	if (r == 0)
		r = http_add_forwarding(s, &t->req, a);
	if (r < 0)
		return r;
	says_kept = http_keeps(t, SERVER) || (s->be->options & OPT_HTTP_PRETEND_KEEPALIVE);
	if (http_find_id(&t->req, HTTP_F_TE, 0) >= 0)
		r = add_connection(&t->req, "TE");
	if (r < 0)
		return r;
	if (t->hop & HTTP_HOP_UPGRADE)
		r = add_connection(&t->req, "upgrade");
	else if (says_kept && t->req.version == HTTP_1_0)
		r = add_connection(&t->req, "keep-alive");
	else if (!says_kept && t->req.version != HTTP_1_0)
		r = add_connection(&t->req, "close");
	if (r == 0)
		r = add_server_name(s);
	return r == 0 ? place_head(s, CLIENT, &t->req, &t->head_end) : r;
}

/* Moves the placed request and what follows it by that many bytes. 0 or -ERR_RANGE, as
 * move_body(). */
static int
move_request(struct stream *s, uint32_t by)
{
	struct http_txn *t = s->txn;
	struct engine *e = s->engine;

	if (t->head_end + by > e->bufsize ||
		direction_make_room(e, &s->dir[CLIENT], t->start, t->start + by) < 0)
		return -ERR_RANGE;
	t->start += by;
	t->head_end += by;
	return 0;
}

/* The request was placed for an attempt at another server, maybe, and nothing of it is sent: the
 * head grows or shrinks at its start. */
static int
change_server_name(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[CLIENT];
	struct str name = sent_server_name(s);
	uint32_t grows = name.len > t->name_len ? (uint32_t)name.len - t->name_len : 0;
	char *end, *start;

	assert(d->head == t->start);
	if (unlikely(grows > t->start) && move_request(s, grows - t->start) < 0)
		return -ERR_RANGE;
	end = d->buf + t->head_end - HEAD_TAIL;
	start = d->buf + t->start;
	t->start = t->start + t->name_len - (uint32_t)name.len;
	d->head = t->start;
	memmove(d->buf + t->start, start, (size_t)(end - t->name_len - start));
	memcpy(end - name.len, name.p, name.len);
	t->name_len = (uint32_t)name.len;
	return 0;
}

int
http_place_request(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	int r;

	if (t->placed)
		return s->be->http.send_name ? change_server_name(s) : 0;
	r = write_request(s);
	arena_release(a, mark);
	if (r < 0)
		return r;
	t->placed = 1;
	t->start = s->dir[CLIENT].head;
	return 0;
}

/* Upgrade of a response is kept only if the client's connection permits an upgrade (RFC 9110,
 * 7.8). */
static int
offer_upgrade(struct http_txn *t)
{
	if (http_find_id(&t->res, HTTP_F_UPGRADE, 0) < 0)
		return 0;
	if (t->version != HTTP_1_0)
		return add_connection(&t->res, "upgrade");
	http_drop_id(&t->res, HTTP_F_UPGRADE);
	return 0;
}

/* The Connection field for the client's connection. */
static int
put_connection(struct http_txn *t)
{
	struct http_head *h = &t->res;
	int r;

	if (h->framing == HTTP_BODY_TUNNEL)
		return h->status == 101 ? add_connection(h, "upgrade") : 0;
	r = offer_upgrade(t);
	if (r < 0)
		return r;
	if (!http_keeps(t, CLIENT))
		return add_connection(h, "close");
	return t->version == HTTP_1_0 ? add_connection(h, "keep-alive") : 0;
}

static int
write_response(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct http_head *h = &t->res;
	uint32_t end = s->dir[SERVER].tail;
	int r = 0;

	/* An informational response never ends the connection. */
	if (h->status >= 200 || h->status == 101) {
		r = persist_answer(s, &s->engine->eval.arena);
		if (r == 0)
			r = put_connection(t);
	}
	/* The version is tacit's, not the server's (RFC 9110, 6.2): with HTTP/1.0 the client would
	 * assume that its next hop does not know 1.1. */
	h->version = HTTP_1_1;
	return r == 0 ? place_head(s, SERVER, h, &end) : r;
}

int
http_place_response(struct stream *s)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	int r = write_response(s);

	arena_release(a, mark);
	return r;
}
