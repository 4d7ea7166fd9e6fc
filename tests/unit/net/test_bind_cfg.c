#include "unit/proxy/proxies_rig.h"

/* Every option with valid values, invalid ones, and those just out of range. */
static const struct world_line lines[] = {
	{ "", NULL },
	{ "backlog 0", NULL },
	{ "proto h1", "proxy 'f' : MUX protocol 'h1' is not usable for 'bind'." },
	{ "proto none", NULL },
	{ "proto h2", "proxy 'f' : MUX protocol 'h2' is not usable for 'bind'." },
	{ "proto h3", "'proto' : 'h3' is not supported; there are h1 and h2" },
	{ "backlog 1024", NULL },
	{ "backlog 2147483647", NULL },
	{ "backlog -1", "'-1'" },
	{ "backlog 2147483648", "2147483648" },
	{ "backlog 4294967296", "4294967296" },
	{ "backlog 9223372036854775808", "9223372036854775808" },
	{ "backlog 1e99", "1e99" },
	{ "backlog 10x", "10x" },
	{ "backlog", "<number>" },
	{ "defer-accept", NULL },
	{ "gid 0", NULL },
	{ "gid 4294967294", NULL },
	{ "gid 4294967295", "4294967295" },
	{ "gid -1", "'-1'" },
	{ "gid x", "'x'" },
	{ "group root", NULL },
	{ "group no-such-group", "unknown group" },
	{ "id 1", NULL },
	{ "id 2147483647", NULL },
	{ "id 0", "'0'" },
	{ "id -1", "'-1'" },
	{ "id 2147483648", "2147483648" },
	{ "interface lo", NULL },
	{ "interface abcdefghijklmno", NULL },
	{ "interface abcdefghijklmnop", "1 to 15 bytes" },
	{ "interface", "<name>" },
	{ "level user", NULL },
	{ "level operator", NULL },
	{ "level admin", NULL },
	{ "level root", "root" },
	{ "maxconn 0", NULL },
	{ "maxconn 2147483647", NULL },
	{ "maxconn -1", "'-1'" },
	{ "maxconn 2147483648", "2147483648" },
	{ "maxconn 1x", "1x" },
	{ "mode 660", NULL },
	{ "mode 7777", NULL },
	{ "mode 0", "octal" },
	{ "mode 8", "octal" },
	{ "mode 10000", "octal" },
	{ "mode 777777777777777777777777", "octal" },
	{ "mode rwx", "octal" },
	{ "mss 1460", NULL },
	{ "mss 65535", NULL },
	{ "mss -65535", "not supported" },
	{ "mss 0", "'0' is out of range" },
	{ "mss 65536", "65536" },
	{ "mss -65536", "-65536" },
	{ "name web", NULL },
	{ "name a name b", NULL },
	{ "name", "<name>" },
	{ "severity-output none", NULL },
	{ "severity-output number", NULL },
	{ "severity-output string", NULL },
	{ "severity-output loud", "loud" },
	{ "tcp-ut 0", NULL },
	{ "tcp-ut 30s", NULL },
	{ "tcp-ut -1", "-1" },
	{ "tcp-ut 25d", "25d" },
	{ "tfo", NULL },
	{ "transparent", NULL },
	{ "uid 0", NULL },
	{ "uid 4294967295", "4294967295" },
	{ "uid x", "'x'" },
	{ "user root", NULL },
	{ "user no-such-user", "unknown user" },
	{ "v4v6", NULL },
	{ "v6only", NULL },
	{ "expose-fd listeners", NULL },
	{ "nice 5", NULL },
	{ "process 1", NULL },
	{ "shards 1", NULL },
	{ "shards 1000000", NULL },
	{ "shards by-thread", NULL },
	{ "shards by-group", NULL },
	{ "shards 2 shards 3", NULL },
	{ "shards 0", "'0' is out of range (1..1000000)" },
	{ "shards -1", "'-1' is out of range" },
	{ "shards 1000001", "'1000001' is out of range" },
	{ "shards 4294967297", "'4294967297' is out of range" },
	{ "shards 1x", "'1x' is not" },
	{ "shards x", "'by-thread' or 'by-group'" },
	{ "shards by-process", "'by-thread' or" },
	{ "shards", "<number>|by-thread" },
	{ "thread 1", NULL },
	{ "thread 64", NULL },
	{ "thread all", NULL },
	{ "thread odd", NULL },
	{ "thread 3-", NULL },
	{ "thread 3-1", NULL },
	{ "thread 1/even", NULL },
	{ "thread 1/1 thread 1/2", NULL },
	{ "thread 1 thread all", NULL },
	{ "thread 0", "'0' is out of range (1..64)" },
	{ "thread 65", "'65' is out of range" },
	{ "thread 1-65", "'1-65' is out of range" },
	{ "thread 1/65", "'65' is out of range" },
	{ "thread -1", "'-1' is not" },
	{ "thread x", "'x' is not" },
	{ "thread 1x", "'1x' is not" },
	{ "thread 1,2", "'1,2' is not" },
	{ "thread 1/", "'' is not" },
	{ "thread 1/1/1", "'1/1' is not" },
	{ "thread /1", "unknown thread group ''" },
	{ "thread 0/1", "unknown thread group '0'" },
	{ "thread 2/1", "unknown thread group '2'" },
	{ "thread 11/1", "unknown thread group '11'" },
	{ "thread all/1", "unknown thread group 'all'" },
	{ "thread 1/1 thread 2", "cannot name threads both" },
	{ "thread 1 thread 1/2", "cannot name threads both" },
	{ "thread", "[<group>/]<set>" },
	{ "namespace blue", NULL },
	{ "namespace", "<name>" },
	{ "namespace ../x", "'namespace' expects the name of a network namespace" },
	{ "namespace ..", "of 1 to 63 bytes, as 'ip netns list' shows it" },
	{ "namespace .", "'namespace' expects the name" },
	{ "backlgo 5", "did you mean 'backlog'" },
	{ "tfo mss 0 maxconn -1", "'0' is out of range" },
	{ "tfo mss 0 maxconn -1", "'-1'" },
};

