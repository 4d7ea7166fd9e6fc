#include "fake/xprt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/*
 * A record: a letter, the length of its text in two bytes, the scrambled text. H: hello, W: its
 * answer; D: data; A: data after which the sender waits for a K before it writes on; U: the reader
 * must send a V before it reads on; E: the end.
 */
#define HEAD 3
#define SCRAMBLE 0xa5

static int
has_record(const struct fake_records *r)
{
	return r->n_in >= HEAD && r->n_in >= HEAD + ((size_t)r->in[1] << 8 | r->in[2]);
}

/* The letter of the next record, with its text in r->text; 0: it is incomplete. */
static char
take_record(struct fake_records *r)
{
	size_t n = (size_t)r->in[1] << 8 | r->in[2];
	char letter = (char)r->in[0];

	assert(r->at == r->n);
	if (!has_record(r))
		return 0;
	assert(n <= FAKE_RECORD && strchr("HWDAKUVE", letter));
	for (size_t i = 0; i < n; i++)
		r->text[i] = r->in[HEAD + i] ^ SCRAMBLE;
	r->at = 0;
	r->n = n;
	r->n_in -= HEAD + n;
	memmove(r->in, r->in + HEAD + n, r->n_in);
	return letter;
}

static int
has_room_out(const struct fake_records *r, size_t n)
{
	return r->n_out + HEAD + n <= sizeof(r->out);
}

static void
add_record(struct fake_records *r, char letter, const void *text, size_t n)
{
	uint8_t *p = r->out + r->n_out;

	assert(has_room_out(r, n));
	p[0] = (uint8_t)letter;
	p[1] = (uint8_t)(n >> 8);
	p[2] = (uint8_t)n;
	for (size_t i = 0; i < n; i++)
		p[HEAD + i] = ((const uint8_t *)text)[i] ^ SCRAMBLE;
	r->n_out += HEAD + n;
}

static void
went_out(struct fake_records *r, size_t n)
{
	r->n_out -= n;
	memmove(r->out, r->out + n, r->n_out);
}

static size_t
take_text(struct fake_records *r, void *buf, size_t len)
{
	size_t n = MIN(len, r->n - r->at);

	memcpy(buf, r->text + r->at, n);
	r->at += n;
	return n;
}

/* --- under a connection --- */

struct scripted {
	struct xprt x;
	struct fake_script *script;
	struct fake_records rec;
	unsigned int waits_r, waits_w; /* what the socket must be ready for, for each direction */
	int sent_hello, sent_end, ended;
	int must_answer;               /* reading waits until V is sent */
	int awaits_answer;             /* writing waits until K has arrived */
	unsigned int records;          /* written */
	size_t taken;                  /* bytes in a pending record, not yet reported as taken */
	uint8_t copy[FAKE_RECORD];     /* those bytes: the user has to pass them again */
};

static struct scripted *
scripted_of(const struct conn *c)
{
	return container_of(c->xprt, struct scripted, x);
}

static enum io_result
flush(struct conn *c, struct scripted *s)
{
	while (s->rec.n_out) {
		size_t put;
		enum io_result r = conn_sock_send(c, s->rec.out, s->rec.n_out, 0, &put);

		if (r != IO_OK)
			return r;
		went_out(&s->rec, put);
	}
	return IO_OK;
}

static enum io_result
fill(struct conn *c, struct scripted *s)
{
	size_t room = sizeof(s->rec.in) - s->rec.n_in, got;
	size_t most = s->script->read_max ? s->script->read_max : room;
	enum io_result r = conn_sock_recv(c, s->rec.in + s->rec.n_in, MIN(room, most), &got);

	s->rec.n_in += got;
	if (r == IO_EOF) {
		/* The closing message is missing: the stream is truncated. */
		conn_failed(c, -ECONNABORTED);
		return IO_ERR;
	}
	return r;
}

/* Reads the next record; its letter goes to *letter. */
static enum io_result
next_record(struct conn *c, struct scripted *s, char *letter)
{
	while (!(*letter = take_record(&s->rec))) {
		enum io_result r = fill(c, s);

		if (r != IO_OK)
			return r;
	}
	return IO_OK;
}

static enum io_result
scripted_step(struct conn *c)
{
	struct scripted *s = scripted_of(c);
	enum io_result r;
	char letter;

	if (s->script->is_client && !s->sent_hello) {
		add_record(&s->rec, 'H', "", 0);
		s->sent_hello = 1;
	}
	if (s->script->is_client || !s->sent_hello) {
		s->waits_r = s->waits_w = EV_W;
		r = flush(c, s);
		if (r != IO_OK)
			return r;
		s->waits_r = s->waits_w = EV_R;
		r = next_record(c, s, &letter);
		if (r != IO_OK)
			return r;
		assert(letter == (s->script->is_client ? 'W' : 'H'));
		if (!s->script->is_client) {
			add_record(&s->rec, 'W', "", 0);
			s->sent_hello = 1;
		}
	}
	s->waits_r = s->waits_w = EV_W;
	r = flush(c, s);
	if (r != IO_OK)
		return r;
	s->waits_r = EV_R;
	s->x.holds = has_record(&s->rec);
	s->script->up++;
	return IO_OK;
}

