#include "sim/http_ends.h"

#include <string.h>

#include "sim/h2_wire.h"
#include "sim/http_book.h"

#define CHUNK 4096
#define EXTRA_MAX 1500 /* what arrives as one piece, whatever the buffers */
#define EXTRA "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Extra: 1\r\n\r\nextra"
#define TUNNEL_MAX 3000

static void run(struct fake *k, void *arg);

static void
later(struct http_origin *o, uint64_t ms)
{
	if (!ms)
		return;
	o->due = fake_now(o->k) + ms * FAKE_MS;
	fake_after(o->k, ms * FAKE_MS, run, o);
}

/* Over TLS: 1 when the closing message was sent, or the peer has gone. */
static int
has_said_end(struct http_origin *o)
{
	return !fake_peer_is_connected(o->s) || (fake_peer_poll(o->s) & (EPOLLHUP | EPOLLERR)) ||
		wire_end(o->wire, o->s);
}

/* Ends a stream: as its response says, or it is cut. */
static void
close_stream(struct http_origin *o, int reset)
{
	struct http_try *t = o->t;

	o->closed = 1;
	if (t && t->way == HTTP_WAY_REFUSE && !h2_stream_wire_has_said(o->wire)) {
		t->refused = 1;
		h2_stream_wire_reset(o->wire, H2_REFUSED_STREAM);
	} else if (t && !reset && (t->whole || t->way == HTTP_WAY_BAD_BODY)) {
		t->fin = t->whole;
		t->lost |= !t->whole;
		h2_stream_wire_end(o->wire);
	} else {
		/* RST_STREAM takes back what it has sent before. */
		if (t)
			t->lost = 1;
		h2_stream_wire_reset(o->wire, reset ? H2_CANCEL : H2_INTERNAL_ERROR);
	}
	h2_stream_wire_release(o->wire);
}

static void
close_connection(struct http_origin *o, int reset)
{
	/* Over TLS what is cut lacks the closing message. */
	int cuts = o->wire && o->t && o->t->way == HTTP_WAY_CUT;

	if (o->carrier) {
		close_stream(o, reset);
		return;
	}
	/* A record of TLS that has not come whole brings nothing. */
	if (o->wire && o->t)
		o->t->lost |= reset || cuts;
	o->closed = 1;
	o->ends = !reset && !cuts && !has_said_end(o);
	if (o->ends)
		return;
	/* closing with bytes unread is a reset */
	if (!reset && !cuts && fake_peer_is_connected(o->s) &&
		(o->wire || !fake_peer_unread(o->s)) && o->t)
		o->t->fin = o->t->whole;
	if (reset)
		fake_peer_reset(o->s);
	else
		fake_peer_close(o->s);
}

static void
shut_tunnel(struct http_origin *o)
{
	if (o->shut || !has_said_end(o))
		return;
	if (!o->carrier)
		fake_peer_shut(o->s);
	o->shut = 1;
}

/* --- choosing --- */

/* The ways of a stream: bytes behind its response are not possible. */
static enum http_way
way_of_stream(const struct http_origin *o, enum http_way way)
{
	const struct http_try *t = o->t;
	int has_body = t->len && t->shape == HTTP_SHAPE_LENGTH && o->q->verb != HTTP_VERB_HEAD;

	if (!o->carrier)
		return way;
	if (way == HTTP_WAY_EXTRA)
		return HTTP_WAY_REFUSE;
	if (way == HTTP_WAY_LATE_EXTRA)
		return HTTP_WAY_ANSWER;
	return way == HTTP_WAY_BAD_BODY && !has_body ? HTTP_WAY_CUT : way;
}

static enum http_way
choose(struct http_origin *o)
{
	static const enum http_way ways[] = { HTTP_WAY_EARLY, HTTP_WAY_EARLY_CLOSE, HTTP_WAY_EXTRA,
		HTTP_WAY_EXTRA, HTTP_WAY_LATE_EXTRA, HTTP_WAY_LATE_EXTRA, HTTP_WAY_CLOSE,
		HTTP_WAY_RESET, HTTP_WAY_STALL, HTTP_WAY_CUT, HTTP_WAY_CUT_RESET,
		HTTP_WAY_CUT_STALL, HTTP_WAY_JUNK, HTTP_WAY_BAD_BODY };
	static const enum http_way failures[] = { HTTP_WAY_CLOSE, HTTP_WAY_RESET, HTTP_WAY_CUT,
		HTTP_WAY_CUT_RESET, HTTP_WAY_JUNK, HTTP_WAY_BAD_BODY };
	struct dice *d = o->dice;

	if (o->q->fails)
		return failures[dice(d, ARRAY_LEN(failures))];
	if (o->carrier && o->may_leave)
		return o->q->n_tries == 1 && dice_is(d, 6) ? HTTP_WAY_REFUSE : HTTP_WAY_ANSWER;
	/* A request has arrived on a connection that is about to be closed. */
	if (o->nth && o->may_leave && dice_is(d, 3))
		return dice_is(d, 2) ? HTTP_WAY_CLOSE : HTTP_WAY_RESET;
	if (!o->wild || !dice_is(d, (uint32_t)o->wild))
		return HTTP_WAY_ANSWER;
	return ways[dice(d, ARRAY_LEN(ways))];
}

