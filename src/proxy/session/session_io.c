/*
 * What reaches a session from the loop: events of its descriptors, its tasks and its deadline; and
 * what follows from each, interest and deadline derived anew.
 */
#include "proxy/session/session_io.h"

#include "base/log.h"
#include "proxy/session/proxy_protocol_in.h"
#include "proxy/model/count.h"
#include "proxy/session/derive.h"
#include "proxy/http1/exchange.h"
#include "proxy/relay/direction.h"
#include "proxy/http1/http_read.h"
#include "proxy/http1/http_reply.h"
#include "proxy/session/tcp_content_rules.h"

/* --- what came --- */

/* A client without a server has ended, and nothing of it is left to be sent. A request is only of
 * use as a whole. */
static int
has_gone_early(const struct session *s)
{
	const struct direction *h = &s->dir[CLIENT];

	if (s->txn)
		return h->broken;
	return h->state != DIRECTION_OPEN && !direction_pending(h);
}

/* Before there is a server: the client's bytes are kept, and its end is noticed. */
static void
client_io_early(struct session *s, uint32_t ev)
{
	if (s->txn)
		exchange_collect(s);
	else
		direction_collect(s);
	/* Where it is not read the error has to be asked for. */
	if ((ev & EV_ERR) && !s->conn[CLIENT].err &&
		(s->dir[CLIENT].state != DIRECTION_OPEN || s->dir[CLIENT].left_in_kernel) &&
		conn_take_error(&s->conn[CLIENT]))
		session_side_failed(s, CLIENT);
	if (s->conn[CLIENT].err || has_gone_early(s))
		session_event(s, SESSION_EV_CLIENT_GONE);
}

/* With option abortonclose whoever ends its side while there is no server has lost interest. */
static void
leave_if_aborted(struct session *s)
{
	if (s->state == SESSION_CLOSED || !(s->be->options & OPT_ABORTONCLOSE))
		return;
	if (s->txn ? exchange_is_left(s) : s->dir[CLIENT].state != DIRECTION_OPEN)
		session_event(s, SESSION_EV_CLIENT_GONE);
}

/* The answer to connect(). HUP or RDHUP alone is a server that has answered and closed already. */
static void
server_io_connect(struct session *s, uint32_t ev)
{
	int may_have_failed = (ev & EV_ERR) || !loop_has_errors(s->engine->loop);

	if (may_have_failed && conn_take_error(&s->conn[SERVER]))
		session_event(s, SESSION_EV_REFUSED);
	else if (ev & EV_RW)
		session_event(s, SESSION_EV_UP);
	if (s->state == SESSION_RELAY && (ev & EV_R))
		direction_pump(s, SERVER);
}

/*
 * With option tcp-smart-connect the first bytes of an answer are left unread for one look at the
 * poller that does not wait: the FIN of a server that closes follows them closely, and what is read
 * together leaves in one segment.
 */
static int
looks_again(struct session *s, int side)
{
	struct conn *c = &s->conn[side];

	/* In mode http it is for the response to say whether a FIN matters. */
	if (side != SERVER || s->txn || s->looked_again || !(s->be->options & OPT_SMART_CONNECT) ||
		s->dir[SERVER].bytes || !s->dir[CLIENT].bytes ||
		(loop_seen(c->loop, c->fd) & (EV_RDHUP | EV_HUP | EV_ERR)))
		return 0;
	s->looked_again = 1;
	return loop_is_ready(c->loop, c->fd, DIR_R);
}

static void
io_relay(struct session *s, int side, uint32_t ev)
{
	struct conn *c = &s->conn[side];

	if (side == CLIENT && (ev & EV_R) && s->txn && exchange_is_left(s)) {
		session_side_failed(s, CLIENT);
		return;
	}
	if ((ev & EV_R) && !looks_again(s, side))
		direction_pump(s, side);
	if (ev & EV_W)
		direction_pump(s, !side);
	/* Once reset, a side takes no more bytes; those it had sent before are still there to be
	 * read. */
	if ((ev & EV_ERR) && (!c->err || (ev & DIRECTION_EV_TAKEN))) {
		if (s->dir[side].state == DIRECTION_OPEN)
			direction_event(s, !side, DIRECTION_EV_SINK_ERR);
		else if (c->err || conn_take_error(c))
			session_side_failed(s, side);
	}
}

