/* Messages of checks that end without a verdict of an expect rule, as in HAProxy 2.6. */
#include "proxy/check/check_text.h"
#include "unit/proxy/proxies_rig.h"

#define T " option tcp-check\n"
#define REFUSED "Connection refused"
#define RESET "Connection reset by peer"

static void
test_steps(void **state)
{
	static const struct {
		const char *lines;
		enum check_rule_kind kind;
		const char *why, *text;
	} all[] = {
		{ "", CHECK_RULE_CONNECT, REFUSED, REFUSED },
		{ T, CHECK_RULE_CONNECT, REFUSED,
			REFUSED " at initial connection step of tcp-check" },
		{ T " tcp-check connect\n", CHECK_RULE_CONNECT, REFUSED,
			REFUSED " at step 1 of tcp-check (connect)" },
		{ T " tcp-check connect port 443\n", CHECK_RULE_CONNECT, REFUSED,
			REFUSED " at step 1 of tcp-check (connect port 443)" },
		{ T " tcp-check connect port 443 comment hi\n", CHECK_RULE_CONNECT, REFUSED,
			REFUSED " at step 1 of tcp-check (connect port 443) comment: 'hi'" },
		{ T " tcp-check set-var(check.p) int(1)\n tcp-check connect port var(check.p)\n",
			CHECK_RULE_CONNECT, REFUSED, REFUSED " at step 2 of tcp-check (connect)" },
		{ T " tcp-check send b\n", CHECK_RULE_SEND, RESET,
			RESET " at step 1 of tcp-check (send)" },
		{ T " tcp-check expect string x\n", CHECK_RULE_EXPECT, RESET,
			RESET " at step 1 of tcp-check (expect string 'x')" },
		{ T " tcp-check expect string x\n", CHECK_RULE_EXPECT, "",
			" at step 1 of tcp-check (expect string 'x')" },
		{ T " tcp-check comment c\n tcp-check expect rstring x\n", CHECK_RULE_EXPECT, "",
			" at step 2 of tcp-check (expect regex) comment: 'c'" },
		{ T " tcp-check expect binary 610062\n", CHECK_RULE_EXPECT, "",
			" at step 1 of tcp-check (expect binary 'a')" },
		{ T " tcp-check expect rbinary 61\n", CHECK_RULE_EXPECT, "",
			" at step 1 of tcp-check (expect binary regex)" },
		{ T " tcp-check expect string-lf x\n", CHECK_RULE_EXPECT, "",
			" at step 1 of tcp-check (expect log-format string)" },
		{ T " tcp-check expect binary-lf 61\n", CHECK_RULE_EXPECT, "",
			" at step 1 of tcp-check (expect log-format binary)" },
		{ " option httpchk\n http-check connect comment hi\n", CHECK_RULE_CONNECT, REFUSED,
			REFUSED },
		{ " option httpchk\n", CHECK_RULE_EXPECT, "", "" },
		{ " option redis-check\n", CHECK_RULE_EXPECT, RESET, RESET },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		char text[CHECK_INFO_MAX];
		struct check_rig r;

		check_rig_load(&r, all[i].lines);
		check_step_text(r.conf->method, check_rig_rule(&r, all[i].kind, 0), all[i].why,
			text);
		assert_string_equal(text, all[i].text);
		check_rig_fini(&r);
	}
}

static void
test_timeouts(void **state)
{
	struct check_rig r;

	(void)state;
	check_rig_load(&r, T " tcp-check connect\n tcp-check send x\n tcp-check expect string x\n"
			" tcp-check expect string y tout-status L4TOUT\n");
	assert_int_equal(check_timeout_status(check_rig_rule(&r, CHECK_RULE_CONNECT, 0)),
		CHECK_L4TOUT);
	assert_int_equal(check_timeout_status(check_rig_rule(&r, CHECK_RULE_SEND, 0)),
		CHECK_L7TOUT);
	assert_int_equal(check_timeout_status(check_rig_rule(&r, CHECK_RULE_EXPECT, 0)),
		CHECK_L7TOUT);
	assert_int_equal(check_timeout_status(check_rig_rule(&r, CHECK_RULE_EXPECT, 1)),
		CHECK_L4TOUT);
	check_rig_fini(&r);
}

static void
test_passed(void **state)
{
	static const struct {
		const char *lines;
		enum check_rule_kind kind;
		int is_tls;
		enum check_status status;
		const char *info;
	} all[] = {
		{ "", CHECK_RULE_CONNECT, 0, CHECK_L4OK, "" },
		{ "", CHECK_RULE_CONNECT, 1, CHECK_L6OK, "" },
		{ T, CHECK_RULE_CONNECT, 0, CHECK_L4OK, "" },
		{ T " tcp-check connect\n", CHECK_RULE_CONNECT, 0, CHECK_L4OK, "(tcp-check)" },
		{ T " tcp-check connect ssl\n", CHECK_RULE_CONNECT, 1, CHECK_L6OK, "(tcp-check)" },
		{ T " tcp-check send a\n", CHECK_RULE_SEND, 1, CHECK_L7OK, "(tcp-check)" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct check_verdict v;
		struct check_rig r;

		check_rig_load(&r, all[i].lines);
		check_passed(r.conf->method, check_rig_rule(&r, all[i].kind, 0), all[i].is_tls,
			&v);
		assert_int_equal(v.status, all[i].status);
		assert_string_equal(v.info, all[i].info);
		check_rig_fini(&r);
	}
}

static void
test_send_failed(void **state)
{
	struct check_verdict v;
	struct check_rig r;

	(void)state;
	check_rig_load(&r, T " tcp-check connect\n tcp-check send-binary-lf zz\n");
	check_send_failed(CHECK_TCP, check_rig_rule(&r, CHECK_RULE_SEND, 0), &v);
	assert_int_equal(v.status, CHECK_L7RSP);
	assert_string_equal(v.info,
		"tcp-check send : failed to build log-format string at step 2");
	check_rig_fini(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_timeouts),
		cmocka_unit_test(test_passed),
		cmocka_unit_test(test_send_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
