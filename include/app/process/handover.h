/*
 * Connections that one worker accepts and another serves (manual 3.2, tune.listener.multi-queue):
 * the kernel's hashing is blind to how much each has to do.
 */
#ifndef TACIT_APP_PROCESS_HANDOVER_H
#define TACIT_APP_PROCESS_HANDOVER_H

#include "base/compiler.h"

struct listener;
struct process;

/* What makes a worker clearly busier than another: so many connections more, and an eighth. */
#define HANDOVER_MARGIN 4u

/* Lets the listener's worker give away what it accepts, if the configuration says so and somebody
 * else listens on the address. */
void handover_enable(struct process *p, struct listener *ln);

#endif
