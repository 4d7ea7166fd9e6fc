/* Connections of checks. On the first worker; a run has one socket at most. */
#include "proxy/check/check_connect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event/profile.h"
#include "net/conn_err.h"
#include "net/conn_socket.h"
#include "net/outbound.h"
#include "net/proxy_header.h"
#include "net/xprt.h"
#include "proxy/check/check_context.h"
#include "proxy/check/check_h2.h"
#include "proxy/check/check_run.h"
#include "proxy/check/check_send.h"
#include "proxy/check/check_text.h"
#include "proxy/model/count.h"
#include "proxy/model/proxy.h"
#include "rule/sample/conv.h"
#include "rule/sample/sample.h"
#include "tls/connect.h"

/* --- TLS --- */

/* A server sends its tickets right behind the handshake, or not at all. */
#define SESSION_WAIT_MS 1000

/* True if the checks of a server use TLS: as its sessions do, unless checks have an address or port
 * of their own (manual 5.2, check). */
static int
server_checks_use_tls(const struct server_conf *conf)
{
	if (conf->tls.check != SERVER_CHECK_TLS_AUTO)
		return conf->tls.check == SERVER_CHECK_TLS_ON;
	return conf->tls.is_on && !conf->check.port && !conf->check.addr.len;
}

/* The server line is meant only by `default`, and by a connect that is implied. */
static int
check_uses_tls(const struct check_run *r)
{
	const struct check_connect *c = &check_connect_rule(r)->u.connect;

	return !r->check->is_agent &&
		(c->ssl || (c->defaults && server_checks_use_tls(&r->check->srv->conf)));
}

/* The maker of the transport of the next connection; NULL: a plain socket. */
static const struct xprt_maker *
check_tls_maker(const struct check_run *r)
{
	const struct server *s = r->check->srv;

	return check_uses_tls(r) && s->tls ? tls_server_check_maker(s->tls) : NULL;
}

/* The HTTP request that follows the connect rule; NULL: none. */
static const struct check_send *
request_behind(const struct check_run *r, const struct check_rule *connect)
{
	for (const struct list *it = connect->link.next; it != &r->conf->rules; it = it->next) {
		const struct check_rule *rule = list_entry(it, const struct check_rule, link);

		if (rule->kind == CHECK_RULE_CONNECT)
			return NULL;
		if (rule->kind == CHECK_RULE_SEND)
			return rule->u.send.is_http ? &rule->u.send : NULL;
	}
	return NULL;
}

/* The name to ask for; it may lie in the arena. */
static struct str
name_of_check(const struct check_run *r, const struct check_rule *rule, struct sample_ctx *cx)
{
	const struct check_connect *c = &rule->u.connect;
	const struct server_tls_conf *conf = &r->check->srv->conf.tls;
	const char *name = c->sni ? c->sni : c->defaults ? conf->check_sni : NULL;
	const struct check_send *send;
	struct str host = { NULL, 0 };

	if (name)
		return str_of(name);
	send = c->defaults && conf->check_sni_auto ? request_behind(r, rule) : NULL;
	if (!send || check_send_host(send, cx, &host) < 0 || !host.len)
		return (struct str){ NULL, 0 };
	return conv_host_part(host, cx->arena);
}

/* Before the first byte: what the connection asks for. 0 or a negative reason; nothing to do
 * without TLS. */
static int
check_tls_begin(struct check_run *r)
{
	const struct check_rule *rule = check_connect_rule(r);
	const struct check_connect *c = &rule->u.connect;
	const struct server *s = r->check->srv;
	struct sample_ctx cx;
	struct tls_ask ask = {
		.alpn = c->alpn.len ? &c->alpn : c->defaults ? &s->conf.tls.check_alpn : NULL,
		.service = rule->step,
	};

	size_t mark;
	int result;

	if (!r->conn.xprt)
		return 0;
	check_context_init(r, &cx);
	mark = arena_mark(cx.arena);
	ask.name = name_of_check(r, rule, &cx);
	result = tls_connect_as(&r->conn, &ask);
	arena_release(cx.arena, mark);
	return result;
}

