/* Rows of the page: escaping, values that are not there, and how a row looks. */
#include "unit/test.h"

#include "app/stats/stats_row.h"
#include "proxy/model/proxy.h"

static struct sbuf out;
static struct proxy px;
static struct server srv;

static const char *
row(struct stat_item *item, unsigned int flags, int has_form)
{
	struct stats_view view = { .uri = STR("/s"), .words = ";up", .flags = flags,
		.has_form = has_form };

	sbuf_fini(&out);
	sbuf_init(&out, 0);
	row_put(&out, item, &view);
	return out.p;
}

static const char *
details(struct stat_item *item, unsigned int flags)
{
	struct stats_view view = { .uri = STR("/s"), .words = ";up", .flags = flags };

	sbuf_fini(&out);
	sbuf_init(&out, 0);
	row_details(&out, item, &view);
	return out.p;
}

static void
values_of_checks_are_escaped(void **st)
{
	struct stat_item item = { .type = TYPE_SERVER, .proxy = &px, .server = &srv };
	const char *text;

	(void)st;
	px.name = "p<x>";
	stat_row_text(&item.row, STAT_svname, "a\"><b>");
	stat_row_text(&item.row, STAT_status, "UP 1/3");
	stat_row_text(&item.row, STAT_check_status, "L7RSP");
	stat_row_int(&item.row, STAT_check_code, 404);
	stat_row_int(&item.row, STAT_check_duration, 12);
	stat_row_text(&item.row, STAT_last_chk, "<script>alert(1)</script>");
	stat_row_text(&item.row, STAT_last_agt, "<i>");
	stat_row_text(&item.row, STAT_addr, "<addr>");
	stat_row_text(&item.row, STAT_cookie, "<cookie>");
	stat_row_int(&item.row, STAT_bck, 1);
	text = row(&item, STATS_LEGENDS, 1);
	assert_memory_equal(text, "<tr id=r0.2.0 class=\"srv going backup\" data-v=\"2,12,-1,", 54);
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "<b>"));
	assert_null(strstr(text, "<addr>"));
	assert_non_null(strstr(text, "<td title=\"&lt;script&gt;alert(1)&lt;/script&gt;\">"
		"L7RSP/404 <small>12\xc2\xa0ms</small></td>"));
	assert_non_null(strstr(text, "value=\"a&quot;&gt;&lt;b&gt;\""));
	assert_non_null(strstr(text, "aria-label=\"Select a&quot;&gt;&lt;b&gt;\""));
	assert_non_null(strstr(text, "title=\"&lt;addr&gt;\""));
	assert_null(strstr(row(&item, 0, 0), "addr"));
	text = details(&item, STATS_LEGENDS);
	assert_non_null(strstr(text, "<h2>p&lt;x&gt; / a&quot;&gt;&lt;b&gt;</h2>"));
	assert_non_null(strstr(text, "<a class=close href=\"/s;up\">Close</a>"));
	assert_non_null(strstr(text, "<dd>&lt;cookie&gt;</dd>"));
	assert_non_null(strstr(text, "<dd>&lt;i&gt;</dd>"));
	assert_null(strstr(text, "<script"));
	assert_null(strstr(details(&item, 0), "cookie"));
}

static void
missing_values_are_empty_cells(void **st)
{
	struct stat_item item = { .type = TYPE_FRONTEND, .proxy = &px, .server = &srv };

	(void)st;
	stat_row_text(&item.row, STAT_status, "OPEN");
	stat_row_int(&item.row, STAT_scur, 1);
	stat_row_int(&item.row, STAT_slim, 9975);
	stat_row_int(&item.row, STAT_bin, 0);
	assert_string_equal(row(&item, 0, 1),
		"<tr id=r0.0.0 class=\"front open\" "
		"data-v=\"7,-1,-1,-1,1,-1,-1,0,-1,-1,-1,-1,-1,-1,-1,-1\">"
		"<td><a href=\"/s;row=0.0.0;up\">Frontend</a></td><td>OPEN</td><td></td><td></td>"
		"<td></td><td>1<small>/9,975</small></td><td></td><td></td>"
		"<td class=z>0\xc2\xa0" "B</td><td></td><td></td><td></td><td></td><td></td>"
		"<td></td><td></td><td></td></tr>\n");
}

static void
assert_class(struct stat_item *item, const char *class)
{
	char want[40];

	(void)snprintf(want, sizeof(want), " class=\"srv %s\"", class);
	assert_non_null(strstr(row(item, 0, 0), want));
}

/* A server whose checks are good, or that has none, and that fails. */
static void
most_failures_show(void **st)
{
	struct stat_item item = { .type = TYPE_SERVER, .proxy = &px, .server = &srv };

	(void)st;
	stat_row_text(&item.row, STAT_status, "no check");
	stat_row_int(&item.row, STAT_stot, 21);
	stat_row_int(&item.row, STAT_hrsp_5xx, 6);
	stat_row_int(&item.row, STAT_econ, 4);
	assert_class(&item, "idle");
	stat_row_int(&item.row, STAT_eresp, 1);
	assert_class(&item, "failing");
	stat_row_text(&item.row, STAT_status, "UP");
	assert_class(&item, "failing");
	stat_row_text(&item.row, STAT_status, "DOWN");
	assert_class(&item, "down");
	/* There were too few. */
	stat_row_text(&item.row, STAT_status, "UP");
	stat_row_int(&item.row, STAT_stot, 9);
	stat_row_int(&item.row, STAT_hrsp_5xx, 9);
	stat_row_int(&item.row, STAT_econ, 0);
	stat_row_int(&item.row, STAT_eresp, 0);
	assert_class(&item, "up");
}

/* 90 of 100 responses between 0.5 and 1 ms, and 10 between 100 and 250 ms. */
static void
times_are_percentiles_and_bars(void **st)
{
	struct stat_item item = { .type = TYPE_SERVER, .proxy = &px, .server = &srv };
	const char *text;

	(void)st;
	px.mode = PROXY_HTTP;
	assert_int_equal(latency_set_make(&srv.latency, 1), 0);
	for (int i = 0; i < 100; i++) {
		struct latency_times t = { .has = 0 };

		latency_set(&t, LATENCY_CONNECT, 50);
		latency_set(&t, LATENCY_RESPONSE, i < 90 ? 700 : 200000);
		latency_count(&srv.latency, 0, &t);
	}
	assert_non_null(strstr(row(&item, 0, 0), "<td>0.78</td><td>235</td></tr>"));
	text = details(&item, 0);
	assert_non_null(strstr(text,
		"<div><dt>Milliseconds, response: 50, 90, 99 %</dt><dd>0.78 / 1.00 / 235"
		"<svg class=bars viewBox=\"0 0 22 10\" aria-hidden=true>"
		"<path d=\"M4 10v-10.0h1V10zM11 10v-1.1h1V10z\"/></svg></dd></div>"));
	/* Nothing was measured. */
	assert_null(strstr(text, "queue"));
	latency_set_free(&srv.latency);
	px.mode = PROXY_TCP;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_checks_are_escaped),
		cmocka_unit_test(missing_values_are_empty_cells),
		cmocka_unit_test(most_failures_show),
		cmocka_unit_test(times_are_percentiles_and_bars),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	sbuf_fini(&out);
	return r;
}
