#include <limits.h>
#include <string.h>

#include "base/sbuf.h"
#include "unit/test.h"

static void
test_a_buffer_grows(void **state)
{
	struct sbuf b;
	char piece[1000];

	(void)state;
	memset(piece, 'x', sizeof(piece));
	sbuf_init(&b, 0);
	assert_null(b.p);
	for (int i = 0; i < 100; i++) {
		sbuf_add(&b, piece, sizeof(piece));
		assert_int_equal(strlen(b.p), b.len);
	}
	assert_int_equal(b.len, 100 * sizeof(piece));
	assert_false(b.failed);
	sbuf_fini(&b);
	assert_null(b.p);
}

static void
test_additions(void **state)
{
	struct sbuf b;

	(void)state;
	sbuf_init(&b, 0);
	sbuf_adds(&b, "a=");
	sbuf_addu(&b, 0);
	sbuf_addc(&b, ' ');
	sbuf_addu(&b, ULLONG_MAX);
	sbuf_addf(&b, " %d/%s", -7, "seven");
	sbuf_addf(&b, "%s", "");
	sbuf_add(&b, "", 0);
	assert_string_equal(b.p, "a=0 18446744073709551615 -7/seven");
	sbuf_reset(&b);
	assert_string_equal(b.p, "");
	sbuf_adds(&b, "again");
	assert_string_equal(b.p, "again");
	sbuf_fini(&b);
}

static void
test_signed_numbers_and_copies_of_itself(void **state)
{
	struct sbuf b;

	(void)state;
	sbuf_init(&b, 1 << 20);
	sbuf_addi(&b, LLONG_MIN);
	sbuf_addi(&b, -1);
	sbuf_addi(&b, LLONG_MAX);
	assert_string_equal(b.p, "-9223372036854775808-19223372036854775807");
	sbuf_reset(&b);
	sbuf_adds(&b, "name=1\n");
	/* Its memory moves meanwhile. */
	while (b.len < 10000)
		sbuf_add_again(&b, 0, 7);
	for (size_t i = 0; i < b.len; i += 7)
		assert_memory_equal(b.p + i, "name=1\n", 7);
	b.failed = 1;
	sbuf_add_again(&b, 0, 7);
	assert_int_equal(b.len % 7, 0);
	sbuf_fini(&b);
}

/* In storage of its own a text keeps what fits of an addition, and nothing behind it. */
static void
test_fixed_storage_cuts(void **state)
{
	char storage[8];
	struct sbuf b;

	(void)state;
	sbuf_init_fixed(&b, storage, sizeof(storage));
	sbuf_adds(&b, "012345");
	assert_false(b.failed);
	sbuf_adds(&b, "6789");
	sbuf_addc(&b, 'x');
	assert_string_equal(b.p, "0123456");
	assert_int_equal(b.len, 7);
	assert_true(b.failed);
	sbuf_reset(&b);
	sbuf_addf(&b, "%d-%d", 1234, 56789);
	sbuf_addf(&b, "%d", 1);
	assert_string_equal(b.p, "1234-56");
	assert_true(b.failed);
}

static void
test_the_bound_is_sticky(void **state)
{
	struct sbuf b;

	(void)state;
	sbuf_init(&b, 10);
	sbuf_adds(&b, "0123456789");
	assert_false(b.failed);
	sbuf_addc(&b, 'x');
	assert_true(b.failed);
	assert_string_equal(b.p, "0123456789");
	sbuf_reset(&b);
	sbuf_addf(&b, "%s", "0123456789a");
	assert_true(b.failed);
	/* not even a part that would fit: a truncated line is better than one with a gap */
	sbuf_addc(&b, 'x');
	assert_int_equal(b.len, 0);
	sbuf_fini(&b);
}

static void
test_storage_of_the_caller(void **state)
{
	char storage[8];
	struct sbuf b;

	(void)state;
	memset(storage, '#', sizeof(storage));
	sbuf_init_fixed(&b, storage, sizeof(storage) - 1);
	assert_string_equal(storage, "");
	sbuf_adds(&b, "abcdef");
	assert_false(b.failed);
	assert_string_equal(storage, "abcdef");
	sbuf_addc(&b, 'g');
	assert_true(b.failed);
	assert_string_equal(storage, "abcdef");
	assert_int_equal(storage[7], '#');
	sbuf_fini(&b);
}

static void
test_lengths_do_not_wrap(void **state)
{
	struct sbuf b;

	(void)state;
	sbuf_init(&b, 0);
	sbuf_adds(&b, "abc");
	sbuf_add(&b, "x", SIZE_MAX);
	assert_true(b.failed);
	assert_string_equal(b.p, "abc");
	sbuf_reset(&b);
	sbuf_add(&b, "x", SIZE_MAX / 2 + 1);
	assert_true(b.failed);
	sbuf_fini(&b);
}

static unsigned int n_freed, n_leaks;

void __real_mem_free(void *p);
void __wrap_mem_free(void *p);

void
__wrap_mem_free(void *p)
{
	for (size_t i = 0; p && i < 64; i++)
		n_leaks += ((const char *)p)[i] == 'k';
	n_freed += p != NULL;
	__real_mem_free(p);
}

static void
a_secret_leaves_no_copy(void **state)
{
	struct sbuf b;

	(void)state;
	n_freed = n_leaks = 0;
	sbuf_init_secret(&b, 0);
	for (int i = 0; i < 1000; i++)
		sbuf_addc(&b, 'k');
	assert_int_equal(b.p[999], 'k');
	assert_int_equal(n_freed, 4); /* of 64 to 512 bytes */
	sbuf_cut_front(&b, 990);
	assert_string_equal(b.p, "kkkkkkkkkk");
	for (size_t i = 10; i < 1000; i++)
		assert_int_equal(b.p[i], 0);
	sbuf_reset(&b);
	assert_int_equal(b.p[9], 0);
	sbuf_adds(&b, "kkkk");
	sbuf_fini(&b);
	assert_int_equal(n_freed, 5);
	assert_int_equal(n_leaks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_buffer_grows),
		cmocka_unit_test(test_additions),
		cmocka_unit_test(test_signed_numbers_and_copies_of_itself),
		cmocka_unit_test(test_fixed_storage_cuts),
		cmocka_unit_test(test_the_bound_is_sticky),
		cmocka_unit_test(test_storage_of_the_caller),
		cmocka_unit_test(test_lengths_do_not_wrap),
		cmocka_unit_test(a_secret_leaves_no_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
