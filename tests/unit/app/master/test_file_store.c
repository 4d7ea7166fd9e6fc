#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "app/master/fd_store.h"
#include "base/sbuf.h"
#include "base/sys.h"
#include "unit/test.h"
/* The unit itself, instead of the library's. */
#include "app/master/fd_store.c"

static struct sys sys;
static struct file_store store;

static int
setup(void **st)
{
	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	store = (struct file_store){ .sys = &sys };
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	file_store_fini(&store);
	return 0;
}

static int
add_file(pid_t pid)
{
	int fd = open("/dev/null", O_RDONLY);

	assert_int_equal(file_store_add(&store, fd, pid), 0);
	return fd;
}

static int
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void
give_list(const char *want)
{
	struct sbuf out;

	sbuf_init(&out, 0);
	file_store_list(&store, &out);
	assert_string_equal(out.len ? out.p : "", want);
	sbuf_fini(&out);
}

static void
files_of_ended_processes_go_when_the_next_is_ready(void **st)
{
	char want[100];
	int a = add_file(1), b = add_file(2), c;

	(void)st;
	file_store_on_end(&store, 1, 1);
	snprintf(want, sizeof(want), "%d @memory-of-ended\n%d @memory\n", a, b);
	give_list(want);
	/* This one ends too late: the next process has not added what is in it. */
	file_store_on_end(&store, 2, 1);
	c = add_file(3);
	assert_true(is_open(a));
	file_store_on_ready(&store, 3);
	assert_false(is_open(a));
	assert_true(is_open(b) && is_open(c));
	give_list((snprintf(want, sizeof(want), "%d @memory\n%d @memory-of-ended\n", c, b), want));
	add_file(4);
	file_store_on_ready(&store, 4);
	assert_false(is_open(b));
	assert_int_equal(store.n, 2);
}

static void
a_failed_start_changes_nothing(void **st)
{
	char want[100];
	int a = add_file(1), b;

	(void)st;
	file_store_on_end(&store, 1, 1);
	snprintf(want, sizeof(want), "%d @memory-of-ended\n", a);
	give_list(want);
	b = add_file(2);
	file_store_on_end(&store, 2, 0);
	assert_false(is_open(b));
	assert_true(is_open(a));
	give_list(want);
}

static void
a_process_without_a_file_ends_all(void **st)
{
	int a = add_file(1);

	(void)st;
	file_store_on_ready(&store, 2);
	assert_false(is_open(a));
	assert_int_equal(store.n, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			files_of_ended_processes_go_when_the_next_is_ready, setup, teardown),
		cmocka_unit_test_setup_teardown(a_failed_start_changes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_process_without_a_file_ends_all, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
