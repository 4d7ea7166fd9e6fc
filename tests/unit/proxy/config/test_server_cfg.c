#include "unit/proxy/proxies_rig.h"

#define NUMBER(kw)                                                                            \
	{ kw " 0", NULL }, { kw " 2147483647", NULL }, { kw " -1", "'-1'" },                  \
		{ kw " 2147483648", "2147483648" },                                           \
		{ kw " 9223372036854775808", "9223372036854775808" }, { kw " 1e99", "1e99" }, \
		{ kw " 10x", "10x" },                                                         \
	{                                                                                     \
		kw, "<number>"                                                                \
	}

/* Options that server and default-server share. */
static const struct world_line options[] = {
	NUMBER("maxconn"),
	NUMBER("maxqueue"),
	{ "pool-max-conn 0", NULL },
	{ "pool-max-conn -1", NULL },
	{ "pool-max-conn -2", "-2" },
	{ "pool-max-conn 2147483648", "2147483648" },
	{ "pool-max-conn 1x", "1x" },
	{ "pool-max-conn", "<number>" },
	{ "pool-purge-delay 0", NULL },
	{ "pool-purge-delay 5s", NULL },
	{ "pool-purge-delay 5x", "5x" },
	{ "pool-purge-delay", "<time>" },
	NUMBER("pool-low-conn"),
	{ "maxconn 3 strict-maxconn", NULL },
	{ "strict-maxconn yes", "'yes'" },
	{ "max-reuse 0", NULL },
	{ "max-reuse -1", NULL },
	{ "max-reuse -2", "-2" },
	{ "weight 0", NULL },
	{ "weight 256", NULL },
	{ "weight 257", "257" },
	{ "weight -1", "'-1'" },
	{ "weight 1x", "1x" },
	{ "weight 4294967297", "4294967297" },
	{ "weight", "<number>" },
	{ "weight 5 weight 6", NULL },
	{ "disabled", NULL },
	{ "enabled", NULL },
	{ "backup", NULL },
	{ "non-backup", NULL },
	{ "no-backup", NULL },
	{ "tfo", NULL },
	{ "no-tfo", NULL },
	{ "no-check no-ssl no-send-proxy no-send-proxy-v2 no-agent-check no-check-ssl", NULL },
	{ "tcp-ut 5s", NULL },
	{ "tcp-ut -1", "-1" },
	{ "source 10.0.0.1", NULL },
	{ "source 10.0.0.1:1024-2048 interface lo tfo", NULL },
	{ "source [::1] interface lo", NULL },
	{ "source * weight 5", NULL },
	{ "source 10.0.0.1:+1", "offset" },
	{ "source /x", "unix" },
	{ "source", "<address>" },
	{ "source 10.0.0.1 interface", "1 to 15 bytes" },
	{ "source 10.0.0.1 interface abcdefghijklmnop", "1 to 15 bytes" },
	{ "source 0.0.0.0 usesrc clientip", NULL },
	{ "source 0.0.0.0:1-10 usesrc client weight 5", NULL },
	{ "source 0.0.0.0 usesrc", "'usesrc' expects an address" },
	{ "source 0.0.0.0 usesrc hdr_ip(x)", NULL },
	{ "send-proxy", NULL },
	{ "send-proxy-v2 no-send-proxy", NULL },
	{ "send-proxy-v2 proxy-v2-options crc32c,unique-id", NULL },
	{ "send-proxy-v2 set-proxy-v2-tlv-fmt(0xE0) %[src]", NULL },
	{ "set-proxy-v2-tlv-fmt(255) a set-proxy-v2-tlv-fmt(0) %[fc_pp_tlv(0x20)]", NULL },
	{ "set-proxy-v2-tlv-fmt(256) a", "expects a type of 0 to 255 in parentheses" },
	{ "set-proxy-v2-tlv-fmt(0x) a", "expects a type of 0 to 255" },
	{ "set-proxy-v2-tlv-fmt(0x100) a", "expects a type of 0 to 255" },
	{ "set-proxy-v2-tlv-fmt() a", "expects a type of 0 to 255" },
	{ "set-proxy-v2-tlv-fmt(1 a", "expects a type of 0 to 255" },
	{ "set-proxy-v2-tlv-fmt a", "expects a type of 0 to 255" },
	{ "set-proxy-v2-tlv-fmt(1)", "(<type>) <format>" },
	{ "set-proxy-v2-tlv-fmt(1) %[no_such_fetch]", "no_such_fetch" },
	{ "set-proxy-v2-tlv-fmt(1) %[path]", "path" },
	{ "tcp-md5sig key", "not supported: there are no TCP MD5 signatures" },
	{ "tcp-md5sig", "<key>" },
	{ "hash-key id", NULL },
	{ "hash-key addr hash-key addr-port", NULL },
	{ "hash-key name", "'name'" },
	{ "hash-key", "{id | addr | addr-port}" },
	{ "proto none", NULL },
	{ "proto h3", "'h3' is not supported" },
	{ "ws auto", NULL },
	{ "ws h1", NULL },
	{ "ws h2", NULL },
	{ "ws h3", "'h3' is not one of auto, h1, h2" },
	{ "socks4 10.0.0.9:1080", NULL },
	{ "socks4 [::1]:1080 weight 5", NULL },
	{ "socks4 10.0.0.9", "'10.0.0.9' : the port is missing" },
	{ "socks4 10.0.0.9:+80", "a port offset is not permitted here" },
	{ "socks4 10.0.0.9:80-81", "a port range is not permitted here" },
	{ "socks4 /run/x", "a unix socket is not acceptable here" },
	{ "socks4", "<address>:<port>" },
	{ "proxy-v2-options", "<option>" },
	{ "proxy-v2-options crc32c,", "'' : proxy v2 option not implemented" },
	{ "proxy-v2-options crc32c,ssl,cert-cn,ssl-cipher,cert-sig,cert-key", NULL },
	{ "send-proxy-v2-ssl send-proxy-v2-ssl-cn no-send-proxy-v2-ssl no-send-proxy-v2-ssl-cn",
		NULL },
	{ "proxy-v2-options authority", NULL },
	{ "proxy-v2-options crc32", "'crc32' : proxy v2 option not implemented" },
	{ "minconn 3", NULL },
	{ "minconn -3", "-3" },
	{ "cookie a", NULL },
	{ "cookie a~|b", NULL },
	{ "cookie a;b", "is not a valid cookie value" },
	{ "cookie \"a b\"", "is not a valid cookie value" },
	{ "cookie", "<value>" },
	{ "cookie \"\"", "<value>" },
	{ "redir \"\"", "<prefix>" },
	{ "redir \"http://b/ x\"", "does not begin a URL" },
	{ "redir", "<prefix>" },
	{ "wieght 3", "did you mean 'weight'" },
};

