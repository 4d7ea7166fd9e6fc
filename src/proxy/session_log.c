#include "proxy/session_log.h"

#include "base/atomic.h"
#include "base/log.h"
#include "proxy/http_txn.h"
#include "proxy/log_format.h"
#include "proxy/session.h"

static void
write_line(struct session *s)
{
	struct engine *e = s->engine;
	struct log_sink *k = e->log;
	struct proxy_log *conf = &s->fe->log;
	struct log_context cx = {
		.sys = e->sys,
		.id = &k->id,
		.wall = &k->wall_past,
		.now_ms = loop_now_ms(e->loop),
		.asap = (s->fe->options & OPT_LOGASAP) != 0,
		.count = atomic_add(&conf->count, 1) - 1,
	};
	char text[LOG_LEN_MAX + 1];
	struct sbuf line;

	sbuf_init_fixed(&line, text, sizeof(text));
	if (conf->format)
		log_format_render(conf->format, s, &cx, &line);
	else
		log_format_render_default(s, &cx, &line);
	log_send(k, &s->fe->logs, LOG_LEVEL_INFO, conf->tag, line.p, line.len);
}

static int
is_wanted(const struct session *s)
{
	return !s->logged && s->engine->log && !list_is_empty(&s->fe->logs);
}

void
session_log_early(struct session *s)
{
	const struct rule_fmt *f = s->fe->log.format;
	enum log_stage needed = f ? log_format_stage(f) : LOG_STAGE_ACCEPT;
	enum log_stage known;

	/* In mode http requests are logged, each by itself. */
	if (!is_wanted(s) || (s->fe->mode == PROXY_HTTP && !s->txn))
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
 * A probe: it sent nothing. What a client says is only read once there is a server, so that a
 * failure on that side is logged whatever the client may have had to say.
 */
static int
is_null(const struct session *s)
{
	return s->half[CLIENT].bytes == 0 &&
	       (s->connected_ms || s->term[0] == '-' || s->term[0] == 'C' || s->term[0] == 'c');
}

void
session_log(struct session *s)
{
	if (!is_wanted(s))
		return;
	s->logged = 1;
	if ((s->fe->options & OPT_DONTLOGNULL) && is_null(s))
		return;
	write_line(s);
}
