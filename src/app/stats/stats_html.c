/* Rows of the statistics page as HTML. Changes nothing but the string. The columns are named
 * again in page.css, for narrow screens. */
#include "app/stats/stats_html.h"

#include <string.h>

#include "app/stats/stats_int.h"
#include "proxy/backend/server_state.h"
#include "proxy/model/proxy.h"

/* --- latency --------------------------------------------------------------------------------- */

/* The cell of a row with percentiles of its times, and their histogram. On the first worker. */

enum { BAR_TOP = 10 };

static void
put_ms(struct sbuf *out, uint64_t us)
{
	double ms = (double)us / 1e3;

	sbuf_addf(out, "%.*f", ms < 10 ? 2 : ms < 100 ? 1 : 0, ms);
}

static void
put_percentiles(struct sbuf *out, const struct latency *l, enum latency_kind k)
{
	put_ms(out, latency_quantile_us(l, k, 500));
	sbuf_addc(out, '/');
	put_ms(out, latency_quantile_us(l, k, 900));
	sbuf_addc(out, '/');
	put_ms(out, latency_quantile_us(l, k, 990));
}

/* Prints a bar for each bucket: 10 units for the highest, half a unit at least for the others. */
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

/* All times, for the mouse. */
static void
put_all(struct sbuf *out, const struct stat_item *item, const struct latency *l)
{
	const char *before = "";

	for (enum latency_kind k = 0; k < LATENCIES; k++) {
		if (!stat_has_latency(item, k))
			continue;
		sbuf_addf(out, "%s%s ", before, latency_name(k));
		put_percentiles(out, l, k);
		before = ", ";
	}
}

/* Percentiles in milliseconds: of the response, or of the total time where there is none. */
static void
html_latency(struct sbuf *out, const struct stat_item *item)
{
	enum latency_kind k = stat_has_latency(item, LATENCY_RESPONSE) ? LATENCY_RESPONSE
								       : LATENCY_TOTAL;
	struct latency l;

	latency_sum(stat_latency_of(item), &l);
	if (!stat_has_latency(item, k) || !latency_total(&l, k)) {
		sbuf_adds(out, "<td class=n></td>");
		return;
	}
	sbuf_adds(out, "<td class=n title=\"");
	put_all(out, item, &l);
	sbuf_adds(out, "\">");
	put_percentiles(out, &l, k);
	sbuf_addc(out, ' ');
	put_bars(out, &l, k);
	sbuf_adds(out, "</td>");
}

/* --- rows ------------------------------------------------------------------------------------ */

void
html_text(struct sbuf *out, struct str text)
{
	static const struct {
		char c;
		const char *as;
	} escapes[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" },
			{ '\'', "&#39;" } };
	size_t from = 0;

	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.p[i];
		const char *as = c < ' ' || c == 127 ? " " : NULL;

		for (size_t k = 0; k < ARRAY_LEN(escapes); k++)
			if (c == (unsigned char)escapes[k].c)
				as = escapes[k].as;
		if (!as)
			continue;
		sbuf_add(out, text.p + from, i - from);
		sbuf_adds(out, as);
		from = i + 1;
	}
	sbuf_add(out, text.p + from, text.len - from);
}

/* --- values --- */

/* Nothing if the row has no such value. */
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

/* Prints the columns present in the row, separated by '/'. */
static void
html_cell(struct sbuf *out, const struct stat_row *r, const enum stat_col *cols, size_t n)
{
	const char *before = "";

	sbuf_adds(out, "<td class=n>");
	for (size_t i = 0; i < n; i++) {
		if (r->v[cols[i]].kind == VAL_NONE)
			continue;
		sbuf_adds(out, before);
		html_value(out, r, cols[i]);
		before = "/";
	}
	sbuf_adds(out, "</td>");
}

#define CELL(out, r, ...)                                                                      \
	html_cell(out, r, (const enum stat_col[]){ __VA_ARGS__ },                               \
		sizeof((const enum stat_col[]){ __VA_ARGS__ }) / sizeof(enum stat_col))

/* 93784 s: "1d 2h" */
static void
html_age(struct sbuf *out, const struct stat_row *r, enum stat_col c)
{
	int64_t s = number_of_col(r, c);

	if (r->v[c].kind != VAL_INT || s < 0)
		return;
	if (s >= 86400)
		sbuf_addf(out, "%lldd %lldh", (long long)(s / 86400), (long long)(s / 3600 % 24));
	else if (s >= 3600)
		sbuf_addf(out, "%lldh %lldm", (long long)(s / 3600), (long long)(s / 60 % 60));
	else if (s >= 60)
		sbuf_addf(out, "%lldm %llds", (long long)(s / 60), (long long)(s % 60));
	else
		sbuf_addf(out, "%llds", (long long)s);
}

