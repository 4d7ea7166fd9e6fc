/* Connections with agents of SPOE. On the worker's thread; nothing here waits. */
#include "proxy/filter/spoe_agent.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/freq.h"
#include "base/mem.h"
#include "base/random.h"
#include "event/loop.h"
#include "event/profile.h"
#include "event/timer.h"
#include "net/outbound.h"
#include "proxy/filter/spoe.h"
#include "proxy/model/engine.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server.h"
#include "proxy/model/stream_extras.h"
#include "spop/spop.h"
#include "tls/connect.h"

/* The pause after a connection that has failed, and before maxconnrate is read again. */
#define SPOE_RETRY_MS 100u
/* Times that a connection is read in one turn. */
#define SPOE_ROUNDS 4

struct spoe_ask {
	struct list link;        /* in spoe_run.queue or lost, or in spoe_conn.sent */
	struct spoe_run *run;
	struct spoe_conn *conn;  /* it was sent there; NULL: it waits, or that has closed */
	struct spoe_state *of;   /* the stream that waits; NULL: it has stopped waiting */
	uint64_t stream_id, frame_id;
	struct timer timer;      /* timeout processing */
	uint8_t is_queued;       /* it is in spoe_run.queue */
	size_t len;
	char frame[];
};

enum spoe_conn_state { SPOE_CONNECTING, SPOE_GREETING, SPOE_UP };

struct spoe_conn {
	struct list link;        /* in spoe_run.conns */
	struct spoe_run *run;
	struct conn conn;
	struct timer timer;
	struct task task;
	enum spoe_conn_state state;
	struct spop_agent agent;
	struct list sent;        /* struct spoe_ask.link: their ACKs are to come */
	unsigned int n_sent;
	uint64_t heard_ms;       /* the time of the last bytes, or of its start */
	struct sbuf out;
	size_t out_at;
	size_t in_len, in_size;
	uint8_t in[];
};

struct spoe_run {
	struct spoe_run *next;   /* of the same worker */
	struct engine *e;
	struct spoe_conf *c;
	struct list conns, queue, lost;
	unsigned int n_queued, n_opening;
	int pipelines;           /* the last agent that has answered does */
	unsigned int turn;       /* number of servers chosen so far */
	uint64_t pause_ms;       /* no connection is opened before */
	struct timer timer;      /* opens connections then */
	struct freq conn_rate, err_rate;
	uint64_t errors, all;
	char id[RANDOM_UUID_SIZE]; /* engine-id */
};

static void pump_spoe(struct spoe_conn *c);
static void dispatch_asks(struct spoe_run *r);

static uint64_t
run_now_ms(const struct spoe_run *r)
{
	return loop_now_ms(r->e->loop);
}

static void
set_run_timer(const struct spoe_run *r, struct timer *t, uint64_t at)
{
	/* Without memory for a timer events of sockets still come. */
	(void)!timer_set(loop_timers(r->e->loop), t, at);
}

/* --- questions --- */

static void
free_ask(struct spoe_ask *a)
{
	timer_stop(loop_timers(a->run->e->loop), &a->timer);
	if (a->conn)
		a->conn->n_sent--;
	a->run->n_queued -= a->is_queued;
	list_remove(&a->link);
	mem_free(a);
}

/* The stream of a question continues, with the actions or with an error. */
static void
answer_stream(struct spoe_ask *a, unsigned int error, const struct spop_in *actions)
{
	struct spoe_state *st = a->of;
	size_t n = actions ? (size_t)(actions->end - actions->p) : 0;

	if (!st)
		return;
	a->of = NULL;
	st->ask = NULL;
	st->is_done = 1;
	st->error = error;
	if (n) {
		st->actions = mem_alloc(n);
		if (st->actions)
			memcpy(st->actions, actions->p, n);
		else
			st->error = SPOE_NO_RESOURCE;
		st->n_actions = st->actions ? n : 0;
	}
	stream_take_answer(st->s);
}

