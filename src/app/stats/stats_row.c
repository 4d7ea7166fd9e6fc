/* Rows of the statistics page, the details of one, and sums over all. Changes nothing but the
 * string. The columns are named again in page.css, for narrow screens. */
#include "app/stats/stats_row.h"

#include <string.h>

#include "app/stats/stats_html.h"
#include "proxy/model/proxy.h"

/* Failures before a server is CLASS_FAILING. */
#define FAILING_LEAST 10

/* Writes nothing if the row has no such value. */
static void
html_value(struct sbuf *out, const struct stat_row *r, enum stat_col c)
{
	const struct field_value *v = &r->v[c];

	if (v->kind == VAL_TEXT)
		html_text(out, str_of(v->u.s));
	else if (v->kind == VAL_INT)
		sbuf_addf(out, "%lld", (long long)v->u.n);
}

static const char *
text_of_col(const struct stat_row *r, enum stat_col c)
{
	return r->v[c].kind == VAL_TEXT ? r->v[c].u.s : "";
}

static int64_t
number_of_col(const struct stat_row *r, enum stat_col c)
{
	return r->v[c].kind == VAL_INT ? r->v[c].u.n : 0;
}

static void
put_ms(struct sbuf *out, uint64_t us)
{
	double ms = (double)us / 1e3;

	sbuf_addf(out, "%.*f", ms < 10 ? 2 : ms < 100 ? 1 : 0, ms);
}

/* --- a row --- */

static enum stats_class
class_of_status(const char *status)
{
	static const struct {
		const char *begin;
		enum stats_class class;
	} classes[] = {
		{ "UP ", CLASS_GOING },
		{ "DOWN ", CLASS_GOING },
		{ "NOLB ", CLASS_GOING },
		{ "UP", CLASS_UP },
		{ "DOWN", CLASS_DOWN },
		{ "NOLB", CLASS_DRAIN },
		{ "MAINT", CLASS_MAINT },
		{ "DRAIN", CLASS_DRAIN },
		{ "OPEN", CLASS_OPEN },
		{ "STOP", CLASS_DOWN },
		{ "PAUSED", CLASS_MAINT },
		{ "WAITING", CLASS_OPEN },
		{ "FULL", CLASS_OPEN },
	};

	for (size_t i = 0; i < ARRAY_LEN(classes); i++)
		if (strncmp(status, classes[i].begin, strlen(classes[i].begin)) == 0)
			return classes[i].class;
	return CLASS_IDLE;
}

/* A server that gets traffic and fails most of it, whatever its checks say. */
static int
is_failing(const struct stat_item *item)
{
	const struct stat_row *r = &item->row;
	uint64_t failed = (uint64_t)(number_of_col(r, STAT_hrsp_5xx) + number_of_col(r, STAT_econ) +
				     number_of_col(r, STAT_eresp));

	return item->type == TYPE_SERVER && failed >= FAILING_LEAST &&
		2 * failed > (uint64_t)number_of_col(r, STAT_stot);
}

static enum stats_class
class_of_row(const struct stat_item *item)
{
	enum stats_class c = class_of_status(text_of_col(&item->row, STAT_status));

	return (c == CLASS_UP || c == CLASS_IDLE) && is_failing(item) ? CLASS_FAILING : c;
}

static const char *
name_of_class(enum stats_class c)
{
	static const char *const names[] = {
		[CLASS_DOWN] = "down", [CLASS_FAILING] = "failing", [CLASS_GOING] = "going",
		[CLASS_MAINT] = "maint", [CLASS_DRAIN] = "drain", [CLASS_IDLE] = "idle",
		[CLASS_UP] = "up", [CLASS_OPEN] = "open",
	};

	return names[c];
}

/* True if it has a name in its proxy. */
static int
is_part(const struct stat_item *item)
{
	return item->type == TYPE_SERVER || item->type == TYPE_LISTENER;
}

