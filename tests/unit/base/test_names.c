#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/names.h"
#include "unit/test.h"

static void
test_host(void **state)
{
	struct sockaddr_storage ss;
	struct sockaddr_in *in = (struct sockaddr_in *)&ss;
	socklen_t len = 0;
	char longest[65];

	(void)state;
	assert_int_equal(names_host("127.0.0.1", AF_UNSPEC, &ss, &len), 0);
	assert_int_equal(ss.ss_family, AF_INET);
	assert_int_equal(len, sizeof(*in));
	assert_int_equal(ntohl(in->sin_addr.s_addr), INADDR_LOOPBACK);
	assert_int_equal(names_host("::1", AF_INET6, &ss, &len), 0);
	assert_int_equal(ss.ss_family, AF_INET6);
	assert_int_equal(names_host("::1", AF_INET, &ss, &len), -ERR_RESOLVE);
	/* A label of 64 bytes is invalid: no query is sent. */
	memset(longest, 'a', 64);
	longest[64] = '\0';
	assert_int_equal(names_host(longest, AF_UNSPEC, &ss, &len), -ERR_RESOLVE);
}

static void
test_accounts(void **state)
{
	uid_t uid = 77;
	gid_t gid = 77;

	(void)state;
	assert_int_equal(names_user("root", &uid), 0);
	assert_int_equal(uid, 0);
	assert_int_equal(names_group("root", &gid), 0);
	assert_int_equal(gid, 0);
	uid = gid = 77;
	assert_int_equal(names_user("no such user", &uid), -ERR_UNKNOWN);
	assert_int_equal(names_group("no such group", &gid), -ERR_UNKNOWN);
	assert_int_equal(uid, 77);
	assert_int_equal(gid, 77);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_accounts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