static void
end_ask(struct spoe_ask *a, unsigned int error, const struct spop_in *actions)
{
	answer_stream(a, error, actions);
	free_ask(a);
}

/* --- connections --- */

static unsigned int
window_of(const struct spoe_conn *c)
{
	return c->agent.pipelines ? (unsigned int)c->run->c->max_waiting : 1;
}

/* The questions of a connection that has closed. Those of an asynchronous agent may be answered
 * over another one. */
static void
lose_asks(struct spoe_conn *c, unsigned int error)
{
	list_each_safe(it, &c->sent) {
		struct spoe_ask *a = list_entry(it, struct spoe_ask, link);

		if (!c->agent.is_async || !a->of) {
			end_ask(a, error, NULL);
			continue;
		}
		a->conn = NULL;
		list_remove(&a->link);
		list_append(&c->run->lost, &a->link);
	}
}

/* Closes it. error: for the streams whose questions were sent over it. */
static void
close_spoe_conn(struct spoe_conn *c, unsigned int error)
{
	struct spoe_run *r = c->run;

	if (c->state != SPOE_UP) {
		r->n_opening--;
		r->pause_ms = run_now_ms(r) + SPOE_RETRY_MS;
	}
	lose_asks(c, error);
	timer_stop(loop_timers(r->e->loop), &c->timer);
	task_cancel(&c->task);
	conn_finish(&c->conn);
	conn_close_late(&c->conn);
	list_remove(&c->link);
	/* Without a connection they are not answered. */
	if (list_is_empty(&r->conns))
		list_each_safe(it, &r->lost)
			end_ask(list_entry(it, struct spoe_ask, link), error, NULL);
	sbuf_fini(&c->out);
	mem_free(c);
}

/* The same, after a DISCONNECT, if the socket takes it. */
static void
disconnect_agent(struct spoe_conn *c, enum spop_status why)
{
	spop_put_disconnect(&c->out, why);
	if (!c->out.failed)
		(void)!conn_send_sbuf(&c->conn, &c->out, &c->out_at);
	close_spoe_conn(c, SPOE_SPOP + why);
}

static uint64_t
idle_deadline(const struct spoe_conn *c)
{
	const struct spoe_conf *conf = c->run->c;
	uint64_t server = timer_key_after(c->heard_ms, conf->be->to.server);

	return c->n_sent ? server : MIN(server, timer_key_after(c->heard_ms, conf->idle_ms));
}

/* Waits for the next cause. */
static void
await_agent(struct spoe_conn *c)
{
	conn_want(&c->conn, c->out.len > c->out_at ? EV_R | EV_W : EV_R);
	if (c->state == SPOE_UP)
		set_run_timer(c->run, &c->timer, idle_deadline(c));
}

static void
on_spoe_conn_timer(struct timer *t)
{
	struct spoe_conn *c = container_of(t, struct spoe_conn, timer);
	struct spoe_run *r = c->run;

	if (c->state == SPOE_CONNECTING)
		close_spoe_conn(c, SPOE_SPOP + SPOP_TIMEOUT);
	else if (c->state == SPOE_UP && !c->n_sent)
		disconnect_agent(c, SPOP_OK);
	else
		disconnect_agent(c, SPOP_TIMEOUT);
	dispatch_asks(r);
}
PROFILE_NAME(on_spoe_conn_timer, spoe_conn_timer)

static void
on_spoe_task(struct task *t)
{
	pump_spoe(container_of(t, struct spoe_conn, task));
}
PROFILE_NAME(on_spoe_task, spoe_task)

/* --- frames --- */

static struct spoe_ask *
find_ask(const struct list *l, const struct spop_frame *f)
{
	list_each(it, l) {
		struct spoe_ask *a = list_entry(it, struct spoe_ask, link);

		if (a->stream_id == f->stream_id && a->frame_id == f->frame_id)
			return a;
	}
	return NULL;
}