static const char *
name_of_item(const struct stat_item *item)
{
	return is_part(item) ? text_of_col(&item->row, STAT_svname)
		: item->type == TYPE_FRONTEND ? "Frontend" : "Backend";
}

static void
put_row_id(struct sbuf *out, const struct stat_item *item)
{
	sbuf_addf(out, "%d.%d.%lld", item->proxy->id, (int)item->type,
		(long long)number_of_col(&item->row, STAT_sid));
}

/* The values of the columns, in their order, behind that of the name. */
enum row_value {
	ROW_STATUS, ROW_CHECK, ROW_WEIGHT, ROW_QUEUE, ROW_SESSIONS, ROW_RATE, ROW_TOTAL, ROW_IN,
	ROW_OUT, ROW_4XX, ROW_5XX, ROW_DENIED, ROW_ERRORS, ROW_RETRIES, ROW_MEDIAN, ROW_P99,
	ROW_VALUES
};

/* -1: the row has no such value. */
struct row_values {
	int64_t v[ROW_VALUES];
};

/* The sum of the columns that are there. */
static int64_t
sum_of_cols(const struct stat_row *r, const enum stat_col *cols, size_t n)
{
	int64_t sum = -1;

	for (size_t i = 0; i < n; i++)
		if (r->v[cols[i]].kind == VAL_INT)
			sum = MAX(sum, 0) + r->v[cols[i]].u.n;
	return sum;
}

#define SUM(r, ...)                                                                            \
	sum_of_cols(r, (const enum stat_col[]){ __VA_ARGS__ },                                  \
		sizeof((const enum stat_col[]){ __VA_ARGS__ }) / sizeof(enum stat_col))

/* Median and 99th percentile of responses, or of the total time where there are none. */
static void
read_row_times(const struct stat_item *item, struct row_values *to)
{
	enum latency_kind k = stat_has_latency(item, LATENCY_RESPONSE) ? LATENCY_RESPONSE
								       : LATENCY_TOTAL;
	struct latency l;

	to->v[ROW_MEDIAN] = to->v[ROW_P99] = -1;
	if (!stat_has_latency(item, k))
		return;
	latency_sum(stat_latency_of(item), &l);
	if (!latency_total(&l, k))
		return;
	to->v[ROW_MEDIAN] = (int64_t)latency_quantile_us(&l, k, 500);
	to->v[ROW_P99] = (int64_t)latency_quantile_us(&l, k, 990);
}

static void
read_values(const struct stat_item *item, struct row_values *to)
{
	const struct stat_row *r = &item->row;
	int is_http_fe = item->type == TYPE_FRONTEND && item->proxy->mode == PROXY_HTTP;

	to->v[ROW_STATUS] = class_of_row(item);
	to->v[ROW_CHECK] = SUM(r, STAT_check_duration);
	to->v[ROW_WEIGHT] = SUM(r, STAT_weight);
	to->v[ROW_QUEUE] = SUM(r, STAT_qcur);
	to->v[ROW_SESSIONS] = SUM(r, STAT_scur);
	to->v[ROW_RATE] = is_http_fe ? SUM(r, STAT_req_rate) : SUM(r, STAT_rate);
	to->v[ROW_TOTAL] = is_http_fe ? SUM(r, STAT_req_tot) : SUM(r, STAT_stot);
	to->v[ROW_IN] = SUM(r, STAT_bin);
	to->v[ROW_OUT] = SUM(r, STAT_bout);
	to->v[ROW_4XX] = SUM(r, STAT_hrsp_4xx);
	to->v[ROW_5XX] = SUM(r, STAT_hrsp_5xx);
	to->v[ROW_DENIED] = SUM(r, STAT_dreq, STAT_dresp, STAT_dcon, STAT_dses);
	to->v[ROW_ERRORS] = SUM(r, STAT_ereq, STAT_econ, STAT_eresp);
	to->v[ROW_RETRIES] = SUM(r, STAT_wretr, STAT_wredis);
	read_row_times(item, to);
}

