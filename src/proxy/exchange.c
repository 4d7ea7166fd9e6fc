#include "exchange.h"

#include <string.h>

#include "actions.h"
#include "base/err.h"
#include "count.h"
#include "half.h"
#include "http_count.h"
#include "http_out.h"
#include "proxy/memory.h"
#include "proxy/session_log.h"

static uint64_t
now_ms(const struct session *s)
{
	return loop_now_ms(s->engine->loop);
}

/* The session answers itself; the machine is told when this dispatch is over (session_settle). */
static void
fail(struct session *s, unsigned int status, char cause, char phase)
{
	session_blame(s, cause, phase);
	s->txn->status = status;
}

static int
is_tunnel(const struct http_txn *t)
{
	return t->body[SERVER].framing == HTTP_BODY_TUNNEL;
}

int
exchange_is_plain(const struct session *s)
{
	return !s->txn || is_tunnel(s->txn);
}

int
exchange_has_request(const struct http_txn *t)
{
	return t->head_ms && http_body_is_over(&t->body[CLIENT]);
}

int
http_is_cut(const struct session *s, int side)
{
	const struct http_txn *t = s->txn;

	if (!t || is_tunnel(t))
		return 0;
	return side == CLIENT ? !exchange_has_request(t)
			      : http_has_answer(t) && !http_body_is_over(&t->body[SERVER]);
}

int
exchange_may_reuse(const struct session *s)
{
	return !http_closes_server(s->fe, s->be) && !s->txn->upgrades;
}

/* --- once more --- */

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
	const struct half *h = &s->half[CLIENT];

	return t->reused && h->resend && !s->half[SERVER].bytes &&
		(is_idempotent(t->method) || h->head == t->start);
}

/* Attempts are left, and all of the request is here. */
static int
retry(struct session *s)
{
	if (!s->half[CLIENT].resend || s->retries >= (unsigned int)s->be->retries)
		return 0;
	s->retries++;
	be_stat(s)->wretr++;
	srv_stat(s)->wretr++;
	s->txn->again = 1;
	return 1;
}

static int
retries(struct session *s, enum http_retry what)
{
	return http_retries(s->be, what) && retry(s);
}

int
exchange_may_retry(const struct session *s)
{
	return exchange_has_request(s->txn) &&
		(s->txn->reused || (s->be->http.retry_on & ~(1u << HTTP_RETRY_CONN_FAILURE)));
}

int
exchange_sends_again(struct session *s, int side)
{
	if (!s->txn || s->state != SESSION_RELAY || side != CLIENT || !http_awaits_head(s, SERVER))
		return 0;
	if (may_send_again(s))
		s->txn->again = 1;
	return s->txn->again;
}

void
exchange_starves(struct session *s, int side)
{
	s->engine->buf_waits++;
	s->half[side].starves = 1;
	s->wake_ms = now_ms(s) + HTTP_MEMORY_WAIT_MS;
}

/* --- bodies --- */

size_t
exchange_reach(const struct session *s, int side, size_t reach)
{
	const struct http_body *b = &s->txn->body[side];

	/* What is behind it is left with the kernel, and is the next message. */
	if (b->framing == HTTP_BODY_LENGTH && b->left < reach)
		return (size_t)b->left;
	/* It may be, and is to be kept where a head belongs. */
	if (side == CLIENT && b->framing == HTTP_BODY_CHUNKED)
		return MIN(reach, (size_t)(s->engine->bufsize - s->engine->maxrewrite));
	return reach;
}

/* Takes the framing out: an old client knows nothing of it. */
static enum exchange_step
dechunk(struct http_body *b, char *p, size_t got, size_t *used, size_t *out)
{
	*used = *out = 0;
	while (*used < got && !http_body_is_over(b)) {
		size_t len = 0;

		switch (http_body_next(b, p + *used, got - *used, &len)) {
		case HTTP_PIECE_DATA:
			memmove(p + *out, p + *used, len);
			*out += len;
			break;
		case HTTP_PIECE_FRAME:
			break;
		case HTTP_PIECE_MORE:
			*used = got;
			return EXCHANGE_ON;
		case HTTP_PIECE_BAD:
			return EXCHANGE_BAD;
		}
		*used += len;
	}
	return http_body_is_over(b) ? EXCHANGE_OVER : EXCHANGE_ON;
}

enum exchange_step
exchange_judge(struct session *s, int side, char *p, size_t got, size_t *used, size_t *out)
{
	struct http_txn *t = s->txn;
	struct http_body *b = &t->body[side];
	long n;

	if (b->framing == HTTP_BODY_TUNNEL) {
		*used = *out = got;
		return EXCHANGE_ON;
	}
	if (side == SERVER && t->dechunks)
		return dechunk(b, p, got, used, out);
	n = got ? http_body_take(b, p, got) : 0;
	*used = *out = n < 0 ? 0 : (size_t)n;
	if (n < 0)
		return EXCHANGE_BAD;
	return http_body_is_over(b) ? EXCHANGE_OVER : EXCHANGE_ON;
}

