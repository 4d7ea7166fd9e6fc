#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/master/fd_store.h"
#include "base/sbuf.h"
#include "base/sys.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static struct sys sys;
static struct fd_store store;
static char released[200];

static int
setup(void **st)
{
	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	fd_store_init(&store, &sys);
	released[0] = '\0';
	return files_open(NULL);
}

static int
teardown(void **st)
{
	fd_store_fini(&store);
	return files_close(st);
}

static void
on_released(void *arg, const char *key)
{
	assert_ptr_equal(arg, released);
	strcat(released, key);
	strcat(released, " ");
}

static int
new_fd(void)
{
	return open("/dev/null", O_RDONLY);
}

static int
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void
sockets_that_are_not_used_are_closed(void **st)
{
	int a = new_fd(), b = new_fd(), c = new_fd();

	(void)st;
	assert_int_equal(fd_store_add(&store, a, "a", 10), 0);
	assert_int_equal(fd_store_add(&store, b, "b", 10), 0);
	fd_store_release(&store, 10, on_released, released);
	assert_string_equal(released, "");
	/* the next process takes one of them and has a new one */
	fd_store_use(&store, b, 11);
	assert_int_equal(fd_store_add(&store, c, "c", 11), 0);
	fd_store_release(&store, 11, on_released, released);
	assert_string_equal(released, "a ");
	assert_false(is_open(a));
	assert_true(is_open(b) && is_open(c));
	fd_store_release_all(&store, on_released, released);
	assert_string_equal(released, "a b c ");
	assert_false(is_open(b) || is_open(c));
	fd_store_release_all(&store, on_released, released);
	assert_string_equal(released, "a b c ");
}

static void
a_failed_process_leaves_nothing(void **st)
{
	int a = new_fd(), b = new_fd();

	(void)st;
	assert_int_equal(fd_store_add(&store, a, "a", 10), 0);
	fd_store_release(&store, 10, on_released, released);
	fd_store_use(&store, a, 11);
	assert_int_equal(fd_store_add(&store, b, "b", 11), 0);
	fd_store_drop_of(&store, 11);
	assert_true(is_open(a));
	assert_false(is_open(b));
	/* a later process with the pid of one that was ready */
	fd_store_drop_of(&store, 10);
	assert_true(is_open(a));
}

static void
the_list_names_all(void **st)
{
	char want[64];
	struct sbuf out;

	(void)st;
	sbuf_init(&out, 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(fd_store_add(&store, new_fd(), "k", 1), 0);
	fd_store_list(&store, &out);
	snprintf(want, sizeof(want), "%d k\n%d k\n", store.v[0].fd, store.v[1].fd);
	assert_int_equal(strncmp(out.p, want, strlen(want)), 0);
	assert_int_equal(store.n, 40);
	sbuf_fini(&out);
}

static void
paths_go_with_their_socket(void **st)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char key[200];

	(void)st;
	snprintf(un.sun_path, sizeof(un.sun_path), "%s", files_path("sock"));
	snprintf(key, sizeof(key), "unix@%s,mode=600", un.sun_path);
	/* the last one: another process takes over the socket, and reports it late */
	for (int turn = 0; turn < 3; turn++) {
		int replaced = turn == 1, given = turn == 2, fd = socket(AF_UNIX, SOCK_STREAM, 0);

		assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
		assert_int_equal(fd_store_add(&store, fd, key, 1), 0);
		if (replaced) {
			/* the old file still exists, so the new one is another inode */
			assert_int_equal(rename(un.sun_path, files_path("old")), 0);
			files_write("sock", "another");
		}
		fd_store_release_all(&store, on_released, released);
		assert_int_equal(access(un.sun_path, F_OK), 0);
		if (given)
			fd_store_give(&store, store.v[0].key);
		fd_store_fini(&store);
		assert_int_equal(access(un.sun_path, F_OK), replaced || given ? 0 : -1);
		(void)unlink(un.sun_path);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			sockets_that_are_not_used_are_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_failed_process_leaves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(the_list_names_all, setup, teardown),
		cmocka_unit_test_setup_teardown(paths_go_with_their_socket, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
