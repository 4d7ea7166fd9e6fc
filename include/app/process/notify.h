/* The service manager's protocol, sd_notify(3): datagrams to $NOTIFY_SOCKET. */
#ifndef TACIT_APP_PROCESS_NOTIFY_H
#define TACIT_APP_PROCESS_NOTIFY_H

#include "base/compiler.h"

struct sys;

#define NOTIFY_TEXT_MAX 512 /* bytes of a message; longer ones are cut */

struct notify {
	struct sys *sys;
	int fd; /* -1: nobody is told */
};

/*
 * path: $NOTIFY_SOCKET, absolute or '@' and an abstract name; NULL: nobody is told. Connected at
 * once, so that it works after a chroot. 0, or a negative reason: nobody is told then.
 */
int notify_open(struct notify *n, struct sys *sys, const char *path) must_check;
void notify_close(struct notify *n);
/* Sends one message, such as "READY=1". Never waits; failures are not anyone's concern. */
void notify_send(struct notify *n, const char *fmt, ...) fmt_printf(2, 3);

#endif
