/* Warnings about limits. */
#ifndef TACIT_APP_PROCESS_PROCESS_BOUNDS_H
#define TACIT_APP_PROCESS_PROCESS_BOUNDS_H

#include "app/process/process.h"

/* Warns of socket buffer sizes above the kernel's limits. */
void process_check_sockbufs(struct process *p);
/* maxconn is reached: counted, and logged by one of the workers, once a minute at most. On this
 * worker. */
void process_note_full(struct worker *w);

#endif