static void
choose_then(struct http_origin *o)
{
	struct dice *d = o->dice;

	o->then = HTTP_THEN_STAY;
	o->announced = dice_is(d, 6);
	/* Nothing else in its response announces the close. */
	if (o->t->shape == HTTP_SHAPE_END && o->q->verb == HTTP_VERB_HEAD)
		o->announced = 1;
	if (o->announced || o->t->shape == HTTP_SHAPE_END)
		o->then = HTTP_THEN_CLOSE;
	else if ((o->may_leave || o->wild) && dice_is(d, 4))
		o->then = dice_is(d, 2) ? HTTP_THEN_CLOSE : HTTP_THEN_PAUSE_CLOSE;
	if (o->wild && dice_is(d, 20))
		o->then = HTTP_THEN_RESET;
}

/* --- answers --- */

static void
compose(struct http_origin *o)
{
	const struct http_request *q = o->q;
	struct http_try *t = o->t;
	struct http_text *x = &o->text;
	unsigned int nth = q->n_tries - 1;

	http_text_clear(x);
	for (unsigned int i = 0; i < q->interims; i++)
		http_text_add(x, "HTTP/1.1 %u Wait\r\nX-Id: %u\r\nX-Try: %u\r\n\r\n",
			i ? 103u : 100u, q->id, nth);
	http_text_add(x, "HTTP/1.1 %u Said\r\nX-Id: %u\r\nX-Try: %u\r\n", t->status, q->id, nth);
	http_persist_response_fields(o->book, q, o->server, x);
	if (q->id % 2 && !o->carrier)
		http_text_add(x, "Connection: X-Id, X-Try, Set-Cookie\r\n");
	if (t->status == 101)
		http_text_add(x, "Connection: upgrade\r\nUpgrade: sim\r\n");
	else if (o->announced && !o->carrier)
		http_text_add(x, "Connection: close\r\n");
	if (t->shape == HTTP_SHAPE_LENGTH)
		http_text_add(x, "Content-Length: %u\r\n", t->len);
	else if (t->shape == HTTP_SHAPE_CHUNKED)
		http_text_add(x, "Transfer-Encoding: chunked\r\n");
	http_text_add(x, "\r\n");
	o->head = x->n;
	if (t->shape == HTTP_SHAPE_TUNNEL)
		http_text_body(x, t->shape, http_seed_down(q), t->len, 0);
	else if (q->verb == HTTP_VERB_HEAD)
		; /* a body would rightly be parsed as the next response */
	else if (t->way == HTTP_WAY_BAD_BODY && t->shape == HTTP_SHAPE_CHUNKED)
		http_text_add(x, "5;\r\nhello, world\r\n");
	else
		http_text_body(
			x, t->shape, http_seed_answer(q, nth), t->len, 1 + dice(o->dice, 3000));
}

/* In a kind world other streams must not suffer. */
static void
send_bad_frame(struct http_origin *o)
{
	int of_connection = o->wild && dice_is(o->dice, 2);

	if (of_connection)
		http_carrier_spoil(o->carrier);
	h2_stream_wire_err(o->wire, of_connection);
	o->upto = o->hold = 0;
	o->answers = 0;
}

/* Writes a response: normal, with extra data, or truncated. */
static void
begin_answer(struct http_origin *o)
{
	struct http_try *t = o->t;
	struct http_text *x = &o->text;

	o->answers = 1;
	if (o->carrier && t->way == HTTP_WAY_JUNK) {
		send_bad_frame(o);
		return;
	}
	if (t->way == HTTP_WAY_JUNK) {
		http_text_clear(x);
		http_text_add(x, dice_is(o->dice, 2) ? "HTTP/1.1 20x No\r\n\r\n" : "hello\r\n\r\n");
		o->head = o->upto = o->hold = x->n;
		return;
	}
	compose(o);
	o->upto = x->n;
	if (t->way == HTTP_WAY_EXTRA && x->n + sizeof(EXTRA) <= EXTRA_MAX &&
		t->shape != HTTP_SHAPE_END && t->shape != HTTP_SHAPE_TUNNEL && !x->at) {
		http_text_add(x, EXTRA);
		o->upto = x->n;
		o->hold = x->n;
		return;
	}
	if (o->carrier && t->way == HTTP_WAY_BAD_BODY)
		o->upto--;
	if (t->way == HTTP_WAY_CUT || t->way == HTTP_WAY_CUT_RESET || t->way == HTTP_WAY_CUT_STALL)
		o->upto = dice(o->dice, (uint32_t)x->n);
	o->hold = dice_is(o->dice, 4) ? dice(o->dice, (uint32_t)o->upto + 1) : o->upto;
	later(o, dice_is(o->dice, 3) ? dice(o->dice, 200) : 0);
}

