/* HTTP/2 of clients, on their sessions' worker. A request that arrives is a stream of its own,
 * which runs in the same turn. */
#include "proxy/http2/h2_client.h"

#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "h2/h2_xprt.h"
#include "proxy/http1/http_read.h"
#include "proxy/http2/h2_engine.h"
#include "proxy/model/count.h"
#include "proxy/model/memory.h"
#include "proxy/model/stream_extras.h"
#include "proxy/model/termination.h"
#include "proxy/relay/direction.h"

/* A client that has not answered a PING after so long gets the final GOAWAY: requests that it has
 * sent since the first one would be refused. */
#define GOAWAY_WAIT_MS 5000u
/* After the last response the client has so long to send its FIN, longer while it still reads. */
#define PARTING_STEP_MS 1000u
#define PARTING_MAX_MS 30000u
/* A connection without a stream gives memory back after so long. */
#define TRIM_MS 1000u
/* Reads in a row of what is dropped. */
#define DROPS_MAX 8

static struct h2_client *
h2_client_of(struct h2_carrier *k)
{
	return container_of(k, struct h2_client, carrier);
}

/* --- reports of the connection --- */

/* Opens a stream with its request, which is copied: NULL, and *code says why it is refused. */
static struct h2_xprt *
open_request(struct h2_client *cl, struct stream *s, const struct http_head *req, int *code)
{
	struct engine *e = s->engine;
	int r = http_read_given(s, req);
	struct h2_xprt *x = NULL;

	*code = r == -ERR_RANGE ? r : H2_REFUSED_STREAM;
	if (r < 0 ||
		h2_xprt_open(&cl->carrier, s->conn[CLIENT], e->hooks.on_client_io, s, req, &x) < 0)
		return NULL;
	if (unlikely(req->framing == HTTP_BODY_TUNNEL))
		h2_xprt_keep_accept(x, &s->txn->req);
	cl->had_stream = 1;
	return x;
}

static int
client_on_request(struct h2_carrier *k, const struct http_head *req, struct h2_xprt **out)
{
	struct h2_client *cl = h2_client_of(k);
	struct engine *e = cl->sess->stream.engine;
	struct stream *s = cl->parting_ms ? NULL : e->hooks.new_substream(cl->sess);
	int code = H2_REFUSED_STREAM;

	if (!s)
		return code;
	*out = open_request(cl, s, req, &code);
	if (!*out)
		s->own_line = STREAM_LINE_NONE;
	if (unlikely(++cl->n_requests == k->h2.cfg->max_total))
		h2_carrier_leave(k, 0);
	e->hooks.begin_substream(s, *out ? STREAM_EV_AWAIT_REQUEST : STREAM_EV_CLOSE);
	return *out ? 0 : code;
}

/* Logs a request whose head is invalid, as in HAProxy as a stream. */
static void
client_on_bad_request(struct h2_carrier *k)
{
	struct engine *e = h2_client_of(k)->sess->stream.engine;
	struct stream *s = e->hooks.new_substream(h2_client_of(k)->sess);

	if (!s)
		return;
	stream_set_term(s, 'P', 'R');
	e->hooks.begin_substream(s, STREAM_EV_CLOSE);
}

/* The session may be over, or has something else to wait for: before the turn ends. */
static void
continue_session(struct h2_client *cl)
{
	struct stream *s = &cl->sess->stream;

	loop_post_end(s->engine->loop, &s->task);
}

/* Begins the time for which the client may leave output unread. */
static void
client_on_change(struct h2_carrier *k)
{
	struct h2_client *cl = h2_client_of(k);
	struct stream *s = &cl->sess->stream;

	s->last_ms[CLIENT] = stream_now_ms(s);
	continue_session(cl);
}

static void
client_on_close(struct h2_carrier *k, enum conn_stream_end end)
{
	struct h2_client *cl = h2_client_of(k);

	if (unlikely(end))
		h2_carrier_end(k, end == CONN_STREAM_DROPS);
	if (k->n_streams)
		return;
	cl->idle_ms = stream_now_ms(&cl->sess->stream);
	cl->is_trimmed = 0;
	continue_session(cl);
}

static const struct h2_carrier_user h2_client_user = {
	.on_request = client_on_request,
	.on_bad_request = client_on_bad_request,
	.on_close = client_on_close,
	.on_change = client_on_change,
};

/* --- handlers of the state --- */

/* Frames that the client sends to a closed connection would be answered with a reset, and the end
 * of its last response lost: where the kernel still has some of it, a FIN is sent, and what arrives
 * is dropped until the client ends, too. True if that has begun. */
