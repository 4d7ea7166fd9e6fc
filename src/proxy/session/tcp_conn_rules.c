/* tcp-request connection and session. On the accepting worker; a client that is refused has
 * opened nothing but its socket. */
#include "proxy/session/tcp_conn_rules.h"

#include "proxy/model/count.h"
#include "base/counter.h"
#include "net/silent_drop.h"
#include "proxy/sample/eval.h"

/* Ends the rules: there is nothing to wait for, since no data is read here. */
static enum rule_end
eval_conn_rules(struct stream *s, enum rule_place place, int *expects)
{
	struct rule_outcome v = { .proxy = s };
	struct rules_at at = { 0 };
	struct eval eval;
	size_t mark;

	eval_init(&eval, s, rule_place_scope(place));
	eval.cx.req_ended = 1;
	mark = arena_mark(eval.cx.arena);
	(void)proxy_rules_run(&s->sess->fe->rules, place, &at, &eval.cx, &v);
	arena_release(eval.cx.arena, mark);
	*expects |= v.expects_proxy;
	return v.what;
}

static void
count_denied(struct stream *s, enum rule_place place)
{
	struct listener_stat *ln = &s->sess->listener->stat;
	struct proxy_stat *fe = fe_stat(s);
	int is_conn = place == RULE_TCP_CONNECTION;

	counter_add(is_conn ? &fe->denied_conn : &fe->denied_sess, 1);
	counter_add(is_conn ? &ln->denied_conn : &ln->denied_sess, 1);
}

/* True if the client's port is a privileged one, and such clients are denied
 * (harden.reject-privileged-ports.tcp). */
static int
has_denied_port(const struct stream *s)
{
	return s->engine->shared->denies_low_ports && addr_has_privileged_port(&s->sess->peer);
}

int
tcp_conn_rules_apply(struct stream *s, enum rule_place place, int *expects)
{
	enum rule_end end = place == RULE_TCP_CONNECTION && has_denied_port(s)
		? RULE_END_REJECT : eval_conn_rules(s, place, expects);

	if (end == RULE_END_NONE)
		return 1;
	if (end == RULE_END_DROP) {
		/* As in HAProxy: counted as a request, whatever the place. */
		count_denied_req(s);
		conn_silent_drop_on_close(s->conn[CLIENT]);
		return 0;
	}
	count_denied(s, place);
	/* As in HAProxy: mass rejections leave no TIME_WAIT. */
	if (place == RULE_TCP_CONNECTION)
		conn_reset_on_close(s->conn[CLIENT]);
	return 0;
}
