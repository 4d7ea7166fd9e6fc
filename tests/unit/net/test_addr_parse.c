#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/names.h"
#include "net/addr.h"
#include "unit/test.h"

/* The resolver of this program: it knows two names and sends no query. */
int
names_host(const char *host, int family, struct sockaddr_storage *out, socklen_t *len)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	if (family == AF_INET6 || (strcmp(host, "localhost") != 0 && strcmp(host, "127.1") != 0))
		return -ERR_RESOLVE;
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(out, &in, sizeof(in));
	*len = sizeof(in);
	return 0;
}

#define BIND (ADDR_WANT_PORT | ADDR_ALLOW_RANGE | ADDR_ALLOW_FD | ADDR_ALLOW_UNIX | ADDR_ALLOW_NAME)
#define SERVER (ADDR_ALLOW_OFFSET | ADDR_ALLOW_UNIX | ADDR_ALLOW_NAME)
#define SOURCE (ADDR_ALLOW_RANGE)

struct good {
	const char *given;
	unsigned int flags;
	const char *text; /* the text form of the address */
	unsigned int lo, hi;
	int offset, has_offset;
};

static const struct good good[] = {
	{ ":80", BIND, "0.0.0.0:80", 80, 80, 0, 0 },
	{ "*:80", BIND, "0.0.0.0:80", 80, 80, 0, 0 },
	{ "0.0.0.0:1", BIND, "0.0.0.0:1", 1, 1, 0, 0 },
	{ "127.0.0.1:65535", BIND, "127.0.0.1:65535", 65535, 65535, 0, 0 },
	{ ":080", BIND, "0.0.0.0:80", 80, 80, 0, 0 },
	{ ":80-80", BIND, "0.0.0.0:80", 80, 80, 0, 0 },
	{ ":8000-8009", BIND, "0.0.0.0:8000", 8000, 8009, 0, 0 },
	{ ":1-65535", BIND, "0.0.0.0:1", 1, 65535, 0, 0 },
	{ ":::80", BIND, "[::]:80", 80, 80, 0, 0 },
	{ "::1:80", BIND, "[::1]:80", 80, 80, 0, 0 },
	{ "[::1]:80", BIND, "[::1]:80", 80, 80, 0, 0 },
	{ "[::]:80", BIND, "[::]:80", 80, 80, 0, 0 },
	{ "[127.0.0.1]:80", BIND, "127.0.0.1:80", 80, 80, 0, 0 },
	{ "2001:db8::1:443", BIND, "[2001:db8::1]:443", 443, 443, 0, 0 },
	{ "ip@:80", BIND, "0.0.0.0:80", 80, 80, 0, 0 },
	{ "ip@::1:80", BIND, "[::1]:80", 80, 80, 0, 0 },
	{ "ipv4@:80", BIND, "0.0.0.0:80", 80, 80, 0, 0 },
	{ "ipv4@*:80", BIND, "0.0.0.0:80", 80, 80, 0, 0 },
	{ "ipv6@:80", BIND, "[::]:80", 80, 80, 0, 0 },
	{ "ipv6@*:80", BIND, "[::]:80", 80, 80, 0, 0 },
	{ "ipv6@::1:80", BIND, "[::1]:80", 80, 80, 0, 0 },
	{ "tcp@:80", BIND, "0.0.0.0:80", 80, 80, 0, 0 },
	{ "tcp4@:80", BIND, "0.0.0.0:80", 80, 80, 0, 0 },
	{ "tcp6@:80", BIND, "[::]:80", 80, 80, 0, 0 },
	{ "mptcp@:80", BIND | ADDR_ALLOW_MPTCP, "0.0.0.0:80", 80, 80, 0, 0 },
	{ "mptcp@::1:80", BIND | ADDR_ALLOW_MPTCP, "[::1]:80", 80, 80, 0, 0 },
	{ "mptcp4@:80-81", BIND | ADDR_ALLOW_MPTCP, "0.0.0.0:80", 80, 81, 0, 0 },
	{ "mptcp6@:80", BIND | ADDR_ALLOW_MPTCP, "[::]:80", 80, 80, 0, 0 },
	{ "stream+ipv4@:80", BIND, "0.0.0.0:80", 80, 80, 0, 0 },
	{ "stream+tcp@:80", BIND, "0.0.0.0:80", 80, 80, 0, 0 },
	{ "stream+unix@/x", BIND, "unix@/x", 0, 0, 0, 0 },
	{ "localhost:80", BIND, "127.0.0.1:80", 80, 80, 0, 0 },
	{ "ipv4@localhost:80", BIND, "127.0.0.1:80", 80, 80, 0, 0 },
	{ "127.1:80", BIND, "127.0.0.1:80", 80, 80, 0, 0 },
	{ "/run/x.sock", BIND, "unix@/run/x.sock", 0, 0, 0, 0 },
	{ "/run/a:80", BIND, "unix@/run/a:80", 0, 0, 0, 0 },
	{ "unix@x.sock", BIND, "unix@x.sock", 0, 0, 0, 0 },
	{ "unix@/x", BIND, "unix@/x", 0, 0, 0, 0 },
	{ "abns@svc", BIND, "abns@svc", 0, 0, 0, 0 },
	{ "127.0.0.1", SERVER, "127.0.0.1:0", 0, 0, 0, 1 },
	{ "127.0.0.1:", SERVER, "127.0.0.1:0", 0, 0, 0, 1 },
	{ "127.0.0.1:80", SERVER, "127.0.0.1:80", 80, 80, 0, 0 },
	{ "127.0.0.1:0", SERVER, "127.0.0.1:0", 0, 0, 0, 1 },
	{ "127.0.0.1:+80", SERVER, "127.0.0.1:0", 0, 0, 80, 1 },
	{ "127.0.0.1:-80", SERVER, "127.0.0.1:0", 0, 0, -80, 1 },
	{ "127.0.0.1:+0", SERVER, "127.0.0.1:0", 0, 0, 0, 1 },
	{ "[::1]", SERVER, "[::1]:0", 0, 0, 0, 1 },
	{ "[::1]:+1", SERVER, "[::1]:0", 0, 0, 1, 1 },
	{ "*", SERVER, "0.0.0.0:0", 0, 0, 0, 1 },
	{ ":80", SERVER, "0.0.0.0:80", 80, 80, 0, 0 },
	{ "/run/y", SERVER, "unix@/run/y", 0, 0, 0, 0 },
	{ "abns@y", SERVER, "abns@y", 0, 0, 0, 0 },
	{ "localhost", SERVER, "127.0.0.1:0", 0, 0, 0, 1 },
	{ "10.0.0.1", SOURCE, "10.0.0.1:0", 0, 0, 0, 0 },
	{ "10.0.0.1:0", SOURCE, "10.0.0.1:0", 0, 0, 0, 0 },
	{ "10.0.0.1:1024-2048", SOURCE, "10.0.0.1:1024", 1024, 2048, 0, 0 },
	{ "*", SOURCE, "0.0.0.0:0", 0, 0, 0, 0 },
	{ "[2001:db8::7]", SOURCE, "[2001:db8::7]:0", 0, 0, 0, 0 },
	{ "10.0.0.1", ADDR_NO_PORT, "10.0.0.1:0", 0, 0, 0, 0 },
};

