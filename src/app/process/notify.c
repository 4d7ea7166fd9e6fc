/* Notifies the service manager that the process is ready, reloads or stops. First worker; a
 * datagram that cannot be sent is dropped. */
#include "app/process/notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/err.h"
#include "base/sys.h"

int
notify_open(struct notify *n, struct sys *sys, const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	size_t len;
	long r;

	n->sys = sys;
	n->fd = -1;
	n->periodic = 1;
	if (!path || !path[0])
		return 0;
	len = strlen(path);
	if ((path[0] != '/' && path[0] != '@') || len >= sizeof(un.sun_path) || !path[1])
		return -ERR_INVAL;
	memcpy(un.sun_path, path, len);
	if (path[0] == '@')
		un.sun_path[0] = '\0';
	r = sys_socket(sys, AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (r < 0)
		return (int)r;
	n->fd = (int)r;
	/* An abstract name has no NUL at its end, a path may have one. */
	r = sys_connect(sys, n->fd, (const struct sockaddr *)(const void *)&un,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	if (r < 0)
		notify_close(n);
	return r < 0 ? (int)r : 0;
}

void
notify_close(struct notify *n)
{
	if (n->fd >= 0)
		(void)sys_close(n->sys, n->fd);
	n->fd = -1;
}

void
notify_send(struct notify *n, const char *fmt, ...)
{
	char text[NOTIFY_TEXT_MAX];
	va_list ap;
	int len;

	if (n->fd < 0)
		return;
	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len <= 0)
		return;
	if ((size_t)len >= sizeof(text))
		len = sizeof(text) - 1;
	(void)sys_sendto(n->sys, n->fd, text, (size_t)len, MSG_NOSIGNAL);
}