static int
begin_parting(struct h2_client *cl)
{
	struct conn *c = &cl->sess->conn;

	if (cl->carrier.is_lost || cl->carrier.is_shut || c->err || !conn_unsent(c))
		return 0;
	conn_shut(c);
	cl->parting_ms = cl->sess->stream.last_ms[CLIENT] = stream_now_ms(&cl->sess->stream);
	return 1;
}

/* Without its connection it has nothing to wait for but its streams. */
static enum session_event
end_if_over(struct h2_client *cl)
{
	if (cl->carrier.is_lost)
		conn_close_late(&cl->sess->conn);
	if (!h2_carrier_has_ended(&cl->carrier))
		return SESSION_EV_NONE;
	if (cl->parting_ms ? !cl->carrier.is_lost : begin_parting(cl))
		return SESSION_EV_NONE;
	return SESSION_EV_ENDED;
}

/* Drops what arrives behind the last response: the number of bytes. */
static size_t
drop_late_input(struct h2_client *cl)
{
	struct engine *e = cl->sess->stream.engine;
	size_t all = 0, got;

	for (int i = 0; i < DROPS_MAX && conn_is_ready(&cl->sess->conn, DIR_R); i++) {
		switch (conn_recv(&cl->sess->conn, e->scratch, e->bufsize, &got)) {
		case IO_OK:
			all += got;
			break;
		case IO_AGAIN:
			return all;
		case IO_EOF:
		case IO_ERR:
			h2_carrier_lose(&cl->carrier);
			return all;
		}
	}
	return all;
}

/* Adds new glitches to what the session tracks. */
static void
count_glitches(struct h2_client *cl)
{
	uint32_t n = cl->carrier.h2.glitches - cl->n_glitches;

	if (likely(!n))
		return;
	cl->n_glitches += n;
	if (cl->sess->stream.extras)
		stream_count_tracked(
			&cl->sess->stream, TABLE_GLITCH_CNT, TABLE_GLITCH_RATE, n);
}

static void
read_carrier(struct h2_client *cl)
{
	struct stream *s = &cl->sess->stream;
	size_t n = cl->parting_ms ? drop_late_input(cl)
				  : h2_carrier_read(&cl->carrier, s->engine->scratch,
					    s->engine->bufsize);

	count_glitches(cl);
	if (n)
		s->last_ms[CLIENT] = stream_now_ms(s);
}

static void
flush_client(struct h2_client *cl)
{
	struct stream *s = &cl->sess->stream;

	if (h2_carrier_flush(&cl->carrier))
		s->last_ms[CLIENT] = stream_now_ms(s);
}

enum session_event
multiplex_task(struct session *sess)
{
	if (!sess->h2->carrier.is_lost)
		read_carrier(sess->h2);
	return end_if_over(sess->h2);
}

enum session_event
multiplex_io(struct session *sess, uint32_t ev)
{
	struct h2_client *cl = sess->h2;

	if (ev & EV_R)
		read_carrier(cl);
	if (ev & EV_W)
		flush_client(cl);
	if ((ev & EV_ERR) && !cl->carrier.is_lost && conn_take_error(&sess->conn))
		h2_carrier_lose(&cl->carrier);
	return end_if_over(cl);
}

unsigned int
h2_client_wants(const struct session *sess)
{
	const struct h2_client *cl = sess->h2;

	if (cl->parting_ms && !cl->carrier.is_lost)
		return EV_R;
	return h2_carrier_wants(&cl->carrier);
}

/* --- its time --- */

/* The time of the next GOAWAY of a process that stops: at first one that takes no stream away, and
 * the last one if the client has not answered the PING behind it (RFC 9113, 6.8). */
static uint64_t
goaway_time(const struct h2_client *cl)
{
	if (cl->carrier.is_over)
		return TIMER_NEVER;
	return cl->goaway_ms ? cl->goaway_ms + GOAWAY_WAIT_MS : http_stop_time(&cl->sess->stream);
}

/* Returns the time until which a client may read the end of its last response. */
static uint64_t
parting_end(const struct session *sess)
{
	unsigned int ms = sess->fe->to.client;

	return sess->h2->parting_ms + (ms ? MIN(ms, PARTING_MAX_MS) : PARTING_MAX_MS);
}

/* The time to free what the next request needs again; TIMER_NEVER: it was freed, or is in use. */
static uint64_t
trim_time(const struct h2_client *cl)
{
	int is_idle = cl->had_stream && !cl->carrier.n_streams;

	return is_idle && !cl->is_trimmed ? cl->idle_ms + TRIM_MS : TIMER_NEVER;
}

