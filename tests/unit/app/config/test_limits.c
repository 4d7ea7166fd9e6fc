#include <stdio.h>
#include <string.h>

#include <errno.h>
#include <sys/resource.h>

#include "app/config/limits.h"
#include "base/sys.h"
#include "unit/test.h"

static void
maxconn_is_derived_from_descriptors(void **state)
{
	struct limits_in in = { .listeners = 6, .admin_conns = 10, .soft = 1024, .hard = 4096 };
	struct limits l = limits_plan(&in);

	(void)state;
	assert_int_equal(l.overhead, LIMITS_RESERVE + 16);
	assert_int_equal(l.fds, 4096);
	assert_int_equal(l.table, 4096);
	assert_int_equal(l.maxconn, (4096 - LIMITS_RESERVE - 16) / 2);
	assert_true(l.derived);
	assert_false(l.short_of);
	in.hard_limit = 1000;
	l = limits_plan(&in);
	assert_int_equal(l.fds, 1000);
	in.hard_limit = 0;
	in.ulimit_n = 2000;
	l = limits_plan(&in);
	assert_int_equal(l.fds, 2000);
	assert_false(l.short_of);
}

static void
derived_maxconn_is_capped(void **state)
{
	struct limits_in in = { .soft = UINT64_MAX, .hard = UINT64_MAX };
	struct limits l = limits_plan(&in);

	(void)state;
	assert_int_equal(l.maxconn, LIMITS_AUTO_MAX);
	assert_int_equal(l.fds, LIMITS_AUTO_MAX * LIMITS_PER_CONN + LIMITS_RESERVE);
}

static void
workers_need_descriptors_of_their_own(void **state)
{
	struct limits_in in = { .maxconn = 1000, .workers = 1, .soft = 1024, .hard = 4096 };
	unsigned int one = limits_plan(&in).fds;

	(void)state;
	in.workers = 4;
	assert_int_equal(limits_plan(&in).fds, one + 3 * LIMITS_PER_WORKER);
	in.workers = 0;
	assert_int_equal(limits_plan(&in).fds, one);
}

static void
descriptors_are_derived_from_maxconn(void **state)
{
	struct limits_in in = { .maxconn = 1000, .listeners = 2, .soft = 1024, .hard = 4096 };
	struct limits l = limits_plan(&in);

	(void)state;
	assert_int_equal(l.fds, 2000 + LIMITS_RESERVE + 2);
	assert_false(l.derived);
	assert_false(l.short_of);
	/* numbers of descriptors may be higher than their count */
	in.soft = 3000;
	assert_int_equal(limits_plan(&in).table, 3000);
	in.soft = UINT64_MAX;
	assert_int_equal(limits_plan(&in).table, LIMITS_TABLE_MAX);
	in.soft = 1024;
	in.maxconn = 3000;
	l = limits_plan(&in);
	assert_true(l.short_of);
	assert_int_equal(l.maxconn, 3000);
	in.privileged = 1;
	assert_false(limits_plan(&in).short_of);
	in.maxconn = 10000000;
	in.privileged = 0;
	assert_true(limits_plan(&in).short_of);
}

static void
too_few_descriptors(void **state)
{
	struct limits_in in = { .listeners = 10, .soft = 16, .hard = 16 };
	struct limits l = limits_plan(&in);

	(void)state;
	assert_true(l.short_of);
	assert_int_equal(l.maxconn, LIMITS_AUTO_MIN);
	assert_int_equal(l.table, l.fds);
	limits_lower(&in, &l, 16);
	assert_int_equal(l.maxconn, 1);
	limits_lower(&in, &l, 44);
	assert_int_equal(l.fds, 44);
	assert_int_equal(l.maxconn, 5);
}

