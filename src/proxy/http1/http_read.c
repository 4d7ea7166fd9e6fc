/* State READ: reads a request's head. On the session's worker; at rest, without a byte, it
 * owns no buffer and no transaction. */
#include "proxy/http1/http_read.h"

#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/random.h"
#include "event/profile.h"
#include "h2/h2_frame.h"
#include "http/h1_message.h"
#include "http/h1_write.h"
#include "http/websocket.h"
#include "proxy/model/count.h"
#include "proxy/http1/exchange.h"
#include "proxy/relay/direction.h"
#include "proxy/model/http_count.h"
#include "proxy/http1/informational.h"
#include "proxy/log/stream_log.h"
#include "proxy/sample/capture.h"
#include "proxy/sample/http_line.h"
#include "proxy/model/memory.h"
#include "proxy/model/termination.h"
#include "proxy/model/stream_extras.h"
#include "proxy/http1/monitor.h"
#include "proxy/http1/note_invalid.h"
#include "proxy/http1/request.h"
#include "proxy/http1/rule_outcome.h"

/* A head is slow if this many consecutive reads brought fewer bytes than that. */
#define HTTP_SLOW_READS 2u
#define HTTP_SLOW_BYTES 16u
/* Time over which idle clients are closed when the process stops, without close-spread-time. */
#define HTTP_STOP_SPREAD_MS 1000u

/* --- the deadline --- */

/* Returns the time at which an idle connection is closed at a soft stop. Connections are closed
 * gradually: otherwise all clients would reconnect at once, and some have sent a request
 * already. */
uint64_t
http_stop_time(const struct stream *s)
{
	const struct engine *e = s->engine;
	uint32_t spread = e->shared->stop_spread_ms;

	if (!e->stop_ms || spread == ENGINE_STOP_NEVER)
		return TIMER_NEVER;
	return e->stop_ms +
		hash_avalanche((uint32_t)s->id) % (spread ? spread : HTTP_STOP_SPREAD_MS);
}

/* With close-spread-time it is not before the time at which an idle connection would be closed. */
int
http_read_is_last(const struct stream *s)
{
	const struct engine *e = s->engine;

	if (!e->stop_ms)
		return s->sess->fe->listening == PROXY_STOPPED;
	return !e->shared->stop_spread_ms || stream_now_ms(s) >= http_stop_time(s);
}

/* True if nothing more of the request can be read before it is sent. */
static int
is_read_as_far_as_possible(const struct stream *s)
{
	return exchange_has_request(s->txn) || !direction_has_room(s->engine, &s->dir[CLIENT]);
}

/* A body that is waited for: as in HAProxy the client's own timeout bounds the wait, too, unless
 * only an answer is waited for. */
static uint64_t
body_deadline(const struct stream *s)
{
	uint64_t end = s->txn->wait_until_ms;

	if (stream_awaits_answer(s) && is_read_as_far_as_possible(s))
		return end;
	return MIN(end, timer_key_after(s->last_ms[CLIENT], s->sess->fe->to.client));
}

/* The first request is timed from the start of its session, others from their first byte. */
uint64_t
http_read_deadline(const struct stream *s)
{
	const struct proxy_timeouts *to = &s->sess->fe->to;
	unsigned int rest = to->http_keep_alive ? to->http_keep_alive : to->http_request;

	if (s->txn && s->txn->wait_until_ms)
		return body_deadline(s);
	if (s->sess->requests > (s->txn != NULL) && !s->txn) {
		uint64_t end = timer_key_after(s->state_ms, rest ? rest : to->client);

		return s->sess->fe->options & OPT_IDLE_CLOSE ? end : MIN(end, http_stop_time(s));
	}
	/* A body that is waited for has the times above, or as long as data arrives. */
	if (!to->http_request || (s->txn && s->txn->head_ms))
		return timer_key_after(s->last_ms[CLIENT], to->client);
	return s->txn && s->sess->requests > 1 ? timer_key_after(s->txn->began_ms, to->http_request)
					 : timer_key_after(s->sess->begun_ms, to->http_request);
}

/* --- the head --- */

