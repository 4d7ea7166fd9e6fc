#include <stdio.h>
#include <string.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/process/daemon.h"
#include "base/err.h"
#include "base/sys.h"
#include "unit/test.h"

static struct sys sys;

/* A service manager's socket at path ('@': abstract). */
static int
manager(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memcpy(un.sun_path, path, len);
	if (path[0] == '@')
		un.sun_path[0] = '\0';
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&un,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)), 0);
	return fd;
}

static void
says(int fd, const char *path)
{
	struct notify n;
	char buf[NOTIFY_TEXT_MAX + 1];
	ssize_t len;

	assert_int_equal(notify_open(&n, &sys, path), 0);
	notify_send(&n, "READY=1\nSTATUS=%d", 7);
	len = recv(fd, buf, sizeof(buf) - 1, 0);
	assert_true(len > 0);
	buf[len] = '\0';
	assert_string_equal(buf, "READY=1\nSTATUS=7");
	/* a text that is too long is truncated, not rejected */
	notify_send(&n, "STATUS=%0*d", 2 * NOTIFY_TEXT_MAX, 1);
	assert_int_equal(recv(fd, buf, sizeof(buf), 0), NOTIFY_TEXT_MAX - 1);
	/* a service manager that is gone is ignored */
	close(fd);
	notify_send(&n, "STOPPING=1");
	notify_close(&n);
	assert_int_equal(n.fd, -1);
}

static void
path_socket(void **state)
{
	char dir[] = "/tmp/tacit-notify-XXXXXX";
	char path[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/n", dir);
	says(manager(path), path);
	unlink(path);
	rmdir(dir);
}

static void
abstract_socket(void **state)
{
	char name[64];

	(void)state;
	snprintf(name, sizeof(name), "@tacit-notify-%d", (int)getpid());
	says(manager(name), name);
}

static void
nobody_listens(void **state)
{
	struct notify n;
	char longest[200];

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(notify_open(&n, &sys, NULL), 0);
	notify_send(&n, "READY=1");
	assert_int_equal(notify_open(&n, &sys, ""), 0);
	assert_int_equal(notify_open(&n, &sys, "relative"), -ERR_INVAL);
	assert_int_equal(notify_open(&n, &sys, "@"), -ERR_INVAL);
	assert_int_equal(notify_open(&n, &sys, longest), -ERR_INVAL);
	assert_int_equal(notify_open(&n, &sys, "/nonexistent/n"), -ENOENT);
	assert_int_equal(n.fd, -1);
	notify_send(&n, "READY=1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path_socket),
		cmocka_unit_test(abstract_socket),
		cmocka_unit_test(nobody_listens),
	};

	sys_init(&sys, &sys_linux, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
