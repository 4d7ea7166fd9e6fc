/* The table of metrics, and samples of them as text. On the first worker: servers and their checks
 * are read. */
#include "app/promex/metric.h"

#include "app/admin/stat_forms.h"
#include "base/compiler.h"
#include "proxy/model/check.h"

enum { GLOBAL = 1 << SCOPE_GLOBAL, FE = 1 << SCOPE_FRONTEND, BE = 1 << SCOPE_BACKEND,
	SRV = 1 << SCOPE_SERVER };

/* --- the table --- */

static const struct metric metrics[] = {
#define PROCESS_METRIC(f, t, n) { .scopes = GLOBAL, .value = INFO_##f, .type = (t), .name = (n) },
#define STAT_METRIC(col, s, f, n, h) \
	{ .scopes = (s), .value = STAT_##col, .form = (f), .name = (n), .help = (h) },
#include "app/promex/metric.tbl.h"
#undef STAT_METRIC
#undef PROCESS_METRIC
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

	m.field = m.scopes == GLOBAL ? info_field_of((enum info_field)m.value)
				     : stat_field((enum stat_col)m.value);
	/* The nature of a column. */
	if (m.scopes != GLOBAL)
		m.type = m.field->tags[1] == 'C' ? METRIC_COUNTER : METRIC_GAUGE;
	if (!m.help)
		m.help = m.field->desc;
	return m;
}

const char *
metric_scope_name(enum metric_scope scope)
{
	static const char *const names[] = { "process", "frontend", "listener", "backend",
		"server" };

	return names[scope];
}

/* --- the format --- */

static void
put_metric_name(struct sbuf *out, const struct metric *m, enum metric_scope scope)
{
	sbuf_adds(out, "haproxy_");
	sbuf_adds(out, metric_scope_name(scope));
	sbuf_addc(out, '_');
	sbuf_adds(out, m->name);
}

void
metric_put_header(struct sbuf *out, const struct metric *m, enum metric_scope scope)
{
	sbuf_adds(out, "# HELP ");
	put_metric_name(out, m, scope);
	sbuf_addf(out, " %s.\n# TYPE ", m->help);
	put_metric_name(out, m, scope);
	sbuf_adds(out, m->type == METRIC_COUNTER ? " counter\n" : " gauge\n");
}

/* `name="value"`, escaped. */
static void
put_label(struct sbuf *out, const char *name, const char *value)
{
	sbuf_adds(out, name);
	sbuf_adds(out, "=\"");
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			sbuf_addc(out, '\\');
		if (*value == '\n')
			sbuf_adds(out, "\\n");
		else
			sbuf_addc(out, *value);
	}
	sbuf_addc(out, '"');
}

void
metric_put_global(struct sbuf *out, const struct metric *m, const struct info *i)
{
	const struct field_value *v = &i->v[m->value];

	if (v->kind == VAL_NONE)
		return;
	metric_put_header(out, m, SCOPE_GLOBAL);
	put_metric_name(out, m, SCOPE_GLOBAL);
	if (v->kind == VAL_TEXT) {
		/* What is text says so by a label, and is always 1. */
		sbuf_addc(out, '{');
		put_label(out, "version", v->u.s);
		sbuf_adds(out, "} 1\n");
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
};

/* With one more label, unless that is NULL. */
static void
put_sample(const struct sample_line *l, const char *label, const char *of, struct field_value v)
{
	put_metric_name(l->out, l->m, l->scope);
	sbuf_addc(l->out, '{');
	put_label(l->out, "proxy", l->item->proxy->name);
	if (l->scope == SCOPE_SERVER) {
		sbuf_addc(l->out, ',');
		put_label(l->out, "server", l->item->server->name);
	}
	if (label) {
		sbuf_addc(l->out, ',');
		put_label(l->out, label, of);
	}
	sbuf_adds(l->out, "} ");
	field_put_value(l->out, &v);
	sbuf_addc(l->out, '\n');
}

static struct field_value
int_value(int64_t n)
{
	return (struct field_value){ .kind = VAL_INT, .u.n = n };
}

static void
put_codes(const struct sample_line *l)
{
	static const char *const codes[] = { "1xx", "2xx", "3xx", "4xx", "5xx", "other" };

	for (unsigned int i = 0; i < ARRAY_LEN(codes); i++)
		put_sample(l, "code", codes[i], l->item->row.v[STAT_hrsp_1xx + i]);
}

/* --- states --- */

enum { STATE_DOWN, STATE_UP, STATE_MAINT, STATE_DRAIN, STATE_NOLB, METRIC_STATES_MAX };

static const char *const states[] = { "DOWN", "UP", "MAINT", "DRAIN", "NOLB" };

/* Of the text in the column status: "UP 1/3", "MAINT (via b/s)", "no check" and others. */
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
put_state(const struct sample_line *l)
{
	unsigned int n = l->scope == SCOPE_SERVER ? METRIC_STATES_MAX : STATE_UP + 1;
	unsigned int state = state_of_text(l->item->row.v[STAT_status].u.s);

	for (unsigned int i = 0; i < n; i++)
		put_sample(l, "state", states[i], int_value(i == state));
}

static void
put_state_counts(const struct sample_line *l)
{
	int64_t n[METRIC_STATES_MAX] = { 0 };
	char buf[SERVER_STATUS_MAX];

	list_each(it, &l->item->proxy->servers) {
		n[state_of_text(
			server_status_text(list_entry(it, const struct server, link), buf))]++;
	}
	for (unsigned int i = 0; i < METRIC_STATES_MAX; i++)
		put_sample(l, "state", states[i], int_value(n[i]));
}

/* --- results of checks --- */

/* Those before are none. */
#define FIRST_RESULT CHECK_SOCKERR

static void
put_check(const struct sample_line *l)
{
	const char *code = l->item->row.v[STAT_check_status].u.s;

	/* The last result, while the next one is not there. */
	if (strncmp(code, "* ", 2) == 0)
		code += 2;
	for (enum check_status s = FIRST_RESULT; s < CHECK_STATUSES; s++)
		put_sample(l, "state", check_status_code(s),
			int_value(strcmp(code, check_status_code(s)) == 0));
}

static void
put_check_counts(const struct sample_line *l)
{
	int64_t n[CHECK_STATUSES] = { 0 };

	list_each(it, &l->item->proxy->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		if (s->check && s->check->enabled)
			n[s->check->status]++;
	}
	for (enum check_status s = FIRST_RESULT; s < CHECK_STATUSES; s++)
		put_sample(l, "state", check_status_code(s), int_value(n[s]));
}

/* --- a row --- */

int
metric_has_samples(const struct metric *m, const struct stat_item *item)
{
	return item->row.v[m->value].kind != VAL_NONE;
}

void
metric_put_item(struct sbuf *out, const struct metric *m, enum metric_scope scope,
	const struct stat_item *item)
{
	const struct sample_line l = { out, m, scope, item };
	struct field_value v = item->row.v[m->value];

	switch (m->form) {
	case METRIC_NUMBER:
		put_sample(&l, NULL, NULL, v);
		break;
	case METRIC_MS:
		v = (struct field_value){ .kind = VAL_FLOAT, .u.d = (double)v.u.n / 1e3 };
		put_sample(&l, NULL, NULL, v);
		break;
	case METRIC_CODES:
		put_codes(&l);
		break;
	case METRIC_STATE:
		put_state(&l);
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
	}
}
