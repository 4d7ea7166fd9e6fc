/* Responses: the input is what a server sends; see head.h for what is held. */
#include "fuzz/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_head(HTTP_RESPONSE, (const char *)data, size);
	return 0;
}
