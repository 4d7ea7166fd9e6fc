/* The metrics of the Prometheus exporter as a table, and their samples in the text format 0.0.4. */
#ifndef TACIT_APP_PROMEX_METRIC_H
#define TACIT_APP_PROMEX_METRIC_H

#include "app/admin/admin_stat.h"
#include "app/admin/info.h"
#include "base/compiler.h"
#include "base/sbuf.h"
#include "base/str.h"

enum { PROMEX_METRICS_MAX = 192 };

struct promex_query {
	unsigned int scopes;     /* bits */
	int no_maint;            /* without servers in maintenance */
	int server_histograms;   /* with those that are not named, too */
	int has_names;           /* only those with a bit in named */
	/* Bits of scopes for each metric. */
	uint8_t named[PROMEX_METRICS_MAX], left_out[PROMEX_METRICS_MAX];
};

enum metric_scope {
	SCOPE_GLOBAL, SCOPE_FRONTEND, SCOPE_LISTENER, SCOPE_BACKEND, SCOPE_SERVER, METRIC_SCOPES
};

enum metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM };

/* The form of a column's samples. */
enum metric_form {
	METRIC_NUMBER,
	METRIC_MS,     /* in seconds */
	METRIC_CODES,  /* six columns, with the label code */
	METRIC_STATE,  /* 0 or 1 for each state */
	METRIC_CHECK,  /* the same for each result of a check */
	METRIC_STATES, /* of a backend: the number of servers in each state */
	METRIC_CHECKS, /* the same for each result of a check */
	METRIC_LATENCY /* not a column: a histogram of times */
};

struct metric {
	unsigned int scopes;    /* bits */
	const struct field *field; /* NULL: of a histogram */
	/* enum info_field of the global scope, enum stat_col of others; of a histogram enum
	 * latency_kind */
	unsigned int value;
	enum metric_type type;
	enum metric_form form;
	const char *full[METRIC_SCOPES]; /* "haproxy_SCOPE_NAME" */
	const char *name;       /* behind "haproxy_SCOPE_" */
	const char *help;
};

unsigned int metric_count(void);
/* The one at this place, for 0 to metric_count() - 1. */
struct metric metric_at(unsigned int i);
static inline int
metric_has_scope(const struct metric *m, enum metric_scope scope)
{
	return (m->scopes >> scope & 1) != 0;
}

/* The lines HELP and TYPE. */
void metric_put_header(struct sbuf *out, const struct metric *m, enum metric_scope scope);
/* Appends the sample. It has none if there is no value. */
void metric_put_global(struct sbuf *out, const struct metric *m, const struct info *i);
int metric_has_samples(const struct metric *m, const struct stat_item *item);
/* Appends the samples of a row that has them. */
void metric_put_item(struct sbuf *out, const struct metric *m, enum metric_scope scope,
	const struct stat_item *item);

/* target is changed. 0, or -1: there is no such scope. */
int promex_query_parse(char *target, struct promex_query *out) must_check;
/* True if metric number i is to be written in this scope. Histograms of servers, which are many
 * samples, have to be asked for. */
int promex_wants(const struct promex_query *q, enum metric_scope scope, unsigned int i);

#endif
