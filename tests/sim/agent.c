#include "sim/agent.h"

#include <string.h>

#define CHUNK 4096
#define HEADER 4

static uint8_t
byte_at(uint32_t id, uint64_t pos)
{
	uint64_t x = pos + (uint64_t)id * 0x9e3779b97f4a7c15u;

	if (pos < HEADER)
		return (uint8_t)(id >> 8 * pos);
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9u;
	return (uint8_t)(x >> 40);
}

static void run(struct fake *k, void *arg);

static int
has_first(const struct agent *a)
{
	return a->takes_first || (a->first && a->first[a->first_at]) ||
		fake_now(a->k) < a->first_due;
}

/* Bytes of the proxy that it is first are not spoken over the wire. */
static struct wire *
wire_now(const struct agent *a)
{
	return has_first(a) ? NULL : a->wire;
}

/* Reads all available data. */
static void
read_available(struct agent *a)
{
	uint8_t buf[CHUNK];
	long n;

	while (!a->stalled && !a->closed && !a->eof && !a->err) {
		n = wire_recv(wire_now(a), a->s, buf, sizeof(buf));
		if (n == -EAGAIN)
			return;
		if (n < 0)
			a->err = (int)-n;
		else if (n == 0)
			a->eof = 1;
		for (long i = 0; i < n; i++, a->got++) {
			if (a->takes_first) {
				a->takes_first--;
				a->got--;
				continue;
			}
			if (a->got < AGENT_TEXT - 1)
				a->text[a->got] = (char)buf[i];
			if (a->got < HEADER)
				a->heard |= (uint32_t)buf[i] << 8 * a->got;
			else if (buf[i] != byte_at(a->heard, a->got))
				a->wrong = 1;
		}
	}
}

/* One send: the number of bytes sent, 0 when the socket is full, -1 when the peer is gone; earlier
 * data can still be read. */
static long
send_once(struct agent *a, const void *p, size_t n)
{
	long r = wire_send(wire_now(a), a->s, p, n);

	if (r >= 0)
		return r;
	if (r == -EAGAIN)
		return 0;
	if (!a->err && r != -EPIPE)
		a->err = (int)-r;
	return -1;
}

/* 1 when the step is done. */
static int
send_bytes(struct agent *a, uint32_t n)
{
	uint8_t buf[CHUNK];

	while (a->sent - a->base < n) {
		size_t want = (size_t)MIN(n - (a->sent - a->base), (uint64_t)CHUNK);
		long r;

		for (size_t i = 0; i < want; i++)
			buf[i] = byte_at(a->id, a->sent + i);
		r = send_once(a, buf, want);
		if (r <= 0)
			return r < 0;
		a->sent += (uint64_t)r;
	}
	return 1;
}

/* Sends the part of a text that is due. */
static int
send_text(struct agent *a, const char *text, size_t n)
{
	while (a->sent - a->base < n) {
		size_t at = (size_t)(a->sent - a->base);
		long r = send_once(a, text + at, n - at);

		if (r <= 0)
			return r < 0;
		a->sent += (uint64_t)r;
	}
	return 1;
}

/* Sends one byte, and the next one when its time has come. */
static int
send_slowly(struct agent *a, const char *text)
{
	size_t due = (size_t)((fake_now(a->k) - a->began) / (STEP_DRIP_MS * FAKE_MS)) + 1;
	size_t n = strlen(text);

	if (!send_text(a, text, MIN(due, n)))
		return 0;
	if (a->err || due >= n)
		return 1;
	fake_after(a->k, STEP_DRIP_MS * FAKE_MS, run, a);
	return 0;
}

static int
has_read(struct agent *a, const char *text)
{
	const char *at = strstr(a->text + a->seen, text);

	if (at)
		a->seen = (size_t)(at - a->text) + strlen(text);
	return at != NULL;
}

static void
end(struct agent *a, int reset)
{
	/* closing with bytes unread is a reset, and the FIN is not sent then; a closing message was
	 * sent before */
	if (!reset && !a->cut && fake_peer_is_connected(a->s) &&
		(a->wire || !fake_peer_unread(a->s)))
		a->fin = 1;
	if (reset)
		fake_peer_reset(a->s);
	else
		fake_peer_close(a->s);
	a->closed = a->over = 1;
}

/* 1 when it is sent, or the peer is gone. */
static int
sends_end(struct agent *a)
{
	return a->err || a->fin || a->cut || !fake_peer_is_connected(a->s) ||
		wire_end(wire_now(a), a->s);
}

static void
begin(struct agent *a, const struct step *st)
{
	a->begun = 1;
	a->began = fake_now(a->k);
	a->base = a->sent;
	if (st->kind == STEP_WAIT)
		a->due += st->n;
	if (st->kind == STEP_WAIT || st->kind == STEP_WAIT_EOF || st->kind == STEP_AWAIT) {
		a->stalled = 0;
		read_available(a);
	}
	if (st->kind == STEP_PAUSE)
		fake_after(a->k, st->n * FAKE_MS, run, a);
}

