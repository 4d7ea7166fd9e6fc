/* Responses: the input is a server's data; see head.h for the checks. */
#include "fuzz/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_head(HTTP_RESPONSE, (const char *)data, size);
	return 0;
}
