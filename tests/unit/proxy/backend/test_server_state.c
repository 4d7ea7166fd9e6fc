/* States of servers, as checks, the operator and tracked servers change them. Lines and statuses
 * are those of HAProxy 2.6. */
#define CONFIG WORLD_DEFAULTS \
	"backend b\n server s 127.0.0.1:1\n server t 127.0.0.1:1\n"                        \
	" server u 127.0.0.1:1\n server v 127.0.0.1:1 backup\n"

#include "proxy/backend/server_state.h"
#include "proxy/model/check.h"
#include "unit/proxy/proxies_rig.h"

static struct state_rig rig;
static struct check check;
static struct server *s, *t;

/* b/s is checked, and b/t tracks it. */
static int
setup(void **st)
{
	(void)st;
	state_rig_open(&rig, CONFIG);
	s = state_rig_server(&rig, "b", "s");
	t = state_rig_server(&rig, "b", "t");
	check = (struct check){ .srv = s, .enabled = 1, .rise = 2, .fall = 3, .health = 4 };
	s->check = &check;
	t->track = s;
	list_append(&s->trackers, &t->track_link);
	return 0;
}

/* The lines that were logged since the last call. */
static const char *
logged(void)
{
	return state_rig_logged(&rig);
}

static int
teardown(void **st)
{
	(void)st;
	state_rig_close(&rig);
	return 0;
}

static const char *
status(const struct server *srv)
{
	static char text[SERVER_STATUS_MAX];

	return server_status_text(srv, text);
}

#define LESS(n) n " active and 1 backup servers left. 0 sessions active, 0 requeued, " \
	"0 remaining in queue."
#define ONLINE(n) n " active and 1 backup servers online. 0 sessions requeued, 0 total in queue."

static void
tracking_servers_follow(void **st)
{
	(void)st;
	check.health = 0;
	server_set_oper(&rig.engine, s, SERVER_STOPPED, ", reason: x");
	assert_string_equal(logged(),
		"<1>Server b/s is DOWN, reason: x. " LESS("2") "|"
		"<1>Server b/t is DOWN via b/s. " LESS("1"));
	assert_string_equal(status(s), "DOWN");
	assert_string_equal(status(t), "DOWN");
	assert_false(server_is_usable(t) || server_is_running(t));
	check.health = 4;
	server_set_oper(&rig.engine, s, SERVER_STOPPING, ", changed from CLI");
	assert_string_equal(logged(),
		"<5>Server b/s is stopping, changed from CLI. " ONLINE("1") "|"
		"<5>Server b/t is stopping via b/s. " ONLINE("1"));
	assert_string_equal(status(t), "NOLB");
	assert_true(server_is_running(t) && !server_is_usable(t));
	server_set_oper(&rig.engine, s, SERVER_RUNNING, "");
	assert_string_equal(logged(), "<5>Server b/s is UP. " ONLINE("2") "|"
		"<5>Server b/t is UP via b/s. " ONLINE("3"));
}

static void
maintenance_is_inherited(void **st)
{
	(void)st;
	server_set_oper(&rig.engine, s, SERVER_STOPPED, "");
	(void)logged();
	server_set_forced(&rig.engine, s, SERVER_MAINT_FORCED);
	assert_string_equal(logged(), "<5>Server b/s was DOWN and now enters maintenance.|"
		"<5>Server b/t was DOWN and now enters maintenance via b/s.");
	assert_string_equal(status(s), "MAINT");
	assert_string_equal(status(t), "MAINT (via b/s)");
	/* A check that ends meanwhile changes nothing. */
	server_set_oper(&rig.engine, s, SERVER_RUNNING, "");
	assert_string_equal(logged(), "");
	server_set_forced(&rig.engine, s, SERVER_DRAIN_FORCED);
	assert_string_equal(logged(), "<5>Server b/s is UP/DRAIN (leaving forced maintenance).|"
		"<5>Server b/s remains in forced drain mode.|"
		"<5>Server b/t is UP/DRAIN (leaving maintenance).|"
		"<5>Server b/t is leaving forced drain but remains in drain mode via b/s.");
	assert_int_equal(check.health, 2);
	assert_string_equal(status(s), "DRAIN 1/3");
	assert_string_equal(status(t), "DRAIN 1/3");
	server_set_forced(&rig.engine, s, SERVER_READY);
	assert_string_equal(logged(), "<5>Server b/s is UP (leaving forced drain).|"
		"<5>Server b/t is UP (leaving forced drain).");
	server_set_forced(&rig.engine, t, SERVER_MAINT_FORCED);
	assert_string_equal(status(t), "MAINT");
	assert_string_equal(status(s), "UP 1/3");
}

static void
the_status_shows_the_way_to_the_other_state(void **st)
{
	static const struct {
		int health;
		enum server_oper oper;
		const char *text;
	} rows[] = {
		{ 4, SERVER_RUNNING, "UP" }, { 3, SERVER_RUNNING, "UP 2/3" },
		{ 2, SERVER_RUNNING, "UP 1/3" }, { 1, SERVER_STOPPED, "DOWN 1/2" },
		{ 0, SERVER_STOPPED, "DOWN" }, { 4, SERVER_STOPPING, "NOLB" },
		{ 3, SERVER_STOPPING, "NOLB 2/3" },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		check.health = rows[i].health;
		server_set_oper(&rig.engine, s, rows[i].oper, "");
		assert_string_equal(status(s), rows[i].text);
		assert_string_equal(status(t), rows[i].text);
	}
	check.enabled = 0;
	assert_string_equal(status(s), "NOLB");
	server_set_oper(&rig.engine, s, SERVER_RUNNING, "");
	assert_string_equal(status(s), "no check");
	server_set_oper(&rig.engine, state_rig_server(&rig, "b", "u"), SERVER_STOPPED, "");
	assert_string_equal(status(state_rig_server(&rig, "b", "u")), "DOWN");
}

