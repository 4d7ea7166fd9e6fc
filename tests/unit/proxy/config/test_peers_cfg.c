#include "table/table.h"
#include "unit/proxy/proxies_rig.h"

/* The process itself is "local". */
static void
test_local_peer(void **state)
{
	struct world w;

	(void)state;
	world_reports("peers p\n peer a 127.0.0.1:10000\nbackend b\n", 0,
		"[WARNING]  config : parsing [t.cfg:1:1] : Removing incomplete section 'peers p' "
		"(no peer named 'local').");
	world_reports("peers p\n peer local 127.0.0.1:10000\nbackend b\n", 0,
		"[NOTICE]   config : parsing [t.cfg:1:1] : section 'peers p' has no effect: the "
		"process needs none");
	world_good(&w, "peers p\n disabled\n peer a 127.0.0.1:10000\nbackend b\n");
	world_fini(&w);
}

static void
test_remote_peers(void **state)
{
	struct world w;

	(void)state;
	world_good(&w, "peers p\n bind :1\n default-server ssl verify none\n server local\n"
		       " server b 127.0.0.2:1\n table t type ip size 1k store gpc0\n"
		       "backend b\n stick-table type ip size 1k peers p\n");
	world_fini(&w);
	world_reports("peers p\n peer local 127.0.0.1:1\n server b\n", -1,
		"[t.cfg:3:2] : peer 'b' has no address.");
	world_reports("peers p\n peer local 127.0.0.1:1\n server b 127.0.0.2:1 verify none\n", 0,
		"[WARNING]  config : parsing [t.cfg:3:23] : 'server b' : options of TLS have no "
		"effect without 'ssl'.");
	world_reports("peers p\n bind :1 accept-proxy\n server local\n server b 127.0.0.2:1\n", -1,
		"[t.cfg:2:7] : 'bind' : 'accept-proxy' is not supported for peers: let them");
	world_reports("peers p\n shards 2\n peer local 127.0.0.1:1\n"
		      " peer b 127.0.0.2:1 shard 3\n", 0,
		"[WARNING]  config : parsing [t.cfg:4:2] : peer 'b' : 'shard 3' is ignored, it "
		"gets all keys: the section has 'shards 2'.");
	world_reports("peers p\n shards 2\n peer b 127.0.0.2:1\n"
		      " peer local 127.0.0.1:1 shard 1\n", 0,
		"[WARNING]  config : parsing [t.cfg:4:2] : peer 'local' : 'shard' has no effect on "
		"the process itself.");
	world_reports("peers p\n shards 3\n peer local 127.0.0.1:1\n"
		      " peer b 127.0.0.2:1 shard 1\n peer c 127.0.0.2:2 shard 3\n", 0,
		"[WARNING]  config : parsing [t.cfg:1:1] : section 'peers p' : 'shards 3' : no "
		"peer gets the keys of shard 2.");
	world_good(&w, "peers p\n shards 3\n peer local 127.0.0.1:1\n"
		       " peer b 127.0.0.2:1 shard 1\n peer c 127.0.0.2:2\n");
	world_fini(&w);
	world_reports("peers p\npeers p\n", -1, "section 'peers p' exists already.");
}

static void
lines_load_or_are_refused(void **state)
{
	static const struct world_line t[] = {
		{ "log global", NULL },
		{ "shards 3", NULL },
		{ "shards", "'shards' expects <number>" },
		{ "shards 0", "'0' is out of range" },
		{ "shards x", "'x' is not an integer" },
		{ "peer a 127.0.0.1:1 ssl verify none", NULL },
		{ "peer a 127.0.0.1:1 shard 2", NULL },
		{ "shards 2\n peer a 127.0.0.1:1 shard 2", NULL },
		{ "shards 2\n peer a 127.0.0.1:1 shard -1", "'-1' is out of range" },
		{ "shards 2\n peer a 127.0.0.1:1 shard", "'peer' : 'shard' expects an argument." },
		{ "default-server shard 1", "'default-server' : 'shard' is an option of single" },
		{ "peer a 127.0.0.1:1 check", "'peer' : 'check' : in a section peers a server" },
		{ "peer a 127.0.0.1:1 ssl ca-file", "'peer' : 'ca-file' expects an argument." },
		{ "peer a 127.0.0.1:1 ssl verify some", "'peer' : 'verify'" },
		{ "default-server ssl verify none", NULL },
		{ "default-server weight 3", "'default-server' : 'weight' : in a section peers" },
		{ "default-bind ssl crt x", NULL },
		{ "bind 127.0.0.1:1 ssl crt x", NULL },
		{ "bind 127.0.0.1:1\n bind 127.0.0.1:2", "'bind' : a section peers has one line" },
		{ "peer", "'peer' expects <name>" },
		{ "peer a 127.0.0.1:1\n peer a 127.0.0.1:2", "'peer' : 'a' is in this section" },
		{ "peer a 127.0.0.1:99999", "'peer' : '127.0.0.1:99999'" },
		{ "peer a 127.0.0.1", "'peer' : '127.0.0.1'" },
		{ "table t type ip size 1k expire 10s store gpc0,conn_rate(10s)", NULL },
		{ "table t type ip", "'stick-table' : missing size." },
		{ "table t type ip size 1k peers q", "'table' : it is shared with the" },
		{ "table t type ip size 1k\n table t type ip size 1", "'table' : 't' is in this" },
		{ "balance roundrobin", "unknown keyword 'balance' in 'peers' section" },
	};

	(void)state;
	world_lines("peers p\n ", t, ARRAY_LEN(t), "");
}

/* Tables are found by the names of their sections. */
static void
tables_of_sections_are_found(void **state)
{
	struct world w;

	(void)state;
	world_good(&w, "peers p\n peer local 127.0.0.1:1\n table t type ip size 1k\n"
		       "backend b\n stick-table type ip size 2k\n");
	assert_int_equal(w.proxies.n_tables, 2);
	assert_string_equal(table_name(w.proxies.every_table[0]), "b");
	assert_string_equal(table_name(w.proxies.every_table[1]), "p/t");
	assert_ptr_equal(proxies_find_table(&w.proxies, "p/t"), w.proxies.every_table[1]);
	assert_null(proxies_find_table(&w.proxies, "p/u"));
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local_peer),
		cmocka_unit_test(test_remote_peers),
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(tables_of_sections_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
