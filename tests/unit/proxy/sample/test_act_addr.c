/* The actions set-src, set-dst, set-src-port and set-dst-port: arguments and effects. */
#include "proxy/sample/act_addr.h"

#include "unit/proxy/proxies_rig.h"

#include "proxy/model/addr_override.h"
#include "proxy/model/http_txn.h"
#include "unit/net/net_rig.h"

static struct world w;

static void
lines_load_or_are_refused(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "http-request set-src hdr(x)", "" },
		{ "http-request set-src src,ipmask(24) if { src 10.0.0.1 }", "" },
		{ "tcp-request connection set-dst dst", "" },
		{ "tcp-request session set-src-port int(7)", "" },
		{ "tcp-request content set-dst-port int(7)", "" },
		{ "http-request set-src", "'http-request set-src' expects <sample>." },
		{ "http-request set-src nope", "unknown fetch 'nope'" },
		{ "http-request set-src src dst", "either 'if' or 'unless'" },
		{ "tcp-request connection set-src hdr(x)", "'hdr' cannot be used here" },
		{ "http-response set-src src", "is not for" },
		{ "http-after-response set-dst src", "is not for" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		world_rule_line(rows[i].line, rows[i].says);
}

static struct engine e;
static struct session sess;
static struct stream s;
static struct listener ln;
static struct bind_conf bind_conf;

static void
has(const struct addr *a, const char *want)
{
	char text[ADDR_TEXT];

	assert_string_equal(addr_text(a, text), want);
}

/* One frontend with one rule, run on a session from 10.0.0.1:1000 to 10.0.0.9:80. */
static enum rule_result
run(const char *rule, int txn_is_there)
{
	static struct http_txn txn;
	static char text[512], room[256];
	struct arena arena = { .p = room, .cap = sizeof(room) };
	struct sample_ctx cx = { .at = SAMPLE_AT_CONN, .stream = &s, .arena = &arena };
	struct rule_outcome v = { .proxy = &s };
	const struct rule *next = NULL;
	enum rule_result r;

	(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "frontend p\n mode http\n bind :80\n"
		" default_backend b\n %s\nbackend b\n mode http\n", rule);
	world_load(&w, text);
	assert_string_equal(w.printed, "");
	memset(&txn, 0, sizeof(txn));
	sess = (struct session){ .listener = &ln };
	s = (struct stream){ .engine = &e, .txn = txn_is_there ? &txn : NULL };
	stream_join(&s, &sess, &sess.conn);
	bind_conf = (struct bind_conf){ .transparent = 0 };
	ln = (struct listener){ .bind = &bind_conf };
	s.sess->peer = addr_of("10.0.0.1:1000");
	ln.addr = addr_of("10.0.0.9:80");
	engine_addr_override_init(&e);
	r = rules_run(&world_proxy(&w, "p")->rules.own[txn_is_there ? RULE_HTTP_REQUEST
								     : RULE_TCP_SESSION],
		&next, &cx, &v);
	assert_int_equal(arena_mark(&arena), 0);
	return r;
}

static void
done(void)
{
	addr_override_free(&s);
	pool_fini(&e.pools.addr_override);
	world_fini(&w);
}

static void
is(const char *rule, const char *source, const char *destination)
{
	struct addr a;

	for (int txn = 0; txn < 2; txn++) {
		char line[256];

		(void)snprintf(line, sizeof(line), "%s %s",
			txn ? "http-request" : "tcp-request session", rule);
		assert_int_equal(run(line, txn), RULE_CONT);
		has(addr_override_source(&s), source);
		assert_int_equal(addr_override_destination(&s, &a), 0);
		has(&a, destination);
		done();
	}
}

static void
rules_set_addresses_and_ports(void **state)
{
	(void)state;
	is("set-src str(1.2.3.4)", "1.2.3.4:1000", "10.0.0.9:80");
	is("set-src str(1::2)", "[1::2]:1000", "10.0.0.9:80");
	is("set-src src,ipmask(8)", "10.0.0.0:1000", "10.0.0.9:80");
	is("set-src-port int(0)", "10.0.0.1:0", "10.0.0.9:80");
	is("set-src-port int(65535)", "10.0.0.1:65535", "10.0.0.9:80");
	is("set-dst str(1.2.3.4)", "10.0.0.1:1000", "1.2.3.4:80");
	is("set-dst-port str(81)", "10.0.0.1:1000", "10.0.0.9:81");
}

/* A value that is not an address or a port changes nothing. */
static void
invalid_values_change_nothing(void **state)
{
	(void)state;
	is("set-src str(nobody)", "10.0.0.1:1000", "10.0.0.9:80");
	is("set-src var(txn.none)", "10.0.0.1:1000", "10.0.0.9:80");
	is("set-src-port int(65536)", "10.0.0.1:1000", "10.0.0.9:80");
	is("set-dst-port int(-1)", "10.0.0.1:1000", "10.0.0.9:80");
}

/* Unix addresses have no ports. */
static void
test_unix(void **state)
{
	static const struct addr un = { .len = sizeof(un.u.un), .u.un.sun_family = AF_UNIX };
	struct rule_outcome v = { .proxy = &s };
	struct sample_ctx cx = { .at = SAMPLE_AT_CONN, .stream = &s };
	char room[64];
	struct arena arena = { .p = room, .cap = sizeof(room) };
	const struct rule *next = NULL;

	(void)state;
	cx.arena = &arena;
	assert_int_equal(run("http-request set-src-port int(7)", 1), RULE_CONT);
	s.sess->peer = un;
	s.txn->endpoints.given[ENDPOINT_SRC].len = 0;
	assert_int_equal(rules_run(&world_proxy(&w, "p")->rules.own[RULE_HTTP_REQUEST], &next, &cx,
				 &v),
		RULE_CONT);
	has(addr_override_source(&s), "0.0.0.0:7");
	done();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(rules_set_addresses_and_ports),
		cmocka_unit_test(invalid_values_change_nothing),
		cmocka_unit_test(test_unix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
