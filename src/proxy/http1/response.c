/* The response's head: read, checked, written again. On the session's worker; what a client
 * gets is a whole head or a page of our own. */
#include "proxy/http1/response.h"

#include <string.h>

#include "event/profile.h"
#include "proxy/model/count.h"
#include "proxy/backend/server_observe.h"
#include "proxy/model/termination.h"
#include "proxy/http1/dropped_body.h"
#include "proxy/http1/exchange.h"
#include "proxy/http1/filtered.h"
#include "proxy/relay/direction.h"
#include "proxy/relay/filter.h"
#include "proxy/relay/speculation.h"
#include "base/counter.h"
#include "http/auth.h"
#include "h2/h2_xprt.h"
#include "http/h1_framing.h"
#include "http/h1_message.h"
#include "http/h1_write.h"
#include "http/hop.h"
#include "proxy/model/http_count.h"
#include "proxy/http1/http_out.h"
#include "proxy/http1/http_read.h"
#include "proxy/http1/note_invalid.h"
#include "proxy/http1/response_rules.h"
#include "proxy/http1/stick.h"
#include "proxy/sample/capture.h"
#include "proxy/sample/eval.h"
#include "proxy/model/memory.h"
#include "proxy/model/stream_extras.h"
#include "proxy/log/stream_log.h"

/* Holds a response back for a rule that waits for its body. */
static const struct relay_ops http_held_ops;

/*
 * The server closed a reused connection before any part of the request could be sent: a connection
 * failure. If something was sent the server may have processed it, and retry-on decides about a
 * retry.
 */
static int
connection_has_failed(const struct stream *s)
{
	if (unlikely(conn_is_unprocessed(s->conn[SERVER])))
		return 1;
	return s->txn->reused && !s->dir[SERVER].bytes && s->dir[CLIENT].head == s->txn->start;
}

/* The server has closed without a complete response: L7_RETRY if the request is to be retried, else
 * NONE. */
static enum stream_event
l7_retry_without_answer(struct stream *s)
{
	if (s->dir[SERVER].bytes)
		return l7_retry_for(s, HTTP_RETRY_JUNK_RESPONSE);
	return l7_retry_for(s, connection_has_failed(s) ? HTTP_RETRY_CONN_FAILURE
							: HTTP_RETRY_EMPTY_RESPONSE);
}

static enum stream_event
bad_response(struct stream *s)
{
	enum stream_event ev;

	http_count_bad_response(s);
	server_observe(s->engine, s->srv, SERVER_BAD_HEAD);
	ev = l7_retry_for(s, HTTP_RETRY_JUNK_RESPONSE);
	if (ev != STREAM_EV_NONE)
		return ev;
	stream_count_server_failure(s);
	return exchange_fail(s, 502, 'P', 'H');
}

/* The server closed or failed before that; a reused connection may be closed at any time. */
static enum stream_event
no_answer(struct stream *s)
{
	enum stream_event ev;

	if (unlikely(conn_is_malformed(s->conn[SERVER])))
		return bad_response(s);
	ev = l7_retry_without_answer(s);
	if (!s->txn->reused)
		server_observe(s->engine, s->srv,
			s->conn[SERVER]->err ? SERVER_READ_ERROR : SERVER_CLOSED_EARLY);
	if (ev != STREAM_EV_NONE)
		return ev;
	http_count_bad_response(s);
	if (!l7_retry_is_left_to_client(s)) {
		stream_count_server_failure(s);
		return exchange_fail(s, 502, 'S', 'H');
	}
	stream_set_term(s, 'S', 'H');
	return STREAM_EV_CLOSE;
}

enum stream_event
response_late(struct stream *s, int side)
{
	enum stream_event ev;

	if (side == CLIENT) {
		count_failed_req(s);
		http_close_after(s->txn, CLIENT);
		return exchange_fail(s, 408, 'c', 'D');
	}
	/* As in HAProxy this is no error of the server: a rule has waited too long for the body. */
	if (s->txn->held_ms)
		return exchange_fail(s, 504, 's', 'R');
	server_observe(s->engine, s->srv, SERVER_READ_TIMEOUT);
	ev = l7_retry_for(s, HTTP_RETRY_RESPONSE_TIMEOUT);
	if (ev != STREAM_EV_NONE)
		return ev;
	http_count_bad_response(s);
	stream_count_server_failure(s);
	return exchange_fail(s, 504, 's', 'H');
}

void
response_expect_head(struct stream *s)
{
	struct http_txn *t = s->txn;

	memset(&t->h1[SERVER]->parser, 0, sizeof(t->h1[SERVER]->parser));
	http_head_init(&t->res, HTTP_RESPONSE, t->res.field, s->engine->limits.maxhdr);
}

