/* The Prometheus exporter: the table of metrics, all samples of one as text, then the next one. On
 * the first worker, to which the states of servers and checks belong. */
#include "app/promex/promex.h"

#include <string.h>

#include "app/admin/admin_stat.h"
#include "app/admin/info.h"
#include "app/admin/stat_rows.h"
#include "app/process/process.h"
#include "app/process/totals.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "base/str.h"
#include "proxy/model/check.h"
#include "proxy/model/service.h"
#include "table/table.h"

/* --- the metrics, as a table and as text ----------------------------------------------------- */

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
	SCOPE_GLOBAL, SCOPE_FRONTEND, SCOPE_LISTENER, SCOPE_BACKEND, SCOPE_SERVER, SCOPE_TABLE,
	METRIC_SCOPES
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
	METRIC_LATENCY, /* not a column: a histogram of times */
	METRIC_TABLE,  /* of a stick table: its size, or its entries */
	METRIC_CALLS   /* system calls, with the labels call and result */
};

struct metric {
	unsigned int scopes;    /* bits */
	const struct field *field; /* NULL: of a histogram */
	/* enum info_field of the global scope, enum stat_col of others; of a histogram enum
	 * latency_kind; of a table 1 if it is its size */
	unsigned int value;
	enum metric_type type;
	enum metric_form form;
	const char *full[METRIC_SCOPES]; /* "haproxy_SCOPE_NAME", or "tacit_NAME" */
	const char *name;       /* behind "haproxy_SCOPE_" */
	const char *help;
};

static inline int
metric_has_scope(const struct metric *m, enum metric_scope scope)
{
	return (m->scopes >> scope & 1) != 0;
}

enum { GLOBAL = 1 << SCOPE_GLOBAL, FE = 1 << SCOPE_FRONTEND, BE = 1 << SCOPE_BACKEND,
	SRV = 1 << SCOPE_SERVER, LST = 1 << SCOPE_LISTENER, TBL = 1 << SCOPE_TABLE };

/* --- the table --- */

