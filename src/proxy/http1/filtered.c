/* Bodies that pass through filters. On the session's worker; a message that is cut gets neither the
 * filters' end nor that of its chunks. */
#include "proxy/http1/filtered.h"

#include <stdio.h>
#include <string.h>

#include "http/h1_framing.h"
#include "http/h1_message.h"
#include "proxy/http1/exchange.h"
#include "proxy/http1/note_invalid.h"
#include "proxy/relay/direction.h"
#include "proxy/relay/filter.h"

static const struct relay_ops filtered_request_ops;

/* --- the beginning --- */

static int
has_body(const struct http_head *h)
{
	return h->framing != HTTP_BODY_NONE && h->framing != HTTP_BODY_TUNNEL &&
		(h->framing != HTTP_BODY_LENGTH || h->length);
}

/* Takes no part in a message without a body. */
static void
leave_filters(struct stream *s, int side)
{
	for (struct filter *f = s->extras ? s->extras->filters[side] : NULL; f; f = f->next)
		f->part = FILTER_ABSENT;
}

/* Changes the framing: the length of the result is not known. */
static void
frame_again(struct http_head *h)
{
	http_drop_id(h, HTTP_F_CONTENT_LENGTH);
	h->framing = HTTP_BODY_CHUNKED;
}

/* The same of a response. To a client of HTTP/1.0 the body ends with the connection. */
static void
frame_response_again(struct http_txn *t, struct http_head *h)
{
	frame_again(h);
	if (t->version == HTTP_1_0)
		http_close_after(t, CLIENT);
}

/* Makes lookahead again of the body so far, whose end was found already, and of the bytes behind
 * it. */
static void
take_back(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[CLIENT];

	h1_body_begin(&t->h1[CLIENT]->body, &t->req);
	d->lookahead += d->tail - t->head_end;
	d->tail = t->head_end;
	if (d->state != DIRECTION_TAIL)
		return;
	direction_event(s, CLIENT, DIRECTION_EV_EMPTY);
	direction_event(s, CLIENT, DIRECTION_EV_RESET);
}

void
filtered_begin_request(struct stream *s)
{
	struct http_head *req = &s->txn->req;
	enum filter_part part = FILTER_ABSENT;

	if (likely(!stream_may_filter(s)) || s->txn->placed)
		return;
	part = filters_begin(s, s->be, CLIENT, req);
	if (part == FILTER_ABSENT)
		return;
	if (!has_body(req)) {
		leave_filters(s, CLIENT);
		return;
	}
	take_back(s);
	if (part == FILTER_CHANGES)
		frame_again(req);
}

void
filtered_send_request(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];

	d->ops = &http_request_ops;
	if (unlikely(d->keeps_buf && !exchange_has_request(s->txn)))
		d->ops = &http_copied_request_ops;
	else if (unlikely(stream_filtering(s, CLIENT)))
		d->ops = &filtered_request_ops;
	else
		exchange_foresee(s, CLIENT);
}

/* Reports to the filters that rules have chosen for one direction that the response's body is
 * empty. */
static void
note_no_body(const struct stream *s, int side)
{
	for (struct filter *f = s->extras ? s->extras->filters[side] : NULL; f; f = f->next)
		if (f->conf->kind->no_body)
			f->conf->kind->no_body(f);
}

void
filtered_begin_response(struct stream *s)
{
	struct http_txn *t = s->txn;

	if (likely(!stream_may_filter(s)))
		return;
	h1_obey_status(&t->res);
	if (!has_body(&t->res)) {
		note_no_body(s, SERVER);
		note_no_body(s, CLIENT);
		return;
	}
	if (filters_begin(s, s->be, SERVER, &t->res) != FILTER_CHANGES)
		return;
	frame_response_again(t, &t->res);
}

void
filtered_begin_stored_request(struct stream *s)
{
	(void)filters_begin(s, stream_backend(s), CLIENT, &s->txn->req);
	leave_filters(s, CLIENT);
}

int
filtered_begin_stored(struct stream *s, struct http_head *head)
{
	if (!has_body(head) ||
		filters_begin(s, stream_backend(s), SERVER, head) != FILTER_CHANGES)
		return 0;
	frame_response_again(s->txn, head);
	return h1_framing_to_fields(head, s->txn->version);
}

/* --- the framing before filters that change bytes, and behind them --- */

/* The parts of a piece of a message. */
struct piece {
	char *p;         /* payload */
	size_t n;
	const char *trailer; /* bytes of trailers, with the empty line behind them */
	size_t trailers;
	size_t used;     /* bytes of the message */
	int is_bad;
};

/* Counts bytes of framing one by one: 1 until the payload continues or the message ends. */
static int
take_framing_byte(struct h1_body *b, const char *p, struct piece *x, char *trailers)
{
	int is_trailer = h1_body_is_in_trailers(b);
	size_t len;

	x->is_bad = h1_body_next(b, p, 1, &len) != H1_PIECE_FRAME;
	if (x->is_bad) {
		b->bad_at = 0;
		return 0;
	}
	if (is_trailer)
		trailers[x->trailers++] = *p;
	x->used++;
	return 1;
}

/* Takes the message apart in place: payload to the front of p, trailers behind it. */
static void
take_apart(struct h1_body *b, char *p, size_t n, struct piece *x)
{
	*x = (struct piece){ .p = p };
	while (x->used < n && !x->is_bad && !h1_body_is_over(b)) {
		struct h1_body next = *b;
		size_t len;

		if (h1_body_next(&next, p + x->used, n - x->used, &len) == H1_PIECE_DATA) {
			*b = next;
			memmove(p + x->n, p + x->used, len);
			x->n += len;
			x->used += len;
		} else if (!take_framing_byte(b, p + x->used, x, p + x->n)) {
			break;
		}
	}
	x->trailer = p + x->n;
}

