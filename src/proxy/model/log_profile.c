/* Profiles of log lines. Main thread, while the configuration is read; workers only read them. */
#include "proxy/model/log_profile.h"

#include <string.h>

#include "base/mem.h"
#include "cfg/suggest.h"
#include "rule/sample/fmt.h"
#include "rule/sample/sample.h"

const struct log_step_info log_steps[LOG_STEP_LINES] = {
#define LOG_STEP(id, name, at, http, auto, text) { name, at, http },
#include "proxy/model/log_step.tbl.h"
#undef LOG_STEP
	[LOG_STEP_ANY] = { .name = "any" },
};

struct log_profile *
log_profile_find(const struct list *profiles, const char *name)
{
	list_each(it, (struct list *)(uintptr_t)profiles) {
		struct log_profile *p = list_entry(it, struct log_profile, link);

		if (strcmp(p->name, name) == 0)
			return p;
	}
	return NULL;
}

struct log_profile *
log_profile_add(struct list *profiles, const char *name)
{
	struct log_profile *p = mem_zalloc(sizeof(*p));

	if (!p || mem_copy_string(&p->name, name) < 0) {
		mem_free(p);
		return NULL;
	}
	for (int i = 0; i < LOG_STEP_LINES; i++)
		p->on[i].is_http = log_steps[i].is_http;
	list_append(profiles, &p->link);
	return p;
}

static void
free_fmt(struct log_profile_fmt *f)
{
	mem_free(f->text);
	for (int i = 0; i < LOG_FMTS; i++)
		rule_fmt_free(&f->fmt[i]);
}

void
log_profiles_free(struct list *profiles)
{
	list_each_safe(it, profiles) {
		struct log_profile *p = list_entry(it, struct log_profile, link);

		list_remove(it);
		for (int i = 0; i < LOG_STEP_LINES; i++) {
			free_fmt(&p->on[i].format);
			free_fmt(&p->on[i].sd);
		}
		mem_free(p->tag);
		mem_free(p->name);
		mem_free(p);
	}
}

static const char *
nearest_profile(const struct list *profiles, const char *name)
{
	struct cfg_suggest s;

	cfg_suggest_init(&s, name);
	list_each(it, (struct list *)(uintptr_t)profiles) {
		const struct log_profile *p = list_entry(it, struct log_profile, link);

		if (p->is_declared)
			cfg_suggest_offer(&s, p->name);
	}
	return s.best;
}

int
log_profiles_finish(struct list *profiles, struct cfg_diag *d)
{
	int r = 0;

	list_each(it, profiles) {
		const struct log_profile *p = list_entry(it, struct log_profile, link);
		const char *near;

		if (p->is_declared || cfg_diag_is_lost(d, p->name))
			continue;
		near = nearest_profile(profiles, p->name);
		cfg_diag_add(d, CFG_ALERT, &p->where,
			"'log' : there is no section 'log-profile %s'%s%s%s", p->name,
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ".");
		r = -1;
	}
	return r;
}

const struct log_profile_step *
log_profile_on(const struct log_profile *p, enum log_step step)
{
	if (p->on[step].is_set)
		return &p->on[step];
	return p->on[LOG_STEP_ANY].is_set ? &p->on[LOG_STEP_ANY] : NULL;
}

int
log_profile_fmt_index(const struct log_profile_step *on, int is_http)
{
	return is_http || on->is_http ? LOG_FMT_HTTP : LOG_FMT_TCP;
}