/* Ends the check with a failure of TLS, in HAProxy's words. */
static enum check_step
check_tls_fail(struct check_run *r, struct check_verdict *v)
{
	const struct xprt *x = r->conn.xprt;
	enum conn_err why = x ? (enum conn_err)x->failure : CONN_ERR_TLS_FAILED;

	v->code = -1;
	v->status = why == CONN_ERR_TLS_NOMEM ? CHECK_SOCKERR : CHECK_L6RSP;
	if (why != CONN_ERR_TLS_HOST && why != CONN_ERR_TLS_NAME && why != CONN_ERR_TLS_NOMEM)
		why = CONN_ERR_TLS_FAILED;
	check_step_text(r->conf->method, check_connect_rule(r), conn_err_text(why), v->info);
	return CHECK_STEP_FAIL;
}

/* Counts the handshake, as in HAProxy among those of sessions. */
static void
count_check_handshake(const struct check_run *r, int has_failed)
{
	const struct server *srv = check_run_server(r);
	unsigned int worker = r->shared->engine->index;
	struct handshake_stat *of[] = { &srv->shard[worker].stat.tls,
		&srv->be->shard[worker].be.tls };

	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		if (has_failed)
			counter_add(&of[i]->failed, 1);
		else
			count_handshake(of[i], &r->conn);
	}
}

enum check_step
check_tls_proceed(struct check_run *r, struct check_verdict *v)
{
	switch (conn_handshake(&r->conn)) {
	case IO_OK:
		count_check_handshake(r, 0);
		return CHECK_STEP_NEXT;
	case IO_AGAIN:
		r->state = CHECK_TLS_HANDSHAKE;
		conn_want(&r->conn, EV_R);
		return CHECK_STEP_WAIT;
	case IO_EOF:
	case IO_ERR:
		break;
	}
	if (r->conn.sends)
		count_check_handshake(r, 1);
	return check_tls_fail(r, v);
}

/* --- the session for the next check --- */

/* Drops what the server sends: nothing else is expected. */
static int
read_session(struct check_run *r)
{
	enum io_result io = IO_OK;
	size_t got;

	while (io == IO_OK && tls_awaits_session(&r->conn) && conn_is_ready(&r->conn, DIR_R))
		io = conn_recv(&r->conn, r->shared->scratch, r->shared->engine->bufsize, &got);
	return io != IO_EOF && io != IO_ERR && tls_awaits_session(&r->conn);
}

static void
on_ticket_io(void *owner, int fd, uint32_t ev)
{
	struct check_run *r = owner;

	(void)fd;
	(void)ev;
	if (read_session(r))
		return;
	/* The deadline closes it, in this turn. */
	conn_want(&r->conn, 0);
	(void)!timer_set(check_run_deadlines(r), &r->deadline, check_run_now(r));
}
PROFILE_NAME(on_ticket_io, check_ticket_io)

int
check_tls_await_session(struct check_run *r)
{
	if (!conn_is_open(&r->conn) || !r->conn.xprt || r->conn.eof || r->conn.err ||
		!read_session(r) ||
		timer_set(check_run_deadlines(r), &r->deadline,
			check_run_now(r) + SESSION_WAIT_MS) < 0)
		return 0;
	conn_set_owner(&r->conn, on_ticket_io, r);
	conn_want(&r->conn, EV_R);
	return 1;
}

/* --- the target --- */

static unsigned int
port_of_rule(struct check_run *r, const struct check_connect *c)
{
	struct sample_ctx cx;
	struct sample s;
	size_t mark;
	int found;

	if (c->port || !c->port_expr)
		return c->port;
	check_context_init(r, &cx);
	mark = arena_mark(cx.arena);
	found = rule_expr_eval_as(c->port_expr, &cx, SAMPLE_SINT, &s);
	arena_release(cx.arena, mark);
	return found && s.u.sint > 0 && s.u.sint <= 65535 ? (unsigned int)s.u.sint : 0;
}

