#include "proxy/log/log_alias.h"

#include "unit/proxy/log_rig.h"

#include <stdio.h>
#include <unistd.h>

#define EVERY                                                                                \
	"%ci|%cp|%fi|%fp|%bi|%bp|%si|%sp|%t|%T|%Tl|%Ts|%ms|%ft|%f|%b|%s|%Tw|%Tc|%Tt|%Td|%Th|" \
	"%Tu|%U|%B|%ts|%ac|%fc|%bc|%sc|%rc|%sq|%bq|%rt|%pid|%H|%lc"

static void
test_every_variable(void **state)
{
	static struct log_world w;

	(void)state;
	log_world_init(&w);
	assert_string_equal(log_world_line(&w, EVERY),
			    "10.0.1.2|33313|10.0.3.31|8012|-|-|127.0.0.1|8000|"
			    "06/Feb/2009:12:12:51.443|06/Feb/2009:12:12:51 +0000|"
			    "06/Feb/2009:12:12:51 +0000|1233922371|443|fnt|fnt|bck|srv1|"
			    "11|22|5007|4974|0|5007|99|212|--|5|4|3|2|1|6|7|77|31185|host1|8");
	assert_string_equal(log_world_line(&w, "%{+X}o " EVERY),
			    "0A000102|8221|0A00031F|1F4C|-|-|7F000001|1F40|"
			    "06/Feb/2009:12:12:51.443|06/Feb/2009:12:12:51 +0000|"
			    "06/Feb/2009:12:12:51 +0000|498C2943|1BB|fnt|fnt|bck|srv1|"
			    "11|22|5007|4974|0|5007|99|212|--|5|4|3|2|1|6|7|004D|79D1|host1|0008");
	assert_string_equal(log_world_line(&w, "%{+Q}o" EVERY),
		"\"10.0.1.2\"|33313|\"10.0.3.31\"|8012|\"\"|\"\"|\"127.0.0.1\"|8000|"
		"06/Feb/2009:12:12:51.443|06/Feb/2009:12:12:51 +0000|"
		"06/Feb/2009:12:12:51 +0000|1233922371|443|\"fnt\"|\"fnt\"|\"bck\"|\"srv1\"|"
		"11|22|5007|4974|0|5007|99|212|--|5|4|3|2|1|6|7|77|31185|\"host1\"|8");
}

static void
test_local_time_has_its_zone(void **state)
{
	static struct log_world w;

	(void)state;
	log_world_init(&w);
	setenv("TZ", "EAST-2", 1);
	tzset();
	assert_string_equal(log_world_line(&w, "%t %T %Tl"),
			    "06/Feb/2009:14:12:51.443 06/Feb/2009:12:12:51 +0000 "
			    "06/Feb/2009:14:12:51 +0200");
	setenv("TZ", "UTC0", 1);
	tzset();
	w.s.sess->accept_wall_ns = UINT64_C(7999999);
	w.wall.valid = 0;
	assert_string_equal(log_world_line(&w, "%t %ms %{+X}ms %Ts"),
			    "01/Jan/1970:00:00:00.007 007 07 0");
}

static void
test_points_not_reached(void **state)
{
	static struct log_world w;

	(void)state;
	log_world_init(&w);
	w.s.connected_ms = 0;
	w.s.term[0] = 'S';
	w.s.term[1] = 'C';
	assert_string_equal(log_world_line(&w, "%Tw/%Tc/%Td/%Tt %ts"), "11/-1/-1/5007 SC");
	/* No server was chosen. */
	w.s.queued_ms = 0;
	w.s.srv = NULL;
	assert_string_equal(log_world_line(&w, "%b/%s %Tw/%Tc/%Tt %sc %si:%sp %{+Q}s"),
			    "bck/<NOSRV> -1/-1/5007 0 -:- \"<NOSRV>\"");
	/* A number has no quotes. */
	assert_string_equal(log_world_line(&w, "%{+Q}o %sc %s"), "0 \"<NOSRV>\"");
	/* The session ended in the queue. */
	w.s.term[0] = 's';
	w.s.term[1] = 'Q';
	assert_string_equal(log_world_line(&w, "%Tw/%Tc/%Tt"), "5007/-1/5007");
	/* Without a backend the frontend's values are logged. */
	w.s.be = NULL;
	assert_string_equal(log_world_line(&w, "%b %bc"), "fnt 0");
	/* Rounding never makes a time negative. */
	w.cx.now_ms = 999;
	assert_string_equal(log_world_line(&w, "%Tt"), "0");
}

