/* State REPLY: sends responses of our own, and drains what is left of the request. On the
 * session's worker. */
#include "proxy/http1/http_reply.h"

#include <stdio.h>
#include <string.h>

#include "base/counter.h"
#include "http/h1_framing.h"
#include "http/reply.h"
#include "http/status.h"
#include "proxy/http1/cache_reply.h"
#include "proxy/http1/exchange.h"
#include "proxy/http1/local_reply.h"
#include "proxy/http1/rule_outcome.h"
#include "proxy/log/stream_log.h"
#include "proxy/model/count.h"
#include "proxy/model/http_count.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/memory.h"
#include "proxy/model/service.h"
#include "proxy/model/termination.h"
#include "proxy/relay/direction.h"
#include "proxy/sample/capture.h"

/* --- responses of services --- */

/* The line before a chunk, the end of it, and the last chunk (RFC 9112, 7.1). */
#define CHUNK_LINE_MAX 10
#define CHUNK_END "\r\n"
#define LAST_CHUNK "0\r\n\r\n"
#define CHUNK_ROOM (CHUNK_LINE_MAX + sizeof(CHUNK_END) + sizeof(LAST_CHUNK))

/* Has the head generated: the session's task follows. */
static void
service_reply_begin(struct stream *s)
{
	service_ask(s->txn->job);
}

/* True if the head has been made, also in vain. */
static int
service_reply_has_head(const struct stream *s)
{
	return http_has_answer(s->txn);
}

/* The framing of the body, which is not generated for HEAD. */
static int
set_framing(struct http_txn *t, struct http_head *head, int has_body)
{
	int r;

	head->method = t->asked;
	if (t->asked == HTTP_HEAD)
		return 0;
	head->framing = has_body ? HTTP_BODY_CHUNKED : HTTP_BODY_NONE;
	r = h1_framing_to_fields(head, t->version);
	if (head->framing == HTTP_BODY_CLOSE)
		http_close_after(t, CLIENT);
	t->is_chunked = head->framing == HTTP_BODY_CHUNKED;
	return r;
}

static int
write_head(struct stream *s, const struct service_job *j)
{
	struct http_head *head = rule_outcome_head(s);
	int r = 0;

	head->version = HTTP_1_1;
	head->status = j->status;
	head->reason = str_of(http_status_reason(j->status));
	for (unsigned int i = 0; r == 0 && i < j->n_fields; i++)
		r = http_add(head, j->field[i].name, j->field[i].value);
	if (r == 0)
		r = set_framing(s->txn, head, j->has_body);
	return r == 0 ? local_reply_make(s, head, (struct str){ NULL, 0 }) : r;
}

/* The job has come back with the head: writes it (local_reply.h), or sets txn->status to 500. */
static void
service_reply_make_head(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	int r = t->job->status && !t->job->out.failed ? write_head(s, t->job) : -1;

	arena_release(a, mark);
	t->is_served = r == 0;
	if (r < 0)
		local_reply_failed(s);
	if (r == 0 && http_status_has_no_body(t->status))
		t->is_chunked = 0;
	else if (r == 0 && t->job->has_body && t->asked != HTTP_HEAD)
		return;
	http_txn_drop_job(t);
}

/* True if parts of a body follow what is in the buffer. */
static int
service_reply_follows(const struct stream *s)
{
	return s->txn->job != NULL;
}

/* Aborts the response: a body that has failed must not look complete. */
static void
fail_body(struct stream *s)
{
	http_txn_drop_job(s->txn);
	http_close_after(s->txn, CLIENT);
	if (!s->conn[CLIENT]->err)
		conn_reset_on_close(s->conn[CLIENT]);
	direction_event(s, SERVER, DIRECTION_EV_ABORT);
}

static size_t
put_raw(char *to, const char *p, size_t n)
{
	memcpy(to, p, n);
	return n;
}

/* Moves some of the slice to the buffer, with its framing, behind what is there. */
static void
put_slice(struct stream *s, struct service_job *j)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[SERVER];
	size_t room = s->engine->bufsize - d->tail - CHUNK_ROOM;
	size_t n = MIN(j->out.len - j->taken, room), at = 0;
	char *to = d->buf + d->tail, line[CHUNK_LINE_MAX + 1];

	if (n && t->is_chunked)
		at += put_raw(to, line, (size_t)snprintf(line, sizeof(line), "%zx\r\n", n));
	if (n)
		at += put_raw(to + at, j->out.p + j->taken, n);
	if (n && t->is_chunked)
		at += put_raw(to + at, CHUNK_END, strlen(CHUNK_END));
	j->taken += n;
	if (j->is_over && j->taken == j->out.len && t->is_chunked)
		at += put_raw(to + at, LAST_CHUNK, strlen(LAST_CHUNK));
	d->tail += (uint32_t)at;
	d->bytes += at;
	counter_add(&s->engine->stat.bytes_out, at);
}

