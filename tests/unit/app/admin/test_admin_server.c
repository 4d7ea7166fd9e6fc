/* Changing states and weights of servers at run time. */
#include "unit/app/app_rig.h"
#include "unit/proxy/backend_rig.h"

#define MORE                                                                                      \
	"backend rr\n balance roundrobin\n server a 127.0.0.1:1 weight 50 maxconn 1\n"            \
	" server b 127.0.0.1:2\nbackend st\n balance static-rr\n server c 127.0.0.1:3 weight 7\n" \
	" server d 127.0.0.1:4\nfrontend f\n bind unix@/nowhere/at.all\n disabled\n"

static struct server *a, *c;

static struct server *
server_named(const char *be, const char *name)
{
	struct proxy *p = proxies_find(&cfg.proxies, be, PROXY_BE);

	assert_non_null(p);
	list_each(it, &p->servers) {
		struct server *s = list_entry(it, struct server, link);

		if (strcmp(s->name, name) == 0)
			return s;
	}
	fail();
	return NULL;
}

static int
setup(void **st)
{
	(void)st;
	rig_open("", MORE);
	a = server_named("rr", "a");
	c = server_named("st", "c");
	return 0;
}

static void
a_change_of_state_prints_nothing(void **st)
{
	static const struct {
		const char *line;
		unsigned int admin;
		const char *status;
	} t[] = {
		{ "disable server rr/a", SERVER_MAINT_FORCED, "MAINT" },
		{ "disable server rr/a", SERVER_MAINT_FORCED, "MAINT" },
		{ "enable server rr/a", SERVER_READY, "no check" },
		{ "set server rr/a state drain", SERVER_DRAIN_FORCED, "DRAIN" },
		{ "set server rr/a state maint", SERVER_MAINT_FORCED, "MAINT" },
		{ "set server rr/a state ready", SERVER_READY, "no check" },
	};
	char text[SERVER_STATUS_MAX];

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_string_equal(rig_command(t[i].line), "\n");
		assert_int_equal(a->admin, t[i].admin);
		assert_string_equal(server_status_text(a, text), t[i].status);
		assert_int_equal(proxy_usable_servers(a->be), t[i].admin == SERVER_READY ? 2 : 1);
	}
	assert_int_equal(server_named("rr", "b")->admin, SERVER_READY);
}

static void
weights_are_absolute_or_relative(void **st)
{
	static const struct {
		const char *arg;
		int weight; /* -1: refused */
	} t[] = {
		{ "0", 0 }, { "1", 1 }, { "256", 256 }, { "100%", 50 }, { "50%", 25 },
		{ "1%", 0 }, { "0%", 0 }, { "257", -1 }, { "-1", -1 }, { "102%", 51 },
		{ "600%", 256 },
		{ "2147483647%", 256 }, { "2147483648%", 256 }, { "-1%", -1 }, { "%", -1 },
		{ "x", -1 }, { "10x", -1 }, { "1e99", -1 }, { "2147483648", -1 },
		{ "4294967296", -1 }, { "9223372036854775808", -1 }, { "0x10", -1 }, { "", -1 },
		{ "5%%", -1 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		static const char *const forms[] = { "set weight rr/a",
						     "set server rr/a weight" };

		for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
			char line[80], want[40];

			assert_int_equal(put_weight(a, 50), 0);
			snprintf(line, sizeof(line), "%s %s", forms[f], t[i].arg);
			if (t[i].weight >= 0) {
				assert_string_equal(rig_command(line), "\n");
				assert_int_equal(a->uweight, t[i].weight);
				snprintf(want, sizeof(want), "%d (initial 50)\n\n", t[i].weight);
				assert_string_equal(rig_command("get weight rr/a"), want);
			} else {
				assert_string_not_equal(rig_command(line), "\n");
				assert_int_equal(a->uweight, 50);
			}
		}
	}
	assert_int_equal(a->conf.weight, 50);
}

static void
static_algorithms_permit_weights_0_and_100_percent(void **st)
{
	(void)st;
	assert_string_equal(rig_command("set weight st/c 0%"), "\n");
	assert_int_equal(c->uweight, 0);
	assert_string_equal(rig_command("set weight st/c 100%"), "\n");
	assert_int_equal(c->uweight, 7);
	assert_non_null(strstr(rig_command("set weight st/c 50%"), "static LB algorithm"));
	assert_non_null(strstr(rig_command("set weight st/c 8"), "static LB algorithm"));
	assert_int_equal(c->uweight, 7);
}

