/* Log lines of frontends with profiles. Compiled on the main thread, written on the session's
 * worker. A frontend without a profile has none of this. */
#include "proxy/log/profile_lines.h"

#include "proxy/log/log_format.h"
#include "proxy/model/proxies.h"
#include "proxy/model/session.h"

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
	struct rule_err why = { 0 };

	if (!f->text || f->fmt[i])
		return 0;
	if (log_format_compile_at(&c->root->vocab, f->text, at, &f->fmt[i], &why) == 0 &&
		rule_fmt_check(f->fmt[i], c->root, &why) == 0)
		return 0;
	rule_fmt_free(&f->fmt[i]);
	cfg_diag_add(c->diag, CFG_ALERT, &f->where,
		"log-profile '%s' : 'on %s %s' does not fit %s '%s' : %s, at byte %zu of '%s'",
		c->profile->name, log_steps[step].name, what, proxy_kind(c->proxy), c->proxy->name,
		why.text, why.at + 1, f->text);
	return -1;
}

/* A frontend's one line waits until what a profile shows of it is known: for the end if the profile
 * speaks of it. Formats of other steps show what is known there. */
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

int
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
	const struct proxy *fe = e->s->fe;
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
	list_each(it, &e->s->fe->logs) {
		struct log_line *l = list_entry(it, struct log_line, link);
		const struct log_profile_step *on = line_on(l, e->step);

		if (on && on->drop)
			continue;
		if (!is_shared && !(on && own_fmt(on, &on->format, e->s->fe)))
			continue;
		if (log_line_takes(l, e->level))
			send_profile_line(e, l, on, &line, &sd);
	}
}
