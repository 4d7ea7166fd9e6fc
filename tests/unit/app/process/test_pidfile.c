#include <stdio.h>
#include <string.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/process/daemon.h"
#include "base/sys.h"
#include "unit/test.h"

static struct sys sys;
static char dir[] = "/tmp/tacit-pidfile-XXXXXX";
static char path[64];

static void
holds_the_pid(void **state)
{
	char buf[32] = "";
	FILE *f;
	int fd;

	(void)state;
	/* the file of an earlier process is replaced, even if it was longer */
	f = fopen(path, "w");
	fputs("123456789012345\n", f);
	fclose(f);
	assert_int_equal(pidfile_open(&sys, path, &fd), 0);
	assert_int_equal(pidfile_write(&sys, fd, 4321), 0);
	f = fopen(path, "r");
	assert_int_equal(fread(buf, 1, sizeof(buf) - 1, f), 5);
	fclose(f);
	assert_string_equal(buf, "4321\n");
	unlink(path);
}

static void
is_removed_by_who_wrote_it(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(pidfile_open(&sys, path, &fd), 0);
	assert_int_equal(pidfile_write(&sys, fd, 4321), 0);
	/* the file contains another process's id by now */
	pidfile_remove(&sys, path, 432);
	pidfile_remove(&sys, path, 43210);
	assert_int_equal(access(path, F_OK), 0);
	pidfile_remove(&sys, path, 4321);
	assert_int_equal(access(path, F_OK), -1);
	pidfile_remove(&sys, path, 4321);
}

static void
failures(void **state)
{
	int fd = -1;

	(void)state;
	assert_int_equal(pidfile_open(&sys, "/nonexistent/pid", &fd), -ENOENT);
	/* another user's symbolic link must not redirect the write */
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(pidfile_open(&sys, path, &fd), -ELOOP);
	unlink(path);
	assert_int_equal(pidfile_open(&sys, "/dev/full", &fd), 0);
	assert_int_equal(pidfile_write(&sys, fd, 1), -ENOSPC);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_the_pid),
		cmocka_unit_test(is_removed_by_who_wrote_it),
		cmocka_unit_test(failures),
	};
	int r;

	sys_init(&sys, &sys_linux, NULL);
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/pid", dir);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return r;
}