/* Forwards an informational response to the client (RFC 9110, 15.2), but not to an HTTP/1.0 client.
 * more: it is sent. */
static struct io_step
pass_informational(struct stream *s, size_t used)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[SERVER];

	d->head = d->tail = d->tail + (uint32_t)used;
	d->lookahead -= (uint32_t)used;
	if (t->version != HTTP_1_0) {
		(void)http_strip_hop(&t->res, t->is_proxied);
		h1_obey_status(&t->res);
		if (http_place_response(s) < 0)
			return io_event(bad_response(s));
	}
	response_expect_head(s);
	return direction_flush(s, SERVER);
}

/* True if the request is complete and asked for a tunnel, and the response, whose fields of the
 * hop announced it, gives it (RFC 9110, 7.8 and 9.3.6). A protocol that was not offered is refused
 * where it is known. */
static int
tunnel_is_agreed(const struct stream *s, unsigned int options)
{
	const struct http_txn *t = s->txn;

	if (s->dir[CLIENT].state != DIRECTION_DONE)
		return 0;
	if (t->res.status == 101)
		return (t->hop & HTTP_HOP_UPGRADE) && (options & HTTP_HOP_SWITCH) &&
			!(options & HTTP_HOP_REFUSED) && !http_lacks_websocket(&t->res) &&
			h2_xprt_agrees(s->conn[CLIENT], &t->res);
	return t->method == HTTP_CONNECT;
}

/* Becomes a tunnel: after 101, or a successful CONNECT. */
static void
open_tunnel(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[CLIENT];

	direction_event(s, CLIENT, DIRECTION_EV_RESET);
	d->ops = &relay_plain;
	t->h1[CLIENT]->body.framing = HTTP_BODY_TUNNEL;
	http_close_both_after(t);
	if (unlikely(stream_may_filter(s)) && filters_begin_plain(s, CLIENT))
		return;
	/* Data that the client has sent early belongs to the tunnel. */
	d->tail += d->lookahead;
	d->lookahead = 0;
}

static int
ends_with_connection(enum http_framing framing)
{
	return framing == HTTP_BODY_CLOSE || framing == HTTP_BODY_TUNNEL;
}

/* Decides whether the connections are kept. The head announces how the body is sent; that may
 * differ from how it is received. */
static void
decide_keep_alive(struct stream *s)
{
	struct http_txn *t = s->txn;
	enum http_framing received = t->h1[SERVER]->body.framing, sent = t->res.framing;

	if (!h1_persists(&t->res) || ends_with_connection(received))
		http_close_after(t, SERVER);
	/* The stop may have begun after the request was read. */
	if (ends_with_connection(sent) || http_read_is_last(s))
		http_close_after(t, CLIENT);
}

/* Decides the fate of the body, after the rules. One that is dropped and that only the end of
 * the connection ends is not waited for. */
static void
decide_body(struct http_txn *t)
{
	struct h1_body *received = &t->h1[SERVER]->body;

	if (t->res.framing == HTTP_BODY_NONE && received->framing != HTTP_BODY_NONE)
		t->res_body = HTTP_RES_BODY_DROPPED;
	else if (t->res.framing == HTTP_BODY_CLOSE && received->framing == HTTP_BODY_CHUNKED)
		t->res_body = HTTP_RES_BODY_DECHUNKED;
	else
		t->res_body = HTTP_RES_BODY_SENT;
	if (t->res_body == HTTP_RES_BODY_DROPPED && received->framing == HTTP_BODY_CLOSE)
		received->framing = HTTP_BODY_NONE;
}

/* Drops the body if the client has asked for the head alone, whatever a rule has made of its
 * method. */
static void
obey_method(struct http_txn *t)
{
	if (t->asked != HTTP_HEAD || t->method == HTTP_HEAD || t->res.framing == HTTP_BODY_TUNNEL)
		return;
	t->res.method = HTTP_HEAD;
	t->res.framing = HTTP_BODY_NONE;
}

/* The server has responded: the request is not retried. */
static void
forget_copy(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];

	d->keeps_buf = 0;
	if (d->buf && !d->lookahead && !direction_pending(d))
		direction_buf_free(s->engine, d);
}

/* --- the final one --- */

/* more: it is being sent; an event: a local reply replaces it, or it is retried; NONE: a rule waits
 * for its body. The texts made by rules are in the arena until it is written. */