/* Does to the connection what would have followed. */
static void
stream_finished(struct http_origin *o)
{
	close_connection(o, 0);
	if (o->then == HTTP_THEN_RESET)
		http_carrier_lose(o->carrier, 1);
	else if (o->announced || o->then == HTTP_THEN_PAUSE_CLOSE)
		http_carrier_leave(o->carrier, dice_is(o->dice, 2));
}

/* Request and response are complete: it is ready for another one. */
static void
finished(struct http_origin *o)
{
	struct http_try *t = o->t;

	if (o->carrier) {
		stream_finished(o);
	} else if (o->then == HTTP_THEN_RESET) {
		close_connection(o, 1);
	} else if (o->then == HTTP_THEN_CLOSE) {
		close_connection(o, 0);
	} else {
		http_reader_begin(&o->reader);
		o->t = NULL;
		o->q = NULL;
		o->answers = 0;
		http_text_clear(&o->text);
		if (t->way == HTTP_WAY_LATE_EXTRA || o->then == HTTP_THEN_PAUSE_CLOSE)
			later(o, 1 + dice(o->dice, 100));
	}
}

/* The whole text was sent. */
static void
text_sent(struct http_origin *o)
{
	struct http_try *t = o->t;

	t->whole = o->upto == o->text.n && t->way != HTTP_WAY_JUNK &&
		!(t->way == HTTP_WAY_BAD_BODY && t->shape == HTTP_SHAPE_CHUNKED);
	switch (t->way) {
	case HTTP_WAY_CUT_STALL:
		return;
	case HTTP_WAY_EARLY_CLOSE:
	case HTTP_WAY_CUT:
	case HTTP_WAY_JUNK:
	case HTTP_WAY_BAD_BODY:
		close_connection(o, 0);
		return;
	case HTTP_WAY_CUT_RESET:
		close_connection(o, 1);
		return;
	case HTTP_WAY_ANSWER:
	case HTTP_WAY_EARLY:
	case HTTP_WAY_EXTRA:
	case HTTP_WAY_LATE_EXTRA:
	case HTTP_WAY_CLOSE:
	case HTTP_WAY_RESET:
	case HTTP_WAY_STALL:
	case HTTP_WAY_REFUSE:
		break;
	}
	if (t->shape == HTTP_SHAPE_TUNNEL) {
		shut_tunnel(o);
	} else if (o->reader.state == HTTP_READER_OVER) {
		finished(o);
	}
}

static void
send_response(struct http_origin *o)
{
	struct http_text *x = &o->text;

	while (!o->closed && o->answers && !o->dead && fake_now(o->k) >= o->due) {
		size_t before = x->at, upto = MIN(o->hold, o->upto);
		int r = http_text_send(x, o->wire, o->s, upto);

		o->t->said |= o->carrier ? h2_stream_wire_has_said(o->wire) : x->at > 0;
		o->t->head_out |= x->at >= o->head;
		/* In one piece: it is available with the response. */
		if (o->t->way == HTTP_WAY_EXTRA && x->at == x->n && !before && x->n <= EXTRA_MAX)
			o->soiled = memmem(x->p, x->n, "X-Extra", 7) != NULL;
		if (r < 0)
			o->dead = 1;
		if (r <= 0)
			return;
		if (x->at < o->upto) {
			o->hold = o->upto;
			later(o, 1 + dice(o->dice, 100));
			continue;
		}
		/* The rest of the request is still read. */
		if (o->t->whole) {
			if (o->t->shape == HTTP_SHAPE_TUNNEL)
				shut_tunnel(o);
			return;
		}
		text_sent(o);
		return;
	}
}

/* --- requests --- */

