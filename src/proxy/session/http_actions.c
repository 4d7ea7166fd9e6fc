/* Actions of the session machine on transitions that only mode http has: see actions.c. */
#include "proxy/session/actions.h"
#include "proxy/model/byte_count.h"
#include "proxy/sample/capture.h"
#include "proxy/model/count.h"
#include "proxy/model/termination.h"
#include "proxy/http1/exchange.h"
#include "proxy/relay/direction.h"
#include "proxy/relay/speculation.h"
#include "proxy/model/http_count.h"
#include "proxy/http1/http_read.h"
#include "h2/h2_xprt.h"
#include "proxy/http1/http_reply.h"
#include "base/counter.h"
#include "net/zerocopy.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/model/memory.h"
#include "proxy/model/stream_extras.h"
#include "proxy/backend/queue.h"
#include "proxy/backend/server_place.h"
#include "proxy/http1/request.h"
#include "proxy/http1/response.h"
#include "proxy/session/stream_post.h"

#include <string.h>

/* Time for the client to receive the rest of its response before its connection is closed. */
#define LINGER_CLOSE_MAX_MS 30000u

/* Its first bytes have probably arrived with it. */
enum stream_event
stream_do_await_data(struct stream *s)
{
	stream_post(s, STREAM_EV_NONE);
	return STREAM_EV_NONE;
}

/* Hands the bytes to the session: they are HTTP/2, and no request of this stream. */
enum stream_event
stream_do_leave_request(struct stream *s)
{
	http_txn_put(s);
	captures_end(s);
	s->own_line = STREAM_LINE_NONE;
	return STREAM_EV_NONE;
}

/* --- a head that does not come --- */

/* No byte of a request has arrived: no reply, no log line. */
static int
ends_silently(const struct stream *s)
{
	return !s->txn && (s->sess->requests || (s->sess->fe->options & OPT_HTTP_IGNORE_PROBES));
}

static enum stream_event
no_request(struct stream *s, char cause, unsigned int status)
{
	if (ends_silently(s)) {
		s->own_line = STREAM_LINE_NONE;
		return STREAM_EV_CLOSE;
	}
	stream_set_term(s, cause, 'R');
	count_failed_req(s);
	if (unlikely(s->extras != NULL))
		stream_count_refused(s, status);
	if (s->txn)
		s->txn->no_timers = !request_is_taken(s);
	else if (!memory_reserve(s->engine, &s->engine->pools.txn) || !http_txn_get_awaited(s))
		return STREAM_EV_CLOSE;
	http_close_after(s->txn, CLIENT);
	s->txn->status = status;
	if (!s->conn[CLIENT]->err)
		return STREAM_EV_ANSWER;
	/* A client that has reset gets no reply; logs and counters still have its status. */
	http_count_request(s);
	http_count_response(s);
	return STREAM_EV_CLOSE;
}

enum stream_event
stream_do_read_timeout(struct stream *s)
{
	return no_request(s, 'c', 408);
}

enum stream_event
stream_do_read_abort(struct stream *s)
{
	/* As in HAProxy: a connection that was upgraded before its first byte ends unnoticed. */
	if (!s->txn && stream_upgraded_to(s)) {
		s->own_line = STREAM_LINE_NONE;
		return STREAM_EV_CLOSE;
	}
	return no_request(s, 'C', 400);
}

/* --- answers of our own --- */

/* Drops the unsent rest of a request. */
static void
forget_request(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];

	direction_discard_pending(s->engine, d);
	if (exchange_has_request(s->txn))
		direction_event(s, CLIENT, DIRECTION_EV_EMPTY);
	else if (s->txn->head_ms)
		http_close_after(s->txn, CLIENT);
}

/*
 * A backend may discard the rest of its servers' data (option nolinger). With tcp-smart-connect a
 * server that has closed is reset: a FIN would cost another segment for the ACK.
 */
static void
hurry_server(struct stream *s)
{
	const struct conn *c = s->conn[SERVER];
	unsigned int asks = OPT_NOLINGER | (c->eof ? OPT_SMART_CONNECT : 0);

	if (s->be && (s->be->options & asks) && conn_is_open(c) && !c->err)
		conn_reset_on_close(s->conn[SERVER]);
}

