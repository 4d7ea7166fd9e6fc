/*
 * Capabilities (capabilities(7)): all are given up when the process listens, but for those that the
 * configuration needs afterwards. A set has one bit for each, 1 << CAP_X. Main thread, before other
 * threads are started: the kernel keeps a set for each thread.
 */
#ifndef TACIT_APP_PROCESS_CAPABILITIES_H
#define TACIT_APP_PROCESS_CAPABILITIES_H

#include <stdint.h>

#include "base/compiler.h"

struct config;
struct sys;

/* The capabilities that `setcap` names, and those that keywords need while tacit serves. */
uint64_t capabilities_wanted(const struct config *c);
/* Makes what a process without root is permitted to have effective, if anything is wanted: the file
 * of the program may permit more than it gives (setcap(8), "=p"). 0 or -errno. */
int capabilities_raise(struct sys *sys, uint64_t set) must_check;
/* No program that is executed gets any but these. No effect, and 0, if the process may not limit
 * that. 0 or -errno. */
int capabilities_bound(struct sys *sys, uint64_t set) must_check;
/* Gives up all but these, of those that the process has and of those that programs which it
 * executes inherit. 0 or -errno. */
int capabilities_limit(struct sys *sys, uint64_t set) must_check;
/* Gives up all but these, of those that the process has; programs inherit none. 0 or -errno. */
int capabilities_keep(struct sys *sys, uint64_t set) must_check;

#endif
