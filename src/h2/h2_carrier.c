/* Moves bytes between a connection and its frames, and reports from there to streams. On the
 * connection's worker; it reads and writes once per turn, where the socket allows. */
#include "h2/h2_carrier.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "event/profile.h"
#include "h2/h2_xprt.h"
#include "net/silent_drop.h"

/* Streams kept for reuse. */
#define STREAMS_KEPT 1024
/* Reads in a row, so that one connection does not starve the others. */
#define READS_MAX 8

int
h2_worker_init(struct h2_worker *w, size_t head_size, unsigned int max_fields)
{
	memset(w, 0, sizeof(*w));
	w->field = mem_alloc(max_fields * sizeof(*w->field));
	if (!w->field || h2_shared_init(&w->shared, head_size, max_fields) < 0) {
		mem_free(w->field);
		return -ERR_NOMEM;
	}
	pool_init(&w->streams, "h2_stream", sizeof(struct h2_xprt), STREAMS_KEPT);
	w->max_fields = max_fields;
	h2_config_default(&w->client);
	h2_config_default(&w->server);
	return 0;
}

void
h2_worker_fini(struct h2_worker *w)
{
	pool_fini(&w->streams);
	h2_shared_fini(&w->shared);
	mem_free(w->field);
	w->field = NULL;
}

/* --- reports of the frames --- */

static int
carrier_on_request(void *arg, const struct http_head *req, int end, struct h2_stream **out)
{
	struct h2_carrier *k = arg;
	struct h2_xprt *x = NULL;
	int code = k->is_lost ? H2_REFUSED_STREAM : k->user->on_request(k, req, &x);

	(void)end;
	if (x)
		*out = &x->st;
	return code;
}

static void
carrier_on_bad_request(void *arg)
{
	struct h2_carrier *k = arg;

	if (!k->is_lost)
		k->user->on_bad_request(k);
}

static int
carrier_on_head(struct h2_stream *st, struct http_head *h, int end)
{
	return h2_xprt_on_head(h2_xprt_of(st), h, end);
}

static void
carrier_on_data(struct h2_stream *st)
{
	h2_xprt_on_data(h2_xprt_of(st));
}

static void
carrier_on_room(struct h2_stream *st)
{
	h2_xprt_on_room(h2_xprt_of(st));
}

static void
carrier_on_reset(struct h2_stream *st, uint32_t code, int unprocessed)
{
	struct h2_xprt *x = h2_xprt_of(st);

	/* A reset of ours that its user has not asked for; INTERNAL_ERROR is no fault of the
	 * peer. */
	x->link.is_malformed = st->reset_out && code != H2_INTERNAL_ERROR;
	h2_xprt_on_reset(x, unprocessed);
}

static void
carrier_on_output(void *arg)
{
	struct h2_carrier *k = arg;

	if (!k->is_lost)
		loop_post_flush(k->conn->loop, &k->flush);
}

static void
carrier_on_goaway(void *arg)
{
	struct h2_carrier *k = arg;

	k->is_over = 1;
}

static void
carrier_on_continue(void *arg)
{
	struct h2_carrier *k = arg;

	if (!k->is_lost)
		loop_post_next(k->conn->loop, &k->more);
}

static const struct h2_user carrier_user = {
	.on_request = carrier_on_request,
	.on_bad_request = carrier_on_bad_request,
	.on_head = carrier_on_head,
	.on_data = carrier_on_data,
	.on_room = carrier_on_room,
	.on_reset = carrier_on_reset,
	.on_output = carrier_on_output,
	.on_goaway = carrier_on_goaway,
	.on_continue = carrier_on_continue,
};

/* --- its bytes --- */

void
h2_carrier_lose(struct h2_carrier *k)
{
	if (k->is_lost)
		return;
	k->is_lost = k->is_over = 1;
	task_cancel(&k->flush);
	task_cancel(&k->more);
	list_each(it, &k->streams) {
		struct h2_xprt *x = list_entry(it, struct h2_xprt, chain);

		h2_xprt_on_reset(x, !x->is_begun);
	}
}

void
h2_carrier_input(struct h2_carrier *k, const char *p, size_t n)
{
	/* A connection error, or the answer to our first GOAWAY: the last one is waiting. */
	if (h2_conn_input(&k->h2, (const uint8_t *)p, n) < 0 || h2_conn_is_closing(&k->h2))
		k->is_over = 1;
	h2_carrier_wake(k);
}

static int
wants_input(const struct h2_carrier *k)
{
	return !k->is_lost && !k->is_shut && h2_conn_wants_input(&k->h2);
}

/* Handles the end of what the peer sends. A client may still read: its complete requests get their
 * responses, as in HTTP/1. */
static void
shut_input(struct h2_carrier *k)
{
	if (k->h2.is_client || !k->n_streams) {
		h2_carrier_lose(k);
		return;
	}
	k->is_over = k->is_shut = 1;
	list_each(it, &k->streams)
		h2_xprt_on_shut(list_entry(it, struct h2_xprt, chain));
}