/* 1 when the step is done. */
static int
step_run(struct agent *a, const struct step *st)
{
	switch (st->kind) {
	case STEP_SEND:
		return a->fin || a->cut || send_bytes(a, (uint32_t)st->n);
	case STEP_WAIT:
		return a->got >= a->due || a->eof || a->err;
	case STEP_WAIT_EOF:
		return a->eof || a->err;
	case STEP_SAY:
		return a->fin || send_text(a, (const char *)st->n, strlen((const char *)st->n));
	case STEP_DRIP:
		return a->fin || send_slowly(a, (const char *)st->n);
	case STEP_AWAIT:
		return has_read(a, (const char *)st->n) || a->eof || a->err;
	case STEP_PAUSE:
		return fake_now(a->k) >= a->began + st->n * FAKE_MS;
	case STEP_SHUT:
		if (!sends_end(a))
			return 0;
		if (fake_peer_is_connected(a->s) && !a->fin) {
			fake_peer_shut(a->s);
			a->fin = 1;
		}
		return 1;
	case STEP_CUT:
		if (!fake_peer_is_connected(a->s) || a->fin)
			return 1;
		a->fin = !a->wire;
		a->cut = 1;
		fake_peer_shut(a->s);
		return 1;
	case STEP_STALL:
	case STEP_READ:
		a->stalled = st->kind == STEP_STALL;
		read_available(a);
		return 1;
	case STEP_RESET:
		end(a, 1);
		return 0;
	case STEP_CLOSE:
	case STEP_END:
		if (sends_end(a))
			end(a, 0);
		return 0;
	}
	return 0;
}

/* 1 when that is done. */
static int
sends_first(struct agent *a)
{
	size_t n = a->first ? strlen(a->first) : 0;

	while (a->first_at < n) {
		size_t upto = a->first_ms && a->first_at < a->first_stop ? a->first_stop : n;
		long r = send_once(a, a->first + a->first_at, upto - a->first_at);

		if (r <= 0)
			return r < 0;
		a->first_at += (size_t)r;
		if (a->first_ms && a->first_at == a->first_stop) {
			a->first_due = fake_now(a->k) + a->first_ms * FAKE_MS;
			fake_after(a->k, a->first_ms * FAKE_MS, run, a);
			a->first_ms = 0;
		}
		if (fake_now(a->k) < a->first_due)
			return 0;
	}
	return fake_now(a->k) >= a->first_due;
}

static void
run(struct fake *k, void *arg)
{
	struct agent *a = arg;

	(void)k;
	if (a->closed)
		return;
	/* not connected yet */
	if (!fake_peer_is_connected(a->s) && !(fake_peer_poll(a->s) & (EPOLLHUP | EPOLLERR)))
		return;
	(void)wire_flush(wire_now(a), a->s);
	read_available(a);
	if (a->takes_first && !a->eof && !a->err)
		return;
	if (!sends_first(a))
		return;
	(void)wire_flush(wire_now(a), a->s);
	while (!a->closed) {
		const struct step *st = &a->step[a->at];

		if (!a->begun)
			begin(a, st);
		if (!step_run(a, st))
			return;
		a->at++;
		a->begun = 0;
		assert(a->at < AGENT_STEPS);
	}
}

void
agent_start(struct agent *a, struct fake *k, struct fake_sock *s, uint32_t id,
	    const struct step *steps, uint64_t react_ns)
{
	unsigned int n = 0;
	enum step_kind last;

	memset(a, 0, sizeof(*a));
	a->k = k;
	a->s = s;
	a->id = id;
	a->react = react_ns;
	do {
		a->step[n] = steps[n];
		last = steps[n++].kind;
	} while (last != STEP_END && last != STEP_CLOSE && last != STEP_RESET &&
		n < AGENT_STEPS - 1);
	a->step[n].kind = STEP_END;
	fake_peer_notify(s, react_ns, run, a);
}

void
agent_uses_wire(struct agent *a, struct wire *w)
{
	a->wire = w;
}

void
agent_takes_first(struct agent *a, uint32_t bytes)
{
	a->takes_first = bytes;
}

void
agent_sends_first(struct agent *a, const char *text, size_t stop, uint64_t ms)
{
	a->first = text;
	a->first_stop = MIN(stop, strlen(text));
	a->first_ms = a->first_stop ? ms : 0;
}

const char *
step_name(enum step_kind k)
{
	static const char *const names[] = { "end", "send", "wait", "wait_eof", "pause", "shut",
	    "close",
		"reset", "cut", "stall", "read", "say", "drip", "await" };

	return names[k];
}
