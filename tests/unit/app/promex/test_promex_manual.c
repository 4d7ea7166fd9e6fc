#include <string.h>

#include "app/promex/promex.h"
#include "unit/test.h"

/* The entries that are looked for, with their places. */
static const char *const wanted[][2] = {
	{ "haproxy_process_connections_total", "A counter" },
	{ "haproxy_process_pipes_used_total", "A counter" },
	{ "haproxy_process_current_connections", "A gauge" },
	{ "haproxy_<scope>_current_queue", "A gauge, for each backend, server" },
	{ "haproxy_<scope>_bytes_in_total",
		"A counter, for each frontend, listener, backend, server" },
	{ "haproxy_<scope>_total_time_seconds", "A histogram, for each frontend, backend, server" },
	{ "haproxy_<scope>_queue_time_seconds", "A histogram, for each backend, server" },
	{ "haproxy_sticktable_size", "A gauge" },
	{ "tacit_syscalls_total", "A counter" },
};

struct seen {
	unsigned int n, found;
};

static void
judge(void *arg, const struct cfg_entry *e)
{
	struct seen *s = arg;

	assert_string_equal(e->heading, "METRICS");
	assert_true(strncmp(e->name, "haproxy_", 8) == 0 || strncmp(e->name, "tacit_", 6) == 0);
	assert_true(e->doc && *e->doc);
	s->n++;
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		if (strcmp(e->name, wanted[i][0]) == 0) {
			assert_string_equal(e->place, wanted[i][1]);
			s->found++;
		}
}

static void
each_metric_is_an_entry_with_its_type_and_scopes(void **state)
{
	struct seen s = { 0, 0 };

	(void)state;
	promex_entries(judge, &s);
	assert_true(s.n > 120);
	assert_int_equal(s.found, ARRAY_LEN(wanted));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_metric_is_an_entry_with_its_type_and_scopes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
