#include <stdio.h>
#include <string.h>

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "app/process/privileges.h"
#include "base/err.h"
#include "base/sys.h"
#include "unit/test.h"

/* A later kernel's last capability. */
#define LAST_CAP 45
#define ALL_CAPS ((UINT64_C(2) << LAST_CAP) - 1)

/* A kernel that records the calls in order and keeps one uid. */
static char calls[512];
static uid_t uid;
static int leaky;           /* setuid(0) succeeds again: this must be detected */
static const char *failing; /* the call that fails with EPERM */
static uint64_t permitted, effective, bounding; /* capabilities */

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
	if (op == PR_CAPBSET_DROP) {
		if (a > LAST_CAP)
			return -EINVAL;
		bounding &= ~(UINT64_C(1) << a);
		return a ? 0 : note("bound", "");
	}
	return note_int(op == PR_SET_DUMPABLE       ? "dumpable"
			: op == PR_SET_KEEPCAPS     ? "keepcaps"
			: op == PR_SET_NO_NEW_PRIVS ? "nnp"
						    : "prctl",
		(long)a);
}

static long
f_capget(void *ctx, struct __user_cap_header_struct *h, struct __user_cap_data_struct *d)
{
	(void)ctx;
	assert_int_equal(h->version, _LINUX_CAPABILITY_VERSION_3);
	d[0].permitted = (uint32_t)permitted;
	d[1].permitted = (uint32_t)(permitted >> 32);
	return note("capget", "");
}

static long
f_capset(void *ctx, struct __user_cap_header_struct *h, const struct __user_cap_data_struct *d)
{
	(void)ctx;
	assert_int_equal(h->version, _LINUX_CAPABILITY_VERSION_3);
	assert_true(h->pid == 0 && d[0].inheritable == 0 && d[1].inheritable == 0);
	effective = d[0].effective | (uint64_t)d[1].effective << 32;
	permitted = d[0].permitted | (uint64_t)d[1].permitted << 32;
	return note("capset", "");
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
drop_but(const struct global_conf *g, uint64_t keep)
{
	struct sys_ops ops = sys_linux;
	struct sys sys;

	ops.capget = f_capget;
	ops.capset = f_capset;
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
	return privileges_drop(&sys, g, keep, why, sizeof(why));
}

static int
drop(const struct global_conf *g)
{
	return drop_but(g, 0);
}

static int
reset(void **state)
{
	(void)state;
	uid = 0;
	leaky = 0;
	failing = NULL;
	permitted = effective = bounding = ALL_CAPS;
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
		"chroot(/var/empty) chdir(/) bound() setgroups(0) setgid(200) setuid(100) "
		"capget() capset() setuid(0) nnp(1) core(0) dumpable(0) ");
}

static void
without_settings_nothing_is_called(void **state)
{
	struct global_conf g = {
		.set_dumpable = 1, .insecure_setuid = 1, .insecure_fork = 1, .insecure_caps = 1
	};

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
only_a_setting_keeps_root(void **state)
{
	char name[] = "root";
	struct global_conf g = { 0 };
	struct sys_ops ops = sys_linux;
	struct sys s;

	(void)state;
	ops.getuid = f_getuid;
	sys_init(&s, &ops, NULL);
	assert_true(privileges_stays_root(&s, &g));
	g.group = name;
	assert_true(privileges_stays_root(&s, &g));
	g.user = name;
	assert_false(privileges_stays_root(&s, &g));
	g.uid = 100;
	assert_false(privileges_stays_root(&s, &g));
	g = (struct global_conf){ 0 };
	uid = 100;
	assert_false(privileges_stays_root(&s, &g));
}

#define CAP(name) (UINT64_C(1) << CAP_##name)

static void
no_capability_is_left(void **state)
{
	struct global_conf g = { 0 };

	(void)state;
	assert_int_equal(drop(&g), 0);
	assert_true(permitted == 0 && effective == 0 && bounding == 0);
	assert_string_equal(calls, "bound() capget() capset() nnp(1) core(0) dumpable(0) ");
}

static void
wanted_capabilities_are_left(void **state)
{
	struct global_conf g = { .uid = 100 };

	(void)state;
	assert_int_equal(drop_but(&g, CAP(NET_BIND_SERVICE) | CAP(NET_RAW)), 0);
	assert_true(effective == (CAP(NET_BIND_SERVICE) | CAP(NET_RAW)));
	assert_true(permitted == effective && bounding == effective);
	assert_non_null(strstr(calls, "keepcaps(1) setuid(100) capget() capset() setuid(0)"));
}

/* Only of those that the process has: others would be refused. */
static void
net_admin_is_in_the_place_of_net_raw(void **state)
{
	struct global_conf g = { 0 };

	(void)state;
	permitted = CAP(NET_ADMIN) | CAP(CHOWN);
	assert_int_equal(drop_but(&g, CAP(NET_BIND_SERVICE) | CAP(NET_RAW)), 0);
	assert_true(permitted == CAP(NET_ADMIN) && effective == CAP(NET_ADMIN));
	permitted = CAP(NET_ADMIN) | CAP(NET_RAW);
	assert_int_equal(drop_but(&g, CAP(NET_RAW)), 0);
	assert_true(permitted == CAP(NET_RAW));
}

static void
capabilities_stay_where_that_is_wanted(void **state)
{
	struct global_conf g = { .insecure_caps = 1 };

	(void)state;
	assert_int_equal(drop(&g), 0);
	assert_true(permitted == ALL_CAPS && effective == ALL_CAPS && bounding == ALL_CAPS);
	/* programs that may gain privileges are bounded by nothing, this process is */
	g = (struct global_conf){ .insecure_setuid = 1 };
	assert_int_equal(drop(&g), 0);
	assert_true(permitted == 0 && bounding == ALL_CAPS);
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
	static const char *const steps[] = { "chroot", "chdir", "setgroups", "setgid", "keepcaps",
		"setuid", "capget", "capset", "nnp", "core", "dumpable" };
	char jail[] = "/var/empty";
	struct global_conf g = { .chroot = jail, .uid = 100, .gid = 200 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		uid = 0;
		failing = steps[i];
		assert_int_equal(drop_but(&g, CAP(NET_RAW)), -EPERM);
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
		cmocka_unit_test_setup(only_a_setting_keeps_root, reset),
		cmocka_unit_test_setup(no_capability_is_left, reset),
		cmocka_unit_test_setup(wanted_capabilities_are_left, reset),
		cmocka_unit_test_setup(net_admin_is_in_the_place_of_net_raw, reset),
		cmocka_unit_test_setup(capabilities_stay_where_that_is_wanted, reset),
		cmocka_unit_test_setup(root_must_not_be_regained, reset),
		cmocka_unit_test_setup(every_failure_is_an_error, reset),
		cmocka_unit_test_setup(no_processes_from_now_on, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
