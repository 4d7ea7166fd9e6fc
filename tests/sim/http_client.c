#include "sim/http_ends.h"

#include <errno.h>
#include <string.h>

#include "sim/h2_wire.h"
#include "sim/http_book.h"

#define CHUNK 4096
#define EXPECT_MS 300 /* it then sends the body without waiting */

static void run(struct fake *k, void *arg);

static struct http_request *
request(struct http_client *c, unsigned int nth)
{
	return &c->book->req[c->first + nth];
}

/* --- sending --- */

static void
compose(struct http_client *c, struct http_request *q)
{
	static const char *const bad[] = { "Host: b\r\n", "Content-Length: x\r\n", "No colon\r\n",
		"Transfer-Encoding: gzip\r\n", "Sp ace: x\r\n" };
	struct http_text *t = &c->text;

	http_text_clear(t);
	if (c->header && !c->wire && q == request(c, 0))
		http_text_add(t, "%s", c->header);
	if (q->verb == HTTP_VERB_CONNECT)
		http_text_add(t, "CONNECT a:80 HTTP/1.%u\r\nHost: a:80\r\n", q->minor);
	else
		http_text_add(t, "%s /%u HTTP/1.%u\r\nHost: a\r\n", http_verb_name(q->verb), q->id,
			q->minor);
	http_text_add(t, "X-Id: %u\r\n", q->id);
	http_persist_request_fields(c->book, q, c->jar, t);
	if (q->bad == HTTP_BAD_HEAD && q->len % 7 == 6)
		for (int i = 0; i < 200; i++)
			http_text_add(t, "X-Long-%d: %0100d\r\n", i, i);
	else if (q->bad == HTTP_BAD_HEAD)
		http_text_add(t, "%s", bad[q->len % ARRAY_LEN(bad)]);
	/* Names what must arrive all the same, and offers what must not. */
	if (q->id % 3 == 0 && !q->h2)
		http_text_add(t, "Connection: X-Id, Host, Cookie, HTTP2-Settings\r\n"
				 "HTTP2-Settings: AAMA\r\n");
	if (q->upgrade)
		http_text_add(t, "Connection: upgrade\r\nUpgrade: h2c, sim\r\n");
	else if (q->close)
		http_text_add(t, "Connection: close\r\n");
	else if (!q->minor)
		http_text_add(t, "Connection: keep-alive\r\n");
	if (q->expect)
		http_text_add(t, "Expect: 100-continue\r\n");
	if (q->shape == HTTP_SHAPE_LENGTH)
		http_text_add(t, "Content-Length: %u\r\n", q->len);
	else if (q->shape == HTTP_SHAPE_CHUNKED)
		http_text_add(t, "Transfer-Encoding: chunked\r\n");
	http_text_add(t, "\r\n");
	if (q->bad == HTTP_BAD_BODY)
		http_text_add(t, "5\r\nhello5\r\n");
	else
		http_text_body(t, q->shape, http_seed_request(q), q->len, 1 + q->hold % 5000);
}

static void
later(struct http_client *c, uint64_t ms)
{
	if (!ms)
		return;
	c->due = fake_now(c->k) + ms * FAKE_MS;
	fake_after(c->k, ms * FAKE_MS, run, c);
}

static void
gives_up(struct fake *k, void *arg)
{
	struct http_client *c = arg;

	for (unsigned int i = c->in; i < c->out && !c->closed; i++) {
		struct http_request *q = request(c, i);

		if (!q->gives_up || fake_now(k) < q->begun_ns + q->gives_up * FAKE_MS)
			continue;
		q->given_up = 1;
		h2_wire_cancel(c->wire, c->s, i);
	}
	run(k, c);
}

/* 1 when there is something new to send_request. */
static int
begin_request(struct http_client *c)
{
	struct http_request *q;

	if (c->out == c->n || c->out - c->in >= c->depth || c->tunnel)
		return 0;
	q = request(c, c->out++);
	compose(c, q);
	c->held = c->got_continue = 0;
	fake_note(c->k, "# client %u begins request %u, %s", fake_peer_port(c->s), q->id,
		http_verb_name(q->verb));
	later(c, q->pause);
	q->begun_ns = fake_now(c->k);
	if (q->gives_up)
		fake_after(c->k, q->gives_up * FAKE_MS, gives_up, c);
	return 1;
}

