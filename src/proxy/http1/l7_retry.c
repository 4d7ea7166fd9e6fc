/* When a request is sent once more: what `retries`, `retry-on` and disable-l7-retry allow. */
#include "proxy/http1/l7_retry.h"

#include "base/counter.h"
#include "proxy/model/count.h"
#include "proxy/http1/exchange.h"
#include "proxy/relay/relay_ops.h"

/*
 * The server closed a reused connection before any part of the request could be sent: a connection
 * failure. If something was sent the server may have processed it, and retry-on decides about a
 * retry.
 */
static int
connection_has_failed(const struct stream *s)
{
	return s->txn->reused && !s->dir[SERVER].bytes && s->dir[CLIENT].head == s->txn->start;
}

/* True if the client still accepts a response. */
static int
client_is_there(const struct stream *s)
{
	return s->dir[SERVER].state == DIRECTION_OPEN;
}

static enum stream_event
schedule_retry(struct stream *s)
{
	if (!s->dir[CLIENT].keeps_buf || !client_is_there(s) ||
		s->retries >= (unsigned int)s->be->retries)
		return STREAM_EV_NONE;
	s->retries++;
	counter_add(&be_stat(s)->wretr, 1);
	counter_add(&srv_stat(s)->wretr, 1);
	return STREAM_EV_L7_RETRY;
}

enum stream_event
l7_retry_for(struct stream *s, enum http_retry what)
{
	if (s->txn->no_l7_retry && what != HTTP_RETRY_CONN_FAILURE)
		return STREAM_EV_NONE;
	return http_retries(s->be, what) ? schedule_retry(s) : STREAM_EV_NONE;
}

enum stream_event
l7_retry_for_status(struct stream *s, unsigned int status)
{
	return !s->txn->no_l7_retry && http_retries_status(s->be, status) ? schedule_retry(s)
									  : STREAM_EV_NONE;
}

int
l7_retry_can_replay(const struct stream *s)
{
	return s->be->retries && exchange_has_request(s->txn) &&
		(s->txn->reused ||
			(!s->txn->no_l7_retry &&
				(s->be->http.retry_on & ~(1u << HTTP_RETRY_CONN_FAILURE))));
}

enum stream_event
l7_retry_without_answer(struct stream *s)
{
	if (s->dir[SERVER].bytes)
		return l7_retry_for(s, HTTP_RETRY_JUNK_RESPONSE);
	return l7_retry_for(s, connection_has_failed(s) ? HTTP_RETRY_CONN_FAILURE
							: HTTP_RETRY_EMPTY_RESPONSE);
}

enum stream_event
l7_retry_after_loss(struct stream *s, int side)
{
	const struct relay_ops *ops = s->dir[!side].ops;

	if (s->state != STREAM_RELAY || !http_awaits_head(s, SERVER) || !client_is_there(s) ||
		!s->dir[CLIENT].keeps_buf)
		return STREAM_EV_NONE;
	/* The server may have responded before it closed: the response is forwarded. */
	return ops->read ? ops->read(s, !side).ev : STREAM_EV_NONE;
}

int
l7_retry_is_left_to_client(const struct stream *s)
{
	return s->txn->reused && s->sess->requests > 1 && !s->dir[SERVER].bytes &&
		client_is_there(s);
}
