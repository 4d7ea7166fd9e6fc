/*
 * Sections `log-profile` (manual 8.3.5): the forms of the lines for a target of `log`. Main
 * thread, while the configuration is read; only read after that.
 */
#ifndef TACIT_PROXY_MODEL_LOG_PROFILE_H
#define TACIT_PROXY_MODEL_LOG_PROFILE_H

#include "base/compiler.h"
#include "base/list.h"
#include "cfg/diag.h"

struct rule_fmt;

enum log_step {
#define LOG_STEP(id, name, at, http, auto, text) LOG_STEP_##id,
#include "proxy/model/log_step.tbl.h"
#undef LOG_STEP
	LOG_STEPS,
	LOG_STEP_ANY = LOG_STEPS, /* in a profile only: those without a line of their own */
	LOG_STEP_LINES
};

struct log_step_info {
	const char *name;
	unsigned int at;     /* SAMPLE_AT_x that its formats can use besides those of all lines */
	int is_http;
};

/* With one more row for LOG_STEP_ANY. */
extern const struct log_step_info log_steps[LOG_STEP_LINES];

/* The kinds of a format: for proxies of mode tcp, of mode http. */
enum { LOG_FMT_TCP, LOG_FMT_HTTP, LOG_FMTS };

struct log_profile_fmt {
	char *text;                 /* NULL: the proxy's */
	struct cfg_where where;
	struct rule_fmt *fmt[LOG_FMTS]; /* compiled for the first proxy of the mode that uses it */
};

/* One line `on`. */
struct log_profile_step {
	int is_set;                 /* else that of LOG_STEP_ANY */
	int is_http;                /* the step exists in mode http only */
	int drop;                   /* nothing is written */
	struct log_profile_fmt format;
	struct log_profile_fmt sd;
};

struct log_profile {
	struct list link;
	char *name;
	struct cfg_where where;     /* of its section, or of the first line that names it */
	int is_declared;            /* there is a section */
	char *tag;                  /* log-tag; NULL: that of the proxy or process */
	struct log_profile_step on[LOG_STEP_LINES];
};

/* NULL: none. */
struct log_profile *log_profile_find(const struct list *profiles, const char *name);
/* Appends one; NULL when memory is out. */
struct log_profile *log_profile_add(struct list *profiles, const char *name);
void log_profiles_free(struct list *profiles);
/* Checks that each has a section. 0, or -1 after a report. */
int log_profiles_finish(struct list *profiles, struct cfg_diag *d) must_check;
/* The profile's row of a step; NULL: none. */
const struct log_profile_step *log_profile_on(const struct log_profile *p, enum log_step step);
/* The index of the compiled format for a proxy of this mode. */
int log_profile_fmt_index(const struct log_profile_step *on, int is_http) must_check;

#endif
