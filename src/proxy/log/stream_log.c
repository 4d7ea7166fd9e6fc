/* Logs a session or a transaction: once, or at the steps that `log-steps` and rules name. On the
 * session's worker; the line waits in the worker's log sink until the turn ends. */
#include "proxy/log/stream_log.h"

#include "base/atomic.h"
#include "base/log.h"
#include "net/conn_err.h"
#include "proxy/model/http_txn.h"
#include "proxy/log/log_format.h"
#include "proxy/log/log_conf.h"
#include "proxy/model/session.h"

/* True if log-separate-errors treats it as an error: a failure, a retry, a status of 500 and above.
 * A rule's response is none. */
static int
is_error(const struct stream *s)
{
	return s->redispatched || s->retries || (s->term[0] != '-' && s->term[0] != 'L') ||
		(s->txn && s->txn->status >= 500);
}

/* `log-steps` names it. */
static int
step_is_listed(const struct proxy *fe, enum log_step step)
{
	return fe->log.steps >> step & 1;
}

/* True if there was no request. */
static int
is_bad(const struct stream *s)
{
	return s->is_http && !(s->txn && s->txn->head_ms);
}

/* A level that rules have set takes precedence (manual, set-log-level); set: as
 * session.log_level. */
static int
level_of(const struct stream *s, int error, int set)
{
	if (set)
		return set - 1;
	return error && (s->sess->fe->options & OPT_LOG_ERRORS) ? LOG_LEVEL_ERR : LOG_LEVEL_INFO;
}

/* All targets get one text. */
static void
send_shared(const struct log_entry *e)
{
	char text[LOG_LEN_MAX + 1], data[LOG_FORMAT_SD_MAX];
	struct proxy_log *conf = &e->s->sess->fe->log;
	const struct list *lines = &e->s->sess->fe->logs;
	struct log_sink *k = e->s->engine->log;
	struct log_message m = { .tag = conf->tag };
	struct sbuf line, sd;
	size_t room = 0;

	sbuf_init_fixed(&sd, data, sizeof(data));
	m.sd = log_format_sd(e, conf->sd.fmt, &conf->sd.where, &sd);
	if (conf->json)
		room = log_room(k, lines, e->level, m.tag, m.sd);
	sbuf_init_fixed(&line, text, sizeof(text));
	m.is_json = log_format_line(e, room, &line);
	m.text = (struct str){ line.p, line.len };
	log_send_message(k, lines, e->level, &m);
}

static void
write_line(struct stream *s, enum log_step step, struct sample_ctx *rule, int set)
{
	struct engine *en = s->engine;
	struct proxy_log *conf = &s->sess->fe->log;
	int error = is_error(s);
	struct log_entry e = {
		.s = s,
		.step = step,
		.level = (enum log_level)level_of(s, error, set),
		.cx = {
			.sys = en->sys,
			.id = &en->log->id,
			.wall = &en->log->wall_past,
			.now_ms = loop_now_ms(en->loop),
			.asap = (s->sess->fe->options & OPT_LOGASAP) != 0,
			.step = log_steps[step].name,
			.rule = rule,
		},
	};

	if (!error && (s->sess->fe->options & OPT_DONTLOG_NORMAL))
		return;
	e.cx.count = atomic_add(&conf->count, 1) - 1;
	if (conf->has_profiles)
		profile_lines_send(&e);
	else
		send_shared(&e);
}

static int
is_line_wanted(const struct stream *s, enum log_step step)
{
	const struct proxy *fe = s->sess->fe;

	return s->own_line == STREAM_LINE_DUE && s->log_level >= 0 && s->engine->log &&
		!list_is_empty(&fe->logs) &&
		(log_format_has_line(s, step) ||
			(fe->log.has_profiles && profile_lines_exist(fe, step)));
}

/* Returns the stage at which all fields are known: those that always exist at once, whether the
 * session succeeded at the end. */
static enum log_stage
stage_of(const struct proxy *fe)
{
	const struct rule_fmt *f = fe->log.format, *sd = fe->log.sd.fmt;
	enum log_stage line = f ? log_format_stage(f) : LOG_STAGE_ACCEPT;
	enum log_stage data = sd ? log_format_stage(sd) : LOG_STAGE_ACCEPT;

	if (fe->log.json || (fe->options & (OPT_DONTLOG_NORMAL | OPT_LOG_ERRORS)))
		return LOG_STAGE_END;
	return MAX(MAX(line, data), (enum log_stage)fe->log.profile_stage);
}

static enum log_step
early_step(const struct stream *s)
{
	if (s->txn)
		return http_has_answer(s->txn) ? LOG_STEP_RESPONSE : LOG_STEP_REQUEST;
	return s->connected_ms ? LOG_STEP_CONNECT : LOG_STEP_ACCEPT;
}

