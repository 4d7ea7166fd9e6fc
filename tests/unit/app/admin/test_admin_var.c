/* Variables of the process on the admin socket: get var, set var. */
#include "unit/app/app_rig.h"

/* The answer to a command in experimental mode, without that to the mode. */
static const char *
experimental(const char *command)
{
	char line[200];

	snprintf(line, sizeof(line), "experimental-mode on;%s", command);
	return rig_command(line) + 1;
}

static void
values_have_types(void **st)
{
	static const struct {
		const char *set, *shown;
	} t[] = {
		{ "int(-3)", "sint value=<-3>" },
		{ "str(a\\ b)", "str value=<a b>" },
		{ "str()", "str value=<>" },
		{ "bool(true)", "bool value=<1>" },
		{ "expr str(ab),upper", "str value=<AB>" },
		{ "fmt x%[int(2)]%%", "str value=<x2%>" },
		{ "fmt constant", "str value=<constant>" },
		{ "str(192.168.7.1),ipmask(16)", "ipv4 value=<192.168.0.0>" },
		{ "str(a\tb\x7f\xc3)", "str value=<a.b..>" },
		{ "var(proc.x)", "str value=<a.b..>" },
	};
	char line[80], want[80];

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		snprintf(line, sizeof(line), "set var proc.x %s", t[i].set);
		/* A tab separates words: the rig's line has it escaped. */
		if (strchr(line, '\t'))
			snprintf(line, sizeof(line), "set var proc.x str(a\\\tb\x7f\xc3)");
		assert_string_equal(experimental(line), "\n");
		snprintf(want, sizeof(want), "proc.x: type=%s\n\n", t[i].shown);
		assert_string_equal(rig_run(BIND_OPERATOR, "get var proc.x"), want);
	}
	assert_string_equal(rig_command("get var proc.y"), "Variable not found.\n\n");
	assert_string_equal(rig_command("get var nothing"), "Variable not found.\n\n");
	assert_string_equal(rig_command("get var sess.x"), "Variable not found.\n\n");
	assert_string_equal(
		rig_command("get var"), "Missing process-wide variable identifier.\n\n");
}

/* An answer that begins so, and the variable keeps its value. */
static void
invalid_values_are_refused(void **st)
{
	static const struct {
		const char *args, *answer;
	} t[] = {
		{ "", "Missing process-wide variable identifier." },
		{ "proc.x", "Missing either 'expr', 'fmt' or expression." },
		{ "proc.x int(7) extra", "'set var': arg type must be either 'expr' or 'fmt'" },
		{ "proc.x fmt a b", "'set var': unexpected argument 'b'." },
		{ "sess.x int(4)", "'set var': cannot set variable 'sess.x', only scope 'proc'" },
		{ "x int(4)", "'set var': variable 'x': " },
		{ "proc.a-b int(4)", "'set var': variable 'proc.a-b': " },
		{ "proc.x nothing", "'set var': " }, { "proc.x int(4", "'set var': " },
		{ "proc.x src", "'set var': 'src' cannot be used here: it needs" },
		{ "proc.x fmt %[src]", "'set var': 'src' cannot be used here: it needs" },
		{ "proc.x fmt %ci", "'set var': no variable is called '%ci'" },
		{ "proc.x str(a),map(/etc/hosts)", "'set var': 'map': files cannot be read here." },
		{ "proc.x var(proc.unset)", "'set var': the expression has no value." },
	};
	char line[120];

	(void)st;
	assert_string_equal(experimental("set var proc.x int(1)"), "\n");
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const char *a;

		snprintf(line, sizeof(line), "set var %s", t[i].args);
		a = experimental(line);
		rig_check_start(a, t[i].answer);
		rig_check_shape(a);
		assert_string_equal(
			rig_command("get var proc.x"), "proc.x: type=sint value=<1>\n\n");
	}
}

static void
setting_is_experimental(void **st)
{
	(void)st;
	assert_string_equal(rig_command("set var proc.x int(1)"),
			    "This command is restricted to experimental mode only.\n\n");
	assert_string_equal(rig_command("expert-mode on;set var proc.x int(1)"),
			    "\nThis command is restricted to experimental mode only.\n\n");
	assert_null(strstr(rig_command("help set"), "set var"));
	assert_non_null(strstr(experimental("help set"), "\n  set var <name> "));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(values_have_types),
		RIG_CASE(invalid_values_are_refused),
		RIG_CASE(setting_is_experimental),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
