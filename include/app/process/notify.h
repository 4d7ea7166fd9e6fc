/* The service manager protocol, sd_notify(3): datagrams to $NOTIFY_SOCKET. */
#ifndef TACIT_APP_PROCESS_NOTIFY_H
#define TACIT_APP_PROCESS_NOTIFY_H

#include "base/compiler.h"

struct sys;

#define NOTIFY_TEXT_MAX 512 /* bytes of a message; longer ones are truncated */

struct notify {
	struct sys *sys;
	int fd;       /* -1: no messages are sent */
	int periodic; /* STATUS= is sent at intervals, for the service manager */
};

/*
 * path: $NOTIFY_SOCKET, absolute or '@' and an abstract name; NULL: no messages are sent. Connects
 * at once, so that it works after a chroot. 0, or a negative reason: no messages are sent then.
 */
int notify_open(struct notify *n, struct sys *sys, const char *path) must_check;
void notify_close(struct notify *n);
/* Sends a message, such as "READY=1". Never blocks; failures are ignored. */
void notify_send(struct notify *n, const char *fmt, ...) fmt_printf(2, 3);

#endif
