/* The numbers that keys become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "net/addr.h"
#include "proxy/balance.h"

static struct addr
from(const char *text)
{
	struct addr_spec spec;
	const char *why;

	assert_int_equal(addr_parse(text, ADDR_ALLOW_UNIX, &spec, &why), 0);
	return spec.addr;
}

static void
test_addresses(void **state)
{
	const struct hash_type plain = { 0 }, mixed = { .avalanche = 1 };
	struct addr four = from("10.1.2.3"), six = from("[2001:db8::1]"), un = from("/run/x");
	uint32_t key;

	(void)state;
	assert_int_equal(balance_key_of_addr(&plain, &four, &key), 1);
	assert_int_equal(key, 0x0a010203);
	assert_int_equal(balance_key_of_addr(&mixed, &four, &key), 1);
	assert_int_equal(key, hash_avalanche(0x0a010203));
	assert_int_equal(balance_key_of_addr(&plain, &six, &key), 1);
	assert_int_equal(key, 0x20010db8 ^ 1);
	assert_int_equal(balance_key_of_addr(&plain, &un, &key), 0);
}

static void
test_texts(void **state)
{
	struct hash_type t = { .function = HASH_SDBM };

	(void)state;
	assert_int_equal(balance_key_of_text(&t, "hello", 5), hash_sdbm("hello", 5));
	t.function = HASH_DJB2;
	assert_int_equal(balance_key_of_text(&t, "hello", 5), hash_djb2("hello", 5));
	t.function = HASH_CRC32;
	assert_int_equal(balance_key_of_text(&t, "hello", 5), hash_crc32("hello", 5));
	t.avalanche = 1;
	assert_int_equal(balance_key_of_text(&t, "hello", 5),
		hash_avalanche(hash_crc32("hello", 5)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