static void
missing_servers_are_reported(void **st)
{
	static const char *const heads[] = { "enable server", "disable server", "get weight",
					     "set weight", "set server" };
	static const struct {
		const char *arg, *answer;
	} t[] = {
		{ "", "Require 'backend/server'.\n\n" },
		{ "rr", "Require 'backend/server'.\n\n" },
		{ "no/a", "No such backend.\n\n" },
		{ "f/a", "No such backend.\n\n" },
		{ "/a", "No such backend.\n\n" },
		{ "rr/no", "No such server.\n\n" },
		{ "rr/", "No such server.\n\n" },
		{ "rr/a/b", "No such server.\n\n" },
		{ "rr/A", "No such server.\n\n" },
	};

	(void)st;
	for (size_t h = 0; h < ARRAY_LEN(heads); h++)
		for (size_t i = 0; i < ARRAY_LEN(t); i++) {
			char line[80];

			snprintf(line, sizeof(line), "%s %s", heads[h], t[i].arg);
			assert_string_equal(rig_command(line), t[i].answer);
		}
	assert_non_null(strstr(rig_command("set server rr/a"), "usage: set server"));
	assert_non_null(strstr(rig_command("set server rr/a state"), "expects 'ready'"));
	assert_non_null(strstr(rig_command("set server rr/a state up"), "expects 'ready'"));
	assert_non_null(strstr(rig_command("set server rr/a ssl off"), "cannot be set"));
	assert_int_equal(a->admin, SERVER_READY);
}

/* Management manual, 9.3: servers are given by name, or by id with a #. */
static void
servers_are_found_by_id(void **st)
{
	char line[80];

	(void)st;
	assert_string_equal(rig_command("get weight rr/#1"), "50 (initial 50)\n\n");
	assert_string_equal(rig_command("disable server rr/#2"), "\n");
	assert_int_equal(server_named("rr", "b")->admin, SERVER_MAINT_FORCED);
	assert_string_equal(rig_command("disable server rr/#3"), "No such server.\n\n");
	assert_string_equal(rig_command("disable server rr/#"), "No such server.\n\n");
	assert_string_equal(rig_command("disable server rr/#1x"), "No such server.\n\n");
	assert_int_equal(a->admin, SERVER_READY);
	snprintf(line, sizeof(line), "get weight #%d/a", a->be->id);
	assert_string_equal(rig_command(line), "50 (initial 50)\n\n");
	/* The id of a frontend is not the id of a backend. */
	snprintf(line, sizeof(line), "get weight #%d/a",
		 proxies_find(&cfg.proxies, "f", PROXY_FE)->id);
	assert_string_equal(rig_command(line), "No such backend.\n\n");
	assert_string_equal(rig_command("get weight #99/a"), "No such backend.\n\n");
}

static void
the_change_is_dated(void **st)
{
	(void)st;
	a->last_change_ms = 0;
	(void)rig_command("disable server rr/a");
	assert_int_equal(a->last_change_ms, loop_now_ms(w->loop));
	a->last_change_ms = 1;
	(void)rig_command("disable server rr/a");
	assert_int_equal(a->last_change_ms, 1);
}

/* A server that comes back serves the queued sessions. */
static void
queued_sessions_are_served_when_a_server_comes_back(void **st)
{
	struct server *s = server_named("l", "s");
	int client[2];

	(void)st;
	s->conf.maxconn = 1;
	for (int i = 0; i < 2; i++)
		client[i] = bench_connect("front");
	bench_turns();
	assert_int_equal(s->be->queued, 1);
	s->conf.maxconn = 2;
	assert_string_equal(rig_command("set weight l/s 2"), "\n");
	assert_int_equal(s->be->queued, 0);
	bench_turns();
	for (int i = 0; i < 2; i++) {
		close(client[i]);
		close(accept(origin, NULL, NULL));
	}
	bench_turns();
	assert_int_equal(s->cur, 0);
}

/* HAProxy's columns, and one number per worker. */
static void
connections_are_shown(void **st)
{
	const char *said;

	(void)st;
	said = rig_command("show servers conn st");
	assert_string_equal(rig_line(said, 0),
		"# bkname/svname bkid/svid addr port - purge_delay used_cur used_max need_est "
		"unsafe_nb safe_nb idle_lim idle_cur idle_per_thr[1]");
	assert_int_equal(rig_lines(said), 3);
	assert_non_null(strstr(rig_line(said, 1), "st/c "));
	assert_non_null(strstr(rig_line(said, 1), "/1 127.0.0.1 3 - 5000 0 0 0 0 0 -1 0 0"));
	assert_true(rig_lines(rig_command("show servers conn")) > 3);
	assert_string_equal(rig_command("show servers conn nobody"), "Can't find backend.\n\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE_SETUP(a_change_of_state_prints_nothing),
		RIG_CASE_SETUP(weights_are_absolute_or_relative),
		RIG_CASE_SETUP(static_algorithms_permit_weights_0_and_100_percent),
		RIG_CASE_SETUP(missing_servers_are_reported),
		RIG_CASE_SETUP(servers_are_found_by_id),
		RIG_CASE_SETUP(the_change_is_dated),
		RIG_CASE_SETUP(queued_sessions_are_served_when_a_server_comes_back),
		RIG_CASE_SETUP(connections_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