/* The name, a link to the details; the mouse shows what show-legends allows. */
static void
html_name(struct sbuf *out, const struct stat_item *item, const struct stats_view *view)
{
	const struct stat_row *r = &item->row;

	sbuf_adds(out, "<td>");
	if (view->has_form && item->type == TYPE_SERVER) {
		sbuf_adds(out, "<input type=checkbox name=s aria-label=\"Select ");
		html_text(out, str_of(name_of_item(item)));
		sbuf_adds(out, "\" value=\"");
		html_text(out, str_of(name_of_item(item)));
		sbuf_adds(out, "\">");
	}
	sbuf_adds(out, "<a href=\"");
	html_text(out, view->uri);
	sbuf_adds(out, ";row=");
	put_row_id(out, item);
	html_text(out, str_of(view->words));
	if ((view->flags & STATS_LEGENDS) && *text_of_col(r, STAT_addr)) {
		sbuf_adds(out, "\" title=\"");
		html_value(out, r, STAT_addr);
	}
	sbuf_adds(out, "\">");
	html_text(out, str_of(name_of_item(item)));
	sbuf_adds(out, "</a></td>");
}

static void
html_status(struct sbuf *out, const struct stat_item *item)
{
	sbuf_adds(out, "<td>");
	html_value(out, &item->row, STAT_status);
	if (item->row.v[STAT_lastchg].kind == VAL_INT) {
		sbuf_adds(out, " <small>");
		html_age(out, number_of_col(&item->row, STAT_lastchg));
		sbuf_adds(out, "</small>");
	}
	sbuf_adds(out, "</td>");
}

static void
html_check(struct sbuf *out, const struct stat_row *r)
{
	if (*text_of_col(r, STAT_last_chk)) {
		sbuf_adds(out, "<td title=\"");
		html_value(out, r, STAT_last_chk);
		sbuf_adds(out, "\">");
	} else {
		sbuf_adds(out, "<td>");
	}
	html_value(out, r, STAT_check_status);
	if (r->v[STAT_check_code].kind == VAL_INT)
		sbuf_addf(out, "/%lld", (long long)number_of_col(r, STAT_check_code));
	if (r->v[STAT_check_duration].kind == VAL_INT)
		sbuf_addf(out, " <small>%lld\xc2\xa0ms</small>",
			(long long)number_of_col(r, STAT_check_duration));
	sbuf_adds(out, "</td>");
}

/* A value of -1 makes an empty cell; one above 0 gets the class, if there is one, and 0 is pale. */
static void
html_number(struct sbuf *out, const struct row_values *v, enum row_value i, const char *class)
{
	if (v->v[i] == 0)
		class = "z";
	if (class && v->v[i] >= 0)
		sbuf_addf(out, "<td class=%s>", class);
	else
		sbuf_adds(out, "<td>");
	if (v->v[i] >= 0 && (i == ROW_IN || i == ROW_OUT))
		html_bytes(out, (uint64_t)v->v[i]);
	else if (v->v[i] >= 0 && i >= ROW_MEDIAN)
		put_ms(out, (uint64_t)v->v[i]);
	else if (v->v[i] >= 0)
		html_count(out, (uint64_t)v->v[i]);
}

static void
html_numbers(struct sbuf *out, const struct stat_row *r, const struct row_values *v)
{
	static const char *const classes[ROW_VALUES] = { [ROW_QUEUE] = "warn", [ROW_4XX] = "c4",
		[ROW_5XX] = "c5", [ROW_ERRORS] = "c5", [ROW_RETRIES] = "warn" };

	for (enum row_value i = ROW_WEIGHT; i < ROW_VALUES; i++) {
		html_number(out, v, i, classes[i]);
		if (i == ROW_SESSIONS && number_of_col(r, STAT_slim)) {
			sbuf_adds(out, "<small>/");
			html_count(out, (uint64_t)number_of_col(r, STAT_slim));
			sbuf_adds(out, "</small>");
		}
		sbuf_adds(out, "</td>");
	}
}