/* --- a row --- */

/* The class that gives a row its colour. */
static const char *
class_of_status(const char *status)
{
	static const struct {
		const char *begin, *class;
	} classes[] = {
		{ "UP ", "going" },
		{ "DOWN ", "going" },
		{ "NOLB ", "going" },
		{ "UP", "up" },
		{ "DOWN", "down" },
		{ "NOLB", "drain" },
		{ "MAINT", "maint" },
		{ "DRAIN", "drain" },
		{ "OPEN", "open" },
		{ "STOP", "down" },
		{ "PAUSED", "maint" },
		{ "WAITING", "open" },
		{ "FULL", "open" },
	};

	for (size_t i = 0; i < ARRAY_LEN(classes); i++)
		if (strncmp(status, classes[i].begin, strlen(classes[i].begin)) == 0)
			return classes[i].class;
	return "idle";
}

static void
html_legend(struct sbuf *out, const struct stat_row *r, const char **before, const char *name,
	enum stat_col c)
{
	if (r->v[c].kind == VAL_NONE || (r->v[c].kind == VAL_TEXT && !*r->v[c].u.s))
		return;
	sbuf_addf(out, "%s%s: ", *before, name);
	html_value(out, r, c);
	*before = "; ";
}

/* True if it has a name in its proxy. */
static int
is_part(const struct stat_item *item)
{
	return item->type == TYPE_SERVER || item->type == TYPE_LISTENER;
}

/* show-legends, show-modules. */
static void
html_details(struct sbuf *out, const struct stat_item *item, unsigned int flags)
{
	const struct stat_row *r = &item->row;
	const char *before = "";

	if (!(flags & (STATS_LEGENDS | STATS_MODULES)))
		return;
	sbuf_adds(out, "<br><small>");
	if (flags & STATS_LEGENDS) {
		html_legend(out, r, &before, "id",
			is_part(item) ? STAT_sid : STAT_iid);
		html_legend(out, r, &before, "mode", STAT_mode);
		html_legend(out, r, &before, "address", STAT_addr);
		html_legend(out, r, &before, "cookie", STAT_cookie);
		html_legend(out, r, &before, "algorithm", STAT_algo);
		html_legend(out, r, &before, "tracks", STAT_tracked);
	}
	if (flags & STATS_MODULES) {
		html_legend(out, r, &before, "h1 connections", STAT_h1_open_connections);
		html_legend(out, r, &before, "h1 requests", STAT_h1_total_streams);
		html_legend(out, r, &before, "h1 bytes in", STAT_h1_bytes_in);
		html_legend(out, r, &before, "h1 bytes out", STAT_h1_bytes_out);
		html_legend(out, r, &before, "h1 spliced out", STAT_h1_spliced_bytes_out);
	}
	sbuf_adds(out, "</small>");
}

static void
html_name(struct sbuf *out, const struct stat_item *item, unsigned int flags, int boxes)
{
	const char *name = text_of_col(&item->row, STAT_svname);

	if (!is_part(item)) {
		sbuf_adds(out, item->type == TYPE_FRONTEND ? "<td>Frontend" : "<td>Backend");
	} else if (boxes && item->type == TYPE_SERVER) {
		sbuf_adds(out, "<td><label><input type=checkbox name=s value=\"");
		html_text(out, str_of(name));
		sbuf_adds(out, "\"> ");
		html_text(out, str_of(name));
		sbuf_adds(out, "</label>");
	} else {
		sbuf_adds(out, "<td>");
		html_text(out, str_of(name));
	}
	html_details(out, item, flags);
	sbuf_adds(out, "</td>");
}

static void
html_status(struct sbuf *out, const struct stat_item *item)
{
	sbuf_adds(out, "<td>");
	html_value(out, &item->row, STAT_status);
	if (item->row.v[STAT_lastchg].kind == VAL_INT) {
		sbuf_adds(out, " <small>for ");
		html_age(out, &item->row, STAT_lastchg);
		sbuf_adds(out, "</small>");
	}
	sbuf_adds(out, "</td>");
}

