/* TLS of the connections of checks: the handshake, and the session that makes the next one cheap.
 * On the first worker. */
#include "proxy/check/check_tls.h"

#include "event/profile.h"
#include "net/conn_err.h"
#include "net/xprt.h"
#include "proxy/check/check_context.h"
#include "proxy/check/check_send.h"
#include "proxy/check/check_text.h"
#include "proxy/model/count.h"
#include "proxy/model/proxy.h"
#include "rule/sample/conv.h"
#include "rule/sample/sample.h"
#include "tls/connect.h"

/* A server sends its tickets right behind the handshake, or not at all. */
#define SESSION_WAIT_MS 1000

/* As sessions, unless checks go to an address or port of their own (manual 5.2, check). */
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

const struct xprt_maker *
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

int
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

/* In HAProxy's words. */
enum check_step
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

/* As in HAProxy among those of sessions. */
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

/* Nothing else is expected: what the server sends is dropped. */
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
