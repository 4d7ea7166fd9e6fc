#include "unit/rule/expr_rig.h"

#include "rule/sample/var_cond.h"

static struct expr_rig r;

static const char *const words[] = { "ifexists", "ifnotexists", "ifempty", "ifnotempty", "ifset",
	"ifnotset", "ifgt", "iflt" };

static int
setup(void **state)
{
	(void)state;
	rig_init(&r);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rig_fini(&r);
	return 0;
}

static struct var_name
name(const char *text)
{
	struct var_name n;
	const char *why = NULL;

	assert_int_equal(var_name_parse(str_of(text), &n, &why), 0);
	return n;
}

static struct sample
text(const char *s)
{
	return (struct sample){ .type = SAMPLE_STR, .u.str = str_of(s) };
}

static struct sample
number(int64_t n)
{
	return (struct sample){ .type = SAMPLE_SINT, .u.sint = n };
}

static void
reads_each_word(void **state)
{
	unsigned int all = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		unsigned int bit = var_cond_parse(str_of(words[i]));

		assert_true(bit && !(bit & (bit - 1)) && !(all & bit));
		all |= bit;
		/* The list in the error message contains it. */
		assert_non_null(strstr(VAR_COND_WORDS, words[i]));
	}
	assert_int_equal(var_cond_parse(STR("")), 0);
	assert_int_equal(var_cond_parse(STR("IFSET")), 0);
	assert_int_equal(var_cond_parse(STR("ifse")), 0);
}

/* The conditions that hold when `with` is set: a letter for each. */
static const char *
held(const char *var, struct sample with)
{
	static char out[ARRAY_LEN(words) + 1];

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		out[i] = var_cond_hold(var_cond_parse(str_of(words[i])), &r.cx, name(var), &with) ?
			"XNENSNGL"[i] :
			'-';
	return out;
}

static void
set_to(const char *var, struct sample s)
{
	assert_int_equal(var_store(&r.cx, name(var), &s), 0);
}

static void
each_by_itself(void **state)
{
	(void)state;
	assert_string_equal(held("txn.a", text("v")), "-N-N-NGL");
	assert_string_equal(held("txn.a", text("")), "-NE--NGL");
	/* A number is never empty. */
	assert_string_equal(held("txn.a", number(0)), "-N-N-NGL");
	set_to("txn.a", text("old"));
	assert_string_equal(held("txn.a", text("v")), "X--NS-GL");
	/* Values without an order satisfy both comparisons. */
	assert_string_equal(held("txn.a", number(1)), "X--NS-GL");
	set_to("txn.a", number(5));
	assert_string_equal(held("txn.a", text("v")), "X--NS-GL");
	assert_string_equal(held("txn.a", number(4)), "X--NS-G-");
	assert_string_equal(held("txn.a", number(5)), "X--NS---");
	assert_string_equal(held("txn.a", number(6)), "X--NS--L");
	var_forget(&r.cx, name("txn.a"));
	assert_string_equal(held("txn.a", text("v")), "-N-N-NGL");
}

/* Variables of scope proc exist from the start; they are set or not. */
static void
variables_of_the_process(void **state)
{
	(void)state;
	assert_string_equal(held("proc.a", text("v")), "X--N-NGL");
	set_to("proc.a", number(5));
	assert_string_equal(held("proc.a", number(4)), "X--NS-G-");
}

static void
all_of_a_set_have_to_hold(void **state)
{
	struct sample v = text("v");
	unsigned int set = var_cond_parse(STR("ifset"));
	unsigned int full = var_cond_parse(STR("ifnotempty"));

	(void)state;
	assert_true(var_cond_hold(0, &r.cx, name("txn.a"), &v));
	assert_false(var_cond_hold(set | full, &r.cx, name("txn.a"), &v));
	set_to("txn.a", v);
	assert_true(var_cond_hold(set | full, &r.cx, name("txn.a"), &v));
	v = text("");
	assert_false(var_cond_hold(set | full, &r.cx, name("txn.a"), &v));
}

#define TEST(t) CASE(t)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_each_word),
		TEST(each_by_itself),
		TEST(variables_of_the_process),
		TEST(all_of_a_set_have_to_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