static struct io_step
place_final(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct io_step step = response_rules_run(s);
	unsigned int options;

	if (!step.more)
		return step;
	filtered_begin_response(s);
	if (h1_framing_to_fields(&t->res, t->version) < 0)
		return io_event(exchange_fail(s, 502, 'P', 'H'));
	decide_body(t);
	options = http_strip_hop(&t->res, t->is_proxied);
	if (options & HTTP_HOP_CLOSE)
		http_close_after(t, CLIENT);
	if (exchange_is_plain(s)) {
		if (!tunnel_is_agreed(s, options))
			return io_event(bad_response(s));
		open_tunnel(s);
	}
	t->status = t->res.status;
	if (http_place_response(s) < 0)
		return io_event(exchange_fail(s, 502, 'P', 'H'));
	return step;
}

/* The same, and releases the arena. */
static struct io_step
try_final(struct stream *s)
{
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	struct io_step step = place_final(s);

	arena_release(a, mark);
	return step;
}

/* The operations of a body, or of a tunnel, without filters. */
static const struct relay_ops *
body_ops(const struct stream *s)
{
	if (exchange_is_plain(s))
		return &relay_plain;
	return s->txn->res_body == HTTP_RES_BODY_DROPPED ? &http_dropped_body_ops : &http_body_ops;
}

/* The same with filters: 1, or 0. */
static int
send_filtered(struct stream *s)
{
	if (exchange_is_plain(s))
		return unlikely(stream_may_filter(s)) && filters_begin_plain(s, SERVER);
	if (likely(!stream_filtering(s, SERVER)) || s->txn->res_body == HTTP_RES_BODY_DROPPED)
		return 0;
	s->dir[SERVER].ops = &http_filtered_body_ops;
	return 1;
}

/* Sends the head, and behind it the part of the body that was read with it. As pass_final(). */
static struct io_step
send_with_head(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];
	enum stream_event ev = STREAM_EV_NONE;
	struct io_step step;

	if (exchange_take_ahead(s, SERVER) < 0)
		ev = exchange_reject_body(s, SERVER);
	if (s->txn->res_body != HTTP_RES_BODY_DROPPED)
		exchange_foresee(s, SERVER);
	step = direction_flush(s, SERVER);
	if (step.more)
		direction_event(s, SERVER, DIRECTION_EV_EMPTY);
	step.more = d->state == DIRECTION_OPEN && !direction_pending(d);
	if (ev != STREAM_EV_NONE)
		step.ev = ev;
	return step;
}

/* Sends the final head with the received part of the body. As pass_final(). */
static struct io_step
start_body(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];

	d->ops = body_ops(s);
	forget_copy(s);
	http_count_response(s);
	stream_log_early(s);
	if (!send_filtered(s))
		return send_with_head(s);
	return d->lookahead ? d->ops->read(s, SERVER) : direction_flush(s, SERVER);
}

/* --- a body that a rule waits for --- */

static int
held_body_is_bad(const struct stream *s)
{
	const struct direction *d = &s->dir[SERVER];
	struct h1_body b = s->txn->h1[SERVER]->body;

	return d->lookahead && h1_body_take(&b, d->buf + d->tail, d->lookahead) < 0;
}

/* A rule waits; more: another read is worth a try. There is no retry any more, as in HAProxy. */
static struct io_step
hold_response(struct stream *s)
{
	s->txn->held_ms = stream_now_ms(s);
	s->txn->res_us = (uint16_t)stream_now_us(s);
	s->dir[SERVER].ops = &http_held_ops;
	s->dir[SERVER].keeps_buf = 1;
	forget_copy(s);
	return held_body_is_bad(s) ? io_event(bad_response(s)) : io_more(1);
}

/* More of the body has come, or no more comes: the rules continue. As pass_final(). */
static struct io_step
continue_final(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[SERVER];
	uint64_t came_ms = t->held_ms;
	struct io_step step;

	if (held_body_is_bad(s))
		return io_event(bad_response(s));
	step = try_final(s);
	if (!step.more)
		return step.ev == STREAM_EV_NONE ? io_more(1) : step;
	d->keeps_buf = 0;
	t->held_ms = 0;
	t->res_ms = came_ms;
	step = start_body(s);
	if (step.ev == STREAM_EV_NONE && s->conn[SERVER]->eof && d->state == DIRECTION_OPEN)
		step = io_event(direction_eof(s, SERVER));
	return step;
}

