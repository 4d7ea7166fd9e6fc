#include "tls/bind.h"

#include "unit/test.h"

static struct list lists;

static int
setup(void **state)
{
	(void)state;
	list_init(&lists);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	tls_crt_lists_free(&lists);
	return 0;
}

/* In the order of names, each once; a directory also with its '/'. */
static void
test_names(void **state)
{
	const struct tls_crt_list *b = tls_crt_lists_take(&lists, "/b"), *a, *c;

	(void)state;
	c = tls_crt_lists_take(&lists, "/c");
	a = tls_crt_lists_take(&lists, "/a");
	assert_ptr_equal(tls_crt_lists_take(&lists, "/b"), b);
	assert_ptr_equal(list_first(&lists, struct tls_crt_list, link), a);
	assert_ptr_equal(list_entry(lists.prev, struct tls_crt_list, link), c);
	assert_ptr_equal(tls_crt_lists_find_path(&lists, "/b"), b);
	assert_ptr_equal(tls_crt_lists_find_path(&lists, "/b//"), b);
	assert_null(tls_crt_lists_find_path(&lists, "/"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
