#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"
#include "unit/test.h"

static void
put_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void
whole_files(void **state)
{
	char path[] = "/tmp/tacit-file-XXXXXX", *text;
	struct sys sys;
	int fd = mkstemp(path);
	size_t len;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	sys_init(&sys, &sys_linux, NULL);
	put_text(path, "0123456789");
	assert_int_equal(file_read(&sys, path, 10, &text, &len), 0);
	assert_int_equal(len, 10);
	assert_string_equal(text, "0123456789");
	mem_free(text);
	assert_int_equal(file_read(&sys, path, 9, &text, &len), -EFBIG);
	assert_null(text);
	put_text(path, "");
	assert_int_equal(file_read(&sys, path, 0, &text, &len), 0);
	assert_int_equal(len, 0);
	assert_string_equal(text, "");
	mem_free(text);
	assert_int_equal(file_read(&sys, "/nonexistent", 9, &text, &len), -ENOENT);
	assert_int_equal(file_read(&sys, "/dev/zero", 100, &text, &len), -EFBIG);
	unlink(path);
}

static void
open_files(void **state)
{
	char path[] = "/tmp/tacit-file-XXXXXX", *text;
	struct sys sys;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	sys_init(&sys, &sys_linux, NULL);
	/* its position is at the end */
	assert_int_equal(write(fd, "0123456789", 10), 10);
	text = file_text(&sys, fd, 100);
	assert_string_equal(text, "0123456789");
	mem_free(text);
	text = file_text(&sys, fd, 3);
	assert_string_equal(text, "012");
	mem_free(text);
	assert_int_equal(ftruncate(fd, 0), 0);
	text = file_text(&sys, fd, 3);
	assert_string_equal(text, "");
	mem_free(text);
	close(fd);
	assert_null(file_text(&sys, fd, 3));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_files),
		cmocka_unit_test(open_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
