/* Log settings of proxies and of global. Main thread, while the configuration is read; only
 * read after that. */
#include "proxy/log/log_conf.h"

#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "proxy/log/log_format.h"
#include "proxy/model/log_profile.h"
#include "proxy/model/proxies.h"
#include "proxy/model/ring_conf.h"
#include "proxy/model/session.h"

static int profile_lines_compile(struct proxy *p, struct proxies *root, struct cfg_diag *d);

void
log_global_init(struct log_global *g)
{
	memset(g, 0, sizeof(*g));
	list_init(&g->lines);
	list_init(&g->rings);
	list_init(&g->profiles);
}

void
log_global_fini(struct log_global *g)
{
	log_lines_free(&g->lines);
	ring_confs_free(&g->rings);
	log_profiles_free(&g->profiles);
	mem_free(g->tag);
	mem_free(g->hostname);
	log_global_init(g);
}

void
log_global_ident(const struct log_global *g, const char *progname, const char *node, int pid,
		 struct log_ident *out)
{
	out->tag = g->tag ? g->tag : progname;
	out->hostname = g->hostname && !*g->hostname ? node : g->hostname;
	out->pid = pid;
	out->node = node;
}

/* Appends copies of lines to `to`: 0 or -ERR_NOMEM. */
static int
copy_log_lines(struct list *to, const struct list *from)
{
	list_each(it, (struct list *)(uintptr_t)from) {
		struct log_line *copy = mem_alloc(sizeof(*copy));

		if (!copy)
			return -ERR_NOMEM;
		*copy = *list_entry(it, struct log_line, link);
		list_append(to, &copy->link);
	}
	return 0;
}

void
log_lines_free(struct list *lines)
{
	list_each_safe(it, lines) {
		list_remove(it);
		mem_free(list_entry(it, struct log_line, link));
	}
}

int
proxy_log_inherit(struct proxy *p, const struct proxy *defaults)
{
	int r = copy_log_lines(&p->logs, &defaults->logs);

	if (r == 0)
		r = mem_copy_string(&p->log.tag, defaults->log.tag);
	/* Only frontends use a format; that of a backend need not be compiled. */
	if (r == 0 && (p->caps & (PROXY_FE | PROXY_DEFAULTS))) {
		r = mem_copy_string(&p->log.format_text, defaults->log.format_text);
		p->log.format_where = defaults->log.format_where;
		p->log.preset = defaults->log.preset;
		p->log.steps = defaults->log.steps;
		p->log.error.where = defaults->log.error.where;
		p->log.sd.where = defaults->log.sd.where;
		if (r == 0)
			r = mem_copy_string(&p->log.error.text, defaults->log.error.text);
		if (r == 0)
			r = mem_copy_string(&p->log.sd.text, defaults->log.sd.text);
	}
	return r;
}

void
proxy_log_fini(struct proxy *p)
{
	log_lines_free(&p->logs);
	mem_free(p->log.tag);
	mem_free(p->log.format_text);
	rule_fmt_free(&p->log.format);
	mem_free(p->log.error.text);
	rule_fmt_free(&p->log.error.fmt);
	mem_free(p->log.sd.text);
	rule_fmt_free(&p->log.sd.fmt);
	memset(&p->log, 0, sizeof(p->log));
}

/* log-send-hostname changes the default format. A profile is complete now. */
static void
settle_lines(struct list *lines, const struct log_global *g)
{
	list_each(it, lines) {
		struct log_line *l = list_entry(it, struct log_line, link);

		if (!l->form_set && g->hostname)
			l->form = LOG_FORM_RFC3164;
		if (l->dest.kind == LOG_DEST_RING)
			l->form = ring_conf_form(l->dest.ring, l->form);
		l->tag = l->profile ? l->profile->tag : NULL;
	}
}

int
log_global_finish(struct log_global *g, struct cfg_diag *d)
{
	int rings = ring_confs_finish(&g->rings, d);
	int profiles = log_profiles_finish(&g->profiles, d);

	settle_lines(&g->lines, g);
	return rings | profiles;
}

