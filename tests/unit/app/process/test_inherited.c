#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "app/process/inherited.h"
#include "base/sys.h"
#include "unit/test.h"

static struct sys sys;

static int
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void
each_is_taken_once(void **st)
{
	struct inherited_sockets s;
	struct inherited_socket *a, *b;
	int fds[40];

	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	inherited_init(&s, &sys);
	assert_null(inherited_take(&s, "x"));
	for (int i = 0; i < 40; i++) {
		char name[24];

		snprintf(name, sizeof(name), "name %d", i / 2);
		fds[i] = dup(1);
		assert_int_equal(inherited_add(&s, fds[i], name,
			i ? INHERITED_FETCHED : INHERITED_MASTER), 0);
		assert_true(fcntl(fds[i], F_GETFD) & FD_CLOEXEC);
	}
	b = inherited_take(&s, "name 19");
	a = inherited_take(&s, "name 0");
	assert_int_equal(a->fd, fds[0]);
	assert_int_equal(a->from, INHERITED_MASTER);
	assert_int_equal(b->fd, fds[38]);
	assert_int_equal(inherited_take(&s, "name 0")->fd, fds[1]);
	assert_null(inherited_take(&s, "name 0"));
	assert_null(inherited_take(&s, "name"));
	inherited_close_rest(&s);
	for (int i = 0; i < 40; i++)
		assert_int_equal(is_open(fds[i]), i < 2 || i == 38);
	assert_null(inherited_take(&s, "name 1"));
	inherited_fini(&s);
	assert_true(is_open(fds[0]));
	close(fds[0]);
	close(fds[1]);
	close(fds[38]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_is_taken_once) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
