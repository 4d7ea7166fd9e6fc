/*
 * Actions of the machines on a transition. An action never assigns a state; one that must branch
 * returns the event that follows.
 */
#include "proxy/session/actions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "proxy/sample/eval.h"
#include "base/err.h"
#include "base/counter.h"
#include "base/log.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/queue.h"
#include "proxy/backend/server_place.h"
#include "proxy/http1/exchange.h"
#include "proxy/http1/persist.h"
#include "proxy/http1/response.h"
#include "proxy/log/stream_log.h"
#include "proxy/model/count.h"
#include "proxy/model/fsm.h"
#include "proxy/model/http_count.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/persist_state.h"
#include "proxy/model/stream_extras.h"
#include "proxy/model/termination.h"
#include "proxy/relay/direction.h"
#include "proxy/relay/filter.h"
#include "proxy/sample/capture.h"
#include "proxy/sample/route.h"
#include "proxy/session/connect.h"
#include "proxy/session/handlers.h"
#include "proxy/session/tcp_content_rules.h"
#include "net/conn_err.h"
#include "net/outbound.h"
#include "net/xprt.h"
#include "proxy/backend/server_observe.h"
#include "proxy/http2/h2_server.h"
#include "proxy/http1/filtered.h"
#include "proxy/http1/http_out.h"
#include "proxy/http1/server_redirect.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/http1/stick.h"

/* --- upgrade of mode tcp to mode http: the bytes of the client stay --- */

/* Data to be forwarded becomes data to be parsed, with room in front for what rules add. */
static void
hold_pending(struct engine *e, struct direction *d)
{
	uint32_t n = d->tail - d->head;
	uint32_t at = MIN(e->limits.maxrewrite, e->bufsize - n);

	if (!d->buf)
		return;
	memmove(d->buf + at, d->buf + d->head, n);
	d->head = d->tail = at;
	d->lookahead = n;
}

/*
 * s->be is the http backend. The data that the client has sent is parsed as a request from its
 * first byte on and goes to this backend; for later requests of the connection the frontend selects
 * a backend again. AWAIT_REQUEST; or NO_SERVER without memory.
 */
static enum stream_event
http_upgrade(struct stream *s)
{
	struct direction *d = &s->dir[CLIENT];
	struct stream_extras *extras = stream_extras_get(s);
	struct proxy *be = s->be;

	/* No backend has counted the session so far. */
	s->be = NULL;
	if (!extras)
		return STREAM_EV_NO_SERVER;
	s->is_http = 1;
	extras->upgraded_to = be;
	captures_end(s);
	counter_add(&fe_stat(s)->h1.in, d->bytes);
	hold_pending(s->engine, d);
	/* READ waits for a buffer by itself. */
	d->left_in_kernel = 0;
	/* A client that has sent FIN may have sent a complete request. */
	if (d->state == DIRECTION_DRAIN)
		direction_event(s, CLIENT, DIRECTION_EV_RESET);
	return STREAM_EV_AWAIT_REQUEST;
}

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
stream_end_exchange(struct stream *s, int logs)
{
	connect_over(s, STREAM_EV_ASSIGNED);
	http_count_unanswered(s);
	if (!s->has_left) {
		if (s->connected_ms)
			count_times(s);
		queue_leave(s);
	}
	/* On a persistent connection the requests are logged, once each. */
	if (logs && (!s->is_http || s->own_line == STREAM_LINE_DUE))
		stream_log(s);
}

/* All transitions to CLOSED use this action. */
enum stream_event
stream_do_close(struct stream *s)
{
	stream_end_exchange(s, 1);
	return STREAM_EV_NONE;
}

/* The session has failed: returns the event that ends it, or in mode http the one that sends a
 * local reply with this status. */
static enum stream_event
stream_failure_event(struct stream *s, unsigned int status)
{
	if (!s->txn) {
		conn_end(s->conn[CLIENT], s->engine->scratch, s->engine->bufsize);
		return STREAM_EV_CLOSE;
	}
	s->txn->status = status;
	return STREAM_EV_ANSWER;
}

/* Marks the session so that it is not taken for a complete exchange. */
static void
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
	int joined = s->has_joined, moved;
	enum stream_event ev;

	if (!s->be && assign_backend(s) < 0)
		return STREAM_EV_NO_SERVER;
	if (!s->txn && s->be->mode == PROXY_HTTP)
		return http_upgrade(s);
	if (!joined && !s->txn && tcp_content_rules_of_backend(s)) {
		queue_join(s, s->be);
		return STREAM_EV_INSPECT;
	}
	balance_take_key(s);
	persist_choose(s);
	ev = joined ? queue_choose(s, &moved) : queue_enter(s, &moved);
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
		if ((direction_has_pending(&s->dir[h]) || filter_has_bytes(s, h) ||
			http_is_cut(s, h)) && !s->conn[!h]->err)
			conn_reset_on_close(s->conn[!h]);
		direction_event(s, h, DIRECTION_EV_ABORT);
	}
	return STREAM_EV_CLOSE;
}

