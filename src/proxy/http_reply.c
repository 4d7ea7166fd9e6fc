#include "http_reply.h"

#include "count.h"
#include "exchange.h"
#include "half.h"
#include "http_count.h"
#include "proxy/errors.h"

/* How long the rest of a request is thrown away after the answer has gone out. */
#define DRAIN_MS 1000u
#define DRAIN_READS 8

/* What the answer says of the connection: nothing where the version says it already. */
static enum http_conn
connection(const struct http_txn *t)
{
	if (!t->keeps[CLIENT])
		return HTTP_CONN_CLOSE;
	return t->version == HTTP_1_0 ? HTTP_CONN_KEEP_ALIVE : HTTP_CONN_UNSAID;
}

static void
count_out(struct session *s, uint64_t n)
{
	s->half[SERVER].bytes = n;
	s->engine->bytes_out += n;
	fe_stat(s)->bytes_out += n;
	s->listener->stat.bytes_out += n;
	if (s->be)
		be_stat(s)->bytes_out += n;
}

/* The client waits for nothing any more: what it still sends is not for us. */
static void
flushed(struct session *s)
{
	half_event(s, SERVER, HALF_EV_EMPTY);
	if (http_reply_drains(s))
		conn_shut(&s->conn[CLIENT]);
}

void
http_reply_send(struct session *s)
{
	struct http_txn *t = s->txn;
	struct engine *e = s->engine;
	struct half *h = &s->half[SERVER];
	const struct http_reply *r = proxy_error(s->fe, s->be, t->status);
	long n;

	half_discard(e, h);
	h->ahead = 0;
	t->local = 1;
	t->res_ms = loop_now_ms(e->loop);
	http_count_response(s);
	if (half_take_buf(e, h) < 0) {
		half_event(s, SERVER, HALF_EV_ABORT);
		return;
	}
	n = http_reply_write(r, connection(t), t->method, h->buf, e->bufsize);
	/* An empty file says that nothing is to be said; one that is too long is the same. */
	if (n <= 0) {
		half_event(s, SERVER, HALF_EV_ABORT);
		return;
	}
	h->head = 0;
	h->tail = (uint32_t)n;
	count_out(s, (uint64_t)n);
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

	return is_out(&s->half[SERVER]) && !exchange_has_request(s->txn) && !c->eof &&
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

static void
throw_away(struct session *s)
{
	struct conn *src = &s->conn[CLIENT];
	size_t got;

	for (int i = 0; i < DRAIN_READS; i++)
		if (!loop_is_ready(src->loop, src->fd, DIR_R) ||
			conn_recv(src, s->engine->scratch, s->engine->bufsize, &got) != IO_OK)
			return;
}

void
http_reply_io(struct session *s, uint32_t ev)
{
	struct conn *c = &s->conn[CLIENT];

	if ((ev & EV_W) && s->half[SERVER].state == HALF_TAIL && half_flush(s, SERVER))
		flushed(s);
	if ((ev & EV_R) && http_reply_drains(s))
		throw_away(s);
	if ((ev & EV_ERR) && (c->err || conn_take_error(c)))
		half_event(s, SERVER, HALF_EV_SINK_ERR);
}