/* The question of an ACK on this connection, or, of an asynchronous agent, on any; NULL: none. */
static struct spoe_ask *
ask_of_ack(const struct spoe_conn *c, const struct spop_frame *f)
{
	struct spoe_ask *a = find_ask(&c->sent, f);

	if (a || !c->agent.is_async)
		return a;
	a = find_ask(&c->run->lost, f);
	list_each(it, &c->run->conns)
		if (!a)
			a = find_ask(&list_entry(it, const struct spoe_conn, link)->sent, f);
	return a;
}

/* Handles an ACK. One for which no stream waits is ignored, as in HAProxy. */
static enum spop_status
take_ack(struct spoe_conn *c, const struct spop_frame *f)
{
	struct spoe_ask *a = ask_of_ack(c, f);

	if (!a)
		return SPOP_OK;
	if (!spop_actions_are_valid(f->payload)) {
		end_ask(a, SPOE_SPOP + SPOP_INVALID, NULL);
		return SPOP_INVALID;
	}
	end_ask(a, 0, &f->payload);
	return SPOP_OK;
}

static enum spop_status
take_hello(struct spoe_conn *c, const struct spop_frame *f)
{
	enum spop_status s = f->type == SPOP_AGENT_HELLO
		? spop_read_hello(f, spoe_max_frame(c->run), &c->agent) : SPOP_INVALID;

	if (s != SPOP_OK)
		return s;
	if (c->run->c->flags & SPOE_NO_PIPELINING)
		c->agent.pipelines = 0;
	if (c->run->c->flags & SPOE_NO_ASYNC)
		c->agent.is_async = 0;
	c->state = SPOE_UP;
	c->run->n_opening--;
	c->run->pipelines = c->agent.pipelines;
	return SPOP_OK;
}

/* 1, or 0: the connection has been closed. */
static int
take_frame(struct spoe_conn *c, const uint8_t *p, size_t n)
{
	struct spop_frame f;
	enum spop_status s = spop_read_frame(p, n, &f);
	struct str text;
	uint32_t code = SPOP_UNKNOWN;

	if (s == SPOP_OK && f.type == SPOP_AGENT_DISCONNECT) {
		if (spop_read_disconnect(&f, &code, &text) != SPOP_OK || !code)
			code = SPOP_IO;
		/* The agent may send any number. */
		close_spoe_conn(c, SPOE_SPOP + MIN(code, (uint32_t)SPOP_UNKNOWN));
		return 0;
	}
	if (s == SPOP_OK && c->state == SPOE_GREETING)
		s = take_hello(c, &f);
	else if (s == SPOP_OK && f.type == SPOP_ACK)
		s = take_ack(c, &f);
	if (s == SPOP_OK)
		return 1;
	disconnect_agent(c, s);
	return 0;
}

/* Takes all complete frames. 1, or 0: the connection has been closed. */
static int
take_frames(struct spoe_conn *c)
{
	size_t at = 0;

	while (c->in_len - at >= SPOP_LENGTH) {
		size_t n = spop_length(c->in + at);

		if (n > c->in_size - SPOP_LENGTH) {
			disconnect_agent(c, SPOP_TOO_BIG);
			return 0;
		}
		if (c->in_len - at - SPOP_LENGTH < n)
			break;
		if (!take_frame(c, c->in + at + SPOP_LENGTH, n))
			return 0;
		at += SPOP_LENGTH + n;
	}
	memmove(c->in, c->in + at, c->in_len - at);
	c->in_len -= at;
	return 1;
}

/* 1: something came, 0: nothing did, -1: the connection has been closed. */
static int
read_agent(struct spoe_conn *c)
{
	size_t got;

	if (!conn_is_ready(&c->conn, DIR_R))
		return 0;
	switch (conn_recv(&c->conn, c->in + c->in_len, c->in_size - c->in_len, &got)) {
	case IO_OK:
		c->in_len += got;
		c->heard_ms = run_now_ms(c->run);
		return take_frames(c) ? 1 : -1;
	case IO_AGAIN:
		return 0;
	case IO_EOF:
	case IO_ERR:
		break;
	}
	close_spoe_conn(c, SPOE_SPOP + SPOP_IO);
	return -1;
}