/* Returns the time for delivering the rest to the other side: its idle timeout. */
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
		counter_add(&s->engine->stat.lingers, 1);
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

/* Resets a connection over which both sides have sent everything: with option nolinger. What waits
 * for more to be sent with it would be lost. */
static void
leave_by_reset(struct conn *c)
{
	if (!conn_is_open(c) || c->err)
		return;
	conn_shut(c);
	conn_reset_on_close(c);
}

enum stream_event
stream_do_close_tcp(struct stream *s)
{
	if (s->dir[CLIENT].broken || s->dir[SERVER].broken) {
		stream_reset_sides(s);
	} else {
		if (s->sess->fe->options & OPT_NOLINGER)
			leave_by_reset(s->conn[CLIENT]);
		if (s->be->options & OPT_NOLINGER)
			leave_by_reset(s->conn[SERVER]);
	}
	return stream_do_close(s);
}

/* Closes a session whose forwarded data must not look complete. */
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

/* --- connections to servers --- */

/* Interval of messages about what is short. */
#define SHORTAGE_LOG_MS 1000

/* Delay between two attempts at the same server (manual, `retries`). */
#define TURN_AROUND_MS 1000

/* Reuses an idle connection, if allowed. */
static enum connect_reuse
take_idle_connection(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[CLIENT];
	enum connect_reuse r = CONNECT_NEW;

	s->uses = 0;
	s->is_private = 0;
	if (http_keeps(t, SERVER) && !t->fresh && !stream_packets(s))
		r = connect_reuse(s);
	t->reused = r == CONNECT_TAKEN;
	/* Another attempt requires the whole request. */
	d->keeps_buf = (uint8_t)l7_retry_can_replay(s);
	if (r == CONNECT_NEW)
		conn_pool_make_room(s->engine);
	return r;
}

/* Logs why connections fail, if the log lines of their sessions do not show it; at most once
 * per interval, of which last_ms is the time. */
static void
report_at_times(const struct stream *s, uint64_t *last_ms, int level, const char *why)
{
	const struct proxy *be = s->be;
	uint64_t now = stream_now_ms(s);
	char text[256];

	if (*last_ms && now - *last_ms < SHORTAGE_LOG_MS)
		return;
	*last_ms = now;
	(void)snprintf(text, sizeof(text), "Connect() failed for backend %.128s: %s.", be->name,
		why);
	log_send(s->engine->log, &be->logs, level, be->log.tag, text, strlen(text));
}

/* True if `sni` made a name that no server can be asked for: another try would fail, too. */
static int
connect_is_unnamed(int err)
{
	return err == ERR_RANGE;
}

/* RC in the line of a session does not show what is short here, nor PC what is wrong with a
 * name. */
static void
report_what_failed(const struct stream *s, int err)
{
	struct engine *e = s->engine;

	if (connect_is_unnamed(err))
		report_at_times(s, &e->unnamed_ms, LOG_LEVEL_WARNING,
			"the name for sni is longer than 255 bytes or has a NUL");
	else if (outbound_is_shortage(err))
		report_at_times(s, &e->shortage_ms, LOG_LEVEL_ALERT,
			err == EADDRNOTAVAIL || err == EADDRINUSE ? "no free ports"
								  : strerror(err));
}

/* Element number `nth` of a header's lists, the first one is 0; *n is their number. */
static int
find_element(const struct http_head *h, struct str name, int nth, int *n, struct str *out)
{
	int found = 0;

	*n = 0;
	for (int i = http_find(h, name, 0); i >= 0; i = http_find(h, name, (unsigned int)i + 1)) {
		struct str rest = h->field[i].value, one;

		for (; http_list_next(&rest, &one); ++*n)
			if (*n == nth) {
				*out = one;
				found = 1;
			}
	}
	return found;
}

/* Negative occurrences count from the last one. */
static int
find_occurrence(const struct http_head *h, const struct source_conf *src, struct str *out)
{
	struct str name = str_of(src->header);
	int n;

	if (src->occurrence > 0)
		return find_element(h, name, src->occurrence - 1, &n, out);
	(void)find_element(h, name, -1, &n, out);
	return find_element(h, name, n + src->occurrence, &n, out);
}

