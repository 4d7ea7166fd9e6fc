/* The statistics over HTTP, as a local service of a process with one worker. */
#include "unit/app/app_rig.h"
#include "unit/test.h"

#include "app/config/version.h"
#include "app/stats/stats_int.h"
#include "proxy/model/check.h"
#include "proxy/model/invalid_msg.h"
#include "proxy/model/server.h"

#define DESC "a&b"
#define EVIL "<script>alert('1')</script>"
#define EVIL_SAFE "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"

#define PAGES                                                                                    \
	"backend be\n id 50\n server a 127.0.0.1:1 check inter 1h\n"                            \
	" server b 127.0.0.1:2 disabled\n"                                                      \
	"listen page\n mode http\n bind \"abns@tacit-unit-page-${UNIT_PID}\"\n stats uri /stats\n" \
	"listen part\n mode http\n bind \"abns@tacit-unit-part-${UNIT_PID}\"\n stats scope .\n"  \
	" stats scope be\n"                                                                      \
	" stats hide-version\n stats refresh 7\n stats show-legends\n stats show-node n<1>\n"    \
	" stats show-desc " DESC "\n description \"" EVIL "\"\n"

static int
setup(void **st)
{
	(void)st;
	return service_rig_open(PAGES);
}

static int
teardown(void **st)
{
	(void)st;
	bench_close();
	return 0;
}

/* The whole body for this target; "" without one. The head is in job until the next call. */
static const char *
ask(const char *section, const char *target, unsigned int flags, const char *body)
{
	new_job(&stats_service, target);
	job->conf = proxies_find(&cfg.proxies, section, PROXY_FE | PROXY_BE);
	assert_non_null(job->conf);
	job->body = str_of(body);
	job->flags = flags;
	return run_job();
}

/* True if the head has this text among its fields' values. */
static int
says(const char *value)
{
	return job->texts.p && strstr(job->texts.p, value) != NULL;
}

static int
has_field(const char *name)
{
	for (unsigned int i = 0; i < job->n_fields; i++)
		if (str_is(job->field[i].name, str_of(name)))
			return 1;
	return 0;
}