enum exchange_step
exchange_look(struct session *s, int side, char *p, size_t *n, struct http_body *before)
{
	size_t got = *n, used;
	enum exchange_step step;

	*before = s->txn->body[side];
	step = exchange_judge(s, side, p, got, &used, n);
	if (side == SERVER && used < got)
		s->txn->keeps[SERVER] = 0;
	return step;
}

void
exchange_look_again(
	struct session *s, int side, const char *p, size_t put, const struct http_body *before)
{
	s->txn->body[side] = *before;
	if (put && !is_tunnel(s->txn))
		(void)http_body_take(&s->txn->body[side], p, put);
}

int
exchange_needs_buf(const struct session *s, int side)
{
	return s->txn && side == SERVER && s->txn->dechunks;
}

/* Bytes behind the end of a message: the next request, or what no server has to say. */
static void
keep_rest(struct session *s, int side, const char *rest, size_t n)
{
	struct half *h = &s->half[side];

	if (side == SERVER) {
		s->txn->keeps[SERVER] = 0;
		return;
	}
	if (half_take_buf(s->engine, h) < 0) {
		/* They are read and cannot be had: this was the last request. */
		s->txn->keeps[CLIENT] = 0;
		return;
	}
	assert(h->tail + h->ahead + n <= s->engine->bufsize);
	memcpy(h->buf + h->tail + h->ahead, rest, n);
	h->ahead += (uint32_t)n;
}

static void
is_bad(struct session *s, int side)
{
	struct http_txn *t = s->txn;

	t->keeps[CLIENT] = t->keeps[SERVER] = 0;
	if (side == CLIENT) {
		fe_stat(s)->failed_req++;
		if (!http_has_answer(t)) {
			fail(s, http_bad_status((enum http_bad)t->body[CLIENT].bad), 'P', 'R');
			return;
		}
	} else {
		http_count_bad_response(s);
	}
	session_blame(s, 'P', 'D');
	half_event(s, side, HALF_EV_SRC_ERR);
	if (!half_pending(&s->half[side]))
		half_event(s, side, HALF_EV_EMPTY);
}

void
exchange_step(struct session *s, int side, enum exchange_step step, const char *rest, size_t n)
{
	switch (step) {
	case EXCHANGE_ON:
		return;
	case EXCHANGE_BAD:
		is_bad(s, side);
		return;
	case EXCHANGE_OVER:
		if (n)
			keep_rest(s, side, rest, n);
		half_event(s, side, HALF_EV_MSG_END);
		if (!half_pending(&s->half[side]))
			half_event(s, side, HALF_EV_EMPTY);
		return;
	}
}

int
exchange_take_ahead(struct session *s, int side)
{
	struct half *h = &s->half[side];
	size_t used, out, n = h->ahead;
	char *p = h->buf + h->tail;
	enum exchange_step step;

	step = exchange_judge(s, side, p, n, &used, &out);
	if (step == EXCHANGE_BAD)
		return -1;
	/* Where framing was taken out a gap is left behind; nothing but the end is behind that. */
	h->tail += (uint32_t)out;
	h->ahead = (uint32_t)(n - used);
	if (side == SERVER && h->ahead) {
		s->txn->keeps[SERVER] = 0;
		h->ahead = 0;
	}
	if (step == EXCHANGE_OVER)
		half_event(s, side, HALF_EV_MSG_END);
	return 0;
}

int
exchange_ends_here(const struct session *s, int side)
{
	const struct http_txn *t = s->txn;

	if (is_tunnel(t))
		return 1;
	return side == SERVER && t->body[SERVER].framing == HTTP_BODY_CLOSE;
}

void
exchange_cut(struct session *s, int side)
{
	s->txn->keeps[CLIENT] = s->txn->keeps[SERVER] = 0;
	if (side == CLIENT) {
		session_side_failed(s, CLIENT);
		return;
	}
	session_note_failure(s, SERVER);
	half_event(s, SERVER, HALF_EV_SRC_ERR);
	if (!half_pending(&s->half[SERVER]))
		half_event(s, SERVER, HALF_EV_EMPTY);
}

int
exchange_closes(const struct session *s, int side)
{
	return side == SERVER && !s->txn->keeps[CLIENT] && exchange_has_request(s->txn);
}

/* --- the response's head --- */