/* A position of a pause. */
static size_t
pause_at(const struct http_client *c, const struct http_request *q)
{
	const char *end = q->expect ? memmem(c->text.p, c->text.n, "\r\n\r\n", 4) : NULL;

	if (end)
		return (size_t)(end - c->text.p) + 4;
	return q->hold_ms ? MIN(q->hold, c->text.n) : c->text.n;
}

/* The bytes with which the request is there for tacit: a stream begins with its whole head. */
static size_t
least_said(const struct http_client *c, const struct http_request *q)
{
	const char *end = q->h2 ? memmem(c->text.p, c->text.n, "\r\n\r\n", 4) : NULL;

	return end ? (size_t)(end - c->text.p) + 4 : 1;
}

static void
send_request(struct http_client *c)
{
	while (!c->closed && !c->mute && !c->shut && fake_now(c->k) >= c->due) {
		struct http_request *q;
		size_t upto;
		int r;

		if (http_text_is_out(&c->text) && !begin_request(c))
			return;
		if (fake_now(c->k) < c->due)
			return;
		q = request(c, c->out - 1);
		upto = c->held || c->tunnel ? c->text.n : pause_at(c, q);
		r = http_text_send(&c->text, c->wire, c->s, upto);
		if (c->text.at >= least_said(c, q) && !c->tunnel && !q->said_ns)
			q->said_ns = fake_now(c->k);
		c->mute |= r < 0;
		/* A reset is reported once: EOF after it is not a clean end. */
		c->broken |= r < 0 && r != -EPIPE;
		if (r <= 0)
			return;
		if (c->tunnel)
			continue;
		if (http_text_is_out(&c->text)) {
			q->sent = 1;
		} else if (!c->held) {
			c->held = 1;
			if (!c->got_continue)
				later(c, q->expect ? EXPECT_MS : q->hold_ms);
		}
	}
}

/* --- hearing --- */

static void
open_tunnel(struct http_client *c, const struct http_request *q)
{
	c->tunnel = 1;
	c->due = 0;
	http_text_clear(&c->text);
	http_text_body(&c->text, HTTP_SHAPE_TUNNEL, http_seed_up(q), c->up, 0);
}

static void
found(struct http_client *c)
{
	struct http_request *q = request(c, c->in);
	const struct http_parsed *m = &c->reader.said;
	enum http_shape shape = http_book_response(c->book, q, m);

	fake_note(c->k, "# client %u: %u for request %u, id %u, try %u", fake_peer_port(c->s),
		m->status, q->id, m->id, m->nth);
	if (!q->answered) {
		/* The client does not wait any longer. */
		if (m->status == 100 && q->expect && !c->got_continue) {
			c->got_continue = 1;
			c->due = 0;
		}
		http_reader_begin(&c->reader);
		return;
	}
	c->jar = http_persist_check_response(c->book, q, m, c->jar);
	if (shape == HTTP_SHAPE_TUNNEL)
		open_tunnel(c, q);
	http_reader_expect(&c->reader, shape,
		shape == HTTP_SHAPE_TUNNEL ? http_seed_down(q) : http_seed_answer(q, m->nth));
}

static void
answered(struct http_client *c)
{
	struct http_request *q = request(c, c->in);

	http_book_body(c->book, q, &c->reader, HTTP_HOW_WHOLE);
	c->in++;
	/* The client will receive no more. */
	if (q->closes)
		c->mute = 1;
	http_reader_begin(&c->reader);
}

/* The stream of the next request was reset. */
static void
aborted(struct http_client *c)
{
	struct http_request *q = request(c, c->in);

	fake_note(c->k, "# client %u: request %u was reset", fake_peer_port(c->s), q->id);
	http_book_body(c->book, q, &c->reader, HTTP_HOW_CUT);
	c->in++;
	http_reader_begin(&c->reader);
	if (c->tunnel)
		c->err = ECONNRESET;
}

/* Only a 408 may be sent without a request. */
static void
unasked(struct http_client *c)
{
	const struct http_parsed *m = &c->reader.said;
	int over = c->in && request(c, c->in - 1)->closes;

	if (over || m->id || m->extra || m->status < 400 || c->book->kind)
		world_error(c->book->w, "an unasked answer %u, id %u, after %u of %u requests",
			m->status, m->id, c->in, c->out);
	c->mute = 1;
	http_reader_expect(&c->reader, HTTP_SHAPE_TUNNEL, 0);
}

