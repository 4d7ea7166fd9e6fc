#include <errno.h>
#include <string.h>

#include "base/sys.h"
#include "net/addr.h"
#include "unit/net/net_rig.h"
#include "unit/test.h"

static void
test_port(void **state)
{
	struct addr a = addr_of("127.0.0.1:80");

	(void)state;
	assert_int_equal(addr_port(&a), 80);
	addr_set_port(&a, 65535);
	assert_int_equal(addr_port(&a), 65535);
	a = addr_of("[::1]:8080");
	assert_int_equal(addr_port(&a), 8080);
	addr_set_port(&a, 1);
	assert_int_equal(addr_port(&a), 1);
	a = addr_of("/tmp/x");
	addr_set_port(&a, 99);
	assert_int_equal(addr_port(&a), 0);
	assert_string_equal(a.u.un.sun_path, "/tmp/x");
}

static void
test_text(void **state)
{
	static const struct {
		const char *given, *host, *whole;
	} t[] = {
		{ "1.2.3.4:80", "1.2.3.4", "1.2.3.4:80" },
		{ "255.255.255.255:65535", "255.255.255.255", "255.255.255.255:65535" },
		{ "[2001:db8::1]:443", "2001:db8::1", "[2001:db8::1]:443" },
		{ "[::ffff:1.2.3.4]:1", "::ffff:1.2.3.4", "[::ffff:1.2.3.4]:1" },
		{ "/run/x.sock", "unix", "unix@/run/x.sock" },
		{ "abns@name", "unix", "abns@name" },
	};
	char buf[ADDR_TEXT];
	struct addr none = { .len = 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct addr a = addr_of(t[i].given);

		assert_string_equal(addr_host_text(&a, buf), t[i].host);
		assert_string_equal(addr_text(&a, buf), t[i].whole);
	}
	assert_string_equal(addr_host_text(&none, buf), "");
	assert_string_equal(addr_text(&none, buf), "");
	assert_int_equal(addr_family(&none), AF_UNSPEC);
}

/* A path may fill sun_path without a NUL: the text is still terminated. */
static void
test_longest_path(void **state)
{
	struct addr a;
	char buf[ADDR_TEXT];

	(void)state;
	memset(&a, 0, sizeof(a));
	a.u.un.sun_family = AF_UNIX;
	memset(a.u.un.sun_path, 'p', sizeof(a.u.un.sun_path));
	a.len = sizeof(a.u.un);
	assert_int_equal(strlen(addr_text(&a, buf)), 5 + sizeof(a.u.un.sun_path));
}

static void
test_any(void **state)
{
	static const struct {
		const char *text;
		int any;
	} t[] = {
		{ "*:80", 1 },
		{ "[::]:80", 1 },
		{ "0.0.0.0", 1 },
		{ "127.0.0.1:80", 0 },
		{ "[::1]:0", 0 },
		{ "/x", 0 },
		{ "[::ffff:0:0]", 0 },
	};
	struct addr none = { .len = 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct addr a = addr_of(t[i].text);

		assert_int_equal(addr_is_any(&a), t[i].any);
	}
	assert_false(addr_is_any(&none));
}

static void
test_loopback(void **state)
{
	static const struct {
		const char *text;
		int loopback;
	} t[] = {
		{ "127.0.0.1:80", 1 }, { "127.255.0.9:1", 1 }, { "126.0.0.1:80", 0 },
		{ "128.0.0.1:80", 0 }, { "0.0.0.0:80", 0 }, { "[::1]:80", 1 }, { "[::2]:80", 0 },
		{ "[::ffff:127.0.0.2]:80", 1 }, { "[::ffff:10.0.0.1]:80", 0 },
		{ "[7f00::1]:80", 0 }, { "/a", 1 }, { "abns@a", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct addr a = addr_of(t[i].text);

		assert_int_equal(addr_is_loopback(&a), t[i].loopback);
	}
}

static void
test_equal(void **state)
{
	static const char *const all[] = { "1.2.3.4:80", "1.2.3.4:81", "1.2.3.5:80", "[::1]:80",
		"[::2]:80", "[::1]:81", "/a", "/b", "abns@a", "abns@b" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		for (size_t k = 0; k < ARRAY_LEN(all); k++) {
			struct addr a = addr_of(all[i]), b = addr_of(all[k]);

			assert_int_equal(same_addr(&a, &b), i == k);
		}
	}
}

/* Asks the kernel for the addresses of a connection over loopback. */
static void
test_from_kernel(void **state)
{
	struct sys sys;
	struct addr want = addr_of("127.0.0.1:0"), server, own, peer;
	int ln, cl, ac;

	(void)state;
	sys_init(&sys, &sys_linux, NULL);
	ln = (int)sys_socket(&sys, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(ln >= 0);
	assert_int_equal(sys_bind(&sys, ln, &want.u.sa, want.len), 0);
	assert_int_equal(sys_listen(&sys, ln, 1), 0);
	assert_int_equal(addr_of_socket(&sys, ln, &server), 0);
	assert_int_not_equal(addr_port(&server), 0);
	cl = (int)sys_socket(&sys, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(sys_connect(&sys, cl, &server.u.sa, server.len), 0);
	ac = (int)sys_accept4(&sys, ln, NULL, NULL, SOCK_CLOEXEC);
	assert_true(ac >= 0);
	assert_int_equal(addr_of_peer(&sys, cl, &peer), 0);
	assert_true(same_addr(&peer, &server));
	assert_int_equal(addr_of_socket(&sys, cl, &own), 0);
	assert_int_equal(addr_of_peer(&sys, ac, &peer), 0);
	assert_true(same_addr(&peer, &own));
	assert_int_equal(addr_of_peer(&sys, ln, &peer), -ENOTCONN);
	assert_int_equal(peer.len, 0);
	sys_close(&sys, ac);
	sys_close(&sys, cl);
	sys_close(&sys, ln);
	assert_int_equal(addr_of_socket(&sys, -1, &own), -EBADF);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_longest_path),
		cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_from_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
