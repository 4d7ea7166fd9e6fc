/* The body of a response of which the client gets the head alone. On the session's worker; it is
 * read to its end, so that the connection can be used again. */
#include "proxy/http1/dropped_body.h"

#include "proxy/http1/exchange.h"
#include "proxy/model/termination.h"
#include "proxy/relay/direction.h"

/* Ends the response, also where the server has not: the client has all that it gets. */
static enum stream_event
end_dropped(struct stream *s, int side, enum relay_status status, const char *rest, size_t n)
{
	struct http_txn *t = s->txn;

	if (status != RELAY_EOF)
		return http_body_ops.end(s, side, status, rest, n);
	http_close_after(t, SERVER);
	t->h1[SERVER]->body.framing = HTTP_BODY_NONE;
	stream_note_failure(s, SERVER);
	return http_body_ops.end(s, side, RELAY_OVER, NULL, 0);
}

/* One read, of which nothing is sent on; more: another one is worth a try. */
static struct io_step
drop_once(struct stream *s, int side)
{
	struct engine *e = s->engine;
	struct conn *src = s->conn[side];
	enum relay_status status;
	size_t got, used, out;

	switch (conn_recv(src, e->scratch, http_body_ops.reach(s, side, e->bufsize), &got)) {
	case IO_AGAIN:
		return io_stop();
	case IO_EOF:
	case IO_ERR:
		return io_event(end_dropped(s, side, RELAY_EOF, NULL, 0));
	case IO_OK:
		break;
	}
	direction_count(s, side, got);
	status = http_body_ops.step(s, side, e->scratch, got, &used, &out);
	if (status == RELAY_ON && src->eof)
		status = RELAY_EOF;
	if (status != RELAY_ON)
		return io_event(end_dropped(s, side, status, e->scratch + used, got - used));
	return io_more(1);
}

static int
closes_after_head(const struct stream *s, int side, int over)
{
	return http_body_ops.closes(s, side, over);
}

const struct relay_ops http_dropped_body_ops = {
	.read = drop_once,
	.opaque = exchange_opaque_none,
	.end = end_dropped,
	.closes = closes_after_head,
};
