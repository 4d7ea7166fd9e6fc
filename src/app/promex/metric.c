/* The table of metrics, and samples of them as text. On the first worker: servers and their checks
 * are read. */
#include "app/promex/metric.h"

#include <string.h>

#include "app/admin/stat_row.h"
#include "base/compiler.h"
#include "proxy/model/check.h"

enum { GLOBAL = 1 << SCOPE_GLOBAL, FE = 1 << SCOPE_FRONTEND, BE = 1 << SCOPE_BACKEND,
	SRV = 1 << SCOPE_SERVER, LST = 1 << SCOPE_LISTENER };

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
};

unsigned int
metric_count(void)
{
	return ARRAY_LEN(metrics);
}

struct metric
metric_at(unsigned int i)
{
	struct metric m = metrics[i];

	if (m.form == METRIC_LATENCY)
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

/* The word of metrics' names. */
static const char *
metric_scope_name(enum metric_scope scope)
{
	static const char *const names[] = { "process", "frontend", "listener", "backend",
		"server" };

	return names[scope];
}

/* --- the format --- */

void
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

void
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

int
metric_has_samples(const struct metric *m, const struct stat_item *item)
{
	if (m->form == METRIC_LATENCY)
		return stat_has_latency(item, (enum latency_kind)m->value);
	return item->row.v[m->value].kind != VAL_NONE;
}

void
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
		"server" };

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
	/* There are no stick tables. */
	return !*word || strcmp(word, "*") == 0 || strcmp(word, "sticktable") == 0 ? 0 : -1;
}

/* The scope that the name begins with, and the rest of the name; METRIC_SCOPES: none. */
static enum metric_scope
split_metric_name(const char *name, const char **rest)
{
	struct str prefix = STR("haproxy_");
	enum metric_scope scope = SCOPE_GLOBAL;

	if (strncmp(name, prefix.p, prefix.len) != 0)
		return METRIC_SCOPES;
	name += prefix.len;
	for (; scope < METRIC_SCOPES; scope++) {
		size_t n = strlen(metric_scope_name(scope));

		if (strncmp(name, metric_scope_name(scope), n) == 0 && name[n] == '_') {
			*rest = name + n + 1;
			break;
		}
	}
	return scope;
}

static void
mark_metric(const char *name, uint8_t *bits)
{
	const char *rest;
	enum metric_scope scope = split_metric_name(name, &rest);

	for (unsigned int i = 0; scope < METRIC_SCOPES && i < metric_count(); i++) {
		struct metric m = metric_at(i);

		if (metric_has_scope(&m, scope) && strcmp(m.name, rest) == 0)
			bits[i] |= (uint8_t)(1u << scope);
	}
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

int
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

int
promex_wants(const struct promex_query *q, enum metric_scope scope, unsigned int i)
{
	unsigned int bit = 1u << scope;
	struct metric m = metric_at(i);

	int is_extra = m.form == METRIC_LATENCY && scope == SCOPE_SERVER && !q->server_histograms;
	int is_wanted = q->has_names ? (q->named[i] & bit) != 0 : !is_extra;

	return is_wanted && (q->scopes & bit) && metric_has_scope(&m, scope) &&
		!(q->left_out[i] & bit);
}
