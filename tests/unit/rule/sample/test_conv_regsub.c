#include "unit/rule/expr_rig.h"

#include "rule/sample/regex.h"
#include "rule/sample/shortfall.h"

static struct expr_rig rig;
static struct regex_work *work;

#define IS(text, result) assert_string_equal(rig_eval(&rig, text), result)

static int
setup(void **state)
{
	(void)state;
	rig_init(&rig);
	work = regex_work_new();
	assert_non_null(work);
	rig.cx.regex = work;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	regex_work_free(&work);
	rig_fini(&rig);
	return 0;
}

/* The results of HAProxy 2.6. */
static void
replacing(void **state)
{
	(void)state;
	IS("str(aXbXc),regsub(X,-)", "a-bXc");
	IS("str(aXbXc),regsub(X,-,g)", "a-b-c");
	IS("str(aXbxc),regsub(X,-,gi)", "a-b-c");
	IS("str(aXbxc),regsub(X,-,ig)", "a-b-c");
	IS("str(foo12),regsub(\"(foo|bar)([0-9]+)\",\"\\2\\1\")", "12foo");
	IS("str(/////a///b/c/xzxyz/),regsub(/+,/,g)", "/a/b/c/xzxyz/");
	IS("str(abc),regsub(x,y)", "abc");
	IS("str(abc),regsub(b,\"\")", "ac");
	IS("str(abc),regsub(b,)", "ac");
	IS("str(),regsub(b,c)", "");
}

static void
mistakes(void **state)
{
	(void)state;
	IS("str(a),regsub((,-)", "14: 'regsub': this is no regular expression");
	IS("str(a),regsub(a,b,x)", "18: 'regsub': the flags are 'g' and 'i'");
	IS("str(a),regsub(a)", "15: 'regsub' needs a string as argument 2");
	IS("str(a),regsub(,b)", "14: 'regsub' needs a regular expression as argument 1");
}

static void
without_room(void **state)
{
	(void)state;
	for (size_t cap = 0; cap < 8; cap++) {
		rig.arena = (struct arena){ .p = rig.mem, .cap = cap };
		memset(rig.mem + cap, RIG_FILL, 64);
		/* one byte more, for the terminating NUL */
		IS("str(abcabc),regsub(b,B,g)", cap < 7 ? "(none)" : "aBcaBc");
		assert_int_equal(rig.arena.refused > 0, cap < 7);
		for (size_t i = cap; i < cap + 64; i++)
			assert_int_equal((unsigned char)rig.mem[i], RIG_FILL);
	}
	rig.arena.cap = RIG_ARENA;
}

static char told[SHORTFALL_TEXT_MAX];

static void
keep_text(void *arg, enum shortfall_kind kind, const char *text)
{
	(void)arg;
	assert_int_equal(kind, SHORTFALL_ROOM);
	snprintf(told, sizeof(told), "%s", text);
}

/* A value may need more in converters: it only has to fit at its end. */
static void
fits_as_a_whole(void **state)
{
	struct shortfalls shortfalls = { .tell = keep_text };

	(void)state;
	rig.cx.shortfalls = &shortfalls;
	rig.arena = (struct arena){ .p = rig.mem, .cap = 80, .max = 10 };
	IS("str(0123456789),json,json,url_enc,url_enc,lower,upper,lower,upper,regsub(x,y)",
		"0123456789");
	IS("str(01234),hex", "3031323334");
	IS("str(01234),hex,lower,upper,b64dec,hex,length", "(none)");
	IS("str(///),url_enc", "%2F%2F%2F");
	assert_int_equal(rig.arena.refused, 0);
	told[0] = 0;
	IS("str(////),url_enc", "(none)");
	assert_string_equal(told,
		"'str(////),url_enc' has no value: it is longer than tune.bufsize.");
	IS("str(012345),hex", "(none)");
	IS("str(/////),json", "\\/\\/\\/\\/\\/");
	IS("str(//////),json", "(none)");
	assert_int_equal(rig.arena.refused, shortfalls.n[SHORTFALL_ROOM]);
	rig.cx.shortfalls = NULL;
	rig.arena = (struct arena){ .p = rig.mem, .cap = RIG_ARENA };
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(replacing),
		CASE(mistakes),
		CASE(without_room),
		CASE(fits_as_a_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