/* A line of its own, by which the script finds the rows that have changed. */
void
row_put(struct sbuf *out, const struct stat_item *item, const struct stats_view *view)
{
	static const char *const kinds[] = { [TYPE_FRONTEND] = "front", [TYPE_BACKEND] = "back",
					     [TYPE_SERVER] = "srv", [TYPE_LISTENER] = "sock" };
	struct row_values v;

	read_values(item, &v);
	sbuf_adds(out, "<tr id=r");
	put_row_id(out, item);
	sbuf_addf(out, " class=\"%s %s%s\" data-v=\"", kinds[item->type],
		name_of_class(class_of_row(item)),
		item->type == TYPE_SERVER && number_of_col(&item->row, STAT_bck) ? " backup" : "");
	for (enum row_value i = 0; i < ROW_VALUES; i++) {
		if (i)
			sbuf_addc(out, ',');
		sbuf_addi(out, v.v[i]);
	}
	sbuf_adds(out, "\">");
	html_name(out, item, view);
	html_status(out, item);
	html_check(out, &item->row);
	html_numbers(out, &item->row, &v);
	sbuf_adds(out, "</tr>\n");
}

/* --- sums over rows -------------------------------------------------------------------------- */

/* Adds a row of the first walk. */
void
row_sum(struct stats_sums *sums, const struct stat_item *item)
{
	const struct field_value *v = item->row.v;
	int is_http = item->proxy->mode == PROXY_HTTP;
	struct sbuf id;

	if (item->type == TYPE_FRONTEND) {
		sums->requests += (uint64_t)v[is_http ? STAT_req_tot : STAT_stot].u.n;
		sums->rate += (unsigned int)v[is_http ? STAT_req_rate : STAT_rate].u.n;
		sums->failed += is_http ? (uint64_t)v[STAT_hrsp_5xx].u.n : 0;
	} else if (item->type == TYPE_SERVER) {
		enum stats_class c = class_of_row(item);

		if (!sums->servers[c]++) {
			sbuf_init_fixed(&id, sums->first[c], sizeof(sums->first[c]));
			put_row_id(&id, item);
		}
	}
}

/* Servers by state, each a link to the first of them; the script makes the links filters. */
void
row_states(struct sbuf *out, const struct stats_sums *sums)
{
	static const char *const texts[STATS_CLASSES] = { [CLASS_DOWN] = "down",
		[CLASS_FAILING] = "failing", [CLASS_GOING] = "going up or down",
		[CLASS_MAINT] = "in maintenance", [CLASS_DRAIN] = "drained",
		[CLASS_IDLE] = "not checked", [CLASS_UP] = "up" };
	unsigned int all = 0;

	for (enum stats_class c = 0; c < STATS_CLASSES; c++)
		all += sums->servers[c];
	sbuf_addf(out, "<div id=states class=%s><b>%u of %u</b> servers up",
		sums->servers[CLASS_DOWN] ? "bad" : "good",
		sums->servers[CLASS_UP] + sums->servers[CLASS_IDLE] + sums->servers[CLASS_FAILING],
		all);
	for (enum stats_class c = 0; c < CLASS_OPEN; c++)
		if (sums->servers[c])
			sbuf_addf(out, " <a class=%s href=\"#r%s\">%u&nbsp;%s</a>",
				name_of_class(c), sums->first[c], sums->servers[c], texts[c]);
	sbuf_adds(out, "</div>\n");
}

/* --- the details of a row -------------------------------------------------------------------- */

/* False for columns that stand in the heading or only repeat others, for those that need
 * show-legends, and for numbers that are 0. */
