/* The run of a check: its rules one after the other, its deadline, and the next run. On the first
 * worker; a run that is not active has only its start and perhaps a socket. */
#include "proxy/check/check_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/atomic.h"
#include "base/random.h"
#include "base/str.h"
#include "event/profile.h"
#include "net/outbound.h"
#include "proxy/backend/server_state.h"
#include "proxy/check/agent.h"
#include "proxy/check/check_connect.h"
#include "proxy/check/check_context.h"
#include "proxy/check/check_expect.h"
#include "proxy/check/check_h2.h"
#include "proxy/check/check_result.h"
#include "proxy/check/check_send.h"
#include "proxy/check/check_text.h"
#include "proxy/check/external.h"
#include "proxy/model/check.h"
#include "proxy/model/engine.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server.h"

#define SLOT_MS 10


enum check_step
check_run_fail(struct check_run *r, int err, struct check_verdict *v)
{
	const struct check_rule *rule = r->is_connected ? r->rule : check_connect_rule(r);
	int is_tls_error = err == EPROTO && r->conn.xprt && !r->h2;

	v->code = -1;
	v->status = r->is_connected || outbound_is_shortage(err) ? CHECK_SOCKERR : CHECK_L4CON;
	/* A stream that was reset is no error of a socket, which has a text. */
	check_step_text(r->conf->method, rule,
		is_tls_error ? "SSL fatal error" : r->h2 ? "" : strerror(err), v->info);
	return CHECK_STEP_FAIL;
}

/* Returns the interval, changed at random within `spread-checks` per cent. */
static unsigned int
interval_of(const struct check_run *r)
{
	unsigned int ms = check_result_interval(r->check);
	unsigned int part = (unsigned int)((uint64_t)ms * r->shared->spread / 100);
	uint32_t random = 0;

	if (!part || random_bytes(&r->shared->engine->eval.random, &random, sizeof(random)) < 0)
		return ms;
	return ms - part + (unsigned int)((uint64_t)random * (2u * part + 1) >> 32);
}

/* Without a reset each check would leave a port in TIME_WAIT; a server that has closed first leaves
 * none. */
static void
check_connect_end(struct check_run *r)
{
	if (!conn_is_open(&r->conn))
		return;
	if (!r->conn.eof && !r->conn.err && !check_connect_rule(r)->u.connect.linger)
		conn_reset_on_close(&r->conn);
	conn_close_late(&r->conn);
}

static void
end_run(struct check_run *r)
{
	if (r->state == CHECK_COMMAND)
		external_cancel(r->shared->external, &r->job);
	timer_stop(check_run_deadlines(r), &r->deadline);
	check_h2_end(r);
	if (!check_tls_await_session(r))
		check_connect_end(r);
	check_bytes_drop(r);
	vars_fini(&r->vars);
	r->state = CHECK_IDLE;
	r->check->is_running = 0;
}

/* Checks begin at multiples of SLOT_MS: of many, several share a wake-up of the loop. */
static uint64_t
next_slot(uint64_t at_ms)
{
	return (at_ms + SLOT_MS - 1) / SLOT_MS * SLOT_MS;
}

/* Cannot fail during a run: the timer is in its heap, or has left it just now. */
static void
move_deadline(struct check_run *r, uint64_t at_ms)
{
	(void)!timer_set(check_run_deadlines(r), &r->deadline, at_ms);
}

static void
plan_run(struct check_run *r, uint64_t at_ms)
{
	if (r->state != CHECK_IDLE)
		return;
	r->due_ms = next_slot(at_ms);
	/* Cannot fail: the heap, which has nothing else in it, had room for the starts of all
	 * checks. */
	(void)!timer_set(check_run_starts(r), &r->start, r->due_ms);
}

/* The interval is between the end of a check and the start of the next one. Lateness of the loop
 * is not added to it. */
static void
finish_run(struct check_run *r, const struct check_verdict *v)
{
	uint64_t now = check_run_now(r), took = now - r->start_ms;

	end_run(r);
	check_result_apply(r->shared->engine, r->check, v, (unsigned int)took);
	plan_run(r, MAX(r->due_ms + took + interval_of(r), now));
}

/* --- steps ----------------------------------------------------------------------------------- */

/*
 * Rules of checks that send, expect and set variables. On the first worker; bytes are in a
 * buffer of the run only while it waits.
 */

#define CHECK_STATE_MAX 512

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

/* --- the state of a server ------------------------------------------------------------------- */

/* Header field that reports its state to a server. On the first worker. */

