/*
 * The filter of system calls (seccomp(2)) of a process that serves. It is made from base/sys.tbl.h
 * and app/process/library_calls.tbl.h: any other call, or one with arguments that are not needed,
 * ends the process by SIGSYS. It cannot be removed.
 */
#ifndef TACIT_APP_PROCESS_SYSCALL_FILTER_H
#define TACIT_APP_PROCESS_SYSCALL_FILTER_H

#include <sys/types.h>

#include "base/compiler.h"

struct syscall_filter {
	int may_fork; /* insecure-fork-wanted */
	int may_mptcp; /* Multipath TCP, which Landlock does not limit */
	pid_t self;   /* abort() sends it a signal */
	pid_t helper; /* of external checks, which is killed and waited for; 0: none */
};

/* For all threads, from now on. 0; -ENOSYS if the kernel has no such filter or this build leaves it
 * out; another -errno. */
int syscall_filter_install(const struct syscall_filter *f) must_check;
/* False in builds whose own calls are not known: sanitizers, coverage. */
int syscall_filter_is_built(void);

#endif