/* Sends what waits, unless memory was out for a part of it. 1, or 0: the connection has been
 * closed. */
static int
send_to_agent(struct spoe_conn *c)
{
	unsigned int error = 0;

	if (c->out.failed)
		error = SPOE_NO_RESOURCE;
	else if (c->out.len > c->out_at &&
		conn_send_sbuf(&c->conn, &c->out, &c->out_at) == IO_ERR)
		error = SPOE_SPOP + SPOP_IO;
	if (error)
		close_spoe_conn(c, error);
	return !error;
}

/* Reads what has come, gives the connections what waits, and sends: a bounded number of times. */
static void
pump_spoe(struct spoe_conn *c)
{
	struct spoe_run *r = c->run;
	int got = 1;

	for (int i = 0; i < SPOE_ROUNDS && got > 0; i++)
		got = read_agent(c);
	if (got >= 0 && send_to_agent(c))
		await_agent(c);
	dispatch_asks(r);
}

/* The connection is open: the hello is sent. */
static void
greet_agent(struct spoe_conn *c)
{
	struct spoe_run *r = c->run;
	unsigned int off = r->c->flags;
	const struct spop_hello h = { .max_frame = spoe_max_frame(r),
		.capabilities = str_of(off & SPOE_NO_PIPELINING
				? (off & SPOE_NO_ASYNC ? "" : "async")
				: (off & SPOE_NO_ASYNC ? "pipelining" : "pipelining,async")),
		.engine_id = { r->id, RANDOM_UUID_SIZE - 1 } };

	c->state = SPOE_GREETING;
	spop_put_hello(&c->out, &h);
	set_run_timer(r, &c->timer, timer_key_after(run_now_ms(r), r->c->hello_ms));
	pump_spoe(c);
}

static void
on_spoe_io(void *owner, int fd, uint32_t ev)
{
	struct spoe_conn *c = owner;
	struct spoe_run *r = c->run;

	(void)fd;
	if (ev & EV_SPIN || (c->state == SPOE_CONNECTING && conn_take_error(&c->conn))) {
		close_spoe_conn(c, SPOE_SPOP + SPOP_IO);
		dispatch_asks(r);
		return;
	}
	if (c->state != SPOE_CONNECTING)
		pump_spoe(c);
	else if (ev & EV_W)
		greet_agent(c);
}
PROFILE_NAME(on_spoe_io, spoe_io)

/* --- opening --- */

/* The server whose turn it is, or NULL: none is usable. Backup servers serve when no other does. */
static struct server *
next_agent_server(struct spoe_run *r)
{
	for (int backup = 0; backup <= 1; backup++) {
		unsigned int n = 0, wanted;

		list_each(it, &r->c->be->servers) {
			const struct server *s = list_entry(it, const struct server, link);

			n += s->conf.backup == backup && server_is_usable(s);
		}
		wanted = n ? r->turn++ % n : 0;
		list_each(it, &r->c->be->servers) {
			struct server *s = list_entry(it, struct server, link);

			if (n && s->conf.backup == backup && server_is_usable(s) && !wanted--)
				return s;
		}
	}
	return NULL;
}

static int
open_agent(struct spoe_conn *c, struct server *srv)
{
	struct engine *e = c->run->e;
	const struct tls_ask ask = { .name = { NULL, 0 } };
	struct outbound_source source;
	struct addr to;
	struct outbound o = { .to = &to, .buffers = e->server_buf,
		.source = server_source(srv, &source),
		.xprt = srv->xprt ? srv->xprt[e->index] : NULL };
	int rc;

	c->conn.addr_gen = addr_cell_get(&srv->addr, &to);
	if (!to.len)
		return -ERR_MISSING;
	rc = outbound_open(&c->conn, e->loop, &o, on_spoe_io, c);
	return rc >= 0 && c->conn.xprt ? tls_connect_as(&c->conn, &ask) : rc;
}