/* NULL: the default line. */
static const char *
preset_text(const struct proxy *p, struct cfg_diag *d)
{
	static const char *const texts[] = {
		[LOG_PRESET_NONE] = NULL,
		[LOG_PRESET_TCP] = LOG_FORMAT_TCP,
		[LOG_PRESET_HTTP] = LOG_FORMAT_HTTP,
		[LOG_PRESET_HTTPS] = LOG_FORMAT_HTTPS,
		[LOG_PRESET_CLF] = LOG_FORMAT_CLF,
		[LOG_PRESET_JSON] = NULL,
	};

	if (p->mode == PROXY_HTTP || p->log.preset < LOG_PRESET_HTTP)
		return texts[p->log.preset];
	cfg_diag_add(d, CFG_WARNING, &p->log.format_where,
		"'option httplog' not usable with frontend " CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME
		" (needs 'mode http'). Falling back "
		"to 'option tcplog'.",
		p->name);
	return LOG_FORMAT_TCP;
}

/* where NULL: the text is a preset's. */
static int
compile_log_format(struct proxy *p, const char *keyword, const char *text,
	const struct cfg_where *where, struct rule_fmt **out, struct proxies *root,
	struct cfg_diag *d)
{
	struct rule_err why = { 0 };

	if (log_format_compile(&root->vocab, text, p->mode == PROXY_HTTP, out, &why) == 0 &&
		rule_fmt_check(*out, root, &why) == 0)
		return 0;
	cfg_diag_add(d, CFG_ALERT, where, "failed to parse %s : %s, at byte %zu of '%s'", keyword,
		why.text, why.at + 1, text);
	return -1;
}

/* Reports the errors of a format that no line is written in. 0, or -1 after an error. */
static int
check_unused(struct proxy *p, struct proxies *root, struct cfg_diag *d)
{
	struct rule_fmt *f = NULL;
	int r = 0;

	if (p->log.format_text)
		r = compile_log_format(p, "log-format", p->log.format_text, &p->log.format_where,
			&f, root, d);
	else
		(void)preset_text(p, d);
	rule_fmt_free(&f);
	if (!r)
		cfg_diag_add(d, CFG_WARNING, &p->log.format_where,
			"log format ignored for frontend " CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME
			" since it has no log address.",
			p->name);
	return r;
}

static int
compile_line(struct proxy *p, struct proxies *root, struct cfg_diag *d)
{
	const char *text = p->log.format_text;

	if (!text && p->log.preset == LOG_PRESET_NONE)
		return 0;
	if (list_is_empty(&p->logs) && d->count[CFG_ALERT])
		return 0; /* the `log` line may have had an error */
	if (list_is_empty(&p->logs))
		return check_unused(p, root, d);
	if (!text && p->log.preset == LOG_PRESET_JSON && p->mode == PROXY_HTTP) {
		p->log.json = 1;
		return 0;
	}
	if (text)
		return compile_log_format(
			p, "log-format", text, &p->log.format_where, &p->log.format, root, d);
	return compile_log_format(
		p, "log-format", preset_text(p, d), NULL, &p->log.format, root, d);
}

static int
compile_text(struct proxy *p, const char *keyword, struct log_text *t, struct proxies *root,
	struct cfg_diag *d)
{
	return t->text ? compile_log_format(p, keyword, t->text, &t->where, &t->fmt, root, d) : 0;
}

static void
check_sd(struct proxy *p, struct cfg_diag *d)
{
	if (!p->log.sd.text)
		return;
	list_each(it, &p->logs)
		if (list_entry(it, struct log_line, link)->form == LOG_FORM_RFC5424)
			return;
	cfg_diag_add(d, CFG_WARNING, &p->log.sd.where,
		"'log-format-sd' has no effect in frontend " CFG_DIAG_NAME "'%s'"
			CFG_DIAG_NAME ": no log address of it has the format rfc5424.",
		p->name);
}

