#include "proxy/http1/l7_retry.h"

#include "base/counter.h"
#include "proxy/model/count.h"
#include "proxy/http1/exchange.h"

/* Sending it twice is as good as once (RFC 9110, 9.2.2). */
static int
is_idempotent(enum http_method m)
{
	return m != HTTP_POST && m != HTTP_PATCH && m != HTTP_CONNECT && m != HTTP_OTHER;
}

/*
 * Over a connection that was kept the server may have ended before the request came to it: it is no
 * failure then, and the request goes to a new one. Nothing of it may have been answered, all of it
 * has to be here still, and it has to be harmless to do twice, unless nothing of it was sent.
 */
static int
may_send_again(const struct session *s)
{
	const struct http_txn *t = s->txn;
	const struct direction *h = &s->dir[CLIENT];

	return t->reused && h->resend && !s->dir[SERVER].bytes &&
		(is_idempotent(t->method) || h->head == t->start);
}

/* Does the client still take an answer? */
static int
client_is_there(const struct session *s)
{
	return s->dir[SERVER].state == DIRECTION_OPEN;
}

enum session_event
l7_retry_schedule(struct session *s)
{
	if (!s->dir[CLIENT].resend || !client_is_there(s) ||
		s->retries >= (unsigned int)s->be->retries)
		return SESSION_EV_NONE;
	s->retries++;
	counter_add(&be_stat(s)->wretr, 1);
	counter_add(&srv_stat(s)->wretr, 1);
	return SESSION_EV_L7_RETRY;
}

enum session_event
l7_retry_for(struct session *s, enum http_retry what)
{
	return http_retries(s->be, what) ? l7_retry_schedule(s) : SESSION_EV_NONE;
}

int
l7_retry_can_replay(const struct session *s)
{
	return exchange_has_request(s->txn) &&
		(s->txn->reused || (s->be->http.retry_on & ~(1u << HTTP_RETRY_CONN_FAILURE)));
}

enum session_event
l7_retry_after_loss(struct session *s, int side)
{
	(void)side;
	return s->state == SESSION_RELAY && http_awaits_head(s, SERVER) && client_is_there(s) &&
			may_send_again(s)
		? SESSION_EV_L7_RETRY
		: SESSION_EV_NONE;
}
