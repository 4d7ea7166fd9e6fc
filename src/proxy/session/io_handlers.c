/* Handlers of a session's descriptor events, state by state. Runs on the session's worker. Each
 * handler returns the event that follows and raises none. */
#include "proxy/http1/exchange.h"
#include "proxy/http1/response.h"
#include "proxy/model/stream_extras.h"

#include <errno.h>

#include "proxy/model/termination.h"
#include "proxy/relay/direction.h"
#include "proxy/relay/speculation.h"
#include "proxy/session/handlers.h"
#include "base/counter.h"
#include "net/outbound.h"
#include "proxy/model/count.h"
#include "proxy/model/filter.h"
#include "proxy/session/connect.h"

/* --- state HANDSHAKE: the proxy of a server is asked, then the handshake of its transport --- */

/* True of the failures of a handshake that HAProxy's bc_err distinguishes. */
static int
is_told_apart(enum conn_err err)
{
	return err == CONN_ERR_TLS_HOST || err == CONN_ERR_TLS_NAME || err == CONN_ERR_TLS_NOMEM;
}

/* A server that is not connected has not refused the handshake. */
static enum stream_event
refuse_handshake(struct stream *s)
{
	const struct xprt *x = s->conn[SERVER]->xprt;

	if (x && s->conn[SERVER]->sends) {
		s->server_err = is_told_apart(x->failure) ? x->failure : CONN_ERR_TLS_FAILED;
		counter_add(&srv_stat(s)->tls.failed, 1);
		counter_add(&be_stat(s)->tls.failed, 1);
	}
	return STREAM_EV_REFUSED;
}

/* Continues the handshake of the server's transport. */
static enum stream_event
continue_handshake(struct stream *s)
{
	struct conn *c = s->conn[SERVER];

	if (!conn_is_ready(c, DIR_R))
		return STREAM_EV_NONE;
	switch (conn_handshake(c)) {
	case IO_OK:
		count_handshake(&srv_stat(s)->tls, c);
		count_handshake(&be_stat(s)->tls, c);
		return STREAM_EV_UP;
	case IO_AGAIN:
		return STREAM_EV_NONE;
	case IO_EOF:
	case IO_ERR:
		break;
	}
	return refuse_handshake(s);
}

/* Begins the server's own side: with the PROXY header, if it wants one. */
static enum stream_event
reach_server(struct stream *s)
{
	const struct xprt_maker *xprt = server_xprt(s);
	int r = xprt ? conn_begin_xprt(s->conn[SERVER], s->engine->hooks.on_server_io, s, xprt) : 0;

	r = r < 0 ? -ENOMEM : connect_begin_server(s);
	if (r < 0) {
		s->connect_err = (int16_t)-r;
		return STREAM_EV_REFUSED;
	}
	return xprt ? continue_handshake(s) : STREAM_EV_UP;
}

static enum stream_event
handshake_event(struct stream *s, enum socks4_step step)
{
	switch (step) {
	case SOCKS4_SENDS:
	case SOCKS4_READS:
		return STREAM_EV_NONE;
	case SOCKS4_GRANTED:
		return reach_server(s);
	case SOCKS4_DENIED:
	case SOCKS4_CLOSED:
	case SOCKS4_FAILED:
		break;
	}
	s->server_err = (uint8_t)socks4_error(step);
	return STREAM_EV_REFUSED;
}

static enum stream_event
handshake_proceed(struct stream *s)
{
	struct conn *c = s->conn[SERVER];

	if (c->xprt)
		return continue_handshake(s);
	return handshake_event(s, socks4_proceed(c, &s->handshake_got));
}

enum stream_event
stream_do_handshake(struct stream *s)
{
	s->handshake_got = 0;
	return handshake_proceed(s);
}

/* Sends the hello in the turn of the connect(), without knowing that the connection is there, as a
 * request is sent without TLS. */
static enum stream_event
handshake_try(struct stream *s)
{
	struct conn *c = s->conn[SERVER];
	enum stream_event next = STREAM_EV_NONE;

	if (conn_is_ready(c, DIR_W)) {
		next = continue_handshake(s);
		speculation_tried_handshake(s, c->sends > 0);
	}
	if (next != STREAM_EV_NONE)
		return next;
	if (c->sends)
		return STREAM_EV_AWAIT_HANDSHAKE;
	conn_again(c, DIR_W);
	return STREAM_EV_NONE;
}

enum stream_event
handshake_io(struct stream *s, int side, uint32_t ev)
{
	struct conn *c = s->conn[SERVER];
	enum stream_event next;

	if (side == CLIENT)
		return early_io(s, side, ev);
	next = handshake_proceed(s);
	if (next == STREAM_EV_NONE && (ev & EV_ERR) && conn_take_error(c))
		next = refuse_handshake(s);
	return next;
}

