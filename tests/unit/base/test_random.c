/* Random bytes, read from the kernel a buffer at a time. */

#include <errno.h>
#include <string.h>

#include "base/random.h"
#include "base/sys.h"
#include "unit/test.h"

static unsigned int calls;
static long result; /* 0: as many as were requested */
static unsigned char next_byte;

static long
numbered_bytes(void *ctx, void *buf, size_t len, unsigned int flags)
{
	(void)ctx;
	assert_int_equal(flags, 0);
	calls++;
	if (result)
		return result;
	for (size_t i = 0; i < len; i++)
		((unsigned char *)buf)[i] = next_byte++;
	return (long)len;
}

static const struct sys_ops ops = { .getrandom = numbered_bytes };
static struct sys sys;
static struct random_source source;

static int
setup(void **st)
{
	(void)st;
	sys_init(&sys, &ops, NULL);
	calls = 0;
	result = 0;
	next_byte = 0;
	random_init(&source, &sys);
	return 0;
}

/* Each byte of a buffer is used once, then the buffer is filled again. */
static void
no_byte_is_given_out_twice(void **st)
{
	unsigned char seen[RANDOM_BUFFER] = { 0 }, b[16];

	(void)st;
	for (unsigned int i = 0; i < RANDOM_BUFFER / sizeof(b); i++) {
		assert_int_equal(random_bytes(&source, b, sizeof(b)), 0);
		for (size_t k = 0; k < sizeof(b); k++)
			assert_int_equal(seen[b[k]]++, 0);
	}
	assert_int_equal(calls, 1);
	for (size_t i = 0; i < RANDOM_BUFFER; i++)
		assert_int_equal(source.buf[i], 0);
	assert_int_equal(random_bytes(&source, b, 1), 0);
	assert_int_equal(calls, 2);
}

/* When too few bytes are left for a value, it comes from a new buffer. */
static void
a_value_comes_from_one_buffer(void **st)
{
	unsigned char b[RANDOM_BUFFER];

	(void)st;
	assert_int_equal(random_bytes(&source, b, 250), 0);
	assert_int_equal(random_bytes(&source, b, 10), 0);
	assert_int_equal(calls, 2);
	assert_int_equal(random_bytes(&source, b, RANDOM_BUFFER), 0);
	assert_int_equal(calls, 3);
}

static void
a_failing_kernel_is_reported(void **st)
{
	unsigned char b[4] = { 1, 2, 3, 4 };

	(void)st;
	result = -ENOSYS;
	assert_int_equal(random_bytes(&source, b, 4), -ENOSYS);
	result = 7;
	assert_int_equal(random_bytes(&source, b, 4), -EIO);
	assert_memory_equal(b, "\1\2\3\4", 4);
	result = 0;
	assert_int_equal(random_bytes(&source, b, 4), 0);
}

/* The version is 4 and the variant 10, whatever the bytes are. */
static void
a_uuid_is_of_version_4(void **st)
{
	char text[RANDOM_UUID_SIZE];

	(void)st;
	assert_int_equal(random_uuid(&source, text), 0);
	assert_string_equal(text, "f7f6f5f4-f3f2-41f0-bffe-fdfcfbfaf9f8");
	result = -ENOSYS;
	source.left = 0;
	assert_int_equal(random_uuid(&source, text), -ENOSYS);
	assert_string_equal(text, "00000000-0000-4000-8000-000000000000");
}

/* Two sources on the real kernel give different bytes. */
static void
two_sources_differ(void **st)
{
	struct random_source two[2];
	unsigned char b[2][32];

	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	for (int i = 0; i < 2; i++) {
		random_init(&two[i], &sys);
		assert_int_equal(random_bytes(&two[i], b[i], sizeof(b[i])), 0);
	}
	assert_memory_not_equal(b[0], b[1], sizeof(b[0]));
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup(fn, setup)
	const struct CMUnitTest tests[] = {
		T(no_byte_is_given_out_twice),
		T(a_value_comes_from_one_buffer),
		T(a_failing_kernel_is_reported),
		T(a_uuid_is_of_version_4),
		T(two_sources_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
