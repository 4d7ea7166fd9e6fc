/* The pid file: opened before privileges are dropped, written when the pid is known. Main
 * thread. */
#include "app/process/pidfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/sys.h"

int
pidfile_open(struct sys *sys, const char *path, int *fd)
{
	long r = sys_openat(sys, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (r < 0)
		return (int)r;
	*fd = (int)r;
	return 0;
}

int
pidfile_write(struct sys *sys, int fd, pid_t pid)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)pid);
	long r = sys_ftruncate(sys, fd, 0);

	/* A device has no length. */
	if (r >= 0 || r == -EINVAL)
		r = sys_write(sys, fd, text, (size_t)n);
	(void)sys_close(sys, fd);
	if (r < 0)
		return (int)r;
	return r == n ? 0 : -EIO;
}

void
pidfile_remove(struct sys *sys, const char *path, pid_t pid)
{
	long fd = sys_openat(sys, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	char text[24], found[24];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)pid);
	long r;

	if (fd < 0)
		return;
	r = sys_read(sys, (int)fd, found, sizeof(found));
	(void)sys_close(sys, (int)fd);
	if (r == n && memcmp(found, text, (size_t)n) == 0)
		(void)sys_unlink(sys, path);
}
