/* Requests: the input is a client's data; see head.h for the checks. */
#include "fuzz/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_head(HTTP_REQUEST, (const char *)data, size);
	return 0;
}
