/* Keyword stick-table. */
#include "table/table.h"
#include "unit/proxy/proxies_rig.h"

static void
tables_are_made(void **state)
{
	const struct table_conf *c;
	struct table *t;
	struct world w;

	(void)state;
	world_good(&w, WORLD_DEFAULTS "frontend f\n bind :1\n"
		" stick-table type string len 8 size 2k expire 10m nopurge srvkey addr "
		"brates-factor 4 recv-only store gpc(3),gpc_rate(2,5s) "
		"store server_name,bytes_in_cnt,\n default_backend b\n"
		"backend b\n stick-table size 1m type ip\n");
	assert_null(proxies_find_table(&w.proxies, "x"));
	t = proxies_find_table(&w.proxies, "f");
	assert_non_null(t);
	c = table_conf_of(t);
	assert_string_equal(table_name(t), "f");
	assert_int_equal(c->type, TABLE_STRING);
	assert_int_equal(c->key_len, 8);
	assert_int_equal(c->size, 2048);
	assert_int_equal(c->expire_ms, 600000);
	assert_true(c->nopurge && c->key_by_addr && c->recv_only);
	assert_int_equal(c->brates_factor, 4);
	assert_int_equal(c->store[TABLE_GPC].n, 3);
	assert_int_equal(c->store[TABLE_GPC_RATE].n, 2);
	assert_int_equal(c->store[TABLE_GPC_RATE].period_ms, 5000);
	assert_int_equal(c->store[TABLE_SERVER_KEY].n, 1);
	assert_int_equal(c->store[TABLE_BYTES_IN_CNT].n, 1);
	assert_int_equal(c->store[TABLE_SERVER_ID].n, 0);
	c = table_conf_of(proxies_find_table(&w.proxies, "b"));
	assert_int_equal(c->type, TABLE_IPV4);
	assert_int_equal(c->expire_ms, 0);
	world_fini(&w);
}

static void
lines_load_or_are_refused(void **state)
{
	static const struct world_line t[] = {
		{ "", "[t.cfg:6:2] : 'stick-table' : missing size" },
		{ "type ip", "missing size" },
		{ "size 10", "missing type" },
		{ "type ip size 0", "[t.cfg:6:27] : 'stick-table' : size '0' is out of range" },
		{ "type ip size 2147483647", NULL },
		{ "type ip size 2147483648", "size '2147483648' is out of range" },
		{ "type ip size 1g", NULL },
		{ "type ip size abc", "'abc' is not a size" },
		{ "type ip size", "missing argument after 'size'" },
		{ "type", "missing argument after 'type'" },
		{ "type foo size 1", "[t.cfg:6:19] : 'stick-table' : unknown type 'foo'" },
		{ "type ipv4 size 1", NULL },
		{ "type ipv6 size 1", NULL },
		{ "type integer size 1", NULL },
		{ "type binary len 7 size 1", NULL },
		{ "type string len 0 size 1", "'0' is out of range" },
		{ "type string len 16385 size 1", "'16385' is out of range" },
		{ "type ip len 7 size 1", "unknown argument 'len'" },
		{ "type ip size 1 expire 0", NULL },
		{ "type ip size 1 expire 2147483647", NULL },
		{ "type ip size 1 expire 25d", "timer overflow" },
		{ "type ip size 1 store", "missing argument after 'store'" },
		{ "type ip size 1 store gpc0,foo",
			"[t.cfg:6:40] : 'stick-table' : unknown store option 'foo'" },
		{ "type ip size 1 store gpc0,,gpc1", "unknown store option ''" },
		{ "type ip size 1 store gpc0(1)", "unexpected argument to store option 'gpc0'" },
		{ "type ip size 1 store gpc0()", "unexpected argument to store option 'gpc0'" },
		{ "type ip size 1 store conn_rate",
			"missing argument to store option 'conn_rate'" },
		{ "type ip size 1 store conn_rate()",
			"missing argument to store option 'conn_rate'" },
		{ "type ip size 1 store conn_rate(0)",
			"a period from 1 to 2147483647 ms is missing" },
		{ "type ip size 1 store conn_rate(1s", "missing closing parenthesis" },
		{ "type ip size 1 store conn_rate(1s)x", "unexpected text behind store option" },
		{ "type ip size 1 store conn_rate(1s,2)", "unexpected argument to store option" },
		{ "type ip size 1 store gpc", "missing argument to store option 'gpc'" },
		{ "type ip size 1 store gpc(0)", "array size is out of allowed range (1-100)" },
		{ "type ip size 1 store gpc(101)", "array size is out of allowed range (1-100)" },
		{ "type ip size 1 store gpc_rate(3)",
			"missing argument to store option 'gpc_rate'" },
		{ "type ip size 1 store gpc_rate(100,1s),gpc(100),gpt(100)", NULL },
		{ "type ip size 1 store gpc0,gpc(3)", "'gpc' and 'gpc0' exclude each other" },
		{ "type ip size 1 store gpc(3),gpc1", "'gpc' and 'gpc1' exclude each other" },
		{ "type ip size 1 store gpc1_rate(1s),gpc_rate(3,1s)",
			"'gpc_rate' and 'gpc1_rate' exclude" },
		{ "type ip size 1 store gpt(3),gpt0", "'gpt' and 'gpt0' exclude" },
		{ "type ip size 1 store gpc0,gpc_rate(3,1s)", NULL },
		{ "type ip size 1 srvkey foo", "'foo' is not one of" },
		{ "type ip size 1 brates-factor 0", "'0' is out of range" },
		{ "type ip size 1 write-to", "missing argument after 'write-to'" },
		{ "type ip size 1 write-to t", "'write-to' : there is no stick-table 't'." },
		{ "type ip size 1 write-to b", "a table cannot write to itself" },
		{ "type ip size 1 peers", "missing argument after 'peers'" },
		{ "type ip size 1 peers nope",
			"[t.cfg:6:35] : Proxy 'b': unable to find sync peers 'nope'" },
		{ "type ip size 1 foo", "unknown argument 'foo'" },
	};

	(void)state;
	world_lines("backend b\n stick-table ", t, ARRAY_LEN(t), "");
	world_reports("backend b\n stick-table type ip size 1 aggregate\n", 0,
		"[t.cfg:2:2] : 'stick-table' : 'aggregate' has no effect without 'peers'.");
	world_reports("backend b\n stick-table type ip size 1 store gpc0,gpc0\n", 0,
		"[t.cfg:2:35] : 'stick-table' : store option 'gpc0' already enabled, ignored");
}

