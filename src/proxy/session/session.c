/* Sessions are made by a listener, on its worker, and freed at the end of the turn that closed
 * them. Between: the loop's entry points, events of descriptors, task, deadline. The only file that
 * raises the events that handlers return. */
#include "proxy/session/session.h"

#include <string.h>

#include "event/profile.h"
#include "proxy/model/termination.h"
#include "base/atomic.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/count.h"
#include "proxy/relay/direction.h"
#include "proxy/sample/capture.h"
#include "proxy/model/addr_override.h"
#include "proxy/http1/http_read.h"
#include "proxy/http1/subrequest_xprt.h"
#include "proxy/http2/h2_client.h"
#include "proxy/model/http_txn.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/backend/server_place.h"
#include "proxy/model/memory.h"
#include "proxy/model/stream_extras.h"
#include "proxy/session/session_admit.h"
#include "base/log.h"
#include "proxy/http1/exchange.h"
#include "proxy/log/stream_log.h"
#include "proxy/model/byte_count.h"
#include "proxy/relay/speculation.h"
#include "proxy/session/connect.h"
#include "proxy/session/handlers.h"
#include "proxy/session/stream_post.h"

/* --- entry points of the loop --- */

static void session_raise(struct session *sess, enum session_event ev);
static void stream_settle(struct stream *s);
static void session_on_end(struct task *t);
static void substream_on_end(struct task *t);

/* Raises the event that a handler returned; NONE: does nothing. stream_settle() follows. */
static void
stream_raise(struct stream *s, enum stream_event ev)
{
	stream_event(s, ev);
	/* The backend is known now: some log lines need no more. */
	if (ev == STREAM_EV_ACCEPTED || ev == STREAM_EV_PASSED)
		stream_log_early(s);
	/* Bytes of HTTP/2 that were read as a request are the session's. */
	if (unlikely(s->state == STREAM_NEW) && s->sess->state == SESSION_SERVING)
		session_raise(s->sess, SESSION_EV_MULTIPLEX);
}

/* The first event of a stream whose session is served, which depends on the mode. */
static enum stream_event
stream_first_event(struct stream *s)
{
	stream_log_step(s, LOG_STEP_ACCEPT);
	if (s->is_http)
		return STREAM_EV_AWAIT_REQUEST;
	captures_begin(s);
	if (tcp_content_rules_of_frontend(s->sess->fe))
		return STREAM_EV_INSPECT;
	return STREAM_EV_ACCEPTED;
}

/* Raises an event of a session that is not served yet, and begins or ends its stream as it
 * requires. */
static void
session_raise(struct session *sess, enum session_event ev)
{
	struct stream *s = &sess->stream;

	session_event(sess, ev);
	if (s->state != STREAM_NEW)
		return;
	if (sess->state == SESSION_SERVING)
		stream_raise(s, stream_first_event(s));
	else if (sess->state == SESSION_CLOSED)
		stream_event(s, STREAM_EV_CLOSE);
}

/* Ends a stream as KILL does, with its session if that is not served yet. */
static void
stream_end(struct stream *s)
{
	if (s->state == STREAM_NEW) {
		session_event(s->sess, SESSION_EV_KILL);
		/* The streams that it carries end first. */
		if (s->sess->state != SESSION_CLOSED)
			return;
	}
	stream_event(s, STREAM_EV_KILL);
}

/* The calls that follow are for its frontend: where no event of a descriptor has chosen. */
static inline void
charge_frontend(const struct stream *s)
{
	sys_charge(s->engine->sys, s->sess->fe->account);
}

/* A descriptor keeps waking without progress. */
static void
end_spinning(struct stream *s, int side)
{
	log_msg(s->engine->log, LOG_LEVEL_ALERT,
		"session %llu: %s side in state %s made no progress, ended",
		(unsigned long long)s->id, side == CLIENT ? "client" : "server",
		history_state_name(stream_shown_state(s)));
	s->term[0] = 'I';
	stream_end(s);
}

/* Its client is not served yet. */
static void
session_io(struct session *sess, uint32_t ev)
{
	const struct session_state_row *row = &session_states[sess->state];

	if (row->io)
		session_raise(sess, row->io(sess, ev));
}

