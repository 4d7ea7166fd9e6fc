/* Rows of the page: escaping, and values that are not there. */
#include "unit/test.h"

#include "app/stats/stats_html.h"
#include "proxy/model/proxy.h"

static struct sbuf out;
static struct proxy px;
static struct server srv;

static const char *
escaped(const char *text, size_t len)
{
	sbuf_fini(&out);
	sbuf_init(&out, 0);
	html_text(&out, (struct str){ text, len });
	return out.len ? out.p : "";
}

#define ESCAPED(text) escaped(text, sizeof(text) - 1)

static void
texts_cannot_leave_their_place(void **st)
{
	(void)st;
	assert_string_equal(ESCAPED(""), "");
	assert_string_equal(ESCAPED("plain"), "plain");
	assert_string_equal(ESCAPED("<script>"), "&lt;script&gt;");
	assert_string_equal(ESCAPED("\"'&"), "&quot;&#39;&amp;");
	assert_string_equal(ESCAPED("a&amp;b"), "a&amp;amp;b");
	assert_string_equal(ESCAPED("a\0b\nc\x7f"), "a b c ");
	assert_string_equal(ESCAPED("\xc3\xa9"), "\xc3\xa9");
}

static const char *
row(struct stat_item *item, unsigned int flags, int boxes)
{
	sbuf_fini(&out);
	sbuf_init(&out, 0);
	html_row(&out, item, flags, boxes);
	return out.p;
}

static void
values_of_checks_are_escaped(void **st)
{
	struct stat_item item = { .type = TYPE_SERVER, .proxy = &px, .server = &srv };
	const char *text;

	(void)st;
	stat_row_text(&item.row, STAT_svname, "a\"><b>");
	stat_row_text(&item.row, STAT_status, "UP 1/3");
	stat_row_text(&item.row, STAT_check_status, "L7RSP");
	stat_row_int(&item.row, STAT_check_code, 404);
	stat_row_int(&item.row, STAT_check_duration, 12);
	stat_row_text(&item.row, STAT_last_chk, "<script>alert(1)</script>");
	stat_row_text(&item.row, STAT_last_agt, "<i>");
	stat_row_text(&item.row, STAT_agent_status, "L7OK");
	stat_row_text(&item.row, STAT_addr, "<addr>");
	stat_row_text(&item.row, STAT_cookie, "<cookie>");
	stat_row_int(&item.row, STAT_bck, 1);
	stat_row_int(&item.row, STAT_lastsess, 90061);
	text = row(&item, STATS_LEGENDS | STATS_MODULES, 1);
	assert_memory_equal(text, "<tr class=\"srv going backup\">", 29);
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "<b>"));
	assert_null(strstr(text, "<i>"));
	assert_null(strstr(text, "<addr>"));
	assert_null(strstr(text, "<cookie>"));
	assert_non_null(strstr(text, "L7RSP/404 in 12ms <small>&lt;script&gt;"));
	assert_non_null(strstr(text, " agent: L7OK <small>&lt;i&gt;"));
	assert_non_null(strstr(text, "value=\"a&quot;&gt;&lt;b&gt;\""));
	assert_non_null(strstr(text, "<td>1d 1h</td><td class=n></td></tr>"));
	assert_non_null(strstr(row(&item, 0, 0), "<td>a&quot;&gt;"));
}

static void
missing_values_are_empty_cells(void **st)
{
	struct stat_item item = { .type = TYPE_FRONTEND, .proxy = &px, .server = &srv };

	(void)st;
	stat_row_text(&item.row, STAT_status, "OPEN");
	stat_row_int(&item.row, STAT_scur, 1);
	stat_row_int(&item.row, STAT_slim, 9);
	stat_row_int(&item.row, STAT_lastsess, -1);
	assert_string_equal(row(&item, 0, 1),
		"<tr class=\"front open\"><td>Frontend</td><td>OPEN</td><td class=n></td>"
		"<td class=n></td><td class=n>1/9</td><td class=n></td><td class=n></td>"
		"<td class=n></td><td class=n></td><td class=n></td><td class=n></td>"
		"<td class=n></td><td class=n></td><td></td><td></td><td></td>"
		"<td class=n></td></tr>\n");
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
	text = row(&item, 0, 0);
	assert_non_null(strstr(text,
		"<td class=n title=\"queue 0.00/0.00/0.00, connect 0.03/0.04/0.05, "
		"response 0.78/1.00/235, total 0.00/0.00/0.00\">0.78/1.00/235 "
		"<svg class=bars viewBox=\"0 0 22 10\" aria-hidden=true>"
		"<path d=\"M4 10v-10.0h1V10zM11 10v-1.1h1V10z\"/></svg></td></tr>"));
	latency_set_free(&srv.latency);
	px.mode = PROXY_TCP;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_cannot_leave_their_place),
		cmocka_unit_test(values_of_checks_are_escaped),
		cmocka_unit_test(missing_values_are_empty_cells),
		cmocka_unit_test(times_are_percentiles_and_bars),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	sbuf_fini(&out);
	return r;
}
