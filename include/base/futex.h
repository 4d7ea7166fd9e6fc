/*
 * Waiting for a word that another thread changes: futex(2) through the worker's sys, so that the
 * ledger counts it. For long waits; for a few instructions use base/lock.h.
 */
#ifndef TACIT_BASE_FUTEX_H
#define TACIT_BASE_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/sys.h"

/* Sleeps while *word equals `is`, at most ms (negative: no limit). May return early: check the word
 * again. */
static inline void
futex_wait(struct sys *sys, _Atomic uint32_t *word, uint32_t is, int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	(void)sys_futex(sys, (uint32_t *)word, FUTEX_WAIT_PRIVATE, is, ms < 0 ? NULL : &ts);
}

/* Wakes all threads that sleep on it; to be called after the word was changed. */
static inline void
futex_wake(struct sys *sys, _Atomic uint32_t *word)
{
	(void)sys_futex(sys, (uint32_t *)word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

/* Sleeps for about this time, for retries of operations that send no wake-up. */
static inline void
futex_pause(struct sys *sys, int ms)
{
	_Atomic uint32_t own = 0;

	futex_wait(sys, &own, 0, ms);
}

#endif
