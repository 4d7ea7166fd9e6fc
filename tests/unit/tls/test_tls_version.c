#include "tls/settings.h"

#include <string.h>

#include "tls/openssl.h"
#include "unit/test.h"

/* Name and number are those of one library, which is at least the headers' version. */
static void
test_version(void **state)
{
	(void)state;
	assert_non_null(strstr(tls_version_name, tls_version_number));
	assert_true(OPENSSL_version_major() >= OPENSSL_VERSION_MAJOR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_version) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