/* The server ended or failed before that. */
static void
no_answer(struct session *s)
{
	if (exchange_sends_again(s, CLIENT) ||
		(!s->half[SERVER].bytes && retries(s, HTTP_RETRY_EMPTY_RESPONSE)) ||
		(s->half[SERVER].bytes && retries(s, HTTP_RETRY_JUNK_RESPONSE)))
		return;
	http_count_bad_response(s);
	fail(s, 502, 'S', 'H');
}

unsigned int
http_late(struct session *s, int side)
{
	if (side == CLIENT) {
		fe_stat(s)->failed_req++;
		s->txn->keeps[CLIENT] = 0;
		return 408;
	}
	if (retries(s, HTTP_RETRY_RESPONSE_TIMEOUT))
		return 0;
	http_count_bad_response(s);
	return 504;
}

/* An informational response goes on to the client (RFC 9110, 15.2), one of 1.0 has never heard of
 * them. -1: it cannot be written. */
static int
pass_interim(struct session *s, size_t used)
{
	struct http_txn *t = s->txn;
	struct half *h = &s->half[SERVER];

	h->head = h->tail = h->tail + (uint32_t)used;
	h->ahead -= (uint32_t)used;
	memset(&t->parser[SERVER], 0, sizeof(t->parser[SERVER]));
	if (t->version != HTTP_1_0) {
		(void)http_strip_hop(&t->res);
		if (http_place_response(s, h->tail) < 0)
			return -1;
	}
	http_head_init(&t->res, HTTP_RESPONSE, t->res.field, s->engine->maxhdr);
	return half_flush(s, SERVER);
}

/* No message any more, but bytes both ways: after 101, or a CONNECT that was granted. -1: nobody
 * has asked for that, or the request is not over. */
static int
open_tunnel(struct session *s)
{
	struct http_txn *t = s->txn;
	struct half *h = &s->half[CLIENT];

	if (h->state != HALF_DONE || (t->method != HTTP_CONNECT && !t->upgrades))
		return -1;
	half_event(s, CLIENT, HALF_EV_RESET);
	t->body[CLIENT].framing = HTTP_BODY_TUNNEL;
	/* What the client said ahead is for the other end of the tunnel. */
	h->tail += h->ahead;
	h->ahead = 0;
	t->keeps[CLIENT] = t->keeps[SERVER] = 0;
	return 0;
}

/* Whether the connections go on after it, and how its body reaches an old client. */
static void
decide(struct session *s)
{
	struct http_txn *t = s->txn;
	struct http_body *b = &t->body[SERVER];

	if (!http_persists(&t->res) || b->framing == HTTP_BODY_CLOSE ||
		b->framing == HTTP_BODY_TUNNEL)
		t->keeps[SERVER] = 0;
	if (b->framing == HTTP_BODY_CLOSE || b->framing == HTTP_BODY_TUNNEL)
		t->keeps[CLIENT] = 0;
	if (b->framing == HTTP_BODY_CHUNKED && t->version == HTTP_1_0) {
		t->dechunks = 1;
		t->keeps[CLIENT] = 0;
		(void)http_drop_all(&t->res, str_of(http_field_name(HTTP_F_TRANSFER_ENCODING)));
		(void)http_drop_all(&t->res, str_of(http_field_name(HTTP_F_TRAILER)));
	}
}

static void
bad_answer(struct session *s)
{
	if (retries(s, HTTP_RETRY_JUNK_RESPONSE))
		return;
	http_count_bad_response(s);
	fail(s, 502, 'P', 'H');
}

/* The server has answered: the request is not sent again. */
static void
forget_copy(struct session *s)
{
	struct half *h = &s->half[CLIENT];

	h->resend = 0;
	if (h->buf && !h->ahead && !half_pending(h))
		half_drop_buf(s->engine, h);
}

/* The final head is complete: it leaves with what there is of the body. */
static void
pass_final(struct session *s, size_t used)
{
	struct http_txn *t = s->txn;
	struct half *h = &s->half[SERVER];
	uint32_t end = h->tail + (uint32_t)used;

	if (http_retries_status(s->be, t->res.status) && retry(s))
		return;
	http_txn_allow_added(s, &t->res);
	http_body_of_response(&t->body[SERVER], &t->res, t->method);
	decide(s);
	if ((is_tunnel(t) && open_tunnel(s) < 0) || http_strip_hop(&t->res) < 0) {
		bad_answer(s);
		return;
	}
	t->status = t->res.status;
	h->head = h->tail = end;
	h->ahead -= (uint32_t)used;
	if (http_place_response(s, end) < 0) {
		fail(s, 502, 'P', 'H');
		return;
	}
	t->res_ms = now_ms(s);
	forget_copy(s);
	http_count_response(s);
	session_log_early(s);
	if (exchange_take_ahead(s, SERVER) < 0)
		is_bad(s, SERVER);
	if (half_flush(s, SERVER))
		half_event(s, SERVER, HALF_EV_EMPTY);
}