static int
is_detail(const struct stat_row *r, enum stat_col c, unsigned int flags)
{
	static const enum stat_col named[] = { STAT_pxname, STAT_svname, STAT_pid, STAT_iid,
		STAT_sid, STAT_type, STAT_act, STAT_bck, STAT_separator };
	static const enum stat_col legends[] = { STAT_addr, STAT_cookie, STAT_algo, STAT_mode };

	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if (c == named[i])
			return 0;
	for (size_t i = 0; i < ARRAY_LEN(legends) && !(flags & STATS_LEGENDS); i++)
		if (c == legends[i])
			return 0;
	return *text_of_col(r, c) || number_of_col(r, c) > 0;
}

static void
put_detail(struct sbuf *out, const struct stat_row *r, enum stat_col c)
{
	const char *desc = stat_field(c)->desc;

	sbuf_addf(out, "<div><dt>%s</dt><dd>", desc);
	if (r->v[c].kind == VAL_TEXT)
		html_value(out, r, c);
	else if (strncmp(desc, "Bytes ", 6) == 0)
		html_bytes(out, (uint64_t)number_of_col(r, c));
	else
		html_count(out, (uint64_t)number_of_col(r, c));
	sbuf_adds(out, "</dd></div>\n");
}

enum { BAR_TOP = 10 };

/* Prints a bar for each bucket. The highest bar has 10 units, the others have at least a half. */
static void
put_bars(struct sbuf *out, const struct latency *l, enum latency_kind k)
{
	uint64_t most = 1;

	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++)
		most = MAX(most, l->n[k][i]);
	sbuf_addf(out, "<svg class=bars viewBox=\"0 0 %d %d\" aria-hidden=true><path d=\"",
		LATENCY_BUCKETS, BAR_TOP);
	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++) {
		double high = (double)l->n[k][i] / (double)most * BAR_TOP;

		if (l->n[k][i])
			sbuf_addf(out, "M%u %dv-%.1fh1V%dz", i, BAR_TOP, MAX(high, 0.5), BAR_TOP);
	}
	sbuf_adds(out, "\"/></svg>");
}

/* The times of a kind: three percentiles and the histogram. */
static void
put_detail_times(struct sbuf *out, const struct stat_item *item, const struct latency *l,
	enum latency_kind k)
{
	static const unsigned int permille[] = { 500, 900, 990 };

	if (!stat_has_latency(item, k) || !latency_total(l, k))
		return;
	sbuf_addf(out, "<div><dt>Milliseconds, %s: 50, 90, 99 %%</dt><dd>", latency_name(k));
	for (size_t i = 0; i < ARRAY_LEN(permille); i++) {
		sbuf_adds(out, i ? " / " : "");
		put_ms(out, latency_quantile_us(l, k, permille[i]));
	}
	put_bars(out, l, k);
	sbuf_adds(out, "</dd></div>\n");
}

void
row_details(struct sbuf *out, const struct stat_item *item, const struct stats_view *view)
{
	struct latency l;

	sbuf_adds(out, "<aside id=more aria-label=Details><header><h2>");
	html_text(out, str_of(item->proxy->name));
	sbuf_adds(out, " / ");
	html_text(out, str_of(name_of_item(item)));
	sbuf_adds(out, "</h2> <a class=close href=\"");
	html_text(out, view->uri);
	html_text(out, str_of(view->words));
	sbuf_adds(out, "\">Close</a></header>\n<dl>\n");
	for (enum stat_col c = 0; c < STAT_COLS; c++)
		if (is_detail(&item->row, c, view->flags))
			put_detail(out, &item->row, c);
	if (item->type != TYPE_LISTENER) {
		latency_sum(stat_latency_of(item), &l);
		for (enum latency_kind k = 0; k < LATENCIES; k++)
			put_detail_times(out, item, &l, k);
	}
	sbuf_adds(out, "</dl></aside>\n");
}
