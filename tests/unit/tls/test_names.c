#include "tls/names.h"

#include <string.h>

#include "tls/bind.h"
#include "unit/tls/tls_rig.h"

static struct tls_names t;
static struct tls_line a, b;

static int
setup(void **state)
{
	(void)state;
	tls_names_init(&t);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	tls_names_fini(&t);
	return 0;
}

/* The first line for a name. */
static const struct tls_line *
first_of(const char *name)
{
	const struct tls_name *n = tls_names_find(&t, name, strlen(name));

	return n ? n->line[0] : NULL;
}

static void
test_order(void **state)
{
	(void)state;
	assert_int_equal(tls_names_add(&t, "*.Example.test", &a), 0);
	assert_int_equal(tls_names_add(&t, "www.example.test", &b), 0);
	assert_int_equal(tls_names_add(&t, "!no.example.test", &a), 0);
	assert_int_equal(tls_names_add(&t, "!*", &a), 0);
	assert_ptr_equal(first_of("x.example.TEST"), &a);
	assert_ptr_equal(first_of("WWW.example.test"), &b);
	assert_null(first_of("no.example.test"));
	assert_null(first_of("example.test"));
	assert_null(first_of("a.b.example.test"));
	assert_null(first_of("other"));
	assert_null(first_of(""));
	/* A name that another line wants is not excluded for it. */
	assert_int_equal(tls_names_add(&t, "no.example.test", &b), 0);
	assert_ptr_equal(first_of("no.example.test"), &b);
}

/* Both lines, each once. */
static void
test_same_name(void **state)
{
	const struct tls_name *n;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tls_names_add(&t, "x", &a), 0);
		assert_int_equal(tls_names_add(&t, "x", &b), 0);
	}
	n = tls_names_find(&t, "x", 1);
	assert_non_null(n);
	assert_int_equal(n->n, 2);
}

static void
test_odd_names(void **state)
{
	char longest[300];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[TLS_NAME_MAX] = '\0';
	assert_int_equal(tls_names_add(&t, longest, &a), 0);
	assert_ptr_equal(first_of(longest), &a);
	longest[TLS_NAME_MAX] = 'a';
	longest[TLS_NAME_MAX + 1] = '\0';
	assert_int_equal(tls_names_add(&t, longest, &a), 0);
	assert_null(first_of(longest));
	assert_null(tls_names_find(&t, "a\0b", 3));
}

static void
test_cert(void **state)
{
	struct rig_id id = rig_identity(rig_ec(), "cn.test",
		"DNS:one.test,DNS:*.two.test,email:a@b.test,IP:1.2.3.4", NULL, 1);

	(void)state;
	assert_int_equal(tls_names_add_cert(&t, id.cert, &a), 0);
	assert_ptr_equal(first_of("cn.test"), &a);
	assert_ptr_equal(first_of("one.test"), &a);
	assert_ptr_equal(first_of("x.two.test"), &a);
	assert_null(first_of("a@b.test"));
	assert_null(first_of("1.2.3.4"));
	rig_free(&id);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_order),
		CASE(test_same_name),
		CASE(test_odd_names),
		CASE(test_cert),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