/* The weight of the servers in use. */
static unsigned int
sum_weights(const struct proxy *be)
{
	unsigned int n = 0;

	list_each(it, &be->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		if (server_is_usable(s) && atomic_read(&s->in_group))
			n += server_eweight(s);
	}
	return (n + SERVER_WEIGHT_SCALE - 1) / SERVER_WEIGHT_SCALE;
}

static unsigned int
sum_sessions(const struct proxy *be)
{
	unsigned int n = 0;

	list_each(it, &be->servers)
		n += atomic_read(&list_entry(it, const struct server, link)->cur);
	return n;
}

/* Its value, in buf. On the first worker. node: the name of this host. */
static struct str
check_state_text(const struct server *s, const char *node, char buf[CHECK_STATE_MAX])
{
	char status[SERVER_STATUS_MAX], host[ADDR_TEXT] = "unix", port[8] = "unix";
	char throttle[32] = "";
	struct addr own;
	int n;

	(void)addr_cell_get(&s->addr, &own);
	if (addr_family(&own) != AF_UNIX) {
		(void)addr_host_text(&own, host);
		(void)snprintf(port, sizeof(port), "%u", addr_port(&own));
	}
	if (s->oper == SERVER_STARTING)
		(void)snprintf(throttle, sizeof(throttle), "; throttle=%llu%%",
			100ull * s->start_age_ms / s->conf.check.slowstart_ms);
	n = snprintf(buf, CHECK_STATE_MAX,
		"%s; address=%s; port=%s; name=%s/%s; node=%s; weight=%u/%u; scur=%u/%u; qcur=%u%s",
		server_status_text(s, status), host, port, s->be->name, s->name, node,
		server_shown_weight(s),
		sum_weights(s->be), atomic_read(&s->cur), sum_sessions(s->be),
		atomic_read(&s->queued), throttle);
	return (struct str){ buf, (size_t)MIN(n, CHECK_STATE_MAX - 1) };
}

/* --- send --- */

static enum check_step
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

static enum check_step
check_send_begin(struct check_run *r, struct check_verdict *v)
{
	struct engine *e = r->shared->engine;
	struct str state = { NULL, 0 };
	char text[CHECK_STATE_MAX];
	struct sample_ctx cx;
	struct sbuf out;
	size_t mark;
	int bad;

	check_bytes_drop(r);
	bad = check_h2_begin(r);
	if (bad < 0)
		return check_run_fail(r, -bad, v);
	if (check_run_server(r)->be->check.send_state)
		state = check_state_text(r->check->srv, r->shared->node, text);
	check_context_init(r, &cx);
	cx.where = r->rule ? &r->rule->where : NULL;
	mark = arena_mark(cx.arena);
	sbuf_init_fixed(&out, r->shared->scratch, e->bufsize);
	if (r->check->is_agent)
		put_agent_text(r->check->srv, &out);
	else
		bad = check_send_build(&r->rule->u.send, &cx, state, r->h2 != NULL, &out);
	arena_release(cx.arena, mark);
	if (bad || out.failed) {
		check_send_failed(r->conf->method, r->rule, v);
		return CHECK_STEP_FAIL;
	}
	r->len = (uint32_t)out.len;
	r->sent = 0;
	return check_send_proceed(r, v);
}

/* --- agents ---------------------------------------------------------------------------------- */

/* Answers of agents. On the first worker. */

static int
contains_line_end(struct str bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		if (bytes.p[i] == '\n' || bytes.p[i] == '\r')
			return 1;
	return 0;
}

static void
apply_admin(struct engine *e, struct server *s, enum agent_admin admin)
{
	switch (admin) {
	case AGENT_ADMIN_SAME:
		break;
	case AGENT_ADMIN_READY:
		server_set_forced(e, s, SERVER_READY);
		break;
	case AGENT_ADMIN_DRAIN:
		server_set_forced(e, s, SERVER_DRAIN_FORCED);
		break;
	case AGENT_ADMIN_MAINT:
		server_set_forced(e, s, SERVER_MAINT_FORCED);
		break;
	}
}

/* A weight that the algorithm does not allow is ignored, as in HAProxy. */
static void
apply_words(struct engine *e, struct server *s, const struct agent_report *say)
{
	apply_admin(e, s, say->admin);
	if (say->weight >= 0)
		(void)!server_set_weight(e, s, server_weight_of(s, say->weight));
	if (say->maxconn >= 0)
		server_set_maxconn(e, s, say->maxconn);
}

