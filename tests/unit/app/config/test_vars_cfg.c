/* set-var and set-var-fmt in the section global. */
#include <stdio.h>
#include <string.h>

#include "unit/app/app_rig.h"
#include "unit/test.h"

#include "proxy/model/eval_scratch.h"
#include "rule/sample/var.h"

static struct sys sys;

/* The clock is read. */
static int
open_with_sys(void **state)
{
	sys_init(&sys, &sys_linux, NULL);
	if (world_open(state) < 0)
		return -1;
	cfg.proxies.files.sys = &sys;
	return 0;
}

/* The value of a variable as a text, with its type: "sint 7". */
static const char *
value_of(const char *name)
{
	static char space[512], text[600];
	struct arena a = { .p = space, .cap = sizeof(space) };
	struct sample_ctx cx = { .proc = &cfg.vars, .arena = &a };
	struct var_name id;
	struct sample s;
	const char *why;
	enum sample_type type;

	assert_int_equal(var_name_parse(str_of(name), &id, &why), 0);
	if (!var_find(&cx, id, &s))
		return "none";
	type = s.type;
	assert_int_equal(sample_cast(&s, SAMPLE_STR, &a), 0);
	snprintf(text, sizeof(text), "%s %.*s", sample_type_name(type), (int)s.u.str.len,
		s.u.str.p);
	return text;
}

/* HAProxy 2.6 shows the same with get var. */
static void
values_are_set_in_order(void **state)
{
	(void)state;
	assert_int_equal(
		world_global(
			"set-var proc.current_state str(primary)\n"
			"set-var proc.prio int(100)\n"
			"set-var proc.threshold int(200),sub(proc.prio)\n"
			"set-var-fmt proc.b \"is <%[var(proc.current_state)]> "
			"%[int(3),add(proc.prio)]\"\n"
			"set-var proc.copy var(proc.b),upper\n"
			"set-var proc.prio int(7)\n"
			"set-var proc.none var(proc.nope)\n"
			"set-var proc.ip ipv4(1.2.3.4)"),
		0);
	assert_non_null(strstr(value_of("proc.threshold"), " 100"));
	assert_non_null(strstr(value_of("proc.prio"), " 7"));
	assert_non_null(strstr(value_of("proc.b"), " is <primary> 103"));
	assert_non_null(strstr(value_of("proc.copy"), " IS <PRIMARY> 103"));
	assert_non_null(strstr(value_of("proc.ip"), " 1.2.3.4"));
	assert_string_equal(value_of("proc.none"), "none");
	assert_int_equal(cfg.diag.count[CFG_WARNING], 0);
}

static void
log_variables_without_a_session(void **state)
{
	char want[64];

	(void)state;
	assert_int_equal(world_global("node here\nset-var-fmt proc.x %pid|%H\n"
				      "set-var-fmt proc.s %Ts\nset-var-fmt proc.t %t\n"
				      "set-var-fmt proc.u %T|%Tl"),
		0);
	snprintf(want, sizeof(want), " %d|here", cfg.diag.pid);
	assert_non_null(strstr(value_of("proc.x"), want));
	assert_non_null(strstr(value_of("proc.s"), " "));
	assert_non_null(strchr(value_of("proc.t"), '.'));
	assert_non_null(strstr(value_of("proc.u"), " +0000|"));
}

static void
mistakes(void **state)
{
	static const struct {
		const char *line, *why;
	} bad[] = {
		{ "set-var txn.x int(1)", "only scope 'proc' is permitted in the global section" },
		{ "set-var x int(1)", "begins with its scope" },
		{ "set-var proc. int(1)", "follows the scope" },
		{ "set-var proc.a-b int(1)", "letters, digits" },
		{ "set-var proc.x", "<name> <expr>" },
		{ "set-var proc.x int(1) int(2)", "unexpected argument 'int(2)'" },
		{ "set-var proc.x src", "src" },
		{ "set-var proc.x path,lower", "path" },
		{ "set-var proc.x nofetch", "nofetch" },
		{ "set-var proc.x str(a),map(/nowhere)", "map" },
		{ "set-var-fmt proc.y", "<name> <format>" },
		{ "set-var-fmt proc.y %[src]", "src" },
		{ "set-var-fmt proc.y %[int(1)", "" },
		{ "set-var-fmt proc.y %ci", "ci" },
		{ "no set-var proc.x int(1)", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_not_equal(world_global(bad[i].line), 0);
		if (!strstr(world_diagnostic(), bad[i].why))
			fail_msg("%s: %s", bad[i].line, world_diagnostic());
	}
}

/* The process takes them. */
static void
variables_move(void **state)
{
	struct vars to;

	(void)state;
	assert_int_equal(world_global("set-var proc.a int(1)\nset-var proc.b str(b)"), 0);
	vars_init(&to);
	vars_move(&to, &cfg.vars);
	assert_int_equal(cfg.vars.bytes, 0);
	assert_true(list_is_empty(&cfg.vars.all));
	assert_true(to.bytes > 0);
	vars_move(&cfg.vars, &to);
	assert_non_null(strstr(value_of("proc.b"), " b"));
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_with_sys, world_close)
	const struct CMUnitTest tests[] = {
		T(values_are_set_in_order),
		T(log_variables_without_a_session),
		T(mistakes),
		T(variables_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