/* Mode http: notes the address in the request's header that `source ... usesrc` (manual 4.2) shows,
 * before the request is placed. The first of several servers that a request is sent to decides
 * which header. */
static void
connect_source_note(struct stream *s)
{
	const struct source_conf *src = &s->srv->conf.source;
	struct arena *a = &s->engine->eval.arena;
	struct http_txn *t = s->txn;
	struct sample value;
	struct str text;
	size_t mark;

	if (src->as != SOURCE_AS_HEADER || t->placed || !find_occurrence(&t->req, src, &text))
		return;
	mark = arena_mark(a);
	sample_set_str(&value, text);
	if (sample_cast(&value, SAMPLE_ADDR, a) == 0) {
		int is_v4 = value.type == SAMPLE_IPV4;

		t->source_family = is_v4 ? AF_INET : AF_INET6;
		memcpy(t->source_ip, is_v4 ? (const void *)&value.u.ipv4 : &value.u.ipv6,
			is_v4 ? sizeof(value.u.ipv4) : sizeof(value.u.ipv6));
	}
	arena_release(a, mark);
}

static enum stream_event
connect_to_server(struct stream *s)
{
	enum connect_reuse reuse = CONNECT_NEW;
	int r;

	if (s->txn && unlikely(s->srv->conf.redir != NULL) && server_redirect(s))
		return STREAM_EV_ANSWER;
	if (s->txn) {
		connect_source_note(s);
		connect_tls_note(s);
		filtered_begin_request(s);
	}
	if (s->txn && http_place_request(s) < 0) {
		stream_set_term(s, 'P', 'R');
		return stream_failure_event(s, 500);
	}
	if (s->txn)
		reuse = take_idle_connection(s);
	if (reuse != CONNECT_NEW)
		return reuse == CONNECT_TAKEN ? STREAM_EV_UP : STREAM_EV_NONE;
	s->wake_ms = timer_key_after(stream_now_ms(s), s->be->to.connect);
	r = connect_server(s);
	if (unlikely(s->awaits_place))
		return STREAM_EV_NONE;
	counter_add(&srv_stat(s)->connect, 1);
	counter_add(&be_stat(s)->connect, 1);
	if (r < 0) {
		s->connect_err = -r;
		report_what_failed(s, -r);
		return STREAM_EV_REFUSED;
	}
	return r > 0 ? handshake_or_up(s) : STREAM_EV_NONE;
}

enum stream_event
stream_do_connect(struct stream *s)
{
	struct server *srv = s->srv;
	uint64_t due = s->wake_ms;
	enum stream_event ev;

	if (likely(!s->awaits_place))
		return connect_to_server(s);
	/* There was a place for it. */
	s->joins = s->awaits_place = 0;
	ev = connect_to_server(s);
	/* Another worker has taken it: the session waits no longer for that. */
	if (s->awaits_place)
		s->wake_ms = due;
	connect_places_collect(s->engine, srv);
	return ev;
}

enum stream_event
stream_do_connect_abort(struct stream *s)
{
	stream_set_term(s, 'C', 'C');
	counter_add(&be_stat(s)->cli_abrt, 1);
	counter_add(&srv_stat(s)->cli_abrt, 1);
	/* The server may be connected by now and must not see an empty request. */
	if (s->conn[CLIENT]->err)
		stream_reset_sides(s);
	return stream_do_close(s);
}

/*
 * True if retry number n uses another server (manual, `option redispatch <interval>`). The interval
 * is for algorithms that bind a client to its server; with others HAProxy never stays with a failed
 * server. A negative value counts from the last retry: -1 is the last one, and -N every (retries +
 * 1 - N)th, as measured.
 */
int
stream_redispatches(const struct stream *s, int n)
{
	const struct proxy *be = s->be;
	int every = be->redispatch_every;

	if (!(be->options & OPT_REDISPATCH) || !every || s->forced)
		return 0;
	/* Without another server this one is tried again after a delay. */
	if (!atomic_read(&be->lb.panic) &&
		proxy_usable_servers(be) <= (unsigned int)atomic_read(&s->srv->in_group))
		return 0;
	if (!balance_hashes(be->balance) && !persist_holds(s))
		return 1;
	if (every < 0)
		every += stream_retries_most(s) + 1;
	return every > 0 && n % every == 0;
}

/* True if the server's certificate is not for the name that was asked for (sni): it is so for each
 * connection that asks for it. */
static int
server_has_other_name(const struct stream *s)
{
	const struct xprt *x = s->conn[SERVER]->xprt;

	return x && x->failure == CONN_ERR_TLS_NAME;
}

