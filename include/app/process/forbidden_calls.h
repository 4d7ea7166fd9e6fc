/*
 * The filter of system calls of a process that executes programs: the master, and the helper of
 * external checks. These programs inherit it, so it is a list of what is forbidden
 * (app/process/forbidden_calls.tbl.h), and a forbidden call fails with EPERM: commands and
 * libraries try calls that they can do without. New namespaces are forbidden too, and programs
 * for another architecture are ended. It cannot be removed.
 */
#ifndef TACIT_APP_PROCESS_FORBIDDEN_CALLS_H
#define TACIT_APP_PROCESS_FORBIDDEN_CALLS_H

#include "base/compiler.h"

/* Installs the filter. The process must have given up new privileges. 0; -ENOSYS if the kernel has
 * no such filter or this build leaves it out; another -errno. */
int forbidden_calls_install(void) must_check;

#endif