static void
session_continue(struct session *sess)
{
	const struct session_state_row *row = &session_states[sess->state];

	if (row->task)
		session_raise(sess, row->task(sess));
}

static void
on_side_io(struct stream *s, int side, uint32_t ev)
{
	enum stream_event next = STREAM_EV_NONE;

	/* Ended earlier in this turn: data that arrives now is not counted. */
	if (s->state == STREAM_CLOSED)
		return;
	if (ev & EV_ERR)
		ev = direction_take_zc_completions(s, side, ev);
	if (ev & EV_SPIN)
		end_spinning(s, side);
	else if (unlikely(s->state == STREAM_NEW))
		session_io(s->sess, ev);
	else if (stream_states[s->state].io)
		next = stream_states[s->state].io(s, side, ev);
	stream_raise(s, next);
	/* A server that is connected may have responded already. */
	if (next == STREAM_EV_UP && s->state == STREAM_RELAY && (ev & EV_R))
		stream_raise(s, direction_pump(s, SERVER));
	stream_settle(s);
}

static void
on_client_io(void *owner, int fd, uint32_t ev)
{
	if (unlikely(fd < 0))
		charge_frontend(owner);
	on_side_io(owner, CLIENT, ev);
}
PROFILE_NAME(on_client_io, client_io)

static void
on_server_io(void *owner, int fd, uint32_t ev)
{
	if (unlikely(fd < 0))
		charge_frontend(owner);
	on_side_io(owner, SERVER, ev);
}
PROFILE_NAME(on_server_io, server_io)

static int
has_sent_request(const struct stream *s)
{
	if (s->state != STREAM_RELAY)
		return 0;
	return s->txn ? exchange_has_request(s->txn) : !direction_has_pending(&s->dir[CLIENT]);
}

/* Handlers of its task and its timer. */
static void
stream_on_task(struct task *t)
{
	struct stream *s = container_of(t, struct stream, task);
	enum stream_event ev = s->posted;

	charge_frontend(s);
	s->posted = STREAM_EV_NONE;
	if (unlikely(s->state == STREAM_NEW))
		session_continue(s->sess);
	else if (ev == STREAM_EV_NONE && stream_states[s->state].task)
		ev = stream_states[s->state].task(s);
	stream_raise(s, ev);
	if (ev == STREAM_EV_UP && has_sent_request(s))
		speculation_expect_answer(s);
	stream_settle(s);
}
PROFILE_NAME(stream_on_task, session_task)

static void
stream_on_timer(struct timer *t)
{
	struct stream *s = container_of(t, struct stream, timer);

	charge_frontend(s);
	if (unlikely(s->state == STREAM_NEW))
		session_raise(s->sess, session_states[s->sess->state].late);
	else
		stream_raise(s, stream_states[s->state].late);
	stream_settle(s);
	sys_charge_none(s->engine->sys);
}
PROFILE_NAME(stream_on_timer, session_timer)

/* A direction gets its turn. */
static void
on_bulk_turn(struct stream *s, int side)
{
	if (s->state != STREAM_RELAY)
		return;
	charge_frontend(s);
	stream_raise(s, direction_pump_now(s, side));
	stream_settle(s);
}

static void
on_slot(struct stream *s)
{
	stream_post(s, STREAM_EV_SLOT);
}

/* Its rules continue. */
static void
on_resolved(struct stream *s)
{
	if (s->state == STREAM_READ || s->state == STREAM_INSPECT || s->state == STREAM_RELAY)
		stream_post(s, STREAM_EV_NONE);
}

/* The head of its response, or the next slice of it, is there. */
static void
on_service(struct stream *s)
{
	if (s->state == STREAM_REPLY)
		stream_post(s, STREAM_EV_NONE);
}

/* Sets the interest of one side, EV_R | EV_W. */
static inline void
stream_want(struct stream *s, int side, unsigned int dirs)
{
	if (conn_is_open(s->conn[side]))
		conn_want(s->conn[side], dirs);
}

static enum stream_event
outcome_of(const struct stream *s)
{
	const struct stream_state_row *row = &stream_states[s->state];

	return row->outcome ? row->outcome(s) : STREAM_EV_NONE;
}

