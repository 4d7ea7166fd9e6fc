/*
 * Waiting for a word that another thread changes: futex(2), through the worker's sys, so that the
 * ledger knows. For threads that may wait long; a lock of a few instructions is base/lock.h.
 */
#ifndef TACIT_BASE_FUTEX_H
#define TACIT_BASE_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/sys.h"

/* Sleeps while *word is `is`, ms at most (below 0: for ever). May return early: look again. */
static inline void
futex_wait(struct sys *sys, _Atomic uint32_t *word, uint32_t is, int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	(void)sys_futex(sys, (uint32_t *)word, FUTEX_WAIT_PRIVATE, is, ms < 0 ? NULL : &ts);
}

/* Wakes whoever sleeps on it, after it was changed. */
static inline void
futex_wake(struct sys *sys, _Atomic uint32_t *word)
{
	(void)sys_futex(sys, (uint32_t *)word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

/* Sleeps about that long. For what is tried again and wakes nobody. */
static inline void
futex_pause(struct sys *sys, int ms)
{
	_Atomic uint32_t own = 0;

	futex_wait(sys, &own, 0, ms);
}

#endif
