/* Options of server lines that concern checks, and `track`. Compared with HAProxy 2.6, whose
 * decisions these are; it takes no notice of ports that are no numbers. */
#include "unit/proxy/proxies_rig.h"

static const struct world_line options[] = {
	{ "", NULL },
	{ "inter 1 fastinter 2s downinter 1m rise 1 fall 2147483647", NULL },
	{ "inter 100us", NULL },
	{ "inter 0", "'0'" },
	{ "inter -1", "-1" },
	{ "inter 25d", "25d" },
	{ "inter x", "'x'" },
	{ "inter", "<time>" },
	{ "fastinter 0", "'0'" },
	{ "downinter 0", "'0'" },
	{ "rise 0", "'0' is out of range" },
	{ "rise -1", "'-1' is out of range" },
	{ "fall 0", "'0' is out of range" },
	{ "fall x", "'x' is not an integer" },
	{ "port 0", NULL },
	{ "port 65535", NULL },
	{ "port 65536", "'65536' is out of range" },
	{ "addr 1.2.3.4", NULL },
	{ "addr 1.2.3.4:80", NULL },
	{ "addr /tmp/x", NULL },
	{ "addr ::1", "::1" },
	{ "error-limit 0", "'0' is out of range" },
	{ "error-limit 5", NULL },
	{ "observe layer4", NULL },
	{ "observe none", NULL },
	{ "observe foo", "'foo' is not one of none, layer4, layer7" },
	{ "on-error fastinter on-error fail-check on-error sudden-death on-error mark-down", NULL },
	{ "on-error foo", "'foo' is not one of" },
	{ "on-marked-down shutdown-sessions on-marked-up shutdown-backup-sessions", NULL },
	{ "on-marked-down foo", "'foo' is not" },
	{ "on-marked-up foo", "'foo' is not" },
	{ "slowstart 0", NULL },
	{ "slowstart 5s", NULL },
	{ "slowstart -1", "-1" },
	{ "check-send-proxy no-check-send-proxy", NULL },
	{ "check-via-socks4", NULL },
	{ "check-proto none", NULL },
	{ "check-proto h3", "'h3' is not one of h1, h2, none" },
	{ "agent-check agent-port 80 agent-inter 5s agent-addr 1.2.3.4 agent-send x", NULL },
	{ "agent-check", "server s does not have agent port" },
	{ "agent-check agent-port 0", "server s does not have agent port" },
	{ "agent-port 70000", "'70000' is out of range" },
	{ "agent-inter 0", "'0'" },
	{ "agent-addr 1.2.3.4:80", "1.2.3.4:80" },
	{ "agent-send", "<text>" },
	{ "init-state fully-up init-state up init-state down init-state fully-down", NULL },
	{ "init-state foo", "'foo' is not one of" },
	{ "no-check no-agent-check", NULL },
};

static void
options_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("backend b\n server s 10.0.0.1:80 check ", options, ARRAY_LEN(options), "");
	world_lines("backend b\n default-server check ", options, ARRAY_LEN(options),
		" server s 10.0.0.1:80\n");
}

/* --- their settings and inheritance --- */

static void
values_are_stored(void **state)
{
	struct world w;
	struct proxy *p;
	const struct check_server_conf *c;

	(void)state;
	world_good(&w,
		WORLD_DEFAULTS
		"backend b\n server s 10.0.0.1:80\n"
		" default-server check inter 5s rise 4 agent-check agent-port 8"
		" agent-send \"x\\n\" observe layer4\n"
		" server t 10.0.0.1:81 fall 5 no-agent-check on-error mark-down\n"
		" server u 10.0.0.1:82 no-check agent-send y fastinter 1 downinter 2\n");
	p = world_proxy(&w, "b");
	c = &world_server(p, 0)->conf.check;
	assert_false(c->check);
	assert_int_equal(c->inter_ms, 0);
	assert_int_equal(c->rise, 2);
	assert_int_equal(c->fall, 3);
	assert_int_equal(c->error_limit, 10);
	assert_int_equal(c->on_error, CHECK_ON_FAIL);
	assert_null(c->agent_send);
	c = &world_server(p, 1)->conf.check;
	assert_true(c->check);
	assert_false(c->agent);
	assert_int_equal(c->inter_ms, 5000);
	assert_int_equal(c->rise, 4);
	assert_int_equal(c->fall, 5);
	assert_int_equal(c->on_error, CHECK_ON_MARK_DOWN);
	assert_string_equal(c->agent_send, "x\n");
	assert_int_equal(c->observe, CHECK_OBSERVE_LAYER4);
	c = &world_server(p, 2)->conf.check;
	assert_false(c->check);
	assert_int_equal(c->observe, CHECK_OBSERVE_NONE);
	assert_true(c->agent);
	assert_int_equal(c->agent_port, 8);
	assert_int_equal(c->fastinter_ms, 1);
	assert_int_equal(c->downinter_ms, 2);
	assert_string_equal(c->agent_send, "y");
	world_fini(&w);
}