/* The address of the rule, of the check, or of the server; and likewise the port. */
static struct addr
check_target(struct check_run *r)
{
	const struct check_connect *c = &r->rule->u.connect;
	const struct check_server_conf *conf = &check_run_server(r)->conf.check;
	const struct addr *own = r->check->is_agent ? &conf->agent_addr : &conf->addr;
	unsigned int port = r->check->is_agent ? conf->agent_port : conf->port;
	unsigned int asked = port_of_rule(r, c);
	struct addr server, a;

	(void)addr_cell_get(&check_run_server(r)->addr, &server);
	a = c->addr.len ? c->addr : own->len ? *own : server;
	if (addr_family(&a) == AF_UNIX)
		return a;
	if (asked || port)
		addr_set_port(&a, asked ? asked : port);
	else if (!addr_port(&a))
		addr_set_port(&a, addr_port(&server));
	return a;
}

/*
 * Asks whether the connection is there (is_up). On a host that is near it is, before any event
 * could report it. 0 or -errno.
 */
static int
ask_connected(struct check_run *r, int fd, const struct addr *to, struct outbound *o)
{
	long e;

	if (r->far) {
		r->far--;
		return 0;
	}
	e = sys_connect(r->shared->engine->sys, fd, &to->u.sa, to->len);
	o->is_up = e >= 0 || e == -EISCONN;
	return o->is_up || e == -EALREADY || e == -EINPROGRESS ? 0 : (int)e;
}

static int
sends_next(const struct check_run *r)
{
	const struct list *next = r->rule->link.next;

	return next != &r->conf->rules &&
		list_entry(next, const struct check_rule, link)->kind == CHECK_RULE_SEND;
}

static int
is_last_rule(const struct check_run *r)
{
	return r->rule->link.next == &r->conf->rules;
}

/*
 * A server that is only connected to keeps its socket for the next check. Connecting it to no
 * address (connect(2), AF_UNSPEC) resets the connection as a close with SO_LINGER would: three
 * calls are saved. 1: it is kept.
 */
static int
keep_socket(struct check_run *r, int fd, int family)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	if (!is_last_rule(r) || r->rule->u.connect.linger || family == AF_UNIX ||
		check_run_server(r)->conf.source.port_lo ||
		sys_connect(r->shared->engine->sys, fd, &none, sizeof(none)) < 0)
		return 0;
	r->spare = fd;
	r->spare_family = family;
	return 1;
}

void
check_connect_drop_spare(struct check_run *r)
{
	if (r->spare >= 0)
		(void)sys_close(r->shared->engine->sys, r->spare);
	r->spare = -1;
}

/* With the socket of the last check, or a new one: the descriptor or -errno. */
static int
start_connecting(struct check_run *r, struct outbound *o, int family)
{
	struct sys *sys = r->shared->engine->sys;
	int fd = r->spare;

	if (fd >= 0 && r->spare_family == family) {
		r->spare = -1;
		return outbound_reconnect(sys, fd, o);
	}
	check_connect_drop_spare(r);
	return outbound_connect(sys, o);
}

/* --- the PROXY header --- */

/* The server line is for checks too, unless they go elsewhere (manual 5.2, check-send-proxy). */
static int
sends_proxy_header(const struct check_run *r)
{
	const struct server_conf *conf = &check_run_server(r)->conf;
	const struct check_connect *c = &r->rule->u.connect;

	if (r->check->is_agent || !(c->send_proxy || c->defaults))
		return 0;
	return c->send_proxy || conf->check.send_proxy ||
		(conf->proxy_header && !conf->check.port && !conf->check.addr.len);
}

