#include "unit/proxy/proxies_rig.h"

#include "proxy/model/http_txn.h"
#include "proxy/http1/monitor.h"
#include "unit/proxy/backend_rig.h"

static struct world w;
static struct engine e;
static struct session sess;
static struct stream s;
static struct http_txn t;

/* The status code of the reply to a request for that path. */
static unsigned int
status(const char *lines, const char *target, int down)
{
	char conf[1024];
	unsigned int st;

	snprintf(conf, sizeof(conf), WORLD_DEFAULTS " mode http\n monitor-uri /up\nfrontend f\n"
		" bind :1\n %s\nbackend b\n server s 127.0.0.1:1\n", lines);
	world_good(&w, conf);
	memset(&e, 0, sizeof(e));
	memset(&s, 0, sizeof(s));
	memset(&sess, 0, sizeof(sess));
	stream_join(&s, &sess, &sess.conn);
	memset(&t, 0, sizeof(t));
	e.shared = &e.alone;
	assert_int_equal(eval_scratch_init(&e.eval, 1024, NULL), 0);
	s.engine = &e;
	s.sess->fe = world_proxy(&w, "f");
	s.txn = &t;
	t.head_ms = 1;
	t.req.target = str_of(target);
	if (down)
		put_admin(world_server(world_proxy(&w, "b"), 0), SERVER_MAINT_FORCED, 1);
	st = monitor_status(&s);
	eval_scratch_fini(&e.eval);
	world_fini(&w);
	return st;
}

static void
test_status(void **state)
{
	(void)state;
	assert_int_equal(status("", "/up", 0), 200);
	assert_int_equal(status("", "/upper", 0), 0);
	/* An absolute-form target works as well. */
	assert_int_equal(status("", "http://h/up", 0), 200);
	assert_int_equal(status("", "HTTP://H:80/up", 0), 200);
	assert_int_equal(status("", "http://h/up?x", 0), 0);
	assert_int_equal(status("", "http://h", 0), 0);
	assert_int_equal(status("", "//h/up", 0), 0);
	assert_int_equal(status("monitor-uri http://h/up", "http://h/up", 0), 200);
	assert_int_equal(status("monitor-uri http://h/up", "/up", 0), 0);
	assert_int_equal(status("monitor-uri /x", "/up", 0), 0);
	assert_int_equal(status("monitor fail if TRUE", "/x", 0), 0);
	assert_int_equal(status("monitor fail if { nbsrv(b) lt 1 }", "/up", 0), 200);
	assert_int_equal(status("monitor fail if { nbsrv(b) lt 1 }", "/up", 1), 503);
	assert_int_equal(status("monitor fail unless { path /up }", "/up", 0), 200);
	assert_int_equal(status("monitor fail if FALSE\n monitor fail if TRUE", "/up", 0), 503);
}

static void
test_check(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS "frontend f\n bind :1\n mode http\n"
		" monitor fail if { nbsrv(no) 1 }\n", -1, "'monitor fail' : ");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :1\n monitor fail if TRUE\n", 0,
		"'monitor fail' ignored for proxy 'f'");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