static struct spoe_conn *
new_spoe_conn(struct spoe_run *r)
{
	size_t size = SPOP_LENGTH + spoe_max_frame(r);
	struct spoe_conn *c = mem_zalloc(sizeof(*c) + size);

	if (!c)
		return NULL;
	c->run = r;
	c->in_size = size;
	c->heard_ms = run_now_ms(r);
	conn_init(&c->conn);
	timer_init(&c->timer, on_spoe_conn_timer);
	task_init(&c->task, on_spoe_task);
	list_init(&c->sent);
	sbuf_init(&c->out, 0);
	list_append(&r->conns, &c->link);
	r->n_opening++;
	freq_add(&r->conn_rate, run_now_ms(r), 1);
	return c;
}

static void
open_spoe_conn(struct spoe_run *r)
{
	struct server *srv = next_agent_server(r);
	struct spoe_conn *c = srv ? new_spoe_conn(r) : NULL;

	if (!c) {
		r->pause_ms = run_now_ms(r) + SPOE_RETRY_MS;
		return;
	}
	if (open_agent(c, srv) < 0) {
		close_spoe_conn(c, SPOE_SPOP + SPOP_IO);
		return;
	}
	set_run_timer(r, &c->timer, timer_key_after(run_now_ms(r), r->c->be->to.connect));
	outbound_await(&c->conn);
}

/* True if another connection may be opened now; otherwise it is tried again later. */
static int
admit_opening(struct spoe_run *r)
{
	uint64_t now = run_now_ms(r);
	unsigned int max = (unsigned int)r->c->max_conn_rate;

	if (now >= r->pause_ms && max && freq_read(&r->conn_rate, now) >= max)
		r->pause_ms = now + SPOE_RETRY_MS;
	if (now >= r->pause_ms)
		return 1;
	set_run_timer(r, &r->timer, r->pause_ms);
	return 0;
}

/* --- the queue --- */

/* The connection with the fewest questions that may take one more; NULL: none. */
static struct spoe_conn *
least_busy_conn(const struct spoe_run *r)
{
	struct spoe_conn *best = NULL;

	list_each(it, &r->conns) {
		struct spoe_conn *c = list_entry(it, struct spoe_conn, link);

		if (c->state == SPOE_UP && c->n_sent < window_of(c) &&
			(!best || c->n_sent < best->n_sent))
			best = c;
	}
	return best;
}

/* Appends a question to the output of a connection. */
static void
send_ask(struct spoe_conn *c, struct spoe_ask *a)
{
	list_remove(&a->link);
	c->run->n_queued--;
	a->is_queued = 0;
	if (a->len - SPOP_LENGTH > c->agent.max_frame) {
		end_ask(a, SPOE_TOO_LONG, NULL);
		return;
	}
	list_append(&c->sent, &a->link);
	a->conn = c;
	if (!c->n_sent++)
		c->heard_ms = run_now_ms(c->run);
	sbuf_add(&c->out, a->frame, a->len);
	loop_post(c->run->e->loop, &c->task);
}

/* Sends what waits over connections that have room, and opens more of them: one at a time while
 * agents pipeline, else one for each question. */
static void
dispatch_asks(struct spoe_run *r)
{
	while (!list_is_empty(&r->queue)) {
		struct spoe_conn *c = least_busy_conn(r);

		if (!c)
			break;
		send_ask(c, list_first(&r->queue, struct spoe_ask, link));
	}
	while (r->n_opening < (r->pipelines ? MIN(r->n_queued, 1) : r->n_queued) &&
		admit_opening(r))
		open_spoe_conn(r);
}

static void
on_run_timer(struct timer *t)
{
	dispatch_asks(container_of(t, struct spoe_run, timer));
}
PROFILE_NAME(on_run_timer, spoe_run_timer)

/* An agent that answers one question after the other is not asked the next one over the same
 * connection; nor is one whose questions have all been given up. */