/* A slot has room for the counts of 30 peers; with those of 40 peers it would be too long. */
static void
parts_of_peers_are_bounded(void **state)
{
	(void)state;
	for (unsigned int n = 30; n < 50; n += 10) {
		char text[4096];
		size_t at = (size_t)snprintf(text, sizeof(text), "peers p\n peer local :1\n");

		for (unsigned int i = 0; i < n; i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at,
				" peer p%u 127.0.0.2:%u\n", i, i + 1);
		(void)snprintf(text + at, sizeof(text) - at,
			" table t type ip size 1 aggregate store gpc(100),gpc_rate(100,1s)\n"
			"backend b\n stick-table type ip size 1 peers p aggregate\n");
		world_reports(text, n > 35 ? -1 : 0,
			n > 35 ? "[t.cfg:43:2] : 'stick-table' : 'aggregate' : an entry with the "
				 "counts of 40 peers is longer than 64 kB: store less."
			       : "");
	}
}

/* A line `stick` has the table store servers, too: that is too much for a slot which was full. */
static void
servers_of_sticks_are_bounded(void **state)
{
	for (unsigned int n = 98; n < 100; n++) {
		char text[4096];
		size_t at = (size_t)snprintf(text, sizeof(text), "peers p\n peer local :1\n");

		for (unsigned int i = 0; i < 40; i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at,
				" peer p%u 127.0.0.2:%u\n", i, i + 1);
		(void)snprintf(text + at, sizeof(text) - at,
			"backend b\n server s 127.0.0.3:1\n"
			" stick-table type ip size 1 peers p aggregate store gpc(%u),"
			"gpc_rate(100,1s)\n stick on src\n",
			n == 98 ? 90 : n);
		world_reports(text, n == 99 ? -1 : 0,
			n == 99 ? "[t.cfg:46:11] : 'stick' : an entry of the stick-table 'b' with "
				  "servers, and with the counts of 40 peers, is longer than 64 kB: "
				  "store less."
				: "");
	}
	(void)state;
}

static void
sums_need_peers(void **state)
{
	(void)state;
	world_reports("peers p\n disabled\n peer local :1\n peer b 127.0.0.2:1\n"
		      "backend b\n stick-table type ip size 1 peers p aggregate\n", 0,
		"[WARNING]  config : parsing [t.cfg:6:35] : 'stick-table' : 'aggregate' has no "
		"effect: section 'peers p' is disabled.");
	world_reports("peers p\n peer b 127.0.0.2:1\n table t type ip size 1 aggregate\n", 0,
		"[WARNING]  config : parsing [t.cfg:3:2] : 'stick-table' : 'aggregate' has no "
		"effect: section 'peers p' does not have this process.");
	world_reports("peers p\n peer local :1\n table t type ip size 1 aggregate\n", 0,
		"[WARNING]  config : parsing [t.cfg:3:2] : 'stick-table' : 'aggregate' has no "
		"effect: section 'peers p' has no other peer.");
	world_reports("peers p\n shards 2\n peer local :1\n peer b 127.0.0.2:1 shard 1\n"
		      " peer c 127.0.0.2:2\n table t type ip size 1 aggregate\n", 0,
		"[WARNING]  config : parsing [t.cfg:6:2] : 'stick-table' : 'aggregate' : peer 'b' "
		"gets the keys of shard 1 only: its sums of others lack what is counted here.");
}

static void
names_are_unique(void **state)
{
	(void)state;
	world_reports("frontend x\n bind :1\n stick-table type ip size 1\n"
		      "backend x\n stick-table type ip size 1\n",
		-1, "[t.cfg:5:2] : stick-table name 'x' conflicts with table declared in frontend "
		    "'x' at t.cfg:3.");
	world_reports("backend x\n stick-table type ip size 1\n stick-table type ip size 1\n", -1,
		"[t.cfg:3:2] : stick-table name 'x' conflicts");
}

static void
tables_name_peers(void **state)
{
	struct world w;

	(void)state;
	world_reports("backend x\n stick-table type ip size 1 peers p\n"
		      "peers p\n peer local 127.0.0.1:1\n",
		0, "[NOTICE]");
	world_good(&w, "backend x\n stick-table type ip size 1 peers p\n"
		       "peers p\n peer local 127.0.0.1:1\n peer b 127.0.0.1:2\n");
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_made),
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(parts_of_peers_are_bounded),
		cmocka_unit_test(servers_of_sticks_are_bounded),
		cmocka_unit_test(sums_need_peers),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(tables_name_peers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
