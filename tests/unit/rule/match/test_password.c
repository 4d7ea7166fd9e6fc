#include "rule/match/userlist.h"
#include "unit/test.h"

#include <stdlib.h>
/* The unit itself, instead of the library's. */
#include "rule/match/userlist.c"

/* "tiger", hashed by openssl passwd. */
#define SHA256 "$5$abcdefgh$bu4eUBeLzhH2k6fuOBOQ4feULF54vXKiXw.XgFWWjT7"
#define SHA512                                                                         \
	"$6$abcdefgh$YbbFhYJ45n36HDcH8No51gOWWvyuzrrA8juiKR/984t6NgxHJ5uHP6TeHsNccECN6" \
	"cYRzvtVlRW0bg4xDv8sg1"
#define MD5 "$1$abcdefgh$JwUHHj6d3iZojViDCToRQ."

static const char *const hashes[] = { SHA256, SHA512, MD5 };

/* As decoded from base64: not terminated, so that the sanitizer detects reads beyond it. */
static int
has(const char *said, size_t n, const char *hash)
{
	char *copy = malloc(n ? n : 1);
	int is;

	assert_non_null(copy);
	memcpy(copy, said, n);
	is = password_has_hash((struct str){ copy, n }, hash);
	free(copy);
	return is;
}

static void
passwords_match_their_hashes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hashes) / sizeof(*hashes); i++) {
		assert_null(password_hash_fault(hashes[i]));
		assert_true(has("tiger", 5, hashes[i]));
		assert_false(has("tigeR", 5, hashes[i]));
		assert_false(has("tiger", 4, hashes[i]));
		assert_false(has("", 0, hashes[i]));
		/* the bytes after a NUL count */
		assert_false(has("tiger\0x", 7, hashes[i]));
		assert_false(has("tiger", 6, hashes[i]));
	}
}

static void
passwords_that_cannot_be_hashed(void **state)
{
	char said[PASSWORD_MAX + 2];

	(void)state;
	memset(said, 'x', sizeof(said));
	assert_false(has(said, PASSWORD_MAX, SHA256));
	assert_false(has(said, PASSWORD_MAX + 1, SHA256));
	assert_false(has("x", 1, "$nothing$"));
}

static void
faults_of_hashes(void **state)
{
	(void)state;
	assert_string_equal(password_hash_fault("$9$xx$yy"), "it is no hash of crypt(3)");
	assert_string_equal(password_hash_fault("*"), "it is no hash of crypt(3)");
	assert_string_equal(password_hash_fault("!"), "it is no hash of crypt(3)");
	assert_string_equal(password_hash_fault("x"), "it is no hash of crypt(3)");
	assert_string_equal(password_hash_fault(""), "it is no hash of crypt(3)");
	assert_string_equal(password_hash_fault("$6$abcdefgh"), "it is not whole");
	assert_string_equal(password_hash_fault("$5$abcdefgh$bu4eUBeL"), "it is not whole");
	assert_string_equal(password_hash_fault("elgato"), "it is not whole");
	assert_string_equal(password_hash_fault("correcthorsebattery"), "it is not whole");
	/* hashes of a password of more than eight characters, and of a shorter one */
	assert_null(password_hash_fault("abWQ5bHvH4UN2ZbCTnjnQ9Gc"));
	assert_null(password_hash_fault("abWQ5bHvH4UN2"));
	/* the method would truncate this salt, so no password matches */
	assert_string_equal(password_hash_fault("$1$abcdefghi$JwUHHj6d3iZojViDCToRQ."),
		"it is not whole");
}

static void
texts_are_compared(void **state)
{
	(void)state;
	assert_true(password_is_text(STR("elgato"), STR("elgato")));
	assert_false(password_is_text(STR("elgatO"), STR("elgato")));
	assert_false(password_is_text(STR("elgat"), STR("elgato")));
	assert_false(password_is_text(STR("elgatoelgato"), STR("elgato")));
	assert_false(password_is_text(STR(""), STR("elgato")));
	assert_false(password_is_text(STR("x"), STR("")));
	assert_false(password_is_text(STR("\0"), STR("")));
	assert_true(password_is_text(STR(""), STR("")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passwords_match_their_hashes),
		cmocka_unit_test(passwords_that_cannot_be_hashed),
		cmocka_unit_test(faults_of_hashes),
		cmocka_unit_test(texts_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
