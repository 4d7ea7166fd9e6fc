/* Arrays that grow. Any thread; the array is the caller's. */
#include "base/array.h"

#include "base/mem.h"

#define FIRST_CAP 4

void *
array_grow(void *p, size_t n, unsigned int *cap, size_t size)
{
	unsigned int twice = *cap ? 2 * *cap : FIRST_CAP;
	void *grown;

	if (n < *cap)
		return p;
	grown = twice > *cap ? mem_resize(p, twice, size) : NULL;
	if (grown)
		*cap = twice;
	return grown;
}
