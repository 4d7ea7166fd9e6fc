#include "base/trace.h"
#include "unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int
lines_of(const struct sbuf *b)
{
	unsigned int n = 0;

	for (size_t i = 0; i < b->len; i++)
		n += b->p[i] == '\n';
	return n;
}

static void
test_off_records_nothing(void **state)
{
	struct trace t;
	struct sbuf b;

	(void)state;
	trace_init(&t);
	sbuf_init(&b, 0);
	assert_false(trace_is_on(NULL, TRACE_ERROR));
	assert_false(trace_is_on(&t, TRACE_ERROR));
	trace_add(&t, TRACE_ERROR, 1, 1, "A", "B", "c");
	trace_add(NULL, TRACE_ERROR, 1, 1, "A", "B", "c");
	assert_int_equal(trace_dump(&t, 0, 0, &b), 0);
	assert_int_equal(b.len, 0);
	assert_null(t.ring);
	sbuf_fini(&b);
	trace_fini(&t);
}

static void
test_lines_and_filters(void **state)
{
	struct trace t;
	struct sbuf b;

	(void)state;
	trace_init(&t);
	sbuf_init(&b, 0);
	assert_int_equal(trace_start(&t, TRACE_STATE, 0), 0);
	trace_add(&t, TRACE_STATE, UINT64_C(12003004005), 7, "RELAY", "UP", "fd %d", 9);
	trace_add(&t, TRACE_IO, 5, 7, "RELAY", "READ", "too fine");
	trace_add(&t, TRACE_ERROR, 5, 0, NULL, NULL, "bare %s", "text");
	assert_int_equal(trace_start(&t, TRACE_IO, 8), 0);
	trace_add(&t, TRACE_STATE, 6, 7, "X", NULL, "another session");
	trace_add(&t, TRACE_IO, 6, 8, "Y", NULL, "%s", "");
	assert_int_equal(trace_dump(&t, 0, 0, &b), 3);
	assert_string_equal(b.p, "1 12.003004 state s=7 RELAY <- UP fd 9\n"
				 "2 0.000000 error s=0 bare text\n"
				 "3 0.000000 io s=8 Y\n");
	trace_stop(&t);
	trace_add(&t, TRACE_ERROR, 6, 8, "Y", NULL, "late");
	sbuf_reset(&b);
	assert_int_equal(trace_dump(&t, 1, 1, &b), 2);
	assert_int_equal(lines_of(&b), 1);
	sbuf_fini(&b);
	trace_fini(&t);
}

static void
test_ring_keeps_the_newest(void **state)
{
	struct trace t;
	struct sbuf b;
	char first[64];

	(void)state;
	trace_init(&t);
	sbuf_init(&b, 0);
	assert_int_equal(trace_start(&t, TRACE_IO, 0), 0);
	for (unsigned int i = 1; i <= TRACE_RECORDS + 10; i++)
		trace_add(&t, TRACE_IO, 0, i, NULL, NULL, "%s", "");
	assert_int_equal(trace_dump(&t, 0, 0, &b), TRACE_RECORDS + 10);
	assert_int_equal(lines_of(&b), TRACE_RECORDS);
	snprintf(first, sizeof(first), "11 0.000000 io s=11\n");
	assert_memory_equal(b.p, first, strlen(first));
	/* After it was cleared it has only later lines, with increasing numbers. */
	trace_clear(&t);
	trace_add(&t, TRACE_IO, 0, 1, NULL, NULL, "%s", "");
	sbuf_reset(&b);
	assert_int_equal(trace_dump(&t, 0, 0, &b), TRACE_RECORDS + 11);
	assert_int_equal(lines_of(&b), 1);
	sbuf_fini(&b);
	trace_fini(&t);
}

static void
test_long_text_is_cut(void **state)
{
	struct trace t;

	(void)state;
	trace_init(&t);
	assert_int_equal(trace_start(&t, TRACE_IO, 0), 0);
	trace_add(&t, TRACE_IO, 0, 1, NULL, NULL, "%0100d", 5);
	assert_int_equal(strlen(t.ring[0].text), TRACE_TEXT - 1);
	trace_fini(&t);
}

static void
test_names(void **state)
{
	(void)state;
	for (int i = 0; i < TRACE_LEVELS; i++)
		assert_int_equal(trace_level_parse(trace_level_name((enum trace_level)i)), i);
	assert_true(trace_level_parse("all") < 0);
	assert_string_equal(trace_level_name(TRACE_LEVELS), "?");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_off_records_nothing),
		cmocka_unit_test(test_lines_and_filters),
		cmocka_unit_test(test_ring_keeps_the_newest),
		cmocka_unit_test(test_long_text_is_cut),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
