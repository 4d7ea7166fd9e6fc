/* The file that holds the process's pid, for scripts and supervisors. */
#ifndef TACIT_APP_PROCESS_PIDFILE_H
#define TACIT_APP_PROCESS_PIDFILE_H

#include <sys/types.h>

#include "base/compiler.h"

struct sys;

/*
 * Opened while we may still write there, written when the pid is known. *fd is the caller's.
 * 0 or -errno.
 */
int pidfile_open(struct sys *sys, const char *path, int *fd) must_check;
/* Writes "PID\n" and closes, also on failure: 0 or -errno. */
int pidfile_write(struct sys *sys, int fd, pid_t pid) must_check;
/* Removes it if it still holds this pid, and if we still may: another process may have written it
 * since. */
void pidfile_remove(struct sys *sys, const char *path, pid_t pid);

#endif