/* One read for the rules. As pass_final(). */
static struct io_step
read_held_body(struct stream *s, int side)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[side];
	struct conn *src = s->conn[side];
	size_t got, at = d->tail + d->lookahead;

	/* Its end may be known while an agent is asked. */
	if (!(src->err || conn_is_ready(src, DIR_R)) || stream_awaits_answer(s))
		return io_stop();
	switch (conn_recv(src, d->buf + at, e->bufsize - at, &got)) {
	case IO_AGAIN:
		return io_stop();
	case IO_OK:
		direction_count(s, side, got);
		d->lookahead += (uint32_t)got;
		break;
	case IO_EOF:
	case IO_ERR:
		break;
	}
	return continue_final(s);
}

enum stream_event
response_take_answer(struct stream *s)
{
	if (s->dir[SERVER].ops != &http_held_ops)
		return STREAM_EV_NONE;
	/* The server was not read meanwhile, and the client sent nothing: their timeouts start
	 * now. */
	s->last_ms[CLIENT] = s->last_ms[SERVER] = stream_now_ms(s);
	return continue_final(s).ev;
}

static uint64_t
held_due(const struct stream *s)
{
	return s->txn->wait_until_ms ? s->txn->wait_until_ms : TIMER_NEVER;
}

/* The rule's time is over: an error, as in HAProxy. */
static enum stream_event
held_late(struct stream *s)
{
	return held_due(s) <= stream_now_ms(s) ? response_late(s, SERVER) : STREAM_EV_NONE;
}

static const struct relay_ops http_held_ops = {
	.read = read_held_body,
	.opaque = exchange_opaque_none,
	.due = held_due,
	.late = held_late,
};

/* --- its head --- */

/* True if an invalid chunk has come with the head, of this length: nothing is sent yet, and the
 * client need not get a response that is cut. */
static int
brings_bad_chunk(const struct stream *s, size_t head)
{
	const struct direction *d = &s->dir[SERVER];
	struct h1_body *body = &s->txn->h1[SERVER]->body, begun = *body;
	const char *p = d->buf + d->tail + head;

	if (begun.framing != HTTP_BODY_CHUNKED || d->lookahead <= head)
		return 0;
	if (h1_body_take(body, p, d->lookahead - head) < 0) {
		http_note_invalid_body(s, SERVER, p, d->lookahead - head);
		return 1;
	}
	*body = begun;
	return 0;
}

/* Stores the server by stick rules, before rules change the response. */
static void
store_stick(struct stream *s)
{
	size_t mark = arena_mark(&s->engine->eval.arena);
	struct eval eval;

	eval_init(&eval, s, rule_place_scope(RULE_HTTP_RESPONSE));
	eval.cx.req_ended = 1;
	stick_store(s, &eval.cx);
	arena_release(&s->engine->eval.arena, mark);
}

/* The final head is complete; more: continue with the body. */
static struct io_step
pass_final(struct stream *s, size_t used)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[SERVER];
	enum stream_event ev;
	struct io_step step;

	h1_body_begin(&t->h1[SERVER]->body, &t->res);
	if (brings_bad_chunk(s, used))
		return io_event(bad_response(s));
	server_observe_status(s->engine, s->srv, t->res.status);
	ev = l7_retry_for_status(s, t->res.status);
	if (ev != STREAM_EV_NONE)
		return io_event(ev);
	if (!proxy_has_rules(&s->be->rules, RULE_TCP_RES_CONTENT))
		http_count_server(s);
	if (unlikely(s->extras != NULL))
		stream_count_tracked_status(s, t->res.status);
	if (http_auth_binds_connection(&t->res))
		s->is_private = 1;
	t->res_version = t->res.version;
	t->has_res_version = 1;
	capture_fields(s, &t->res);
	http_txn_allow_added(s, &t->res);
	obey_method(t);
	if (h1_framing_to_fields(&t->res, t->version) < 0)
		return io_event(bad_response(s));
	decide_keep_alive(s);
	http_end_req_vars(t);
	if (stick_stores(s))
		store_stick(s);
	d->head = d->tail = d->tail + (uint32_t)used;
	d->lookahead -= (uint32_t)used;
	step = try_final(s);
	if (!step.more && step.ev != STREAM_EV_NONE)
		return step;
	if (!step.more)
		return hold_response(s);
	http_note_answer_time(s);
	return start_body(s);
}

static enum h1_parse_status
parse_response_head(struct stream *s, size_t *used)
{
	struct profile *p = loop_timers(s->engine->loop)->profile;
	struct http_txn *t = s->txn;
	const struct direction *d = &s->dir[SERVER];
	uint64_t began = profile_begin(p);
	enum h1_parse_status r = h1_parse_response(
		&t->h1[SERVER]->parser, d->buf + d->tail, d->lookahead, &t->res, used);

	profile_end(p, (profile_fn *)h1_parse_response, began, began);
	return r;
}
PROFILE_NAME(h1_parse_response, parse_response)