/* More of the body has arrived. */
static enum stream_event
take_body(struct stream *s)
{
	if (exchange_take_ahead(s, CLIENT) < 0) {
		http_close_after(s->txn, CLIENT);
		s->txn->no_timers = 1;
		return request_refuse(
			s, http_bad_status((enum http_bad)s->txn->h1[CLIENT]->body.bad));
	}
	/* The body it waits for counts as part of the request, as in HAProxy's TR. */
	if (!request_is_taken(s))
		http_note_head_time(s);
	return request_process(s);
}

/* True of the requests that a client sends to a proxy. */
static int
names_more_than_a_path(struct str target)
{
	return target.len > 0 && target.p[0] != '/' && target.p[0] != '*';
}

/* The request's head is complete, its text in the lookahead. */
static enum stream_event
complete_head(struct stream *s, size_t used)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[CLIENT];

	http_note_head_time(s);
	t->method = t->asked = t->req.method;
	t->version = t->req.version;
	http_line_keep(t);
	t->is_proxied = (s->sess->fe->options & OPT_PROXY_HEADER) && t->version != HTTP_2 &&
		names_more_than_a_path(t->req.target);
	capture_fields(s, &t->req);
	http_count_request(s);
	http_txn_allow_added(s, &t->req);
	t->persists = h1_persists(&t->req) != 0;
	if (t->persists && !http_closes_client(s->sess->fe) && !http_read_is_last(s))
		http_keep(t, CLIENT);
	d->tail += (uint32_t)used;
	d->lookahead -= (uint32_t)used;
	d->head = t->head_end = d->tail;
	h1_body_begin(&t->h1[CLIENT]->body, &t->req);
	if (exchange_take_ahead(s, CLIENT) < 0) {
		http_close_after(t, CLIENT);
		return request_refuse(s, http_bad_status((enum http_bad)t->h1[CLIENT]->body.bad));
	}
	rule_outcome_note_room(s, &t->req, used);
	t->status = monitor_status(s);
	if (t->status) {
		counter_add(&fe_stat(s)->intercepted, 1);
		s->own_line = STREAM_LINE_NONE;
		return STREAM_EV_ANSWER;
	}
	stream_log_step(s, LOG_STEP_REQUEST);
	return request_process(s);
}

/* Counts reads in a row that brought few bytes. */
static void
clock_pace(struct http_txn *t, const struct direction *d)
{
	int few = d->lookahead - t->looked_at < HTTP_SLOW_BYTES;

	t->looked_at = d->lookahead;
	t->slow_reads = few ? (uint8_t)MIN(t->slow_reads + 1u, HTTP_SLOW_READS) : 0;
}

static enum stream_event
refuse_head(struct stream *s, enum http_bad why)
{
	http_note_invalid_head(s, CLIENT);
	return request_refuse(s, http_bad_status(why));
}

/* True if the client's first bytes are the preface of HTTP/2, as far as they have come (RFC 9113,
 * 3.4). */
static int
may_be_http2(const struct stream *s)
{
	const struct direction *d = &s->dir[CLIENT];
	const char *p = d->buf + d->tail;

	return p[0] == H2_PREFACE[0] && s->sess->requests == 1 && !stream_upgraded_to(s) &&
		!(s->sess->fe->options & OPT_NO_H2_UPGRADE) &&
		!memcmp(p, H2_PREFACE, MIN(d->lookahead, H2_PREFACE_LEN));
}

static enum h1_parse_status
parse_request_head(struct stream *s, size_t *used)
{
	struct profile *p = loop_timers(s->engine->loop)->profile;
	struct http_txn *t = s->txn;
	const struct direction *d = &s->dir[CLIENT];
	uint64_t began = profile_begin(p);
	enum h1_parse_status r = h1_parse_request(
		&t->h1[CLIENT]->parser, d->buf + d->tail, d->lookahead, &t->req, used);

	profile_end(p, (profile_fn *)h1_parse_request, began, began);
	return r;
}
PROFILE_NAME(h1_parse_request, parse_request)

/* Parses new data: the event that follows, or NONE while it waits for more. */
static enum stream_event
parse_request(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[CLIENT];
	struct h1_parser *p = &t->h1[CLIENT]->parser;
	size_t used;

	if (t->head_ms)
		return take_body(s);
	if (unlikely(may_be_http2(s)))
		return d->lookahead < H2_PREFACE_LEN ? STREAM_EV_NONE : STREAM_EV_MULTIPLEX;
	switch (parse_request_head(s, &used)) {
	case HTTP_MORE:
		if (d->tail + d->lookahead == s->engine->bufsize)
			return refuse_head(s, h1_parse_full(p));
		clock_pace(t, d);
		break;
	case HTTP_BAD:
		return refuse_head(s, (enum http_bad)p->bad);
	case HTTP_COMPLETE:
		return complete_head(s, used);
	}
	return STREAM_EV_NONE;
}