static void
head_complete(struct http_origin *o)
{
	const struct http_parsed *m = &o->reader.said;
	enum http_shape shape = HTTP_SHAPE_NONE;

	if (o->soiled)
		world_error(o->book->w, "request %u over a connection with bytes in it", m->id);
	o->due = 0;
	o->t = http_book_request(o->book, m, o->server, o->nth, &o->q);
	if (!o->t) {
		close_connection(o, 1);
		return;
	}
	o->t->way = way_of_stream(o, choose(o));
	/* Its end could not be detected. */
	if (o->t->way == HTTP_WAY_CUT && o->t->shape == HTTP_SHAPE_END && !o->wire)
		o->t->way = HTTP_WAY_CUT_RESET;
	o->nth++;
	fake_note(o->k, "# server %u: request %u, way %d", fake_peer_remote_port(o->s), o->q->id,
		o->t->way);
	choose_then(o);
	if (m->chunked)
		shape = HTTP_SHAPE_CHUNKED;
	else if (m->length >= 0)
		shape = HTTP_SHAPE_LENGTH;
	http_reader_expect(&o->reader, shape, http_seed_request(o->q));
	if (o->t->way == HTTP_WAY_EARLY || o->t->way == HTTP_WAY_EARLY_CLOSE)
		begin_answer(o);
	else if (o->t->way == HTTP_WAY_CLOSE || o->t->way == HTTP_WAY_RESET ||
		o->t->way == HTTP_WAY_REFUSE)
		close_connection(o, o->t->way == HTTP_WAY_RESET);
}

static void
complete(struct http_origin *o)
{
	http_book_request_body(o->book, o->q, &o->reader);
	if (o->t->shape == HTTP_SHAPE_TUNNEL) {
		/* The following data is the client's part of it. */
		o->tunnel = 1;
		http_reader_expect(&o->reader, HTTP_SHAPE_TUNNEL, http_seed_up(o->q));
		begin_answer(o);
	} else if (o->answers && o->t->whole) {
		finished(o);
	} else if (!o->answers && o->t->way != HTTP_WAY_STALL) {
		begin_answer(o);
	}
}

static void
take_bytes(struct http_origin *o, const uint8_t *p, size_t n)
{
	while (n && !o->closed) {
		size_t used;

		if (o->reader.state == HTTP_READER_OVER) {
			world_error(o->book->w, "more has come before request %u was answered",
				o->q->id);
			return;
		}
		used = http_reader_take(&o->reader, p, n);
		p += used;
		n -= used;
		if (o->reader.state == HTTP_READER_BAD) {
			world_error(
				o->book->w, "no HTTP has come to a server: %.40s", o->reader.line);
			close_connection(o, 1);
			return;
		}
		if (o->reader.state == HTTP_READER_FOUND)
			head_complete(o);
		if (!o->closed && o->reader.state == HTTP_READER_OVER)
			complete(o);
	}
	if (o->tunnel && o->reader.wrong)
		world_error(o->book->w, "a tunnel's bytes are wrong");
}

/* 1 when the other side has closed. */
static int
read_available(struct http_origin *o)
{
	uint8_t buf[CHUNK];
	long n = 0;

	while (!o->closed) {
		n = wire_recv(o->wire, o->s, buf, sizeof(buf));
		if (n <= 0)
			break;
		take_bytes(o, buf, (size_t)n);
	}
	return n != -EAGAIN;
}

/* Between requests, with nothing in transit: errors are not its fault. */
static void
idle_connection(struct http_origin *o)
{
	if (o->closed || o->t || !o->nth || !o->due || fake_now(o->k) < o->due)
		return;
	o->due = 0;
	if (o->then == HTTP_THEN_PAUSE_CLOSE) {
		close_connection(o, 0);
	} else if (!o->far && !fake_peer_unread(o->s) && !fake_peer_undelivered(o->s) &&
		o->reader.lines == 0 && !o->reader.n) {
		/* Not with a full buffer: it must have arrived. */
		o->soiled = wire_send(o->wire, o->s, EXTRA, sizeof(EXTRA) - 1) > 0;
	}
}

void
http_origin_step(struct http_origin *o)
{
	int ended;

	if (!o->carrier)
		(void)wire_flush(o->wire, o->s);
	ended = read_available(o);
	if (o->closed)
		return;
	send_response(o);
	if (!o->closed && ended && (!o->tunnel || o->dead || o->text.at >= o->upto))
		close_connection(o, 0);
	if (!o->carrier)
		idle_connection(o);
}

static void
run(struct fake *k, void *arg)
{
	struct http_origin *o = arg;

	if (o->carrier) {
		http_carrier_run(k, o->carrier);
		return;
	}
	if (o->ends)
		close_connection(o, 0);
	if (o->closed)
		return;
	if (!fake_peer_is_connected(o->s) && !(fake_peer_poll(o->s) & (EPOLLHUP | EPOLLERR)))
		return;
	http_origin_step(o);
}

void
http_origin_start(struct http_origin *o, struct fake_sock *s)
{
	o->s = s;
	o->k = o->book->w->k;
	http_reader_begin(&o->reader);
	if (o->carrier)
		return;
	o->wire = world_wire(o->book->w, SERVER);
	fake_peer_notify(s, 0, run, o);
}