static void
test_signs(void **state)
{
	static struct log_world w;

	(void)state;
	log_world_init(&w);
	w.cx.asap = 1;
	w.s.redispatched = 1;
	w.s.retries = 3;
	assert_string_equal(log_world_line(&w, "%Tt %Tu %B %U %Td %Tc %rc"),
			    "+5007 +5007 +212 99 4974 22 +3");
}

static void
test_unix_and_ipv6(void **state)
{
	static struct log_world w;
	struct addr a;

	(void)state;
	log_world_init(&w);
	log_world_unix(&w.s.sess->peer);
	log_world_unix(&w.listener.addr);
	log_world_unix(&a);
	addr_cell_set(&w.srv.addr, &a);
	assert_string_equal(log_world_line(&w, "%ci:%cp %fi:%fp %si:%sp %{+Q}ci %{+X}cp"),
			    "unix:2 unix:2 unix:3 \"unix\" 0002");
	log_world_addr(&w.s.sess->peer, "::1", 38754);
	log_world_addr(&w.listener.addr, "2001:db8::2", 80);
	assert_string_equal(log_world_line(&w, "%ci:%cp %fi %{+X}ci %{+Q}ci"),
			    "::1:38754 2001:db8::2 00000000000000000000000000000001 \"::1\"");
}

static void
test_hostile_names_stay_in_their_field(void **state)
{
	static struct log_world w;

	(void)state;
	log_world_init(&w);
	w.id.node = "a\"b#c\nd\xff]\\";
	assert_string_equal(log_world_line(&w, "%H"), "a#22b#23c#0Ad#FF]\\");
	assert_string_equal(log_world_line(&w, "%{+Q}H"), "\"a#22b#23c#0Ad#FF]\\\"");
	assert_string_equal(log_world_line(&w, "%{+Q,+E}H"), "\"a\\\"b#23c#0Ad#FF\\]\\\\\"");
	w.id.node = NULL;
	assert_string_equal(log_world_line(&w, "%H %{+Q}H"), "- \"\"");
}

/* Addresses known only to the kernel: of a listener on all addresses, and of the server's side. */
static void
test_addresses_asked_of_the_kernel(void **state)
{
	struct loop_config cfg = { .poller = &poller_epoll, .mode = INTEREST_EDGE, .max_fd = 64,
				   .max_events = 16, .lazy = 1 };
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);
	char want[64];
	static struct log_world w;
	struct loop *loop;
	struct sys sys;
	int fd, reason;

	(void)state;
	log_world_init(&w);
	sys_init(&sys, &sys_linux, NULL);
	loop = loop_new(&sys, &cfg, &reason);
	assert_non_null(loop);
	in.sin_addr.s_addr = htonl(0x7f000007);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	conn_attach(w.s.conn[CLIENT], loop, fd);
	conn_attach(w.s.conn[SERVER], loop, fd);
	w.cx.sys = w.engine.sys = &sys;
	snprintf(want, sizeof(want), "10.0.3.31:8012 127.0.0.7:%d", ntohs(in.sin_port));
	assert_string_equal(log_world_line(&w, "%fi:%fp %bi:%bp"), want);
	/* Two variables, two calls: the listener's own address needs none. */
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_getsockname), 2);
	log_world_addr(&w.listener.addr, "0.0.0.0", 8012);
	snprintf(want, sizeof(want), "127.0.0.7:%d", ntohs(in.sin_port));
	assert_string_equal(log_world_line(&w, "%fi:%fp"), want);
	log_world_addr(&w.listener.addr, "::", 8012);
	assert_string_equal(log_world_line(&w, "%fi:%fp"), want);
	/* The server's port is the client's plus ten. */
	w.srv.spec.has_offset = 1;
	w.srv.spec.port_offset = 10;
	snprintf(want, sizeof(want), "127.0.0.1:%d", ntohs(in.sin_port) + 10);
	assert_string_equal(log_world_line(&w, "%si:%sp"), want);
	close(fd);
	loop_free(&loop);
}

static void
test_names(void **state)
{
	(void)state;
	assert_non_null(log_alias_find("ci"));
	assert_null(log_alias_find("cix"));
	assert_null(log_alias_find("c"));
	assert_null(log_alias_find(""));
	assert_non_null(log_alias_find("sslc"));
	assert_int_equal(log_alias_find("s")->needs, SAMPLE_AT_SERVER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_variable),
		cmocka_unit_test(test_local_time_has_its_zone),
		cmocka_unit_test(test_points_not_reached),
		cmocka_unit_test(test_signs),
		cmocka_unit_test(test_unix_and_ipv6),
		cmocka_unit_test(test_hostile_names_stay_in_their_field),
		cmocka_unit_test(test_addresses_asked_of_the_kernel),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