/* The check's own connection: in version 1 its addresses, in version 2 LOCAL, if permitted. */
static int
write_check_proxy_header(struct check_run *r, const struct addr *to)
{
	static const struct proxy_header_ssl no_tls;
	unsigned int wants = check_run_server(r)->conf.proxy_header;
	struct proxy_header_fields f = { .version = wants & SERVER_PROXY_V2 ? 2 : 1,
		.has_crc32c = (wants & SERVER_PROXY_CRC32C) != 0,
		.ssl = wants & SERVER_PROXY_SSL ? &no_tls : NULL };
	char text[PROXY_HEADER_OUT_MAX];
	struct addr own;

	if ((f.version == 1 || r->shared->never_local) && addr_family(to) != AF_UNIX &&
		conn_local_addr(&r->conn, &own) == 0) {
		f.src = &own;
		f.dst = to;
	}
	return conn_set_preface(&r->conn, text, proxy_header_write(&f, text));
}

/* The header goes with what a rule `send` sends, or alone. */
static enum check_step
send_header_alone(struct check_run *r, struct check_verdict *v)
{
	if (sends_next(r))
		return CHECK_STEP_NEXT;
	switch (conn_send_preface(&r->conn)) {
	case IO_OK:
		return CHECK_STEP_NEXT;
	case IO_AGAIN:
		r->state = CHECK_CONNECTING;
		conn_want(&r->conn, EV_W);
		return CHECK_STEP_WAIT;
	case IO_EOF:
	case IO_ERR:
		break;
	}
	return check_run_fail(r, r->conn.err, v);
}

/* --- the SOCKS4 proxy --- */

/* Returns the SOCKS4 proxy of the connection. As for the PROXY header, the server line applies to
 * checks only with an option for that. NULL: none. */
static const struct addr *
proxy_on_the_way(const struct check_run *r)
{
	const struct server_conf *conf = &check_run_server(r)->conf;
	const struct check_connect *c = &r->rule->u.connect;

	if (r->check->is_agent || !conf->socks4.len)
		return NULL;
	return c->via_socks4 || (c->defaults && conf->check.via_socks4) ? &conf->socks4 : NULL;
}

static enum check_step
fail_handshake(struct check_run *r, enum socks4_step step, struct check_verdict *v)
{
	char why[CHECK_INFO_MAX];

	(void)snprintf(why, sizeof(why), "%s%s%s%s", conn_err_text(socks4_error(step)),
		step == SOCKS4_FAILED ? " (" : "",
		step == SOCKS4_FAILED ? strerror(r->conn.err) : "",
		step == SOCKS4_FAILED ? ")" : "");
	v->code = -1;
	v->status = CHECK_SOCKERR;
	check_step_text(r->conf->method, r->rule, why, v->info);
	return CHECK_STEP_FAIL;
}

/* Prepares what a connection to the server begins with: 0 or -ENOMEM. */
static int
begin_server(struct check_run *r, const struct addr *to)
{
	int e = check_tls_begin(r);

	if (e == 0 && sends_proxy_header(r))
		e = write_check_proxy_header(r, to);
	return e < 0 ? -ENOMEM : 0;
}

/* The server is reached: from now on the connection is as any other. */
static enum check_step
end_handshake(struct check_run *r, struct check_verdict *v)
{
	struct addr to = check_target(r);
	const struct xprt_maker *m = check_tls_maker(r);

	if ((m && conn_begin_xprt(&r->conn, check_run_on_io, r, m) < 0) || begin_server(r, &to) < 0)
		return check_run_fail(r, ENOMEM, v);
	return m ? check_tls_proceed(r, v) : send_header_alone(r, v);
}

enum check_step
check_handshake_proceed(struct check_run *r, struct check_verdict *v)
{
	enum socks4_step step = socks4_proceed(&r->conn, &r->handshake_got);

	switch (step) {
	case SOCKS4_SENDS:
	case SOCKS4_READS:
		r->state = CHECK_HANDSHAKING;
		conn_want(&r->conn, step == SOCKS4_SENDS ? EV_W : EV_R);
		return CHECK_STEP_WAIT;
	case SOCKS4_GRANTED:
		return end_handshake(r, v);
	case SOCKS4_DENIED:
	case SOCKS4_CLOSED:
	case SOCKS4_FAILED:
		break;
	}
	return fail_handshake(r, step, v);
}

