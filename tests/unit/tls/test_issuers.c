#include "tls/issuers.h"

#include "unit/tls/tls_rig.h"

static struct tls_issuers all;

static X509 *
take(X509 *x)
{
	unsigned char *der = NULL;
	int len = i2d_X509(x, &der);
	X509 *got = tls_issuers_take(&all, der, len);

	OPENSSL_free(der);
	return got;
}

/* The same bytes are the same certificate, which outlives the table. */
static void
test_shared(void **state)
{
	struct rig_id a = rig_identity(rig_ec(), "a", NULL, NULL, 10);
	struct rig_id b = rig_identity(rig_ec(), "b", NULL, NULL, 10);
	X509 *one, *again, *other;

	(void)state;
	tls_issuers_init(&all);
	one = take(a.cert);
	other = take(b.cert);
	again = take(a.cert);
	assert_non_null(one);
	assert_ptr_equal(one, again);
	assert_ptr_not_equal(one, other);
	assert_ptr_not_equal(one, a.cert);
	tls_issuers_fini(&all);
	assert_int_equal(X509_cmp(one, a.cert), 0);
	assert_int_equal(X509_cmp(other, b.cert), 0);
	X509_free(one);
	X509_free(again);
	X509_free(other);
	rig_free(&a);
	rig_free(&b);
}

static void
test_garbage(void **state)
{
	(void)state;
	tls_issuers_init(&all);
	assert_null(tls_issuers_take(&all, (const unsigned char *)"nothing", 7));
	assert_null(tls_issuers_take(&all, (const unsigned char *)"", 0));
	assert_int_equal(all.index.n, 0);
	ERR_clear_error();
	tls_issuers_fini(&all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
