/* Included by each test: cmocka, and the headers that it needs before it. */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* A test that runs between the file's setup() and teardown(). */
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* Returns n if a long test should play each n-th of its cases: TEST_EVERY=n in the environment. */
static inline unsigned int
test_every(void)
{
	const char *n = getenv("TEST_EVERY");
	unsigned long every = n ? strtoul(n, NULL, 10) : 0;

	return every ? (unsigned int)every : 1;
}

#endif
