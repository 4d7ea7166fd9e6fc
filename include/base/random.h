/*
 * Unpredictable random bytes from the kernel, fetched a few hundred at a time. One source serves
 * one thread.
 */
#ifndef TACIT_BASE_RANDOM_H
#define TACIT_BASE_RANDOM_H

#include <stddef.h>

#include "base/compiler.h"

struct sys;

/* The kernel returns this many bytes in one piece. */
#define RANDOM_BUFFER 256u

struct random_source {
	struct sys *sys;
	size_t left; /* the first `left` bytes of buf are unused */
	unsigned char buf[RANDOM_BUFFER];
};

void random_init(struct random_source *r, struct sys *sys);
/* n <= RANDOM_BUFFER. 0, or -errno and nothing is written. */
int random_bytes(struct random_source *r, void *out, size_t n) must_check;
/* Size of a UUID as text. */
#define RANDOM_UUID_SIZE 37
/* Writes a UUID of version 4. 0, or -errno and its random bits are 0. */
int random_uuid(struct random_source *r, char out[RANDOM_UUID_SIZE]) must_check;

#endif
