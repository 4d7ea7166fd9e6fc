/* Forms of the statistics page: what they name, and the result. */
#include "unit/app/app_rig.h"
#include "unit/test.h"

#include "app/stats/stats_form.h"
#include "proxy/model/check.h"
#include "proxy/model/server.h"

#define BACKENDS                                                                        \
	"backend be\n server a 127.0.0.1:1 check inter 1h\n server b 127.0.0.1:2\n"     \
	" server c 127.0.0.1:3 check inter 1h agent-check agent-port 4 agent-inter 1h\n" \
	" server d 127.0.0.1:3 track a\nbackend off\n disabled\n server x 127.0.0.1:1\n"

static int
setup(void **st)
{
	(void)st;
	return service_rig_open(BACKENDS);
}

static int
teardown(void **st)
{
	(void)st;
	bench_close();
	return 0;
}

static const char *
result(const char *body)
{
	struct stats_form f;

	stats_form_begin(&f, &proc, str_of(body));
	while (stats_form_next(&f, &proc))
		;
	return stats_message(stats_form_result(&f))->word;
}

static struct server *
server_called(const char *name)
{
	struct server *s =
		proxy_find_server(proxies_find(&cfg.proxies, "be", PROXY_BE), str_of(name));

	assert_non_null(s);
	return s;
}

static void
results_are_as_in_haproxy(void **st)
{
	static const struct {
		const char *body, *word;
	} cases[] = {
		{ "", "NONE" },
		{ "foo", "NONE" },
		{ "s=a&b=be", "NONE" },
		{ "s=a&action=ready", "NONE" },
		{ "action=ready&b=be", "NONE" },
		{ "s=a&action=&b=be", "ERRP" },
		{ "s=a&action=foo&b=be", "ERRP" },
		{ "s=a&action=ready&b=no", "ERRP" },
		{ "s=x&action=ready&b=be", "ERRP" },
		{ "s=x&action=ready&b=off", "ERRP" },
		{ "s=a&s=x&action=ready&b=be", "PART" },
		{ "s=x&s=b&action=ready&b=be", "PART" },
		{ "s=a&action=ready&b=be", "DONE" },
		{ "action=ready&b=be&s=a&s=b&s=c&s=d", "DONE" },
		{ "&&s=%61&&action=%72eady&b=b%65&", "DONE" },
		{ "s=a&action=dagent&b=be", "NONE" },
		{ "s=b&action=dhlth&b=be", "NONE" },
		{ "s=d&action=hdown&b=be", "NONE" },
		{ "s=a%00&action=ready&b=be", "ERRP" },
		{ "s==&action=ready&b=be", "ERRP" },
	};

	(void)st;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(result(cases[i].body), cases[i].word) != 0)
			fail_msg("%s: %s", cases[i].body, result(cases[i].body));
}

static void
backends_have_names_and_numbers(void **st)
{
	char body[100];

	(void)st;
	(void)snprintf(body, sizeof(body), "s=b&action=maint&b=%%23%d",
		proxies_find(&cfg.proxies, "be", PROXY_BE)->id);
	assert_string_equal(result(body), "DONE");
	assert_int_equal(server_called("b")->admin, SERVER_MAINT_FORCED);
	assert_string_equal(result("s=b&action=ready&b=be"), "DONE");
}

static void
actions_change_states(void **st)
{
	struct server *a = server_called("a"), *c = server_called("c");

	(void)st;
	assert_string_equal(result("s=a&action=drain&b=be"), "DONE");
	assert_int_equal(a->admin, SERVER_DRAIN_FORCED);
	assert_string_equal(result("s=a&action=ready&b=be"), "DONE");
	assert_int_equal(a->admin, 0);
	assert_string_equal(result("s=a&action=disable&b=be"), "DONE");
	assert_int_equal(a->admin, SERVER_MAINT_FORCED);
	assert_string_equal(result("s=a&action=enable&b=be"), "DONE");
	assert_int_equal(a->admin, 0);
	assert_string_equal(result("s=a&action=hdown&b=be"), "DONE");
	assert_int_equal(a->oper, SERVER_STOPPED);
	assert_int_equal(a->check->health, 0);
	assert_string_equal(result("s=a&action=hrunn&b=be"), "DONE");
	assert_int_equal(a->oper, SERVER_RUNNING);
	assert_string_equal(result("s=a&action=hnolb&b=be"), "DONE");
	assert_int_equal(a->oper, SERVER_STOPPING);
	assert_string_equal(result("s=a&action=hrunn&b=be"), "DONE");
	assert_string_equal(result("s=a&action=dhlth&b=be"), "DONE");
	assert_int_equal(a->check->enabled, 0);
	assert_string_equal(result("s=a&action=dhlth&b=be"), "NONE");
	assert_string_equal(result("s=a&action=ehlth&b=be"), "DONE");
	assert_int_equal(a->check->enabled, 1);
	assert_string_equal(result("s=c&action=adown&b=be"), "DONE");
	assert_int_equal(c->oper, SERVER_STOPPED);
	assert_string_equal(result("s=c&action=arunn&b=be"), "DONE");
	assert_int_equal(c->oper, SERVER_RUNNING);
	assert_string_equal(result("s=c&action=dagent&b=be"), "DONE");
	assert_int_equal(c->agent->enabled, 0);
	assert_string_equal(result("s=c&action=adown&b=be"), "NONE");
	assert_string_equal(result("s=c&action=eagent&b=be"), "DONE");
	assert_string_equal(result("s=c&action=shutdown&b=be"), "DONE");
}

/* A form takes several turns. */
static void
a_long_form_is_done_in_parts(void **st)
{
	static char body[4000];
	struct stats_form f;
	size_t n = 0;
	int turns = 0;

	(void)st;
	for (int i = 0; i < 500; i++)
		n += (size_t)snprintf(body + n, sizeof(body) - n, "s=%c&", "ab"[i % 2]);
	(void)snprintf(body + n, sizeof(body) - n, "action=ready&b=be");
	stats_form_begin(&f, &proc, str_of(body));
	while (stats_form_next(&f, &proc))
		turns++;
	assert_int_equal(f.changed, 500);
	assert_in_range(turns, 10, 20);
	assert_string_equal(stats_message(stats_form_result(&f))->word, "DONE");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_as_in_haproxy),
		cmocka_unit_test(backends_have_names_and_numbers),
		cmocka_unit_test(actions_change_states),
		cmocka_unit_test(a_long_form_is_done_in_parts),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