/*
 * Slowloris guard: the worker wakes only when enough bytes have arrived to complete the head.
 * Before that it could only find out a little earlier that the head is invalid. Without a timeout
 * for the head there would be no other occasion to find out.
 */
unsigned int
http_read_low_water(const struct stream *s)
{
	const struct http_txn *t = s->txn;
	const struct direction *d = &s->dir[CLIENT];

	if (!s->engine->low_water || !t || t->head_ms || t->slow_reads < HTTP_SLOW_READS ||
		http_read_deadline(s) == TIMER_NEVER)
		return 1;
	return (unsigned int)MIN(h1_parse_needs(&t->h1[CLIENT]->parser, &t->req),
		s->engine->bufsize - d->tail - d->lookahead);
}

/* --- its bytes --- */

/*
 * True if there is room for one more request, and for a response to each current one. Otherwise
 * requests could use all memory and wait for each other.
 */
static int
reserve_request_room(struct engine *e)
{
	if (!memory_reserve(e, &e->pools.txn))
		return 0;
	return !e->pools.txn.live || memory_fits_request(e, 2);
}

static int
begin_request(struct stream *s)
{
	if (s->txn)
		return 0;
	if (!captures_have_room(s) || !reserve_request_room(s->engine) || !http_txn_get(s)) {
		direction_wait_for_buffer(s, CLIENT);
		return -1;
	}
	captures_begin(s);
	counter_add(&fe_stat(s)->h1.streams, !s->is_carried);
	s->own_line = STREAM_LINE_DUE;
	return 0;
}

/* The first bytes of a request need a buffer and a transaction: nothing is read without both. */
static int
make_room(struct stream *s)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[CLIENT];

	if (d->buf)
		return 0;
	if (!reserve_request_room(e) || !memory_reserve_buffer(e) || direction_buf_get(e, d) < 0) {
		direction_wait_for_buffer(s, CLIENT);
		return -1;
	}
	d->head = d->tail = e->limits.maxrewrite;
	return 0;
}

/* Adds the key that a websocket has in HTTP/1 only (RFC 8441, 5); key: its place. 0 or negative. */
static int
add_websocket_key(struct stream *s, struct http_head *req, char *key)
{
	uint8_t nonce[WEBSOCKET_NONCE_LEN];
	int r;

	if (!websocket_is_named(req))
		return 0;
	r = random_bytes(&s->engine->eval.random, nonce, sizeof(nonce));
	if (r < 0)
		return r;
	websocket_key(nonce, key);
	http_drop_all(req, WEBSOCKET_KEY);
	return http_add(req, WEBSOCKET_KEY, (struct str){ key, WEBSOCKET_KEY_LEN });
}

/* Keeps a copy of the head in the buffer, as if it had been read there. 0 or -ERR_RANGE. Bytes of a
 * tunnel are no body of the request: they wait for the response. */
static int
copy_head(struct stream *s, const struct http_head *req)
{
	struct direction *d = &s->dir[CLIENT];
	struct http_txn *t = s->txn;
	char *to = d->buf + d->tail, key[WEBSOCKET_KEY_LEN];
	size_t n;

	if (http_head_copy(&t->req, req) < 0 || add_websocket_key(s, &t->req, key) < 0 ||
		h1_size(&t->req) > s->engine->bufsize - d->tail)
		return -ERR_RANGE;
	if (t->req.framing == HTTP_BODY_TUNNEL)
		t->req.framing = HTTP_BODY_NONE;
	n = http_pack(&t->req, to, to);
	d->lookahead = (uint32_t)n;
	t->h1[CLIENT]->parser.at = (uint32_t)n;
	t->head_is_given = 1;
	return 0;
}

int
http_read_given(struct stream *s, const struct http_head *req)
{
	int r;

	if (begin_request(s) < 0 || make_room(s) < 0)
		return -ERR_NOMEM;
	r = copy_head(s, req);
	if (r == 0)
		direction_count(s, CLIENT, h1_size(req));
	return r;
}

