#include <string.h>

#include "base/ledger.h"
#include "base/sys.h"
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

/* Accounts count apart, and all of them are the ledger. */
static void
test_accounts_are_parts_of_the_ledger(void **state)
{
	struct ledger all = { 0 }, one = { 0 };
	struct sys s;

	(void)state;
	sys_init(&s, &sys_linux, NULL);
	(void)sys_getpid(&s);
	assert_int_equal(ledger_open_accounts(&s, 3), 0);
	sys_charge(&s, 2);
	(void)sys_getpid(&s); /* not begun: of account 0 */
	sys_charge_first(&s, 2);
	(void)sys_getpid(&s);
	(void)sys_getpid(&s);
	assert_int_equal(s.account->account, 2);
	sys_charge_none(&s);
	(void)sys_getpid(&s);
	sys_charge_first(&s, 0);
	assert_ptr_equal(s.account, &s.ledger);
	ledger_add_account(&one, &s, 1);
	assert_int_equal(ledger_total(&one), 0);
	ledger_add_account(&one, &s, 2);
	assert_int_equal(ledger_sum(&one, SYS_CALL_getpid), 2);
	ledger_add_all(&all, &s);
	assert_int_equal(ledger_sum(&all, SYS_CALL_getpid), 5);
	sys_charge(&s, 2);
	ledger_close_accounts(&s);
	assert_int_equal(ledger_sum(&s.ledger, SYS_CALL_getpid), 5);
	(void)sys_getpid(&s);
	assert_int_equal(ledger_sum(&s.ledger, SYS_CALL_getpid), 6);
	ledger_close_accounts(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_names_are_the_kernels),
		cmocka_unit_test(test_clock_reads_stand_apart),
		cmocka_unit_test(test_adding_up_workers),
		cmocka_unit_test(test_accounts_are_parts_of_the_ledger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