static void
options_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("backend b\n server s 10.0.0.1:80 ", options, ARRAY_LEN(options), "");
	world_lines("backend b\n default-server ", options, ARRAY_LEN(options), "");
	world_reports(WORLD_DEFAULTS "backend b\n server s 10.0.0.1:80 source * usesrc hdr_ip(x)\n",
		0, "server 's' cannot use header x as source IP in non-HTTP mode");
	world_reports(WORLD_DEFAULTS "backend b\n default-server proto h1\n server s 10.0.0.1:1\n",
		-1, "proxy 'b' : MUX protocol 'h1' is not usable for server 's'.");
	world_reports(WORLD_DEFAULTS "frontend f\n bind :1 proto none\n default_backend b\n"
		"backend b\n mode http\n server s 10.0.0.1:1\n",
		-1, "'proto none' is not supported in front of a backend in mode http.");
	world_reports(WORLD_DEFAULTS "backend b\n mode http\n server s 10.0.0.1:1 ws h1 proto h2\n",
		-1, "'ws h1' is not supported for server 's', which may speak HTTP/2");
	world_reports(WORLD_DEFAULTS "backend b\n mode http\n server s 10.0.0.1:1 ws h2\n",
		-1, "'ws h2' is not supported for server 's', which does not speak HTTP/2");
	world_reports(WORLD_DEFAULTS "backend b\n mode http\n server s 10.0.0.1:1 ws h2 proto h2\n"
		" server t 10.0.0.1:1 ws h1\n",
		0, "");
}

