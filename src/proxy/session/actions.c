/*
 * Actions of the machines on a transition. An action never assigns a state; one that must branch
 * returns the event that follows.
 */
#include "proxy/session/actions.h"

#include "base/counter.h"
#include "base/log.h"
#include "proxy/backend/balance.h"
#include "proxy/model/count.h"
#include "proxy/model/termination.h"
#include "proxy/session/handlers.h"
#include "proxy/session/http_upgrade.h"
#include "proxy/http1/exchange.h"
#include "proxy/http1/response.h"
#include "proxy/relay/direction.h"
#include "proxy/model/http_count.h"
#include "proxy/session/tcp_content_rules.h"
#include "proxy/model/http_txn.h"
#include "proxy/http1/persist.h"
#include "proxy/backend/queue.h"
#include "proxy/sample/route.h"
#include "proxy/log/stream_log.h"
#include "proxy/model/persist_state.h"

/* Undelivered bytes are checked again after 20, 40, 60 ms ..., finally every half second. */
#define LINGER_STEP_MS 20u
#define LINGER_STEP_MAX_MS 500u
#define LINGER_MAX_MS 30000u

/* In microseconds. */
static uint64_t
time_of(uint64_t ms, unsigned int us)
{
	return ms * 1000 + us;
}

/* Reads the times of a session; events of one turn of the loop took no time. */
static void
read_times(const struct stream *s, struct latency_times *out)
{
	const struct http_txn *t = s->txn;
	uint64_t began = t ? time_of(t->head_ms, t->head_us)
			   : time_of(s->sess->accept_ms, s->sess->accept_us);
	uint64_t queued = time_of(s->queued_ms, s->queued_us);
	uint64_t connected = time_of(s->connected_ms, s->connected_us);
	uint64_t now = time_of(stream_now_ms(s), stream_now_us(s));

	*out = (struct latency_times){ 0 };
	latency_set(out, LATENCY_QUEUE, queued - began);
	latency_set(out, LATENCY_CONNECT, connected - queued);
	if (t && http_has_answer(t))
		latency_set(out, LATENCY_RESPONSE, time_of(t->res_ms, t->res_us) - connected);
	latency_set(out, LATENCY_TOTAL, now - began);
}

static void
count_times(const struct stream *s)
{
	struct proxy_stat *be = be_stat(s);
	struct server_stat *srv = srv_stat(s);
	struct latency_times times;
	unsigned int i = s->engine->index;

	read_times(s, &times);
	stat_times_count(&be->times, be->cum_sess, &times);
	stat_times_count(&srv->times, srv->cum_sess, &times);
	latency_count(&s->be->latency[1], i, &times);
	latency_count(&s->srv->latency, i, &times);
	times.has &= 1u << LATENCY_TOTAL;
	latency_count(&s->sess->fe->latency[0], i, &times);
}

void
stream_end_exchange(struct stream *s)
{
	http_count_unanswered(s);
	if (!s->has_left) {
		if (s->connected_ms)
			count_times(s);
		queue_leave(s);
	}
	/* On a persistent connection the requests are logged, once each. */
	if (!s->is_http || !s->logged)
		stream_log(s);
}

/* All transitions to CLOSED use this action. */
enum stream_event
stream_do_close(struct stream *s)
{
	stream_end_exchange(s);
	return STREAM_EV_NONE;
}

enum stream_event
stream_failure_event(struct stream *s, unsigned int status)
{
	if (!s->txn) {
		conn_end(s->conn[CLIENT], s->engine->scratch, s->engine->bufsize);
		return STREAM_EV_CLOSE;
	}
	s->txn->status = status;
	return STREAM_EV_ANSWER;
}

void
stream_reset_sides(struct stream *s)
{
	for (int side = 0; side < SIDES; side++)
		if (conn_is_open(s->conn[side]) && !conn_is_dead(s->conn[side]))
			conn_reset_on_close(s->conn[side]);
}

enum stream_event
stream_do_none(struct stream *s)
{
	(void)s;
	return STREAM_EV_NONE;
}

/* --- choosing a server --- */

static enum stream_event
count_choice(struct stream *s, enum stream_event ev)
{
	if (ev == STREAM_EV_ASSIGNED && !persist_holds(s)) {
		counter_add(&srv_stat(s)->lbtot, 1);
		counter_add(&be_stat(s)->lbtot, 1);
	}
	return ev;
}

static void
count_redispatch(struct stream *s, struct server *from)
{
	s->redispatched = 1;
	counter_add(&srv_shard(s, from)->stat.wredis, 1);
	counter_add(&be_stat(s)->wredis, 1);
}

/* The backend is decided now, possibly none. */
static int
assign_backend(struct stream *s)
{
	s->be = s->txn ? s->txn->be : route_backend(s);
	if (!s->be)
		return -1;
	/* In mode http it is counted before its rules run. */
	if (!s->txn && s->be->mode == PROXY_TCP)
		count_backend(be_stat(s));
	return 0;
}