/* --- opening --- */

static enum check_step
proceed_connected(struct check_run *r, struct check_verdict *v)
{
	if (proxy_on_the_way(r))
		return check_handshake_proceed(r, v);
	/* The PROXY header leaves with the first bytes of the handshake. */
	return r->conn.xprt ? check_tls_proceed(r, v) : send_header_alone(r, v);
}

/* Waits until it is connected, or continues as if it were. */
static enum check_step
open_connection(struct check_run *r, int fd, const struct outbound *o, int continues,
	struct check_verdict *v)
{
	struct loop *l = r->shared->engine->loop;
	int e = outbound_adopt(&r->conn, l, fd, o, check_run_on_io, r);

	if (e == 0 && !o->via)
		e = begin_server(r, o->to);
	if (e < 0)
		return check_run_fail(r, -e, v);
	r->handshake_got = 0;
	if (continues)
		return proceed_connected(r, v);
	if (!r->far)
		r->far = CHECK_FAR_RUNS;
	conn_again(&r->conn, DIR_W);
	r->state = CHECK_CONNECTING;
	conn_want(&r->conn, EV_W);
	return CHECK_STEP_WAIT;
}

/* A port that is closed refuses; a reset comes from a server that had accepted. */
static enum check_step
fail_connect(struct check_run *r, int err, struct check_verdict *v)
{
	return err == ECONNRESET && check_tls_maker(r) ? check_tls_fail(r, v)
						       : check_run_fail(r, err, v);
}

enum check_step
check_connect_begin(struct check_run *r, struct check_verdict *v)
{
	const struct xprt_maker *xprt = check_tls_maker(r);
	const struct addr *via = proxy_on_the_way(r);
	/* Nothing is sent before it is known to be connected. */
	int waits = via || xprt || check_h2_is_forced(r) || !sends_next(r);
	int is_bare = !via && !xprt && !sends_proxy_header(r);
	struct addr to = check_target(r);
	/* The handshake's ACK waits, and the reset comes before it: a server that is only connected
	 * to is not woken for that. */
	struct outbound_source source;
	struct outbound o = { .to = &to, .via = via,
		.options = is_last_rule(r) && is_bare ? OUTBOUND_LATE_ACK : 0,
		.source = server_source(r->check->srv, &source), .xprt = xprt };
	const struct addr *hop = via ? via : &to;
	int fd, e;

	check_h2_end(r);
	if (conn_is_open(&r->conn))
		conn_close(&r->conn);
	check_bytes_drop(r);
	r->ended = r->is_connected = r->has_read_deadline = 0;
	fd = start_connecting(r, &o, addr_family(hop));
	if (fd < 0)
		return fail_connect(r, -fd, v);
	/* A send that follows asks the same. */
	e = o.is_up || !waits ? 0 : ask_connected(r, fd, hop, &o);
	if (e < 0) {
		(void)sys_close(r->shared->engine->sys, fd);
		return fail_connect(r, -e, v);
	}
	r->is_connected = (uint8_t)o.is_up;
	if (o.is_up && is_bare && keep_socket(r, fd, addr_family(hop)))
		return CHECK_STEP_NEXT;
	return open_connection(r, fd, &o, o.is_up || (!waits && !r->far), v);
}

enum check_step
check_connect_proceed(struct check_run *r, struct check_verdict *v)
{
	/* Some pollers do not report errors. */
	int may_have_failed = conn_seen(&r->conn) & (EV_ERR | EV_HUP) ||
		!loop_has_errors(r->conn.loop);
	int err = may_have_failed ? conn_take_error(&r->conn) : 0;

	if (err)
		return fail_connect(r, err, v);
	r->is_connected = 1;
	return proceed_connected(r, v);
}
