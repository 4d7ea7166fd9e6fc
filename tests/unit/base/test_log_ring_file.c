/* The file of a ring: lines in a circle, a previous file, and what goes wrong at the start and
 * later. A model of whole lines computes what has to be in the file. */
#include "base/log_ring_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "unit/test.h"

#define SIZE 100

static struct sys sys;
static struct sys_ops ops;
static struct log_sink sink;
static struct log_ring ring;
static struct log_ring_file file;
static char dir[] = "/tmp/tacit-unit-XXXXXX", path[64], bak[64];
static unsigned int failures, writes;
static int failed_with, refuse, shorten;

static long
pwrite_some(void *ctx, int fd, const void *buf, size_t len, off_t at)
{
	writes++;
	if (refuse)
		return -refuse;
	return sys_linux.pwrite64(ctx, fd, buf, shorten ? MIN(len, 7) : len, at);
}

static long
fallocate_fails(void *ctx, int fd, int mode, off_t at, off_t len)
{
	return refuse ? -refuse : sys_linux.fallocate(ctx, fd, mode, at, len);
}

static void
on_failure(void *arg, int err)
{
	assert_ptr_equal(arg, &file);
	failures++;
	failed_with = err;
}

static int
setup(void **state)
{
	const struct log_ident id = { "tacit", NULL, 7, NULL };

	(void)state;
	ops = sys_linux;
	ops.pwrite64 = pwrite_some;
	ops.fallocate = fallocate_fails;
	sys_init(&sys, &ops, NULL);
	log_sink_init(&sink, &sys, &id);
	log_ring_init(&ring);
	ring.size = SIZE;
	ring.maxlen = SIZE - LOG_RING_OVERHEAD;
	assert_int_equal(log_ring_open(&ring), 0);
	memset(&file, 0, sizeof(file));
	file.on_failure = on_failure;
	file.arg = &file;
	failures = writes = 0;
	refuse = shorten = 0;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/ring", dir);
	snprintf(bak, sizeof(bak), "%s/ring.bak", dir);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	log_ring_file_close(&file, 0);
	assert_true(list_is_empty(&ring.readers));
	log_ring_fini(&ring);
	log_sink_fini(&sink);
	(void)unlink(path);
	(void)unlink(bak);
	assert_int_equal(rmdir(dir), 0);
	return 0;
}

static void
post(const char *text, size_t n)
{
	uint32_t len = (uint32_t)n;
	struct log_batch *b = mem_alloc(sizeof(*b) + sizeof(len) + len);

	assert_non_null(b);
	memcpy(b->text, &len, sizeof(len));
	memcpy(b->text + sizeof(len), text, len);
	b->len = sizeof(len) + len;
	assert_true(log_ring_post(&ring, b) >= 0);
}

static void
put(const char *text)
{
	post(text, strlen(text));
	log_ring_collect(&ring, &sink);
}

static void
start(void)
{
	assert_int_equal(log_ring_file_open(&file, &sys, &ring, path), 0);
}

/* The bytes of a file; it has `size` of them. */
static const char *
bytes_of(const char *name, size_t size)
{
	static char buf[4096];
	int fd = open(name, O_RDONLY);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	assert_int_equal(n, size);
	buf[n] = '\0';
	return buf;
}

static void
write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int
exists(const char *name)
{
	return access(name, F_OK) == 0;
}

static void
the_file_has_the_size_of_the_ring_and_is_private(void **state)
{
	static const char none[SIZE];
	struct stat st;

	(void)state;
	start();
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, SIZE);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* Its blocks are there. */
	assert_true(st.st_blocks > 0);
	assert_memory_equal(bytes_of(path, SIZE), none, SIZE);
	assert_false(exists(bak));
}

static void
messages_of_before_and_later_are_lines(void **state)
{
	(void)state;
	put("before");
	put("");
	start();
	assert_string_equal(bytes_of(path, SIZE), "before\n\n");
	put("later");
	assert_string_equal(bytes_of(path, SIZE), "before\n\nlater\n");
}

static void
a_turn_of_messages_is_one_call(void **state)
{
	(void)state;
	start();
	for (int i = 0; i < 5; i++)
		post("message", 7);
	log_ring_collect(&ring, &sink);
	assert_int_equal(writes, 1);
	assert_string_equal(bytes_of(path, SIZE), "message\nmessage\nmessage\nmessage\nmessage\n");
}

/* --- the circle --- */

