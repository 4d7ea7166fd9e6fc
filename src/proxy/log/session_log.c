/* Logs a session or a transaction, once. On the session's worker; the line waits in the
 * worker's log sink until the turn ends. */
#include "proxy/log/session_log.h"

#include "base/atomic.h"
#include "base/log.h"
#include "net/conn_err.h"
#include "proxy/model/http_txn.h"
#include "proxy/log/log_format.h"
#include "proxy/log/log_json.h"
#include "proxy/model/session.h"

/* Maximum length of structured data; longer data is omitted. */
#define SD_MAX 4096

/* What log-separate-errors treats as an error: a failure, a retry, a status of 500 and above. A
 * rule's response is none. */
static int
is_error(const struct session *s)
{
	return s->redispatched || s->retries || (s->term[0] != '-' && s->term[0] != 'L') ||
		(s->txn && s->txn->status >= 500);
}

/* It had no request. */
static int
is_bad(const struct session *s)
{
	return s->is_http && !(s->txn && s->txn->head_ms);
}

/* 1: it is JSON. */
static int
render_line(struct session *s, const struct log_context *cx, size_t room, struct sbuf *out)
{
	const struct proxy_log *conf = &s->fe->log;

	if (conf->error.fmt && (is_bad(s) || s->conn_err))
		log_format_render(conf->error.fmt, s, cx, out);
	else if (conf->json) {
		log_json_write(s, cx, room, out);
		return 1;
	} else if (s->conn_err)
		log_format_render_refused(s, cx, out);
	else if (conf->format)
		log_format_render(conf->format, s, cx, out);
	else
		log_format_render_default(s, cx, out);
	return 0;
}

/* A rule's level takes precedence (manual, set-log-level). */
static int
level_of(const struct session *s, int error)
{
	if (s->log_level)
		return s->log_level - 1;
	return error && (s->fe->options & OPT_LOG_ERRORS) ? LOG_LEVEL_ERR : LOG_LEVEL_INFO;
}

static void
write_line(struct session *s)
{
	struct engine *e = s->engine;
	struct log_sink *k = e->log;
	struct proxy_log *conf = &s->fe->log;
	int error = is_error(s), is_json;
	struct log_context cx = {
		.sys = e->sys,
		.id = &k->id,
		.wall = &k->wall_past,
		.now_ms = loop_now_ms(e->loop),
		.asap = (s->fe->options & OPT_LOGASAP) != 0,
	};
	enum log_level level = (enum log_level)level_of(s, error);
	char text[LOG_LEN_MAX + 1], data[SD_MAX];
	const char *extra = NULL;
	struct sbuf line, sd;
	size_t room = 0;

	if (!error && (s->fe->options & OPT_DONTLOG_NORMAL))
		return;
	cx.count = atomic_add(&conf->count, 1) - 1;
	sbuf_init_fixed(&sd, data, sizeof(data));
	if (conf->sd.fmt)
		log_format_render(conf->sd.fmt, s, &cx, &sd);
	if (sd.len && !sd.failed)
		extra = sd.p;
	if (conf->json)
		room = log_room(k, &s->fe->logs, level, conf->tag, extra);
	sbuf_init_fixed(&line, text, sizeof(text));
	is_json = render_line(s, &cx, room, &line);
	log_send_sd(k, &s->fe->logs, level, conf->tag, extra, is_json, line.p,
		line.len);
}

/* The default format is only for sessions that reached a request, as in HAProxy. Those with an
 * invalid PROXY header, or no handshake, have their own line. */
static int
has_line(const struct session *s)
{
	const struct proxy_log *conf = &s->fe->log;

	return conf->format || conf->json || conf->error.fmt || s->conn_err || !is_bad(s);
}

static int
is_line_wanted(const struct session *s)
{
	return !s->logged && s->log_level >= 0 && s->engine->log &&
		!list_is_empty(&s->fe->logs) && has_line(s);
}

/* Fields that always exist; whether the session succeeded is known at the end. */
static enum log_stage
stage_of(const struct proxy *fe)
{
	const struct rule_fmt *f = fe->log.format, *sd = fe->log.sd.fmt;
	enum log_stage line = f ? log_format_stage(f) : LOG_STAGE_ACCEPT;
	enum log_stage data = sd ? log_format_stage(sd) : LOG_STAGE_ACCEPT;

	if (fe->log.json || (fe->options & (OPT_DONTLOG_NORMAL | OPT_LOG_ERRORS)))
		return LOG_STAGE_END;
	return MAX(line, data);
}

void
session_log_early(struct session *s)
{
	enum log_stage needed = stage_of(s->fe), known;

	/* In mode http each request is logged. */
	if (!is_line_wanted(s) || (s->is_http && !s->txn))
		return;
	if (s->txn)
		known = http_has_answer(s->txn) ? LOG_STAGE_CONNECT : LOG_STAGE_ACCEPT;
	else
		known = s->connected_ms ? LOG_STAGE_CONNECT : LOG_STAGE_ACCEPT;
	if ((s->fe->options & OPT_LOGASAP) && needed == LOG_STAGE_END)
		needed = LOG_STAGE_CONNECT;
	if (needed > known)
		return;
	s->logged = 1;
	write_line(s);
}

/*
 * A probe, which sent nothing. Client data is read only once there is a server, so a failure on
 * that side is always logged.
 */
static int
is_null(const struct session *s)
{
	/* Whatever has come of a handshake, as in HAProxy. */
	if (s->conn_err == CONN_ERR_TLS_CLOSED || s->conn_err == CONN_ERR_TLS_LATE)
		return 1;
	/* Bytes of a PROXY header are not counted; they are still in the buffer. */
	if (s->conn_err)
		return s->conn_err < CONN_ERR_TLS_CLOSED && s->dir[CLIENT].lookahead == 0;
	return s->dir[CLIENT].bytes == 0 &&
	       (s->connected_ms || s->term[0] == '-' || s->term[0] == 'C' || s->term[0] == 'c');
}

void
session_log(struct session *s)
{
	if (!is_line_wanted(s))
		return;
	s->logged = 1;
	if ((s->fe->options & OPT_DONTLOGNULL) && is_null(s))
		return;
	write_line(s);
}
