/* Capture slots: numbers, positions, and limits. */
#include "proxy/sample/capture.h"
#include "unit/test.h"

#include "base/err.h"

static void
test_places(void **state)
{
	struct capture_conf c = { 0 };
	unsigned int i;

	(void)state;
	capture_conf_finish(&c);
	assert_int_equal(c.size, 0);
	assert_int_equal(capture_add(&c, CAPTURE_RESPONSE, "Server", 7, &i), 0);
	assert_int_equal(i, 0);
	assert_int_equal(capture_add(&c, CAPTURE_REQUEST, "Host", 10, &i), 0);
	assert_int_equal(i, 0);
	assert_int_equal(capture_add(&c, CAPTURE_REQUEST, NULL, 5, &i), 0);
	assert_int_equal(i, 1);
	assert_int_equal(capture_add(&c, CAPTURE_ID, NULL, 100, &i), 0);
	capture_conf_finish(&c);
	/* Four lengths, then the texts in the order of the kinds. */
	assert_string_equal(c.slot[CAPTURE_REQUEST][0].name, "Host");
	assert_null(c.slot[CAPTURE_REQUEST][1].name);
	assert_int_equal(c.slot[CAPTURE_REQUEST][0].at, 16);
	assert_int_equal(c.slot[CAPTURE_REQUEST][1].at, 26);
	assert_int_equal(c.slot[CAPTURE_RESPONSE][0].at, 31);
	assert_int_equal(c.slot[CAPTURE_RESPONSE][0].nth, 2);
	assert_int_equal(c.slot[CAPTURE_ID][0].at, 38);
	assert_int_equal(c.size, 138);
	capture_forget(&c, CAPTURE_ID);
	capture_conf_finish(&c);
	assert_int_equal(c.size, 34);
	capture_conf_fini(&c);
	assert_int_equal(c.size, 0);
	assert_int_equal(c.n[CAPTURE_REQUEST], 0);
	assert_null(c.slot[CAPTURE_REQUEST]);
}

static void
test_bounds(void **state)
{
	struct capture_conf c = { 0 };
	unsigned int i, n = 0;

	(void)state;
	assert_int_equal(
		capture_add(&c, CAPTURE_REQUEST, NULL, CAPTURE_LEN_MAX + 1, &i), -ERR_FULL);
	while (capture_add(&c, CAPTURE_REQUEST, "x", 1, &i) == 0)
		assert_int_equal(i, n++);
	assert_int_equal(n, CAPTURES_MAX);
	assert_int_equal(capture_add(&c, CAPTURE_RESPONSE, "x", 1, &i), 0);
	capture_conf_fini(&c);
	for (n = 0; capture_add(&c, CAPTURE_REQUEST, NULL, CAPTURE_LEN_MAX, &i) == 0;)
		n++;
	assert_int_equal(n, CAPTURE_ROOM_MAX / CAPTURE_LEN_MAX);
	capture_conf_finish(&c);
	assert_true(c.size <= CAPTURE_ROOM_MAX + n * sizeof(uint32_t));
	capture_conf_fini(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