/* The contents of the file, oldest first, as the manual describes how to read it. */
static const char *
in_order(void)
{
	static char out[SIZE + 1];
	const char *p = bytes_of(path, SIZE), *mark = memchr(p, '\0', SIZE), *old = mark;
	size_t n = 0;

	while (old && old < p + SIZE && !*old)
		old++;
	for (; old && old < p + SIZE && *old; old++)
		out[n++] = *old;
	memcpy(out + n, p, mark ? (size_t)(mark - p) : SIZE);
	n += mark ? (size_t)(mark - p) : SIZE;
	out[n] = '\0';
	return out;
}

/* Lines of all lengths, several laps: the newest are there, whole and in order; before them is at
 * most the rest of one. */
static void
the_file_keeps_the_newest_lines_in_order(void **state)
{
	static char all[40000];
	size_t n = 0;

	(void)state;
	start();
	for (unsigned int i = 0; i < 400; i++) {
		char text[SIZE];
		size_t len = (size_t)snprintf(text, sizeof(text), "%u:%.*s", i, (int)(i * 7 % 40),
			"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
		const char *got;

		put(text);
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s\n", text);
		got = in_order();
		assert_true(strlen(got) >= MIN(n, SIZE - 2 * 44));
		assert_true(strlen(got) <= n);
		if (strcmp(got, all + n - strlen(got)) != 0)
			fail_msg("after '%s' there is '%s'", text, got);
		assert_true(strlen(got) > len);
	}
}

static void
lines_may_fill_it_to_the_last_byte(void **state)
{
	char text[SIZE];

	(void)state;
	ring.maxlen = SIZE;
	start();
	memset(text, 'x', sizeof(text));
	text[49] = '\0';
	put(text);
	put(text);
	assert_int_equal(strlen(bytes_of(path, SIZE)), SIZE);
	put("next");
	assert_memory_equal(bytes_of(path, SIZE), "next\n\0xxx", 9);
	/* The longest that the ring takes. */
	memset(text, 'y', sizeof(text));
	post(text, SIZE - LOG_RING_OVERHEAD);
	log_ring_collect(&ring, &sink);
	assert_memory_equal(bytes_of(path, SIZE) + SIZE - 6, "yy\n\0\0\0", 6);
}

static void
more_than_the_ring_has_leaves_what_it_has(void **state)
{
	char text[16];

	(void)state;
	start();
	for (int i = 0; i < 1000; i++)
		post(text, (size_t)snprintf(text, sizeof(text), "message %d", i));
	log_ring_collect(&ring, &sink);
	assert_memory_equal(bytes_of(path, SIZE), "message 994\n", 12);
	assert_non_null(strstr(in_order(), "message 998\nmessage 999\n"));
}

static void
short_writes_are_continued(void **state)
{
	(void)state;
	shorten = 1;
	start();
	put("a message of some length");
	put("and another one");
	assert_string_equal(bytes_of(path, SIZE), "a message of some length\nand another one\n");
	assert_int_equal(failures, 0);
}

/* --- a previous file of that name --- */

static void
the_previous_file_is_renamed_once(void **state)
{
	(void)state;
	write_file(path, "former");
	write_file(bak, "before it");
	start();
	put("now");
	assert_string_equal(bytes_of(bak, 6), "former");
	assert_string_equal(bytes_of(path, SIZE), "now\n");
}

static void
another_size_is_no_matter(void **state)
{
	(void)state;
	start();
	put("small");
	log_ring_file_close(&file, 0);
	log_ring_fini(&ring);
	log_ring_init(&ring);
	ring.size = 3 * SIZE;
	assert_int_equal(log_ring_open(&ring), 0);
	memset(&file, 0, sizeof(file));
	start();
	put("large");
	assert_string_equal(bytes_of(bak, SIZE), "small\n");
	assert_string_equal(bytes_of(path, 3 * SIZE), "large\n");
}

static void
an_empty_one_is_not_kept(void **state)
{
	(void)state;
	write_file(path, "");
	start();
	put("now");
	assert_false(exists(bak));
	assert_int_equal(file.rename_err, 0);
	assert_string_equal(bytes_of(path, SIZE), "now\n");
}

static void
a_file_that_cannot_be_renamed_is_overwritten(void **state)
{
	(void)state;
	assert_int_equal(mkdir(bak, 0700), 0);
	write_file(path, "former, and longer than the ring: ...................................."
			 "..........................................");
	start();
	put("now");
	assert_int_equal(file.rename_err, -EISDIR);
	assert_string_equal(bytes_of(path, SIZE), "now\n");
	log_ring_file_close(&file, 1);
	/* There is nothing else to go back to. */
	assert_string_equal(bytes_of(path, SIZE), "now\n");
	assert_int_equal(rmdir(bak), 0);
}

/* The previous process writes on, as after a reload. */
static void
the_previous_process_still_writes_its_file(void **state)
{
	struct log_ring_file former;

	(void)state;
	start();
	put("one");
	former = file;
	list_append(&ring.readers, &former.reader.link);
	list_remove(&file.reader.link);
	memset(&file, 0, sizeof(file));
	start();
	put("two");
	assert_string_equal(bytes_of(bak, SIZE), "one\ntwo\n");
	assert_string_equal(bytes_of(path, SIZE), "one\ntwo\n");
	log_ring_file_close(&former, 0);
}

static void
a_start_that_fails_can_be_undone(void **state)
{
	(void)state;
	write_file(path, "former");
	start();
	put("now");
	log_ring_file_close(&file, 1);
	assert_string_equal(bytes_of(path, 6), "former");
	assert_false(exists(bak));
	assert_int_equal(unlink(path), 0);
	memset(&file, 0, sizeof(file));
	start();
	log_ring_file_close(&file, 1);
	assert_false(exists(path));
}

/* --- errors --- */

static void
a_full_file_system_is_an_error_of_the_start(void **state)
{
	(void)state;
	write_file(path, "former");
	refuse = ENOSPC;
	assert_int_equal(log_ring_file_open(&file, &sys, &ring, path), -ENOSPC);
	assert_string_equal(bytes_of(path, 6), "former");
	assert_false(exists(bak));
	assert_int_equal(unlink(path), 0);
	memset(&file, 0, sizeof(file));
	assert_int_equal(log_ring_file_open(&file, &sys, &ring, path), -ENOSPC);
	assert_false(exists(path));
	memset(&file, 0, sizeof(file));
}

static void
a_file_system_need_not_allocate(void **state)
{
	(void)state;
	refuse = EOPNOTSUPP;
	start();
	refuse = 0;
	put("now");
	assert_string_equal(bytes_of(path, SIZE), "now\n");
}

static void
other_than_regular_files_are_left_alone(void **state)
{
	(void)state;
	assert_int_equal(log_ring_file_open(&file, &sys, &ring, "/dev/null"), -ERR_UNSUPPORTED);
	memset(&file, 0, sizeof(file));
	assert_int_equal(log_ring_file_open(&file, &sys, &ring, dir), -ERR_UNSUPPORTED);
	memset(&file, 0, sizeof(file));
	/* A link to nothing would make a file elsewhere. */
	assert_int_equal(symlink(bak, path), 0);
	assert_int_equal(log_ring_file_open(&file, &sys, &ring, path), -EEXIST);
	assert_false(exists(bak));
	memset(&file, 0, sizeof(file));
}

static void
failures_of_writes_are_reported_once(void **state)
{
	(void)state;
	start();
	refuse = EIO;
	put("lost");
	put("lost, too");
	assert_int_equal(failures, 1);
	assert_int_equal(failed_with, EIO);
	refuse = 0;
	put("now");
	assert_string_equal(bytes_of(path, SIZE), "now\n");
	/* The ring has all. */
	assert_int_equal(ring.tail, 3 * LOG_RING_OVERHEAD + 4 + 9 + 3);
	refuse = EIO;
	for (int i = 0; i < 50; i++)
		put("lost at the end of a lap");
	assert_int_equal(failures, 1);
	refuse = 0;
	put("again");
	assert_non_null(strstr(in_order(), "again\n"));
}

static void
a_file_that_others_truncate_grows_again(void **state)
{
	(void)state;
	start();
	put("one");
	assert_int_equal(truncate(path, 0), 0);
	put("two");
	assert_memory_equal(bytes_of(path, 9), "\0\0\0\0two\n\0", 9);
	assert_int_equal(failures, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(the_file_has_the_size_of_the_ring_and_is_private),
		CASE(messages_of_before_and_later_are_lines),
		CASE(a_turn_of_messages_is_one_call),
		CASE(the_file_keeps_the_newest_lines_in_order),
		CASE(lines_may_fill_it_to_the_last_byte),
		CASE(more_than_the_ring_has_leaves_what_it_has),
		CASE(short_writes_are_continued),
		CASE(the_previous_file_is_renamed_once),
		CASE(another_size_is_no_matter),
		CASE(an_empty_one_is_not_kept),
		CASE(a_file_that_cannot_be_renamed_is_overwritten),
		CASE(the_previous_process_still_writes_its_file),
		CASE(a_start_that_fails_can_be_undone),
		CASE(a_full_file_system_is_an_error_of_the_start),
		CASE(a_file_system_need_not_allocate),
		CASE(other_than_regular_files_are_left_alone),
		CASE(failures_of_writes_are_reported_once),
		CASE(a_file_that_others_truncate_grows_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
