/* The pid file, for scripts and supervisors. */
#ifndef TACIT_APP_PROCESS_PIDFILE_H
#define TACIT_APP_PROCESS_PIDFILE_H

#include <sys/types.h>

#include "base/compiler.h"

struct sys;

/*
 * Opens the file while it is still permitted; it is written when the pid is known. The caller owns
 * *fd. 0 or -errno.
 */
int pidfile_open(struct sys *sys, const char *path, int *fd) must_check;
/* Writes "PID\n" and closes, also on failure: 0 or -errno. */
int pidfile_write(struct sys *sys, int fd, pid_t pid) must_check;
/* Removes the file if it still contains this pid and permissions allow it: another process may have
 * replaced it. */
void pidfile_remove(struct sys *sys, const char *path, pid_t pid);

#endif