static const struct world_line lines[] = {
	{ "server a 10.0.0.1:80 redir http://b", "it needs 'mode http'" },
	{ "server s 10.0.0.1:80 id 1", NULL },
	{ "server s 10.0.0.1:80 id 2147483647", NULL },
	{ "server s 10.0.0.1:80 id 0", "'0'" },
	{ "server s 10.0.0.1:80 id 2147483648", "2147483648" },
	{ "default-server id 5", "'id' is not allowed in 'default-server'" },
	{ "default-server", NULL },
	{ "server s", "<name> <address>" },
	{ "server", "<name> <address>" },
	{ "server s! 10.0.0.1:80", "character '!' is not permitted" },
	{ "server a-b_c.d:e 10.0.0.1:80", NULL },
	{ "server s 10.0.0.1", NULL },
	{ "server s 10.0.0.1:+100", NULL },
	{ "server s [::1]:80", NULL },
	{ "server s /run/x", NULL },
	{ "server s abns@x", NULL },
	{ "server s localhost:80", NULL },
	{ "server s 10.0.0.1:80-90", "range" },
	{ "server s 10.0.0.1:65536", "0..65535" },
	{ "server s fd@3", "descriptor" },
	{ "server s udp@10.0.0.1:53", "datagram" },
	{ "server s ::1", "no address" },
	{ "server s 10.0.0.1:80 bogus", "unknown keyword 'bogus'" },
	{ "source 10.0.0.1", NULL },
	{ "source 10.0.0.1:80", NULL },
	{ "source 10.0.0.1 interface lo", NULL },
	{ "source 10.0.0.1:80-90", "range" },
	{ "source 10.0.0.1 bogus", "unexpected argument 'bogus'" },
	{ "source 10.0.0.1 usesrc client", NULL },
	{ "source 10.0.0.1 usesrc clientip interface lo", NULL },
	{ "source 10.0.0.1 interface lo usesrc 10.0.0.2:80", NULL },
	{ "source 10.0.0.1 usesrc hdr_ip(x-forwarded-for,-10)", NULL },
	{ "source 10.0.0.1 usesrc hdr_ip(x,0)", NULL },
	{ "source 10.0.0.1 usesrc clientip foo", "unexpected argument 'foo'" },
	{ "source 10.0.0.1 usesrc", ":6:24] : 'source' : 'usesrc' expects an address" },
	{ "source 10.0.0.1 usesrc foo.invalid", ":6:25] : 'source' : 'usesrc' : 'foo.invalid'" },
	{ "source 10.0.0.1 usesrc 10.0.0.2:80-90", "'usesrc' : '10.0.0.2:80-90'" },
	{ "source 10.0.0.1 usesrc hdr_ip", "'usesrc' : 'hdr_ip'" },
	{ "source 10.0.0.1 usesrc hdr_ip()", "expects the name of a header" },
	{ "source 10.0.0.1 usesrc hdr_ip(,1)", "expects the name of a header" },
	{ "source 10.0.0.1 usesrc hdr_ip(x", "expects the name of a header" },
	{ "source 10.0.0.1 usesrc hdr_ip(x:y)", "expects the name of a header" },
	{ "source 10.0.0.1 usesrc hdr_ip(x,y)", "occurrence of 'hdr_ip' : 'y'" },
	{ "source 10.0.0.1 usesrc hdr_ip(x,)", "occurrence of 'hdr_ip'" },
	{ "source 10.0.0.1 usesrc hdr_ip(x,-11)", "occurrence of 'hdr_ip' : '-11'" },
	{ "source", "<address>" },
	{ "server-template s 3 10.0.0.1:80", NULL },
	{ "server-template s 2-4 localhost:80 weight 3", NULL },
	{ "server-template s 3", "<prefix> <number | range> <name>" },
	{ "server-template s 0 localhost:80", "Wrong server-template number or range arg '0'" },
	{ "server-template s x localhost:80", "Wrong server-template number or range arg 'x'" },
	{ "server-template s 3-1 localhost:80", "Wrong server-template number or range arg" },
	{ "server-template s 3-x localhost:80", "Wrong server-template number or range arg" },
	{ "server-template s -3 localhost:80", "Wrong server-template number or range arg" },
	{ "server-template s 70000 localhost:80", "Wrong server-template number or range arg" },
	{ "server-template s! 3 localhost:80", "character '!' is not permitted" },
	{ "server-template s 3 localhost:80 bogus", "unknown keyword 'bogus'" },
};

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("backend b\n ", lines, ARRAY_LEN(lines), "");
}

