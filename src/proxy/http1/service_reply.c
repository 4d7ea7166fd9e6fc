/* The response of a local service, on the session's worker. Its next slice is asked for when the
 * client has taken the one before: what is generated and not sent is a slice and a buffer. */
#include "proxy/http1/service_reply.h"

#include <stdio.h>
#include <string.h>

#include "base/counter.h"
#include "http/h1_framing.h"
#include "http/reply.h"
#include "http/status.h"
#include "proxy/http1/local_reply.h"
#include "proxy/http1/rule_outcome.h"
#include "proxy/model/memory.h"
#include "proxy/model/service.h"
#include "proxy/relay/direction.h"

/* The line before a chunk, the end of it, and the last chunk (RFC 9112, 7.1). */
#define CHUNK_LINE_MAX 10
#define CHUNK_END "\r\n"
#define LAST_CHUNK "0\r\n\r\n"
#define CHUNK_ROOM (CHUNK_LINE_MAX + sizeof(CHUNK_END) + sizeof(LAST_CHUNK))

void
service_reply_begin(struct stream *s)
{
	service_ask(s->txn->job);
}

int
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
		t->keep_alive[CLIENT] = 0;
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

void
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

int
service_reply_follows(const struct stream *s)
{
	return s->txn->job != NULL;
}

/* The end of the body must not look like one. */
static void
fail_body(struct stream *s)
{
	http_txn_drop_job(s->txn);
	s->txn->keep_alive[CLIENT] = 0;
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
	counter_add(&s->engine->bytes_out, at);
}

int
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
