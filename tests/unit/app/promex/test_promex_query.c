/* The parameters in the query of a request for metrics. */
#include "unit/test.h"

#include "app/promex/promex.c"

static struct promex_query q;

static int
parse(const char *target)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%s", target);
	return promex_query_parse(text, &q);
}

/* The scopes as letters. */
static const char *
scopes(const char *target)
{
	static char text[METRIC_SCOPES + 1];
	size_t n = 0;

	if (parse(target) < 0)
		return "bad";
	for (unsigned int i = 0; i < METRIC_SCOPES; i++)
		if (q.scopes >> i & 1)
			text[n++] = "gflbst"[i];
	text[n] = '\0';
	return text;
}

static void
scopes_add_up(void **st)
{
	static const struct {
		const char *target, *want;
	} rows[] = {
		{ "/metrics", "gflbst" }, { "/metrics?", "gflbst" }, { "/metrics?x=y", "gflbst" },
		{ "/m?scope=global", "g" }, { "/m?scope=frontend&scope=server", "fs" },
		{ "/m?scope=listener&scope=backend", "lb" }, { "/m?scope=*", "gflbst" },
		{ "/m?scope=", "" }, { "/m?scope=server&scope=", "" },
		{ "/m?scope=&scope=server", "s" }, { "/m?scope=server&scope=*", "gflbst" },
		{ "/m?scope=s%65rver", "s" }, { "/m?sc%6fpe=server", "s" },
		{ "/m?scope=sticktable", "t" }, { "/m?scope=foo", "bad" }, { "/m?scope", "bad" },
		{ "/m?scope=Server", "bad" }, { "/m?scope=server%", "bad" },
		{ "/m?scope=%2", "bad" }, { "/m?scope=serve", "bad" },
		{ "/m?no-scope=foo", "gflbst" },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(scopes(rows[i].target), rows[i].want);
}

static void
words_without_a_value(void **st)
{
	(void)st;
	assert_int_equal(parse("/m"), 0);
	assert_false(q.no_maint);
	assert_int_equal(parse("/m?scope=server&no-maint&extra-counters"), 0);
	assert_true(q.no_maint);
	assert_int_equal(parse("/m?no-maints"), 0);
	assert_false(q.no_maint);
}

/* The number of metrics that are wanted in all scopes. */
static unsigned int
wanted(const char *target)
{
	unsigned int n = 0;

	assert_int_equal(parse(target), 0);
	for (enum metric_scope s = 0; s < METRIC_SCOPES; s++)
		for (unsigned int i = 0; i < metric_count(); i++)
			n += (unsigned int)promex_wants(&q, s, i);
	return n;
}

static void
names_choose(void **st)
{
	unsigned int all = wanted("/m");

	(void)st;
	assert_int_equal(wanted("/m?metrics="), all);
	assert_int_equal(wanted("/m?metrics"), all);
	assert_int_equal(wanted("/m?metrics=haproxy_server_status"), 1);
	assert_int_equal(wanted("/m?metrics=haproxy_server_status,haproxy_process_nbthread"), 2);
	assert_int_equal(wanted("/m?metrics=haproxy_server_status%2Chaproxy_backend_status"), 2);
	assert_int_equal(
		wanted("/m?metrics=haproxy_server_status&metrics=haproxy_backend_status"), 2);
	assert_int_equal(wanted("/m?metrics=haproxy_server_status&scope=backend"), 0);
	assert_int_equal(wanted("/m?metrics=-haproxy_server_status"), all - 1);
	assert_int_equal(wanted("/m?metrics=haproxy_server_status,-haproxy_server_status"), 0);
	assert_int_equal(wanted("/m?metrics=haproxy_nothing_of_it"), 0);
	assert_int_equal(wanted("/m?metrics=-haproxy_nothing_of_it"), all);
	assert_int_equal(wanted("/m?metrics=server_status"), 0);
	assert_int_equal(wanted("/m?metrics=haproxy_server_"), 0);
	assert_int_equal(wanted("/m?metrics=haproxy_frontend_weight"), 0);
	assert_int_equal(wanted("/m?metrics=haproxy_server_weight,,-"), 1);
	assert_true(promex_wants(&q, SCOPE_SERVER, metric_count() - 1) == 0);
}

/* Without asking there are none of servers; a name asks, too. */
static void
histograms_of_servers_are_extra(void **st)
{
	unsigned int all = wanted("/m");

	(void)st;
	assert_int_equal(wanted("/m?server-histograms"), all + LATENCIES);
	assert_int_equal(wanted("/m?server-histograms&scope=backend"), wanted("/m?scope=backend"));
	assert_int_equal(wanted("/m?metrics=haproxy_server_total_time_seconds"), 1);
	assert_int_equal(wanted("/m?metrics=haproxy_server_weight&server-histograms"), 1);
	assert_int_equal(wanted("/m?server-histograms&metrics=-haproxy_server_total_time_seconds"),
		all + LATENCIES - 1);
	assert_int_equal(wanted("/m?metrics=haproxy_backend_connect_time_seconds"), 1);
	assert_int_equal(wanted("/m?metrics=haproxy_frontend_connect_time_seconds"), 0);
	assert_int_equal(wanted("/m?metrics=haproxy_frontend_total_time_seconds"), 1);
}

static void
a_scope_has_its_metrics_only(void **st)
{
	(void)st;
	/* As many as in HAProxy 2.6. */
	assert_int_equal(wanted("/m?scope=listener"), 14);
	assert_int_equal(wanted("/m"),
		wanted("/m?scope=global") + wanted("/m?scope=frontend") +
			wanted("/m?scope=listener") +
			wanted("/m?scope=backend") + wanted("/m?scope=server") +
			wanted("/m?scope=sticktable"));
	assert_int_equal(wanted("/m?metrics=haproxy_sticktable_used"), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scopes_add_up),
		cmocka_unit_test(words_without_a_value),
		cmocka_unit_test(names_choose),
		cmocka_unit_test(histograms_of_servers_are_extra),
		cmocka_unit_test(a_scope_has_its_metrics_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
