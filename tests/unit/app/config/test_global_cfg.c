#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "net/listener.h"
#include "proxy/model/engine.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static void
values(void **state)
{
	const struct global_conf *g = &cfg.global;

	(void)state;
	assert_int_equal(
		world_global(
			"maxconn 1000\nulimit-n 3000\nfd-hard-limit 5000\nnbthread 1\n"
			"thread-groups 1\nuid 12\ngid 13\nchroot /var/empty\npidfile /run/x.pid\n"
			"node n-1_a\ndescription two words\nhard-stop-after 30s\ngrace 5\n"
			"stats timeout 2m\nstats maxconn 3\ndaemon\nquiet\nzero-warning\n"
			"set-dumpable\ninsecure-fork-wanted\ninsecure-setuid-wanted\n"
			"localpeer me"),
		0);
	assert_int_equal(g->maxconn, 1000);
	assert_int_equal(g->ulimit_n, 3000);
	assert_int_equal(g->fd_hard_limit, 5000);
	assert_int_equal(g->uid, 12);
	assert_int_equal(g->gid, 13);
	assert_string_equal(g->chroot, "/var/empty");
	assert_string_equal(g->pidfile, "/run/x.pid");
	assert_string_equal(g->node, "n-1_a");
	assert_string_equal(g->description, "two words");
	assert_int_equal(g->hard_stop_after_ms, 30000);
	assert_int_equal(g->grace_ms, 5);
	assert_int_equal(g->stats_timeout_ms, 120000);
	assert_int_equal(g->stats_maxconn, 3);
	assert_true(g->daemon && g->quiet && g->zero_warning && g->set_dumpable);
	assert_true(g->insecure_fork && g->insecure_setuid);
	assert_string_equal(cfg_env_get(&cfg.env, "HAPROXY_LOCALPEER"), "me");
}

static void
unix_sockets_of_bind_lines(void **state)
{
	static const char *const bad[][2] = {
		{ "unix-bind foo 1", "'unix-bind' : unknown setting 'foo'; there are prefix, mode, "
			"user, uid, group and gid." },
		{ "unix-bind mode", "'unix-bind' : 'mode' expects a value." },
		{ "unix-bind mode 600 mode 9", "'mode' : '9' is not an octal number (1..7777 "
			"expected)." },
		{ "unix-bind user nobody-of-that-name", "'user' : unknown user "
			"'nobody-of-that-name'." },
	};
	const struct bind_unix *u = &cfg.proxies.unix_bind;
	char line[256];

	(void)state;
	assert_true(!u->prefix && !u->mode && u->uid == (uid_t)-1 && u->gid == (gid_t)-1);
	assert_int_equal(world_global("unix-bind\nunix-bind prefix /a mode 0600 uid 3\n"
				      "unix-bind prefix /b gid 4\nunix-bind user root"), 0);
	assert_string_equal(u->prefix, "/b");
	assert_true(u->mode == 0600 && u->uid == 0 && u->gid == 4);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(world_global(bad[i][0]), -1);
		assert_string_equal(world_diagnostic(), bad[i][1]);
	}
	/* The stats socket has no prefix; with it the path of another may become too long. */
	(void)snprintf(line, sizeof(line), "unix-bind prefix /%0100d\nstats socket /12345678\n"
		"frontend f\nbind /12345678", 0);
	assert_int_equal(world_global(line), -1);
	assert_non_null(strstr(world_diagnostic(), "'bind' : '/12345678' : with the prefix '/000"));
	assert_non_null(
		strstr(world_diagnostic(), "of 'unix-bind' the path is longer than 107 bytes."));
}

