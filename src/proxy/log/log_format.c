/* Compiles log formats. Main thread; what a format needs says when a session can be logged. */
#include "proxy/log/log_format.h"

#include <assert.h>

#include "net/proxy_header.h"
#include "proxy/model/addr_override.h"
#include "proxy/log/log_alias.h"
#include "proxy/model/session.h"

#define SCOPE (SAMPLE_AT_CONN | SAMPLE_AT_BACK | SAMPLE_AT_SERVER | SAMPLE_AT_END)

int
log_format_compile(const struct rule_vocab *v, const char *text, int http, struct rule_fmt **out,
	struct rule_err *why)
{
	return rule_fmt_compile(
		v, text, RULE_FMT_LOG, SCOPE | (http ? SAMPLE_AT_TXN : 0), out, why);
}

enum log_stage
log_format_stage(const struct rule_fmt *f)
{
	unsigned int needs = rule_fmt_needs(f);

	if (needs & ~(unsigned int)(SAMPLE_AT_CONN | SAMPLE_AT_BACK | SAMPLE_AT_SERVER))
		return LOG_STAGE_END;
	return needs & SAMPLE_AT_SERVER ? LOG_STAGE_CONNECT : LOG_STAGE_ACCEPT;
}

static void
look_at(struct eval *l, struct session *s, const struct log_context *cx)
{
	unsigned int txn = s->is_http ? SAMPLE_AT_TXN : 0;

	eval_init(l, s, SCOPE | txn);
	l->log = *cx;
}

void
log_format_render(const struct rule_fmt *f, struct session *s, const struct log_context *cx,
	struct sbuf *out)
{
	struct eval l;

	look_at(&l, s, cx);
	rule_fmt_write(f, &l.cx, out);
}

static void
put_alias(const struct eval *l, const char *name, struct sbuf *out)
{
	const struct rule_alias *a = log_alias_find(name);

	assert(a);
	a->write(&l->cx, RULE_FMT_LOG, out);
}

void
log_format_render_default(struct session *s, const struct log_context *cx, struct sbuf *out)
{
	struct eval l;

	look_at(&l, s, cx);
	sbuf_adds(out, "Connect ");
	if (addr_family(addr_override_source(s)) != AF_UNIX) {
		sbuf_adds(out, "from ");
		put_alias(&l, "ci", out);
		sbuf_addc(out, ':');
		put_alias(&l, "cp", out);
		sbuf_addc(out, ' ');
	}
	sbuf_adds(out, "to ");
	put_alias(&l, "fi", out);
	sbuf_addc(out, ':');
	put_alias(&l, "fp", out);
	sbuf_adds(out, " (");
	put_alias(&l, "f", out);
	sbuf_adds(out, s->is_http ? "/HTTP)" : "/TCP)");
}

void
log_format_render_refused(struct session *s, const struct log_context *cx, struct sbuf *out)
{
	const struct listener *ln = s->listener;
	struct eval l;

	look_at(&l, s, cx);
	put_alias(&l, "ci", out);
	sbuf_addc(out, ':');
	put_alias(&l, "cp", out);
	sbuf_adds(out, " [");
	put_alias(&l, "t", out);
	sbuf_addf(out, "] %s/", s->fe->name);
	if (ln->bind->name)
		sbuf_adds(out, ln->bind->name);
	else
		sbuf_addu(out, (uint64_t)ln->id);
	sbuf_addf(out, ": %s", conn_err_text((enum conn_err)s->conn_err));
}