static const struct metric metrics[] = {
#define PROCESS_METRIC(f, t, n) \
	{ .scopes = GLOBAL, .value = INFO_##f, .type = (t), .name = (n), \
		.full = { [SCOPE_GLOBAL] = "haproxy_process_" n } },
#define STAT_METRIC(col, s, f, n, h) \
	{ .scopes = (s), .value = STAT_##col, .form = (f), .name = (n), .help = (h), \
		.full = { [SCOPE_FRONTEND] = "haproxy_frontend_" n, \
			[SCOPE_LISTENER] = "haproxy_listener_" n, \
			[SCOPE_BACKEND] = "haproxy_backend_" n, \
			[SCOPE_SERVER] = "haproxy_server_" n } },
#include "app/promex/metric.tbl.h"
#undef STAT_METRIC
#undef PROCESS_METRIC
#define LATENCY_KIND(id, n, h) \
	{ .scopes = BE | SRV | (LATENCY_##id == LATENCY_TOTAL ? FE : 0), \
		.value = LATENCY_##id, .type = METRIC_HISTOGRAM, .form = METRIC_LATENCY, \
		.name = n "_time_seconds", .help = h ", in seconds", \
		.full = { [SCOPE_FRONTEND] = "haproxy_frontend_" n "_time_seconds", \
			[SCOPE_BACKEND] = "haproxy_backend_" n "_time_seconds", \
			[SCOPE_SERVER] = "haproxy_server_" n "_time_seconds" } },
#include "proxy/model/latency.tbl.h"
#undef LATENCY_KIND
#define TABLE_METRIC(n, is_size, h) \
	{ .scopes = TBL, .value = (is_size), .type = METRIC_GAUGE, .form = METRIC_TABLE, \
		.name = (n), .help = (h), .full = { [SCOPE_TABLE] = "haproxy_sticktable_" n } }
	TABLE_METRIC("size", 1, "Stick table size"),
	TABLE_METRIC("used", 0, "Number of entries used in this stick table"),
#undef TABLE_METRIC
	{ .scopes = GLOBAL, .type = METRIC_COUNTER, .form = METRIC_CALLS, .name = "syscalls_total",
		.help = "System calls by frontend, name and result, those of the start among them",
		.full = { [SCOPE_GLOBAL] = "tacit_syscalls_total" } },
};

static unsigned int
metric_count(void)
{
	return ARRAY_LEN(metrics);
}

/* The one at this place, for 0 to metric_count() - 1. */
static struct metric
metric_at(unsigned int i)
{
	struct metric m = metrics[i];

	if (m.form == METRIC_LATENCY || m.form == METRIC_TABLE || m.form == METRIC_CALLS)
		return m;
	m.field = m.scopes == GLOBAL ? info_field_of((enum info_field)m.value)
				     : stat_field((enum stat_col)m.value);
	/* The nature of a column. */
	if (m.scopes != GLOBAL)
		m.type = m.field->tags[1] == 'C' ? METRIC_COUNTER : METRIC_GAUGE;
	if (!m.help)
		m.help = m.field->desc;
	return m;
}

/* --- the format --- */

/* The lines HELP and TYPE. */
static void
metric_put_header(struct sbuf *out, const struct metric *m, enum metric_scope scope)
{
	static const char *const types[] = { " gauge\n", " counter\n", " histogram\n" };

	sbuf_adds(out, "# HELP ");
	sbuf_adds(out, m->full[scope]);
	sbuf_addf(out, " %s.\n# TYPE ", m->help);
	sbuf_adds(out, m->full[scope]);
	sbuf_adds(out, types[m->type]);
}

/* The value of a label, escaped. */
static void
put_label_value(struct sbuf *out, const char *value)
{
	size_t n;

	for (;;) {
		n = strcspn(value, "\\\"\n");
		sbuf_add(out, value, n);
		value += n;
		if (!*value)
			return;
		sbuf_addc(out, '\\');
		sbuf_addc(out, *value == '\n' ? 'n' : *value);
		value++;
	}
}

/* Appends the sample, if there is a value. */
static void
metric_put_global(struct sbuf *out, const struct metric *m, const struct info *i)
{
	const struct field_value *v = &i->v[m->value];

	if (v->kind == VAL_NONE)
		return;
	metric_put_header(out, m, SCOPE_GLOBAL);
	sbuf_adds(out, m->full[SCOPE_GLOBAL]);
	if (v->kind == VAL_TEXT) {
		/* A text is the label of a metric that is always 1. */
		sbuf_adds(out, m->value == INFO_node ? "{node=\"" : "{version=\"");
		put_label_value(out, v->u.s);
		sbuf_adds(out, "\"} 1\n");
		return;
	}
	sbuf_addc(out, ' ');
	field_put_value(out, v);
	sbuf_addc(out, '\n');
}

static void
metric_put_table(struct sbuf *out, const struct metric *m, const struct table *t)
{
	const struct table_conf *conf = table_conf_of(t);

	sbuf_adds(out, m->full[SCOPE_TABLE]);
	sbuf_adds(out, "{name=\"");
	put_label_value(out, table_name(t));
	sbuf_addf(out, "\",type=\"%s\"} %u\n", table_type_name(conf->type),
		m->value ? conf->size : table_used(t));
}

/* The calls for a frontend, or for none (NULL). A call that was never made has no sample. */
static void
put_calls_of(struct sbuf *out, const struct metric *m, const struct process *p,
	const struct proxy *fe)
{
	static const char *const results[SYS_OUTCOMES] = { "ok", "again", "error" };
	struct ledger_mark now;

	totals_mark_account(p, fe, &now);
	for (int i = 0; i < SYS_CALLS * SYS_OUTCOMES; i++) {
		enum sys_call c = (enum sys_call)(i / SYS_OUTCOMES);

		if (!ledger_sum(&now.ledger, c))
			continue;
		sbuf_adds(out, m->full[SCOPE_GLOBAL]);
		sbuf_addc(out, '{');
		if (fe) {
			sbuf_adds(out, "proxy=\"");
			put_label_value(out, fe->name);
			sbuf_adds(out, "\",");
		}
		sbuf_addf(out, "call=\"%s\",result=\"%s\"} %llu\n", ledger_name(c),
			results[i % SYS_OUTCOMES],
			(unsigned long long)now.ledger.n[c][i % SYS_OUTCOMES]);
	}
}

static void
metric_put_calls(struct sbuf *out, const struct metric *m, const struct process *p)
{
	metric_put_header(out, m, SCOPE_GLOBAL);
	put_calls_of(out, m, p, NULL);
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *fe = list_entry(it, struct proxy, link);

		if (fe->account)
			put_calls_of(out, m, p, fe);
	}
}