static void
close_server(struct stream *s)
{
	hurry_server(s);
	if (s->txn && unlikely(conn_is_stream(s->conn[SERVER])))
		s->txn->server_rst = h2_rst_of(s->conn[SERVER]);
	zerocopy_close(&s->engine->zerocopy, s->conn[SERVER]);
	server_conn_close(s->engine, s->srv, s->conn[SERVER]);
}

static void
leave_server(struct stream *s)
{
	s->posted = STREAM_EV_NONE;
	close_server(s);
	queue_leave(s);
}

enum stream_event
stream_do_answer(struct stream *s)
{
	if (!s->txn->head_ms)
		http_count_request(s);
	leave_server(s);
	forget_request(s);
	/* The client may have been silent for `timeout client`: it gets as long again to read. */
	s->last_ms[CLIENT] = stream_now_ms(s);
	http_reply_send(s);
	return STREAM_EV_NONE;
}

enum stream_event
stream_do_tarpit(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];

	forget_request(s);
	if (d->buf && !d->lookahead)
		direction_buf_free(s->engine, d);
	return STREAM_EV_NONE;
}

/* The delay is logged as time in a queue (manual, PT). */
enum stream_event
stream_do_tarpit_end(struct stream *s)
{
	s->queued_ms = stream_now_ms(s);
	s->queued_us = US_BITS(stream_now_us(s));
	return stream_do_answer(s);
}

/* The times of a server end with its response. The log line waits for the client, as in HAProxy. */
enum stream_event
stream_do_drain_request(struct stream *s)
{
	stream_end_exchange(s, 0);
	http_close_after(s->txn, CLIENT);
	leave_server(s);
	direction_discard_pending(s->engine, &s->dir[CLIENT]);
	direction_event(s, CLIENT, DIRECTION_EV_ABORT);
	conn_shut(s->conn[CLIENT]);
	s->last_ms[CLIENT] = stream_now_ms(s);
	return STREAM_EV_NONE;
}

/* Data from the client would cause a reset while it still reads the end of its response: 1, and it
 * gets more time. */
static int
extend_lingering(struct stream *s)
{
	struct conn *c = s->conn[CLIENT];
	unsigned int ms = s->sess->fe->to.client;
	uint64_t end = s->state_ms + (ms ? MIN(ms, LINGER_CLOSE_MAX_MS) : LINGER_CLOSE_MAX_MS);

	if (stream_now_ms(s) >= end || !conn_unsent(c))
		return 0;
	s->last_ms[CLIENT] = stream_now_ms(s);
	return 1;
}

enum stream_event
stream_do_reply_timeout(struct stream *s)
{
	if (conn_is_ending(s->conn[CLIENT]))
		return STREAM_EV_CLOSE;
	if (http_reply_drains(s) && extend_lingering(s))
		return STREAM_EV_NONE;
	if (http_reply_drains(s)) {
		if (http_reply_awaits_rest(s))
			stream_note_late(s, CLIENT);
		return STREAM_EV_CLOSE;
	}
	if (stream_now_ms(s) < http_reply_deadline(s))
		return http_reply_task(s);
	stream_set_term(s, 'c', 'D');
	if (!s->conn[CLIENT]->err)
		conn_reset_on_close(s->conn[CLIENT]);
	return STREAM_EV_CLOSE;
}

/* --- once more --- */

/* The request is restored as before it was sent, and uses a new connection, unless a server of
 * HTTP/2 has only refused its stream. */
enum stream_event
stream_do_l7_retry(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct direction *req = &s->dir[CLIENT], *res = &s->dir[SERVER];

	t->fresh = !conn_is_unprocessed(s->conn[SERVER]);
	close_server(s);
	if (req->state == DIRECTION_DONE) {
		direction_event(s, CLIENT, DIRECTION_EV_RESET);
		direction_event(s, CLIENT, DIRECTION_EV_MSG_END);
	}
	req->head = t->start;
	/* The client has received a part of the pending data: an informational response. */
	res->lookahead = 0;
	if (res->buf && !direction_pending(res))
		direction_buf_free(s->engine, res);
	res->bytes = res->counted = 0;
	response_expect_head(s);
	if (s->retries)
		s->redispatch = (uint8_t)stream_redispatches(s, s->retries);
	t->reused = 0;
	speculation_cancel(s);
	s->connected_ms = 0;
	s->wake_ms = stream_now_ms(s);
	return STREAM_EV_NONE;
}