void
session_on_io(void *owner, int fd, uint32_t ev)
{
	struct session *s = owner;
	int side = fd == s->conn[CLIENT].fd ? CLIENT : SERVER;

	/* It was ended earlier in this turn: what comes now is not counted any more. */
	if (s->state == SESSION_CLOSED)
		return;
	ev = direction_take_zc_completions(s, side, ev);
	if (ev & EV_SPIN) {
		log_msg(s->engine->log, LOG_LEVEL_ALERT,
			"session %llu: %s side in state %s made no progress, ended",
			(unsigned long long)s->id, side == CLIENT ? "client" : "server",
			session_state_name(s->state));
		s->term[0] = 'I';
		session_event(s, SESSION_EV_KILL);
	} else if (s->state == SESSION_RELAY) {
		io_relay(s, side, ev);
	} else if (s->state == SESSION_LINGER) {
		/* The side that was to get the rest is gone as well. */
		if ((ev & EV_ERR) && (!s->conn[side].err || (ev & DIRECTION_EV_TAKEN)))
			session_event(s, SESSION_EV_CLIENT_GONE);
	} else if (s->state == SESSION_PROXY_HEADER) {
		proxy_protocol_io(s, ev);
	} else if (s->state == SESSION_READ) {
		http_read_io(s, ev);
	} else if (s->state == SESSION_INSPECT) {
		tcp_content_io(s, ev);
	} else if (s->state == SESSION_REPLY) {
		http_reply_io(s, ev);
	} else if (s->state == SESSION_TARPIT) {
		http_tarpit_io(s, ev);
	} else if (side == CLIENT) {
		client_io_early(s, ev);
		leave_if_aborted(s);
	} else if (s->state == SESSION_CONNECT) {
		server_io_connect(s, ev);
	}
	session_settle(s);
}

/*
 * The request is out, and a quick server has answered before the next turn: then nobody has to tell
 * us, and an fd that lives for one request is never registered.
 */
static void
hope(struct session *s)
{
	struct conn *c = &s->conn[SERVER];

	if (s->state != SESSION_RELAY || !s->txn || !exchange_has_request(s->txn) ||
		!server_is_quick(srv_shard(s, s->srv)))
		return;
	s->speculates_read = 1;
	loop_presume_ready(c->loop, c->fd, DIR_R);
}

/*
 * The first exchange, in the same turn as connect(): the client's request has most likely come, and
 * a near server is most likely connected. A send that works says so without asking.
 */
static void
first_io(struct session *s)
{
	int r;

	client_io_early(s, 0);
	if (s->state != SESSION_CONNECT)
		return;
	r = direction_speculative_send(s);
	if (r < 0) {
		session_event(s, SESSION_EV_REFUSED);
	} else if (r > 0) {
		session_event(s, SESSION_EV_UP);
		hope(s);
	} else {
		loop_again(s->engine->loop, s->conn[SERVER].fd, DIR_W);
		leave_if_aborted(s);
	}
}

void
session_on_task(struct task *t)
{
	struct session *s = container_of(t, struct session, task);
	enum session_event ev = s->posted;

	s->posted = SESSION_EV_NONE;
	if (ev != SESSION_EV_NONE)
		session_event(s, ev);
	else if (s->state == SESSION_CONNECT)
		first_io(s);
	else if (s->state == SESSION_READ)
		http_read(s);
	else if (s->state == SESSION_INSPECT)
		tcp_content_read(s);
	else if (s->state == SESSION_PROXY_HEADER)
		proxy_protocol_read(s);
	session_settle(s);
}

/* It waited for a buffer, and may ask for one again: 1 when it did. */
static int
has_starved(struct session *s, int side)
{
	int was = s->dir[side].waits_for_buffer;

	s->dir[side].waits_for_buffer = 0;
	if (was)
		direction_reap_zc(s);
	return was;
}

/* There may be a few bytes of a slow head, too few to end it, but perhaps bad ones: 1, and they are
 * tried. */
static int
was_not_told(struct session *s)
{
	struct conn *c = &s->conn[CLIENT];

	if (!conn_ignores_few(c))
		return 0;
	loop_presume_ready(c->loop, c->fd, DIR_R);
	return 1;
}

/*
 * Whoever has something to read is not late: bytes that were left for another look at the poller,
 * that one dispatch did not get to, or whose event did not fit into a full array. An end by timeout
 * with bytes unread would be a cut stream that looks whole.
 */