/*
 * Puts the next part of the body into the buffer, which ends the direction's message if it is the
 * last one. 0: there is none so far. If the service fails the direction is aborted.
 */
static int
service_reply_fill(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];
	struct service_job *j = s->txn->job;

	if (!j || j->is_away)
		return 0;
	if (j->out.failed) {
		fail_body(s);
		return 0;
	}
	if (j->taken == j->out.len && !j->is_over) {
		service_ask(j);
		return 0;
	}
	d->waits_for_buffer = 0;
	if ((!d->buf && !memory_reserve_buffer(s->engine)) || direction_buf_get(s->engine, d) < 0) {
		direction_wait_for_buffer(s, SERVER);
		return 0;
	}
	if (s->engine->bufsize - d->tail <= CHUNK_ROOM)
		return 1;
	put_slice(s, j);
	if (j->is_over && j->taken == j->out.len) {
		http_txn_drop_job(s->txn);
		direction_event(s, SERVER, DIRECTION_EV_MSG_END);
	}
	return 1;
}

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
	if (s->own_line == STREAM_LINE_DUE)
		stream_log(s);
	s->own_line = STREAM_LINE_WRITTEN;
	conn_shut(s->conn[CLIENT]);
}

/* Puts the next part of a body into the buffer. 0: there is none so far. */
static int
fill_reply(struct stream *s)
{
	return cache_reply_follows(s) ? cache_reply_fill(s) : service_reply_fill(s);
}

/* Without a server a failed write causes no event: the direction was notified. */
static void
flush_reply(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];
	int more = direction_flush(s, SERVER).more;

	/* The session waits for the client, not for the filter, which lets nothing pass behind
	 * these bytes and is asked again when they have left. */
	if (!more)
		d->waits_to_pass = 0;
	while (more && d->state == DIRECTION_OPEN && fill_reply(s))
		more = direction_flush(s, SERVER).more;
	if (more && d->state == DIRECTION_TAIL)
		end_of_reply(s);
}

static void
start_sending(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];

	counter_add(&s->engine->stat.bytes_out, d->lookahead);
	d->tail += d->lookahead;
	d->lookahead = 0;
	/* The first part of a body leaves with the head. */
	if (service_reply_follows(s) || cache_reply_follows(s))
		(void)fill_reply(s);
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
	if (t->reply == HTTP_REPLY_UNMADE)
		r = local_reply_make_page(s);
	http_end_req_vars(t);
	http_count_response(s);
	if (r < 0 || t->reply != HTTP_REPLY_MADE)
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
	/* A filter lets nothing pass: the client is not waited for. */
	if (s->dir[SERVER].waits_to_pass)
		return TIMER_NEVER;
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

int
http_reply_awaits_rest(const struct stream *s)
{
	return !s->txn->local && !exchange_has_request(s->txn);
}

/* Returns the number of bytes. rest: they are parsed as the rest of this body, as far as it is
 * valid. */
static size_t
throw_away(struct stream *s, struct h1_body *rest)
{
	struct conn *src = s->conn[CLIENT];
	size_t got, all = 0;

	for (int i = 0; i < DRAIN_READS; i++) {
		if (!conn_is_ready(src, DIR_R) ||
			conn_recv(src, s->engine->scratch, s->engine->bufsize, &got) != IO_OK)
			break;
		all += got;
		if (rest && h1_body_take(rest, s->engine->scratch, got) < 0)
			rest = NULL;
		if (rest && h1_body_is_over(rest))
			rest = NULL;
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
		(void)throw_away(s, http_reply_awaits_rest(s) ? &s->txn->h1[CLIENT]->body : NULL);
	if ((ev & EV_ERR) && (c->err || conn_take_error(c)))
		direction_event(s, SERVER, DIRECTION_EV_SINK_ERR);
	if ((c->eof || c->err) && http_reply_awaits_rest(s))
		stream_note_abandoned(s, 'D');
	return STREAM_EV_NONE;
}

enum stream_event
http_tarpit_io(struct stream *s, int side, uint32_t ev)
{
	struct conn *c = s->conn[CLIENT];

	(void)side;
	/* Data that arrives meanwhile is not kept: nothing after it could be parsed. */
	if ((ev & EV_R) && throw_away(s, NULL))
		http_close_after(s->txn, CLIENT);
	if (c->err || ((ev & EV_ERR) && conn_take_error(c)))
		return STREAM_EV_CLIENT_GONE;
	return c->eof ? STREAM_EV_CLIENT_EOF : STREAM_EV_NONE;
}