void
stream_log_if_known(struct stream *s)
{
	enum log_step step = early_step(s);
	enum log_stage needed, known;

	/* Connections have calls of their own. */
	if (s->sess->fe->log.steps && s->txn)
		stream_log_listed(s, step);
	/* In mode http each request is logged. */
	if (s->sess->fe->log.steps || !is_line_wanted(s, step) || (s->is_http && !s->txn))
		return;
	known = step == LOG_STEP_RESPONSE || step == LOG_STEP_CONNECT ? LOG_STAGE_CONNECT
								      : LOG_STAGE_ACCEPT;
	needed = stage_of(s->sess->fe);
	if ((s->sess->fe->options & OPT_LOGASAP) && needed == LOG_STAGE_END)
		needed = LOG_STAGE_CONNECT;
	if (needed > known)
		return;
	s->own_line = STREAM_LINE_WRITTEN;
	write_line(s, step, NULL, s->log_level);
}

/*
 * A probe, which sent nothing. Client data is read only once there is a server, so a failure on
 * that side is always logged.
 */
static int
is_null(const struct stream *s)
{
	/* True for all results of a handshake, as in HAProxy. */
	if (s->sess->conn_err == CONN_ERR_TLS_CLOSED || s->sess->conn_err == CONN_ERR_TLS_LATE)
		return 1;
	/* Bytes of a PROXY header are not counted; they are still in the buffer. */
	if (s->sess->conn_err)
		return s->sess->conn_err < CONN_ERR_TLS_CLOSED && s->dir[CLIENT].lookahead == 0;
	return s->dir[CLIENT].bytes == 0 &&
	       (s->connected_ms || s->term[0] == '-' || s->term[0] == 'C' || s->term[0] == 'c');
}

void
stream_log(struct stream *s)
{
	enum log_step step = is_bad(s) || s->sess->conn_err ? LOG_STEP_ERROR : LOG_STEP_CLOSE;

	if (!is_line_wanted(s, step))
		return;
	s->own_line = STREAM_LINE_WRITTEN;
	if ((s->sess->fe->options & OPT_DONTLOGNULL) && is_null(s))
		return;
	if (s->sess->fe->log.steps && step == LOG_STEP_CLOSE && !step_is_listed(s->sess->fe, step))
		return;
	write_line(s, step, NULL, s->log_level);
}

void
stream_log_listed(struct stream *s, enum log_step step)
{
	if (step_is_listed(s->sess->fe, step) && is_line_wanted(s, step))
		write_line(s, step, NULL, s->log_level);
}

/* A line of the rule `do-log`, which reads cx. level: what the rules that are running have set,
 * as stream.log_level. It does not change whether the session has another line. */
static void
stream_log_by_rule(struct stream *s, enum log_step step, struct sample_ctx *cx, int level)
{
	int effective = level ? level : s->log_level;

	if (effective >= 0 && s->engine->log && !list_is_empty(&s->sess->fe->logs))
		write_line(s, step, cx, effective);
}

/* --- action do-log --- */

static const enum log_step steps[RULE_PLACES] = {
	[RULE_TCP_CONNECTION] = LOG_STEP_TCP_REQ_CONN,
	[RULE_TCP_SESSION] = LOG_STEP_TCP_REQ_SESS,
	[RULE_TCP_REQ_CONTENT] = LOG_STEP_TCP_REQ_CONT,
	[RULE_TCP_RES_CONTENT] = LOG_STEP_TCP_RES_CONT,
	[RULE_HTTP_REQUEST] = LOG_STEP_HTTP_REQ,
	[RULE_HTTP_RESPONSE] = LOG_STEP_HTTP_RES,
	[RULE_HTTP_AFTER_RESPONSE] = LOG_STEP_HTTP_AFTER_RES,
};

static int
parse_do_log(struct rule *r unused, const struct rule_vocab *v unused, struct cfg_ctx *ctx unused,
	int arg, unsigned int at unused)
{
	return arg;
}

/* Logs the step of a rule do-log. What later rules may read is restored afterwards. */
static enum rule_result
run_do_log(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	const void *log = cx->log;
	unsigned int at = cx->at;

	stream_log_by_rule(out->proxy, steps[r->place], cx, out->log_level);
	cx->log = log;
	cx->at = at;
	return RULE_CONT;
}

const struct rule_action log_actions[] = {
	{ .name = "do-log",
		.places = RULE_IN_TCP | RULE_IN_HTTP,
		.parse = parse_do_log,
		.run = run_do_log,
		.doc = "Writes a log line now, besides those that the frontend writes by itself. "
			"Its step, for a log-profile, is named after the list of the rule: "
			"tcp-req-conn, tcp-req-sess, tcp-req-cont, tcp-res-cont, http-req, "
			"http-res or http-after-res." },
	{ 0 },
};
