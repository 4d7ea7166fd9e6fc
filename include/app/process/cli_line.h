/* Commands in the input of a socket for administrators: a line, perhaps with a payload after "<<",
 * which ends with an empty line; and parts of the answers. Pure. */
#ifndef TACIT_APP_PROCESS_CLI_LINE_H
#define TACIT_APP_PROCESS_CLI_LINE_H

#include <stddef.h>

#include "base/compiler.h"
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

enum {
	CLI_LINE_MAX = 16384,      /* bytes of a line with all its commands */
	CLI_PAYLOAD_MAX = 131072,  /* of a payload: a certificate with its chain */
	CLI_READ_CHUNK = 4096,     /* that are read at once */
	/* The bound on the input that is kept: nothing is read behind a command that is
	 * complete. */
	CLI_INPUT_MAX = CLI_LINE_MAX + CLI_PAYLOAD_MAX + 2 * CLI_READ_CHUNK
};

/* The scanned part of the input's first command, so that no byte of a payload is scanned twice
 * while it comes; all zero at first. */
struct cli_scan {
	size_t payload;     /* its start, 0: none */
	size_t at;          /* of the first line of it that has not ended */
	unsigned int lines; /* that have ended, with that of the words */
};

/* Length of the first command of the input with its payload; 0: incomplete. At EOF an unterminated
 * line is complete, but a payload is not. */
size_t cli_line_len(const char *in, size_t len, int eof, struct cli_scan *s) must_check;
/* True if the first command of the input is longer than one may be; len: its length, 0: it is
 * incomplete. */
int cli_line_is_long(const char *in, size_t have, size_t len) must_check;
/* Ends the words of this command and its payload with a NUL each, without their line ends. Returns
 * the payload; NULL: none. */
char *cli_line_begin(char *in, size_t len, size_t payload);
/* Removes a command from the start of the input. */
void cli_line_drop(struct sbuf *in, size_t len, struct cli_scan *s);

/* The prefix of a message. */
void cli_add_severity(struct sbuf *out, enum bind_severity form, int severity);

#endif
