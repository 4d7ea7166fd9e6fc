/*
 * Memory for texts made by an evaluation: one arena per worker. Marked and released like a stack.
 * A value has at most tune.bufsize bytes, and the arena several times as many: for what the value
 * is made of, and for the values that rules have given a message. If a text does not fit the sample
 * is not found, which is counted.
 */
#ifndef TACIT_RULE_SAMPLE_ARENA_H
#define TACIT_RULE_SAMPLE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

struct arena {
	char *p;
	size_t used, cap;
	size_t max;        /* bytes of a value; 0: as many as fit */
	uint64_t refused;
};

/* NULL when it does not fit. */
char *arena_get(struct arena *a, size_t n) must_check;
/* A copy. p is NULL if it does not fit. */
struct str arena_copy(struct arena *a, struct str s);
static inline size_t
arena_value_max(const struct arena *a)
{
	return a->max ? a->max : a->cap;
}
static inline size_t
arena_mark(const struct arena *a)
{
	return a->used;
}
static inline void
arena_release(struct arena *a, size_t mark)
{
	a->used = mark;
}

#endif
