#include <stdio.h>
#include <string.h>

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "app/process/privileges.h"
#include "base/err.h"
#include "base/sys.h"
#include "unit/test.h"

/* A kernel that records the calls in order and keeps one uid. */
static char calls[512];
static uid_t uid;
static int leaky;           /* setuid(0) succeeds again: this must be detected */
static const char *failing; /* the call that fails with EPERM */

static long
note(const char *name, const char *arg)
{
	snprintf(calls + strlen(calls), sizeof(calls) - strlen(calls), "%s(%s) ", name, arg);
	return failing && strcmp(failing, name) == 0 ? -EPERM : 0;
}

static long
note_int(const char *name, long v)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", v);
	return note(name, text);
}

static long
f_chroot(void *ctx, const char *path)
{
	(void)ctx;
	return note("chroot", path);
}

static long
f_chdir(void *ctx, const char *path)
{
	(void)ctx;
	return note("chdir", path);
}

static long
f_setgroups(void *ctx, size_t n, const gid_t *list)
{
	(void)ctx;
	(void)list;
	return note_int("setgroups", (long)n);
}

static long
f_setgid(void *ctx, gid_t gid)
{
	(void)ctx;
	return note_int("setgid", (long)gid);
}

static long
f_setuid(void *ctx, uid_t to)
{
	long r = note_int("setuid", (long)to);

	(void)ctx;
	if (r == 0 && uid != 0 && to == 0 && !leaky)
		return -EPERM;
	if (r == 0)
		uid = to;
	return r;
}

static long
f_getuid(void *ctx)
{
	(void)ctx;
	return uid;
}

static long
f_prctl(void *ctx, int op, unsigned long a)
{
	(void)ctx;
	return note_int(op == PR_SET_DUMPABLE       ? "dumpable"
			: op == PR_SET_NO_NEW_PRIVS ? "nnp"
						    : "prctl",
		(long)a);
}

static long
f_prlimit(void *ctx, int res, const struct rlimit *set, struct rlimit *get)
{
	(void)ctx;
	if (get)
		*get = (struct rlimit){ 0, 77 };
	return set ? note_int(res == RLIMIT_CORE           ? "core"
				     : res == RLIMIT_NPROC ? "nproc"
							   : "rlimit",
			     (long)set->rlim_cur)
		   : 0;
}

static char why[160];

static int
drop(const struct global_conf *g)
{
	struct sys_ops ops = sys_linux;
	struct sys sys;

	ops.chroot = f_chroot;
	ops.chdir = f_chdir;
	ops.setgroups = f_setgroups;
	ops.setgid = f_setgid;
	ops.setuid = f_setuid;
	ops.getuid = f_getuid;
	ops.prctl = f_prctl;
	ops.prlimit64 = f_prlimit;
	sys_init(&sys, &ops, NULL);
	calls[0] = why[0] = '\0';
	return privileges_drop(&sys, g, why, sizeof(why));
}

static int
reset(void **state)
{
	(void)state;
	uid = 0;
	leaky = 0;
	failing = NULL;
	return 0;
}

static void
calls_are_in_the_right_order(void **state)
{
	char jail[] = "/var/empty";
	struct global_conf g = { .chroot = jail, .uid = 100, .gid = 200 };

	(void)state;
	assert_int_equal(drop(&g), 0);
	assert_string_equal(calls,
		"chroot(/var/empty) chdir(/) setgroups(0) setgid(200) setuid(100) "
		"setuid(0) nnp(1) core(0) dumpable(0) ");
}

static void
without_settings_nothing_is_called(void **state)
{
	struct global_conf g = { .set_dumpable = 1, .insecure_setuid = 1, .insecure_fork = 1 };

	(void)state;
	assert_int_equal(drop(&g), 0);
	assert_string_equal(calls, "core(77) dumpable(1) ");
}

static void
root_keeps_its_group_without_a_setting(void **state)
{
	char name[] = "x";
	struct global_conf g = { 0 };
	struct sys_ops ops = sys_linux;
	struct sys s;

	(void)state;
	ops.getuid = f_getuid;
	sys_init(&s, &ops, NULL);
	assert_false(privileges_keeps_group(&s, &g));
	g.uid = 100;
	assert_true(privileges_keeps_group(&s, &g));
	/* also if that is root's group: it was configured */
	g.group = name;
	assert_false(privileges_keeps_group(&s, &g));
	g.group = NULL;
	uid = 100;
	assert_false(privileges_keeps_group(&s, &g));
}

static void
root_must_not_be_regained(void **state)
{
	struct global_conf g = { .uid = 100 };

	(void)state;
	leaky = 1;
	assert_int_equal(drop(&g), -ERR_PERM);
	assert_non_null(strstr(why, "root can be regained"));
}

static void
every_failure_is_an_error(void **state)
{
	static const char *const steps[] = { "chroot", "chdir", "setgroups", "setgid", "setuid",
					     "nnp",    "core",	"dumpable" };
	char jail[] = "/var/empty";
	struct global_conf g = { .chroot = jail, .uid = 100, .gid = 200 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		uid = 0;
		failing = steps[i];
		assert_int_equal(drop(&g), -EPERM);
		assert_true(why[0] != '\0');
	}
}

/* A separate test, since it waits for threads. */
static void
no_processes_from_now_on(void **state)
{
	struct global_conf g = { 0 };
	struct sys_ops ops = sys_linux;
	struct sys s;

	(void)state;
	ops.prlimit64 = f_prlimit;
	sys_init(&s, &ops, NULL);
	calls[0] = '\0';
	assert_int_equal(privileges_seal(&s, &g), 0);
	assert_string_equal(calls, "nproc(0) ");
	failing = "nproc";
	assert_int_equal(privileges_seal(&s, &g), -EPERM);
	g.insecure_fork = 1;
	assert_int_equal(privileges_seal(&s, &g), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(calls_are_in_the_right_order, reset),
		cmocka_unit_test_setup(without_settings_nothing_is_called, reset),
		cmocka_unit_test_setup(root_keeps_its_group_without_a_setting, reset),
		cmocka_unit_test_setup(root_must_not_be_regained, reset),
		cmocka_unit_test_setup(every_failure_is_an_error, reset),
		cmocka_unit_test_setup(no_processes_from_now_on, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