static void
test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		const struct good *g = &good[i];
		struct addr_spec spec;
		const char *why = "";
		char buf[ADDR_TEXT];
		int r = addr_parse(g->given, g->flags, &spec, &why);

		if (r < 0)
			fail_msg("\"%s\": %s", g->given, why);
		if (strcmp(addr_text(&spec.addr, buf), g->text) != 0 || spec.port_lo != g->lo ||
			spec.port_hi != g->hi || spec.port_offset != g->offset ||
			spec.has_offset != g->has_offset || spec.fd != -1)
			fail_msg("\"%s\": %s %u-%u %d %d", g->given, buf, spec.port_lo,
				spec.port_hi, spec.port_offset, spec.has_offset);
	}
}

struct bad {
	const char *given;
	unsigned int flags;
	int reason;
};

static const struct bad bad[] = {
	{ "", BIND, ERR_SYNTAX },
	{ ":", BIND, ERR_MISSING },
	{ "::", BIND, ERR_MISSING },
	{ "1.2.3.4", BIND, ERR_MISSING },
	{ "[::1]", BIND, ERR_MISSING },
	{ "[::1]80", BIND, ERR_MISSING },
	{ "@foo", BIND, ERR_MISSING },
	{ "[::1:80", BIND, ERR_SYNTAX },
	{ "::1", BIND, ERR_SYNTAX },
	{ ":0", BIND, ERR_RANGE },
	{ ":65536", BIND, ERR_RANGE },
	{ ":2147483648", BIND, ERR_RANGE },
	{ ":4294967376", BIND, ERR_RANGE },
	{ ":9223372036854775888", BIND, ERR_RANGE },
	{ ":1e99", BIND, ERR_RANGE },
	{ ":80x", BIND, ERR_RANGE },
	{ ":http", BIND, ERR_RANGE },
	{ ": 80", BIND, ERR_RANGE },
	{ ":90-80", BIND, ERR_RANGE },
	{ ":0-80", BIND, ERR_RANGE },
	{ ":80-", BIND, ERR_RANGE },
	{ ":80-90-100", BIND, ERR_RANGE },
	{ ":80-65536", BIND, ERR_RANGE },
	{ ":-80", BIND, ERR_INVAL },
	{ ":+80", BIND, ERR_INVAL },
	{ "ipv4@::1:80", BIND, ERR_SYNTAX },
	{ "ipv6@127.0.0.1:80", BIND, ERR_RESOLVE },
	{ "1.2.3.256:80", BIND, ERR_RESOLVE },
	{ "foo@:80", BIND, ERR_RESOLVE },
	{ "no such host:80", BIND, ERR_RESOLVE },
	{ "fd@", BIND, ERR_SYNTAX },
	{ "fd@x", BIND, ERR_SYNTAX },
	{ "fd@-1", BIND, ERR_SYNTAX },
	{ "fd@2147483648", BIND, ERR_SYNTAX },
	{ "fd@3x", BIND, ERR_SYNTAX },
	{ "unix@", BIND, ERR_SYNTAX },
	{ "abns@", BIND, ERR_SYNTAX },
	{ "udp@:80", BIND, ERR_UNSUPPORTED },
	{ "dgram+ipv4@:80", BIND, ERR_UNSUPPORTED },
	{ "quic4@:443", BIND, ERR_UNSUPPORTED },
	{ "mptcp@:443", BIND, ERR_UNSUPPORTED },
	{ "mptcp6@1.2.3.4:443", BIND | ADDR_ALLOW_MPTCP, ERR_RESOLVE },
	{ "mptcp@1.2.3.4", BIND | ADDR_ALLOW_MPTCP, ERR_MISSING },
	{ "sockpair@4", BIND, ERR_UNSUPPORTED },
	{ "abnsz@x", BIND, ERR_UNSUPPORTED },
	{ "rhttp@x", SERVER, ERR_UNSUPPORTED },
	{ "127.0.0.1:80-90", SERVER, ERR_INVAL },
	{ "127.0.0.1:65536", SERVER, ERR_RANGE },
	{ "127.0.0.1:+70000", SERVER, ERR_RANGE },
	{ "127.0.0.1:-70000", SERVER, ERR_RANGE },
	{ "127.0.0.1:+", SERVER, ERR_RANGE },
	{ "127.0.0.1:-", SERVER, ERR_RANGE },
	{ "127.0.0.1:+8x", SERVER, ERR_RANGE },
	{ "127.0.0.1:8x", SERVER, ERR_RANGE },
	{ "::1", SERVER, ERR_SYNTAX },
	{ "fd@3", SERVER, ERR_INVAL },
	{ "10.0.0.1:+1", SOURCE, ERR_INVAL },
	{ "/x", SOURCE, ERR_INVAL },
	{ "localhost", SOURCE, ERR_SYNTAX },
	{ "10.0.0.1:80", ADDR_NO_PORT, ERR_INVAL },
};