/* True if no payload follows. */
static int
payload_is_over(const struct h1_body *b)
{
	return h1_body_is_over(b) || h1_body_is_in_trailers(b);
}

/* Leaves of the trailers the empty line behind them, once it is there. */
static void
drop_trailers(const struct h1_body *b, struct piece *x)
{
	static const char empty_line[] = "\r\n";

	if (!x->trailers)
		return;
	x->trailer = empty_line;
	x->trailers = h1_body_is_over(b) ? sizeof(empty_line) - 1 : 0;
}

/* Adds what ends chunks, behind the last ones: n bytes are at `to`. */
static size_t
end_chunks(const struct h1_body *b, const struct piece *x, int last, char *to, size_t n)
{
	if (last) {
		memcpy(to + n, "0\r\n", 3);
		n += 3;
	}
	/* The empty line of received chunks is among their trailers. */
	if (x->trailers)
		memcpy(to + n, x->trailer, x->trailers);
	n += x->trailers;
	if (last && b->framing != HTTP_BODY_CHUNKED) {
		memcpy(to + n, "\r\n", 2);
		n += 2;
	}
	return n;
}

/* Puts chunks around n bytes at *to. */
static size_t
frame_chunks(const struct h1_body *b, const struct piece *x, int last, char **to, size_t n)
{
	char line[FILTER_FRONT];
	int len;

	if (n) {
		len = snprintf(line, sizeof(line), "%zx\r\n", n);
		*to -= len;
		memcpy(*to, line, (size_t)len);
		n += (size_t)len;
		memcpy(*to + n, "\r\n", 2);
		n += 2;
	}
	return end_chunks(b, x, last, *to, n);
}

static int
is_sent_in_chunks(const struct stream *s, int side)
{
	return side == CLIENT || s->txn->version != HTTP_1_0;
}

static enum relay_status
change_body(struct stream *s, int side, char *p, size_t n, size_t *used, char **to, size_t *out)
{
	struct h1_body *b = &s->txn->h1[side]->body;
	int was_over = payload_is_over(b), ends, last;
	struct piece x;

	take_apart(b, p, n, &x);
	*used = x.used;
	if (stream_drops_trailers(s, side))
		drop_trailers(b, &x);
	ends = !n && b->framing == HTTP_BODY_CLOSE;
	last = !was_over && (ends || payload_is_over(b));
	*to = filters_run(s, side, x.p, x.n, last, out);
	if (is_sent_in_chunks(s, side))
		*out = frame_chunks(b, &x, last, to, *out);
	if (x.is_bad) {
		http_note_invalid_body(s, side, p + x.used, n - x.used);
		return RELAY_BAD;
	}
	/* Its end is known now. */
	if (ends)
		b->framing = HTTP_BODY_NONE;
	if (h1_body_is_over(b))
		return RELAY_OVER;
	return n ? RELAY_ON : RELAY_EOF;
}

char *
filtered_run_stored(struct stream *s, char *p, size_t n, int last, size_t *out)
{
	const struct h1_body stored = { .framing = HTTP_BODY_LENGTH };
	const struct piece no_trailers = { .p = NULL };
	char *to = filters_run(s, SERVER, p, n, last, out);

	if (stream_filtering(s, SERVER) == FILTER_CHANGES && is_sent_in_chunks(s, SERVER))
		*out = frame_chunks(&stored, &no_trailers, last, &to, *out);
	return to;
}

/* --- operations --- */

static enum relay_status
filter_body(struct stream *s, int side, char *p, size_t n, size_t *used, char **to, size_t *out)
{
	enum relay_status status;

	if (stream_filtering(s, side) == FILTER_CHANGES)
		return change_body(s, side, p, n, used, to, out);
	if (!n)
		return RELAY_EOF;
	status = http_body_ops.step(s, side, p, n, used, out);
	*to = filters_run(s, side, p, *out, 0, out);
	return status;
}

/* Ends the message; bytes of a server behind its response are dropped. */
static enum stream_event
filtered_end(struct stream *s, int side, enum relay_status status, const char *rest, size_t n)
{
	struct direction *d = &s->dir[side];

	if (side == SERVER && status == RELAY_OVER) {
		n += d->lookahead;
		d->lookahead = 0;
	}
	return http_body_ops.end(s, side, status, rest, n);
}

static int
filtered_closes(const struct stream *s, int side, int over)
{
	const struct relay_ops *as = stream_filtering(s, side) == FILTER_CHANGES
		? &http_reply_ops : &http_body_ops;

	return as->closes(s, side, over);
}

static enum stream_event
filtered_fail(struct stream *s, int side)
{
	return http_request_ops.fail(s, side);
}

static const struct relay_ops filtered_request_ops = {
	.read = filter_read,
	.opaque = exchange_opaque_none,
	.reach = exchange_reach,
	.filter = filter_body,
	.end = filtered_end,
	.closes = filtered_closes,
	.fail = filtered_fail,
};

const struct relay_ops http_filtered_body_ops = {
	.read = filter_read,
	.opaque = exchange_opaque_none,
	.reach = exchange_reach,
	.filter = filter_body,
	.end = filtered_end,
	.closes = filtered_closes,
};
