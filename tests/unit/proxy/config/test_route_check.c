#include "unit/proxy/proxies_rig.h"

#include "proxy/sample/route.h"

#define TWO "backend a\n server s 127.0.0.1:1\nbackend b\n server s 127.0.0.1:1\n"

static const struct proxy *
frontend(struct world *w, const char *lines)
{
	char text[1000];

	(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "frontend f\n bind :1\n %s\n" TWO,
		lines);
	world_load(w, text);
	return world_proxy(w, "f");
}

/* True if sessions in mode tcp must read data before a backend is chosen. */
static void
rules_that_need_the_clients_data(void **state)
{
	static const struct {
		const char *lines;
		int looks;
	} t[] = {
		{ "use_backend a if { src 10.0.0.0/8 }", 0 },
		{ "use_backend a if { req.len gt 5 }", 1 },
		{ "use_backend a if { payload(0,1) -m found }", 1 },
		{ "use_backend a if { path /x } or { src 10.0.0.1 }", 1 },
		{ "acl x hdr(host) y\n use_backend a if TRUE\n use_backend b if x", 1 },
		{ "use_backend %[req.payload(0,1)]", 1 },
		{ "use_backend %[src]", 0 },
		{ "mode http\n use_backend %[path]", 0 },
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(frontend(&w, t[i].lines)->route_looks, t[i].looks);
		world_fini(&w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_that_need_the_clients_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
