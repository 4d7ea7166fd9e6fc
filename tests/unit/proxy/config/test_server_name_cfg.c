/* Servers with a name: options, and their initial address. The C library's resolver is replaced. */
#include <arpa/inet.h>

#include "base/err.h"
#include "base/names.h"
#include "dns/resolvers.h"
#include "unit/proxy/proxies_rig.h"

static unsigned int asked;

int __wrap_names_host(const char *host, int family, struct sockaddr_storage *out, socklen_t *len);

int
__wrap_names_host(const char *host, int family, struct sockaddr_storage *out, socklen_t *len)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	asked++;
	if (family == AF_INET6 || strcmp(host, "known.x") != 0)
		return -ERR_RESOLVE;
	in.sin_addr.s_addr = htonl(0x0a000001);
	memcpy(out, &in, sizeof(in));
	*len = sizeof(in);
	return 0;
}

#define SECTION "resolvers r\n nameserver n 127.0.0.1:53\n"

static const struct world_line lines[] = {
	{ "server s known.x:80", NULL },
	{ "server s unknown.x:80", "could not resolve address 'unknown.x'" },
	{ "server s unknown.x:80 init-addr last,libc", "could not resolve address 'unknown.x'" },
	{ "server s unknown.x:80 init-addr last,libc,none",
		"could not resolve address 'unknown.x', disabling server" },
	{ "server s unknown.x:80 init-addr none", NULL },
	{ "server s unknown.x:80 init-addr last",
		"no method found to resolve address 'unknown.x'" },
	{ "server s unknown.x:80 init-addr 10.0.0.9", NULL },
	{ "server s unknown.x:80 init-addr libc,::1", NULL },
	{ "server s unknown.x:80 init-addr foo", "unknown init-addr method 'foo'" },
	{ "server s unknown.x:80 init-addr 10.0.0.1,10.0.0.2",
		"initial address already specified, cannot add '10.0.0.2'" },
	{ "server s known.x:80 resolvers r", NULL },
	{ "server s unknown.x:80 resolvers r",
		"could not resolve address 'unknown.x', disabling server" },
	{ "server s unknown.x:80 resolvers r init-addr last,libc",
		"could not resolve address 'unknown.x'." },
	{ "server s known.x:80 resolvers q",
		"proxy 'b', server 's': unable to find required resolvers 'q'" },
	{ "server s 10.0.0.1:80 resolvers q",
		"proxy 'b', server 's': unable to find required resolvers 'q'" },
	{ "server s known.x:80 resolve-prefer ipv4", NULL },
	{ "server s known.x:80 resolve-prefer x", "ipv4" },
	{ "server s known.x:80 resolve-net 10.0.0.0/8,2001:db8::/32", NULL },
	{ "server s known.x:80 resolve-net 10.0.0.0/8,x", "'resolve-net' invalid network 'x'" },
	{ "server s known.x:80 resolve-net 1.0.0.0/8,2.0.0.0/8,3.0.0.0/8,4.0.0.0/8,5.0.0.0/8,"
	  "6.0.0.0/8",
		"'resolve-net' exceed 5 networks" },
	{ "server s known.x:80 resolve-opts allow-dup-ip,ignore-weight,prevent-dup-ip", NULL },
	{ "server s known.x:80 resolve-opts x", "unknown resolve-opts option 'x'" },
	{ "server s _http._tcp.x resolvers r", NULL },
	/* The port of its checks may come later, with the address. */
	{ "server s unknown.x:80 init-addr none check", NULL },
	{ "server-template s 2 _http._tcp.x resolvers r check", NULL },
	{ "server s _http._tcp.x", "no method found to resolve address '_http._tcp.x'" },
	{ "default-server init-addr none resolvers r resolve-prefer ipv4", NULL },
	{ "server-template s 3 unknown.x:80", "'server b/s1' : could not resolve address" },
};

static void
lines_say_what_is_wrong(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		char text[2048];
		struct world w;

		(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "backend b\n %s\n" SECTION,
			lines[i].line);
		world_load(&w, text);
		if (lines[i].error ? !strstr(w.printed, lines[i].error) : w.printed[0] != '\0')
			fail_msg("%s\n=> %s\nexpected: %s", text, w.printed,
				lines[i].error ? lines[i].error : "nothing");
		world_fini(&w);
	}
}

static void
expect_addr(const struct server *s, const char *text, int unresolved)
{
	char shown[ADDR_TEXT], status[SERVER_STATUS_MAX];
	struct addr a;

	(void)addr_cell_get(&s->addr, &a);
	assert_string_equal(addr_text(&a, shown), text);
	assert_int_equal(server_is_unresolved(s), unresolved);
	assert_int_equal(server_is_usable(s), !unresolved);
	assert_string_equal(server_status_text(s, status),
		unresolved ? "MAINT (resolution)" : "no check");
}

static void
init_addr_is_tried_in_order(void **st)
{
	struct proxy *p;
	struct world w;

	(void)st;
	world_good(&w, WORLD_DEFAULTS "backend b\n"
		" server a known.x:80 init-addr 10.0.0.9,libc\n"
		" server b unknown.x:81 init-addr libc,[::1]\n"
		" server c known.x:82 init-addr none\n"
		" server d known.x:83\n"
		" server e _http._tcp.x resolvers r\n"
		" server f _http._tcp.x:84 resolvers r\n" SECTION);
	p = world_proxy(&w, "b");
	expect_addr(world_server(p, 0), "10.0.0.9:80", 0);
	expect_addr(world_server(p, 1), "[::1]:81", 0);
	expect_addr(world_server(p, 2), "", 1);
	expect_addr(world_server(p, 3), "10.0.0.1:83", 0);
	expect_addr(world_server(p, 4), "", 1);
	expect_addr(world_server(p, 5), "", 1);
	assert_string_equal(world_server(p, 2)->fqdn, "known.x");
	assert_string_equal(world_server(p, 4)->resolvers->name, "r");
	/* The client's port applies to servers without SRV records. */
	assert_int_equal(world_server(p, 4)->spec.has_offset, 0);
	assert_null(world_server(p, 3)->resolvers);
	world_fini(&w);
}

static void
a_template_asks_once(void **st)
{
	struct proxy *p;
	struct world w;

	(void)st;
	asked = 0;
	world_good(&w, WORLD_DEFAULTS "backend b\n"
		" default-server resolve-opts ignore-weight\n"
		" server-template s 9-11 known.x:80 weight 7\n");
	p = world_proxy(&w, "b");
	assert_int_equal(asked, 1);
	assert_int_equal(p->n_servers, 3);
	assert_string_equal(world_server(p, 0)->name, "s9");
	assert_string_equal(world_server(p, 2)->name, "s11");
	for (unsigned int i = 0; i < 3; i++) {
		const struct server *s = world_server(p, i);

		expect_addr(s, "10.0.0.1:80", 0);
		assert_int_equal(s->uweight, 7);
		assert_int_equal(s->conf.resolve.opts, RESOLVE_IGNORE_WEIGHT);
		assert_string_equal(s->fqdn, "known.x");
	}
	world_fini(&w);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_say_what_is_wrong),
		cmocka_unit_test(init_addr_is_tried_in_order),
		cmocka_unit_test(a_template_asks_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