/* Derives interest and deadline after any change, or schedules the session to be freed. */
static void
stream_settle(struct stream *s)
{
	struct loop *l = s->engine->loop;
	enum stream_event ev = outcome_of(s);
	struct derived d;

	/* A reply may be sent as soon as it is made. */
	while (ev != STREAM_EV_NONE) {
		stream_event(s, ev);
		ev = outcome_of(s);
	}
	stream_count_bytes(s);
	if (s->state == STREAM_CLOSED) {
		timer_stop(loop_timers(l), &s->timer);
		if (likely(!s->is_carried)) {
			session_event(s->sess, SESSION_EV_ENDED);
			s->task.fn = session_on_end;
		} else {
			s->task.fn = substream_on_end;
		}
		loop_post_end(l, &s->task);
		return;
	}
	d = stream_derive(s);
	stream_want(s, CLIENT, d.wants[CLIENT]);
	stream_want(s, SERVER, d.wants[SERVER]);
	conn_low_water(s->conn[CLIENT], d.low_water);
	if (timer_set(loop_timers(l), &s->timer, d.deadline) < 0) {
		/* A session without its deadline might never end. */
		s->term[0] = 'R';
		stream_end(s);
		stream_settle(s);
	}
}

/* --- life of sessions --- */

/* Frees what few sessions have. */
static one_copy void
free_rare(struct session *sess)
{
	stream_extras_free(&sess->stream);
	session_tracked_end(sess);
	addr_override_free(&sess->stream);
}

static void
session_free(struct session *sess)
{
	struct engine *e = sess->stream.engine;

	if (unlikely(sess->stream.extras || sess->tracked || sess->endpoints))
		free_rare(sess);
	vars_fini(&sess->vars);
	pool_put(&e->pools.session, sess);
}

/* Gives up all that a stream has, but for its memory, and closes its two connections. */
static void
stream_fini(struct stream *s)
{
	struct engine *e = s->engine;

	direction_fini(e, &s->dir[CLIENT]);
	direction_fini(e, &s->dir[SERVER]);
	zerocopy_close(&e->zerocopy, s->conn[CLIENT]);
	zerocopy_close(&e->zerocopy, s->conn[SERVER]);
	conn_close_late(s->conn[CLIENT]);
	server_conn_close_late(e, s->srv, s->conn[SERVER]);
	http_txn_put(s);
	if (unlikely(s->extras != NULL))
		stream_extras_free(s);
	captures_end(s);
	cursors_leave(&e->walks, &s->link);
	list_remove(&s->link);
}

/* Frees a session in CLOSED, as its last task. */
static void
session_on_end(struct task *t)
{
	struct stream *s = container_of(t, struct stream, task);
	struct session *sess = s->sess;
	struct engine *e = s->engine;
	struct listener *ln = sess->listener;
	struct proxy *fe = sess->fe;

	if (unlikely(sess->is_multiplexed))
		h2_client_free(sess);
	else
		conn_pool_release(e, &sess->held);
	stream_fini(s);
	session_free(sess);

	atomic_write(&e->n_sessions, e->n_sessions - 1);
	memory_watch(e);
	counter_sub(&ln->stat.cur, 1);
	conn_limits_left_frontend(e, fe);
	listener_release(ln);
	conn_limits_left_process(e);
}
PROFILE_NAME(session_on_end, session_end)

/* Frees the session of a subrequest. */
static void
inner_session_end(struct session *sess)
{
	struct engine *e = sess->stream.engine;

	stream_fini(&sess->stream);
	session_free(sess);
	atomic_write(&e->n_sessions, e->n_sessions - 1);
	memory_watch(e);
	if (e->hooks.on_release)
		e->hooks.on_release(e);
}

/* The last task of a stream that is not a part of its session, or whose session has no client. */
static void
substream_on_end(struct task *t)
{
	struct stream *s = container_of(t, struct stream, task);
	struct engine *e = s->engine;

	if (unlikely(s == &s->sess->stream)) {
		inner_session_end(s->sess);
		return;
	}
	stream_fini(s);
	pool_put(&e->pools.substream, container_of(s, struct substream, stream));
	memory_watch(e);
}
PROFILE_NAME(substream_on_end, stream_end)

