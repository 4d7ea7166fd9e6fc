#include "http_reply.h"

#include "count.h"
#include "exchange.h"
#include "half.h"
#include "http_count.h"
#include "own_answer.h"
#include "proxy/capture.h"
#include "proxy/session_log.h"

/* How long the rest of a request is thrown away after the answer has gone out. */
#define DRAIN_MS 1000u
#define DRAIN_READS 8

static void
count_out(struct session *s, uint64_t n)
{
	s->half[SERVER].bytes = n;
	s->engine->bytes_out += n;
	fe_stat(s)->bytes_out += n;
	s->listener->stat.bytes_out += n;
	if (http_be_stat(s))
		http_be_stat(s)->bytes_out += n;
}

/* The client waits for nothing any more: what it still sends is not for us. */
static void
flushed(struct session *s)
{
	half_event(s, SERVER, HALF_EV_EMPTY);
	if (!http_reply_drains(s))
		return;
	if (!s->logged)
		session_log(s);
	s->logged = 1;
	conn_shut(&s->conn[CLIENT]);
}

void
http_reply_send(struct session *s)
{
	struct http_txn *t = s->txn;
	struct half *h = &s->half[SERVER];
	int r = 0;

	if (t->head_ms && !t->placed)
		capture_cookie(s, &t->req);
	assert(!h->pipe && !h->stuck);
	t->local = 1;
	t->res_ms = loop_now_ms(s->engine->loop);
	if (!t->has_made)
		r = own_answer_make_page(s);
	http_count_response(s);
	/* An empty file says that nothing is to be said; one that cannot be made is the same. */
	if (r < 0 || !t->has_made) {
		half_event(s, SERVER, HALF_EV_ABORT);
		return;
	}
	h->tail += t->answer_len;
	count_out(s, t->answer_len);
	half_event(s, SERVER, HALF_EV_MSG_END);
	if (half_flush(s, SERVER))
		flushed(s);
}

/* A response that ended with its server's connection has closed its half. */
static int
is_out(const struct half *h)
{
	return half_is_over(h) && !h->broken;
}

int
http_reply_drains(const struct session *s)
{
	const struct conn *c = &s->conn[CLIENT];

	return is_out(&s->half[SERVER]) && (c->shut || !exchange_has_request(s->txn)) && !c->eof &&
		!c->err;
}

uint64_t
http_reply_deadline(const struct session *s)
{
	unsigned int ms = s->fe->to.client;

	if (http_reply_drains(s))
		return s->last_ms[CLIENT] + (ms ? MIN(ms, DRAIN_MS) : DRAIN_MS);
	return ms ? s->last_ms[CLIENT] + ms : TIMER_NEVER;
}

enum session_event
http_reply_result(const struct session *s)
{
	if (s->half[SERVER].state == HALF_CLOSED && s->half[SERVER].broken)
		return SESSION_EV_CLIENT_GONE;
	if (is_out(&s->half[SERVER]) && !http_reply_drains(s))
		return SESSION_EV_ANSWERED;
	return SESSION_EV_NONE;
}

/* How many bytes that were. */
static size_t
throw_away(struct session *s)
{
	struct conn *src = &s->conn[CLIENT];
	size_t got, all = 0;

	for (int i = 0; i < DRAIN_READS; i++) {
		if (!loop_is_ready(src->loop, src->fd, DIR_R) ||
			conn_recv(src, s->engine->scratch, s->engine->bufsize, &got) != IO_OK)
			break;
		all += got;
	}
	return all;
}

void
http_reply_io(struct session *s, uint32_t ev)
{
	struct conn *c = &s->conn[CLIENT];

	if ((ev & EV_W) && s->half[SERVER].state == HALF_TAIL && half_flush(s, SERVER))
		flushed(s);
	if ((ev & EV_R) && http_reply_drains(s))
		(void)throw_away(s);
	if ((ev & EV_ERR) && (c->err || conn_take_error(c)))
		half_event(s, SERVER, HALF_EV_SINK_ERR);
}

void
http_tarpit_io(struct session *s, uint32_t ev)
{
	struct conn *c = &s->conn[CLIENT];

	/* What it says meanwhile is not kept: nothing behind it could be understood. */
	if ((ev & EV_R) && throw_away(s))
		s->txn->keeps[CLIENT] = 0;
	if (c->err || ((ev & EV_ERR) && conn_take_error(c)))
		session_event(s, SESSION_EV_CLIENT_GONE);
	else if (c->eof)
		session_event(s, SESSION_EV_TIMEOUT);
}
