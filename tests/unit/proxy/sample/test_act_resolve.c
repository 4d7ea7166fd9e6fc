/* The action do-resolve: its arguments; what it does is played from outside (tests/system). */
#include "dns/resolvers.h"
#include "unit/proxy/proxies_rig.h"

static const struct {
	const char *line;
	const char *error; /* "": none */
} lines[] = {
	{ "http-request do-resolve(txn.ip,r) hdr(host)", "" },
	{ "http-request do-resolve(txn.ip,r,ipv4) hdr(host),host_only if { method GET }", "" },
	{ "http-request do-resolve(sess.ip,r,ipv6) str(app.x)", "" },
	{ "http-request do-resolve(sess.ip,r,) str(app.x)", "" },
	{ "http-request do-resolve(txn.ip,q) hdr(host)", "unable to find resolvers section 'q'" },
	{ "http-request do-resolve(txn.ip) hdr(host)", "expects <var>,<resolvers>,[ipv4,ipv6]" },
	{ "http-request do-resolve(txn.ip,) hdr(host)", "expects <var>,<resolvers>,[ipv4,ipv6]" },
	{ "http-request do-resolve(txn.ip,r,ipv5) hdr(host)", "unknown family 'ipv5'" },
	{ "http-request do-resolve(txn.ip,r,ipv4,x) hdr(host)", "expects <var>,<resolvers>" },
	{ "http-request do-resolve(nope.ip,r) hdr(host)", "variable 'nope.ip'" },
	{ "http-request do-resolve(txn.ip,r)", "<expr>" },
	{ "http-request do-resolve hdr(host)", "is followed by '(...)'" },
	{ "tcp-request content do-resolve(txn.ip,r) req.ssl_sni", "" },
	{ "tcp-request connection do-resolve(txn.ip,r) src",
		"is not for 'tcp-request connection'" },
	{ "http-response do-resolve(txn.ip,r) src", "is not for 'http-response'" },
};

static void
arguments_are_checked(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		char text[1024];
		struct world w;

		(void)snprintf(text, sizeof(text),
			WORLD_DEFAULTS " mode http\nfrontend f\n bind 127.0.0.1:1\n %s\n"
				       "resolvers r\n nameserver n 127.0.0.1:53\n",
			lines[i].line);
		world_load(&w, text);
		if (lines[i].error[0] ? !strstr(w.printed, lines[i].error) : w.printed[0] != '\0')
			fail_msg("%s\n=> %s\nexpected: %s", text, w.printed, lines[i].error);
		/* A section that only rules use is started, too. */
		if (!lines[i].error[0])
			assert_true(proxies_find_resolvers(&w.proxies, "r")->is_asked);
		world_fini(&w);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