/* --- samples of rows --- */

struct sample_line {
	struct sbuf *out;
	const struct metric *m;
	enum metric_scope scope;
	const struct stat_item *item;
	const char *suffix; /* of the metric's name, or NULL */
	size_t at, len; /* what all samples of the row begin with, as it stands in out */
};

static void
begin_sample(struct sample_line *l)
{
	if (l->len) {
		sbuf_add_again(l->out, l->at, l->len);
		return;
	}
	l->at = l->out->len;
	sbuf_adds(l->out, l->m->full[l->scope]);
	if (l->suffix)
		sbuf_adds(l->out, l->suffix);
	sbuf_adds(l->out, "{proxy=\"");
	put_label_value(l->out, l->item->proxy->name);
	if (l->scope == SCOPE_SERVER) {
		sbuf_adds(l->out, "\",server=\"");
		put_label_value(l->out, l->item->server->name);
	} else if (l->scope == SCOPE_LISTENER) {
		sbuf_adds(l->out, "\",listener=\"");
		put_label_value(l->out, l->item->row.v[STAT_svname].u.s);
	}
	l->len = l->out->len - l->at;
}

static void
put_sample(struct sample_line *l, int64_t n)
{
	begin_sample(l);
	sbuf_add(l->out, "\"} ", 3);
	sbuf_addi(l->out, n);
	sbuf_addc(l->out, '\n');
}

/* Whole seconds, and so many digits of the rest, without zeros at the end. */
static void
put_sample_seconds(struct sample_line *l, int64_t whole, uint64_t rest, unsigned int digits)
{
	char text[] = ".000000";

	begin_sample(l);
	sbuf_add(l->out, "\"} ", 3);
	sbuf_addi(l->out, whole);
	for (unsigned int i = digits; rest; rest /= 10)
		text[i--] = (char)('0' + rest % 10);
	while (digits && text[digits] == '0')
		digits--;
	if (digits)
		sbuf_add(l->out, text, (size_t)digits + 1);
	sbuf_addc(l->out, '\n');
}

/* With one more label, behind `",`. */
static void
put_labelled(struct sample_line *l, const char *label, const char *of, int64_t n)
{
	begin_sample(l);
	sbuf_add(l->out, "\",", 2);
	sbuf_adds(l->out, label);
	sbuf_add(l->out, "=\"", 2);
	sbuf_adds(l->out, of);
	sbuf_add(l->out, "\"} ", 3);
	sbuf_addi(l->out, n);
	sbuf_addc(l->out, '\n');
}

static void
put_codes(struct sample_line *l)
{
	static const char *const codes[] = { "1xx", "2xx", "3xx", "4xx", "5xx", "other" };

	for (unsigned int i = 0; i < ARRAY_LEN(codes); i++)
		put_labelled(l, "code", codes[i], l->item->row.v[STAT_hrsp_1xx + i].u.n);
}

/* --- states --- */

enum { STATE_DOWN, STATE_UP, STATE_MAINT, STATE_DRAIN, STATE_NOLB, METRIC_STATES_MAX };

static const char *const states[] = { "DOWN", "UP", "MAINT", "DRAIN", "NOLB" };

/* The state in the text of the column status: "UP 1/3", "MAINT (via b/s)", "no check" and
 * others. */
static unsigned int
state_of_text(const char *status)
{
	for (unsigned int i = 0; i < METRIC_STATES_MAX; i++)
		if (strncmp(status, states[i], strlen(states[i])) == 0)
			return i;
	return strcmp(status, "OPEN") == 0 || strcmp(status, "no check") == 0 ? STATE_UP
									      : STATE_DOWN;
}

static void
put_listener_state(struct sample_line *l)
{
	static const char *const names[] = { "WAITING", "OPEN", "FULL" };

	for (unsigned int i = 0; i < ARRAY_LEN(names); i++)
		put_labelled(l, "state", names[i],
			strcmp(l->item->row.v[STAT_status].u.s, names[i]) == 0);
}

