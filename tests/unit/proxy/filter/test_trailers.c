/* Options that drop trailers: which proxies get a filter. The rows trailers_... of
 * tests/sim/filter_scenarios.tbl.h play them. */
#include "unit/proxy/proxies_rig.h"

#include "proxy/model/filter.h"

#define REQ "    option http-drop-request-trailers\n"
#define RES "    option http-drop-response-trailers\n"

static unsigned int
filters_of(const char *lines, const char *name)
{
	struct world w;
	unsigned int n = 0;

	world_good(&w, lines);
	for (const struct filter_conf *c = world_proxy(&w, name)->filters; c; c = c->next, n++)
		assert_true(c->kind->drops_trailers);
	world_fini(&w);
	return n;
}

static void
proxies_have_the_filters_of_their_options(void **st)
{
	static const struct {
		const char *defaults, *f, *b, *l;
		unsigned int of_f, of_b, of_l;
	} rows[] = {
		{ "", "", "", "", 0, 0, 0 },
		{ "", RES, REQ, REQ RES, 1, 1, 2 },
		{ REQ RES, "", "", "", 1, 1, 2 },
		{ REQ RES, "    no option http-drop-response-trailers\n", "",
			"    no option http-drop-request-trailers\n", 0, 1, 1 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[2048];

		(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "    mode http\n%s"
			"frontend f\n    bind :1\n    default_backend b\n%s"
			"backend b\n    server s 127.0.0.1:2\n%s"
			"listen l\n    bind :2\n    server s 127.0.0.1:2\n%s",
			rows[i].defaults, rows[i].f, rows[i].b, rows[i].l);
		assert_int_equal(filters_of(text, "f"), rows[i].of_f);
		assert_int_equal(filters_of(text, "b"), rows[i].of_b);
		assert_int_equal(filters_of(text, "l"), rows[i].of_l);
	}
}

/* In mode tcp there are no trailers. */
static void
mode_tcp_warns(void **st)
{
	(void)st;
	world_reports(WORLD_DEFAULTS "backend b\n    server s 127.0.0.1:2\n" REQ, 0,
		"'option http-drop-request-trailers' ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proxies_have_the_filters_of_their_options),
		cmocka_unit_test(mode_tcp_warns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