static void
downs_and_their_time_are_counted(void **st)
{
	(void)st;
	lock_take(&s->be->lock, &rig.sys);
	server_put_state_locked(s, (struct server_state){ 0, SERVER_STOPPED }, 1000);
	server_put_state_locked(s, (struct server_state){ SERVER_MAINT_FORCED, SERVER_STOPPED },
		2000);
	server_put_state_locked(s, (struct server_state){ 0, SERVER_STOPPING }, 3000);
	lock_drop(&s->be->lock);
	assert_int_equal(s->downs, 1);
	assert_int_equal(server_down_ms(s, 9000), 2000);
	assert_int_equal(s->last_change_ms, 3000);
	lock_take(&s->be->lock, &rig.sys);
	server_put_state_locked(s, (struct server_state){ 0, SERVER_STOPPED }, 4000);
	lock_drop(&s->be->lock);
	assert_int_equal(s->downs, 2);
	assert_int_equal(server_down_ms(s, 9000), 7000);
	lock_take(&s->be->lock, &rig.sys);
	server_put_state_locked(s, (struct server_state){ 0, SERVER_RUNNING }, 5000);
	lock_drop(&s->be->lock);
	assert_int_equal(server_down_ms(s, 9000), 3000);
}

/* A backend is down while none of its servers is usable, backups included. */
static void
a_backend_goes_down_with_its_last_server(void **st)
{
	static const char *const names[] = { "s", "t", "u", "v" };
	struct proxy *be = s->be;

	(void)st;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(be->downs, 0);
		server_set_oper(&rig.engine, state_rig_server(&rig, "b", names[i]),
			SERVER_STOPPED, "");
	}
	assert_int_equal(be->downs, 1);
	assert_int_equal(be->last_change_ms, loop_now_ms(rig.engine.loop));
	assert_int_equal(be->down_since_ms, loop_now_ms(rig.engine.loop));
	assert_non_null(strstr(logged(), "<0>backend b has no server available!"));
	be->last_change_ms = 1;
	be->down_since_ms -= 3000;
	be->down_ms = 500;
	server_set_oper(&rig.engine, state_rig_server(&rig, "b", "v"), SERVER_RUNNING, "");
	assert_int_equal(be->last_change_ms, loop_now_ms(rig.engine.loop));
	assert_int_equal(be->down_ms, 3500);
	assert_int_equal(proxy_usable_servers(be), 1);
	assert_non_null(
		strstr(logged(), "0 active and 1 backup servers online. Running on backup."));
}

/* b/t follows b/s: the backend is in panic from the first of both. */
static void
the_log_reports_begin_and_end_of_panic(void **st)
{
	const char *text;

	(void)st;
	s->be->panic_threshold = 60;
	server_set_oper(&rig.engine, state_rig_server(&rig, "b", "v"), SERVER_STOPPED, "");
	server_set_oper(&rig.engine, state_rig_server(&rig, "b", "u"), SERVER_STOPPED, "");
	assert_false(s->be->lb.panic);
	(void)logged();
	server_set_oper(&rig.engine, s, SERVER_STOPPED, "");
	assert_true(s->be->lb.panic);
	text = logged();
	assert_non_null(strstr(text,
		"queue.|<1>backend b enters panic: 1 of 3 servers usable, the threshold is 60%. "
		"Balancing over all of them.|<1>Server b/t is DOWN via b/s."));
	assert_null(strstr(text, "leaves"));
	server_set_oper(&rig.engine, s, SERVER_RUNNING, "");
	assert_false(s->be->lb.panic);
	text = logged();
	assert_non_null(strstr(text,
		"queue.|<5>backend b leaves panic: 2 of 3 servers usable, the threshold is 60%. "
		"Balancing over the usable ones."));
	assert_null(strstr(text, "enters"));
}

/* Servers that wait for their first check are not tried. */
static void
there_is_no_panic_before_the_first_check(void **st)
{
	static const char *const names[] = { "s", "u", "v" };

	(void)st;
	s->be->panic_threshold = 60;
	for (int i = 0; i < 3; i++)
		server_begin_stopped(&rig.engine, state_rig_server(&rig, "b", names[i]));
	assert_false(s->be->lb.panic);
	assert_int_equal(s->be->lb.n, 0);
	server_set_oper(&rig.engine, state_rig_server(&rig, "b", "u"), SERVER_RUNNING, "");
	assert_int_equal(s->be->lb.n, 1);
	server_set_oper(&rig.engine, state_rig_server(&rig, "b", "u"), SERVER_STOPPED, "");
	assert_true(s->be->lb.panic);
	assert_int_equal(s->be->lb.n, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(tracking_servers_follow),
		CASE(maintenance_is_inherited),
		CASE(the_status_shows_the_way_to_the_other_state),
		CASE(downs_and_their_time_are_counted),
		CASE(a_backend_goes_down_with_its_last_server),
		CASE(the_log_reports_begin_and_end_of_panic),
		CASE(there_is_no_panic_before_the_first_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
