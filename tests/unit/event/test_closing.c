/* The calls that close a set of descriptors, on the fake kernel. */

#include <errno.h>

#include "base/compiler.h"
#include "fake/kernel.h"
#include "unit/test.h"
/* The unit itself, instead of the library's. */
#include "event/loop.c"

#define FDS 12

static struct fake *k;
static struct sys sys;
static struct closing c;
static struct loop_slot slots[FAKE_FD_MIN + 200];

static int
setup(void **st)
{
	(void)st;
	k = fake_new();
	sys_init(&sys, &sys_fake, k);
	assert_int_equal(closing_init(&c, FDS), 0);
	for (int i = 0; i < FDS; i++)
		assert_int_equal(
			sys_socket(&sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), FAKE_FD_MIN + i);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	closing_fini(&c);
	fake_free(&k);
	return 0;
}

/* Descriptors relative to the first one; the list ends with -1. */
struct row {
	int fd[FDS + 1];
	unsigned int ranges, closes;
};

static const struct row rows[] = {
	{ { -1 }, 0, 0 },
	{ { 3, -1 }, 0, 1 },
	{ { 3, 4, -1 }, 1, 0 },
	{ { 4, 3, -1 }, 1, 0 },
	{ { 3, 5, -1 }, 0, 2 },
	{ { 7, 0, 2, 1, 8, 5, -1 }, 2, 1 },
	{ { 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1 }, 1, 0 },
};

static void
neighbours_go_in_one_call(void **st)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unsigned int n = 0;

		for (; rows[i].fd[n] >= 0; n++)
			closing_add(&c, FAKE_FD_MIN + rows[i].fd[n], 0);
		closing_flush(&c, &sys, slots);
		assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_close_range), rows[i].ranges);
		assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_close), rows[i].closes);
		assert_int_equal(fake_fds(k), FDS - n);
		assert_int_equal(fake_abuse(k, FAKE_BAD_FD), 0);
		assert_int_equal(c.n, 0);
		(void)teardown(st);
		(void)setup(st);
	}
}

/* More than are sorted by insertion. */
static void
many_are_sorted_too(void **st)
{
	enum { MANY = 100 };
	int fd[MANY];

	(void)teardown(st);
	k = fake_new();
	sys_init(&sys, &sys_fake, k);
	assert_int_equal(closing_init(&c, MANY), 0);
	for (int i = 0; i < MANY; i++)
		fd[i] = (int)sys_socket(&sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	for (int i = 0; i < MANY; i++)
		closing_add(&c, fd[i * 37 % MANY], 0);
	closing_flush(&c, &sys, slots);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_close_range), 1);
	assert_int_equal(fake_fds(k), 0);
	assert_int_equal(fake_abuse(k, FAKE_BAD_FD), 0);
}

static void
an_old_kernel_closes_them_one_by_one(void **st)
{
	(void)st;
	fake_fail(k, SYS_CALL_close_range, 1, ENOSYS);
	for (int i = 0; i < 3; i++)
		closing_add(&c, FAKE_FD_MIN + i, 0);
	closing_flush(&c, &sys, slots);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_close), 3);
	assert_int_equal(fake_fds(k), FDS - 3);
}

/* A range of one account counts there, one of several in account 0. */
static void
closes_have_an_account(void **st)
{
	static const unsigned int accounts[] = { 1, 1, 9, 2, 9, 1, 2, 9, 2 }; /* 9: stays open */

	(void)st;
	assert_int_equal(ledger_open_accounts(&sys, 3), 0);
	ledger_begin_account(&sys, 1);
	ledger_begin_account(&sys, 2);
	for (unsigned int i = 0; i < ARRAY_LEN(accounts); i++) {
		slots[FAKE_FD_MIN + i].account = (uint16_t)accounts[i];
		if (accounts[i] < 9)
			closing_add(&c, FAKE_FD_MIN + (int)i, accounts[i]);
	}
	closing_flush(&c, &sys, slots);
	assert_int_equal(ledger_sum(sys.accounts[1], SYS_CALL_close_range), 1);
	assert_int_equal(ledger_sum(sys.accounts[1], SYS_CALL_close), 0);
	assert_int_equal(ledger_sum(sys.accounts[2], SYS_CALL_close), 2);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_close_range), 1);
	assert_ptr_equal(sys.account, &sys.ledger);
	/* The next turn begins with nothing. */
	closing_add(&c, FAKE_FD_MIN + 2, 2);
	closing_flush(&c, &sys, slots);
	assert_int_equal(ledger_sum(sys.accounts[2], SYS_CALL_close), 3);
	ledger_close_accounts(&sys);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(neighbours_go_in_one_call),
		CASE(many_are_sorted_too),
		CASE(an_old_kernel_closes_them_one_by_one),
		CASE(closes_have_an_account),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
