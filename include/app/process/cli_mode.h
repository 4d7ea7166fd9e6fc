/* The bits of a command of the admin socket: what it requires besides a level, the form of its
 * messages; and the same of a connection of the master's. */
#ifndef TACIT_APP_PROCESS_CLI_MODE_H
#define TACIT_APP_PROCESS_CLI_MODE_H

#include "base/sbuf.h"
#include "net/listener.h"

enum admin_mode {
	ADMIN_MODE_NONE,
	ADMIN_MODE_HIDDEN,       /* nothing, but help does not list it */
	ADMIN_MODE_EXPERIMENTAL, /* experimental-mode on */
	ADMIN_MODE_EXPERT        /* expert-mode on */
};

/* Severities of messages, as syslog's. */
enum cli_severity { CLI_ERR = 3, CLI_NOTICE = 5, CLI_INFO = 6 };

/* The rights of a client on a connection that the master passes. */
struct cli_rights {
	enum bind_level level;
	unsigned int modes; /* bits of enum admin_mode */
	enum bind_severity severity;
};

/* The prefix of a message. */
void cli_add_severity(struct sbuf *out, enum bind_severity form, int severity);

#endif
