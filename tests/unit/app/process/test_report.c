#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/process/report.h"
#include "base/sys.h"
#include "unit/test.h"

static char *text;
static size_t len;

static void
say(int quiet, int verbose)
{
	struct report r = { .pid = 42, .quiet = quiet, .verbose = verbose };

	free(text);
	r.to = open_memstream(&text, &len);
	report_msg(&r, REPORT_ALERT, "a%d", 1);
	report_msg(&r, REPORT_WARNING, "b");
	report_msg(&r, REPORT_NOTICE, "c");
	fclose(r.to);
}

static void
name_journal(struct report *r, FILE *journal)
{
	struct stat st;
	char name[80];

	assert_int_equal(fstat(fileno(journal), &st), 0);
	snprintf(name, sizeof(name), "%llu:%llu", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino);
	report_set_journal(r, name);
}

/* A line that continues another one has its priority. Descriptor 2 of a worker process is a pipe at
 * first, and the journal's stream afterwards. */
static void
priorities_for_the_journal(void **state)
{
	struct sys sys;
	struct report r = { .sys = &sys, .pid = 42, .to = tmpfile() };
	FILE *journal = tmpfile();
	char got[120] = "";

	(void)state;
	sys_init(&sys, &sys_linux, NULL);
	assert_true(r.to && journal);
	name_journal(&r, journal);
	report_text(&r, "early\n");
	assert_true(pread(fileno(r.to), got, sizeof(got) - 1, 0) > 0);
	assert_string_equal(got, "early\n");
	assert_true(dup2(fileno(journal), fileno(r.to)) >= 0);
	report_text(&r, "hm\n[ALERT]    (1) : x\n  y\n[NOTICE]   (1) : z");
	report_msg(&r, REPORT_WARNING, "b");
	assert_true(pread(fileno(journal), got, sizeof(got) - 1, 0) > 0);
	assert_string_equal(got, "<6>hm\n<1>[ALERT]    (1) : x\n<1>  y\n<5>[NOTICE]   (1) : z"
				 "<4>[WARNING]  (42) : b\n");
	fclose(journal);
	fclose(r.to);
}

static void *
read_all(void *fd)
{
	char part[4096];
	ssize_t n;
	size_t sum = 0;

	while ((n = read(*(int *)fd, part, sizeof(part))) > 0)
		sum += (size_t)n;
	return (void *)sum;
}

/* Messages for a pipe that is full: they wait for its reader until the process has started. */
static void
messages_wait_for_room(void **state)
{
	enum { MANY = 1 << 20 };
	struct sys sys;
	struct report r = { .sys = &sys };
	struct pollfd room = { .events = POLLOUT };
	char *many = calloc(1, MANY + 1);
	pthread_t reader;
	void *sum;
	int fd[2];

	(void)state;
	assert_non_null(many);
	memset(many, 'x', MANY);
	sys_init(&sys, &sys_linux, NULL);
	assert_int_equal(pipe2(fd, O_NONBLOCK), 0);
	assert_int_equal(fcntl(fd[0], F_SETFL, 0), 0);
	r.to = fdopen(fd[1], "w");
	room.fd = fd[1];
	/* Without a reader each text is written as far as the pipe has room. The second text
	 * would wait for hours. */
	r.patience_ms = 1;
	report_text(&r, many);
	r.patience_ms = 10000000;
	report_text(&r, many);
	r.is_started = 1;
	report_text(&r, many);
	r.is_started = 0;
	assert_int_equal(ioctl(fd[0], FIONREAD, &r.pid), 0);
	assert_in_range(r.pid, 1, MANY - 1);
	assert_int_equal(pthread_create(&reader, NULL, read_all, &fd[0]), 0);
	/* Messages wait again when one has found room. */
	(void)poll(&room, 1, -1);
	report_text(&r, many);
	fclose(r.to);
	assert_int_equal(pthread_join(reader, &sum), 0);
	assert_int_equal((size_t)sum, MANY + (size_t)r.pid);
	close(fd[0]);
	free(many);
}

static void
a_stream_must_name_device_and_inode(void **state)
{
	static const char *const others[] = { NULL, "", ":", "1:", "x", "1:1x", "0:0" };
	struct report r = { .to = stderr };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		name_journal(&r, stderr);
		assert_true(r.journal_inode);
		report_set_journal(&r, others[i]);
		assert_true(r.journal_inode == 0);
	}
}

static void
levels(void **state)
{
	(void)state;
	say(0, 0);
	assert_string_equal(text, "[ALERT]    (42) : a1\n[WARNING]  (42) : b\n");
	say(0, 1);
	assert_string_equal(
		text, "[ALERT]    (42) : a1\n[WARNING]  (42) : b\n[NOTICE]   (42) : c\n");
	say(1, 0);
	assert_string_equal(text, "[ALERT]    (42) : a1\n");
	say(1, 1);
	assert_string_equal(text, "[ALERT]    (42) : a1\n");
	free(text);
	text = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels),
		cmocka_unit_test(priorities_for_the_journal),
		cmocka_unit_test(messages_wait_for_room),
		cmocka_unit_test(a_stream_must_name_device_and_inode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
