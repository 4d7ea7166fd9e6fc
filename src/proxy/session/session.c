/* Sessions are made by a listener, on its worker, and freed at the end of the turn that closed
 * them. */
#include "proxy/session/session.h"
#include "event/profile.h"
#include "proxy/model/termination.h"

#include <string.h>

#include "base/atomic.h"
#include "base/counter.h"
#include "proxy/model/count.h"
#include "proxy/relay/direction.h"
#include "proxy/session/conn_limits.h"
#include "proxy/sample/capture.h"
#include "proxy/model/addr_override.h"
#include "proxy/http2/h2_client.h"
#include "proxy/model/http_txn.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/model/memory.h"
#include "proxy/model/stream_extras.h"
#include "proxy/session/session_admit.h"
#include "proxy/session/stream_io.h"

static void
session_free(struct session *sess)
{
	struct engine *e = sess->stream.engine;

	stream_extras_free(&sess->stream);
	session_tracked_end(sess);
	addr_override_free(&sess->stream);
	vars_fini(&sess->vars);
	pool_put(&e->session_pool, sess);
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
	conn_close_late(s->conn[SERVER]);
	http_txn_put(s);
	stream_extras_free(s);
	captures_end(s);
	cursors_leave(&e->walks, &s->link);
	list_remove(&s->link);
}

void
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

/* The last task of a stream that is not a part of its session. */
void
substream_on_end(struct task *t)
{
	struct stream *s = container_of(t, struct stream, task);
	struct engine *e = s->engine;

	stream_fini(s);
	pool_put(&e->substream_pool, container_of(s, struct substream, stream));
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
	conn_init(&s->server);
	direction_init(&s->dir[CLIENT]);
	direction_init(&s->dir[SERVER]);
	timer_init(&s->timer, stream_on_timer);
	task_init(&s->task, stream_on_task);
	list_init(&s->queue_link);
	s->term[0] = s->term[1] = '-';
	s->id = engine_next_id(e);
	s->state_ms = s->last_ms[CLIENT] = loop_now_ms(e->loop);
}

struct stream *
substream_new(struct session *sess)
{
	struct engine *e = sess->stream.engine;
	struct substream *sub =
		memory_reserve(e, &e->substream_pool) ? pool_get(&e->substream_pool) : NULL;

	if (!sub)
		return NULL;
	memset(sub, 0, sizeof(*sub));
	conn_init(&sub->client);
	stream_init(&sub->stream, sess, &sub->client, e);
	sub->stream.is_carried = 1;
	list_append(&e->streams, &sub->stream.link);
	memory_watch(e);
	return &sub->stream;
}

void
substream_begin(struct stream *s, enum stream_event ev)
{
	stream_raise(s, ev);
	stream_settle(s);
}

static struct session *
session_new(struct engine *e, struct listener *ln, const struct addr *peer)
{
	struct session *sess = pool_get(&e->session_pool);

	if (!sess)
		return NULL;
	memset(sess, 0, offsetof(struct session, peer));
	store_peer(sess, peer);
	sess->listener = ln;
	sess->fe = ln->owner;
	conn_init(&sess->conn);
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
	struct session *sess = session_new(e, ln, peer);
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
	stream_settle(s);
}

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
