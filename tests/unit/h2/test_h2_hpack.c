/* The memory of HPACK's tables. */
#include <stdio.h>

#include "unit/h2/block.h"
#include "unit/test.h"

#define LEN 30

static int
next_field(void *ctx, struct h2_field *out)
{
	struct h2_field **f = ctx;

	if (!*f)
		return 0;
	*out = **f;
	*f = NULL;
	return 1;
}

static void
ignore_field(void *ctx, const struct h2_field *f)
{
	(void)ctx;
	(void)f;
}

/* Gives both tables the entry number i. */
static void
add_entry(struct h2_hpack *to, struct h2_hpack *from, int i)
{
	uint8_t block[200];
	char value[LEN + 1];
	struct h2_field f = { .name = STR("x-a"), .value = { value, LEN } }, *next = &f;
	long n;

	(void)snprintf(value, sizeof(value), "%0*d", LEN, i);
	n = h2_hpack_encode(from, next_field, &next, block, sizeof(block));
	assert_true(n > 0);
	assert_int_equal(h2_hpack_decode(to, block, (size_t)n, ignore_field, NULL), 0);
}

/* All that the tables take is counted, and given back. An entry is two texts and three blocks of
 * memory, or four with a name of its own. */
static void
memory_is_counted(void **st)
{
	struct h2_hpack in, out;
	size_t made, full;

	(void)st;
	init_table(&in);
	init_table(&out);
	add_entry(&in, &out, 0);
	made = table_bytes;
	assert_in_range(made, 2048, 12000);
	for (int i = 1; i < 60; i++)
		add_entry(&in, &out, i);
	assert_in_range(table_bytes - made, 2 * 59 * (LEN + 32), 2 * 59 * 300);
	full = table_bytes;
	h2_hpack_park(&in);
	assert_in_range(in.parked_len, 59 * LEN, 60 * (LEN + 32));
	assert_in_range(full - table_bytes, full / 4, full / 2);
	h2_hpack_park(&out);
	assert_in_range(table_bytes, in.parked_len, in.parked_len + 64);
	/* Both begin with an empty table. */
	add_entry(&in, &out, 60);
	assert_in_range(table_bytes, made, made + 64);
	h2_hpack_fini(&in);
	h2_hpack_fini(&out);
	assert_int_equal(table_bytes, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
