/* Rules of checks that send, expect and set variables. On the first worker; bytes are in a buffer
 * of the run only while it waits. */
#include "proxy/check/check_steps.h"

#include <errno.h>
#include <string.h>

#include "proxy/check/check_agent.h"
#include "proxy/check/check_context.h"
#include "proxy/check/check_send.h"
#include "proxy/check/check_state.h"
#include "proxy/check/check_text.h"
#include "proxy/model/proxy.h"
#include "rule/sample/var_cond.h"

/* --- memory --- */

void
check_bytes_drop(struct check_run *r)
{
	if (r->buf)
		pool_put(&r->shared->bufs, r->buf);
	r->buf = NULL;
	r->len = 0;
}

/* Keeps the bytes in the scratch buffer for a later turn. */
static int
keep_bytes(struct check_run *r)
{
	if (r->buf || !r->len)
		return 0;
	r->buf = pool_get(&r->shared->bufs);
	if (!r->buf)
		return -1;
	memcpy(r->buf, r->shared->scratch, r->len);
	return 0;
}

static char *
run_bytes(struct check_run *r)
{
	return r->buf ? r->buf : r->shared->scratch;
}

/* --- send --- */

enum check_step
check_send_proceed(struct check_run *r, struct check_verdict *v)
{
	enum io_result io = IO_OK;
	size_t put = 0;

	while (r->sent < r->len && io == IO_OK) {
		io = conn_send(&r->conn, run_bytes(r) + r->sent, r->len - r->sent, 0, &put);
		if (io == IO_OK) {
			r->sent += (uint32_t)put;
			r->is_connected = 1;
		}
	}
	if (io == IO_ERR || io == IO_EOF)
		return check_run_fail(r, r->conn.err, v);
	if (io == IO_OK) {
		check_bytes_drop(r);
		return CHECK_STEP_NEXT;
	}
	if (keep_bytes(r) < 0)
		return check_run_fail(r, ENOMEM, v);
	if (!r->is_connected)
		r->far = CHECK_FAR_RUNS;
	r->state = CHECK_SENDING;
	conn_want(&r->conn, EV_W);
	return CHECK_STEP_WAIT;
}

/* agent-send may be changed at run time. */
static void
put_agent_text(const struct server *s, struct sbuf *out)
{
	if (s->conf.check.agent_send)
		sbuf_adds(out, s->conf.check.agent_send);
}

enum check_step
check_send_begin(struct check_run *r, struct check_verdict *v)
{
	struct engine *e = r->shared->engine;
	struct str state = { NULL, 0 };
	char text[CHECK_STATE_MAX];
	struct sample_ctx cx;
	struct sbuf out;
	size_t mark;
	int bad = 0;

	check_bytes_drop(r);
	if (check_run_server(r)->be->check.send_state)
		state = check_state_text(r->check->srv, r->shared->node, text);
	check_context_init(r, &cx);
	cx.where = r->rule ? &r->rule->where : NULL;
	mark = arena_mark(cx.arena);
	sbuf_init_fixed(&out, r->shared->scratch, e->bufsize);
	if (r->check->is_agent)
		put_agent_text(r->check->srv, &out);
	else
		bad = check_send_build(&r->rule->u.send, &cx, state, &out);
	arena_release(cx.arena, mark);
	if (bad || out.failed) {
		check_send_failed(r->conf->method, r->rule, v);
		return CHECK_STEP_FAIL;
	}
	r->len = (uint32_t)out.len;
	r->sent = 0;
	return check_send_proceed(r, v);
}

/* --- expect --- */

static enum check_step
look_at_answer(struct check_run *r, struct check_verdict *v)
{
	size_t room = r->shared->engine->bufsize;
	struct check_input in = {
		.received = { run_bytes(r), r->len },
		.ended = r->ended,
		.full = r->len == room,
		.accepts_404 = r->conf->disable_on_404 && r->check->srv->oper != SERVER_STOPPED,
	};
	struct sample_ctx cx;

	if (r->check->is_agent)
		return check_agent_look(r->shared->engine, r->check, &in, v);
	check_context_init(r, &cx);
	cx.where = r->rule ? &r->rule->where : NULL;
	return check_expect_eval(r->rule, &in, &cx, v);
}

enum check_step
check_expect_proceed(struct check_run *r, struct check_verdict *v)
{
	size_t room = r->shared->engine->bufsize, got = 0;
	enum io_result io = IO_OK;
	enum check_step step = CHECK_STEP_WAIT;

	while (step == CHECK_STEP_WAIT && io == IO_OK && conn_is_ready(&r->conn, DIR_R)) {
		io = conn_recv(&r->conn, run_bytes(r) + r->len, room - r->len, &got);
		if (io == IO_OK)
			r->len += (uint32_t)got;
		r->ended = r->ended || io == IO_EOF || r->conn.eof;
		if (io == IO_ERR)
			return check_run_fail(r, r->conn.err, v);
		if (io != IO_AGAIN)
			step = look_at_answer(r, v);
	}
	if (step != CHECK_STEP_WAIT)
		return step;
	if (keep_bytes(r) < 0)
		return check_run_fail(r, ENOMEM, v);
	r->state = CHECK_EXPECTING;
	conn_want(&r->conn, EV_R);
	return CHECK_STEP_WAIT;
}

/* Expects that follow each other read the same bytes. */
enum check_step
check_expect_begin(struct check_run *r, struct check_verdict *v)
{
	enum check_step step = r->len || r->ended ? look_at_answer(r, v) : CHECK_STEP_WAIT;

	return step == CHECK_STEP_WAIT ? check_expect_proceed(r, v) : step;
}

/* --- variables --- */

/* The value, of the expression or of the format. */
static int
eval_var(const struct check_set_var *v, struct sample_ctx *cx, struct sample *s)
{
	struct str text;

	if (v->expr)
		return rule_expr_eval(v->expr, cx, s);
	if (rule_fmt_text(v->fmt, cx, &text) < 0)
		return 0;
	sample_set_str(s, text);
	return 1;
}

/* Without a value the variable is unchanged; without memory, too. */
static void
run_var(const struct check_rule *r, struct sample_ctx *cx)
{
	const struct check_set_var *v = &r->u.var;
	struct sample s;

	if (r->kind == CHECK_RULE_UNSET_VAR)
		var_forget(cx, v->name);
	else if (eval_var(v, cx, &s) && var_cond_hold(v->conds, cx, v->name, &s))
		(void)!var_store(cx, v->name, &s);
}

enum check_step
check_var_begin(struct check_run *r, struct check_verdict *v)
{
	struct sample_ctx cx;
	size_t mark;

	(void)v;
	check_context_init(r, &cx);
	cx.where = r->rule ? &r->rule->where : NULL;
	mark = arena_mark(cx.arena);
	run_var(r->rule, &cx);
	arena_release(cx.arena, mark);
	return CHECK_STEP_NEXT;
}
