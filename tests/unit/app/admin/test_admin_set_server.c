/* set server, and enable and disable of checks. Answers are those of HAProxy 2.6. */
#include "unit/app/app_rig.h"

#include "proxy/model/check.h"

#define MORE                                                                              \
	"backend b\n server s 127.0.0.1:1 weight 50\n server t 127.0.0.1:2\n"             \
	" server u 127.0.0.1:3\n"

static struct check health, agent;
static struct server *s, *t;

static struct server *
named_server(const char *name)
{
	struct proxy *be = proxies_find(&cfg.proxies, "b", PROXY_BE);

	return proxy_find_server(be, str_of(name));
}

/* b/s has checks and an agent, b/t tracks it, b/u has nothing. */
static int
setup(void **st)
{
	(void)st;
	rig_open("", MORE);
	s = named_server("s");
	t = named_server("t");
	health = (struct check){ .srv = s, .enabled = 1, .rise = 2, .fall = 3, .health = 4 };
	agent = (struct check){
		.srv = s, .is_agent = 1, .enabled = 1, .rise = 1, .fall = 1, .health = 1 };
	s->check = &health;
	s->agent = &agent;
	t->track = s;
	list_append(&s->trackers, &t->track_link);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	s->check = s->agent = NULL;
	rig_close();
	return 0;
}

#define USAGE                                                                             \
	"usage: set server <backend>/<server> addr | agent | agent-addr | agent-port | "  \
	"agent-send | check-addr | check-port | fqdn | health | ssl | state | weight\n\n"

static void
wrong_words_are_explained(void **st)
{
	static const struct {
		const char *line, *answer;
	} rows[] = {
		{ "set server b/s", USAGE },
		{ "set server b/s foo bar", USAGE },
		{ "set server b/s state",
			"'set server <srv> state' expects 'ready', 'drain' and 'maint'.\n\n" },
		{ "set server b/s health foo",
			"'set server <srv> health' expects 'up', 'stopping', or 'down'.\n\n" },
		{ "set server b/t health up", "cannot change health on a tracking server.\n\n" },
		{ "set server b/s agent foo",
			"'set server <srv> agent' expects 'up' or 'down'.\n\n" },
		{ "set server b/u agent up", "agent checks are not enabled on this server.\n\n" },
		{ "set server b/u agent-send x",
			"agent checks are not enabled on this server.\n\n" },
		{ "set server b/u check-port 1", "health checks are not enabled on this server\n" },
		{ "set server b/u check-addr 1.2.3.4",
			"health checks are not enabled on this server\n" },
		{ "set server b/u agent-addr 1.2.3.4",
			"agent checks are not enabled on this server\n" },
		{ "set server b/u agent-port 3", "agent checks are not enabled on this server\n" },
		{ "set server b/s check-addr foo.invalid", "invalid addr 'foo.invalid'\n" },
		{ "set server b/s check-port 70000", "provided port is invalid\n" },
		{ "set server b/s agent-port x", "provided port is not an integer\n" },
		{ "enable health b/u",
			"Health check was not configured on this server, cannot enable.\n\n" },
		{ "enable agent b/u",
			"Agent was not configured on this server, cannot enable.\n\n" },
		{ "disable health b/u", "\n" },
		{ "disable agent b/u", "\n" },
		{ "set maxconn server b/s", "Require <maxconn>.\n\n" },
		{ "set maxconn server b/s x", "maxconn string empty or preceded by garbage\n" },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(rig_command(rows[i].line), rows[i].answer);
}

static void
set_server_health_sets_the_state(void **st)
{
	char text[SERVER_STATUS_MAX];

	(void)st;
	assert_string_equal(rig_command("set server b/s health down"), "\n");
	assert_string_equal(server_status_text(s, text), "DOWN");
	assert_int_equal(health.health, 0);
	assert_string_equal(server_status_text(t, text), "DOWN");
	assert_string_equal(rig_command("set server b/s health stopping"), "\n");
	assert_string_equal(server_status_text(s, text), "NOLB");
	assert_string_equal(rig_command("set server b/s health up"), "\n");
	assert_string_equal(server_status_text(s, text), "UP");
	assert_string_equal(rig_command("disable health b/s"), "\n");
	assert_string_equal(server_status_text(s, text), "no check");
	assert_string_equal(rig_command("enable health b/s"), "\n");
	assert_string_equal(server_status_text(s, text), "UP");
	assert_string_equal(rig_command("set server b/u health down"), "\n");
	assert_string_equal(server_status_text(named_server("u"), text), "DOWN");
}

/* An agent is believed only as far as checks allow. */
static void
agents_can_be_overruled(void **st)
{
	char text[SERVER_STATUS_MAX];

	(void)st;
	assert_string_equal(rig_command("set server b/s agent down"), "\n");
	assert_string_equal(server_status_text(s, text), "DOWN (agent)");
	health.health = 0;
	assert_string_equal(rig_command("set server b/s agent up"), "\n");
	assert_string_equal(server_status_text(s, text), "DOWN");
	health.health = 4;
	assert_string_equal(rig_command("set server b/s agent up"), "\n");
	assert_string_equal(server_status_text(s, text), "UP");
	assert_string_equal(rig_command("disable agent b/s"), "\n");
	assert_string_equal(rig_command("set server b/s agent down"),
		"agent checks are not enabled on this server.\n\n");
}

static void
checks_go_somewhere_else(void **st)
{
	char text[ADDR_TEXT];

	(void)st;
	assert_string_equal(rig_command("set server b/s check-addr 1.2.3.4 port 80"), "\n");
	assert_string_equal(addr_host_text(&s->conf.check.addr, text), "1.2.3.4");
	assert_int_equal(s->conf.check.port, 80);
	assert_string_equal(rig_command("set server b/s check-port 81"), "\n");
	assert_int_equal(s->conf.check.port, 81);
	assert_string_equal(rig_command("set server b/s agent-addr ::1"), "\n");
	assert_string_equal(addr_host_text(&s->conf.check.agent_addr, text), "::1");
	assert_string_equal(rig_command("set server b/s agent-port 82"), "\n");
	assert_int_equal(s->conf.check.agent_port, 82);
	assert_string_equal(rig_command("set server b/s agent-send hello"), "\n");
	assert_string_equal(s->conf.check.agent_send, "hello");
	assert_string_equal(rig_command("set maxconn server b/s 7"), "\n");
	assert_int_equal(s->conf.maxconn, 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(wrong_words_are_explained, setup, teardown),
		cmocka_unit_test_setup_teardown(set_server_health_sets_the_state, setup, teardown),
		cmocka_unit_test_setup_teardown(agents_can_be_overruled, setup, teardown),
		cmocka_unit_test_setup_teardown(checks_go_somewhere_else, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
