/*
 * WATCHDOG=1 for the service manager, as sd_watchdog_enabled(3) describes: sent while every worker
 * makes progress. Each round sends a message to every worker; the next round sends WATCHDOG=1 if
 * all have answered. Otherwise nothing is sent, and the service manager's time runs out.
 */
#ifndef TACIT_APP_PROCESS_WATCHDOG_H
#define TACIT_APP_PROCESS_WATCHDOG_H

#include <stdint.h>

#include "base/compiler.h"
#include "event/timer.h"

struct process;

/* Rounds in the service manager's interval: an answer may be late by more than one. */
#define WATCHDOG_ROUNDS 4

struct watchdog {
	struct timer timer;
	uint64_t interval_ms;  /* between rounds; 0: there is no watchdog */
	_Atomic uint32_t round;
};

/* The interval between rounds from $WATCHDOG_USEC, or 0: no watchdog. $WATCHDOG_PID must be `pid`,
 * if it is there. Both may be NULL. */
uint64_t watchdog_interval(const char *usec, const char *watched, long pid);
/* Starts it, if there is an interval. 0 or -ERR_NOMEM. */
int watchdog_start(struct process *p) must_check;
void watchdog_stop(struct process *p);

#endif