/* The numbers are HAProxy's: a quarter of maxconn, at least two, or the configured number. */
static void
pipes_take_descriptors(void **state)
{
	struct limits_in in = { .maxconn = 1000, .splices = 1, .soft = 1024, .hard = 4096 };
	struct limits l = limits_plan(&in);
	char buf[160];

	(void)state;
	assert_int_equal(l.pipes, 250);
	assert_int_equal(l.fds, 2500 + LIMITS_RESERVE);
	limits_explain(&l, buf, sizeof(buf));
	assert_string_equal(buf, "maxconn 1000: 2524 descriptors = 2 for each connection, as many "
				 "for each of 250 pipes and 24 others");
	/* As many pipes as fit: a shortage of pipes raises no limit. */
	in.privileged = 1;
	in.hard = 2000 + LIMITS_RESERVE + 101;
	l = limits_plan(&in);
	assert_int_equal(l.pipes, 50);
	assert_int_equal(l.fds, 2100 + LIMITS_RESERVE);
	in.hard = 1000;
	l = limits_plan(&in);
	assert_int_equal(l.pipes, 0);
	assert_int_equal(l.fds, 2000 + LIMITS_RESERVE);
	in.privileged = 0;
	in.hard = 4096;
	in.ulimit_n = 2040;
	assert_int_equal(limits_plan(&in).pipes, (2040 - 2000 - LIMITS_RESERVE) / 2);
	in.ulimit_n = 0;
	in.maxpipes = 2000;
	assert_true(limits_plan(&in).short_of);
	in.maxpipes = 10;
	l = limits_plan(&in);
	assert_int_equal(l.pipes, 10);
	assert_int_equal(l.fds, 2020 + LIMITS_RESERVE);
	in.splices = 0;
	assert_int_equal(limits_plan(&in).pipes, 10);
	in.maxpipes = 0;
	assert_int_equal(limits_plan(&in).pipes, 0);
	in.splices = 1;
	in.maxconn = 2;
	assert_int_equal(limits_plan(&in).pipes, 2);
}

/* The derived limits fit into the descriptors, and larger ones would not. */
static void
connections_and_pipes_share_descriptors(void **state)
{
	struct limits_in in = { .splices = 1 };

	(void)state;
	for (in.hard = 0; in.hard < 300; in.hard++) {
		struct limits l = limits_plan(&in);
		unsigned int more = (l.maxconn + 1) * 2 + 2 * MAX(2u, (l.maxconn + 1) / 4);

		assert_int_equal(l.pipes, MAX(2u, l.maxconn / 4));
		if (in.hard < LIMITS_RESERVE + 6)
			assert_true(l.short_of);
		else
			assert_true(l.overhead + 2 * l.maxconn + 2 * l.pipes <= in.hard);
		assert_true(l.overhead + more > in.hard);
	}
	in.hard = 20000;
	assert_in_range(limits_plan(&in).maxconn, (20000 - LIMITS_RESERVE) * 4 / 10,
		(20000 - LIMITS_RESERVE) * 4 / 10 + 1);
	in.maxpipes = 100;
	assert_int_equal(limits_plan(&in).maxconn, (20000 - LIMITS_RESERVE - 200) / 2);
	in.hard = UINT64_MAX;
	assert_int_equal(limits_plan(&in).fds, LIMITS_RESERVE + 200 + 2 * LIMITS_AUTO_MAX);
}