/* --- the client alone --- */

enum session_event
header_io(struct session *sess, uint32_t ev)
{
	enum session_event next = SESSION_EV_NONE;

	if (ev & EV_R)
		next = proxy_protocol_read(sess);
	if (next == SESSION_EV_NONE && (ev & EV_ERR) && conn_take_error(&sess->conn))
		next = SESSION_EV_CLIENT_GONE;
	return next;
}

enum session_event
client_handshake_io(struct session *sess, uint32_t ev)
{
	enum session_event next = client_handshake(sess);

	if (next == SESSION_EV_NONE && (ev & EV_ERR) && conn_take_error(&sess->conn))
		next = SESSION_EV_CLIENT_GONE;
	return next;
}

enum stream_event
inspect_io(struct stream *s, int side, uint32_t ev)
{
	enum stream_event next = STREAM_EV_NONE;

	(void)side;
	if (ev & EV_R)
		next = tcp_content_read(s);
	if (next == STREAM_EV_NONE && (ev & EV_ERR) && conn_take_error(s->conn[CLIENT]))
		next = STREAM_EV_CLIENT_GONE;
	return next;
}

/* True if a client without a server has closed, and none of its data is left to be sent. A request
 * is only useful as a whole. */
static int
has_ended_early(const struct stream *s)
{
	const struct direction *d = &s->dir[CLIENT];

	if (s->txn)
		return d->broken;
	return d->state != DIRECTION_OPEN && !direction_pending(d);
}

/* True with option abortonclose: a client that closes its side while there is no server has given
 * up. */
static int
aborts_on_close(struct stream *s)
{
	if (!(s->be->options & OPT_ABORTONCLOSE))
		return 0;
	return s->txn ? exchange_client_left(s) : s->dir[CLIENT].state != DIRECTION_OPEN;
}

/* The client's data is kept, and its end is noticed. */
static enum stream_event
client_io_early(struct stream *s, uint32_t ev)
{
	enum stream_event next = STREAM_EV_NONE;

	if (s->txn)
		next = exchange_collect(s);
	else
		direction_collect(s);
	/* Without a read the error has to be queried. */
	if ((ev & EV_ERR) && !s->conn[CLIENT]->err &&
		(s->dir[CLIENT].state != DIRECTION_OPEN || s->dir[CLIENT].left_in_kernel) &&
		conn_take_error(s->conn[CLIENT]))
		direction_side_failed(s, CLIENT);
	if (s->conn[CLIENT]->err || has_ended_early(s))
		return STREAM_EV_CLIENT_GONE;
	return next;
}

enum stream_event
early_io(struct stream *s, int side, uint32_t ev)
{
	enum stream_event next = STREAM_EV_NONE;

	if (side == CLIENT)
		next = client_io_early(s, ev);
	if (next == STREAM_EV_NONE && side == CLIENT && aborts_on_close(s))
		next = STREAM_EV_CLIENT_GONE;
	return next;
}

/* --- connecting --- */

/* The result of connect(). HUP or RDHUP alone means that a server has responded and closed
 * already. */
enum stream_event
connect_io(struct stream *s, int side, uint32_t ev)
{
	int may_have_failed = (ev & EV_ERR) || !loop_has_errors(s->engine->loop);

	if (side == CLIENT)
		return early_io(s, side, ev);
	if (may_have_failed && conn_take_error(s->conn[SERVER]))
		return STREAM_EV_REFUSED;
	return ev & EV_RW ? handshake_or_up(s) : STREAM_EV_NONE;
}

/*
 * In the same turn as connect(): the client's request has probably arrived, and a near server is
 * probably connected. A successful send proves it without a query.
 */
enum stream_event
first_io(struct stream *s)
{
	enum stream_event next = client_io_early(s, 0);
	int sent;

	if (next != STREAM_EV_NONE || unlikely(s->joins))
		return next;
	if (unlikely(conn_awaits_handshake(s->conn[SERVER])))
		return handshake_try(s);
	/* A proxy has to be asked for the server first, and filters of TCP before bytes leave. */
	sent = unlikely(s->srv->conf.socks4.len || s->srv->conf.proto == MUX_H2 ||
		(!s->txn && stream_may_filter(s)))
		? 0
		: speculation_send(s);
	if (sent < 0)
		return STREAM_EV_REFUSED;
	if (sent > 0)
		return STREAM_EV_UP;
	conn_again(s->conn[SERVER], DIR_W);
	return aborts_on_close(s) ? STREAM_EV_CLIENT_GONE : STREAM_EV_NONE;
}

/* --- both sides --- */

/*
 * With option tcp-smart-connect the first bytes of a response are left unread for one poll without
 * waiting: the FIN of a server that closes follows soon, and data read together with it is sent in
 * one segment.
 */