static void
a_master_and_its_workers(void **state)
{
	(void)state;
	assert_int_equal(world_global("maxconn 10"), 0);
	assert_int_equal(cfg.global.max_reloads, -1);
	assert_false(cfg.global.master || cfg.global.exit_on_failure);
	assert_int_equal(cfg.global.close_spread_ms, 0);
	assert_int_equal(world_global("master-worker\nmworker-max-reloads 0\n"
				      "close-spread-time infinite"), 0);
	assert_true(cfg.global.master && !cfg.global.exit_on_failure);
	assert_int_equal(cfg.global.max_reloads, 0);
	assert_true(cfg.global.close_spread_ms == ENGINE_STOP_NEVER);
	assert_int_equal(
		world_global("master-worker no-exit-on-failure\nclose-spread-time 2s"), 0);
	assert_true(cfg.global.master && !cfg.global.exit_on_failure);
	assert_int_equal(cfg.global.close_spread_ms, 2000);
	assert_int_equal(world_global("master-worker exit-on-failure"), 0);
	assert_true(cfg.global.master && cfg.global.exit_on_failure);
	assert_int_equal(world_global("master-worker\nno master-worker"), 0);
	assert_false(cfg.global.master);
	assert_int_not_equal(world_global("master-worker exit"), 0);
	assert_int_not_equal(world_global("mworker-max-reloads -1"), 0);
	assert_int_not_equal(world_global("close-spread-time never"), 0);
}

static void
sections_merge(void **state)
{
	(void)state;
	assert_int_equal(world_global("maxconn 10\nglobal\npidfile a\nglobal\npidfile b"), 0);
	assert_int_equal(cfg.global.maxconn, 10);
	assert_string_equal(cfg.global.pidfile, "b");
}

static void
switches(void **state)
{
	(void)state;
	assert_int_equal(world_global("no strict-limits\nset-dumpable\nno set-dumpable"), 0);
	assert_false(cfg.global.strict_limits);
	assert_false(cfg.global.set_dumpable);
	assert_int_equal(world_global("default strict-limits"), 0);
	assert_true(cfg.global.strict_limits);
}

static void
names(void **state)
{
	(void)state;
	assert_int_equal(world_global("user root\ngroup root"), 0);
	assert_int_equal(cfg.global.uid, 0);
	assert_int_equal(world_global("user no-such-user-here"), -1);
	assert_non_null(strstr(world_diagnostic(), "no-such-user-here"));
	assert_int_equal(world_global("group no-such-group-here"), -1);
	assert_int_equal(world_global("node a.b_c-1"), 0);
	assert_int_equal(world_global("node a/b"), -1);
	assert_non_null(strstr(world_diagnostic(), "character '/' is not permitted"));
	assert_int_equal(world_global("chroot relative"), -1);
}

static void
stats_socket(void **state)
{
	const struct bind_conf *b;

	(void)state;
	assert_int_equal(world_global("stats socket /run/x.sock mode 600 level admin\n"
				      "stats socket 127.0.0.1:9999"), 0);
	b = list_first(&cfg.global.admin_binds, struct bind_conf, link);
	assert_int_equal(b->mode, 0600);
	assert_int_equal(b->level, BIND_ADMIN);
	assert_int_equal(world_global("stats socket"), -1);
	assert_int_equal(world_global("stats socket /run/x.sock accept-proxy"), -1);
	assert_int_equal(world_global("stats socket /run/x.sock level king"), -1);
}

/* Every numeric keyword, with values at which something overflows. */
static void
ranges(void **state)
{
	static const char *const kws[] = { "maxconn", "ulimit-n", "fd-hard-limit", "nbthread",
		"thread-hard-limit", "thread-groups", "uid", "gid", "stats maxconn",
		"stats timeout", "hard-stop-after", "grace" };
	static const char *const bad[] = { "-1", "18446744073709551616", "9223372036854775808",
		"1e99", "10x", "", "0x10", "1 2" };
	char line[128];

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(kws); k++)
		for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
			snprintf(line, sizeof(line), "%s %s", kws[k], bad[i]);
			assert_int_equal(world_global(line), -1);
		}
	/* 2^31 and 2^32 are valid for ids only */
	for (size_t k = 0; k < ARRAY_LEN(kws); k++) {
		snprintf(line, sizeof(line), "%s 4294967296", kws[k]);
		assert_int_equal(world_global(line), -1);
		snprintf(line, sizeof(line), "%s 2147483648", kws[k]);
		assert_int_equal(world_global(line),
			strcmp(kws[k], "uid") && strcmp(kws[k], "gid") ? -1 : 0);
	}
}

