#ifndef TACIT_CFG_VALUE_SET_H
#define TACIT_CFG_VALUE_SET_H

#include <sched.h>
#include <stdint.h>

#include "cfg/value.h"

/*
 * Sets of small numbers (manual: cpu-map, bind's thread). As in cfg/value.h a parser accepts the
 * whole string or fails: 0 with *out set, or -1 with *out unchanged and the reason in err->text.
 * `err` may be NULL. A range may be reversed, and its upper end may be omitted.
 */

enum { CFG_SET_MAX = 64 };

/* The words of a set. */
extern const struct cfg_enum cfg_set_words[];

/* "all", "odd", "even", "N", "N-M" or "N-" of 1..max (at most CFG_SET_MAX): number N is bit
 * N - 1. */
int cfg_value_set(const char *s, unsigned int max, uint64_t *out, struct cfg_value_err *err);

/* CPUs "N", "N-M" or "N-" of 0..CPU_SETSIZE-1, added to *out. */
int cfg_value_cpus(const char *s, cpu_set_t *out, struct cfg_value_err *err);

#endif
