/* Sessions: made by a listener, and freed at the end of the turn that closed them. */
#include "proxy/model/session.h"

#include <string.h>

#include "base/atomic.h"
#include "proxy/model/count.h"
#include "proxy/session/derive.h"
#include "proxy/relay/direction.h"
#include "proxy/session/tcp_content_rules.h"
#include "base/counter.h"
#include "proxy/session/conn_limits.h"
#include "proxy/sample/capture.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/http_txn.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/model/memory.h"
#include "proxy/log/session_log.h"
#include "proxy/session/tcp_conn_rules.h"
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
	captures_end(s);
	conn_pool_release(e, &s->held);
	list_remove(&s->link);
	session_free(s);

	atomic_write(&e->n_sessions, e->n_sessions - 1);
	memory_watch(e);
	ln->stat.cur--;
	conn_limits_left_frontend(e, fe);
	listener_release(ln);
	conn_limits_left_process(e);
}

/* Connections of this second, of all workers together. */
struct second {
	uint32_t of_process, of_frontend;
};

static uint32_t
count_rate(struct freq *conns, uint64_t *second, uint64_t now_ms)
{
	uint32_t n = freq_count_second(second, now_ms);

	freq_add(conns, now_ms, 1);
	freq_raise(conns, n);
	return n;
}

static struct second
count_connection(const struct session *s)
{
	struct engine *e = s->engine;
	struct proxy_stat *st = fe_stat(s);
	struct second n;

	counter_add(&e->cum_conns, 1);
	n.of_process = count_rate(&e->conn_rate, &e->shared->second, s->accept_ms);
	counter_add(&st->cum_conn, 1);
	n.of_frontend = count_rate(&st->conn_rate, &s->fe->fe_second, s->accept_ms);
	s->listener->stat.cum_conn++;
	return n;
}

/* Where nothing stands between them there are as many sessions as connections; where rules or a
 * header do, the highest rate is that of one worker. */
static void
count_session_rates(const struct session *s, struct second n)
{
	struct engine *e = s->engine;
	struct proxy_stat *st = fe_stat(s);
	uint64_t now = s->begun_ms;

	freq_add(&e->sess_rate, now, 1);
	freq_add(&st->sess_rate, now, 1);
	if (tcp_conn_rules_exist(s->fe) || s->has_header) {
		n.of_process = freq_read(&e->sess_rate, now);
		n.of_frontend = freq_read(&st->sess_rate, now);
	}
	freq_raise(&e->sess_rate, n.of_process);
	freq_raise(&st->sess_rate, n.of_frontend);
}

/* It is one of those at work. */
static void
enter(struct session *s)
{
	struct engine *e = s->engine;
	struct proxy *fe = s->fe;
	struct listener *ln = s->listener;
	struct proxy_stat *st = fe_stat(s);

	list_append(&e->sessions, &s->link);
	ln->stat.cur++;
	ln->stat.cur_max = MAX(ln->stat.cur_max, ln->stat.cur);
	atomic_write(&e->n_sessions, e->n_sessions + 1);
	counter_max(&st->cur_max, atomic_read(&fe->fe_gate.n));
	conn_limits_entered(e, fe);
	memory_watch(e);
}

/* And its client may stay: sessions are those, as in HAProxy. */
static void
count_session(struct session *s, struct second n)
{
	s->begun_ms = loop_now_ms(s->engine->loop);
	counter_add(&s->engine->cum_sess, 1);
	counter_add(&fe_stat(s)->cum_sess, 1);
	count_session_rates(s, n);
	s->listener->stat.cum_sess++;
}

static struct session *
session_new(struct engine *e, struct listener *ln, const struct addr *peer)
{
	struct session *s = pool_get(&e->session_pool);

	if (!s)
		return NULL;
	memset(s, 0, offsetof(struct session, peer));
	memcpy(&s->peer, peer, offsetof(struct addr, u) + peer->len);
	s->engine = e;
	s->listener = ln;
	s->fe = ln->owner;
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
	s->accept_wall_ns = loop_wall_ns(e->loop);
	return s;
}

