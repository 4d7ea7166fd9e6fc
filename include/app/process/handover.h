/*
 * Handing over connections from the worker that accepted them to another one (manual 3.2,
 * tune.listener.multi-queue): the kernel's distribution does not know the load of workers.
 */
#ifndef TACIT_APP_PROCESS_HANDOVER_H
#define TACIT_APP_PROCESS_HANDOVER_H

#include "base/compiler.h"

struct listener;
struct process;

/* A worker is clearly busier than another with this many more connections, and an eighth more. */
#define HANDOVER_MARGIN 4u

/* Lets the listener's worker hand over connections, if configured and if another worker accepts on
 * the address. */
void handover_enable(struct process *p, struct listener *ln);

#endif
