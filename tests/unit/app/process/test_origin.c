#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "app/process/origin.h"
#include "base/sys.h"
#include "unit/app/files.h"
#include "net/addr.h"

static struct sys sys;
static struct report quiet;

static int
dial(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = 5 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* All that comes until the end; its length. */
static size_t
drain(int fd, char *buf, size_t size)
{
	size_t n = 0;
	ssize_t r;

	while (n < size - 1 && (r = recv(fd, buf + n, size - 1 - n, 0)) > 0)
		n += (size_t)r;
	buf[n] = '\0';
	return n;
}

static void
answers(void **state)
{
	static const char *const parts[] = { "GET / HTTP/1.1\r\nHost: x\r", "\n", "\r", "\n" };
	struct global_conf g = { .maxaccept = 1 };
	struct addr_spec spec;
	const char *why, *path = files_path("o");
	char buf[4096];
	int fd, c, r, status;

	(void)state;
	assert_int_equal(addr_parse(path, ADDR_ALLOW_UNIX, &spec, &why), 0);
	g.demo_origin = spec.addr;
	fflush(NULL);
	r = origin_spawn(&sys, &g, &quiet, &fd);
	if (r == ORIGIN_ENDED)
		_exit(0);
	assert_int_equal(r, 0);
	assert_true(fd >= 0);
	/* whole, and in pieces that split the blank line everywhere */
	for (int split = 0; split < 2; split++) {
		c = dial(path);
		assert_true(c >= 0);
		for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
			assert_true(send(c, parts[i], strlen(parts[i]), MSG_NOSIGNAL) > 0);
			usleep(split ? 2000 : 0);
		}
		assert_true(drain(c, buf, sizeof(buf)) > 0);
		assert_int_equal(strncmp(buf, "HTTP/1.1 200 OK\r\n", 17), 0);
		assert_int_equal(strlen(strstr(buf, "\r\n\r\n") + 4), 60);
		close(c);
	}
	/* no end in sight: cut off */
	c = dial(path);
	memset(buf, 'x', sizeof(buf));
	for (int i = 0; i < 2 * ORIGIN_REQUEST_MAX / (int)sizeof(buf) + 1; i++)
		if (send(c, buf, sizeof(buf), MSG_NOSIGNAL) < 0)
			break;
	assert_int_equal(drain(c, buf, sizeof(buf)), 0);
	close(c);
	/* it goes with whoever holds the descriptor */
	close(fd);
	assert_true(wait(&status) > 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(dial(path), -1);
}

static void
none_wanted(void **state)
{
	struct global_conf g = { .maxaccept = 1 };
	int fd = 5;

	(void)state;
	assert_int_equal(origin_spawn(&sys, &g, &quiet, &fd), 0);
	assert_int_equal(fd, -1);
}

static void
address_taken(void **state)
{
	struct global_conf g = { .maxaccept = 1 };
	struct addr_spec spec;
	const char *why;
	int fd, r;

	(void)state;
	assert_int_equal(addr_parse("/nonexistent/dir/o", ADDR_ALLOW_UNIX, &spec, &why), 0);
	g.demo_origin = spec.addr;
	fflush(NULL);
	r = origin_spawn(&sys, &g, &quiet, &fd);
	if (r == ORIGIN_ENDED)
		_exit(0);
	assert_true(r < 0);
	close(fd);
	assert_true(wait(NULL) > 0);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, files_open, files_close)
	const struct CMUnitTest tests[] = { T(answers), T(none_wanted), T(address_taken) };

	sys_init(&sys, &sys_linux, NULL);
	quiet.to = fopen("/dev/null", "w");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