/* While streams run their own timeouts apply; without one the time of an idle connection. */
uint64_t
h2_client_deadline(const struct session *sess)
{
	const struct h2_client *cl = sess->h2;
	const struct proxy_timeouts *to = &sess->fe->to;
	const struct stream *s = &sess->stream;
	unsigned int idle = to->http_keep_alive ? to->http_keep_alive : to->http_request;
	uint64_t end;

	if (cl->carrier.is_lost)
		return TIMER_NEVER;
	if (cl->parting_ms)
		return MIN(s->last_ms[CLIENT] + PARTING_STEP_MS, parting_end(sess));
	if (h2_carrier_is_blocked(&cl->carrier))
		return timer_key_after(s->last_ms[CLIENT],
			cl->carrier.is_over && to->client_fin ? to->client_fin : to->client);
	if (cl->carrier.n_streams)
		return goaway_time(cl);
	if (!cl->had_stream)
		end = timer_key_after(
			sess->begun_ms, to->http_request ? to->http_request : to->client);
	else
		end = timer_key_after(cl->idle_ms, idle ? idle : to->client);
	end = MIN(end, goaway_time(cl));
	return MIN(end, trim_time(cl));
}

/* Sends GOAWAY, since the process stops. */
static void
send_goaway(struct h2_client *cl)
{
	h2_carrier_leave(&cl->carrier, cl->goaway_ms != 0);
	cl->goaway_ms = stream_now_ms(&cl->sess->stream);
	flush_client(cl);
}

/* True if that was due. */
static int
trim_client(struct h2_client *cl)
{
	if (trim_time(cl) > stream_now_ms(&cl->sess->stream))
		return 0;
	cl->is_trimmed = 1;
	h2_conn_trim(&cl->carrier.h2);
	return 1;
}

/* True if the client still reads, and gets more time. */
static int
extend_parting(struct session *sess)
{
	struct stream *s = &sess->stream;

	if (!sess->h2->parting_ms || stream_now_ms(s) >= parting_end(sess) ||
		!conn_unsent(&sess->conn))
		return 0;
	s->last_ms[CLIENT] = stream_now_ms(s);
	return 1;
}

enum session_event
h2_client_late(struct session *sess)
{
	struct h2_client *cl = sess->h2;

	if (extend_parting(sess) || trim_client(cl))
		return SESSION_EV_NONE;
	if (!cl->parting_ms && !h2_carrier_is_blocked(&cl->carrier) &&
		goaway_time(cl) <= stream_now_ms(&sess->stream)) {
		send_goaway(cl);
		return end_if_over(cl);
	}
	if (!cl->parting_ms && !h2_carrier_is_blocked(&cl->carrier)) {
		h2_carrier_leave(&cl->carrier, 1);
		flush_client(cl);
	}
	h2_carrier_lose(&cl->carrier);
	return end_if_over(cl);
}

enum session_event
h2_client_kill(struct session *sess)
{
	h2_carrier_lose(&sess->h2->carrier);
	return end_if_over(sess->h2);
}

/* --- its life --- */

/* The bytes that were read, and counted, as those of a request of HTTP/1. */
static void
take_over_input(struct h2_client *cl)
{
	struct stream *s = &cl->sess->stream;
	struct direction *d = &s->dir[CLIENT];

	if (d->lookahead)
		h2_carrier_input(&cl->carrier, d->buf + d->tail, d->lookahead);
	counter_sub(&fe_stat(s)->h1.in, d->lookahead);
	d->lookahead = 0;
	if (d->buf)
		direction_buf_free(s->engine, d);
}

int
h2_client_begin(struct session *sess)
{
	struct engine *e = sess->stream.engine;
	struct h2_engine *h = engine_h2(e);
	struct h2_client *cl;

	if (!h || !memory_reserve(e, &h->clients))
		return -ERR_NOMEM;
	cl = pool_get(&h->clients);
	memset(cl, 0, sizeof(*cl));
	cl->sess = sess;
	cl->idle_ms = loop_now_ms(e->loop);
	if (h2_carrier_init(&cl->carrier, &sess->conn, &h->worker, &h->worker.client, 0,
		    &h2_client_user) < 0) {
		pool_put(&h->clients, cl);
		return -ERR_NOMEM;
	}
	sess->h2 = cl;
	sess->is_multiplexed = 1;
	cl->carrier.h2.stat = &fe_stat(&sess->stream)->h2;
	counter_add(&cl->carrier.h2.stat->open_connections, 1);
	counter_add(&cl->carrier.h2.stat->total_connections, 1);
	take_over_input(cl);
	return 0;
}

void
h2_client_free(struct session *sess)
{
	struct h2_client *cl = sess->h2;

	counter_sub(&cl->carrier.h2.stat->open_connections, 1);
	h2_carrier_fini(&cl->carrier);
	pool_put(&engine_h2(sess->stream.engine)->clients, cl);
	sess->h2 = NULL;
	sess->is_multiplexed = 0;
}
