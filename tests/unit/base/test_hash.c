/* Hash functions: the expected values are those of HAProxy 2.6, observed over the network. */
#include <string.h>

#include "base/hash.h"
#include "unit/test.h"

static const struct {
	const char *text;
	uint32_t sdbm, djb2, crc32;
	uint32_t mixed_sdbm, mixed_djb2, mixed_crc32;
} table[] = {
	{ "a", 97, 177670, 3904355907, 1830748055, 3548763807, 1288200982 },
	{ "hello", 684824882, 261238937, 907060870, 2061535398, 1119739105, 3902247103 },
	{ "/index.html", 858007926, 3776231887, 3928116034, 4217574924, 1889807916, 571229468 },
	{ "127.0.0.1", 1894847165, 1532542490, 3619153832, 88673145, 959482364, 3849206273 },
	{ "The_quick_brown_fox_jumps_over_13_lazy_dogs", 2787529533, 3346054444, 2111181024,
		34993602, 3323669703, 2845087496 },
};

static void
test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const char *p = table[i].text;
		size_t n = strlen(p);

		assert_int_equal(hash_sdbm(p, n), table[i].sdbm);
		assert_int_equal(hash_djb2(p, n), table[i].djb2);
		assert_int_equal(hash_crc32(p, n), table[i].crc32);
		assert_int_equal(hash_avalanche(table[i].sdbm), table[i].mixed_sdbm);
		assert_int_equal(hash_avalanche(table[i].djb2), table[i].mixed_djb2);
		assert_int_equal(hash_avalanche(table[i].crc32), table[i].mixed_crc32);
	}
}

static void
test_hash_of_nothing(void **state)
{
	(void)state;
	assert_int_equal(hash_sdbm("", 0), 0);
	assert_int_equal(hash_djb2("", 0), 5381);
	assert_int_equal(hash_crc32("", 0), 0);
}

/* Bytes are unsigned, and NUL is an ordinary byte. */
static void
test_any_byte(void **state)
{
	(void)state;
	assert_int_equal(hash_sdbm("\xff", 1), 255);
	assert_int_equal(hash_djb2("\xff", 1), 5381 * 33 + 255);
	assert_int_equal(hash_crc32("\xff", 1), 0xff000000);
	assert_int_not_equal(hash_djb2("\0", 1), hash_djb2("", 0));
}

/* RFC 9260, and RFC 3720, B.4; in one piece and in two. */
static void
test_crc32c(void **state)
{
	char zeros[32] = { 0 };

	(void)state;
	assert_int_equal(hash_crc32c(0, "", 0), 0);
	assert_int_equal(hash_crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(hash_crc32c(hash_crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
	assert_int_equal(hash_crc32c(0, zeros, 32), 0x8a9136aa);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_hash_of_nothing),
		cmocka_unit_test(test_any_byte),
		cmocka_unit_test(test_crc32c),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
