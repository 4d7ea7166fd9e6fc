/*
 * The fuzzer's bytes replace the random numbers of tests/sim/random_world.h: other orders of
 * events, other sizes, other faults. An error found by the world is a crash.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/random_world.h"

#define CLIENTS 6
#define BYTES 30000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dice d = dice_bytes(data, size);
	struct random_world_result r;

	if (random_world_play(&d, CLIENTS, BYTES, getenv("SHOW") != NULL, &r) < 0) {
		fprintf(stderr, "%s\n", r.why);
		abort();
	}
	return 0;
}
