/* Actions of the session machine on the way to the server: connect, try again, give up. See
 * actions.c. */
#include "proxy/session/actions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "net/conn_err.h"
#include "net/outbound.h"
#include "net/xprt.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/server_observe.h"
#include "proxy/http1/response.h"
#include "proxy/http2/h2_server.h"
#include "proxy/model/termination.h"
#include "proxy/session/connect.h"
#include "proxy/session/connect_source.h"
#include "proxy/session/connect_tls.h"
#include "proxy/session/handlers.h"
#include "proxy/model/count.h"
#include "proxy/http1/exchange.h"
#include "proxy/relay/direction.h"
#include "proxy/http1/http_out.h"
#include "proxy/session/tcp_content_rules.h"
#include "base/counter.h"
#include "proxy/model/http_txn.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/http1/persist.h"
#include "proxy/http1/stick.h"
#include "proxy/log/stream_log.h"
#include "proxy/model/persist_state.h"

/* Interval of messages about what is short. */
#define SHORTAGE_LOG_MS 1000

/* Delay between two attempts at the same server (manual, `retries`). */
#define TURN_AROUND_MS 1000

/* Reuses an idle connection, if allowed. */
static int
take_idle_connection(struct stream *s)
{
	struct http_txn *t = s->txn;
	struct direction *d = &s->dir[CLIENT];

	s->uses = 0;
	s->is_private = 0;
	t->reused = (uint8_t)(t->keep_alive[SERVER] && !t->fresh && connect_reuse(s));
	/* Another attempt requires the whole request. */
	d->keeps_buf = (uint8_t)l7_retry_can_replay(s);
	if (!t->reused)
		conn_pool_make_room(s->engine);
	return t->reused;
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

enum stream_event
stream_do_connect(struct stream *s)
{
	int r;

	if (s->txn) {
		connect_source_note(s);
		connect_tls_note(s);
	}
	if (s->txn && http_place_request(s) < 0) {
		stream_set_term(s, 'P', 'R');
		return stream_failure_event(s, 500);
	}
	if (s->txn && take_idle_connection(s))
		return STREAM_EV_UP;
	s->wake_ms = timer_key_after(stream_now_ms(s), s->be->to.connect);
	r = connect_server(s);
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
		every += be->retries + 1;
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
	int is_vain = server_has_other_name(s);

	if (conn_is_open(s->conn[SERVER])) {
		if (s->conn[SERVER]->err)
			s->connect_err = s->conn[SERVER]->err;
		conn_close(s->conn[SERVER]);
	}
	counter_add(&srv_stat(s)->failed_conns, 1);
	if (connect_is_unnamed(s->connect_err))
		return STREAM_EV_GIVE_UP;
	/* A resource that this host lacks is no finding about the server. */
	if (!outbound_is_shortage(s->connect_err))
		server_observe(s->engine, s->srv, SERVER_CONNECT_FAILED);
	if (is_vain || s->retries >= (unsigned int)s->be->retries || (s->txn && !http_retries(s->be,
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

enum stream_event
stream_do_established(struct stream *s)
{
	uint64_t now = stream_now_ms(s);
	enum stream_event ev = STREAM_EV_NONE;

	s->connected_ms = now;
	s->connected_us = US_BITS(stream_now_us(s));
	server_observe(s->engine, s->srv, SERVER_CONNECTED);
	/* The client could not send anything meanwhile: its timeout starts now. */
	s->last_ms[CLIENT] = s->last_ms[SERVER] = now;
	stream_log_step(s, LOG_STEP_CONNECT);
	if (unlikely(h2_server_speaks(s)) && h2_server_begin(s) < 0) {
		stream_set_term(s, 'R', 'C');
		return stream_failure_event(s, 503);
	}
	if (s->txn) {
		s->dir[CLIENT].ops = &http_request_ops;
		s->dir[SERVER].ops = &http_response_ops;
		exchange_foresee(s, CLIENT);
	} else {
		stream_log_early(s);
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
