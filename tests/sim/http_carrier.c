#include "sim/http_ends.h"

#include <errno.h>

#include "sim/h2_wire.h"

static void
gets_time(struct fake *k, void *arg)
{
	struct http_carrier *c = arg;

	c->is_waiting = 0;
	if (c->closed)
		return;
	h2_streams_allow(c->wire, c->piece);
	http_carrier_run(k, c);
}

/* Sends what the streams have left, in pieces. */
static void
flush(struct http_carrier *c)
{
	(void)wire_flush(c->wire, c->s);
	if (!c->piece || c->is_waiting || !h2_streams_have_output(c->wire))
		return;
	c->is_waiting = 1;
	fake_after(c->k, FAKE_MS, gets_time, c);
}

static void
run_streams(struct http_carrier *c)
{
	for (struct http_origin *o = c->newest; o; o = o->next)
		if (!o->closed)
			http_origin_step(o);
}

static void
close_carrier(struct http_carrier *c, int reset)
{
	c->closed = 1;
	for (struct http_origin *o = c->newest; o; o = o->next)
		o->closed = 1;
	if (reset)
		fake_peer_reset(c->s);
	else
		fake_peer_close(c->s);
}

void
http_carrier_run(struct fake *k, void *arg)
{
	struct http_carrier *c = arg;
	int ended;

	(void)k;
	if (c->closed)
		return;
	if (!fake_peer_is_connected(c->s) && !(fake_peer_poll(c->s) & (EPOLLHUP | EPOLLERR)))
		return;
	do {
		ended = wire_recv(c->wire, c->s, NULL, 0) == 0;
		run_streams(c);
		if (c->closed)
			return;
		flush(c);
	} while (!ended && h2_streams_have_input(c->wire));
	if (ended)
		close_carrier(c, 0);
}

/* True if it may refuse requests, which wait for its settings or for a place: one is sent over
 * another connection only if a buffer has all that was sent of it. */
static int
may_go(const struct http_carrier *c)
{
	return c->wild || c->may_leave;
}

void
http_carrier_leave(struct http_carrier *c, int at_once)
{
	if (!c->closed && may_go(c))
		h2_streams_leave(c->wire, at_once);
}

static void
note_lost(struct http_carrier *c)
{
	for (struct http_origin *o = c->newest; o; o = o->next)
		if (o->t)
			o->t->lost = 1;
}

void
http_carrier_spoil(struct http_carrier *c)
{
	c->book->spoiled = 1;
	note_lost(c);
}

void
http_carrier_lose(struct http_carrier *c, int reset)
{
	if (c->closed)
		return;
	fake_note(c->k, "# server %u loses its connection", fake_peer_remote_port(c->s));
	note_lost(c);
	close_carrier(c, reset);
}

/* Its newest request, of which it has seen nothing, may be sent again. */
static void
drop_newest(struct http_carrier *c)
{
	struct wire *w = h2_streams_drop_newest(c->wire);

	for (struct http_origin *o = c->newest; w && o; o = o->next)
		if (o->wire == w && o->t)
			o->t->refused = 1;
}

static void
gets_tired(struct fake *k, void *arg)
{
	struct http_carrier *c = arg;

	if (c->closed || !fake_peer_is_connected(c->s))
		return;
	switch (dice(c->dice, c->wild ? 5 : 3)) {
	case 0:
		http_carrier_leave(c, 0);
		break;
	case 1:
		http_carrier_leave(c, 1);
		break;
	case 2:
		drop_newest(c);
		break;
	case 3:
		http_carrier_lose(c, 0);
		break;
	default:
		http_carrier_lose(c, 1);
		break;
	}
	http_carrier_run(k, c);
}

static void
begins_stream(void *arg, struct wire *stream)
{
	struct http_carrier *c = arg;
	struct http_origin *o = c->add(c);

	if (!o) {
		h2_stream_wire_release(stream);
		return;
	}
	o->carrier = c;
	o->next = c->newest;
	o->wire = stream;
	c->newest = o;
	http_origin_start(o, c->s);
}

void
http_carrier_start(struct http_carrier *c, struct fake_sock *s)
{
	struct dice *d = c->dice;
	struct h2_origin_conf conf = { .on_stream = begins_stream, .arg = c };

	c->s = s;
	c->k = c->book->w->k;
	if (may_go(c) && dice_is(d, 3))
		conf.max_streams = 1 + dice(d, 4);
	if (dice_is(d, 3))
		conf.window = 1 + dice(d, dice_is(d, 2) ? 20 : 3000);
	if (dice_is(d, 4))
		c->piece = 1 + dice(d, dice_is(d, 4) ? 20 : 1000);
	c->wire = h2_streams_wire_new(&conf);
	fake_note(c->k, "# server %u: %u streams, window %u, pieces of %zu",
		fake_peer_remote_port(s), conf.max_streams, conf.window, c->piece);
	if (c->piece)
		h2_streams_allow(c->wire, c->piece);
	if (may_go(c) && dice_is(d, 4))
		fake_after(c->k, dice(d, 300) * FAKE_MS, gets_tired, c);
	fake_peer_notify(s, 0, http_carrier_run, c);
}
