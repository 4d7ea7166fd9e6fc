/*
 * The origin of the demonstration (`demo-origin`): a child process that answers every HTTP request
 * with one small page and closes. A process of its own, so that the ledger and strace of the proxy
 * show the proxy alone. Not meant for anything else.
 */
#ifndef TACIT_APP_PROCESS_ORIGIN_H
#define TACIT_APP_PROCESS_ORIGIN_H

#include "app/config/global.h"
#include "app/process/report.h"
#include "base/compiler.h"

struct sys;

enum {
	ORIGIN_REQUEST_MAX = 8192, /* bytes of a request's head */
	ORIGIN_CONNS_MAX = 4096,
	ORIGIN_TIMEOUT_MS = 10000, /* of a whole exchange */
	ORIGIN_ENDED = 1           /* we are the child, and it has done its work */
};

/*
 * Starts it when the configuration wants one. It ends when *fd, the caller's, is closed, which the
 * death of this process does too. 0, or a negative reason that was reported; *fd is -1 when there
 * is none. In the child: ORIGIN_ENDED, when nothing is left but to exit.
 */
int origin_spawn(struct sys *sys, const struct global_conf *g, const struct report *report, int *fd)
	must_check;

#endif