/* Reports a line that is not complete: only a whole line counts. */
static void
put_incomplete(const struct check *c, const struct check_input *in, struct check_verdict *out)
{
	out->code = c->code;
	out->status = in->received.len ? c->status : CHECK_L7RSP;
	(void)snprintf(out->info, sizeof(out->info), "%s",
		in->received.len ? "Ignoring incomplete line from agent"
				 : "TCPCHK got an empty response at step 2");
}

/*
 * Waits for a line, and applies its words but those on health: state, weight and maxconn of the
 * server. CHECK_STEP_FAIL: *out is the result.
 */
static enum check_step
check_agent_look(struct engine *e, const struct check *c, const struct check_input *in,
	struct check_verdict *out)
{
	struct agent_report say;

	if (!contains_line_end(in->received) && !in->ended && !in->full)
		return CHECK_STEP_WAIT;
	if (!contains_line_end(in->received)) {
		put_incomplete(c, in, out);
		return CHECK_STEP_FAIL;
	}
	agent_parse(in->received, &say);
	apply_words(e, c->srv, &say);
	*out = say.verdict;
	return CHECK_STEP_FAIL;
}

/* --- expect, set-var --- */

static enum check_step
look_at_answer(struct check_run *r, struct check_verdict *v)
{
	size_t room = r->shared->engine->bufsize;
	struct check_input in = {
		.received = { run_bytes(r), r->len },
		.ended = r->ended,
		.is_h2 = r->h2 != NULL,
		.full = r->len == room,
		.accepts_404 = r->conf->disable_on_404 && r->check->srv->oper != SERVER_STOPPED,
		.field = r->shared->field,
		.max_fields = r->shared->max_fields,
	};
	struct sample_ctx cx;

	if (r->check->is_agent)
		return check_agent_look(r->shared->engine, r->check, &in, v);
	check_context_init(r, &cx);
	cx.where = r->rule ? &r->rule->where : NULL;
	return check_expect_eval(r->rule, &in, &cx, v);
}