static void
html_check(struct sbuf *out, const struct stat_row *r, enum stat_col status, enum stat_col code,
	enum stat_col duration, enum stat_col last)
{
	if (r->v[status].kind == VAL_NONE)
		return;
	html_value(out, r, status);
	if (r->v[code].kind == VAL_INT)
		sbuf_addf(out, "/%lld", (long long)r->v[code].u.n);
	if (r->v[duration].kind == VAL_INT)
		sbuf_addf(out, " in %lldms", (long long)r->v[duration].u.n);
	if (*text_of_col(r, last)) {
		sbuf_adds(out, " <small>");
		html_value(out, r, last);
		sbuf_adds(out, "</small>");
	}
}

static void
html_checks(struct sbuf *out, const struct stat_row *r)
{
	sbuf_adds(out, "<td>");
	html_check(out, r, STAT_check_status, STAT_check_code, STAT_check_duration,
		STAT_last_chk);
	if (r->v[STAT_agent_status].kind != VAL_NONE)
		sbuf_adds(out, " agent: ");
	html_check(out, r, STAT_agent_status, STAT_agent_code, STAT_agent_duration,
		STAT_last_agt);
	sbuf_adds(out, "</td>");
}

static void
html_ages(struct sbuf *out, const struct stat_row *r)
{
	sbuf_adds(out, "<td>");
	html_value(out, r, STAT_chkdown);
	if (r->v[STAT_downtime].kind == VAL_INT) {
		sbuf_adds(out, r->v[STAT_chkdown].kind == VAL_INT ? "/" : "");
		html_age(out, r, STAT_downtime);
	}
	sbuf_adds(out, "</td><td>");
	html_age(out, r, STAT_lastsess);
	sbuf_adds(out, "</td>");
}

void
html_row(struct sbuf *out, const struct stat_item *item, unsigned int flags, int boxes)
{
	static const char *const kinds[] = { [TYPE_FRONTEND] = "front", [TYPE_BACKEND] = "back",
					     [TYPE_SERVER] = "srv", [TYPE_LISTENER] = "sock" };
	const struct stat_row *r = &item->row;

	sbuf_addf(out, "<tr class=\"%s %s%s\">", kinds[item->type],
		class_of_status(text_of_col(r, STAT_status)),
		item->type == TYPE_SERVER && number_of_col(r, STAT_bck) ? " backup" : "");
	html_name(out, item, flags, boxes);
	html_status(out, item);
	CELL(out, r, STAT_weight);
	CELL(out, r, STAT_qcur, STAT_qmax, STAT_qlimit);
	CELL(out, r, STAT_scur, STAT_smax, STAT_slim);
	CELL(out, r, STAT_stot);
	CELL(out, r, STAT_rate, STAT_rate_max);
	CELL(out, r, STAT_bin);
	CELL(out, r, STAT_bout);
	CELL(out, r, STAT_dreq, STAT_dresp);
	CELL(out, r, STAT_ereq, STAT_econ, STAT_eresp);
	CELL(out, r, STAT_wretr, STAT_wredis);
	CELL(out, r, STAT_hrsp_1xx, STAT_hrsp_2xx, STAT_hrsp_3xx, STAT_hrsp_4xx, STAT_hrsp_5xx,
		STAT_hrsp_other);
	html_checks(out, r);
	html_ages(out, r);
	html_latency(out, item);
	sbuf_adds(out, "</tr>\n");
}

void
html_row_names(struct sbuf *out)
{
	static const char *const names[][2] = {
		{ "Name", "" },
		{ "Status", "and for how long" },
		{ "Weight", "in use" },
		{ "Queue", "now/most/limit" },
		{ "Sessions", "now/most/limit" },
		{ "Total", "sessions so far" },
		{ "Per second", "sessions, now / most" },
		{ "Bytes in", "" },
		{ "Bytes out", "" },
		{ "Denied", "requests / responses" },
		{ "Errors", "requests / connections / responses, as far as they apply" },
		{ "Retries", "of connections / on another server" },
		{ "Responses", "1xx / 2xx / 3xx / 4xx / 5xx / other" },
		{ "Check", "the last result" },
		{ "Down", "how often / for how long" },
		{ "Last", "time since the last session" },
		{ "Times",
			"50, 90 and 99 percent of responses, in mode tcp of connections, took at "
			"most so many milliseconds" },
	};

	sbuf_adds(out, "<thead><tr>");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		sbuf_addf(out, "<th scope=col title=\"%s\">%s</th>", names[i][1], names[i][0]);
	sbuf_adds(out, "</tr></thead>\n");
}