static void
put_state(struct sample_line *l)
{
	unsigned int n = l->scope == SCOPE_SERVER ? METRIC_STATES_MAX : STATE_UP + 1;
	unsigned int state = state_of_text(l->item->row.v[STAT_status].u.s);

	for (unsigned int i = 0; i < n; i++)
		put_labelled(l, "state", states[i], i == state);
}

static void
put_state_counts(struct sample_line *l)
{
	int64_t n[METRIC_STATES_MAX] = { 0 };
	char buf[SERVER_STATUS_MAX];

	list_each(it, &l->item->proxy->servers) {
		n[state_of_text(
			server_status_text(list_entry(it, const struct server, link), buf))]++;
	}
	for (unsigned int i = 0; i < METRIC_STATES_MAX; i++)
		put_labelled(l, "state", states[i], n[i]);
}

/* --- results of checks --- */

/* Earlier values are no results. */
#define FIRST_RESULT CHECK_SOCKERR

static void
put_check(struct sample_line *l)
{
	const char *code = l->item->row.v[STAT_check_status].u.s;

	/* The last result, while the next one is not there. */
	if (strncmp(code, "* ", 2) == 0)
		code += 2;
	for (enum check_status s = FIRST_RESULT; s < CHECK_STATUSES; s++)
		put_labelled(l, "state", check_status_code(s),
			strcmp(code, check_status_code(s)) == 0);
}

static void
put_check_counts(struct sample_line *l)
{
	int64_t n[CHECK_STATUSES] = { 0 };

	list_each(it, &l->item->proxy->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		if (s->check && s->check->enabled)
			n[s->check->status]++;
	}
	for (enum check_status s = FIRST_RESULT; s < CHECK_STATUSES; s++)
		put_labelled(l, "state", check_status_code(s), n[s]);
}

/* --- histograms --- */

static void
begin_series(struct sample_line *l, const char *suffix)
{
	l->suffix = suffix;
	l->len = 0;
}

/* Buckets are cumulative; the last one holds all. */
static void
put_latency(struct sample_line *l)
{
	enum latency_kind k = (enum latency_kind)l->m->value;
	struct latency sum;
	uint64_t n = 0, us;

	latency_sum(stat_latency_of(l->item), &sum);
	begin_series(l, "_bucket");
	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++) {
		n += sum.n[k][i];
		put_labelled(l, "le", i < LATENCY_BOUNDS ? latency_bound_text(i) : "+Inf",
			(int64_t)n);
	}
	us = sum.sum_us[k];
	begin_series(l, "_sum");
	put_sample_seconds(l, (int64_t)(us / 1000000), us % 1000000, 6);
	begin_series(l, "_count");
	put_sample(l, (int64_t)n);
}

/* --- a row --- */

static int
metric_has_samples(const struct metric *m, const struct stat_item *item)
{
	if (m->form == METRIC_LATENCY)
		return stat_has_latency(item, (enum latency_kind)m->value);
	return item->row.v[m->value].kind != VAL_NONE;
}

/* Appends the samples of a row that has them. */
static void
metric_put_item(struct sbuf *out, const struct metric *m, enum metric_scope scope,
	const struct stat_item *item)
{
	struct sample_line l = { .out = out, .m = m, .scope = scope, .item = item };
	int64_t n = item->row.v[m->value].u.n;

	switch (m->form) {
	case METRIC_NUMBER:
		put_sample(&l, n);
		break;
	case METRIC_MS:
		put_sample_seconds(&l, n / 1000, (uint64_t)(n % 1000), 3);
		break;
	case METRIC_CODES:
		put_codes(&l);
		break;
	case METRIC_STATE:
		(scope == SCOPE_LISTENER ? put_listener_state : put_state)(&l);
		break;
	case METRIC_CHECK:
		put_check(&l);
		break;
	case METRIC_STATES:
		put_state_counts(&l);
		break;
	case METRIC_CHECKS:
		put_check_counts(&l);
		break;
	case METRIC_LATENCY:
		put_latency(&l);
		break;
	case METRIC_TABLE:
	case METRIC_CALLS:
		break;
	}
}

/* --- the query ------------------------------------------------------------------------------- */

/*
 * The query of a request for metrics. Pure. Parameters and names that are not known are
 * ignored, as in HAProxy, scopes are not.
 */

#define EVERYTHING (~0u)

