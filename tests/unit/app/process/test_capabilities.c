#include <stdio.h>
#include <string.h>

#include <errno.h>
#include <linux/capability.h>

#include "app/config/options.h"
#include "app/process/privileges.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

#define CAP(name) (UINT64_C(1) << CAP_##name)
#define TIMES "defaults\n timeout connect 1s\n timeout client 1s\n timeout server 1s\n"

/* The capabilities wanted by a configuration with these lines of `global` and of a backend. */
static uint64_t
wanted(const char *global, const char *backend)
{
	static struct options o;
	char text[512];

	config_fini(&cfg);
	assert_int_equal(world_open(NULL), 0);
	snprintf(text, sizeof(text),
		"global\n%s\n" TIMES "backend b\n%s\n server s 127.0.0.1:1 %s\n", global, backend,
		strchr(backend, '#') ? strchr(backend, '#') + 1 : "");
	memset(&o, 0, sizeof(o));
	o.files[o.n_files++] = files_write("a.cfg", text);
	assert_int_equal(config_load(&cfg, &sys, &o), 0);
	return capabilities_wanted(&cfg);
}

static void
a_configuration_wants_what_its_keywords_need(void **state)
{
	(void)state;
	assert_true(wanted("", "") == 0);
	assert_true(wanted("", " source 127.0.0.1") == 0);
	assert_true(wanted("", " source 127.0.0.1:1024") == 0);
	assert_true(wanted("", " source 127.0.0.1:1023") == CAP(NET_BIND_SERVICE));
	assert_true(wanted("", " source 0.0.0.0 usesrc clientip") == CAP(NET_RAW));
	assert_true(wanted("", " source 0.0.0.0 usesrc 10.0.0.1") == CAP(NET_RAW));
	assert_true(wanted("", "#source 127.0.0.1:80-90 usesrc client") ==
		(CAP(NET_RAW) | CAP(NET_BIND_SERVICE)));
	assert_true(wanted("", " tcp-request content set-tos 8") == 0);
	assert_true(wanted("", " tcp-request content set-mark 0x10") == CAP(NET_ADMIN));
	assert_true(wanted("setcap cap_net_admin,cap_net_raw\nsetcap cap_sys_resource", "") ==
		(CAP(NET_ADMIN) | CAP(NET_RAW) | CAP(SYS_RESOURCE)));
}

static void
names_that_are_no_capability_are_refused(void **state)
{
	(void)state;
	assert_int_equal(world_global("setcap cap_net_raw,"), -1);
	assert_int_equal(world_global("setcap cap_net_ra"), -1);
	assert_int_equal(world_global("setcap CAP_NET_RAW"), -1);
	assert_string_equal(world_diagnostic(),
		"'setcap' : 'CAP_NET_RAW' is not supported; these are: cap_dac_override, "
		"cap_ipc_lock, cap_net_admin, cap_net_bind_service, cap_net_raw, "
		"cap_sys_resource.");
}

/* --- a process without root --- */

static uint64_t permitted, effective;
static uid_t uid;
static int n_sets;

static long
f_capget(void *ctx, struct __user_cap_header_struct *h, struct __user_cap_data_struct *d)
{
	(void)ctx;
	(void)h;
	d[0].permitted = (uint32_t)permitted;
	d[1].permitted = (uint32_t)(permitted >> 32);
	return 0;
}

static long
f_capset(void *ctx, struct __user_cap_header_struct *h, const struct __user_cap_data_struct *d)
{
	(void)ctx;
	(void)h;
	n_sets++;
	effective = d[0].effective | (uint64_t)d[1].effective << 32;
	return effective & ~permitted ? -EPERM : 0;
}

static long
f_getuid(void *ctx)
{
	(void)ctx;
	return uid;
}

static void
permitted_capabilities_become_effective(void **state)
{
	struct sys_ops ops = sys_linux;
	struct sys s;

	(void)state;
	ops.capget = f_capget;
	ops.capset = f_capset;
	ops.getuid = f_getuid;
	sys_init(&s, &ops, NULL);
	uid = 1000;
	permitted = CAP(NET_BIND_SERVICE);
	assert_int_equal(capabilities_raise(&s, 0), 0);
	assert_int_equal(n_sets, 0);
	assert_int_equal(capabilities_raise(&s, CAP(NET_BIND_SERVICE) | CAP(NET_RAW)), 0);
	assert_true(effective == CAP(NET_BIND_SERVICE));
	uid = 0;
	assert_int_equal(capabilities_raise(&s, CAP(NET_RAW)), 0);
	assert_int_equal(n_sets, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		FILES_CASE(a_configuration_wants_what_its_keywords_need),
		FILES_CASE(names_that_are_no_capability_are_refused),
		cmocka_unit_test(permitted_capabilities_become_effective),
	};

	sys_init(&sys, &sys_linux, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