/* Parses received data, which may contain several heads; more: another read is worth a try. given:
 * the bytes of a head that has come as data, 0: none. */
static struct io_step
parse_heads(struct stream *s, size_t given)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[SERVER];
	struct io_step step = io_more(1);
	size_t used = given;

	while (d->lookahead && step.more) {
		t->res.method = t->method;
		switch (given ? HTTP_COMPLETE : parse_response_head(s, &used)) {
		case HTTP_MORE:
			if (d->tail + d->lookahead < s->engine->bufsize)
				return step;
			/* fall through */
		case HTTP_BAD:
			http_note_invalid_head(s, SERVER);
			return io_event(bad_response(s));
		case HTTP_COMPLETE:
			break;
		}
		given = 0;
		if (t->res.status >= 200 || t->res.status == 101)
			return pass_final(s, used);
		step = pass_informational(s, used);
		if (step.more && d->lookahead)
			direction_move_lookahead(s->engine, d, s->engine->limits.maxrewrite);
	}
	return step;
}

/* More data follows an informational response that was sent. */
static int
has_next_head(const struct stream *s)
{
	const struct direction *d = &s->dir[SERVER];

	return d->lookahead && !s->txn->h1[SERVER]->parser.at && !direction_pending(d);
}

/* The source has closed after the parsed data. */
static enum stream_event
end_of_source(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];

	if (!http_awaits_head(s, SERVER))
		return direction_eof(s, SERVER);
	/* The response may be there, after an informational one: see has_next_head(). */
	return !d->lookahead || !direction_pending(d) ? no_answer(s) : STREAM_EV_NONE;
}

/* True if a buffer for the head is available. */
static int
get_head_buf(struct stream *s)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[SERVER];

	if (d->buf)
		return 0;
	if (!memory_reserve_buffer(e)) {
		direction_wait_for_buffer(s, SERVER);
		return -1;
	}
	(void)direction_buf_get(e, d);
	d->head = d->tail = e->limits.maxrewrite;
	return 0;
}

/* Takes the head of a server's stream of HTTP/2 into the buffer: its bytes there, 0: there is none,
 * or it comes as text. */
static size_t
take_given_head(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];
	struct http_head *res = &s->txn->res;
	size_t n;

	if (likely(!conn_is_stream(s->conn[SERVER])) || d->lookahead ||
		h2_xprt_take_head(s->conn[SERVER], res, d->buf + d->tail,
			s->engine->bufsize - d->tail, &n) < 0)
		return 0;
	direction_count(s, SERVER, h1_size(res));
	/* One without texts, such as a 204 without fields, has a byte, too. */
	d->lookahead = MAX((uint32_t)n, 1);
	return d->lookahead;
}

static struct io_step
read_head(struct stream *s, int side)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[side];
	struct conn *src = s->conn[side];
	struct io_step step;
	size_t got, at, given;

	if (has_next_head(s)) {
		direction_move_lookahead(e, d, e->limits.maxrewrite);
		step = parse_heads(s, 0);
		if (step.ev != STREAM_EV_NONE || d->ops != &http_response_ops ||
			direction_pending(d))
			return step;
	}
	if (!(src->err || conn_is_ready(src, DIR_R)) || get_head_buf(s) < 0)
		return io_stop();
	given = take_given_head(s);
	at = d->tail + d->lookahead;
	/* Behind a head that has come as data there may be nothing yet. */
	switch (conn_recv(src, d->buf + at, e->bufsize - at, &got)) {
	case IO_AGAIN:
		if (given)
			break;
		speculation_answered(s, 0);
		if (!d->lookahead)
			direction_buf_free(e, d);
		return io_stop();
	case IO_EOF:
	case IO_ERR:
		if (given)
			break;
		return io_event(no_answer(s));
	case IO_OK:
		break;
	}
	direction_count(s, SERVER, got);
	d->lookahead += (uint32_t)got;
	step = parse_heads(s, given);
	/* An end would have been reported with it. */
	speculation_answered(s, s->txn->h1[SERVER]->body.framing != HTTP_BODY_CLOSE);
	if (step.ev == STREAM_EV_NONE && src->eof && d->state == DIRECTION_OPEN &&
		likely(d->ops != &http_held_ops))
		step = io_event(end_of_source(s));
	return step;
}

const struct relay_ops http_response_ops = {
	.read = read_head,
	.opaque = exchange_opaque_none,
};