static int
is_late(struct session *s)
{
	struct loop *l = s->engine->loop;

	if (s->state == SESSION_READ && (has_starved(s, CLIENT) || was_not_told(s))) {
		http_read(s);
		return session_deadline(s) <= loop_now_ms(l) && s->state == SESSION_READ;
	}
	if (s->state == SESSION_INSPECT) {
		if (has_starved(s, CLIENT) || loop_left_events(l))
			tcp_content_read(s);
		return s->state == SESSION_INSPECT && session_deadline(s) <= loop_now_ms(l);
	}
	if (s->state == SESSION_PROXY_HEADER) {
		if (has_starved(s, CLIENT) || loop_left_events(l))
			proxy_protocol_read(s);
		return s->state == SESSION_PROXY_HEADER && session_deadline(s) <= loop_now_ms(l);
	}
	if (s->state != SESSION_RELAY)
		return 1;
	(void)has_starved(s, SERVER);
	for (int side = 0; side < SIDES; side++) {
		if (!(session_wants(s, side) & EV_R) && !s->dir[side].waits)
			continue;
		if (loop_left_events(l))
			loop_presume_ready(l, s->conn[side].fd, DIR_R);
		direction_pump_now(s, side);
	}
	return session_deadline(s) <= loop_now_ms(l);
}

void
session_on_timer(struct timer *t)
{
	struct session *s = container_of(t, struct session, timer);

	if (is_late(s))
		session_event(s, SESSION_EV_TIMEOUT);
	session_settle(s);
}

void
session_go_on(struct session *s, int side)
{
	if (s->state != SESSION_RELAY)
		return;
	direction_pump_now(s, side);
	session_settle(s);
}

void
session_post(struct session *s, enum session_event ev)
{
	s->posted = ev;
	loop_post(s->engine->loop, &s->task);
}

/* --- after each dispatch --- */

void
session_want(struct session *s, int side, unsigned int dirs)
{
	if (conn_is_open(&s->conn[side]))
		loop_want(s->engine->loop, s->conn[side].fd, dirs);
}

/* What both directions together have come to, or NONE. */
static enum session_event
relay_result(const struct session *s)
{
	const struct direction *req = &s->dir[CLIENT], *res = &s->dir[SERVER];

	if (exchange_is_plain(s)) {
		if (req->state != DIRECTION_CLOSED || res->state != DIRECTION_CLOSED)
			return SESSION_EV_NONE;
		return req->broken || res->broken ? SESSION_EV_RESET : SESSION_EV_BOTH_CLOSED;
	}
	if (!direction_is_over(res))
		return SESSION_EV_NONE;
	if (res->state == DIRECTION_CLOSED && res->broken)
		return SESSION_EV_RESET;
	return exchange_has_request(s->txn) ? SESSION_EV_EXCHANGED : SESSION_EV_DRAIN_REQUEST;
}

/* What follows from what the directions and the transaction have come to. */
static enum session_event
result(const struct session *s)
{
	switch (s->state) {
	case SESSION_QUEUE:
	case SESSION_CONNECT:
	case SESSION_RETRY:
		return s->txn && http_answer_is_due(s->txn) ? SESSION_EV_ANSWER : SESSION_EV_NONE;
	case SESSION_RELAY:
		if (s->txn && s->txn->aborts)
			return SESSION_EV_CLOSE;
		if (s->dir[SERVER].inspects == INSPECTS_DENIED)
			return SESSION_EV_DENIED;
		if (s->txn && s->txn->again && s->dir[SERVER].state == DIRECTION_OPEN)
			return SESSION_EV_L7_RETRY;
		if (s->txn && http_answer_is_due(s->txn) && s->dir[SERVER].state == DIRECTION_OPEN)
			return SESSION_EV_ANSWER;
		return relay_result(s);
	case SESSION_REPLY:
		return http_reply_result(s);
	case SESSION_INIT:
	case SESSION_PROXY_HEADER:
	case SESSION_READ:
	case SESSION_TARPIT:
	case SESSION_INSPECT:
	case SESSION_ASSIGN:
	case SESSION_LINGER:
	case SESSION_CLOSED:
	case SESSION_STATES:
		break;
	}
	return SESSION_EV_NONE;
}

/* Derives interest and deadline anew, or has the session freed. */
void
session_settle(struct session *s)
{
	struct loop *l = s->engine->loop;
	enum session_event ev = result(s);
	struct derived d;

	/* An answer may be out as soon as it is made. */
	while (ev != SESSION_EV_NONE) {
		session_event(s, ev);
		ev = result(s);
	}
	if (s->state == SESSION_CLOSED) {
		timer_stop(loop_timers(l), &s->timer);
		s->task.fn = session_on_end;
		loop_post_end(l, &s->task);
		return;
	}
	d = session_derive(s);
	session_want(s, CLIENT, d.wants[CLIENT]);
	session_want(s, SERVER, d.wants[SERVER]);
	conn_low_water(&s->conn[CLIENT], d.low_water);
	if (timer_set(loop_timers(l), &s->timer, d.deadline) < 0) {
		/* A session without its deadline could stay for ever. */
		s->term[0] = 'R';
		session_event(s, SESSION_EV_KILL);
		session_settle(s);
	}
}