static void
store_peer(struct session *sess, const struct addr *peer)
{
	sess->peer.len = peer->len;
	if (addr_family(peer) == AF_UNIX)
		sess->peer.len =
			MIN(peer->len, (socklen_t)offsetof(struct sockaddr_un, sun_path));
	memcpy(&sess->peer.u, &peer->u, sess->peer.len);
}

/* Initializes a stream that is all zero; client: its client's connection. */
static void
stream_init(struct stream *s, struct session *sess, struct conn *client, struct engine *e)
{
	stream_join(s, sess, client);
	s->engine = e;
	s->is_http = sess->fe->mode == PROXY_HTTP;
	conn_init_zeroed(&s->server);
	direction_init(&s->dir[CLIENT]);
	direction_init(&s->dir[SERVER]);
	timer_init(&s->timer, stream_on_timer);
	task_init(&s->task, stream_on_task);
	list_init(&s->queue_link);
	s->term[0] = s->term[1] = '-';
	s->id = engine_next_id(e);
	s->state_ms = s->last_ms[CLIENT] = loop_now_ms(e->loop);
}

/* engine.hooks.new_substream and engine.hooks.begin_substream. */
static struct stream *
substream_new(struct session *sess)
{
	struct engine *e = sess->stream.engine;
	struct substream *sub =
		memory_reserve(e, &e->pools.substream) ? pool_get(&e->pools.substream) : NULL;

	if (!sub)
		return NULL;
	memset(sub, 0, sizeof(*sub));
	conn_init(&sub->client);
	stream_init(&sub->stream, sess, &sub->client, e);
	/* Entries that the session tracks count its streams. */
	if (unlikely(sess->tracked != NULL) && !stream_extras_get(&sub->stream)) {
		pool_put(&e->pools.substream, sub);
		return NULL;
	}
	sub->stream.is_carried = 1;
	list_append(&e->streams, &sub->stream.link);
	memory_watch(e);
	return &sub->stream;
}

static void
substream_begin(struct stream *s, enum stream_event ev)
{
	stream_raise(s, ev);
	stream_settle(s);
}

static inline struct session *
session_new(struct engine *e, struct listener *ln, struct proxy *fe, const struct addr *peer)
{
	struct session *sess = pool_get(&e->pools.session);

	if (!sess)
		return NULL;
	mem_clear(sess, offsetof(struct session, peer));
	store_peer(sess, peer);
	sess->listener = ln;
	sess->fe = fe;
	conn_init_zeroed(&sess->conn);
	vars_init(&sess->vars);
	sess->accept_ms = loop_now_ms(e->loop);
	sess->accept_us = US_BITS(loop_now_us(e->loop));
	sess->accept_wall_ns = loop_wall_ns(e->loop);
	stream_init(&sess->stream, sess, &sess->conn, e);
	return sess;
}

void
session_on_accept(struct listener *ln, int fd, const struct addr *peer)
{
	struct engine *e = ln->worker;
	struct session *sess = session_new(e, ln, ln->owner, peer);
	struct stream *s = sess ? &sess->stream : NULL;
	int expects;

	if (!s || session_admit(s, fd, &expects) < 0) {
		if (s)
			session_free(sess);
		(void)sys_close(e->sys, fd);
		listener_release(ln);
		conn_limits_no_session(ln);
		conn_limits_give_back(ln);
		return;
	}
	stream_want(s, CLIENT, EV_R);
	session_raise(
		sess, expects ? SESSION_EV_AWAIT_PROXY_HEADER : session_first_event(sess));
	/* One that connects has its task in this turn: what it waits for is known then. */
	if (s->state != STREAM_CONNECT || list_is_empty(&s->task.link))
		stream_settle(s);
}

/* --- subrequests: sessions whose client is the transport of http1/subrequest_xprt.c --- */