static void
values_are_stored(void **state)
{
	struct world w;
	const struct server *s;
	char buf[ADDR_TEXT];
	struct addr a;

	(void)state;
	world_good(&w,
		WORLD_DEFAULTS
		"backend b\n balance random(3)\n source 10.9.9.9 interface lo\n"
		" default-server weight 20 backup cookie d\n"
		" server one 10.0.0.1:80 weight 30 no-backup maxconn 4 maxqueue 5 tfo"
		" tcp-ut 6s id 7 cookie c1\n"
		" default-server maxconn 8\n"
		" server two 10.0.0.2:+9 disabled source 10.8.8.8:1000-1009\n");
	s = world_server(world_proxy(&w, "b"), 0);
	assert_string_equal(s->name, "one");
	(void)addr_cell_get(&s->addr, &a);
	assert_string_equal(addr_text(&a, buf), "10.0.0.1:80");
	assert_int_equal(s->conf.weight, 30);
	assert_int_equal(s->uweight, 30);
	assert_int_equal(s->conf.backup, 0);
	assert_int_equal(s->conf.maxconn, 4);
	assert_int_equal(s->conf.maxqueue, 5);
	assert_int_equal(s->conf.tfo, 1);
	assert_int_equal(s->conf.user_timeout_ms, 6000);
	assert_int_equal(s->id, 7);
	assert_string_equal(s->conf.cookie, "c1");
	assert_int_equal(s->admin, SERVER_READY);
	assert_string_equal(addr_text(&s->conf.source.addr, buf), "10.9.9.9:0");
	assert_string_equal(s->conf.source.interface, "lo");
	assert_int_equal(s->where.line, 9);
	assert_int_equal(s->where.col, 9);
	s = world_server(world_proxy(&w, "b"), 1);
	assert_int_equal(s->conf.weight, 20);
	assert_int_equal(s->conf.backup, 1);
	assert_int_equal(s->conf.maxconn, 8);
	assert_string_equal(s->conf.cookie, "d");
	assert_int_equal(s->admin, SERVER_MAINT_FORCED);
	assert_int_equal(s->spec.has_offset, 1);
	assert_int_equal(s->spec.port_offset, 9);
	assert_int_equal(s->conf.source.port_lo, 1000);
	assert_int_equal(s->conf.source.port_hi, 1009);
	assert_string_equal(s->conf.source.interface, "");
	assert_int_equal(world_proxy(&w, "b")->balance, BALANCE_RANDOM);
	assert_int_equal(world_proxy(&w, "b")->balance_draws, 3);
	world_fini(&w);
	world_good(&w, WORLD_DEFAULTS "backend b\n mode http\n default-server redir http://d\n"
		" server one 10.0.0.1:80\n server two 10.0.0.2:80 redir http://e/x\n");
	assert_string_equal(world_server(world_proxy(&w, "b"), 0)->conf.redir, "http://d");
	assert_string_equal(world_server(world_proxy(&w, "b"), 1)->conf.redir, "http://e/x");
	world_fini(&w);
}

static void
names_and_ids_are_distinct(void **state)
{
	(void)state;
	world_reports("backend b\n server s :1\n server s :2\n", -1,
		"another server named 's' was already defined at line 2");
	world_reports("backend b\n server s :1 id 5\n server t :2 id 5\n", -1,
		"custom id 5 already used by server 's'");
}

/* All errors of a line are reported, each with its column. */
static void
test_all_errors(void **state)
{
	static const char text[] = "backend b\n server s! 1.2.3.4:x weight 300 maxconn -1\n";

	(void)state;
	world_reports(text, -1, "[t.cfg:2:9]");
	world_reports(text, -1, "[t.cfg:2:12]");
	world_reports(text, -1, "[t.cfg:2:29]");
	world_reports(text, -1, "[t.cfg:2:41]");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_load_or_are_refused),
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(values_are_stored),
		cmocka_unit_test(names_and_ids_are_distinct),
		cmocka_unit_test(test_all_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
