#include "unit/proxy/proxies_rig.h"

static void
test_local_peer(void **state)
{
	(void)state;
	world_reports("peers p\n peer local 127.0.0.1:10000\nbackend b\n", 0,
		"[t.cfg:1:1] : section 'peers p' has no effect: the process needs none");
	world_reports("peers p\n bind :1 ssl\n default-server ssl\n server local\n disabled\n", 0,
		"[NOTICE]");
}

static void
test_remote_peers(void **state)
{
	(void)state;
	world_reports("peers p\n peer a 127.0.0.1:1\n peer b 127.0.0.2:1\n", 0,
		"[WARNING]  config : parsing [t.cfg:1:1] : section 'peers p' has no effect: "
		"nothing is sent to its peers");
}

static void
lines_load_or_are_refused(void **state)
{
	static const struct world_line t[] = {
		{ "log global", NULL },
		{ "shards 3", NULL },
		{ "peer a 127.0.0.1:1 ssl verify none", NULL },
		{ "peer", "'peer' expects <name>" },
		{ "peer a 127.0.0.1:99999", "'peer' : '127.0.0.1:99999'" },
		{ "peer a 127.0.0.1", "'peer' : '127.0.0.1'" },
		{ "table t type ip size 1k", "keyword 'table' is known but not supported" },
		{ "table t type ip size 1k", "not supported here: peers (6)" },
		{ "balance roundrobin", "unknown keyword 'balance' in 'peers' section" },
	};

	(void)state;
	world_lines("peers p\n ", t, ARRAY_LEN(t), "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local_peer),
		cmocka_unit_test(test_remote_peers),
		cmocka_unit_test(lines_load_or_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
