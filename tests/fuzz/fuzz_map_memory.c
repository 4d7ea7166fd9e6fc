/*
 * A map in a previous worker process's memory file: any bytes are refused or repeated within their
 * bounds, and the map stays usable.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rule/match/pattern_restore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
expect(int ok)
{
	if (!ok)
		abort();
}

static void
add_line(struct pattern_ref *ref, const char *key)
{
	struct rule_err why = { 0 };

	expect(pattern_ref_add(ref, ref->version, (struct str){ key, 2 }, (struct str){ "v", 1 },
		       &why) == 0);
}

/* Every current entry is found. */
static void
check_entries(const struct pattern_ref *ref)
{
	unsigned int n = 0;

	list_each(it, &ref->entries) {
		const struct pattern_entry *e = list_entry(it, struct pattern_entry, link);

		expect(pattern_ref_find(ref, pattern_entry_text(e)) != NULL);
		expect(strlen(e->bytes) == pattern_entry_text(e).len &&
			strlen(e->value) == e->value_len);
		n++;
	}
	expect(n == ref->n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pattern_ref *ref = pattern_ref_new("f.map", &keyhash_known);
	struct memfile_item item = { .len = size };
	const struct memfile_item *chunk = &item;
	struct pattern_restore r;
	struct rule_err why = { 0 };
	struct pattern_set set;
	char *copy = NULL;

	if (!ref || posix_memalign((void **)&copy, MEMFILE_ALIGN, size ? size : 1))
		abort();
	memcpy(copy, data, size);
	item.payload = copy;
	ref->two_columns = 1;
	pattern_set_init(&set, PATTERN_STR, SAMPLE_STR, &keyhash_known);
	expect(pattern_ref_feed(ref, &set, 0, &why) == 0);
	add_line(ref, "k1");
	add_line(ref, "k2");
	(void)pattern_kept_restore(ref, &chunk, 1, &r);
	check_entries(ref);
	pattern_set_forget(&set);
	pattern_ref_free(&ref);
	free(copy);
	return 0;
}
