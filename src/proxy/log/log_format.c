/* Compiles log formats, on the main thread, and writes lines with them, on the session's worker.
 * The needs of a format decide when a session can be logged. */
#include "proxy/log/log_format.h"

#include <assert.h>

#include "net/proxy_header.h"
#include "proxy/model/addr_override.h"
#include "proxy/log/log_alias.h"
#include "proxy/log/log_json.h"
#include "proxy/model/session.h"

#define SCOPE (SAMPLE_AT_CONN | SAMPLE_AT_BACK | SAMPLE_AT_SERVER | SAMPLE_AT_END)

int
log_format_compile(const struct rule_vocab *v, const char *text, int http, struct rule_fmt **out,
	struct rule_err *why)
{
	return log_format_compile_at(v, text, http ? SAMPLE_AT_TXN : 0, out, why);
}

int
log_format_compile_at(const struct rule_vocab *v, const char *text, unsigned int at,
	struct rule_fmt **out, struct rule_err *why)
{
	return rule_fmt_compile(v, text, RULE_FMT_LOG, SCOPE | at, out, why);
}

enum log_stage
log_format_stage(const struct rule_fmt *f)
{
	unsigned int needs = rule_fmt_needs(f);

	if (needs & ~(unsigned int)(SAMPLE_AT_CONN | SAMPLE_AT_BACK | SAMPLE_AT_SERVER))
		return LOG_STAGE_END;
	return needs & SAMPLE_AT_SERVER ? LOG_STAGE_CONNECT : LOG_STAGE_ACCEPT;
}

/* Sets up the context of a log line. A rule that logs has what the rule can use, and what every
 * line has. */
static struct sample_ctx *
look_at(struct eval *l, struct stream *s, const struct log_context *cx)
{
	unsigned int txn = s->is_http ? SAMPLE_AT_TXN : 0;

	if (cx->rule) {
		cx->rule->log = cx;
		cx->rule->at |= SCOPE | txn;
		return cx->rule;
	}
	eval_init(l, s, SCOPE | txn);
	l->log = *cx;
	l->cx.req_ended = 1;
	return &l->cx;
}

void
log_format_render(const struct rule_fmt *f, const struct cfg_where *where, struct stream *s,
	const struct log_context *cx, struct sbuf *out)
{
	struct eval l;
	struct sample_ctx *eval = look_at(&l, s, cx);
	const struct cfg_where *rule = eval->where;

	eval->where = where;
	rule_fmt_write(f, eval, out);
	eval->where = rule;
}

/* --- the line of a session --- */

static void
put_alias(const struct sample_ctx *l, const char *name, struct sbuf *out)
{
	const struct rule_alias *a = log_alias_find(name);

	assert(a);
	a->write(l, RULE_FMT_LOG, out);
}

/* The default format of frontends: "Connect from ..." (manual 8.2.1). Known at accept. */
static void
render_default(struct stream *s, const struct log_context *cx, struct sbuf *out)
{
	struct eval eval;
	const struct sample_ctx *l = look_at(&eval, s, cx);

	sbuf_adds(out, "Connect ");
	if (addr_family(addr_override_source(s)) != AF_UNIX) {
		sbuf_adds(out, "from ");
		put_alias(l, "ci", out);
		sbuf_addc(out, ':');
		put_alias(l, "cp", out);
		sbuf_addc(out, ' ');
	}
	sbuf_adds(out, "to ");
	put_alias(l, "fi", out);
	sbuf_addc(out, ':');
	put_alias(l, "fp", out);
	sbuf_adds(out, " (");
	put_alias(l, "f", out);
	sbuf_adds(out, s->is_http ? "/HTTP)" : "/TCP)");
}

/* The line of a session without a valid PROXY header (manual 8.2.5). */
static void
render_refused(struct stream *s, const struct log_context *cx, struct sbuf *out)
{
	const struct listener *ln = s->sess->listener;
	struct eval eval;
	const struct sample_ctx *l = look_at(&eval, s, cx);

	put_alias(l, "ci", out);
	sbuf_addc(out, ':');
	put_alias(l, "cp", out);
	sbuf_adds(out, " [");
	put_alias(l, "t", out);
	sbuf_addf(out, "] %s/", s->sess->fe->name);
	if (ln->bind->name)
		sbuf_adds(out, ln->bind->name);
	else
		sbuf_addu(out, (uint64_t)ln->id);
	sbuf_addf(out, ": %s", conn_err_text((enum conn_err)s->sess->conn_err));
}

/* A session without a request has the default format's line at other steps only, as in HAProxy. One
 * with an invalid PROXY header, or no handshake, has its own line. */
int
log_format_has_line(const struct stream *s, enum log_step step)
{
	const struct proxy_log *conf = &s->sess->fe->log;

	return step != LOG_STEP_ERROR || conf->format || conf->json || conf->error.fmt ||
		s->sess->conn_err;
}

int
log_format_line(const struct log_entry *e, size_t room, struct sbuf *out)
{
	struct stream *s = e->s;
	const struct proxy_log *conf = &s->sess->fe->log;

	if (conf->error.fmt && e->step == LOG_STEP_ERROR)
		log_format_render(conf->error.fmt, &conf->error.where, s, &e->cx, out);
	else if (conf->json) {
		log_json_write(s, &e->cx, room, out);
		return 1;
	} else if (s->sess->conn_err)
		render_refused(s, &e->cx, out);
	else if (conf->format)
		log_format_render(conf->format, &conf->format_where, s, &e->cx, out);
	else
		render_default(s, &e->cx, out);
	return 0;
}

const char *
log_format_sd(const struct log_entry *e, const struct rule_fmt *f, const struct cfg_where *where,
	struct sbuf *out)
{
	if (f)
		log_format_render(f, where, e->s, &e->cx, out);
	return out->len && !out->failed ? out->p : NULL;
}