static void
take_bytes(struct http_client *c, const uint8_t *p, size_t n)
{
	while (n) {
		size_t used = http_reader_take(&c->reader, p, n);

		p += used;
		n -= used;
		if (c->reader.state == HTTP_READER_BAD) {
			world_error(c->book->w, "no HTTP has come for request %u: %.40s",
				c->first + c->in + 1, c->reader.line);
			return;
		}
		if (c->reader.state == HTTP_READER_FOUND && c->in < c->out)
			found(c);
		else if (c->reader.state == HTTP_READER_FOUND)
			unasked(c);
		if (c->reader.state == HTTP_READER_OVER)
			answered(c);
	}
}

static void
read_available(struct http_client *c)
{
	uint8_t buf[CHUNK];
	long n;

	while (!c->stalled && !c->closed && !c->eof && !c->err) {
		n = wire_recv(c->wire, c->s, buf, sizeof(buf));
		if (n == -EAGAIN)
			return;
		if (n == -ECANCELED && c->in < c->out)
			aborted(c);
		else if (n < 0)
			c->err = (int)-n;
		else if (n == 0)
			c->eof = 1;
		else
			take_bytes(c, buf, (size_t)n);
	}
	if (c->eof || c->err)
		fake_note(c->k, "# client %u: end, errno %d", fake_peer_port(c->s), c->err);
	if ((c->eof || c->err) && c->in < c->out)
		http_book_body(c->book, request(c, c->in), &c->reader,
			c->eof && !c->broken ? HTTP_HOW_EOF : HTTP_HOW_CUT);
}

/* --- leaving --- */

/* True if the client has received everything. */
static int
is_content(struct http_client *c)
{
	if (!http_text_is_out(&c->text))
		return 0;
	if (c->tunnel)
		return c->reader.got >= c->down &&
			(!c->h2 || h2_wire_end_tunnel(c->wire, c->s));
	return c->out == c->n && c->in == c->n;
}

static void
close_client(struct http_client *c, enum http_leave how)
{
	if (how == HTTP_LEAVE_WAIT || (how == HTTP_LEAVE_SHUT && c->shut))
		return;
	/* Sends first what is left, unless the other side does not listen. */
	if (how != HTTP_LEAVE_RESET && fake_peer_is_connected(c->s) &&
		!wire_end(c->wire, c->s) && !c->err && (c->eof || is_content(c)))
		return;
	if (how == HTTP_LEAVE_SHUT) {
		c->shut = 1;
		if (fake_peer_is_connected(c->s))
			fake_peer_shut(c->s);
		return;
	}
	c->closed = 1;
	if (how == HTTP_LEAVE_RESET)
		fake_peer_reset(c->s);
	else
		fake_peer_close(c->s);
}

/* The header comes before TLS; a socket has room for it. */
static void
greet(struct http_client *c)
{
	if (c->greeted || !c->wire || !c->header)
		return;
	c->greeted = 1;
	(void)fake_peer_send(c->s, c->header, strlen(c->header));
}

static void
run(struct fake *k, void *arg)
{
	struct http_client *c = arg;
	unsigned int before;

	(void)k;
	if (c->closed)
		return;
	if (!fake_peer_is_connected(c->s) && !(fake_peer_poll(c->s) & (EPOLLHUP | EPOLLERR)))
		return;
	greet(c);
	(void)wire_flush(c->wire, c->s);
	read_available(c);
	do {
		before = c->in;
		send_request(c);
		/* A response may have let it continue. */
		read_available(c);
	} while (c->h2 && c->in != before);
	if (c->eof || c->err)
		close_client(c, HTTP_LEAVE_CLOSE);
	else if (is_content(c))
		close_client(c, c->leave);
}

static void
loses_hearing(struct fake *k, void *arg)
{
	struct http_client *c = arg;

	c->stalled = !c->stalled;
	if (c->stalled)
		fake_after(k, c->deaf_for, loses_hearing, c);
	run(k, c);
}

static void
has_enough(struct fake *k, void *arg)
{
	struct http_client *c = arg;

	if (!c->closed && c->leave != HTTP_LEAVE_WAIT)
		close_client(c, c->leave);
	run(k, c);
}

void
http_client_start(struct http_client *c)
{
	c->s = world_connect(c->book->w);
	c->wire = c->h2 ? h2_wire_new() : world_wire(c->book->w, CLIENT);
	if (c->h2)
		h2_wire_report_resets(c->wire);
	c->k = c->book->w->k;
	http_reader_begin(&c->reader);
	if (c->deaf_for)
		fake_after(c->k, c->deaf_at, loses_hearing, c);
	if (c->quits)
		fake_after(c->k, c->quits, has_enough, c);
	fake_peer_notify(c->s, 0, run, c);
}