/* Optional pipes do not reduce the number of connections. */
static void
optional_pipes_take_the_remaining_descriptors(void **state)
{
	struct limits_in in = { .may_splice = 1, .maxconn = 1000, .soft = 1024, .hard = 4096 };
	struct limits l = limits_plan(&in);

	(void)state;
	assert_int_equal(l.pipes, 250);
	assert_int_equal(l.fds, 2500 + LIMITS_RESERVE);
	in.hard = 2000 + LIMITS_RESERVE + 21;
	l = limits_plan(&in);
	assert_int_equal(l.pipes, 10);
	assert_false(l.short_of);
	in.maxconn = 0;
	for (in.hard = 0; in.hard < 300; in.hard++) {
		struct limits with = limits_plan(&in), without;

		in.may_splice = 0;
		without = limits_plan(&in);
		in.may_splice = 1;
		assert_int_equal(with.maxconn, without.maxconn);
		assert_int_equal(with.fds, without.fds);
		assert_int_equal(with.pipes, 0);
		limits_lower(&in, &with, 16);
		assert_int_equal(with.pipes, 0);
	}
	in.hard = UINT64_MAX;
	l = limits_plan(&in);
	assert_int_equal(l.maxconn, LIMITS_AUTO_MAX);
	assert_int_equal(l.pipes, LIMITS_AUTO_MAX / 4);
	assert_int_equal(l.fds, LIMITS_AUTO_MAX / 4 * 10 + LIMITS_RESERVE);
	in.ulimit_n = LIMITS_AUTO_MAX * 2 + LIMITS_RESERVE + 50;
	l = limits_plan(&in);
	assert_int_equal(l.pipes, 25);
	assert_int_equal(l.fds, in.ulimit_n);
	in.maxpipes = 3;
	assert_int_equal(limits_plan(&in).pipes, 3);
}

static void
a_limit_that_is_too_low_is_explained(void **state)
{
	struct limits_in in = { .maxconn = 10, .soft = 1024, .hard = 4096 };
	struct limits l = limits_plan(&in);
	char buf[160];

	(void)state;
	limits_explain(&l, buf, sizeof(buf));
	assert_string_equal(
		buf, "maxconn 10: 44 descriptors = 2 for each connection and 24 others");
}

static struct rlimit current, set;
static int sets;

static long
fake_prlimit(void *ctx, int res, const struct rlimit *to, struct rlimit *get)
{
	(void)ctx;
	assert_int_equal(res, RLIMIT_NOFILE);
	if (to) {
		set = *to;
		sets++;
		return to->rlim_max > current.rlim_max ? -EPERM : 0;
	}
	*get = current;
	return 0;
}

static long
fake_getuid(void *ctx)
{
	(void)ctx;
	return 1000;
}

static void
limits_are_set_in_the_kernel(void **state)
{
	struct sys_ops ops = sys_linux;
	struct sys sys;
	struct limits_in in = { .maxconn = 100 };
	struct limits l;

	(void)state;
	ops.prlimit64 = fake_prlimit;
	ops.getuid = fake_getuid;
	sys_init(&sys, &ops, NULL);
	current = (struct rlimit){ .rlim_cur = 64, .rlim_max = RLIM_INFINITY };
	assert_int_equal(limits_read(&sys, &in), 0);
	assert_int_equal(in.soft, 64);
	assert_true(in.hard == UINT64_MAX);
	assert_false(in.privileged);
	current.rlim_max = 300;
	assert_int_equal(limits_read(&sys, &in), 0);
	l = limits_plan(&in);
	assert_int_equal(limits_apply(&sys, &in, &l), 0);
	assert_int_equal(set.rlim_cur, 200 + LIMITS_RESERVE);
	assert_int_equal(set.rlim_max, 300);
	/* the limit is high enough: no system call */
	in.soft = 300;
	sets = 0;
	assert_int_equal(limits_apply(&sys, &in, &l), 0);
	assert_int_equal(sets, 0);
	in.soft = 64;
	l.fds = 400;
	assert_int_equal(limits_apply(&sys, &in, &l), -EPERM);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maxconn_is_derived_from_descriptors),
		cmocka_unit_test(derived_maxconn_is_capped),
		cmocka_unit_test(descriptors_are_derived_from_maxconn),
		cmocka_unit_test(too_few_descriptors),
		cmocka_unit_test(pipes_take_descriptors),
		cmocka_unit_test(connections_and_pipes_share_descriptors),
		cmocka_unit_test(workers_need_descriptors_of_their_own),
		cmocka_unit_test(optional_pipes_take_the_remaining_descriptors),
		cmocka_unit_test(a_limit_that_is_too_low_is_explained),
		cmocka_unit_test(limits_are_set_in_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
