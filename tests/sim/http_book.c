#include "sim/http_book.h"

#include <string.h>

#include "proxy/model/http_conf.h"

const char *
http_verb_name(enum http_verb v)
{
	static const char *const names[HTTP_VERBS] = { "GET", "HEAD", "PUT", "POST", "CONNECT" };

	return names[v];
}

struct http_request *
http_book_add(struct http_book *b)
{
	struct http_request *q = &b->req[b->n++];

	assert(b->n <= HTTP_BOOK_MAX);
	q->id = b->n;
	return q;
}

uint32_t
http_seed_request(const struct http_request *q)
{
	return q->id << 4 | 15;
}

uint32_t
http_seed_answer(const struct http_request *q, unsigned int nth)
{
	return q->id << 4 | nth;
}

uint32_t
http_seed_up(const struct http_request *q)
{
	return q->id << 4 | 14;
}

uint32_t
http_seed_down(const struct http_request *q)
{
	return q->id << 4 | 13;
}

/* --- requests --- */

static int
has_failed(const struct http_book *b)
{
	return fake_failed_call(b->w->k) != SYS_CALLS;
}

/* An abandoned try may still arrive, after the one that is answered. */
static int
may_come_late(const struct http_book *b)
{
	return has_failed(b) || b->spoiled ||
		(!b->kind && http_retries(b->w->px, HTTP_RETRY_RESPONSE_TIMEOUT));
}

/* The value of retry-on that permits another try after this one. */
static int
is_retried(const struct http_book *b, const struct http_try *t)
{
	const struct proxy *be = b->w->px;

	if (t->refused)
		return 1;
	if (t->lost && http_retries(be, HTTP_RETRY_JUNK_RESPONSE))
		return 1;
	if (http_retries(be, HTTP_RETRY_EMPTY_RESPONSE) && (!t->said || t->lost))
		return 1;
	if (http_retries(be, HTTP_RETRY_JUNK_RESPONSE) && t->said &&
		(!t->head_out || t->way == HTTP_WAY_JUNK || t->way == HTTP_WAY_BAD_BODY))
		return 1;
	if (http_retries(be, HTTP_RETRY_RESPONSE_TIMEOUT) && !b->kind)
		return 1;
	if (http_retries_status(be, t->status) && t->said)
		return 1;
	return has_failed(b) && be->http.retry_on & ~(1u << HTTP_RETRY_CONN_FAILURE);
}

/* True on a reused connection, too: the book does not record that the server has closed it. */
static int
may_come_again(const struct http_book *b, const struct http_request *q)
{
	return q->n_tries <= (unsigned int)b->w->px->retries &&
		is_retried(b, &q->tries[q->n_tries - 1]);
}

static int
is_as_sent(const struct world *w, const struct http_request *q, const struct http_parsed *m)
{
	int is_filtered = w->px->filters != NULL;

	if (strcmp(m->method, http_verb_name(q->verb)) != 0 ||
		(q->verb != HTTP_VERB_CONNECT && m->path != q->id))
		return 0;
	if (m->upgrade && !q->upgrade)
		return 0;
	/* A stream that ends with its head has no body: it may come with any framing. */
	if ((q->h2 || m->h2) && q->shape == HTTP_SHAPE_CHUNKED && !q->len)
		return m->length <= 0;
	/* Filters change its framing; without memory for them it passes as it is. */
	if (is_filtered && q->shape == HTTP_SHAPE_LENGTH && q->len &&
		(m->chunked || !w->cfg.memory))
		return m->chunked && m->length == -1;
	return m->chunked == (q->shape == HTTP_SHAPE_CHUNKED) &&
		m->length == (q->shape == HTTP_SHAPE_LENGTH ? (long)q->len : -1);
}

/* The rules that make heads long are no reason to lose a byte. */
static void
check_long(struct http_book *b, const struct http_request *q, const struct http_parsed *m,
	size_t len)
{
	if (b->added.exact && m->has_long != len)
		world_error(b->w, "%s %u has %zu bytes of X-Long, not %zu",
			m->status ? "the answer to" : "request", q->id, m->has_long, len);
	b->longest = MAX(b->longest, m->has_long);
}

struct http_try *
http_book_request(struct http_book *b, const struct http_parsed *m, unsigned int server,
	unsigned int nth, struct http_request **out)
{
	struct http_request *q = m->id && m->id <= b->n ? &b->req[m->id - 1] : NULL;
	struct http_try *t;

	*out = q;
	if (!q || !is_as_sent(b->w, q, m) || q->bad == HTTP_BAD_HEAD) {
		world_error(b->w, "a request that nobody sent: %s /%u, id %u", m->method, m->path,
			m->id);
		return NULL;
	}
	if (q->answered && !q->own && !may_come_late(b))
		world_error(b->w, "request %u (%s) comes again after its answer %u, try %u", q->id,
			m->method, q->came_status, q->n_tries + 1);
	if (q->n_tries && nth && !q->tries[q->n_tries - 1].refused)
		world_error(b->w, "request %u comes again over a kept connection", q->id);
	if (q->n_tries && !may_come_again(b, q))
		world_error(b->w, "request %u (%s) comes again, try %u", q->id, m->method,
			q->n_tries + 1);
	if (q->n_tries == HTTP_TRIES_MAX)
		return NULL;
	b->again += q->n_tries > 0;
	t = &q->tries[q->n_tries++];
	t->nth = nth;
	t->server = server;
	t->is_stream = m->h2;
	t->status = q->status;
	t->shape = q->wish;
	t->len = q->wish_len;
	check_long(b, q, m, b->added.up);
	http_persist_check_request(b, q, m, server);
	return t;
}