/* --- the next request --- */

static int
expects_next_request(const struct stream *s)
{
	const struct conn *c = s->conn[CLIENT];

	/* A stream of HTTP/2 carries one request. */
	return !s->is_carried && http_keeps(s->txn, CLIENT) &&
		s->dir[CLIENT].state == DIRECTION_DONE &&
		s->dir[SERVER].state == DIRECTION_DONE && !c->err &&
		(!c->eof || s->dir[CLIENT].lookahead);
}

static void
reset_direction(struct stream *s, int side)
{
	struct direction *d = &s->dir[side];

	direction_event(s, side, DIRECTION_EV_RESET);
	d->ops = &relay_plain;
	d->bytes = d->lookahead;
	d->counted = 0;
	d->keeps_buf = 0;
	d->burst = 0;
	d->short_bursts = d->is_bulk = d->no_splice = 0;
	if (!d->lookahead && d->buf)
		direction_buf_free(s->engine, d);
}

/* Begins the next request: like a new stream, except for data that was read already. */
static void
reset_stream(struct stream *s)
{
	reset_direction(s, CLIENT);
	reset_direction(s, SERVER);
	stream_clear_exchange(s);
	speculation_cancel(s);
	s->term[0] = s->term[1] = '-';
	/* Nothing to log before the next request. */
	s->own_line = STREAM_LINE_NONE;
	s->state_ms = s->last_ms[CLIENT] = stream_now_ms(s);
}

static void
move_next_request(struct stream *s)
{
	direction_move_lookahead(s->engine, &s->dir[CLIENT], s->engine->limits.maxrewrite);
	stream_post(s, STREAM_EV_NONE);
}

/* Both messages ended exactly, and the server keeps the connection open. The pool is only for
 * connections that any session may use. */
static void
keep_server(struct stream *s)
{
	struct engine *e = s->engine;
	int own = s->is_private || (s->be && s->be->http.reuse == HTTP_REUSE_NEVER) ||
		(s->srv && (s->srv->conf.proxy_header ||
				   source_is_of_client(&s->srv->conf.source)));

	if (!conn_is_open(s->conn[SERVER]) || conn_is_stream(s->conn[SERVER]) ||
		stream_packets(s) || !http_keeps(s->txn, SERVER) ||
		s->dir[CLIENT].state != DIRECTION_DONE || s->dir[SERVER].state != DIRECTION_DONE)
		return;
	/* The streams of a connection share no server connection of their client. */
	if (own && (!http_keeps(s->txn, CLIENT) || s->is_carried))
		return;
	if (own) {
		conn_pool_release(e, &s->sess->held);
		s->sess->held_private = s->is_private;
	}
	(void)conn_pool_put(e, s->srv, s->conn[SERVER], s->uses + 1, own ? &s->sess->held : NULL);
}

/* Without its closing message a response that ends with its connection would look truncated: 1, and
 * the client's socket has no room for it yet. */
static int
owes_end(struct stream *s)
{
	struct conn *c = s->conn[CLIENT];

	if (!conn_is_ending(c))
		conn_finish(c);
	return conn_is_ending(c);
}

enum stream_event
stream_do_next_request(struct stream *s)
{
	stream_end_exchange(s, 1);
	stream_count_bytes(s);
	s->own_line = STREAM_LINE_WRITTEN;
	keep_server(s);
	if (!expects_next_request(s))
		return exchange_needs_lingering_close(s) || owes_end(s) ? STREAM_EV_DRAIN_REQUEST
									: STREAM_EV_CLOSE;
	close_server(s);
	http_txn_put(s);
	captures_end(s);
	reset_stream(s);
	if (s->dir[CLIENT].lookahead)
		move_next_request(s);
	return STREAM_EV_NONE;
}

enum stream_event
stream_do_close_http(struct stream *s)
{
	struct conn *c = s->conn[CLIENT];

	if ((s->sess->fe->options & OPT_NOLINGER) && !c->err) {
		/* The last piece may wait for more. A reply that the client did not take must not
		 * look complete. */
		if (s->term[0] != 'c' && s->term[0] != 'C')
			conn_shut(c);
		conn_reset_on_close(c);
	}
	hurry_server(s);
	return stream_do_close(s);
}