static void
test_observe_needs_its_mode(void **state)
{
	static const char text[] =
		WORLD_DEFAULTS "backend b\n mode %s\n server s 10.0.0.1:80 check observe layer7\n";
	struct world w;
	char cfg[300];

	(void)state;
	(void)snprintf(cfg, sizeof(cfg), text, "tcp");
	world_reports(cfg, 0, "'observe layer7' requires 'mode http', so it is ignored");
	(void)snprintf(cfg, sizeof(cfg), text, "http");
	world_good(&w, cfg);
	assert_int_equal(world_server(world_proxy(&w, "b"), 0)->conf.check.observe,
		CHECK_OBSERVE_LAYER7);
	world_fini(&w);
}

/* --- ports --- */

#define TCP " option tcp-check\n"
#define HTTP " option httpchk\n"
#define NO_PORT "server 's' has neither service port nor check port"

static const struct world_line ports[] = {
	{ " server s 10.0.0.1 check", NO_PORT },
	{ " server s 10.0.0.1 check port 80", NULL },
	{ " server s 10.0.0.1 check addr 1.2.3.4", NO_PORT },
	{ " server s 10.0.0.1 check addr 1.2.3.4:80", NULL },
	{ " server s 10.0.0.1 agent-check agent-port 80", NULL },
	{ " server s 10.0.0.1:0 check", NO_PORT },
	{ " server s 10.0.0.1:+1 check", NO_PORT },
	{ " server s 10.0.0.1:+1 check port 80", NULL },
	{ " server s /tmp/x check", NULL },
	{ " server s /tmp/x check addr 1.2.3.4", NO_PORT },
	{ " server s * check", NULL },
	{ " server s * check addr 1.2.3.4", NO_PORT },
	{ TCP " tcp-check connect port 80\n server s 10.0.0.1 check", NULL },
	{ TCP " tcp-check connect\n server s 10.0.0.1 check", NO_PORT },
	{ TCP " tcp-check connect port var(check.p)\n server s 10.0.0.1 check", NO_PORT },
	{ TCP " tcp-check connect port 80\n tcp-check connect\n server s 10.0.0.1 check", NO_PORT },
	{ TCP " tcp-check connect addr 1.2.3.4:80\n server s 10.0.0.1 check", NULL },
	{ TCP " tcp-check connect addr /x\n server s 10.0.0.1 check", NULL },
	{ HTTP " http-check connect port 80\n server s 10.0.0.1 check", NULL },
	{ HTTP " server s 10.0.0.1 check", NO_PORT },
	{ HTTP " server s 10.0.0.1:80 check check-proto h1", NULL },
	{ HTTP " server s 10.0.0.1:80 check check-proto none", "incompatible protocol" },
	{ TCP " server s 10.0.0.1:80 check check-proto h1", "incompatible protocol" },
	{ TCP " default-server check-proto h1\n server s 10.0.0.1:80 check", NULL },
};

static void
ports_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("backend b\n", ports, ARRAY_LEN(ports), "");
}

/* --- track --- */

#define S1 " server s1 10.0.0.1:80 check\n"

