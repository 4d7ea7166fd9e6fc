/* show events: the list of rings, what they have, and what comes while the client waits. */
#include "unit/app/app_rig.h"

#include "proxy/model/ring_conf.h"

#define RINGS "log ring@one local0\n log ring@two local0\nring one\n description first of two\n" \
	      "ring two\n format priority\n"

static int
setup(void **st)
{
	(void)st;
	rig_open(RINGS, "");
	return 0;
}

static void
say(const char *text)
{
	log_msg(&w->log, LOG_LEVEL_NOTICE, "%s", text);
	log_flush(&w->log);
}

static void
without_a_name_they_are_listed(void **st)
{
	const char *a;

	(void)st;
	a = rig_command("show events");
	rig_check_shape(a);
	rig_check_start(a, "Supported events sinks are listed below.");
	assert_non_null(strstr(a, "\n    one        : type=buffer, 0 dropped, first of two\n"));
	assert_non_null(strstr(a, "\n    two        : type=buffer, 0 dropped, two\n"));
}

static void
stored_events_are_shown(void **st)
{
	(void)st;
	say("hello");
	say("world");
	assert_string_equal(rig_command("show events one"), "hello\nworld\n\n");
	assert_string_equal(rig_command("show events two"), "<133>hello\n<133>world\n\n");
	assert_string_equal(rig_command("show events one -n"), "\n");
}

static void
words_that_it_does_not_know_are_refused(void **st)
{
	static const char *const options[] = { "-", "-x", "-wx", "w", "--w" };
	char line[64];

	(void)st;
	assert_string_equal(rig_command("show events none"), "No such event sink\n\n");
	assert_string_equal(rig_command("show events stdout"),
		"Nothing to report for this sink\n\n");
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		snprintf(line, sizeof(line), "show events one %s", options[i]);
		assert_string_equal(rig_command(line), "unknown option\n\n");
	}
}

/* --- a client that waits --- */

static int
wait_for_events(const char *line)
{
	char name[64];
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int n = snprintf(name, sizeof(name), "tacit-unit-%d", (int)getpid());

	memcpy(un.sun_path + 1, name, (size_t)n);
	assert_int_equal(connect(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_int_equal(send(fd, line, strlen(line), 0), (ssize_t)strlen(line));
	bench_turns();
	return fd;
}

static const char *
heard(int fd)
{
	static char buf[1024];
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, MSG_DONTWAIT);

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

static const struct log_ring *
ring_one(void)
{
	return &ring_conf_find(&cfg.proxies.log.rings, "one")->ring;
}

static void
events_follow_until_the_client_sends_something(void **st)
{
	int fd;

	(void)st;
	say("old");
	fd = wait_for_events("show events one -wn\n");
	assert_string_equal(heard(fd), "");
	say("new");
	bench_turns();
	assert_string_equal(heard(fd), "new\n");
	say("newer");
	bench_turns();
	assert_string_equal(heard(fd), "newer\n");
	assert_false(list_is_empty(&ring_one()->readers));
	assert_int_equal(send(fd, "show info\n", 10, 0), 10);
	bench_turns();
	/* Input of the client is discarded. */
	assert_string_equal(heard(fd), "\n");
	assert_int_equal(recv(fd, &(char){ 0 }, 1, MSG_DONTWAIT), 0);
	assert_true(list_is_empty(&ring_one()->readers));
	close(fd);
	bench_turns();
}

static void
a_nul_may_end_each(void **st)
{
	char buf[64];
	int fd;

	(void)st;
	say("hello");
	say("world");
	fd = wait_for_events("show events one -0;show events one -n0\n");
	assert_int_equal(recv(fd, buf, sizeof(buf), MSG_DONTWAIT), 14);
	assert_memory_equal(buf, "hello\0world\0\n\n", 14);
	close(fd);
	bench_turns();
}

static void
old_ones_come_first(void **st)
{
	int fd;

	(void)st;
	say("old");
	fd = wait_for_events("show events one -w\n");
	assert_string_equal(heard(fd), "old\n");
	say("new");
	bench_turns();
	assert_string_equal(heard(fd), "new\n");
	close(fd);
	bench_turns();
	assert_true(list_is_empty(&ring_one()->readers));
}

static void
a_client_that_has_ended_its_input_does_not_wait(void **st)
{
	int fd;

	(void)st;
	say("old");
	fd = wait_for_events("show events one -w\n");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	bench_turns();
	assert_string_equal(heard(fd), "old\n\n");
	assert_true(list_is_empty(&ring_one()->readers));
	close(fd);
	bench_turns();
}

static void
a_waiting_client_does_not_outlive_the_process(void **st)
{
	(void)st;
	close(wait_for_events("show events one -w\n"));
	/* teardown: nothing is left. */
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		RIG_CASE_SETUP(without_a_name_they_are_listed),
		RIG_CASE_SETUP(stored_events_are_shown),
		RIG_CASE_SETUP(words_that_it_does_not_know_are_refused),
		RIG_CASE_SETUP(events_follow_until_the_client_sends_something),
		RIG_CASE_SETUP(a_nul_may_end_each),
		RIG_CASE_SETUP(old_ones_come_first),
		RIG_CASE_SETUP(a_client_that_has_ended_its_input_does_not_wait),
		RIG_CASE_SETUP(a_waiting_client_does_not_outlive_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