/* Handles a record other than data. */
static void
control_record(struct scripted *s, char letter)
{
	if (letter == 'E') {
		s->ended = 1;
		s->script->ends_heard++;
	}
	if (letter == 'E' || letter == 'K')
		s->awaits_answer = 0;
	if (letter == 'U')
		s->must_answer = 1;
}

/* A writer that waits for an answer reads it, unless a reader must take text first. */
static void
note_waits(struct scripted *s)
{
	s->x.holds = s->rec.at < s->rec.n || s->ended || has_record(&s->rec);
	s->waits_w = !s->awaits_answer ? EV_W : s->rec.at < s->rec.n ? 0 : EV_R;
	s->script->write_waited_to_read += s->waits_w == EV_R;
}

/* V, before anything else is read. */
static enum io_result
answer(struct conn *c, struct scripted *s)
{
	enum io_result r;

	/* Nothing may follow the closing message. */
	if (s->must_answer == 1 && s->sent_end) {
		s->must_answer = 0;
		return IO_OK;
	}
	if (s->must_answer == 1) {
		if (!has_room_out(&s->rec, 0))
			return flush(c, s);
		add_record(&s->rec, 'V', "", 0);
		s->must_answer = 2;
	}
	r = flush(c, s);
	if (r == IO_OK)
		s->must_answer = 0;
	return r;
}

/* Reads until there is text, or an end. */
static enum io_result
read_text(struct conn *c, struct scripted *s)
{
	while (s->rec.at == s->rec.n && !s->ended) {
		enum io_result r = IO_OK;
		char letter;

		s->waits_r = EV_W;
		if (s->must_answer)
			r = answer(c, s);
		if (r != IO_OK) {
			s->script->read_waited_to_write += r == IO_AGAIN;
			return r;
		}
		s->waits_r = EV_R;
		r = next_record(c, s, &letter);
		if (r != IO_OK)
			return r;
		control_record(s, letter);
	}
	return s->rec.at < s->rec.n ? IO_OK : IO_EOF;
}

static enum io_result
scripted_recv(struct conn *c, void *buf, size_t len, size_t *got)
{
	struct scripted *s = scripted_of(c);
	enum io_result r = read_text(c, s);

	if (r == IO_OK)
		*got = take_text(&s->rec, buf, len);
	note_waits(s);
	s->script->held += s->x.holds;
	return r;
}

/* Waits for K before anything else is written. Data before it is kept for the reader. */
static enum io_result
await_answer(struct conn *c, struct scripted *s)
{
	while (s->awaits_answer) {
		enum io_result r = IO_AGAIN;
		char letter;

		if (s->rec.at == s->rec.n)
			r = next_record(c, s, &letter);
		if (r != IO_OK)
			return r;
		control_record(s, letter);
	}
	return IO_OK;
}

/* A record was sent: its bytes count as taken. */
static enum io_result
send_record(struct conn *c, struct scripted *s, size_t *put)
{
	enum io_result r = flush(c, s);

	if (r != IO_OK)
		return r;
	*put = s->taken;
	s->taken = 0;
	return IO_OK;
}

static enum io_result
scripted_send(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	struct scripted *s = scripted_of(c);
	enum io_result r = IO_OK;

	assert(!more || conn_can(c, XPRT_MORE));
	assert(!s->sent_end);
	if (!s->taken) {
		r = await_answer(c, s);
		if (r == IO_OK)
			r = flush(c, s);
		if (r == IO_OK) {
			int asks = s->script->ask_every && !s->ended &&
				++s->records % s->script->ask_every == 0;

			s->taken = MIN(len, s->script->record ? s->script->record : FAKE_RECORD);
			memcpy(s->copy, buf, s->taken);
			add_record(&s->rec, asks ? 'A' : 'D', buf, s->taken);
			s->awaits_answer = asks;
		}
	}
	/* The contract: the same bytes are passed again, and perhaps more. */
	if (s->taken) {
		assert(len >= s->taken && memcmp(buf, s->copy, s->taken) == 0);
		r = send_record(c, s, put);
	}
	note_waits(s);
	if (s->taken)
		s->waits_w = EV_W;
	return r;
}

static enum io_result
scripted_shutdown(struct conn *c)
{
	struct scripted *s = scripted_of(c);

	if (!s->sent_end) {
		if (!has_room_out(&s->rec, 0))
			return flush(c, s);
		add_record(&s->rec, 'E', "", 0);
		s->sent_end = 1;
		s->script->ends_said++;
	}
	s->waits_w = EV_W;
	return flush(c, s);
}

static unsigned int
scripted_want(const struct xprt *x, unsigned int dir)
{
	const struct scripted *s = container_of(x, struct scripted, x);

	return dir == EV_R ? s->waits_r : s->waits_w;
}

static int
scripted_query(const struct conn *c, enum xprt_query what, struct str *out)
{
	(void)c;
	if (what != XPRT_QUERY_NAME)
		return -ERR_UNKNOWN;
	*out = STR("scripted");
	return 0;
}