static unsigned int
lines_of(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static unsigned int
count_of(const char *text, const char *what)
{
	unsigned int n = 0;

	while ((text = strstr(text, what))) {
		n++;
		text += strlen(what);
	}
	return n;
}

static struct server *
bench_server(const char *be, const char *name)
{
	struct proxy *p = proxies_find(&cfg.proxies, be, PROXY_BE);
	struct server *s = p ? proxy_find_server(p, str_of(name)) : NULL;

	assert_non_null(s);
	return s;
}

static void
csv_has_a_row_for_each(void **st)
{
	const char *text = ask("page", "/stats;csv", 0, "");

	(void)st;
	assert_int_equal(job->status, 200);
	assert_true(says("no-cache"));
	assert_true(says("text/plain"));
	assert_memory_equal(text, "# pxname,svname,", 16);
	assert_non_null(strstr(text, "\nbe,a,0,"));
	assert_non_null(strstr(text, "\nbe,b,0,"));
	assert_non_null(strstr(text, "\nbe,BACKEND,"));
	assert_non_null(strstr(text, "\npage,FRONTEND,"));
	assert_non_null(strstr(text, "\npart,BACKEND,"));
}

static void
scopes_hide_proxies(void **st)
{
	const char *text = ask("part", "/haproxy?stats;csv", 0, "");

	(void)st;
	assert_int_equal(lines_of(text), 6);
	assert_null(strstr(text, "\npage,"));
	text = ask("part", "/haproxy?stats;csv&scope=p", 0, "");
	assert_int_equal(lines_of(text), 3);
	text = ask("part", "/haproxy?stats;csv&scope=no", 0, "");
	assert_int_equal(lines_of(text), 1);
}

/* The page is balanced, needs nothing from outside, and is what its readers look for. */
static void
the_page_is_one_file(void **st)
{
	const char *text = ask("page", "/stats", 0, "");

	(void)st;
	assert_int_equal(job->status, 200);
	assert_true(says("text/html; charset=utf-8"));
	assert_true(says("default-src 'none'; style-src 'nonce-"));
	assert_true(says("frame-ancestors 'none'"));
	assert_memory_equal(text, "<!DOCTYPE html>", 15);
	assert_string_equal(text + strlen(text) - 8, "</html>\n");
	assert_non_null(strstr(text, "HAProxy version " VERSION_COMPAT ", released "));
	assert_non_null(strstr(text, "<b>uptime = </b> 0d 0h00m00s"));
	assert_null(strstr(text, "http:"));
	assert_null(strstr(text, "https:"));
	assert_null(strstr(text, "//cdn"));
	assert_int_equal(count_of(text, "<section>"), 4);
	assert_int_equal(count_of(text, "</section>"), 4);
	assert_int_equal(count_of(text, "<table"), count_of(text, "</table>"));
	assert_non_null(strstr(text, "<table aria-labelledby=\"px-be\">"));
	/* Each row has a cell for each column, and is a line. */
	assert_int_equal(count_of(text, "\n<tr id=r"), count_of(text, "<tr id=r"));
	assert_int_equal(count_of(text, "<td") - count_of(strstr(text, "<details"), "<td"),
		17 * count_of(text, "<tr id=r"));
	assert_int_equal(count_of(text, "<th scope"), 17 * 4);
	assert_non_null(strstr(text, "<tr id=r50.2.2 class=\"srv maint\" data-v=\"3,"));
	assert_non_null(strstr(text, "<td><a href=\"/stats;row=50.2.2\">b</a></td><td>MAINT"));
	assert_null(strstr(text, "<aside id="));
	/* Without `stats admin` every form is refused. */
	assert_null(strstr(text, "method=post"));
	assert_null(strstr(text, "name=action"));
}

/* States with the first row of each, and numbers. */
static void
an_overview_comes_first(void **st)
{
	const char *text;

	(void)st;
	bench_server("be", "a")->oper = SERVER_STOPPED;
	bench_server("be", "a")->check->health = 0;
	text = ask("page", "/stats", 0, "");
	assert_non_null(strstr(text, "\n<div id=states class=bad><b>1 of 3</b> servers up"
		" <a class=down href=\"#r50.2.1\">1&nbsp;down</a>"
		" <a class=maint href=\"#r50.2.2\">1&nbsp;in maintenance</a>"
		" <a class=idle href=\"#r1.2.1\">1&nbsp;not checked</a></div>\n"));
	/* Servers that are hidden count. */
	assert_non_null(strstr(ask("page", "/stats;up", 0, ""), "1&nbsp;down</a>"));
	bench_server("be", "a")->oper = SERVER_RUNNING;
	bench_server("be", "a")->check->health = 4;
	text = ask("page", "/stats", 0, "");
	assert_non_null(strstr(text, "\n<div id=states class=good><b>2 of 3</b> servers up"
		" <a class=maint"));
	assert_non_null(strstr(text, ">1&nbsp;up</a></div>\n"));
	assert_non_null(strstr(text, "\n<div id=counters hidden data-v=\""));
	assert_non_null(strstr(text, "Calls per request</small> <b>-</b>"));
	/* There is no certificate. */
	assert_null(strstr(text, "id=cert"));
	assert_non_null(strstr(text, "<summary>System calls</summary>"));
}

static void
a_row_has_details(void **st)
{
	const char *text = ask("part", "/haproxy?stats;row=50.2.2", 0, "");

	(void)st;
	assert_int_equal(count_of(text, "<tr id=r"), 1);
	assert_int_equal(count_of(text, "<section>"), 1);
	assert_non_null(strstr(text, "<aside id=more aria-label=Details><header><h2>be / b</h2>"
		" <a class=close href=\"/haproxy?stats\">"));
	assert_non_null(strstr(text, "<dd>MAINT</dd>"));
	assert_non_null(strstr(text, "<dd>127.0.0.1:2</dd>"));
	/* Not in the scope of the page, and none at all. */
	assert_null(strstr(ask("part", "/haproxy?stats;row=2.0.0", 0, ""), "<aside id="));
	assert_null(strstr(ask("part", "/haproxy?stats;row=99.2.1", 0, ""), "<aside id="));
	/* A filter hides other rows, not the one that is asked for, and stays. */
	text = ask("part", "/haproxy?stats;row=50.2.2;up;scope=be", 0, "");
	assert_non_null(strstr(text, "<dd>MAINT</dd>"));
	assert_non_null(strstr(text, "<a class=close href=\"/haproxy?stats;up;scope=be\">"));
	assert_non_null(strstr(text, "href=\"/haproxy?stats;row=50.2.2;up;scope=be\""));
	/* Other outputs have no details. */
	assert_int_equal(lines_of(ask("part", "/haproxy?stats;csv;row=50.2.2", 0, "")), 6);
}

static void
the_last_invalid_request_is_shown(void **st)
{
	struct invalid_msg *m = invalid_msg_new(3);

	(void)st;
	assert_non_null(m);
	*m = (struct invalid_msg){ .wall_ms = loop_wall_ns(w->loop) / 1000000 - 90000,
		.why = HTTP_BAD_METHOD, .len = 3, .server = "<s>" };
	invalid_msg_keep(&proxies_find(&cfg.proxies, "page", PROXY_FE)->invalid[CLIENT], m, &sys);
	assert_non_null(strstr(ask("page", "/stats", 0, ""),
		" <small class=invalid>last invalid request 90s ago: invalid method, "
		"server &lt;s&gt;</small></header>\n"));
}

static void
an_admin_gets_forms(void **st)
{
	const char *text = ask("page", "/stats;scope=b%65\"", STATS_JOB_ADMIN, "");

	(void)st;
	assert_null(strstr(text, "<form method=post"));
	text = ask("page", "/stats;scope=b%65", STATS_JOB_ADMIN, "");
	assert_int_equal(count_of(text, "<form method=post action=\"/stats;scope=b%65\">"), 1);
	text = ask("page", "/stats;up;norefresh", STATS_JOB_ADMIN, "");
	assert_int_equal(count_of(text, "<form method=post action=\"/stats;up;norefresh\">"), 2);
	assert_int_equal(count_of(text, "<form"), count_of(text, "</form>"));
	assert_non_null(strstr(text, "<input type=checkbox name=s aria-label=\"Select a\" "
		"value=\"a\">"));
	/* Hidden: it is in maintenance. */
	assert_null(strstr(text, "value=\"b\""));
	assert_non_null(strstr(text, "<option value=\"drain\">"));
	assert_null(strstr(text, "<option value=\"enable\">"));
}

static void
texts_are_escaped(void **st)
{
	const char *text = ask("part", "/haproxy?stats&scope=%3Cscript%3E\"", 0, "");

	(void)st;
	assert_null(strstr(text, "<script>"));
	assert_null(strstr(text, "%3E\""));
	text = ask("part", "/haproxy?stats;st=<script>", 0, "");
	assert_null(strstr(text, "<script>"));
	assert_non_null(strstr(text, "Unexpected result."));
	assert_non_null(strstr(text, EVIL_SAFE));
	assert_non_null(strstr(text, "Report on n&lt;1&gt;"));
	assert_non_null(strstr(text, "a&amp;b"));
	assert_null(strstr(text, "HAProxy version"));
	assert_null(strstr(text, VERSION_COMPAT));
	assert_non_null(strstr(text, "<title>n&lt;1&gt;: Statistics Report</title>"));
	assert_non_null(strstr(text, " title=\"127.0.0.1:1\">a</a>"));
	/* The script refreshes without losing anything, which a field would do. */
	assert_false(has_field("Refresh"));
	assert_non_null(strstr(text, "<noscript><meta http-equiv=refresh content=7></noscript>"));
	(void)ask("part", "/haproxy?stats;csv", 0, "");
	assert_true(has_field("Refresh"));
}

/* The URI's part behind the question mark has to survive the form for the scope. */
static void
links_lead_back_to_the_page(void **st)
{
	const char *text = ask("part", "/haproxy?stats;norefresh;st=DONE&scope=be", 0, "");

	(void)st;
	assert_non_null(strstr(text, "<form id=search role=search method=get action=\"/haproxy\">"
		"<input type=hidden name=\"stats\" value=\"\">"
		"<input type=hidden name=\"norefresh\" value=\"\">"));
	assert_non_null(strstr(text, "<a class=reload href=\"/haproxy?stats;norefresh;scope=be\">"
		"Refresh now"));
	assert_non_null(strstr(text, "<a class=reload href=\"/haproxy?stats;scope=be\">Start"));
	assert_non_null(strstr(text, "<a href=\"/haproxy?stats;up;norefresh;scope=be\">Hide"));
	assert_non_null(strstr(text, "class=\"msg done\""));
	assert_int_equal(count_of(text, "<section>"), 1);
	assert_null(strstr(text, "<noscript>"));
}

/* The target of the answer to a form. */
static const char *
form(unsigned int flags, const char *target, const char *body)
{
	(void)ask("page", target, STATS_JOB_POST | flags, body);
	assert_int_equal(job->status, 303);
	assert_false(job->has_body);
	return strstr(job->texts.p, "/stats");
}

static void
forms_need_permission(void **st)
{
	struct server *a = bench_server("be", "a");

	(void)st;
	assert_string_equal(form(0, "/stats", "s=a&action=maint&b=be"), "/stats;st=DENY");
	assert_string_equal(form(STATS_JOB_ADMIN | STATS_JOB_FOREIGN, "/stats",
		"s=a&action=maint&b=be"), "/stats;st=DENY");
	assert_string_equal(form(STATS_JOB_ADMIN | STATS_JOB_CUT, "/stats",
		"s=a&action=maint&b=be"), "/stats;st=EXCD");
	assert_int_equal(a->admin, 0);
	assert_string_equal(form(STATS_JOB_ADMIN, "/stats;up", "s=a&action=maint&b=be"),
		"/stats;st=DONE;up");
	assert_int_equal(a->admin, SERVER_MAINT_FORCED);
	assert_string_equal(form(STATS_JOB_ADMIN, "/stats;norefresh", "s=a&action=ready&b=be"),
		"/stats;st=DONE;norefresh");
	assert_string_equal(form(STATS_JOB_ADMIN, "/stats;scope=b%65;up", "s=a&action=ready&b=be"),
		"/stats;st=DONE;up;scope=b%65");
	assert_int_equal(a->admin, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_has_a_row_for_each),
		cmocka_unit_test(scopes_hide_proxies),
		cmocka_unit_test(the_page_is_one_file),
		cmocka_unit_test(an_overview_comes_first),
		cmocka_unit_test(a_row_has_details),
		cmocka_unit_test(the_last_invalid_request_is_shown),
		cmocka_unit_test(an_admin_gets_forms),
		cmocka_unit_test(texts_are_escaped),
		cmocka_unit_test(links_lead_back_to_the_page),
		cmocka_unit_test(forms_need_permission),
	};
	int r = cmocka_run_group_tests(tests, setup, teardown);

	end_job();
	return r;
}
