/* Names of certificates that cover a host, as HAProxy 2.6 has them. */
#include "tls/connect.h"

#include "base/compiler.h"
#include "unit/test.h"
/* The unit itself, instead of the library's. */
#include "tls/connect.c"

static void
test_covers(void **state)
{
	static const struct {
		const char *name, *host;
		int covers;
	} t[] = {
		{ "host.lan", "host.lan", 1 },
		{ "HOST.lan", "host.LAN", 1 },
		{ "host.lan", "host.lan.", 0 },
		{ "host.lan", ".lan", 0 },
		{ "foo.a.test", ".a.test", 0 },
		{ ".a.test", "foo.a.test", 0 },
		{ "", "", 1 },
		{ "a", "", 0 },
		/* one label */
		{ "*.lan", "host.lan", 1 },
		{ "*.lan", "HOST.LAN", 1 },
		{ "*.lan", "lan", 0 },
		{ "*.lan", ".lan", 0 },
		{ "*.lan", "a.b.lan", 0 },
		{ "*", "lan", 0 },
		{ "*.", "lan", 0 },
		{ "*.a.test", "foo.a.test", 1 },
		{ "*.a.test", "bar.foo.a.test", 0 },
		{ "*.a.test", "a.test", 0 },
		{ "*.0.0.1", "127.0.0.1", 1 },
		/* a part of it */
		{ "f*.a.test", "foo.a.test", 1 },
		{ "f*.a.test", "f.a.test", 1 },
		{ "f*.a.test", "bar.a.test", 0 },
		{ "*o.a.test", "foo.a.test", 1 },
		{ "f*o.a.test", "fo.a.test", 1 },
		{ "f*o.a.test", "f.a.test", 0 },
		{ "fo*of.a.test", "foof.a.test", 1 },
		{ "fo*of.a.test", "fof.a.test", 0 },
		{ "xn--*.a.test", "xn--foo.a.test", 1 },
		/* not the first one */
		{ "foo.*.test", "foo.a.test", 0 },
		{ "*.*.test", "foo.a.test", 0 },
		{ "foo.a*.test", "foo.a.test", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		if (tls_name_covers(t[i].name, t[i].host) != t[i].covers)
			fail_msg("%s, %s", t[i].name, t[i].host);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_covers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
