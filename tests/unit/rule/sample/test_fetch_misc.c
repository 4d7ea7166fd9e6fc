#include "unit/rule/expr_rig.h"

static struct expr_rig rig;

static int
setup(void **state)
{
	(void)state;
	rig_init(&rig);
	assert_int_equal(cfg_env_set(&rig.env, "HOME", "/home"), 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rig_fini(&rig);
	return 0;
}

#define IS(text, result) assert_string_equal(rig_eval(&rig, text), result)

static void
constants_are_themselves(void **state)
{
	(void)state;
	IS("always_true", "1");
	IS("always_false", "0");
	IS("str(a b)", "a b");
	IS("str()", "");
	IS("str", "");
	IS("str,length", "0");
	IS("int(-12)", "-12");
	IS("int()", "4: 'int' needs an integer as argument 1");
	IS("bool(true)", "1");
	IS("bool(0)", "0");
	IS("bool(1)", "1");
	IS("bool(2)", "5: 'bool': it takes 'true', 'false', '1' or '0'");
	IS("bin(0a0B)", "0A0B");
	IS("bin(0)", "4: 'bin': it takes an even number of hexadecimal digits");
	IS("bin(zz)", "4: 'bin': it takes an even number of hexadecimal digits");
	IS("ipv4(1.2.3.4)", "1.2.3.4");
	IS("ipv6(1::2)", "1::2");
	IS("meth(get)", "get");
	IS("meth", "");
	IS("nbproc", "1");
	IS("proc", "1");
}

static void
fetches_of_the_process_are_found(void **state)
{
	(void)state;
	IS("env(HOME)", "/home");
	IS("env(NOPE)", "(none)");
	IS("env", "(none)");
	IS("env()", "(none)");
	IS("hostname", "vm");
	rig.vocab.hostname = NULL;
	rig.vocab.env = NULL;
	IS("hostname", "(none)");
	IS("env(HOME)", "(none)");
	rig.cx.worker = 3;
	IS("thread", "3");
}

static void
time_of_day(void **state)
{
	(void)state;
	IS("date", "1700000000");
	IS("date(-100)", "1699999900");
	IS("date(0,s)", "1700000000");
	IS("date(5,ms)", "1700000000128");
	IS("date(,us)", "1700000000123456");
	IS("date(0,x)", "7: 'date': the unit is 's', 'ms' or 'us'");
	IS("date(9223372036854775807)", "(none)");
	IS("date_us", "123456");
}

static void
random_fetches_are_in_their_range(void **state)
{
	static const char pattern[] = "xxxxxxxx-xxxx-4xxx-?xxx-xxxxxxxxxxxx";
	char first[64];
	unsigned int seen = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		const char *t = rig_eval(&rig, "rand(4)");

		assert_true(strlen(t) == 1 && t[0] >= '0' && t[0] < '4');
		seen |= 1u << (t[0] - '0');
		IS("rand(1)", "0");
	}
	assert_int_equal(seen, 15);
	IS("rand(0)", "5: 'rand': the range is 1 to 4294967296");
	IS("rand(4294967297)", "5: 'rand': the range is 1 to 4294967296");
	snprintf(first, sizeof(first), "%s", rig_eval(&rig, "rand"));
	assert_string_not_equal(first, rig_eval(&rig, "rand"));
	for (int i = 0; i < 1000; i++) {
		snprintf(first, sizeof(first), "%s", rig_eval(&rig, "uuid"));
		assert_int_equal(strlen(first), sizeof(pattern) - 1);
		for (size_t k = 0; first[k]; k++) {
			const char *set = pattern[k] == 'x' ? "0123456789abcdef"
				: pattern[k] == '?'         ? "89ab"
							    : "-4";

			assert_non_null(strchr(set, first[k]));
			assert_int_equal(first[k] == '-', pattern[k] == '-');
		}
		assert_string_not_equal(first, rig_eval(&rig, "uuid(4)"));
	}
	/* All of it comes from the kernel. */
	rig.random.source.left = RANDOM_BUFFER;
	memset(rig.random.source.buf, 0xff, RANDOM_BUFFER);
	IS("uuid", "ffffffff-ffff-4fff-bfff-ffffffffffff");
	IS("rand(10)", "9");
	IS("uuid(3)", "5: 'uuid': only version 4 is supported");
	rig.arena.cap = 35;
	IS("uuid", "(none)");
	rig.arena.cap = RIG_ARENA;
}

static void
variables_are_fetched(void **state)
{
	struct sample s = { .type = SAMPLE_SINT, .u.sint = 5 };
	struct var_name n;
	const char *why;

	(void)state;
	IS("var(txn.x)", "(none)");
	IS("var(txn.x,def)", "def");
	IS("var(txn.x,)", "");
	assert_int_equal(var_name_parse(STR("txn.x"), &n, &why), 0);
	assert_int_equal(var_store(&rig.cx, n, &s), 0);
	IS("var(txn.x)", "5");
	IS("var(txn.x,def)", "5");
	IS("var(req.x,def)", "def");
	IS("var(x)",
		"4: 'x': a variable's name begins with its scope: proc. sess. txn. req. res. or "
		"check.");
	IS("var", "3: 'var' needs a variable as argument 1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(constants_are_themselves),
		CASE(fetches_of_the_process_are_found),
		CASE(time_of_day),
		CASE(random_fetches_are_in_their_range),
		CASE(variables_are_fetched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