int
proxy_log_finish(struct proxy *p, const struct log_global *g, struct proxies *root,
	struct cfg_diag *d)
{
	if ((p->options & OPT_LOG_GLOBAL) && copy_log_lines(&p->logs, &g->lines) < 0) {
		cfg_diag_add(d, CFG_ALERT, NULL, "out of memory");
		return -1;
	}
	settle_lines(&p->logs, g);
	if (!(p->caps & PROXY_FE))
		return 0;
	check_sd(p, d);
	return compile_line(p, root, d) |
		compile_text(p, "error-log-format", &p->log.error, root, d) |
		compile_text(p, "log-format-sd", &p->log.sd, root, d) |
		profile_lines_compile(p, root, d);
}

int
proxy_log_finish_inner(struct proxy *p, struct proxies *root, struct cfg_diag *d)
{
	if ((p->caps & PROXY_FE) || p->default_be != p || list_is_empty(&p->logs))
		return 0;
	return compile_log_format(p, "log-format", LOG_FORMAT_HTTP, NULL, &p->log.format, root, d);
}

/* --- frontends with profiles ----------------------------------------------------------------- */

/*
 * Log lines of frontends with profiles. Compiled on the main thread, written on the session's
 * worker. A frontend without a profile has none of this.
 */

/* --- formats -------------------------------------------------------------------------------- */

/* A frontend whose profile is being compiled. */
struct compiling {
	const struct proxy *proxy;
	const struct log_profile *profile;
	struct proxies *root;
	struct cfg_diag *diag;
};

static int
compile_fmt(const struct compiling *c, enum log_step step, const char *what,
	struct log_profile_fmt *f, int i)
{
	unsigned int at = log_steps[step].at | (i == LOG_FMT_HTTP ? SAMPLE_AT_TXN : 0);
	struct rule_vocab vocab = c->root->vocab;
	struct rule_err why = { 0 };

	if (!f->text || f->fmt[i])
		return 0;
	vocab.section = NULL; /* other frontends use it, too */
	if (log_format_compile_at(&vocab, f->text, at, &f->fmt[i], &why) == 0 &&
		rule_fmt_check(f->fmt[i], c->root, &why) == 0)
		return 0;
	rule_fmt_free(&f->fmt[i]);
	cfg_diag_add(c->diag, CFG_ALERT, &f->where,
		"log-profile '%s' : 'on %s %s' does not fit %s '%s' : %s, at byte %zu of '%s'",
		c->profile->name, log_steps[step].name, what, proxy_kind(c->proxy), c->proxy->name,
		why.text, why.at + 1, f->text);
	return -1;
}

/* Sets the stage at which a frontend writes its line: when all that its profiles show is known, and
 * at the end if a profile has the step close. Formats of other steps show what is known at their
 * step. */
static void
settle_stage(struct proxy *p, const struct log_profile *profile)
{
	const struct log_profile_step *any = &profile->on[LOG_STEP_ANY];
	int i = log_profile_fmt_index(any, p->mode == PROXY_HTTP);
	int stage = LOG_STAGE_ACCEPT;

	if (profile->on[LOG_STEP_CLOSE].is_set)
		stage = LOG_STAGE_END;
	if (any->format.fmt[i])
		stage = MAX(stage, (int)log_format_stage(any->format.fmt[i]));
	if (any->sd.fmt[i])
		stage = MAX(stage, (int)log_format_stage(any->sd.fmt[i]));
	p->log.profile_stage = MAX(p->log.profile_stage, stage);
}

static int
compile_profile(const struct compiling *c, struct log_profile *profile)
{
	int r = 0;

	for (int step = 0; step < LOG_STEP_LINES; step++) {
		struct log_profile_step *on = &profile->on[step];
		int i = log_profile_fmt_index(on, c->proxy->mode == PROXY_HTTP);

		if (on->drop)
			continue;
		r |= compile_fmt(c, (enum log_step)step, "format", &on->format, i);
		r |= compile_fmt(c, (enum log_step)step, "sd", &on->sd, i);
	}
	return r;
}

/* Main thread: compiles the formats of the profiles that a frontend's `log` lines name. 0, or -1
 * after a report. */