static enum check_step
check_expect_proceed(struct check_run *r, struct check_verdict *v)
{
	size_t room = r->shared->engine->bufsize, got = 0;
	enum io_result io = IO_OK;
	enum check_step step = CHECK_STEP_WAIT;

	while (step == CHECK_STEP_WAIT && io == IO_OK && conn_is_ready(&r->conn, DIR_R)) {
		io = conn_recv(&r->conn, run_bytes(r) + r->len, room - r->len, &got);
		if (io == IO_OK)
			r->len += (uint32_t)got;
		r->ended = r->ended || io == IO_EOF || r->conn.eof || check_h2_has_eof(r);
		if (io == IO_ERR && !check_h2_has_eof(r))
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
static enum check_step
check_expect_begin(struct check_run *r, struct check_verdict *v)
{
	enum check_step step = r->len || r->ended ? look_at_answer(r, v) : CHECK_STEP_WAIT;

	return step == CHECK_STEP_WAIT ? check_expect_proceed(r, v) : step;
}

/* Rules on variables see the same bytes, too. */
static enum check_step
check_var_begin(struct check_run *r, struct check_verdict *v)
{
	return look_at_answer(r, v);
}

/* --- the run --------------------------------------------------------------------------------- */

/* The first step of a rule, and the step when the descriptor is ready. */
static check_step_fn *const begin[] = {
	[CHECK_RULE_CONNECT] = check_connect_begin,
	[CHECK_RULE_SEND] = check_send_begin,
	[CHECK_RULE_EXPECT] = check_expect_begin,
	[CHECK_RULE_SET_VAR] = check_var_begin,
	[CHECK_RULE_UNSET_VAR] = check_var_begin,
};

static check_step_fn *const proceed[] = {
	[CHECK_CONNECTING] = check_connect_proceed,
	[CHECK_HANDSHAKING] = check_handshake_proceed,
	[CHECK_TLS_HANDSHAKE] = check_tls_proceed,
	[CHECK_SENDING] = check_send_proceed,
	[CHECK_EXPECTING] = check_expect_proceed,
};

static const struct check_rule *
next_rule(const struct check_run *r)
{
	const struct list *next = r->rule ? r->rule->link.next : r->conf->rules.next;

	return next == &r->conf->rules ? NULL : list_entry(next, const struct check_rule, link);
}

/* `timeout check` is for what follows the connection. HAProxy never makes the deadline earlier. */
static void
set_read_deadline(struct check_run *r)
{
	unsigned int ms = check_run_server(r)->be->to.check;

	r->has_read_deadline = 1;
	if (ms)
		move_deadline(r, MAX(r->deadline.deadline, check_run_now(r) + ms));
}

/* The result of a check whose last rule has passed: that of the last rule not on variables. */
static void
put_passed(const struct check_run *r, struct check_verdict *v)
{
	const struct check_rule *last = r->rule;

	while (last->kind == CHECK_RULE_SET_VAR || last->kind == CHECK_RULE_UNSET_VAR)
		last = list_entry(last->link.prev, const struct check_rule, link);
	if (last->kind != CHECK_RULE_EXPECT)
		check_passed(r->conf->method, last, r->conn.xprt != NULL, v);
	else if (last != r->rule)
		v->code = 0; /* as in HAProxy */
}

/* Runs rules until one has to wait. step: the result of the current one. */
static void
advance_run(struct check_run *r, enum check_step step, struct check_verdict *v)
{
	while (step == CHECK_STEP_NEXT) {
		const struct check_rule *next = next_rule(r);

		if (!next) {
			put_passed(r, v);
			finish_run(r, v);
			return;
		}
		if (r->is_connected && !r->has_read_deadline)
			set_read_deadline(r);
		r->rule = next;
		step = begin[next->kind](r, v);
	}
	if (step == CHECK_STEP_FAIL)
		finish_run(r, v);
}

void
check_run_on_io(void *owner, int fd, uint32_t ev)
{
	struct check_run *r = owner;
	struct check_verdict v = { .status = CHECK_UNK };

	(void)fd;
	(void)ev;
	advance_run(r, proceed[r->state](r, &v), &v);
}
PROFILE_NAME(check_run_on_io, check_io)

/* The time to connect, if the rest has its own (manual, timeout check), or the time for all: always
 * `inter`, also while `fastinter` or `downinter` is the time between checks. */
static unsigned int
first_timeout(const struct check_run *r)
{
	const struct proxy_timeouts *to = &check_run_server(r)->be->to;
	unsigned int inter = check_result_inter(r->check);

	return to->check && to->connect ? MIN(to->connect, inter) : inter;
}

/* --- external checks --- */

static struct check_run *
run_of_job(struct external_job *j)
{
	return container_of(j, struct check_run, job);
}

/* If it has waited for other commands to end, that was no time of this server. */
static void
on_command_start(struct external_job *j)
{
	struct check_run *r = run_of_job(j);
	uint64_t now = check_run_now(r);

	if (now == r->start_ms)
		return;
	r->start_ms = r->due_ms = now;
	move_deadline(r, now + first_timeout(r));
}

/* The result of a check whose command has ended with this status: a code of -1 if it was killed. */
static void
external_verdict(int status, struct check_verdict *out)
{
	out->code = status != EXTERNAL_NO_HELPER && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	out->status = out->code == 0 ? CHECK_PROCOK : CHECK_PROCERR;
	(void)snprintf(out->info, sizeof(out->info), "%s",
		status == EXTERNAL_NO_HELPER ? "the helper process has ended" : "");
}

static void
on_command_end(struct external_job *j, int status)
{
	struct check_verdict v = { .status = CHECK_UNK };

	external_verdict(status, &v);
	finish_run(run_of_job(j), &v);
}

static void
start_command(struct check_run *r)
{
	r->state = CHECK_COMMAND;
	external_start(r->shared->external, &r->job);
}

/* --- the timers --- */

static void
start_run(struct check_run *r)
{
	struct check_verdict v = { .status = CHECK_UNK };

	/* A server in maintenance is not checked (manual 5.2, disabled); only its agent can end
	 * that. Without memory for its deadline a check might not end. */
	if (!r->check->enabled ||
		(!r->check->is_agent && (check_run_server(r)->admin & SERVER_MAINT)) ||
		timer_set(check_run_deadlines(r), &r->deadline,
			check_run_now(r) + first_timeout(r)) < 0) {
		plan_run(r, check_run_now(r) + interval_of(r));
		return;
	}
	check_connect_end(r);
	r->start_ms = check_run_now(r);
	r->check->is_running = 1;
	r->rule = NULL;
	r->is_connected = 0;
	vars_init(&r->vars);
	if (r->conf->method == CHECK_EXTERNAL)
		start_command(r);
	else
		advance_run(r, CHECK_STEP_NEXT, &v);
}

static void
put_timeout(const struct check_run *r, struct check_verdict *v)
{
	const struct check_rule *rule;

	if (r->state == CHECK_COMMAND) {
		*v = (struct check_verdict){ .status = CHECK_PROCTOUT };
		return;
	}
	v->code = -1;
	rule = r->is_connected ? r->rule : check_connect_rule(r);
	/* The SOCKS proxy accepted the connection but did not answer: layer 4 has passed. */
	v->status = r->state == CHECK_HANDSHAKING ? CHECK_L7TOUT
		: r->state == CHECK_TLS_HANDSHAKE ? CHECK_L6TOUT
						  : check_timeout_status(rule);
	check_step_text(r->conf->method, rule, "", v->info);
}

static void
on_start_due(struct timer *t)
{
	start_run(container_of(t, struct check_run, start));
}
PROFILE_NAME(on_start_due, check_start)

static void
on_deadline(struct timer *t)
{
	struct check_run *r = container_of(t, struct check_run, deadline);
	struct check_verdict v = { .status = CHECK_UNK };

	if (r->state == CHECK_IDLE) {
		check_connect_end(r);
		return;
	}
	/* The commands that it waits for have deadlines. */
	if (r->state == CHECK_COMMAND && !r->job.is_running) {
		move_deadline(r, check_run_now(r) + first_timeout(r));
		return;
	}
	put_timeout(r, &v);
	finish_run(r, &v);
}
PROFILE_NAME(on_deadline, check_deadline)

/* --- observe --- */

static void
hurry_run(struct check_run *r)
{
	unsigned int fast = check_run_server(r)->conf.check.fastinter_ms;
	uint64_t at = check_run_now(r) + fast;

	if (fast && at < r->due_ms)
		plan_run(r, at);
}

/* Applies on-error: the sessions of the server have had error-limit consecutive errors, the last
 * one of this kind. */
static void
check_result_observed(struct engine *e, struct check *c, enum server_finding last)
{
	const struct check_server_conf *conf = &c->srv->conf.check;
	struct check_verdict v = { .status = CHECK_HANA, .code = -1 };

	c->observed_fails++;
	switch (conf->on_error) {
	case CHECK_ON_FASTINTER:
		return;
	case CHECK_ON_SUDDEN_DEATH:
		c->health = MIN(c->health, c->rise + 1);
		break;
	case CHECK_ON_MARK_DOWN:
		c->health = MIN(c->health, c->rise);
		break;
	case CHECK_ON_FAIL:
		break;
	}
	(void)snprintf(v.info, sizeof(v.info),
		"Detected %d consecutive errors, last one was: %s", conf->error_limit,
		server_finding_text(last));
	check_result_apply(e, c, &v, 0);
}

/* A task of its own, since it may close the session that has seen the error. */
static void
on_alarm_task(struct task *t)
{
	struct check_run *r = container_of(t, struct check_run, alarm);
	enum server_finding last;
	unsigned int n = server_take_alarms(r->check->srv, &last);

	if (!n || !r->check->enabled || (check_run_server(r)->admin & SERVER_MAINT))
		return;
	while (n-- > 0)
		check_result_observed(r->shared->engine, r->check, last);
	hurry_run(r);
}
PROFILE_NAME(on_alarm_task, check_alarm)

void
check_run_on_alarm(struct engine *e, struct server *srv)
{
	if (srv->check && srv->check->run)
		loop_post(e->loop, &srv->check->run->alarm);
}

static void
external_job_init(struct external_job *j, const struct server *s)
{
	memset(j, 0, sizeof(*j));
	list_init(&j->link);
	j->srv = s;
}

int
check_run_open(struct check_run *r, struct check *c, struct check_shared *shared,
	const struct check_conf *conf, uint64_t at_ms)
{
	memset(r, 0, sizeof(*r));
	r->check = c;
	r->shared = shared;
	r->conf = conf;
	r->due_ms = next_slot(at_ms);
	r->spare = -1;
	conn_init(&r->conn);
	external_job_init(&r->job, c->srv);
	r->job.on_start = on_command_start;
	r->job.on_end = on_command_end;
	timer_init(&r->start, on_start_due);
	timer_init(&r->deadline, on_deadline);
	task_init(&r->alarm, on_alarm_task);
	return timer_set(check_run_starts(r), &r->start, r->due_ms);
}

void
check_run_close(struct check_run *r)
{
	if (r->state != CHECK_IDLE)
		end_run(r);
	timer_stop(check_run_deadlines(r), &r->deadline);
	check_connect_end(r);
	check_connect_drop_spare(r);
	task_cancel(&r->alarm);
	timer_stop(check_run_starts(r), &r->start);
}
