#include "sim/http_book.h"

uint32_t
http_plan_size(const struct http_plan *p)
{
	switch (dice(p->d, 6)) {
	case 0:
		return dice(p->d, 3);
	case 1:
	case 2:
	case 3:
		return dice(p->d, 300);
	case 4:
		return dice(p->d, MIN(5000u, p->max_bytes));
	default:
		return dice(p->d, p->max_bytes);
	}
}

uint32_t
http_plan_pause(const struct http_plan *p)
{
	static const uint32_t most[] = { 1, 3, 30, 300, 3000 };

	return dice(p->d, most[dice(p->d, ARRAY_LEN(most))]);
}

static void
plan_body(const struct http_plan *p, struct http_request *q)
{
	struct dice *d = p->d;

	if (q->verb != HTTP_VERB_PUT && q->verb != HTTP_VERB_POST)
		return;
	q->len = http_plan_size(p);
	q->shape = dice_is(d, 3) && q->minor ? HTTP_SHAPE_CHUNKED : HTTP_SHAPE_LENGTH;
	q->expect = q->minor && dice_is(d, 5) && !p->no_expect;
	if (!p->kind && dice_is(d, 20) && q->minor) {
		q->shape = HTTP_SHAPE_CHUNKED;
		q->bad = HTTP_BAD_BODY;
	}
}

static void
plan_answer(const struct http_plan *p, struct http_request *q)
{
	static const unsigned int statuses[] = { 200, 200, 200, 200, 204, 304, 404, 500, 503, 401 };
	struct dice *d = p->d;

	q->status = statuses[dice(d, p->kind ? 6 : ARRAY_LEN(statuses))];
	q->wish_len = http_plan_size(p);
	q->interims = dice_is(d, 6) ? 1 + dice(d, 2) : 0;
	q->wish = (enum http_shape)(HTTP_SHAPE_LENGTH + dice(d, 2));
	if (dice_is(d, 8))
		q->wish = HTTP_SHAPE_END;
	if (q->status == 204 || q->status == 304)
		q->wish = HTTP_SHAPE_NONE;
	if (q->upgrade && !dice_is(d, 4) && !p->no_upgrade) {
		q->status = 101;
		q->wish = HTTP_SHAPE_TUNNEL;
	} else if (q->verb == HTTP_VERB_CONNECT && q->status == 200) {
		q->wish = HTTP_SHAPE_TUNNEL;
	} else if (q->verb == HTTP_VERB_CONNECT) {
		q->status = 404;
		q->wish = HTTP_SHAPE_LENGTH;
	}
}

/* Makes a request one of HTTP/2: what frames it and the connection there cannot be wrong here. A
 * body that is broken off becomes a stream that is reset. */
void
http_plan_stream(const struct http_plan *p, struct http_request *q)
{
	struct dice *d = p->d;

	q->h2 = q->minor = 1;
	q->close = q->upgrade = 0;
	if (q->status == 101) {
		q->status = 200;
		q->wish = HTTP_SHAPE_LENGTH;
	}
	if (q->bad == HTTP_BAD_HEAD)
		q->len = 0;
	if ((q->bad || dice_is(d, 10)) && q->verb != HTTP_VERB_CONNECT)
		q->gives_up = 1 + http_plan_pause(p);
	q->bad = 0;
	q->fails = p->kind && !p->again && q->verb != HTTP_VERB_CONNECT && dice_is(d, 10);
}

void
http_plan_request(const struct http_plan *p, struct http_request *q)
{
	static const enum http_verb verbs[] = { HTTP_VERB_GET, HTTP_VERB_GET, HTTP_VERB_GET,
		HTTP_VERB_HEAD, HTTP_VERB_PUT, HTTP_VERB_POST, HTTP_VERB_POST };
	struct dice *d = p->d;

	/* Only requests without a body can always be retried. */
	q->verb = verbs[dice(d, p->again ? 4 : ARRAY_LEN(verbs))];
	if (dice_is(d, 25) && !p->again)
		q->verb = HTTP_VERB_CONNECT;
	q->minor = !dice_is(d, 8) || q->verb == HTTP_VERB_CONNECT;
	q->close = dice_is(d, 10) && q->verb != HTTP_VERB_CONNECT;
	q->upgrade = q->verb == HTTP_VERB_GET && q->minor && !q->close && dice_is(d, 25);
	plan_body(p, q);
	plan_answer(p, q);
	if (!p->kind && !q->bad && dice_is(d, 20)) {
		q->bad = HTTP_BAD_HEAD;
		q->shape = HTTP_SHAPE_NONE;
		q->len = dice(d, 1000);
		q->expect = 0;
	}
	q->pause = dice_is(d, 3) ? http_plan_pause(p) : 0;
	q->hold = dice(d, 2) ? dice(d, 200) : dice(d, 20000);
	q->hold_ms = dice_is(d, 3) ? http_plan_pause(p) : 0;
}