/* Percent-decoding in place. */
static void
decode_text(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '%' && str_hex_digit(s[1]) >= 0 && str_hex_digit(s[2]) >= 0) {
			*to++ = (char)(str_hex_digit(s[1]) << 4 | str_hex_digit(s[2]));
			s += 2;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* The first one replaces the default; an empty one stands for none. */
static int
add_scope(const char *word, struct promex_query *q, int *is_first)
{
	static const char *const words[] = { "global", "frontend", "listener", "backend",
		"server", "sticktable" };

	if (*is_first || !*word)
		q->scopes = 0;
	*is_first = 0;
	if (strcmp(word, "*") == 0)
		q->scopes = EVERYTHING;
	for (unsigned int i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(word, words[i]) == 0) {
			q->scopes |= 1u << i;
			return 0;
		}
	return !*word || strcmp(word, "*") == 0 ? 0 : -1;
}

static void
mark_metric(const char *name, uint8_t *bits)
{
	for (unsigned int i = 0; i < metric_count(); i++)
		for (enum metric_scope scope = 0; scope < METRIC_SCOPES; scope++)
			if (metric_has_scope(&metrics[i], scope) &&
				strcmp(metrics[i].full[scope], name) == 0)
				bits[i] |= (uint8_t)(1u << scope);
}

static void
add_names(char *list, struct promex_query *q)
{
	char *name, *at = list;

	while ((name = strsep(&at, ",")) != NULL) {
		if (*name == '-') {
			mark_metric(name + 1, q->left_out);
		} else if (*name) {
			q->has_names = 1;
			mark_metric(name, q->named);
		}
	}
}

static int
take_parameter(char *word, struct promex_query *q, int *is_first_scope)
{
	char *value = word, *name = strsep(&value, "=");

	decode_text(name);
	if (value)
		decode_text(value);
	if (strcmp(name, "scope") == 0)
		return value ? add_scope(value, q, is_first_scope) : -1;
	if (strcmp(name, "metrics") == 0 && value)
		add_names(value, q);
	else if (strcmp(name, "no-maint") == 0)
		q->no_maint = 1;
	else if (strcmp(name, "server-histograms") == 0)
		q->server_histograms = 1;
	return 0;
}

/* target is changed. 0, or -1: there is no such scope. */
static int
promex_query_parse(char *target, struct promex_query *out)
{
	char *word, *at = strchr(target, '?');
	int is_first_scope = 1;

	*out = (struct promex_query){ .scopes = EVERYTHING };
	if (!at)
		return 0;
	at++;
	while ((word = strsep(&at, "&")) != NULL)
		if (take_parameter(word, out, &is_first_scope) < 0)
			return -1;
	return 0;
}

/* True if metric number i is to be written in this scope. Histograms of servers, which are many
 * samples, have to be asked for. */
static int
promex_wants(const struct promex_query *q, enum metric_scope scope, unsigned int i)
{
	unsigned int bit = 1u << scope;
	struct metric m = metric_at(i);

	int is_extra = m.form == METRIC_LATENCY && scope == SCOPE_SERVER && !q->server_histograms;
	int is_wanted = q->has_names ? (q->named[i] & bit) != 0 : !is_extra;

	return is_wanted && (q->scopes & bit) && metric_has_scope(&m, scope) &&
		!(q->left_out[i] & bit);
}

struct promex_state {
	struct promex_query query;
	int is_bad;               /* the query has an unknown scope */
	enum metric_scope scope;
	unsigned int number;      /* of the metric */
	int has_begun;            /* the metric, and the walk over its rows */
	struct metric metric;
	int has_header;
	struct stat_walk walk;
	unsigned int table;      /* tables that are left: the last one comes first */
	int has_info;
	struct info info;
	char target[];            /* copy */
};

static struct promex_state *
make_promex_state(struct service_job *j)
{
	struct promex_state *st = mem_zalloc(sizeof(*st) + j->target.len + 1);

	if (!st)
		return NULL;
	j->state = st;
	memcpy(st->target, j->target.p, j->target.len);
	st->is_bad = promex_query_parse(st->target, &st->query) < 0;
	return st;
}

static int
begin_metrics(struct service_job *j, void *owner)
{
	const struct promex_state *st = make_promex_state(j);

	(void)owner;
	if (!st)
		return 0;
	j->status = st->is_bad ? 400 : 200;
	j->has_body = 1;
	service_field(j, STR("Cache-Control"), "no-cache");
	service_field(j, STR("Content-Type"), "text/plain; version=0.0.4");
	return 0;
}

/* Advances to the first metric at or behind this place that is asked for. 0: there is none. */
static int
find_metric(struct promex_state *st)
{
	for (; st->scope < METRIC_SCOPES; st->scope++, st->number = 0)
		for (; st->number < metric_count(); st->number++)
			if (promex_wants(&st->query, st->scope, st->number))
				return 1;
	return 0;
}

static void
end_metric(struct promex_state *st)
{
	st->number++;
	st->has_begun = st->has_header = 0;
}

static void
step_global(struct promex_state *st, const struct process *p, struct sbuf *out)
{
	if (st->metric.form == METRIC_CALLS) {
		metric_put_calls(out, &st->metric, p);
	} else {
		if (!st->has_info)
			info_read(&st->info, p, 1);
		st->has_info = 1;
		metric_put_global(out, &st->metric, &st->info);
	}
	end_metric(st);
}

static void
begin_walk(struct promex_state *st, const struct process *p)
{
	static const int types[METRIC_SCOPES] = { [SCOPE_FRONTEND] = ROW_FRONTEND,
		[SCOPE_LISTENER] = ROW_LISTENER,
		[SCOPE_BACKEND] = ROW_BACKEND, [SCOPE_SERVER] = ROW_SERVER };

	stat_walk_init(&st->walk, p);
	/* A histogram reads no column: this one costs little. */
	st->walk.args.only = st->metric.form == METRIC_LATENCY ? STAT_scur
							       : (enum stat_col)st->metric.value;
	st->walk.args.types = types[st->scope];
	st->walk.args.hide = st->query.no_maint ? STAT_HIDE_MAINT : STAT_HIDE_NONE;
}

/* 0: there are no more. */
static int
begin_metric(struct promex_state *st, const struct process *p)
{
	if (!find_metric(st))
		return 0;
	st->metric = metric_at(st->number);
	st->has_begun = 1;
	if (st->scope == SCOPE_TABLE)
		st->table = p->cfg->proxies.n_tables;
	else if (st->scope != SCOPE_GLOBAL)
		begin_walk(st, p);
	return 1;
}

static void
put_metric_item(struct promex_state *st, const struct stat_item *item, struct sbuf *out)
{
	const struct metric *m = &st->metric;

	if (!metric_has_samples(m, item))
		return;
	if (!st->has_header)
		metric_put_header(out, m, st->scope);
	st->has_header = 1;
	metric_put_item(out, m, st->scope, item);
}

static void
step_rows(struct promex_state *st, const struct process *p, struct sbuf *out)
{
	struct stat_item item;

	switch (stat_walk_next(&st->walk, p, &item)) {
	case STAT_ITEM:
		put_metric_item(st, &item, out);
		break;
	case STAT_NOTHING:
		break;
	case STAT_END:
		end_metric(st);
		break;
	}
}

/* The table of the next proxy, from the last one on, as `show table`. */
static void
step_tables(struct promex_state *st, const struct process *p, struct sbuf *out)
{
	if (!st->table) {
		end_metric(st);
		return;
	}
	st->table--;
	if (!st->has_header)
		metric_put_header(out, &st->metric, st->scope);
	st->has_header = 1;
	metric_put_table(out, &st->metric, p->cfg->proxies.every_table[st->table]);
}

static int
step_metrics(struct service_job *j, void *owner)
{
	struct promex_state *st = j->state;

	if (st->is_bad) {
		sbuf_adds(&j->out,
			"A scope is global, frontend, listener, backend, server, sticktable "
			"or *.\n");
		return 0;
	}
	if (!st->has_begun && !begin_metric(st, owner))
		return 0;
	if (st->scope == SCOPE_GLOBAL)
		step_global(st, owner, &j->out);
	else if (st->scope == SCOPE_TABLE)
		step_tables(st, owner, &j->out);
	else
		step_rows(st, owner, &j->out);
	return 1;
}

static void
end_metrics(struct service_job *j)
{
	mem_free(j->state);
}

const struct local_service promex_service = {
	.name = "<PROMEX>",
	.begin = begin_metrics,
	.step = step_metrics,
	.end = end_metrics,
};
