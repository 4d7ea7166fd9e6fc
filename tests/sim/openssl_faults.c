/* A shared library's calls of malloc are not redirected by the linker: OpenSSL is given functions
 * of the program's own, whose calls are. */
#include "sim/faults.h"

#include <stdlib.h>

#include "tls/openssl.h"

static void *
fault_malloc(size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	return malloc(n);
}

static void *
fault_realloc(void *p, size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	return realloc(p, n);
}

static void
fault_free(void *p, const char *file, int line)
{
	(void)file;
	(void)line;
	free(p);
}

int
openssl_faults_begin(void)
{
	return CRYPTO_set_mem_functions(fault_malloc, fault_realloc, fault_free) == 1 ? 0 : -1;
}