static void
workers(void **state)
{
	(void)state;
	assert_int_equal(world_global("nbthread 2"), 0);
	assert_int_equal(cfg.global.nbthread, 2);
	assert_int_equal(world_global("thread-groups 2"), -1);
	assert_int_equal(world_global("nbthread 64"), 0);
	assert_int_equal(world_global("nbthread 65"), -1);
	assert_non_null(strstr(world_diagnostic(), "(1..64)"));
	assert_int_equal(world_global("nbthread 0"), -1);
	assert_non_null(strstr(world_diagnostic(), "(1..64)"));
	assert_int_equal(world_global("nbthread"), -1);
	assert_int_equal(world_global("nbthread 1"), 0);
	assert_int_equal(cfg.global.nbthread, 1);
	assert_int_equal(world_global("thread-hard-limit 0"), -1);
	assert_int_equal(world_global("thread-hard-limit 4097"), -1);
	assert_int_equal(world_global("thread-hard-limit 4096"), 0);
	assert_int_equal(cfg.global.thread_hard_limit, 4096);
}

static void
privileged_ports(void **state)
{
	(void)state;
	assert_int_equal(cfg.global.deny_low_ports, 0);
	assert_int_equal(world_global("harden.reject-privileged-ports.tcp on"), 0);
	assert_int_equal(cfg.global.deny_low_ports, 1);
	assert_int_equal(world_global("harden.reject-privileged-ports.tcp off"), 0);
	assert_int_equal(cfg.global.deny_low_ports, 0);
	assert_int_equal(world_global("harden.reject-privileged-ports.tcp"), -1);
	assert_int_equal(world_global("harden.reject-privileged-ports.tcp maybe"), -1);
	assert_int_equal(world_global("harden.reject-privileged-ports.tcp on off"), -1);
	assert_int_equal(cfg.diag.count[CFG_NOTICE], 0);
	/* There is no QUIC. */
	assert_int_equal(world_global("harden.reject-privileged-ports.quic on"), 0);
	assert_int_equal(cfg.diag.count[CFG_NOTICE], 1);
}

static void
accepted_families(void **state)
{
	static const struct {
		const char *words;
		unsigned int set;
		int is_auto;
	} t[] = {
		{ "ipv4", DNS_IPV4, 0 }, { "ipv6", DNS_IPV6, 0 }, { "auto", DNS_IPV4, 1 },
		{ "ipv6,ipv4", DNS_IPV4 | DNS_IPV6, 0 }, { "auto,ipv6", DNS_IPV4 | DNS_IPV6, 1 },
		{ "ipv4,ipv4", DNS_IPV4, 0 },
	};
	static const char *const bad[][2] = {
		{ "", "expects an argument" }, { "ipv5", "'ipv5'" }, { "ipv4,", "''" },
		{ ",ipv4", "''" }, { "ipv4,,ipv6", "''" }, { "IPV4", "'IPV4'" },
		{ "ipv4 ipv6", "" },
	};
	const struct dns_families *f = &cfg.proxies.families;
	char line[128];

	(void)state;
	assert_int_equal(f->set, 0);
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		snprintf(line, sizeof(line), "dns-accept-family %s", t[i].words);
		assert_int_equal(world_global(line), 0);
		assert_int_equal(f->set, t[i].set);
		assert_int_equal(f->is_auto, t[i].is_auto);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(line, sizeof(line), "dns-accept-family %s", bad[i][0]);
		assert_int_equal(world_global(line), -1);
		if (i && !strstr(world_diagnostic(), bad[i][1]))
			fail_msg("%s: %s", bad[i][0], world_diagnostic());
	}
	/* A mistake changes nothing. */
	assert_int_equal(f->set, DNS_IPV4);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_open, world_close)
	const struct CMUnitTest tests[] = { T(values), T(a_master_and_its_workers),
					    T(unix_sockets_of_bind_lines),
					    T(sections_merge), T(switches), T(names),
					    T(stats_socket), T(ranges), T(workers),
					    T(privileged_ports), T(accepted_families) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
