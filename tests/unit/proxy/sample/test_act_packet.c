/* The actions set-mark, set-nice and set-tos: their arguments and places. What they do:
 * tests/system/test_oracle_packets.py. */
#include "proxy/sample/act_packet.h"

#include "unit/proxy/proxies_rig.h"

static void
lines_load_or_are_refused(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "tcp-request connection set-tos 0", "" },
		{ "tcp-request session set-tos 255", "" },
		{ "tcp-request content set-tos 0xfF if { src 10.0.0.1 }", "" },
		{ "http-request set-tos 0X10", "" },
		{ "http-response set-tos 8", "" },
		{ "tcp-request connection set-mark 4294967295", "" },
		{ "http-response set-mark 0xffffffff", "" },
		{ "http-request set-tos", ":10:22] : 'http-request set-tos' expects <tos>." },
		{ "http-request set-tos 256", ":10:23] : 'http-request set-tos' : '256' is no "
			"number from 0 to 255, in decimal digits or, after 0x, hexadecimal ones." },
		{ "http-request set-tos -1", "'-1' is no number" },
		{ "http-request set-tos +1", "'+1' is no number" },
		{ "http-request set-tos 0x", "'0x' is no number" },
		{ "http-request set-tos 0x1g", "'0x1g' is no number" },
		{ "http-request set-tos 012", "'012' is no number" },
		{ "http-request set-tos 12a", "'12a' is no number" },
		{ "http-request set-tos 1 2", "either 'if' or 'unless'" },
		{ "http-request set-mark 4294967296", "number from 0 to 4294967295" },
		{ "http-request set-mark 99999999999999999999", "number from 0 to 4294967295" },
		{ "http-request set-fc-tos 0x10", "" },
		{ "tcp-request connection set-fc-mark 5", "" },
		{ "http-request set-fc-mark src_port,add(3)", "" },
		{ "http-response set-fc-tos int(3) if TRUE", "" },
		{ "http-request set-fc-tos 256", "'256' is no number from 0 to 255" },
		{ "http-request set-fc-mark nothing", "unknown fetch 'nothing'" },
		{ "http-request set-fc-mark", "expects <mark>|<sample>" },
		{ "http-request set-bc-mark 1", "" },
		{ "tcp-request content set-bc-tos src_port", "" },
		{ "http-request set-bc-tos 256", "'256' is no number from 0 to 255" },
		{ "http-response set-bc-tos 1", "is not for 'http-response'" },
		{ "tcp-request connection set-bc-mark 1", "is not for" },
		{ "http-after-response set-tos 1", ":10:22] : action" },
		{ "http-request set-nice 1024", "'http-request set-nice' has no effect" },
		{ "tcp-request content set-nice -5 if TRUE", "has no effect" },
		{ "http-request set-nice x", "'x'" },
		{ "http-request set-nice", "expects <nice>" },
		{ "tcp-request connection set-nice 5", "is not for" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		world_rule_line(rows[i].line, rows[i].says);
}

/* The process has to keep a capability for its rules. */
static void
test_marks_are_known(void **state)
{
	static const struct {
		const char *lines;
		int sets;
	} rows[] = {
		{ "", 0 },
		{ " http-request set-tos 8\n", 0 },
		{ " http-request set-mark 0\n", 1 },
		{ " http-request set-fc-tos 8\n", 0 },
		{ " http-request set-fc-mark 8\n", 1 },
		{ " http-request set-bc-tos 8\n", 0 },
		{ " http-request set-bc-mark 8\n", 1 },
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;

		(void)snprintf(text, sizeof(text), "defaults d\n mode http\n timeout client 1s\n"
			"%sfrontend p from d\n bind :80\n default_backend b\n"
			"defaults\n mode http\n timeout connect 1s\n timeout server 1s\n"
			"backend b\n", rows[i].lines);
		world_good(&w, text);
		assert_int_equal(w.proxies.sets_mark, rows[i].sets);
		world_fini(&w);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(test_marks_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
