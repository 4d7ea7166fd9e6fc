/* Drops privileges: chroot, groups, user, capabilities, new privileges. Main thread, before workers
 * run; a step that fails ends the start. */
#include "app/process/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "app/config/config.h"
#include "base/compiler.h"
#include "base/err.h"
#include "base/sys.h"

/* --- capabilities ---------------------------------------------------------------------------- */

/*
 * Gives up capabilities, but for those that the configuration needs. Main thread, before other
 * threads are started; none of them comes back.
 */

#define BIT(cap) (UINT64_C(1) << (cap))

enum { UNPRIVILEGED_PORT = 1024 };

static uint64_t
source_needs(const struct source_conf *src)
{
	uint64_t set = 0;

	if (src->as != SOURCE_AS_SELF)
		set |= BIT(CAP_NET_RAW);
	if (src->port_lo && src->port_lo < UNPRIVILEGED_PORT)
		set |= BIT(CAP_NET_BIND_SERVICE);
	return set;
}

uint64_t
capabilities_wanted(const struct config *c)
{
	uint64_t set = c->global.setcap;

	if (c->proxies.sets_mark)
		set |= BIT(CAP_NET_ADMIN);

	list_each(it, &c->proxies.all) {
		const struct proxy *px = list_entry(it, const struct proxy, link);

		list_each(st, &px->servers)
			set |= source_needs(
				&list_entry(st, const struct server, link)->conf.source);
	}
	return set;
}

static int
read_permitted(struct sys *sys, uint64_t *out)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
	long r = sys_capget(sys, &h, d);

	*out = d[0].permitted | (uint64_t)d[1].permitted << 32;
	return (int)r;
}

/* Programs that are executed inherit none. */
static int
set_capabilities(struct sys *sys, uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = {
		{ .effective = (uint32_t)effective, .permitted = (uint32_t)permitted },
		{ .effective = (uint32_t)(effective >> 32),
			.permitted = (uint32_t)(permitted >> 32) },
	};

	return (int)sys_capset(sys, &h, d);
}

/* CAP_NET_ADMIN permits what CAP_NET_RAW is wanted for: it is used where only it was given. */
static uint64_t
choose_of(uint64_t permitted, uint64_t set)
{
	if ((set & BIT(CAP_NET_RAW)) && !(permitted & BIT(CAP_NET_RAW)))
		set |= BIT(CAP_NET_ADMIN);
	return permitted & set;
}

int
capabilities_raise(struct sys *sys, uint64_t set)
{
	uint64_t permitted;
	int r;

	/* Root's capabilities are effective already. */
	if (!set || sys_getuid(sys) == 0)
		return 0;
	r = read_permitted(sys, &permitted);
	return r < 0 ? r : set_capabilities(sys, permitted, permitted);
}

/* No program that is executed gets any but these. No effect, and 0, if the process may not limit
 * that. 0 or -errno. */
static int
capabilities_bound(struct sys *sys, uint64_t set)
{
	long r = 0;

	/* The kernel returns EINVAL for the first that it does not know. */
	for (unsigned int cap = 0; cap < 64 && r >= 0; cap++)
		if (!(set & BIT(cap)))
			r = sys_prctl(sys, PR_CAPBSET_DROP, cap);
	return r == -EINVAL || r == -EPERM ? 0 : (int)(r < 0 ? r : 0);
}

/* Gives up all but these, of those that the process has and of those that programs which it
 * executes inherit. 0 or -errno. */
static int
capabilities_limit(struct sys *sys, uint64_t set)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
	long r = sys_capget(sys, &h, d);

	for (unsigned int i = 0; i < ARRAY_LEN(d); i++) {
		uint32_t half = (uint32_t)(set >> 32 * i);

		d[i].effective &= half;
		d[i].permitted &= half;
		d[i].inheritable &= half;
	}
	return (int)(r < 0 ? r : sys_capset(sys, &h, d));
}

/* Gives up all but these, of those that the process has; programs inherit none. 0 or -errno. */
static int
capabilities_keep(struct sys *sys, uint64_t set)
{
	uint64_t permitted;
	int r = read_permitted(sys, &permitted);

	if (r < 0)
		return r;
	set = choose_of(permitted, set);
	return set_capabilities(sys, set, set);
}

/* --- users ----------------------------------------------------------------------------------- */

/* Not dumpable: no ptrace and no core by the new user. */
static int
set_dumpable(struct sys *sys, const struct global_conf *g)
{
	struct rlimit none = { 0, 0 };
	struct rlimit rl = { 0, 0 };
	long r;

	if (!g->set_dumpable) {
		r = sys_prlimit64(sys, RLIMIT_CORE, &none, NULL);
		return (int)(r < 0 ? r : sys_prctl(sys, PR_SET_DUMPABLE, 0));
	}
	r = sys_prlimit64(sys, RLIMIT_CORE, NULL, &rl);
	if (r < 0)
		return (int)r;
	rl.rlim_cur = rl.rlim_max;
	r = sys_prlimit64(sys, RLIMIT_CORE, &rl, NULL);
	return (int)(r < 0 ? r : sys_prctl(sys, PR_SET_DUMPABLE, 1));
}

