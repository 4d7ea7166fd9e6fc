/* Programs that this process runs: found in $PATH as execvp(3) finds them. */
#ifndef TACIT_BASE_EXEC_H
#define TACIT_BASE_EXEC_H

#include <stddef.h>

#include "base/compiler.h"

struct sys;

/*
 * In a process just forked: resets its signals and executes the command args[0], by the PATH of
 * `env` if it has no '/'. Its death follows that of its parent. Returns only if it was not
 * executed: -errno.
 */
int exec_command(struct sys *sys, const char *const *args, const char *const *env);

/*
 * Runs a command and waits for its end, however long it takes. What it writes to its standard
 * output is in out, NUL-terminated; *status is that of wait4(). Other standard streams are those of
 * this process; it gets no other descriptor. The number of bytes, or a negative reason: -EFBIG: it
 * wrote more than size - 1 bytes, and was killed; others: it was not executed. One thread.
 */
long exec_output(struct sys *sys, const char *const *args, const char *const *env, char *out,
	size_t size, int *status) must_check;

#endif
