/* The effective options of a frontend with a backend, and the retries of a proxy. */

#include "proxy/model/proxy.h"
#include "proxy/config/proxy_life.h"
#include "unit/test.h"

static struct proxy *fe, *be;

static int
setup(void **st)
{
	(void)st;
	fe = proxy_new("fe", PROXY_FE);
	be = proxy_new("be", PROXY_BE);
	assert_true(fe && be);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	proxy_free(&fe);
	proxy_free(&be);
	return 0;
}

/* The matrix in chapter 4 of the manual, and "only the frontend is considered for client
 * connections". */
static void
the_strongest_mode_holds(void **st)
{
	static const int server[3][3] = { { 0, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 } };

	(void)st;
	for (int f = HTTP_KEEP_ALIVE; f <= HTTP_CLOSE; f++)
		for (int b = HTTP_KEEP_ALIVE; b <= HTTP_CLOSE; b++) {
			fe->http.persistence = (enum http_persistence)f;
			be->http.persistence = (enum http_persistence)b;
			assert_int_equal(http_closes_client(fe), f == HTTP_CLOSE);
			assert_int_equal(http_closes_server(fe, be), server[f][b]);
		}
}

static void
by_default_only_connection_failures_are_retried(void **st)
{
	(void)st;
	assert_true(http_retries(be, HTTP_RETRY_CONN_FAILURE));
	for (unsigned int status = 100; status < 600; status++)
		assert_false(http_retries_status(be, status));
	be->http.retry_on = 1u << HTTP_RETRY_503 | 1u << HTTP_RETRY_404;
	assert_false(http_retries(be, HTTP_RETRY_CONN_FAILURE));
	for (unsigned int status = 100; status < 600; status++)
		assert_int_equal(http_retries_status(be, status), status == 503 || status == 404);
}

/* Settings that are missing in a section come from its defaults; a backend has no monitor-uri. */
static void
defaults_are_inherited(void **st)
{
	struct http_conf defaults, c;
	char uri[] = "/x", field[] = "X-A";

	(void)st;
	http_conf_init(&defaults);
	defaults.reuse = HTTP_REUSE_NEVER;
	defaults.persistence = HTTP_CLOSE;
	defaults.retry_on = 0;
	defaults.monitor_uri = uri;
	defaults.send_name = field;
	defaults.given = 7;
	http_conf_init(&c);
	assert_int_equal(http_conf_inherit(&c, &defaults, PROXY_FE), 0);
	assert_int_equal(c.reuse, HTTP_REUSE_NEVER);
	assert_int_equal(c.persistence, HTTP_CLOSE);
	assert_int_equal(c.retry_on, 0);
	assert_string_equal(c.monitor_uri, "/x");
	assert_ptr_not_equal(c.monitor_uri, uri);
	assert_null(c.send_name);
	assert_int_equal(c.given, 0);
	http_conf_fini(&c);
	http_conf_init(&c);
	assert_int_equal(http_conf_inherit(&c, &defaults, PROXY_BE), 0);
	assert_null(c.monitor_uri);
	assert_string_equal(c.send_name, "X-A");
	assert_ptr_not_equal(c.send_name, field);
	http_conf_fini(&c);
	assert_null(c.send_name);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_strongest_mode_holds),
		CASE(by_default_only_connection_failures_are_retried),
		CASE(defaults_are_inherited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