int
privileges_seal(struct sys *sys, const struct global_conf *g)
{
	struct rlimit none = { 0, 0 };

	return g->insecure_fork ? 0 : (int)sys_prlimit64(sys, RLIMIT_NPROC, &none, NULL);
}

static int
change_root(struct sys *sys, const char *dir)
{
	long r = sys_chroot(sys, dir);

	return (int)(r < 0 ? r : sys_chdir(sys, "/"));
}

/* Groups before users: it would not be permitted afterwards. */
static int
change_groups(struct sys *sys, const struct global_conf *g, const char **what)
{
	long r = 0;

	if ((g->gid || g->uid) && sys_getuid(sys) == 0) {
		*what = "setgroups";
		r = sys_setgroups(sys, 0, NULL);
	}
	if (r < 0 || !g->gid)
		return (int)r;
	*what = "setgid";
	return (int)sys_setgid(sys, g->gid);
}

/* A new user has no capability unless the kernel is asked to keep them. */
static int
change_user(struct sys *sys, const struct global_conf *g, uint64_t keep, const char **what)
{
	long r = 0;

	if (!g->uid)
		return 0;
	if (keep) {
		*what = "keep capabilities";
		r = sys_prctl(sys, PR_SET_KEEPCAPS, 1);
	}
	if (r < 0)
		return (int)r;
	*what = "setuid";
	return (int)sys_setuid(sys, g->uid);
}

/* Programs that gain privileges, where that is wanted, need the bounding set. */
static int
bound_capabilities(struct sys *sys, const struct global_conf *g, uint64_t keep, const char **what)
{
	*what = "bounding set of capabilities";
	return g->insecure_caps || g->insecure_setuid ? 0 : capabilities_bound(sys, keep);
}

static int
drop_capabilities(struct sys *sys, const struct global_conf *g, uint64_t keep, const char **what)
{
	*what = "capabilities";
	return g->insecure_caps ? 0 : capabilities_keep(sys, keep);
}

static int
verify_user(struct sys *sys, const struct global_conf *g, const char **what)
{
	*what = "root can be regained after setuid";
	return g->uid && sys_setuid(sys, 0) >= 0 ? -ERR_PERM : 0;
}

int
privileges_keeps_group(struct sys *sys, const struct global_conf *g)
{
	return g->uid && !g->group && sys_getuid(sys) == 0;
}

int
privileges_stays_root(struct sys *sys, const struct global_conf *g)
{
	return !g->user && sys_getuid(sys) == 0;
}

int
privileges_drop(struct sys *sys, const struct global_conf *g, uint64_t keep, char *why,
	size_t why_len)
{
	int r = g->chroot ? change_root(sys, g->chroot) : 0;

	if (r) {
		snprintf(why, why_len, "chroot to '%s': %s", g->chroot, err_text(r));
		return r;
	}
	return privileges_drop_user(sys, g, keep, why, why_len);
}

/* Programs that it executes gain none either. */
static int
forbid_new(struct sys *sys, const struct global_conf *g, const char **what)
{
	*what = "no_new_privs";
	return g->insecure_setuid ? 0 : (int)sys_prctl(sys, PR_SET_NO_NEW_PRIVS, 1);
}

int
privileges_drop_user(struct sys *sys, const struct global_conf *g, uint64_t keep, char *why,
	size_t why_len)
{
	const char *what = "";
	int r = bound_capabilities(sys, g, keep, &what);

	if (!r)
		r = change_groups(sys, g, &what);
	if (!r)
		r = change_user(sys, g, keep, &what);
	if (!r)
		r = drop_capabilities(sys, g, keep, &what);
	if (!r)
		r = verify_user(sys, g, &what);
	if (!r)
		r = forbid_new(sys, g, &what);
	if (!r) {
		what = "dumpable";
		r = set_dumpable(sys, g);
	}
	if (r)
		snprintf(why, why_len, "%s: %s", what, err_text(r));
	return r;
}

int
privileges_drop_master(struct sys *sys, const struct global_conf *g, uint64_t keep, char *why,
	size_t why_len)
{
	const char *what = "";
	int r = bound_capabilities(sys, g, keep, &what);

	if (!r && !g->insecure_caps) {
		what = "capabilities";
		r = capabilities_limit(sys, keep);
	}
	if (!r)
		r = forbid_new(sys, g, &what);
	/* The limit on core files stays: worker processes inherit it. */
	if (!r && !g->set_dumpable) {
		what = "dumpable";
		r = (int)sys_prctl(sys, PR_SET_DUMPABLE, 0);
	}
	if (r)
		snprintf(why, why_len, "%s: %s", what, err_text(r));
	return r;
}