/* The client has closed and the rest of the body will not arrive. Rules are evaluated as if it were
 * there, as in HAProxy: one may send a reply. The request was valid so far and has taken the time
 * until now. */
static enum stream_event
request_cut(struct stream *s)
{
	enum stream_event ev;

	http_note_head_time(s);
	http_close_after(s->txn, CLIENT);
	direction_event(s, CLIENT, DIRECTION_EV_SRC_ERR);
	ev = request_process(s);
	if (ev != STREAM_EV_NONE)
		return ev;
	/* A rule waits for an answer. */
	stream_set_term(s, 'C', 'R');
	return STREAM_EV_CLOSE;
}

/* A request that only lacks its body is not dropped before the rules have run. */
static enum stream_event
client_gone(struct stream *s)
{
	return s->txn && s->txn->head_ms ? request_cut(s) : STREAM_EV_CLIENT_GONE;
}

/* One read; more: data arrived. */
static struct io_step
read_client(struct stream *s)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[CLIENT];
	struct conn *src = s->conn[CLIENT];
	size_t got, at, room;

	/* The rest of a body stays in the kernel, and a rule that waits for it has to know: the
	 * head may have grown meanwhile. */
	if (s->txn && s->txn->head_ms && !direction_has_room(e, d))
		return io_event(request_process(s));
	if (!(src->err || conn_is_ready(src, DIR_R)) || make_room(s) < 0)
		return io_stop();
	at = d->tail + d->lookahead;
	room = e->bufsize - at;
	if (s->txn && s->txn->head_ms)
		room = exchange_reach(s, CLIENT, room);
	switch (conn_recv(src, d->buf + at, room, &got)) {
	case IO_AGAIN:
		if (!s->txn)
			direction_buf_free(e, d);
		return io_stop();
	case IO_OK:
		direction_count(s, CLIENT, got);
		d->lookahead += (uint32_t)got;
		return io_more(1);
	case IO_EOF:
	case IO_ERR:
		break;
	}
	if (!s->txn)
		direction_buf_free(e, d);
	return io_event(client_gone(s));
}

int
http_read_awaits_answer(const struct stream *s)
{
	return s->txn && exchange_has_request(s->txn) && stream_awaits_answer(s);
}

/* True if its head has come as data, its texts in the lookahead (HTTP/2), and is new. */
static int
has_given_head(const struct stream *s)
{
	return s->txn && s->txn->head_is_given && !s->txn->head_ms;
}

enum stream_event
http_read(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];
	/* The next request of a persistent connection has arrived with the one before. */
	struct io_step step = io_more(d->lookahead && !s->txn);

	d->waits_for_buffer = 0;
	if (unlikely(has_given_head(s))) {
		step = io_event(complete_head(s, d->lookahead));
		/* A stream that was reset meanwhile: no server is connected for it. */
		if (conn_seen(s->conn[CLIENT]) & EV_ERR) {
			stream_set_term(s, 'C', 'R');
			return STREAM_EV_CLOSE;
		}
		if (step.ev != STREAM_EV_NONE)
			return step.ev;
	}
	if (unlikely(s->extras != NULL) && s->txn && s->txn->head_ms && stream_has_answer(s)) {
		step = io_event(request_process(s));
		if (step.ev != STREAM_EV_NONE)
			return step.ev;
	}
	if (http_read_awaits_answer(s))
		return STREAM_EV_NONE;
	do {
		if (!step.more)
			step = read_client(s);
		if (!step.more || begin_request(s) < 0)
			return step.ev;
		step = io_event(parse_request(s));
		/* A FIN behind the request does not end the wait. */
	} while (step.ev == STREAM_EV_NONE && !http_read_awaits_answer(s));
	return step.ev;
}

enum stream_event
http_read_io(struct stream *s, int side, uint32_t ev)
{
	enum stream_event next = STREAM_EV_NONE;

	(void)side;
	if (ev & EV_W)
		informational_flush(s);
	if (ev & EV_R)
		next = http_read(s);
	if (next == STREAM_EV_NONE && (ev & EV_ERR) &&
		(s->conn[CLIENT]->err || conn_take_error(s->conn[CLIENT])))
		next = client_gone(s);
	return next;
}
