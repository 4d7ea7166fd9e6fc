/* --reload: a client of the master's socket. It does nothing else, and waits without a limit: the
 * service manager has one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "app/main/start_int.h"
#include "base/err.h"

static int
ask_to_reload(struct sys *sys, const char *path)
{
	static const char command[] = "reload\n";
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	long fd, r = -ENAMETOOLONG;

	fd = sys_socket(sys, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return (int)fd;
	if (strlen(path) < sizeof(un.sun_path)) {
		memcpy(un.sun_path, path, strlen(path) + 1);
		r = sys_connect(sys, (int)fd, (const struct sockaddr *)(const void *)&un,
			sizeof(un));
	}
	if (r >= 0)
		r = sys_sendto(sys, (int)fd, command, sizeof(command) - 1, MSG_NOSIGNAL);
	if (r >= 0)
		return (int)fd;
	(void)sys_close(sys, (int)fd);
	return (int)r;
}

int
start_reload(struct sys *sys, const char *path)
{
	static const char success[] = "Success=1\n";
	char buf[4096], first[sizeof(success) - 1];
	size_t have = 0;
	int fd = ask_to_reload(sys, path);
	long r;

	if (fd < 0) {
		fprintf(stderr, "%s: %s\n", path, err_text(fd));
		return 1;
	}
	while ((r = sys_read(sys, fd, buf, sizeof(buf))) > 0) {
		size_t n = MIN((size_t)r, sizeof(first) - have);

		memcpy(first + have, buf, n);
		have += n;
		(void)!fwrite(buf, 1, (size_t)r, stdout);
	}
	(void)sys_close(sys, fd);
	return have == sizeof(first) && memcmp(first, success, have) == 0 ? 0 : 1;
}
