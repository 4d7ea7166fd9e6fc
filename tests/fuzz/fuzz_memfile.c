/*
 * Memory files of previous worker processes: any bytes are refused or read within their bounds,
 * and every record that is listed is found by its key.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
expect(int ok)
{
	if (!ok)
		abort();
}

/* The bytes of a payload are read. */
static void
check_item(const struct memfile_view *v, const struct memfile_item *item, const char *from,
	size_t size)
{
	const char *p = item->payload;
	volatile char last;

	expect(p > from && item->len <= size && p + item->len <= from + size);
	expect((uintptr_t)(p - from) % MEMFILE_ALIGN == 0);
	expect(item->kind > 0 && item->kind < MEMFILE_KINDS);
	expect(memfile_find(v, item->kind, item->key, item->alias) != NULL);
	if (item->len)
		last = p[item->len - 1];
	(void)last;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memfile_view v;
	const char *why = NULL;
	char *copy = NULL;

	/* Exactly that size, so that a read beyond it is detected. */
	if (posix_memalign((void **)&copy, MEMFILE_ALIGN, size ? size : 1))
		return 0;
	memcpy(copy, data, size);
	if (memfile_read(&v, copy, size, 1, &why) == 0)
		for (unsigned int i = 0; i < v.n; i++)
			check_item(&v, &v.item[i], copy, size);
	else
		expect(why != NULL && v.n == 0);
	memfile_close(&v);
	free(copy);
	return 0;
}
