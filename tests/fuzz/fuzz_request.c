/* Requests: the input is what a client sends; see head.h for what is held. */
#include "fuzz/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_head(HTTP_REQUEST, (const char *)data, size);
	return 0;
}
