/* wait, on the admin socket. */
#include "proxy/model/proxies.h"
#include "unit/app/admin_rig.h"

static struct server *
server_one(void)
{
	const struct proxy *be = proxies_find(&proc.cfg->proxies, "origins", PROXY_BE);

	assert_non_null(be);
	return list_first(&be->servers, struct server, link);
}

static int
setup(void **st)
{
	(void)st;
	rig_open("", "backend origins\n mode tcp\n server one 127.0.0.1:1\n"
		" server two 127.0.0.1:2\n");
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	rig_close();
	return 0;
}

static void
words(void **st)
{
	static const struct {
		const char *line, *answer;
	} t[] = {
		{ "wait x",
			"Invalid delay: 'x' is not a time (a number and one of us, ms, s, m, h, d "
			"expected)\n\n" },
		{ "wait 1 other",
			"Unknown condition 'other': it may be 'srv-removable'.\n\n" },
		{ "wait 1 srv-removable", "'srv-removable' expects <backend>/<server>.\n\n" },
		{ "wait 1 srv-removable a b",
			"'srv-removable' expects <backend>/<server>.\n\n" },
		{ "wait 1s srv-removable origins/none", "No such server.\n\n" },
		{ "wait 1s srv-removable none/one", "No such backend.\n\n" },
		{ "wait 1s srv-removable origins/one",
			"Only servers in maintenance mode can be deleted.\n\n" },
		{ "wait 0", "\n" },
	};

	static const char *const usage[] = { "wait", "wait -h", "wait 1s -h" };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		assert_string_equal(rig_command(t[i].line), t[i].answer);
	for (size_t i = 0; i < ARRAY_LEN(usage); i++)
		assert_memory_equal(rig_command(usage[i]), "Usage: wait ", 12);
}

/* The commands of a line run in their order, the later ones after the delay. */
static void
the_next_command_comes_later(void **st)
{
	uint64_t from = loop_now_ms(w->loop);

	(void)st;
	assert_string_equal(rig_command("get weight origins/one;wait 20ms;get weight origins/two"),
		"1 (initial 1)\n\n\n1 (initial 1)\n\n");
	assert_true(loop_now_ms(w->loop) >= from + 20);
	assert_int_equal(rig_conn.wake_ms, 0);
}

/* A server that is in use may become free; one that is free need not be waited for. */
static void
until_a_server_can_be_removed(void **st)
{
	struct server *s = server_one();
	uint64_t from;

	(void)st;
	assert_string_equal(rig_command("disable server origins/one"), "\n");
	s->cur = 1;
	from = loop_now_ms(w->loop);
	assert_string_equal(rig_command("wait 60 srv-removable origins/one"),
		"Wait delay expired.\n\n");
	assert_true(loop_now_ms(w->loop) >= from + 60);
	s->cur = 0;
	assert_string_equal(rig_command("wait 1d srv-removable origins/one"), "Done.\n\n");
	assert_string_equal(rig_command("del server origins/one"), "Server deleted.\n\n");
	assert_string_equal(rig_command("wait 1d srv-removable origins/one"),
		"No such server.\n\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(words, setup, teardown),
		cmocka_unit_test_setup_teardown(the_next_command_comes_later, setup, teardown),
		cmocka_unit_test_setup_teardown(until_a_server_can_be_removed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
