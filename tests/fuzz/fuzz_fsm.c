/*
 * The fuzzer's bytes are the dice of tests/sim/chance.h: what it finds interesting is another order
 * of events, another size, another fault. Whatever the judge of the world minds is a crash.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/chance.h"

#define CLIENTS 6
#define BYTES 30000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dice d = dice_bytes(data, size);
	struct chance_result r;

	if (chance_play(&d, CLIENTS, BYTES, getenv("SHOW") != NULL, &r) < 0) {
		fprintf(stderr, "%s\n", r.why);
		abort();
	}
	return 0;
}
