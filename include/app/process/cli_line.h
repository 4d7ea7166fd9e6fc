/* Commands in the input of a socket for administrators: a line, perhaps with a payload after "<<",
 * which ends with an empty line. Pure. */
#ifndef TACIT_APP_PROCESS_CLI_LINE_H
#define TACIT_APP_PROCESS_CLI_LINE_H

#include <stddef.h>

#include "base/compiler.h"
#include "base/sbuf.h"

/*
 * Length of the first command of the input with its payload; 0: incomplete. *payload: the start of
 * the payload, 0: none. At EOF an unterminated line is complete, but a payload is not.
 */
size_t cli_line_len(const char *in, size_t len, int eof, size_t *payload) must_check;
/* Ends the words of this command and its payload with a NUL each, without their line ends. Returns
 * the payload; NULL: none. */
char *cli_line_begin(char *in, size_t len, size_t payload);
/* Removes a command from the start of the input. */
void cli_line_drop(struct sbuf *in, size_t len);

#endif
