#include <string.h>

#include "cfg/reader.c"
#include "unit/test.h"

/* Runs a script of directives: I i (if 1, 0), ? (an if that cannot be evaluated), E e (elif 1, 0),
 * L (else), F (endif). The letter in `want` shows whether lines are active after it: y or n; '!':
 * the directive is rejected. */
static void
script(const char *dirs, const char *want)
{
	struct cfg_blocks b = { .depth = 0 };
	const struct cfg_where where = { .line = 1 };

	for (size_t i = 0; dirs[i]; i++) {
		int rc = 0;
		char got;

		switch (dirs[i]) {
		case 'I': rc = cfg_blocks_if(&b, 1, &where); break;
		case 'i': rc = cfg_blocks_if(&b, 0, &where); break;
		case '?': rc = cfg_blocks_if(&b, -1, &where); break;
		case 'E': rc = cfg_blocks_elif(&b, 1); break;
		case 'e': rc = cfg_blocks_elif(&b, 0); break;
		case 'L': rc = cfg_blocks_else(&b); break;
		case 'F': rc = cfg_blocks_endif(&b); break;
		default: fail();
		}
		got = rc ? '!' : cfg_blocks_is_active(&b) ? 'y' : 'n';
		if (got != want[i])
			fail_msg("%s at %zu: got %c, want %c", dirs, i, got, want[i]);
	}
	assert_int_equal(b.depth, 0);
}

static void
one_branch_is_read(void **state)
{
	(void)state;
	script("IF", "yy");
	script("iF", "ny");
	script("ILF", "yny");
	script("iLF", "nyy");
	script("iEeLF", "nynny");
	script("IELF", "ynny");
	script("ieELF", "nnyny");
	script("ieeLF", "nnnyy");
	script("?ELF", "nnny");
}

static void
branches_are_nested(void **state)
{
	(void)state;
	script("iILFLF", "nnnnyy");
	script("IiELFLF", "ynynyny");
	script("iIEFEIFF", "nnnnyyyy");
	script("ILIELFFIF", "ynnnnnyyy");
}

static void
misuse(void **state)
{
	(void)state;
	script("L", "!");
	script("F", "!");
	script("E", "!");
	script("ILLF", "yn!y");
	script("iLEF", "ny!y");
	script("ILEeF", "yn!!y");
}

static void
a_block_waits_for_its_end(void **state)
{
	struct cfg_blocks b = { .depth = 0 };
	const struct cfg_where where = { .line = 1 };

	(void)state;
	assert_false(cfg_blocks_is_waiting(&b));
	cfg_blocks_if(&b, 0, &where);
	assert_true(cfg_blocks_is_waiting(&b));
	cfg_blocks_if(&b, 0, &where);
	assert_false(cfg_blocks_is_waiting(&b));
	cfg_blocks_endif(&b);
	cfg_blocks_elif(&b, 1);
	assert_false(cfg_blocks_is_waiting(&b));
}

static void
depth_is_bounded(void **state)
{
	struct cfg_blocks b = { .depth = 0 };
	const struct cfg_where where = { .line = 1 };

	(void)state;
	for (int i = 0; i < CFG_BLOCK_DEPTH_MAX; i++)
		assert_int_equal(cfg_blocks_if(&b, 1, &where), 0);
	assert_int_equal(cfg_blocks_if(&b, 1, &where), -CFG_BLOCK_DEEP);
	assert_int_equal(b.depth, CFG_BLOCK_DEPTH_MAX);
	for (int i = 0; i < CFG_BLOCK_ERR_COUNT; i++)
		assert_true(strlen(cfg_blocks_strerror(-i)) > 5);
	assert_string_equal(cfg_blocks_strerror(-99), "unknown error");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_branch_is_read),
		cmocka_unit_test(branches_are_nested),
		cmocka_unit_test(misuse),
		cmocka_unit_test(a_block_waits_for_its_end),
		cmocka_unit_test(depth_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
