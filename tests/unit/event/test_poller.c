#include "event/poller.h"
#include "unit/test.h"

static void
every_poller_is_found_by_its_name(void **st)
{
	int n = 0;

	(void)st;
	for (const struct poller_ops *const *p = poller_all(); *p; p++, n++)
		assert_ptr_equal(poller_find((*p)->name), *p);
	assert_int_equal(n, 4);
	assert_ptr_equal(poller_all()[0], &poller_epoll);
	assert_null(poller_find("kqueue"));
	assert_null(poller_find(""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_poller_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
