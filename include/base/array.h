/* Arrays that grow as elements are added. */
#ifndef TACIT_BASE_ARRAY_H
#define TACIT_BASE_ARRAY_H

#include <stddef.h>

#include "base/compiler.h"

/*
 * Makes room for one more element in an array (base/mem.h, or NULL) of n elements of this size that
 * has room for *cap: the array, perhaps moved and twice as large. NULL: out of memory, and the old
 * one stays valid.
 */
void *array_grow(void *p, size_t n, unsigned int *cap, size_t size) must_check;

#endif