static int
profile_lines_compile(struct proxy *p, struct proxies *root, struct cfg_diag *d)
{
	int r = 0;

	list_each(it, &p->logs) {
		struct log_profile *profile = list_entry(it, struct log_line, link)->profile;
		const struct compiling c = { p, profile, root, d };

		if (!profile)
			continue;
		p->log.has_profiles = 1;
		r |= compile_profile(&c, profile);
		settle_stage(p, profile);
	}
	return r;
}

/* --- lines ---------------------------------------------------------------------------------- */

static const struct log_profile_step *
line_on(const struct log_line *l, enum log_step step)
{
	return l->profile ? log_profile_on(l->profile, step) : NULL;
}

static const struct rule_fmt *
own_fmt(const struct log_profile_step *on, const struct log_profile_fmt *f, const struct proxy *fe)
{
	return f->fmt[log_profile_fmt_index(on, fe->mode == PROXY_HTTP)];
}

int
profile_lines_exist(const struct proxy *fe, enum log_step step)
{
	list_each(it, (struct list *)(uintptr_t)&fe->logs) {
		const struct log_line *l = list_entry(it, const struct log_line, link);
		const struct log_profile_step *on = line_on(l, step);

		if (on && !on->drop && own_fmt(on, &on->format, fe))
			return 1;
	}
	return 0;
}

/* A text of the last lines, which the next one may share. */
struct drawn {
	struct sbuf out;
	const struct rule_fmt *fmt;
	int is_drawn;
};

/* 1: the text has to be written. fmt NULL: the proxy's own. */
static int
draw_anew(struct drawn *t, const struct rule_fmt *fmt)
{
	if (t->is_drawn && t->fmt == fmt)
		return 0;
	sbuf_reset(&t->out);
	t->fmt = fmt;
	t->is_drawn = 1;
	return 1;
}

static void
send_profile_line(const struct log_entry *e, const struct log_line *l,
	const struct log_profile_step *on, struct drawn *text, struct drawn *sd)
{
	const struct proxy *fe = e->s->sess->fe;
	struct log_sink *k = e->s->engine->log;
	const struct rule_fmt *fmt = on ? own_fmt(on, &on->format, fe) : NULL;
	const struct rule_fmt *data = on ? own_fmt(on, &on->sd, fe) : NULL;
	struct log_message m = { .tag = fe->log.tag };
	const struct cfg_where *data_where = data ? &on->sd.where : &fe->log.sd.where;
	size_t room = 0;

	if (!data)
		data = fe->log.sd.fmt;
	if (l->form == LOG_FORM_RFC5424 && data) {
		if (draw_anew(sd, data))
			(void)log_format_sd(e, data, data_where, &sd->out);
		m.sd = sd->out.len && !sd->out.failed ? sd->out.p : NULL;
	}
	/* JSON is as long as its target allows. */
	if (!fmt && fe->log.json) {
		room = log_line_room(k, l, e->level, m.tag, m.sd);
		text->is_drawn = 0;
	}
	if (draw_anew(text, fmt)) {
		if (fmt)
			log_format_render(fmt, &on->format.where, e->s, &e->cx, &text->out);
		else
			m.is_json = log_format_line(e, room, &text->out);
	}
	m.text = (struct str){ text->out.p, text->out.len };
	log_line_send(k, l, e->level, &m);
}

void
profile_lines_send(const struct log_entry *e)
{
	char text[LOG_LEN_MAX + 1], data[LOG_FORMAT_SD_MAX];
	struct drawn line = { 0 }, sd = { 0 };
	int is_shared = log_format_has_line(e->s, e->step);

	sbuf_init_fixed(&line.out, text, sizeof(text));
	sbuf_init_fixed(&sd.out, data, sizeof(data));
	list_each(it, &e->s->sess->fe->logs) {
		struct log_line *l = list_entry(it, struct log_line, link);
		const struct log_profile_step *on = line_on(l, e->step);

		if (on && on->drop)
			continue;
		if (!is_shared && !(on && own_fmt(on, &on->format, e->s->sess->fe)))
			continue;
		if (log_line_takes(l, e->level))
			send_profile_line(e, l, on, &line, &sd);
	}
}
