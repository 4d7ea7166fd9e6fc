/* State REPLY: sends responses of our own, and drains what is left of the request. On the
 * session's worker. */
#include "proxy/http1/http_reply.h"

#include "proxy/model/count.h"
#include "proxy/http1/exchange.h"
#include "proxy/relay/direction.h"
#include "proxy/model/http_count.h"
#include "proxy/http1/local_reply.h"
#include "proxy/http1/service_reply.h"
#include "base/counter.h"
#include "proxy/sample/capture.h"
#include "proxy/log/stream_log.h"

/* Time for which the rest of a request is discarded after the reply. */
#define DRAIN_MS 1000u
#define DRAIN_READS 8

/* The reply is sent. Further data from the client is discarded. */
static void
end_of_reply(struct stream *s)
{
	direction_event(s, SERVER, DIRECTION_EV_EMPTY);
	if (!http_reply_drains(s))
		return;
	if (!s->logged)
		stream_log(s);
	s->logged = 1;
	conn_shut(s->conn[CLIENT]);
}

/* Without a server a failed write causes no event: the direction was notified. */
static void
flush_reply(struct stream *s)
{
	const struct direction *d = &s->dir[SERVER];
	int more = direction_flush(s, SERVER).more;

	while (more && d->state == DIRECTION_OPEN && service_reply_fill(s))
		more = direction_flush(s, SERVER).more;
	if (more && d->state == DIRECTION_TAIL)
		end_of_reply(s);
}

static void
start_sending(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];

	counter_add(&s->engine->bytes_out, d->lookahead);
	d->tail += d->lookahead;
	d->lookahead = 0;
	/* The first part of a body leaves with the head. */
	if (service_reply_follows(s))
		(void)service_reply_fill(s);
	else
		direction_event(s, SERVER, DIRECTION_EV_MSG_END);
	flush_reply(s);
}

/* The reply that is made, or the page for txn->status. An empty file means that nothing is sent; a
 * reply that cannot be made is treated alike. */
static void
send_made(struct stream *s)
{
	struct http_txn *t = s->txn;
	int r = 0;

	http_note_answer_time(s);
	if (!t->has_reply && !t->is_mute)
		r = local_reply_make_page(s);
	http_count_response(s);
	if (r < 0 || !t->has_reply)
		direction_event(s, SERVER, DIRECTION_EV_ABORT);
	else
		start_sending(s);
}

void
http_reply_send(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[SERVER];

	if (t->head_ms && !t->placed && !t->req_is_gone)
		capture_cookie(s, &t->req);
	assert(!d->pipe && !d->left_in_kernel);
	d->ops = &http_reply_ops;
	t->local = 1;
	if (t->job)
		service_reply_begin(s);
	else
		send_made(s);
}

enum stream_event
http_reply_task(struct stream *s)
{
	if (!service_reply_has_head(s)) {
		service_reply_make_head(s);
		send_made(s);
	} else if (s->dir[SERVER].state == DIRECTION_OPEN) {
		flush_reply(s);
	}
	return STREAM_EV_NONE;
}

/* A response that ended with the server's connection has closed its direction. */
static int
is_out(const struct direction *d)
{
	return direction_is_over(d) && !d->broken;
}

int
http_reply_drains(const struct stream *s)
{
	const struct conn *c = s->conn[CLIENT];

	if (!is_out(&s->dir[SERVER]) || c->err || s->is_carried)
		return 0;
	return conn_is_ending(c) || (!c->eof && (c->shut || !exchange_has_request(s->txn)));
}

uint64_t
http_reply_deadline(const struct stream *s)
{
	unsigned int ms = s->sess->fe->to.client;

	/* As in mode tcp. */
	if (conn_is_ending(s->conn[CLIENT]))
		return timer_key_after(s->last_ms[CLIENT],
			s->sess->fe->to.client_fin ? s->sess->fe->to.client_fin : ms);
	if (http_reply_drains(s))
		return s->last_ms[CLIENT] + (ms ? MIN(ms, DRAIN_MS) : DRAIN_MS);
	return ms ? s->last_ms[CLIENT] + ms : TIMER_NEVER;
}

enum stream_event
http_reply_outcome(const struct stream *s)
{
	if (s->dir[SERVER].state == DIRECTION_CLOSED && s->dir[SERVER].broken)
		return STREAM_EV_CLIENT_GONE;
	if (is_out(&s->dir[SERVER]) && !http_reply_drains(s))
		return STREAM_EV_ANSWERED;
	return STREAM_EV_NONE;
}

/* Returns the number of bytes. */
static size_t
throw_away(struct stream *s)
{
	struct conn *src = s->conn[CLIENT];
	size_t got, all = 0;

	for (int i = 0; i < DRAIN_READS; i++) {
		if (!conn_is_ready(src, DIR_R) ||
			conn_recv(src, s->engine->scratch, s->engine->bufsize, &got) != IO_OK)
			break;
		all += got;
	}
	return all;
}

enum stream_event
http_reply_io(struct stream *s, int side, uint32_t ev)
{
	struct conn *c = s->conn[CLIENT];

	(void)side;
	if ((ev & EV_W) && !direction_is_over(&s->dir[SERVER]) && http_has_answer(s->txn))
		flush_reply(s);
	if ((ev & EV_W) && conn_is_ending(c))
		conn_finish(c);
	if ((ev & EV_R) && http_reply_drains(s))
		(void)throw_away(s);
	if ((ev & EV_ERR) && (c->err || conn_take_error(c)))
		direction_event(s, SERVER, DIRECTION_EV_SINK_ERR);
	return STREAM_EV_NONE;
}

enum stream_event
http_tarpit_io(struct stream *s, int side, uint32_t ev)
{
	struct conn *c = s->conn[CLIENT];

	(void)side;
	/* Data that arrives meanwhile is not kept: nothing after it could be parsed. */
	if ((ev & EV_R) && throw_away(s))
		s->txn->keep_alive[CLIENT] = 0;
	if (c->err || ((ev & EV_ERR) && conn_take_error(c)))
		return STREAM_EV_CLIENT_GONE;
	return c->eof ? STREAM_EV_CLIENT_EOF : STREAM_EV_NONE;
}
