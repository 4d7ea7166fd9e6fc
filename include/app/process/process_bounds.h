/* Warnings about limits in the configuration. */
#ifndef TACIT_APP_PROCESS_PROCESS_BOUNDS_H
#define TACIT_APP_PROCESS_PROCESS_BOUNDS_H

#include "app/process/process.h"

/* Warns of socket buffer sizes above the kernel's limits. */
void process_check_sockbufs(struct process *p);

#endif