size_t
h2_carrier_read(struct h2_carrier *k, char *scratch, size_t size)
{
	size_t all = 0, got;

	for (int i = 0; i < READS_MAX && wants_input(k) && conn_is_ready(k->conn, DIR_R); i++) {
		switch (conn_recv(k->conn, scratch, size, &got)) {
		case IO_OK:
			all += got;
			h2_carrier_input(k, scratch, got);
			break;
		case IO_AGAIN:
			return all;
		case IO_EOF:
			shut_input(k);
			break;
		case IO_ERR:
			h2_carrier_lose(k);
			break;
		}
	}
	return all;
}

void
h2_carrier_look(const struct conn *c, char *scratch, size_t size)
{
	const struct h2_xprt *x = h2_xprt_below(c);
	struct h2_carrier *k = x ? x->carrier : NULL;

	if (!k || k->is_lost)
		return;
	conn_presume_ready(k->conn, DIR_R);
	if (h2_carrier_read(k, scratch, size) || k->is_over)
		k->user->on_change(k);
}

/* Drops the output from now on: the peer reads no more. A server may have sent a response before
 * that, whose end is found by reading. */
static void
stop_sending(struct h2_carrier *k)
{
	if (!k->h2.is_client || !k->n_streams) {
		h2_carrier_lose(k);
		return;
	}
	k->is_over = k->is_mute = 1;
}

static enum io_result
drop_output(size_t n, size_t *put)
{
	*put = n;
	return IO_OK;
}

size_t
h2_carrier_flush(struct h2_carrier *k)
{
	size_t all = 0, put;
	struct str out;

	while (!k->is_lost && (out = h2_conn_output(&k->h2)).len &&
		(k->is_mute || conn_is_ready(k->conn, DIR_W))) {
		switch (k->is_mute ? drop_output(out.len, &put)
				   : conn_send(k->conn, out.p, out.len, 0, &put)) {
		case IO_OK:
			all += put;
			h2_conn_sent(&k->h2, put);
			break;
		case IO_AGAIN:
			break;
		case IO_EOF:
		case IO_ERR:
			stop_sending(k);
			break;
		}
	}
	k->is_blocked = !k->is_lost && h2_conn_has_output(&k->h2);
	return all;
}

/* Uses input that had to wait. A task. */
static void
carrier_on_more(struct task *t)
{
	struct h2_carrier *k = container_of(t, struct h2_carrier, more);

	if (h2_conn_continue(&k->h2) < 0 || h2_conn_is_closing(&k->h2))
		k->is_over = 1;
	h2_carrier_wake(k);
	k->user->on_change(k);
}
PROFILE_NAME(carrier_on_more, h2_more)

static void
carrier_on_flush(struct task *t)
{
	struct h2_carrier *k = container_of(t, struct h2_carrier, flush);

	if (k->conn->fd >= 0)
		loop_charge(k->conn->loop, k->conn->fd);
	(void)h2_carrier_flush(k);
	if (h2_conn_has_output(&k->h2) || k->is_over)
		k->user->on_change(k);
}
PROFILE_NAME(carrier_on_flush, h2_flush)

/* --- its state --- */

unsigned int
h2_carrier_wants(const struct h2_carrier *k)
{
	if (k->is_lost)
		return 0;
	return (wants_input(k) ? EV_R : 0) | (h2_conn_has_output(&k->h2) ? EV_W : 0);
}

int
h2_carrier_has_ended(const struct h2_carrier *k)
{
	return !k->n_streams && (k->is_lost || (k->is_over && !h2_conn_has_output(&k->h2)));
}

int
h2_carrier_has_room(const struct h2_carrier *k)
{
	return !k->is_over && !h2_conn_is_used_up(&k->h2) &&
		k->n_streams < h2_conn_max_streams(&k->h2);
}

void
h2_carrier_leave(struct h2_carrier *k, int at_once)
{
	if (at_once)
		k->is_over = 1;
	h2_conn_goaway(&k->h2, H2_NO_ERROR, at_once);
}

void
h2_carrier_end(struct h2_carrier *k, int silently)
{
	if (k->is_lost)
		return;
	if (silently) {
		conn_silent_drop_on_close(k->conn);
	} else {
		/* The code that HAProxy sends. */
		h2_conn_goaway(&k->h2, H2_ENHANCE_YOUR_CALM, 1);
		(void)h2_carrier_flush(k);
	}
	h2_carrier_lose(k);
}

/* --- its life --- */

int
h2_carrier_init(struct h2_carrier *k, struct conn *c, struct h2_worker *w,
	const struct h2_config *cfg, int is_client, const struct h2_carrier_user *user)
{
	int r;

	k->conn = c;
	k->worker = w;
	k->user = user;
	list_init(&k->streams);
	task_init(&k->flush, carrier_on_flush);
	task_init(&k->more, carrier_on_more);
	r = h2_conn_init(&k->h2, cfg, &w->shared, &carrier_user, k, is_client);
	k->h2.is_tls = c->xprt != NULL;
	return r;
}

void
h2_carrier_fini(struct h2_carrier *k)
{
	assert(list_is_empty(&k->streams));
	task_cancel(&k->flush);
	task_cancel(&k->more);
	h2_conn_fini(&k->h2);
}