static enum stream_event
plan_retry(struct stream *s, uint64_t delay)
{
	int is_vain = server_has_other_name(s), is_tried = !s->awaits_place;

	if (conn_is_open(s->conn[SERVER])) {
		if (s->conn[SERVER]->err)
			s->connect_err = s->conn[SERVER]->err;
		server_conn_close(s->engine, s->srv, s->conn[SERVER]);
	}
	connect_over(s, STREAM_EV_REFUSED);
	counter_add(&srv_stat(s)->failed_conns, 1);
	if (connect_is_unnamed(s->connect_err))
		return STREAM_EV_GIVE_UP;
	/* A lack of resources of this host is no error of the server, nor that of a place. */
	if (is_tried && !outbound_is_shortage(s->connect_err))
		server_observe(s->engine, s->srv, SERVER_CONNECT_FAILED);
	if (is_vain || s->retries >= stream_retries_most(s) || (s->txn && !http_retries(s->be,
		HTTP_RETRY_CONN_FAILURE)))
		return STREAM_EV_GIVE_UP;
	s->retries++;
	s->redispatch = (uint8_t)stream_redispatches(s, s->retries);
	if (!s->redispatch) {
		counter_add(&srv_stat(s)->wretr, 1);
		counter_add(&be_stat(s)->wretr, 1);
	}
	s->wake_ms = stream_now_ms(s) + (s->redispatch ? 0 : delay);
	return STREAM_EV_NONE;
}

/* A server that refuses at once would probably do so again: waits a moment. */
enum stream_event
stream_do_retry(struct stream *s)
{
	unsigned int limit = s->be->to.connect;

	return plan_retry(s, limit && limit < TURN_AROUND_MS ? limit : TURN_AROUND_MS);
}

/* The time has passed while waiting. */
enum stream_event
stream_do_retry_timeout(struct stream *s)
{
	s->connect_err = 0;
	s->conn[SERVER]->err = 0;
	return plan_retry(s, 0);
}

static char
connect_failure_cause(int err)
{
	if (!err)
		return 's';
	if (connect_is_unnamed(err))
		return 'P';
	return outbound_is_shortage(err) ? 'R' : 'S';
}

enum stream_event
stream_do_give_up(struct stream *s)
{
	stream_set_term(s, connect_failure_cause(s->connect_err), 'C');
	counter_add(&srv_stat(s)->econ, 1);
	counter_add(&be_stat(s)->econ, 1);
	return stream_failure_event(s, 503);
}

/* Begins filters of TCP; content rules of the response come before those of the server's bytes. */
static void
begin_plain_filters(struct stream *s)
{
	(void)filters_begin_plain(s, CLIENT);
	if (!tcp_content_rules_of_response(s))
		(void)filters_begin_plain(s, SERVER);
}

/* Has stick rules store the server, whose data is not held back. */
static void
tcp_content_store_server(struct stream *s)
{
	struct eval eval;

	eval_init(&eval, s, rule_place_scope(RULE_TCP_RES_CONTENT));
	stick_store(s, &eval.cx);
}

enum stream_event
stream_do_established(struct stream *s)
{
	uint64_t now = stream_now_ms(s);
	enum stream_event ev = STREAM_EV_NONE;
	int r = 0;

	s->connected_ms = now;
	s->connected_us = US_BITS(stream_now_us(s));
	server_observe(s->engine, s->srv, SERVER_CONNECTED);
	/* The client could not send anything meanwhile: its timeout starts now. */
	s->last_ms[CLIENT] = s->last_ms[SERVER] = now;
	stream_log_step(s, LOG_STEP_CONNECT);
	if (unlikely(s->srv->may_speak_h2) && h2_server_speaks(s))
		r = h2_server_begin(s);
	connect_over(s, STREAM_EV_ASSIGNED);
	if (r < 0) {
		stream_set_term(s, 'R', 'C');
		return stream_failure_event(s, 503);
	}
	if (s->txn) {
		s->dir[SERVER].ops = &http_response_ops;
		filtered_send_request(s);
	} else {
		stream_log_early(s);
		if (unlikely(stream_may_filter(s)))
			begin_plain_filters(s);
	}
	if (s->engine->zerocopy.threshold)
		direction_plan_zerocopy(s);
	if (tcp_content_rules_of_response(s))
		ev = tcp_content_begin_response(s);
	else if (!s->txn && stick_stores(s))
		tcp_content_store_server(s);
	/* Pumps a bulk transfer, too: its head must not wait for its turn. */
	return ev == STREAM_EV_NONE ? direction_pump_now(s, CLIENT) : ev;
}