static const struct world_line tracks[] = {
	{ S1 " server s2 10.0.0.2:80 track s1", NULL },
	{ S1 " server s2 10.0.0.2:80 track b/s1 inter 5s disabled", NULL },
	{ " server s1 10.0.0.1:80 agent-check agent-port 80\n server s2 10.0.0.2:80 track s1",
		NULL },
	{ S1 " server s2 10.0.0.2:80 track s1\n server s3 10.0.0.3:80 track s2", NULL },
	{ S1 " server s2 10.0.0.2:80 track s1 agent-check agent-port 80", NULL },
	{ " server s1 10.0.0.1:80\n server s2 10.0.0.2:80 track s1",
		"7:9] : 'server b/s2' : unable to use b/s1 for tracking as it does not have any "
		"check nor agent enabled" },
	{ " server s1 10.0.0.1:80 track s1",
		"'server b/s1' : unable to track b/s1 as it belongs to a tracking chain looping" },
	{ " server s1 10.0.0.1:80 track s2\n server s2 10.0.0.2:80 track s1", "looping back" },
	{ " server s1 10.0.0.1:80 track s2\n server s2 10.0.0.2:80 track s3\n"
	  " server s3 10.0.0.3:80 track s2",
		"'server b/s1' : unable to track b/s2" },
	{ S1 " server s2 10.0.0.2:80 track s1 check",
		"'server b/s2' : unable to enable checks and tracking at the same time!" },
	{ S1 " server s2 10.0.0.2:80 track c/s1",
		"'server b/s2' : unable to find required proxy 'c' for tracking" },
	{ S1 " server s2 10.0.0.2:80 track f/s1\nfrontend f\n bind :1\n",
		"unable to find required proxy 'f' for tracking" },
	{ S1 " server s2 10.0.0.2:80 track s9",
		"unable to find required server 's9' for tracking" },
	{ S1 " server s2 10.0.0.2:80 track c/s9\nbackend c",
		"unable to find required server 's9' for tracking" },
	{ " option httpchk\n http-check disable-on-404\n" S1
	  " server s2 10.0.0.2:80 track c/x\nbackend c\n option httpchk\n"
	  " server x 10.0.0.1:80 check",
		"unable to use c/x for tracking: disable-on-404 option inconsistency" },
	{ S1 " server s2 10.0.0.2:80 track", "[<backend>/]<server>" },
};

static void
tracked_servers_are_found(void **state)
{
	struct world w;
	struct proxy *p;
	struct server *s1;
	unsigned int n = 0;

	(void)state;
	world_lines("backend b\n", tracks, ARRAY_LEN(tracks), "");
	world_good(&w, WORLD_DEFAULTS "backend b\n" S1 " server s2 10.0.0.2:80 track s1\n"
		" server s3 10.0.0.2:80 track b/s2\n server s4 10.0.0.2:80 track s1\n");
	p = world_proxy(&w, "b");
	s1 = world_server(p, 0);
	assert_null(s1->track);
	assert_ptr_equal(world_server(p, 1)->track, s1);
	assert_ptr_equal(world_server(p, 2)->track, world_server(p, 1));
	list_each(it, &s1->trackers) {
		assert_ptr_equal(list_entry(it, struct server, track_link),
			world_server(p, n == 0 ? 1 : 3));
		n++;
	}
	assert_int_equal(n, 2);
	world_fini(&w);
}

/* Tracking counts from the beginning, through a chain, also for servers that come first. */
static void
tracking_counts_from_the_beginning(void **state)
{
	struct world w;
	struct proxy *p;
	char text[SERVER_STATUS_MAX];

	(void)state;
	world_good(&w, WORLD_DEFAULTS "backend b\n"
		" server s4 10.0.0.2:80 track s3\n server s3 10.0.0.2:80 track s2\n"
		" server s2 10.0.0.2:80 track s1\n server s1 10.0.0.1:80 check disabled\n"
		" server s5 10.0.0.2:80 track s6\n server s6 10.0.0.2:80 check\n");
	p = world_proxy(&w, "b");
	assert_string_equal(server_status_text(world_server(p, 0), text), "MAINT (via b/s3)");
	assert_string_equal(server_status_text(world_server(p, 1), text), "MAINT (via b/s2)");
	assert_string_equal(server_status_text(world_server(p, 2), text), "MAINT (via b/s1)");
	assert_string_equal(server_status_text(world_server(p, 3), text), "MAINT");
	assert_int_equal(world_server(p, 4)->admin, SERVER_READY);
	assert_int_equal(proxy_usable_servers(p), 2);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_load_or_are_refused),
		cmocka_unit_test(values_are_stored),
		cmocka_unit_test(test_observe_needs_its_mode),
		cmocka_unit_test(ports_load_or_are_refused),
		cmocka_unit_test(tracked_servers_are_found),
		cmocka_unit_test(tracking_counts_from_the_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
