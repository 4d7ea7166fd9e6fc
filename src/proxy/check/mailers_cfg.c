/* Alerts by email as they are configured. Main thread, while the configuration is read. */
#include "proxy/check/mailers_cfg.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "cfg/suggest.h"
#include "net/smtp.h"
#include "proxy/model/proxies.h"

#define TIMEOUT_DEFAULT_MS 10000u

/* --- sections -------------------------------------------------------------------------------- */

static struct mailers_conf *
find_mailers(const struct proxies *ps, const char *name)
{
	list_each(it, &ps->mailers) {
		struct mailers_conf *c = list_entry(it, struct mailers_conf, link);

		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

static void
free_mailer(struct mailer_conf *m)
{
	list_remove(&m->link);
	mem_free(m->name);
	mem_free(m);
}

void
mailers_confs_free(struct list *sections)
{
	list_each_safe(it, sections) {
		struct mailers_conf *c = list_entry(it, struct mailers_conf, link);

		list_each_safe(mt, &c->mailers)
			free_mailer(list_entry(mt, struct mailer_conf, link));
		list_remove(&c->link);
		mem_free(c->name);
		mem_free(c);
	}
}

static int
begin_mailers(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	struct mailers_conf *c;

	if (find_mailers(ps, ctx->name))
		return cfg_error(ctx, 0, "section 'mailers %s' exists already.", ctx->name);
	c = mem_zalloc(sizeof(*c));
	if (!c || mem_copy_string(&c->name, ctx->name) < 0) {
		mem_free(c);
		return cfg_nomem(ctx);
	}
	c->where = cfg_arg_where(ctx, -1);
	c->timeout_ms = TIMEOUT_DEFAULT_MS;
	list_init(&c->mailers);
	list_append(&ps->mailers, &c->link);
	ctx->obj = c;
	return 0;
}

static int
parse_mailer(struct cfg_ctx *ctx)
{
	struct mailers_conf *c = ctx->obj;
	char buf[CFG_ADDRESS_MAX];
	const char *why = "", *text = cfg_arg_address(ctx, 1, buf);
	struct addr_spec spec;
	struct mailer_conf *m;

	if (!text)
		return -1;
	if (addr_parse(text, ADDR_ALLOW_NAME | ADDR_WANT_PORT, &spec, &why) < 0)
		return cfg_error(ctx, 1, "'mailer %s' : '%.200s' : %s.", cfg_arg(ctx, 0), text,
			why);
	list_each(it, &c->mailers)
		if (strcmp(list_entry(it, struct mailer_conf, link)->name, cfg_arg(ctx, 0)) == 0)
			return cfg_error(ctx, 0, "'mailer' : '%s' is in this section already.",
				cfg_arg(ctx, 0));
	m = mem_zalloc(sizeof(*m));
	if (!m || mem_copy_string(&m->name, cfg_arg(ctx, 0)) < 0) {
		mem_free(m);
		return cfg_nomem(ctx);
	}
	m->addr = spec.addr;
	list_append(&c->mailers, &m->link);
	return 0;
}

static int
parse_mail_timeout(struct cfg_ctx *ctx)
{
	struct mailers_conf *c = ctx->obj;
	uint64_t ms;

	if (cfg_arg_time(ctx, 0, CFG_UNIT_MS, 1, CFG_TIME_MAX_MS, &ms) < 0)
		return -1;
	c->timeout_ms = (uint32_t)ms;
	return 0;
}

/* --- proxies --------------------------------------------------------------------------------- */

/* The settings of the section, made by the first line. NULL after "out of memory". */
static struct email_conf *
own_email(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;

	if (!p->email) {
		p->email = mem_zalloc(sizeof(*p->email));
		if (p->email)
			p->email->level = LOG_LEVEL_ALERT;
		else
			(void)cfg_nomem(ctx);
	}
	if (p->email)
		p->email->where = cfg_arg_where(ctx, -1);
	return p->email;
}

/* A frontend has no servers. */
static void
note_frontend(struct cfg_ctx *ctx)
{
	if (ctx->section->bit == CFG_FRONTEND)
		cfg_note(ctx, -1, "'%s' has no effect in a frontend: alerts are about servers.",
			cfg_kw_name(ctx));
}

static int
parse_email_text(struct cfg_ctx *ctx)
{
	struct email_conf *c = own_email(ctx);

	if (!c)
		return -1;
	if (ctx->kw->arg != EMAIL_MAILERS && !smtp_word_is_valid(cfg_arg(ctx, 0)))
		return cfg_error(ctx, 0, "'%s' : '%.60s' : blanks, angle brackets, control "
					 "characters and bytes that are not ASCII have no place in "
					 "a command of SMTP.",
			cfg_kw_name(ctx), cfg_arg(ctx, 0));
	if (ctx->kw->arg == EMAIL_MAILERS)
		c->mailers_where = cfg_arg_where(ctx, 0);
	note_frontend(ctx);
	return cfg_arg_dup(ctx, 0, &c->text[ctx->kw->arg]);
}

static const struct cfg_enum level_words[] = {
	{ "emerg", LOG_LEVEL_EMERG, "Nothing: no alert is so severe." },
	{ "alert", LOG_LEVEL_ALERT, "Servers that are down." },
	{ "crit", LOG_LEVEL_CRIT, "The same." },
	{ "err", LOG_LEVEL_ERR, "The same." },
	{ "warning", LOG_LEVEL_WARNING, "The same." },
	{ "notice", LOG_LEVEL_NOTICE, "Also servers that are up again, that enter the drain state, "
		"and that are down after they were drained." },
	{ "info", LOG_LEVEL_INFO, "Also results of checks, with 'option log-health-checks'." },
	{ "debug", LOG_LEVEL_DEBUG, "The same." },
	{ 0 },
};

static int
parse_email_level(struct cfg_ctx *ctx)
{
	struct email_conf *c = own_email(ctx);
	int level;

	if (!c || cfg_arg_enum(ctx, 0, level_words, &level) < 0)
		return -1;
	c->level = (enum log_level)level;
	note_frontend(ctx);
	return 0;
}

int
email_conf_inherit(struct email_conf **to, const struct email_conf *defaults)
{
	struct email_conf *c;

	if (!defaults)
		return 0;
	c = mem_zalloc(sizeof(*c));
	if (!c)
		return -ERR_NOMEM;
	*to = c;
	c->level = defaults->level;
	c->where = defaults->where;
	c->mailers_where = defaults->mailers_where;
	for (int i = 0; i < EMAIL_TEXTS; i++)
		if (mem_copy_string(&c->text[i], defaults->text[i]) < 0)
			return -ERR_NOMEM;
	return 0;
}

void
email_conf_free(struct email_conf **pc)
{
	struct email_conf *c = *pc;

	if (!c)
		return;
	*pc = NULL;
	for (int i = 0; i < EMAIL_TEXTS; i++)
		mem_free(c->text[i]);
	mem_free(c);
}

/* --- the whole configuration ----------------------------------------------------------------- */

static int
report_missing_section(const struct proxies *ps, const struct proxy *p, struct cfg_diag *d)
{
	const struct email_conf *c = p->email;
	struct cfg_suggest near;

	cfg_suggest_init(&near, c->text[EMAIL_MAILERS]);
	list_each(it, &ps->mailers)
		cfg_suggest_offer(&near, list_entry(it, struct mailers_conf, link)->name);
	cfg_diag_add(d, CFG_ALERT, &c->mailers_where,
		"'email-alert mailers' : there is no section 'mailers %s', which %s '%s' "
		"names%s%s%s.",
		c->text[EMAIL_MAILERS], proxy_kind(p), p->name,
		near.best ? "; did you mean '" : "", near.best ? near.best : "",
		near.best ? "'?" : "");
	return -1;
}

/* 0, or -1 after a report. */
static int
finish_email(const struct proxies *ps, struct proxy *p, struct cfg_diag *d)
{
	static const char *const needed[] = { "from", "to", "mailers" };
	struct email_conf *c = p->email;

	if (!c || !(p->caps & PROXY_BE) || p->disabled)
		return 0;
	for (int i = 0; i < EMAIL_HOST; i++)
		if (!c->text[i]) {
			cfg_diag_add(d, CFG_WARNING, &c->where,
				"'email-alert' : %s '%s' sends no alerts: 'email-alert %s' is "
				"missing.",
				proxy_kind(p), p->name, needed[i]);
			return 0;
		}
	c->to = find_mailers(ps, c->text[EMAIL_MAILERS]);
	if (!c->to)
		return report_missing_section(ps, p, d);
	c->to->is_used = 1;
	return 0;
}

int
mailers_cfg_finish(struct proxies *ps, struct cfg_diag *d)
{
	int r = 0;

	/* A refused line may have caused what follows. */
	if (d->count[CFG_ALERT])
		return 0;
	list_each(it, &ps->all)
		r |= finish_email(ps, list_entry(it, struct proxy, link), d);
	list_each(it, &ps->mailers) {
		const struct mailers_conf *c = list_entry(it, const struct mailers_conf, link);

		if (list_is_empty(&c->mailers))
			cfg_diag_add(d, CFG_WARNING, &c->where,
				"section 'mailers %s' has no mailer: it sends no alerts.", c->name);
		else if (!c->is_used)
			cfg_diag_add(d, CFG_NOTICE, &c->where,
				"section 'mailers %s' has no effect: no proxy sends alerts to it.",
				c->name);
	}
	return r;
}

#define EXAMPLE                                                                            \
	"mailers ops\n    mailer smtp1 192.0.2.25:25\nbackend web\n"                         \
	"    email-alert mailers ops\n    email-alert from proxy@example.net\n"              \
	"    email-alert to ops@example.net\n    email-alert level notice\n"                 \
	"    server app1 192.0.2.1:80 check\n"

#define EMAIL(n, id, syn, text, ...)                                                       \
	{ .name = "email-alert " n, .sections = CFG_PROXIES, .min = 1, .max = 1,               \
		.parse = parse_email_text, .arg = id, .syntax = syn, .doc = text, __VA_ARGS__ }

static const struct cfg_kw kws[] = {
	{ .name = "mailer",
		.sections = CFG_MAILERS,
		.min = 2,
		.max = 2,
		.parse = parse_mailer,
		.syntax = "<name> <address>:<port>",
		.dflt = "none",
		.doc = "A mail server, which is spoken to in SMTP, without TLS and without a "
		       "password: one nearby that passes mails on. Each mailer of the section "
		       "gets each alert, over a connection of its own, in their order. If a "
		       "connection fails, or the server refuses with 4xx, or the greeting or HELO "
		       "with 5xx, the alert is sent again after 1 s, and after up to 60 s while "
		       "that fails, for 10 minutes; if its sender, recipient or text is refused "
		       "with 4xx, alerts to other recipients are sent before. One that is refused "
		       "with 5xx after HELO is dropped, and so is one whose reply is missing when "
		       "the whole mail was sent: it may have arrived. 1000 alerts wait for a "
		       "mailer; further ones are dropped. A process that ends, also the previous "
		       "one after a reload, sends what waits for up to 2 s after the last "
		       "reply, 10 s in all, unless the last attempt has failed, and drops the "
		       "rest. "
		       "The log of the section global has the first failure, how many were dropped "
		       "when a mail is taken again, and how many a process drops at its end." },
	{ .name = "timeout mail",
		.sections = CFG_MAILERS,
		.min = 1,
		.max = 1,
		.parse = parse_mail_timeout,
		.syntax = "<time>",
		.dflt = "10 s",
		.doc = "Time for one mail, from the connection to the end." },
	EMAIL("from", EMAIL_FROM, "<address>", "The sender of alerts. No alerts are sent without "
		"the lines from, to and mailers.", .dflt = "none", .example = EXAMPLE),
	{ .name = "email-alert level",
		.sections = CFG_PROXIES,
		.min = 1,
		.max = 1,
		.parse = parse_email_level,
		.syntax = "<level>",
		.values = level_words,
		.dflt = "alert",
		.doc = "The least severe alerts that are sent. There is no alert when a server "
		       "enters maintenance, since an operator has caused that.",
		.example = "email-alert level notice\n" },
	EMAIL("mailers", EMAIL_MAILERS, "<section>", "The section 'mailers' whose mail servers get "
		"alerts about the servers of this proxy.", .dflt = "none", .example = EXAMPLE),
	EMAIL("myhostname", EMAIL_HOST, "<name>", "The name of this host for the mail server.",
		.dflt = "the host's, or localhost where that is not valid",
		.example = "email-alert myhostname proxy1.example.net\n"),
	EMAIL("to", EMAIL_TO, "<address>", "The recipient of alerts.", .dflt = "none",
		.example = "email-alert to ops@example.net\n"),
	{ 0 },
};

static const struct cfg_section sections[] = {
	{ .name = "mailers",
		.bit = CFG_MAILERS,
		.flags = CFG_SEC_NAMED,
		.begin = begin_mailers,
		.doc = "Mail servers that get an alert when the state of a server changes; lines "
		       "'email-alert' of a proxy name the section. An alert has HAProxy's words: "
		       "the subject is '[HAProxy Alert]' and the message that is logged." },
	{ 0 },
};

const struct cfg_module mailers_cfg_module = {
	.name = "mailers",
	.kws = kws,
	.sections = sections,
};
