/* Sessions are made by a listener, on its worker, and freed at the end of the turn that closed
 * them. */
#include "proxy/session/session.h"
#include "event/profile.h"
#include "proxy/model/termination.h"

#include <string.h>

#include "base/atomic.h"
#include "base/counter.h"
#include "proxy/model/count.h"
#include "proxy/model/dns_ask.h"
#include "proxy/relay/direction.h"
#include "proxy/session/conn_limits.h"
#include "proxy/sample/capture.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/http_txn.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/model/memory.h"
#include "proxy/session/session_admit.h"
#include "proxy/session/session_io.h"

static void
session_free(struct session *s)
{
	addr_override_free(s);
	vars_fini(&s->vars);
	pool_put(&s->engine->session_pool, s);
}

void
session_on_end(struct task *t)
{
	struct session *s = container_of(t, struct session, task);
	struct engine *e = s->engine;
	struct listener *ln = s->listener;
	struct proxy *fe = s->fe;

	direction_fini(e, &s->dir[CLIENT]);
	direction_fini(e, &s->dir[SERVER]);
	zerocopy_close(&e->zerocopy, &s->conn[CLIENT]);
	zerocopy_close(&e->zerocopy, &s->conn[SERVER]);
	conn_close_late(&s->conn[CLIENT]);
	conn_close_late(&s->conn[SERVER]);
	http_txn_put(s);
	dns_ask_drop_all(s);
	captures_end(s);
	conn_pool_release(e, &s->held);
	cursors_leave(&e->walks, &s->link);
	list_remove(&s->link);
	session_free(s);

	atomic_write(&e->n_sessions, e->n_sessions - 1);
	memory_watch(e);
	counter_sub(&ln->stat.cur, 1);
	conn_limits_left_frontend(e, fe);
	listener_release(ln);
	conn_limits_left_process(e);
}
PROFILE_NAME(session_on_end, session_end)

static void
store_peer(struct session *s, const struct addr *peer)
{
	s->peer.len = peer->len;
	if (addr_family(peer) == AF_UNIX)
		s->peer.len = MIN(peer->len, (socklen_t)offsetof(struct sockaddr_un, sun_path));
	memcpy(&s->peer.u, &peer->u, s->peer.len);
}

static struct session *
session_new(struct engine *e, struct listener *ln, const struct addr *peer)
{
	struct session *s = pool_get(&e->session_pool);

	if (!s)
		return NULL;
	memset(s, 0, offsetof(struct session, peer));
	store_peer(s, peer);
	s->engine = e;
	s->listener = ln;
	s->fe = ln->owner;
	s->is_http = s->fe->mode == PROXY_HTTP;
	conn_init(&s->conn[CLIENT]);
	conn_init(&s->conn[SERVER]);
	direction_init(&s->dir[CLIENT]);
	direction_init(&s->dir[SERVER]);
	timer_init(&s->timer, session_on_timer);
	task_init(&s->task, session_on_task);
	list_init(&s->queue_link);
	vars_init(&s->vars);
	s->term[0] = s->term[1] = '-';
	s->id = engine_next_id(e);
	s->accept_ms = s->state_ms = s->last_ms[CLIENT] = loop_now_ms(e->loop);
	s->accept_us = US_BITS(loop_now_us(e->loop));
	s->accept_wall_ns = loop_wall_ns(e->loop);
	return s;
}

void
session_on_accept(struct listener *ln, int fd, const struct addr *peer)
{
	struct engine *e = ln->worker;
	struct session *s = session_new(e, ln, peer);
	int expects;

	if (!s || session_admit(s, fd, &expects) < 0) {
		if (s)
			session_free(s);
		(void)sys_close(e->sys, fd);
		listener_release(ln);
		conn_limits_no_session(ln);
		conn_limits_give_back(ln);
		return;
	}
	session_want(s, CLIENT, EV_R);
	session_raise(s, expects ? SESSION_EV_AWAIT_PROXY_HEADER : session_first_event(s));
	session_settle(s);
}

void
session_listen(struct listener *ln, struct proxy *fe, struct engine *e)
{
	ln->on_accept = session_on_accept;
	conn_limits_listener(ln, fe, e);
}

void
session_kill(struct session *s, char cause)
{
	if (s->state == SESSION_CLOSED)
		return;
	session_set_term(s, cause, '-');
	session_event(s, SESSION_EV_KILL);
	session_settle(s);
}

void
engine_soft_stop(struct engine *e)
{
	e->stop_ms = MAX(loop_now_ms(e->loop), 1);
	list_each_safe(it, &e->sessions) {
		struct session *s = list_entry(it, struct session, link);

		if (s->state == SESSION_READ)
			session_settle(s);
	}
}

void
engine_kill_all(struct engine *e)
{
	list_each_safe(it, &e->sessions)
		session_kill(list_entry(it, struct session, link), 'K');
}
