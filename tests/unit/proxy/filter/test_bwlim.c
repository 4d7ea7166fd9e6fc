/* Limits of bandwidth in a configuration; tests/sim/filter_scenarios.tbl.h plays them. */
#include "unit/proxy/proxies_rig.h"

#define TABLE "    stick-table type ip size 10 store bytes_out_rate(1s)\n"
#define LISTEN                                                                           \
	"defaults\n    timeout client 1s\n    timeout connect 1s\n    timeout server 1s\n"   \
	"listen l\n    bind 127.0.0.1:1\n    mode http\n    server s 127.0.0.1:2\n"
#define EACH "    filter bwlim-out each default-limit 1m default-period 1s\n"
#define SHARED "    filter bwlim-out all limit 10m key src\n"

static void
good(const char *lines)
{
	struct world w;
	char text[2048];

	(void)snprintf(text, sizeof(text), LISTEN "%s", lines);
	world_good(&w, text);
	world_fini(&w);
}

static void
bad(const char *lines, const char *what)
{
	char text[2048];

	(void)snprintf(text, sizeof(text), LISTEN "%s", lines);
	world_reports(text, -1, what);
}

static void
test_good(void **st)
{
	(void)st;
	good(EACH);
	good(EACH SHARED TABLE);
	good("    filter bwlim-in up default-limit 100k default-period 500ms min-size 2896\n");
	good("    http-request set-bandwidth-limit each limit 5k period 10s if TRUE\n" EACH);
	good(EACH "    http-response set-bandwidth-limit each limit res.hdr(x),add(1)\n"
		"    http-request set-bandwidth-limit each period int(20)\n");
	good(EACH "    tcp-request content set-bandwidth-limit each\n"
		"    tcp-response content set-bandwidth-limit each\n");
	good(SHARED TABLE "    http-request set-bandwidth-limit all\n");
	good("    filter bwlim-out all limit 10m key req.hdr(x) table l\n"
		"    stick-table type string size 10 store bytes_out_rate(1s)\n"
		"    http-request set-bandwidth-limit all\n");
}

static void
test_bad_filters(void **st)
{
	static const char either[] = "expects 'default-limit' and 'default-period' for a limit per "
		"stream, or 'limit' and 'key' for a shared one";

	(void)st;
	bad("    filter bwlim-out x default-limit 1m min-size 1k\n", either);
	bad("    filter bwlim-out x limit 1m default-period 1s\n", either);
	bad("    filter bwlim-out x limit 1m key src default-period 1s\n", either);
	bad("    filter bwlim-out x default-limit 1m default-period 1s table l\n", either);
	bad("    filter bwlim-out x default-limit 0 default-period 1s\n", "default-limit");
	bad("    filter bwlim-out x default-limit 1m default-period 0\n", "default-period");
	bad("    filter bwlim-out x default-limit 1m default-period 2d\n", "default-period");
	bad("    filter bwlim-out x default-limit 8g default-period 1s\n", "default-limit");
	bad("    filter bwlim-out x default-limit 1m default-limit 2m\n",
		"'default-limit' is given twice");
	bad("    filter bwlim-out x default-limit 1m default-period 1s min-size\n",
		"'min-size' expects a value");
	bad("    filter bwlim-out x limit 1m key nothing\n", "nothing");
	bad(EACH EACH, "there is a filter 'each' already");
}

static void
test_bad_tables(void **st)
{
	(void)st;
	bad(SHARED, "there is no stick-table 'l'");
	bad("    filter bwlim-out all limit 10m key src table t\n", "there is no stick-table 't'");
	bad(SHARED "    stick-table type ip size 10 store bytes_in_rate(1s)\n",
		"it needs bytes_out_rate in the stick-table 'l'");
	bad("    filter bwlim-in all limit 10m key src\n" TABLE,
		"it needs bytes_in_rate in the stick-table 'l'");
}

static void
test_bad_rules(void **st)
{
	(void)st;
	bad("    http-request set-bandwidth-limit each\n",
		"there is no filter bwlim-in or bwlim-out 'each' in this section");
	bad(EACH "    http-request set-bandwidth-limit\n", "<filter>");
	bad(EACH "    http-request set-bandwidth-limit each limit\n", "limit");
	bad(EACH "    http-request set-bandwidth-limit each limit 0\n", "limit");
	bad(SHARED TABLE "    http-request set-bandwidth-limit all limit 5k\n", "'all' is shared");
	bad(SHARED TABLE "    http-request set-bandwidth-limit all period int(1)\n",
		"'all' is shared");
	bad("    filter bwlim-in up default-limit 1k default-period 1s\n"
		"    http-response set-bandwidth-limit up\n", "the request is on its way");
	bad("    filter bwlim-out all limit 10m key path\n"
		"    stick-table type string size 10 store bytes_out_rate(1s)\n"
		"    tcp-response content set-bandwidth-limit all\n",
		"the key of 'all' is not known in this rule");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad_filters),
		cmocka_unit_test(test_bad_tables),
		cmocka_unit_test(test_bad_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
