/* What the process tells of the bounds in its configuration. */
#ifndef TACIT_APP_PROCESS_PROCESS_BOUNDS_H
#define TACIT_APP_PROCESS_PROCESS_BOUNDS_H

#include "app/process/process.h"

/* Warns of socket buffers that the kernel would silently make smaller. */
void process_check_sockbufs(struct process *p);

#endif