static void
test_options(void **state)
{
	(void)state;
	world_lines("frontend f\n bind :8080 ", lines, ARRAY_LEN(lines), "");
}

static const struct world_line addresses[] = {
	{ ":80", NULL },
	{ "*:80,:::80", NULL },
	{ ":80,", NULL },
	{ "127.0.0.1:8000-8010,/run/x.sock,abns@y,fd@3", NULL },
	{ ",:80", "the address is empty" },
	{ ":80,,:81", "the address is empty" },
	{ ":80,81", "the port is missing" },
	{ ":0", "1..65535" },
	{ ":1-65535", NULL },
	{ ":1-65535,:2", "the limit is 65536" },
	{ "127.0.0.1", "the port is missing" },
	{ "udp@:80", "datagram" },
	{ ":+80", "offset" },
};

static void
test_addresses(void **state)
{
	(void)state;
	/* One more on the last line, to reach the maximum number of listeners. */
	world_lines("frontend f\n bind ", addresses, 9, "");
	world_lines("frontend f\n bind :1,", addresses + 9, ARRAY_LEN(addresses) - 9, "");
}

static void
test_long_address(void **state)
{
	char text[900];

	(void)state;
	(void)snprintf(text, sizeof(text), "frontend f\n bind %0600d:80\n", 1);
	world_reports(text, -1, "the limit is 511 bytes");
}

