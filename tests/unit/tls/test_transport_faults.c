/* The transport of TLS when the k-th call of the system or the k-th allocation fails, for all k:
 * OpenSSL's allocations too. What was read is a prefix of what was written, nothing is leaked, and
 * the next connection works. */
#include "sim/faults.h"
#include "unit/tls/tls_rig.h"

static struct rig g;

static int
setup(void **st)
{
	(void)st;
	rig_open(&g, 2048);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	rig_close(&g);
	return 0;
}

static struct dialogue
small_dialogue(enum tls_role role)
{
	return (struct dialogue){ .role = role, .request = 100, .answer = 6000, .read_len = 64,
				  .write_len = 6000, .uses_more = 1, .on_daemon = faults_apply };
}

/* One that is whole shows that nothing is left of the failure before. */
static void
next_one_works(enum tls_role role)
{
	struct dialogue d = small_dialogue(role);

	dialogue_run(&g, &d, 500);
	dialogue_must_be_whole(&d);
	rig_disconnect(&g);
}

static void
each_call_may_fail(void **st)
{
	unsigned int failures = 0;

	(void)st;
	for (unsigned int role = TLS_ACCEPTS; role <= TLS_CONNECTS; role++)
		for (unsigned int i = 0; i < 4; i++) {
			enum sys_call hit = 0;

			for (uint64_t nth = 1; nth < 200 && hit != SYS_CALLS; nth += test_every()) {
				struct dialogue d = small_dialogue(role);

				g.torture = nth;
				g.torture_errno = i;
				dialogue_run(&g, &d, 500);
				hit = fake_failed_call(g.k);
				fake_torture(g.k, 0, 0);
				g.torture = 0;
				failures += d.failed != 0;
				rig_disconnect(&g);
			}
			next_one_works(role);
		}
	assert_true(failures > 10 / test_every());
}

static void
each_allocation_may_fail(void **st)
{
	unsigned int failures = 0;

	(void)st;
	for (unsigned int role = TLS_ACCEPTS; role <= TLS_CONNECTS; role++) {
		int hit = 1;

		next_one_works(role);
		for (uint64_t nth = 1; nth < 10000 && hit; nth += test_every()) {
			struct dialogue d = small_dialogue(role);

			faults_set(nth);
			dialogue_run(&g, &d, 500);
			hit = faults_hit();
			faults_set(0);
			failures += d.failed != 0;
			assert_true(d.failed || d.heard == d.request);
			rig_disconnect(&g);
		}
		next_one_works(role);
	}
	assert_true(failures > 100 / test_every());
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(each_call_may_fail, setup, teardown),
	cmocka_unit_test_setup_teardown(each_allocation_may_fail, setup, teardown),
};

int
main(void)
{
	if (openssl_faults_begin() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