/* A session without a client: its frontend is the backend that it is for. NULL without memory. */
static struct session *
new_inner_session(struct engine *e, struct listener *ln, struct proxy *be, const struct addr *peer)
{
	struct session *sess = memory_reserve(e, &e->pools.session)
		? session_new(e, ln, be, peer) : NULL;

	if (!sess)
		return NULL;
	sess->begun_ms = sess->accept_ms;
	sess->stream.is_carried = 1;
	list_append(&e->streams, &sess->stream.link);
	atomic_write(&e->n_sessions, e->n_sessions + 1);
	memory_watch(e);
	return sess;
}

/* The listener of all subrequests of a worker, which has no socket. */
struct inner {
	struct listener listener; /* first: it is what engine.c frees */
	struct bind_conf bind;
};

static struct listener *
inner_listener(struct engine *e)
{
	struct inner *in;

	if (e->inner)
		return e->inner;
	in = mem_zalloc(sizeof(*in));
	if (!in)
		return NULL;
	listener_init(&in->listener, &in->bind);
	e->inner = &in->listener;
	return e->inner;
}

/* A session for a request of the stream to this backend: NULL without memory. */
static struct session *
session_of_subrequest(struct stream *s, struct proxy *be)
{
	struct engine *e = s->engine;
	struct listener *ln = inner_listener(e);
	struct addr peer;

	addr_override_copy_source(s, &peer);
	return ln ? new_inner_session(e, ln, be, &peer) : NULL;
}

/* Gives the session its request: 0, or a negative reason. */
static int
give_request(struct session *sess, struct proxy *be, const struct http_head *req)
{
	int r = http_read_given(&sess->stream, req);

	if (r == 0)
		sess->stream.txn->be = be;
	return r;
}

/* Ends a session that has no request. */
static void
drop_session(struct session *sess)
{
	struct stream *s = &sess->stream;

	s->own_line = STREAM_LINE_NONE;
	session_raise(sess, SESSION_EV_KILL);
	stream_settle(s);
}

/* engine.hooks.begin_subrequest: its session runs later in the same turn. */
static int
subrequest_begin(struct stream *s, const struct rule *by, struct proxy *be,
	const struct http_head *req)
{
	struct session *sess = stream_extras_get(s) ? session_of_subrequest(s, be) : NULL;
	struct subrequest *q;
	int r;

	if (!sess)
		return -ERR_NOMEM;
	q = subrequest_open(&sess->stream, &s->sess->conn, by, req->method);
	r = q ? give_request(sess, be, req) : -ERR_NOMEM;
	if (r < 0) {
		drop_session(sess);
		return r;
	}
	if (s->extras->subrequest)
		subrequest_drop(s);
	q->parent = s;
	s->extras->subrequest = q;
	session_raise(sess, SESSION_EV_ADMITTED);
	stream_settle(&sess->stream);
	return 0;
}

/* --- all sessions --- */

void
session_listen(struct listener *ln, struct proxy *fe, struct engine *e)
{
	ln->on_accept = session_on_accept;
	conn_limits_listener(ln, fe, e);
}

void
stream_kill(struct stream *s, char cause)
{
	if (s->state == STREAM_CLOSED)
		return;
	stream_set_term(s, cause, '-');
	stream_end(s);
	stream_settle(s);
}

void
engine_soft_stop(struct engine *e)
{
	e->stop_ms = MAX(loop_now_ms(e->loop), 1);
	list_each_safe(it, &e->streams) {
		struct stream *s = list_entry(it, struct stream, link);

		if (s->state == STREAM_READ || s->sess->state == SESSION_MULTIPLEX)
			stream_settle(s);
	}
}

void
engine_kill_all(struct engine *e)
{
	list_each_safe(it, &e->streams)
		stream_kill(list_entry(it, struct stream, link), 'K');
}

/* --- callbacks of the engine --- */

void
session_hooks(struct engine *e)
{
	e->hooks.on_client_io = on_client_io;
	e->hooks.on_server_io = on_server_io;
	e->hooks.on_resolved = on_resolved;
	e->hooks.on_service = on_service;
	e->hooks.on_slot = on_slot;
	e->hooks.on_place = connect_places_serve;
	e->hooks.on_bulk_turn = on_bulk_turn;
	e->hooks.new_substream = substream_new;
	e->hooks.begin_substream = substream_begin;
	e->hooks.begin_subrequest = subrequest_begin;
	e->hooks.drop_subrequest = subrequest_drop;
}