static int
open_client(struct session *s, int fd)
{
	const struct listener *ln = s->listener;

	return conn_open(&s->conn[CLIENT], s->engine->loop, fd, session_on_io, s,
		addr_family(&ln->addr) == AF_UNIX ? CONN_UNIX
			: ln->nodelay             ? CONN_TCP_NODELAY
						  : CONN_TCP);
}

/* The client is one of ours: 0, or -1, and fd is the caller's. It is counted as far as it came.
 * *expects: it has to bring a header, and what rules of sessions say has time until then. */
static int
admit(struct session *s, int fd, int *expects)
{
	struct second n = count_connection(s);

	*expects = s->listener->bind->accept_proxy;
	/* What may be asked of it needs the descriptor. */
	s->conn[CLIENT].fd = fd;
	if (!tcp_conn_rules_allow_connection(s, expects) ||
		(!*expects && !tcp_conn_rules_allow_session(s)) ||
		(*expects && addr_override_reserve(s) < 0) || open_client(s, fd) < 0)
		return -1;
	enter(s);
	if (!*expects)
		count_session(s, n);
	return 0;
}

/* What its mode wants of a client that may stay. */
static void
start(struct session *s)
{
	if (s->fe->mode == PROXY_HTTP) {
		session_event(s, SESSION_EV_AWAIT_REQUEST);
	} else if (tcp_content_rules_of_frontend(s->fe)) {
		session_event(s, SESSION_EV_INSPECT);
	} else {
		captures_begin(s);
		session_event(s, SESSION_EV_ACCEPTED);
		session_log_early(s);
	}
}

void
session_begin(struct session *s)
{
	struct second none = { 0 };

	s->has_header = 1;
	/* It is as one that was just accepted, whatever time the header has taken. */
	s->last_ms[CLIENT] = loop_now_ms(s->engine->loop);
	if (!tcp_conn_rules_allow_session(s)) {
		/* Such are not logged (manual, tcp-request session). */
		s->logged = 1;
		session_event(s, SESSION_EV_DENIED);
		return;
	}
	count_session(s, none);
	start(s);
}

void
session_on_accept(struct listener *ln, int fd, const struct addr *peer)
{
	struct engine *e = ln->worker;
	struct session *s = session_new(e, ln, peer);
	int expects;

	if (!s || admit(s, fd, &expects) < 0) {
		if (s)
			session_free(s);
		(void)sys_close(e->sys, fd);
		listener_release(ln);
		conn_limits_give_back(ln);
		return;
	}
	session_want(s, CLIENT, session_wants(s, CLIENT));
	if (expects)
		session_event(s, SESSION_EV_AWAIT_PROXY_HEADER);
	else
		start(s);
	session_settle(s);
}

int
session_open_server(struct session *s, int fd, enum conn_kind kind)
{
	struct engine *e = s->engine;
	int r = conn_open(&s->conn[SERVER], e->loop, fd, session_on_io, s, kind);

	if (r < 0)
		return r;
	session_want(s, SERVER, session_wants(s, SERVER));
	/* Nothing can have been sent to a socket this young. */
	loop_presume_again(e->loop, fd, DIR_R);
	if (!server_is_near(srv_shard(s, s->srv)))
		loop_presume_again(e->loop, fd, DIR_W);
	session_post(s, SESSION_EV_NONE);
	return 0;
}

int
session_reuse_server(struct session *s)
{
	struct engine *e = s->engine;
	struct conn *c = &s->conn[SERVER];

	if (s->held && conn_pool_server(s->held) == s->srv) {
		s->is_private = s->held_private;
		return conn_pool_take_held(e, &s->held, session_on_io, s, c, &s->uses);
	}
	return conn_pool_get(e, s->srv, s->requests == 1, session_on_io, s, c, &s->uses);
}

void
session_kill(struct session *s)
{
	if (s->state == SESSION_CLOSED)
		return;
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
		session_kill(list_entry(it, struct session, link));
}