static void
test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct addr_spec spec;
		const char *why = NULL;
		int r = addr_parse(bad[i].given, bad[i].flags, &spec, &why);

		if (r != -bad[i].reason)
			fail_msg("\"%s\": %s", bad[i].given, err_text(r));
		assert_non_null(why);
		assert_true(strlen(why) > 8);
	}
}

static void
test_fd(void **state)
{
	struct addr_spec spec;
	const char *why;

	(void)state;
	assert_int_equal(addr_parse("fd@7", BIND, &spec, &why), 0);
	assert_int_equal(spec.kind, ADDR_FD);
	assert_int_equal(spec.fd, 7);
	assert_int_equal(spec.addr.len, 0);
	assert_int_equal(addr_parse("fd@2147483647", BIND, &spec, &why), 0);
	assert_int_equal(spec.fd, 0x7fffffff);
}

/* struct sockaddr_un holds 107 bytes of a path and a NUL, and as many of an abstract name after its
 * NUL. */
static void
test_unix_bounds(void **state)
{
	struct addr_spec spec;
	const char *why;
	char text[200];

	(void)state;
	for (unsigned int n = 106; n <= 109; n++) {
		snprintf(text, sizeof(text), "unix@%0*d", (int)n, 7);
		assert_int_equal(addr_parse(text, BIND, &spec, &why), n <= 107 ? 0 : -ERR_RANGE);
		snprintf(text, sizeof(text), "abns@%0*d", (int)n, 7);
		assert_int_equal(addr_parse(text, BIND, &spec, &why), n <= 107 ? 0 : -ERR_RANGE);
	}
	assert_int_equal(addr_parse("abns@a", BIND, &spec, &why), 0);
	assert_int_equal(spec.addr.len, sizeof(struct sockaddr_un));
	assert_int_equal(spec.addr.u.un.sun_path[0], 0);
	assert_int_equal(spec.addr.u.un.sun_path[1], 'a');
	assert_int_equal(spec.addr.u.un.sun_path[2], 0);
}

/* A name that is too long for a host is rejected before it reaches the resolver. */
static void
test_long_host(void **state)
{
	struct addr_spec spec;
	const char *why;
	char text[400];

	(void)state;
	memset(text, 'a', 300);
	memcpy(text + 300, ":80", 4);
	assert_int_equal(addr_parse(text, BIND, &spec, &why), -ERR_RANGE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_fd),
		cmocka_unit_test(test_unix_bounds),
		cmocka_unit_test(test_long_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
