#include "base/mem.h"
#include "net/bind_conf.h"
#include "net/listener.h"
#include "unit/test.h"

static void
test_new(void **state)
{
	struct bind_conf *b = bind_conf_new();

	(void)state;
	assert_non_null(b);
	assert_true(list_is_empty(&b->listeners));
	assert_int_equal(b->uid, (uid_t)-1);
	assert_int_equal(b->gid, (gid_t)-1);
	assert_int_equal(b->level, BIND_OPERATOR);
	bind_conf_free(&b);
	assert_null(b);
	bind_conf_free(&b);
}

/* A freed bind_conf is removed from its list, and its listeners are freed (the leak checker
 * verifies the rest). */
static void
test_frees(void **state)
{
	struct list all;
	struct bind_conf *b = bind_conf_new();

	(void)state;
	assert_non_null(b);
	list_init(&all);
	list_append(&all, &b->link);
	b->name = mem_strdup("web");
	for (int i = 0; i < 3; i++) {
		struct listener *ln = mem_zalloc(sizeof(*ln));

		assert_non_null(ln);
		ln->fd = -1;
		list_append(&b->listeners, &ln->link);
	}
	bind_conf_free(&b);
	assert_true(list_is_empty(&all));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_frees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