static void
scripted_close(struct conn *c)
{
	struct scripted *s = scripted_of(c);

	s->script->live--;
	free(s);
}

static const struct xprt_ops plain_ops = {
	0, scripted_step, scripted_recv, scripted_send, scripted_shutdown, scripted_want,
	scripted_query, NULL, scripted_close,
};

static const struct xprt_ops more_ops = {
	XPRT_MORE, scripted_step, scripted_recv, scripted_send, scripted_shutdown, scripted_want,
	scripted_query, NULL, scripted_close,
};

struct xprt *
fake_xprt_make(const struct xprt_maker *m, const struct conn *c, int *reason)
{
	struct fake_script *script =
		container_of((struct xprt_maker *)m, struct fake_script, maker);
	struct scripted *s;

	assert(conn_is_open(c));
	*reason = -ERR_NOMEM;
	if (script->refuses)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->x.ops = script->caps & XPRT_MORE ? &more_ops : &plain_ops;
	s->script = script;
	s->waits_r = s->waits_w = script->is_client ? EV_W : EV_R;
	script->made++;
	script->live++;
	return &s->x;
}

/* --- the peer --- */

int
fake_wire_flush(struct fake_wire *w, struct fake_sock *s)
{
	if (w->is_client && !w->sent_hello && !w->is_mute) {
		add_record(&w->rec, 'H', "", 0);
		w->sent_hello = 1;
	}
	while (w->rec.n_out) {
		long r = fake_peer_send(s, w->rec.out, w->rec.n_out);

		if (r < 0)
			return 0;
		went_out(&w->rec, (size_t)r);
	}
	return 1;
}

static void
hear_record(struct fake_wire *w, char letter)
{
	switch (letter) {
	case 'H':
		if (w->is_mute)
			break;
		add_record(&w->rec, 'W', "", 0);
		w->is_up = 1;
		break;
	case 'W':
		w->is_up = 1;
		break;
	case 'A':
		if (!w->sent_end)
			add_record(&w->rec, 'K', "", 0);
		break;
	case 'E':
		w->heard_end = 1;
		break;
	default:
		break;
	}
}

long
fake_wire_send(struct fake_wire *w, struct fake_sock *s, const void *buf, size_t len)
{
	size_t n = MIN(len, (size_t)FAKE_RECORD);

	if (!fake_wire_flush(w, s) || !w->is_up)
		return w->is_cut || (fake_peer_poll(s) & (EPOLLERR | EPOLLHUP)) ? -EPIPE
										: -EAGAIN;
	if (w->update_every && ++w->sent % w->update_every == 0)
		add_record(&w->rec, 'U', "", 0);
	add_record(&w->rec, 'D', buf, n);
	(void)fake_wire_flush(w, s);
	return (long)n;
}

long
fake_wire_recv(struct fake_wire *w, struct fake_sock *s, void *buf, size_t len)
{
	struct fake_records *rec = &w->rec;
	char letter;
	long r;

	for (;;) {
		(void)fake_wire_flush(w, s);
		if (rec->at < rec->n)
			return (long)take_text(rec, buf, len);
		if (w->heard_end)
			return 0;
		if (!has_room_out(rec, 0))
			return -EAGAIN;
		letter = take_record(rec);
		if (letter) {
			hear_record(w, letter);
			continue;
		}
		r = fake_peer_recv(s, rec->in + rec->n_in, sizeof(rec->in) - rec->n_in);
		w->is_cut |= r == 0;
		if (r <= 0)
			return r == 0 ? -EPROTO : r;
		rec->n_in += (size_t)r;
	}
}

int
fake_wire_end(struct fake_wire *w, struct fake_sock *s)
{
	if (w->is_up && !w->sent_end && fake_wire_flush(w, s)) {
		add_record(&w->rec, 'E', "", 0);
		w->sent_end = 1;
	}
	return fake_wire_flush(w, s) && (w->sent_end || !w->is_up);
}

/* --- as a wire --- */

static struct fake_wire *
fake_wire_of(struct wire *w)
{
	return container_of(w, struct fake_wire, wire);
}

static long
on_send(struct wire *w, struct fake_sock *s, const void *buf, size_t len)
{
	return fake_wire_send(fake_wire_of(w), s, buf, len);
}

static long
on_recv(struct wire *w, struct fake_sock *s, void *buf, size_t len)
{
	return fake_wire_recv(fake_wire_of(w), s, buf, len);
}

static int
on_flush(struct wire *w, struct fake_sock *s)
{
	return fake_wire_flush(fake_wire_of(w), s);
}

static int
on_end(struct wire *w, struct fake_sock *s)
{
	return fake_wire_end(fake_wire_of(w), s);
}

static void
on_free(struct wire *w)
{
	free(fake_wire_of(w));
}

static const struct wire_ops fake_wire_ops = { on_send, on_recv, on_flush, on_end, on_free };

struct fake_wire *
fake_wire_new(void)
{
	struct fake_wire *w;

	fake_memory_is_ours++;
	w = calloc(1, sizeof(*w));
	fake_memory_is_ours--;
	if (!w)
		abort();
	w->wire.ops = &fake_wire_ops;
	return w;
}