void
http_book_request_body(
	struct http_book *b, const struct http_request *q, const struct http_reader *r)
{
	if (!q->sent || q->bad)
		world_error(b->w, "request %u has ended for the server only", q->id);
	if (r->wrong || r->got != q->len)
		world_error(b->w, "request %u has another body, %llu bytes of %u", q->id,
			(unsigned long long)r->got, q->len);
}

/* --- answers --- */

int
http_book_may_fail(const struct http_request *q)
{
	return q->fails || q->given_up;
}

static enum http_shape
shape_of(const struct http_request *q, const struct http_parsed *m)
{
	/* A server that has not read the request's head does not know that no body is expected. */
	if (!m->id && m->status >= 400 && m->close)
		return HTTP_SHAPE_TUNNEL;
	if (m->status == 101 || (q->verb == HTTP_VERB_CONNECT && m->status / 100 == 2))
		return HTTP_SHAPE_TUNNEL;
	if (q->verb == HTTP_VERB_HEAD || m->status / 100 == 1 || m->status == 204 ||
		m->status == 304)
		return HTTP_SHAPE_NONE;
	if (m->chunked)
		return HTTP_SHAPE_CHUNKED;
	return m->length >= 0 ? HTTP_SHAPE_LENGTH : HTTP_SHAPE_END;
}

/* Sent by tacit, which adds no id. */
static void
check_local_reply(struct http_book *b, struct http_request *q, const struct http_parsed *m)
{
	if (m->status == 100 && q->expect)
		return;
	if (b->kind && !http_book_may_fail(q))
		world_error(b->w, "request %u gets %u for an answer", q->id, m->status);
	if (m->status < 400 && !b->rules)
		world_error(b->w, "request %u gets an own %u", q->id, m->status);
	q->own = 1;
	b->own++;
}

static void
check_servers_response(struct http_book *b, const struct http_request *q,
	const struct http_parsed *m, enum http_shape shape)
{
	const struct http_try *t = &q->tries[m->nth];

	if (m->extra)
		world_error(b->w, "request %u gets an answer that nobody asked for", q->id);
	if (m->id != q->id)
		world_error(b->w, "request %u gets the answer to %u", q->id, m->id);
	else if (m->nth >= q->n_tries ||
		(m->nth + 1 != q->n_tries && q->answered && !may_come_late(b)))
		world_error(b->w, "request %u gets the answer to try %u of %u", q->id, m->nth + 1,
			q->n_tries);
	else if (m->status >= 200 && m->status != t->status)
		world_error(b->w, "request %u gets %u, not %u", q->id, m->status, t->status);
	else if (m->status >= 200 && shape == HTTP_SHAPE_LENGTH && (uint32_t)m->length != t->len)
		world_error(b->w, "the answer to %u is to have %ld bytes, not %u", q->id, m->length,
			t->len);
	if (m->status >= 200 || m->status == 101)
		check_long(b, q, m, b->added.down);
}

enum http_shape
http_book_response(struct http_book *b, struct http_request *q, const struct http_parsed *m)
{
	enum http_shape shape = shape_of(q, m);

	if (!q->minor && (m->status / 100 == 1 || m->chunked))
		world_error(b->w, "request %u is of 1.0 and gets %u%s", q->id, m->status,
			m->chunked ? " in chunks" : "");
	q->answered = m->status >= 200 || m->status == 101;
	if (m->id)
		check_servers_response(b, q, m, shape);
	else
		check_local_reply(b, q, m);
	if (!q->answered)
		return shape;
	q->closes = m->close;
	/* No client that connected later is kept. */
	if (b->stopped_ns && q->said_ns > b->stopped_ns && q->minor && !q->h2 && !m->close &&
		shape != HTTP_SHAPE_TUNNEL)
		world_error(b->w, "request %u may be followed by others after the stop", q->id);
	q->came_status = m->status;
	q->came_nth = m->nth;
	q->came = shape;
	return shape;
}

void
http_book_body(
	struct http_book *b, struct http_request *q, const struct http_reader *r, enum http_how how)
{
	if (!q->answered)
		return;
	if (r->wrong && !q->own)
		world_error(b->w, "the answer to %u has wrong bytes", q->id);
	q->got = r->got;
	q->whole = how == HTTP_HOW_WHOLE || (how == HTTP_HOW_EOF && q->came == HTTP_SHAPE_END);
	b->whole += (unsigned int)q->whole;
}

/* Checks that a response that looks complete was sent so. */
static void
check_whole(const struct http_book *b, const struct http_request *q)
{
	const struct http_try *t = &q->tries[q->came_nth];
	int by_end = q->came == HTTP_SHAPE_END;

	if (by_end && b->w->non_strict)
		return;
	if (q->came == HTTP_SHAPE_NONE || q->came == HTTP_SHAPE_TUNNEL)
		return;
	if (q->got != t->len || !t->whole)
		world_error(b->w, "the answer to %u looks whole with %llu bytes of %u%s", q->id,
			(unsigned long long)q->got, t->len, t->whole ? "" : ", not all said");
	if ((by_end || q->h2 || t->is_stream) && t->shape == HTTP_SHAPE_END && !t->fin)
		world_error(
			b->w, "the answer to %u has an end that its server did not make", q->id);
}

void
http_book_check(struct http_book *b)
{
	for (unsigned int i = 0; i < b->n; i++)
		if (b->req[i].answered && b->req[i].whole && !b->req[i].own)
			check_whole(b, &b->req[i]);
}
