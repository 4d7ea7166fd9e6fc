/* Names that are written in another case. */

#include "base/err.h"
#include "http/name_case.h"
#include "unit/test.h"

static void
add(struct name_case *c, const char *to, int is_of_file)
{
	assert_int_equal(name_case_add(c, str_of(to), is_of_file), 0);
}

static void
check(const struct name_case *c, const char *head, const char *want)
{
	char buf[128];
	size_t n = strlen(head);

	memcpy(buf, head, n);
	buf[n] = '!';
	name_case_adjust(c, buf, n);
	assert_memory_equal(buf, want, n);
	assert_int_equal(buf[n], '!');
}

static void
names_of_a_head_change(void **st)
{
	struct name_case c;

	(void)st;
	name_case_init(&c);
	check(&c, "GET / HTTP/1.1\r\nhost: a\r\n\r\n", "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
	add(&c, "HoSt", 0);
	add(&c, "X-y", 0);
	check(&c, "host: a\r\nhost: b\r\n\r\n", "host: a\r\nHoSt: b\r\n\r\n");
	check(&c, "GET / HTTP/1.1\r\nHOST: host: a\r\nhosts: b\r\nx-Y:\r\n\r\nhost: c\r\n",
		"GET / HTTP/1.1\r\nHoSt: host: a\r\nhosts: b\r\nX-y:\r\n\r\nhost: c\r\n");
	/* Cut texts, and texts without a head. */
	check(&c, "GET / HTTP/1.1\r\nhost: a\r\nx-y: b", "GET / HTTP/1.1\r\nHoSt: a\r\nx-y: b");
	check(&c, "host", "host");
	check(&c, "\r\n\r\nhost: c\r\n", "\r\n\r\nhost: c\r\n");
	check(&c, "a\r\nhost\r\nx-y\r\n\r\n", "a\r\nhost\r\nx-y\r\n\r\n");
	name_case_fini(&c);
}

static void
the_names_of_a_file_can_be_dropped(void **st)
{
	struct name_case c;

	(void)st;
	name_case_init(&c);
	add(&c, "A", 1);
	add(&c, "B", 0);
	add(&c, "C", 1);
	assert_int_equal(name_case_add(&c, STR("b"), 1), -ERR_EXISTS);
	name_case_drop_file(&c);
	check(&c, "x\r\na:\r\nb:\r\nc:\r\n\r\n", "x\r\na:\r\nB:\r\nc:\r\n\r\n");
	add(&c, "a", 1);
	name_case_fini(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_a_head_change),
		cmocka_unit_test(the_names_of_a_file_can_be_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