static void
move_ahead(struct session *s)
{
	struct half *h = &s->half[SERVER];

	memmove(h->buf + s->engine->maxrewrite, h->buf + h->tail, h->ahead);
	h->head = h->tail = s->engine->maxrewrite;
}

/* What has come of the response, which may be several heads: 1 when more is worth a try. */
static int
parse_answer(struct session *s)
{
	struct http_txn *t = s->txn;
	struct half *h = &s->half[SERVER];
	size_t used;
	int r;

	while (h->ahead) {
		switch (http_parse_response(&t->parser[SERVER], h->buf + h->tail, h->ahead, &t->res,
			&used)) {
		case HTTP_MORE:
			if (h->tail + h->ahead < s->engine->bufsize)
				return 1;
			bad_answer(s);
			return 0;
		case HTTP_BAD:
			bad_answer(s);
			return 0;
		case HTTP_COMPLETE:
			break;
		}
		if (t->res.status >= 200 || t->res.status == 101) {
			pass_final(s, used);
			return h->state == HALF_OPEN && !half_pending(h);
		}
		r = pass_interim(s, used);
		if (r < 0)
			bad_answer(s);
		if (r <= 0)
			return 0;
		if (h->ahead)
			move_ahead(s);
	}
	return 1;
}

int
exchange_resume(struct session *s, int side)
{
	struct half *h = &s->half[side];

	if (!http_awaits_head(s, side) || !h->ahead || s->txn->parser[SERVER].at ||
		half_pending(h))
		return 0;
	move_ahead(s);
	(void)parse_answer(s);
	return 1;
}

int
exchange_await(struct session *s)
{
	struct engine *e = s->engine;
	struct half *h = &s->half[SERVER];
	struct conn *src = &s->conn[SERVER];
	size_t got, at;
	int more;

	if (http_answer_is_due(s->txn) || s->txn->again)
		return 0;
	if (!h->buf) {
		if (!memory_has_buffer(e)) {
			exchange_starves(s, SERVER);
			return 0;
		}
		(void)half_take_buf(e, h);
		h->head = h->tail = e->maxrewrite;
	}
	at = h->tail + h->ahead;
	switch (conn_recv(src, h->buf + at, e->bufsize - at, &got)) {
	case IO_AGAIN:
		if (!h->ahead)
			half_drop_buf(e, h);
		return 0;
	case IO_EOF:
	case IO_ERR:
		no_answer(s);
		return 0;
	case IO_OK:
		break;
	}
	half_count(s, SERVER, got);
	h->ahead += (uint32_t)got;
	more = parse_answer(s);
	if (s->txn->again)
		return 0;
	if (!src->eof || h->state != HALF_OPEN || http_answer_is_due(s->txn))
		return more;
	if (http_awaits_head(s, SERVER))
		no_answer(s);
	else
		half_source_ended(s, SERVER);
	return 0;
}

/* --- before there is a server --- */

void
exchange_collect(struct session *s)
{
	struct engine *e = s->engine;
	struct half *h = &s->half[CLIENT];
	struct conn *src = &s->conn[CLIENT];
	size_t got, at = h->tail + h->ahead;

	if (h->state != HALF_OPEN || at >= e->bufsize || !loop_is_ready(src->loop, src->fd, DIR_R))
		return;
	switch (conn_recv(src, h->buf + at, exchange_reach(s, CLIENT, e->bufsize - at), &got)) {
	case IO_AGAIN:
		return;
	case IO_OK:
		half_count(s, CLIENT, got);
		h->ahead += (uint32_t)got;
		if (exchange_take_ahead(s, CLIENT) < 0)
			is_bad(s, CLIENT);
		if (!src->eof || h->state != HALF_OPEN)
			return;
		/* fall through */
	case IO_EOF:
	case IO_ERR:
	default:
		exchange_cut(s, CLIENT);
		return;
	}
}

int
exchange_watches_client(const struct session *s)
{
	const struct half *h = &s->half[CLIENT];

	return s->txn && (s->be->options & OPT_ABORTONCLOSE) && !h->ahead && !s->txn->spoke &&
		!http_has_answer(s->txn) && (h->state == HALF_TAIL || h->state == HALF_DONE);
}

int
exchange_is_left(struct session *s)
{
	struct conn *c = &s->conn[CLIENT];
	size_t got;
	char byte;

	if (!exchange_watches_client(s) || !loop_is_ready(c->loop, c->fd, DIR_R))
		return 0;
	switch (conn_peek(c, &byte, 1, &got)) {
	case IO_OK:
		s->txn->spoke = 1;
		return 0;
	case IO_AGAIN:
		return 0;
	case IO_EOF:
	case IO_ERR:
		break;
	}
	return 1;
}