static int
waits_for_fin(const struct stream *s, int side)
{
	const struct conn *c = s->conn[side];

	/* In mode http the response's framing decides whether a FIN matters. */
	return side == SERVER && !s->txn && !s->looked_again &&
		(s->be->options & OPT_SMART_CONNECT) && !s->dir[SERVER].bytes &&
		s->dir[CLIENT].bytes &&
		!(conn_seen(c) & (EV_RDHUP | EV_HUP | EV_ERR));
}

/* The side is readable. */
static enum stream_event
relay_readable(struct stream *s, int side)
{
	struct conn *c = s->conn[side];
	enum stream_event next;

	if (waits_for_fin(s, side)) {
		s->looked_again = 1;
		if (conn_is_ready(c, DIR_R))
			return STREAM_EV_NONE;
	}
	next = direction_pump(s, side);
	if (s->dir[side].reads_early)
		speculation_was_read(s, side);
	return next;
}

/* With option abortonclose it has closed before the response: it gets a 400, as from HAProxy. */
static enum stream_event
client_abandons(struct stream *s)
{
	stream_note_abandoned(s, 'H');
	http_close_after(s->txn, CLIENT);
	return exchange_fail(s, 400, 'C', 'H');
}

enum stream_event
relay_task(struct stream *s)
{
	enum stream_event ev;

	if (likely(!s->extras) || !stream_has_answer(s))
		return STREAM_EV_NONE;
	if (s->txn)
		ev = response_take_answer(s);
	else
		ev = s->dir[SERVER].ops->late ? s->dir[SERVER].ops->late(s) : STREAM_EV_NONE;
	return ev == STREAM_EV_NONE ? direction_pump_now(s, SERVER) : ev;
}

enum stream_event
relay_io(struct stream *s, int side, uint32_t ev)
{
	struct conn *c = s->conn[side];
	enum stream_event next = STREAM_EV_NONE;

	if (side == CLIENT && (ev & EV_R) && s->txn && exchange_client_left(s)) {
		if (!c->err)
			return client_abandons(s);
		direction_side_failed(s, CLIENT);
		return next;
	}
	if ((ev & EV_W) && conn_is_ending(c))
		conn_finish(c);
	if (ev & EV_R)
		next = relay_readable(s, side);
	if (next == STREAM_EV_NONE && (ev & EV_W))
		next = direction_pump(s, !side);
	if (next != STREAM_EV_NONE)
		return next;
	/* After a reset a side accepts no more data; data that it sent before can still be read. */
	if ((ev & EV_ERR) && (!c->err || (ev & DIRECTION_EV_TAKEN))) {
		if (s->dir[side].state == DIRECTION_OPEN)
			direction_event(s, !side, DIRECTION_EV_SINK_ERR);
		else if (c->err || conn_take_error(c))
			direction_side_failed(s, side);
	}
	return next;
}

/* True if a server that has answered before the end of the request gets the rest of it: one that
 * keeps its connection may store what it has accepted. */
static int
server_takes_rest(const struct stream *s)
{
	const struct conn *c = s->conn[SERVER];
	unsigned int state = s->dir[CLIENT].state;

	return (state == DIRECTION_OPEN || state == DIRECTION_TAIL) &&
		s->dir[SERVER].state == DIRECTION_DONE && http_keeps(s->txn, SERVER) &&
		!c->eof && !c->err;
}

enum stream_event
relay_outcome(const struct stream *s)
{
	const struct direction *req = &s->dir[CLIENT], *res = &s->dir[SERVER];

	if (exchange_is_plain(s)) {
		if (req->state != DIRECTION_CLOSED || res->state != DIRECTION_CLOSED)
			return STREAM_EV_NONE;
		if (req->broken || res->broken)
			return STREAM_EV_RESET;
		/* Without its closing message a stream would be a truncated one. */
		if (conn_is_ending(s->conn[CLIENT]) || conn_is_ending(s->conn[SERVER]))
			return STREAM_EV_NONE;
		return STREAM_EV_BOTH_CLOSED;
	}
	if (!direction_is_over(res))
		return STREAM_EV_NONE;
	if (res->state == DIRECTION_CLOSED && res->broken)
		return STREAM_EV_RESET;
	if (unlikely(server_takes_rest(s)))
		return STREAM_EV_NONE;
	return exchange_has_request(s->txn) ? STREAM_EV_EXCHANGED : STREAM_EV_DRAIN_REQUEST;
}

enum stream_event
linger_io(struct stream *s, int side, uint32_t ev)
{
	/* The side that should have got the rest is gone too. */
	return (ev & EV_ERR) && (!s->conn[side]->err || (ev & DIRECTION_EV_TAKEN))
		? STREAM_EV_CLIENT_GONE
		: STREAM_EV_NONE;
}