enum stream_event
stream_do_assign(struct stream *s)
{
	int looked = !s->txn && s->be, moved;
	enum stream_event ev;

	if (!looked && assign_backend(s) < 0)
		return STREAM_EV_NO_SERVER;
	if (!s->txn && s->be->mode == PROXY_HTTP)
		return http_upgrade(s);
	if (!looked && !s->txn && tcp_content_rules_of_backend(s)) {
		queue_join(s);
		return STREAM_EV_INSPECT;
	}
	balance_take_key(s);
	persist_choose(s);
	ev = looked ? queue_choose(s, &moved) : queue_enter(s, &moved);
	if (moved)
		count_redispatch(s, s->bound);
	return count_choice(s, ev);
}

enum stream_event
stream_do_reassign(struct stream *s)
{
	struct server *old = s->srv;
	int moved;
	enum stream_event ev;

	if (!s->redispatch)
		return STREAM_EV_ASSIGNED;
	s->redispatch = 0;
	ev = queue_change(s, &moved);
	if (moved)
		count_redispatch(s, old);
	return count_choice(s, ev);
}

enum stream_event
stream_do_no_server(struct stream *s)
{
	/* If there is one, the session was bound to it, and its queue is full. */
	stream_set_term(s, 'S', s->srv ? 'Q' : 'C');
	if (s->be)
		counter_add(&be_stat(s)->econ, 1);
	return stream_failure_event(s, 503);
}

enum stream_event
stream_do_queue_timeout(struct stream *s)
{
	stream_set_term(s, 's', 'Q');
	counter_add(&be_stat(s)->econ, 1);
	return stream_failure_event(s, 503);
}

enum stream_event
stream_do_queue_abort(struct stream *s)
{
	stream_set_term(s, 'C', 'Q');
	counter_add(&be_stat(s)->cli_abrt, 1);
	return stream_do_close(s);
}

/* --- the end --- */

enum stream_event
stream_do_relay_timeout(struct stream *s)
{
	enum stream_event ev;
	int side;

	if (s->dir[SERVER].ops->late) {
		ev = s->dir[SERVER].ops->late(s);
		if (ev != STREAM_EV_NONE || stream_deadline(s) > stream_now_ms(s))
			return ev;
	}
	side = stream_late_side(s);
	if (http_awaits_head(s, SERVER))
		return response_late(s, side);
	stream_note_late(s, side);
	/* As in HAProxy an idle connection is closed with FINs; undelivered bytes cause a reset. */
	for (int h = 0; h < SIDES; h++) {
		if ((direction_has_pending(&s->dir[h]) || http_is_cut(s, h)) && !s->conn[!h]->err)
			conn_reset_on_close(s->conn[!h]);
		direction_event(s, h, DIRECTION_EV_ABORT);
	}
	return STREAM_EV_CLOSE;
}

/* Time for delivering the rest to the other side: its idle timeout. */
static uint64_t
linger_limit(const struct stream *s, int side)
{
	unsigned int ms = stream_idle_limit(s, side, 1);

	return s->state_ms + (ms && ms < LINGER_MAX_MS ? ms : LINGER_MAX_MS);
}

/* A reset would discard data that the kernel still holds for the other side: waits for its
 * delivery. */
enum stream_event
stream_do_linger(struct stream *s)
{
	unsigned int unsent = 0;

	if (!s->linger_checks)
		counter_add(&s->engine->lingers, 1);
	/* A socket that was reset meanwhile still counts its unsent bytes: also checks its
	 * error. */
	for (int side = 0; side < SIDES; side++)
		if (conn_is_open(s->conn[side]) && !s->conn[side]->err &&
		    stream_now_ms(s) < linger_limit(s, side) &&
		    !(s->linger_checks && conn_take_error(s->conn[side])))
			unsent += conn_unsent(s->conn[side]);
	if (!unsent)
		return STREAM_EV_DELIVERED;
	for (int side = 0; side < SIDES && !s->linger_checks; side++)
		if (conn_is_open(s->conn[side]))
			conn_push(s->conn[side]);
	s->linger_checks++;
	s->wake_ms = stream_now_ms(s) + MIN(LINGER_STEP_MS * s->linger_checks, LINGER_STEP_MAX_MS);
	return STREAM_EV_NONE;
}

enum stream_event
stream_do_close_tcp(struct stream *s)
{
	if (s->dir[CLIENT].broken || s->dir[SERVER].broken) {
		stream_reset_sides(s);
	} else {
		if ((s->sess->fe->options & OPT_NOLINGER) && !s->conn[CLIENT]->err)
			conn_reset_on_close(s->conn[CLIENT]);
		if ((s->be->options & OPT_NOLINGER) && conn_is_open(s->conn[SERVER]) &&
		    !s->conn[SERVER]->err)
			conn_reset_on_close(s->conn[SERVER]);
	}
	return stream_do_close(s);
}

/* The forwarded data must not look complete. */
enum stream_event
stream_do_close_denied(struct stream *s)
{
	if (s->connected_ms)
		stream_reset_sides(s);
	return stream_do_close(s);
}

enum stream_event
stream_do_close_killed(struct stream *s)
{
	stream_set_term(s, 'K',
		s->connected_ms                  ? 'D'
			: !s->waits && s->has_slot ? 'C'
			: s->be                    ? 'Q'
						   : 'R');
	stream_reset_sides(s);
	return stream_do_close(s);
}
