#include <string.h>

#include "base/ledger.h"
#include "unit/test.h"

static void
test_outcomes(void **state)
{
	struct ledger l;

	(void)state;
	memset(&l, 0, sizeof(l));
	ledger_count(&l, SYS_CALL_recvfrom, 100);
	ledger_count(&l, SYS_CALL_recvfrom, 0);
	ledger_count(&l, SYS_CALL_recvfrom, -EAGAIN);
	ledger_count(&l, SYS_CALL_recvfrom, -ECONNRESET);
	ledger_count(&l, SYS_CALL_connect, -EINPROGRESS);
	assert_int_equal(l.n[SYS_CALL_recvfrom][SYS_OK], 2);
	assert_int_equal(l.n[SYS_CALL_recvfrom][SYS_AGAIN], 1);
	assert_int_equal(l.n[SYS_CALL_recvfrom][SYS_ERROR], 1);
	assert_int_equal(l.n[SYS_CALL_connect][SYS_AGAIN], 1);
	assert_int_equal(ledger_sum(&l, SYS_CALL_recvfrom), 4);
	assert_int_equal(ledger_total(&l), 5);
}

static void
test_names_are_the_kernels(void **state)
{
	(void)state;
	assert_string_equal(ledger_name(SYS_CALL_accept4), "accept4");
	assert_string_equal(ledger_name(SYS_CALL_sendto), "sendto");
	for (int c = 0; c < SYS_CALLS; c++) {
		assert_non_null(ledger_name((enum sys_call)c));
		for (int d = 0; d < c; d++)
			assert_string_not_equal(ledger_name((enum sys_call)c),
				ledger_name((enum sys_call)d));
	}
}

static void
test_clock_reads_stand_apart(void **state)
{
	struct ledger l;

	(void)state;
	memset(&l, 0, sizeof(l));
	ledger_count(&l, SYS_CALL_clock_gettime, 0);
	assert_int_equal(ledger_total(&l), 0);
	assert_int_equal(ledger_sum(&l, SYS_CALL_clock_gettime), 1);
	assert_true(ledger_is_clock(SYS_CALL_clock_gettime));
	assert_false(ledger_is_clock(SYS_CALL_close));
}

static void
test_adding_up_workers(void **state)
{
	struct ledger a, b;

	(void)state;
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	for (int c = 0; c < SYS_CALLS; c++) {
		ledger_count(&a, (enum sys_call)c, 0);
		ledger_count(&b, (enum sys_call)c, c % 2 ? -EAGAIN : -EPIPE);
	}
	ledger_add(&a, &b);
	for (int c = 0; c < SYS_CALLS; c++) {
		assert_int_equal(ledger_sum(&a, (enum sys_call)c), 2);
		assert_int_equal(a.n[c][SYS_OK], 1);
		assert_int_equal(a.n[c][c % 2 ? SYS_AGAIN : SYS_ERROR], 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_names_are_the_kernels),
		cmocka_unit_test(test_clock_reads_stand_apart),
		cmocka_unit_test(test_adding_up_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