static void
test_values(void **state)
{
	struct world w;
	const struct bind_conf *b;

	(void)state;
	world_good(&w,
		WORLD_DEFAULTS
		"frontend f\n bind :80-82,/x name web backlog 5 maxconn 6 mss 700 tcp-ut 8s\n"
		" bind :::1 defer-accept tfo transparent v6only v4v6 interface eth0 id 9\n"
		" bind unix@/y uid 1 gid 2 mode 640 level admin severity-output string\n");
	b = world_bind(world_proxy(&w, "f"), 0);
	assert_string_equal(b->name, "web");
	assert_int_equal(b->backlog, 5);
	assert_int_equal(b->maxconn, 6);
	assert_int_equal(b->mss, 700);
	assert_int_equal(b->user_timeout_ms, 8000);
	assert_int_equal(b->n_listeners, 4);
	assert_int_equal(b->where.line, 6);
	assert_int_equal(b->where.col, 7);
	b = world_bind(world_proxy(&w, "f"), 1);
	assert_int_equal(b->defer_accept + b->tfo + b->transparent, 3);
	assert_int_equal(b->v4v6, 1);
	assert_int_equal(b->v6only, 0);
	assert_string_equal(b->interface, "eth0");
	assert_int_equal(b->id, 9);
	b = world_bind(world_proxy(&w, "f"), 2);
	assert_int_equal(b->uid, 1);
	assert_int_equal(b->gid, 2);
	assert_int_equal(b->mode, 0640);
	assert_int_equal(b->level, BIND_ADMIN);
	assert_int_equal(b->severity, BIND_SEVERITY_STRING);
	world_fini(&w);
}

static void
test_threads(void **state)
{
	static const struct {
		const char *options;
		uint64_t threads;
		int shards;
	} t[] = {
		{ "tfo", 0, 0 },
		{ "thread 1", 1, 0 },
		{ "thread all", UINT64_MAX, 0 },
		{ "thread 2-3 thread 64", UINT64_C(0x8000000000000006), 0 },
		{ "thread 1/even thread 1/1", UINT64_C(0xaaaaaaaaaaaaaaab), 0 },
		{ "shards 5", 0, 5 },
		{ "shards 5 shards by-thread", 0, BIND_SHARDS_BY_THREAD },
		{ "shards by-group", 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct world w;
		const struct bind_conf *b;
		char text[256];

		(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "frontend f\n bind :80 %s\n",
			t[i].options);
		world_good(&w, text);
		b = world_bind(world_proxy(&w, "f"), 0);
		assert_true(b->threads == t[i].threads);
		assert_int_equal(b->shards, t[i].shards);
		world_fini(&w);
	}
}

static void
test_listeners(void **state)
{
	struct world w;
	struct proxy *p;
	struct bind_conf *b;
	char buf[ADDR_TEXT];

	(void)state;
	world_good(
		&w, WORLD_DEFAULTS "frontend f\n bind 127.0.0.1:80-82,[::1]:90,/x,abns@y,fd@5\n");
	p = world_proxy(&w, "f");
	b = world_bind(p, 0);
	assert_int_equal(b->n_listeners, 7);
	assert_string_equal(addr_text(&world_listener(b, 0)->addr, buf), "127.0.0.1:80");
	assert_string_equal(addr_text(&world_listener(b, 2)->addr, buf), "127.0.0.1:82");
	assert_string_equal(addr_text(&world_listener(b, 3)->addr, buf), "[::1]:90");
	assert_string_equal(addr_text(&world_listener(b, 4)->addr, buf), "unix@/x");
	assert_string_equal(addr_text(&world_listener(b, 5)->addr, buf), "abns@y");
	assert_int_equal(world_listener(b, 6)->inherit_fd, 5);
	assert_int_equal(world_listener(b, 6)->addr.len, 0);
	for (int i = 0; i < 7; i++) {
		assert_ptr_equal(world_listener(b, i)->owner, p);
		assert_ptr_equal(world_listener(b, i)->bind, b);
		assert_int_equal(world_listener(b, i)->fd, -1);
		assert_int_equal(world_listener(b, i)->inherit_fd, i == 6 ? 5 : -1);
	}
	world_fini(&w);
}

static void
test_one_id(void **state)
{
	(void)state;
	world_reports(
		"frontend f\n bind :80,:81 id 3\n", -1, "'id' can only be used with a single");
	world_reports("frontend f\n bind :80-81 id 3\n", -1, "'id' can only be used with a single");
}

/* The caret is below the error. */
static void
test_caret(void **state)
{
	(void)state;
	world_reports("frontend f\n bind :80 maxconn 5x\n", -1, "[t.cfg:2:19]");
	world_reports("frontend f\n bind :80x tfo\n", -1, "[t.cfg:2:7]");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_long_address),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_listeners),
		cmocka_unit_test(test_one_id),
		cmocka_unit_test(test_caret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