static void
give_up_conn(struct spoe_conn *c)
{
	list_each(it, &c->sent)
		if (list_entry(it, const struct spoe_ask, link)->of)
			return;
	if (c->n_sent >= window_of(c))
		disconnect_agent(c, SPOP_TIMEOUT);
}

static void
on_ask_timer(struct timer *t)
{
	struct spoe_ask *a = container_of(t, struct spoe_ask, timer);
	struct spoe_run *r = a->run;
	struct spoe_conn *c = a->conn;

	answer_stream(a, SPOE_TIMEOUT, NULL);
	spoe_ask_forget(a);
	if (c)
		give_up_conn(c);
	dispatch_asks(r);
}
PROFILE_NAME(on_ask_timer, spoe_ask_timer)

void
spoe_ask_forget(struct spoe_ask *a)
{
	a->of = NULL;
	/* If it was sent it may be answered late: until then its place is taken. When its timer
	 * expires the connection may be closed (give_up_conn). */
	if (!a->conn)
		free_ask(a);
}

int
spoe_ask_new(struct spoe_run *r, struct spoe_state *st, const struct sbuf *frame)
{
	struct spoe_ask *a = mem_zalloc(sizeof(*a) + frame->len);

	if (!a)
		return -ERR_NOMEM;
	a->run = r;
	a->of = st;
	a->stream_id = st->id;
	a->frame_id = st->n_frames;
	a->len = frame->len;
	memcpy(a->frame, frame->p, frame->len);
	timer_init(&a->timer, on_ask_timer);
	list_append(&r->queue, &a->link);
	a->is_queued = 1;
	r->n_queued++;
	st->ask = a;
	stream_await_answer(st->s);
	set_run_timer(r, &a->timer, timer_key_after(run_now_ms(r), r->c->processing_ms));
	dispatch_asks(r);
	return 0;
}

/* --- an engine --- */

struct spoe_run *
spoe_run_get(struct engine *e, struct spoe_conf *c)
{
	struct spoe_run *r = c->run[e->index];

	if (r)
		return r;
	r = mem_zalloc(sizeof(*r));
	if (!r)
		return NULL;
	r->e = e;
	r->c = c;
	r->pipelines = 1;
	list_init(&r->conns);
	list_init(&r->queue);
	list_init(&r->lost);
	timer_init(&r->timer, on_run_timer);
	/* Without random bytes only the agent's grouping of connections suffers. */
	(void)!random_uuid(&e->eval.random, r->id);
	r->next = e->spoe;
	e->spoe = r;
	c->run[e->index] = r;
	return r;
}

uint32_t
spoe_max_frame(const struct spoe_run *r)
{
	uint32_t most = MAX(r->e->bufsize - SPOP_LENGTH, SPOP_FRAME_MIN);

	return r->c->max_frame ? MIN(r->c->max_frame, most) : most;
}

int
spoe_has_failed_often(const struct spoe_run *r)
{
	unsigned int max = (unsigned int)r->c->max_err_rate;

	return max && freq_read(&r->err_rate, run_now_ms(r)) >= max;
}

void
spoe_count(struct spoe_run *r, int is_error, uint64_t *errors, uint64_t *all)
{
	if (is_error)
		freq_add(&r->err_rate, run_now_ms(r), 1);
	*errors = r->errors += is_error != 0;
	*all = ++r->all;
}

static void
free_run(struct spoe_run *r)
{
	r->c->run[r->e->index] = NULL;
	list_each_safe(it, &r->queue)
		free_ask(list_entry(it, struct spoe_ask, link));
	list_each_safe(it, &r->conns)
		close_spoe_conn(list_entry(it, struct spoe_conn, link), SPOE_SPOP + SPOP_IO);
	list_each_safe(it, &r->lost)
		free_ask(list_entry(it, struct spoe_ask, link));
	timer_stop(loop_timers(r->e->loop), &r->timer);
	mem_free(r);
}

void
spoe_engine_free(struct engine *e)
{
	while (e->spoe) {
		struct spoe_run *r = e->spoe;

		e->spoe = r->next;
		free_run(r);
	}
}
