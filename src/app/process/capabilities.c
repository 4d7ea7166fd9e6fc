/* Gives up capabilities, but for those that the configuration needs. Main thread, before other
 * threads are started; none of them comes back. */
#include "app/process/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>

#include "app/config/config.h"
#include "base/sys.h"

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

int
capabilities_bound(struct sys *sys, uint64_t set)
{
	long r = 0;

	/* The kernel returns EINVAL for the first that it does not know. */
	for (unsigned int cap = 0; cap < 64 && r >= 0; cap++)
		if (!(set & BIT(cap)))
			r = sys_prctl(sys, PR_CAPBSET_DROP, cap);
	return r == -EINVAL || r == -EPERM ? 0 : (int)(r < 0 ? r : 0);
}

int
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

int
capabilities_keep(struct sys *sys, uint64_t set)
{
	uint64_t permitted;
	int r = read_permitted(sys, &permitted);

	if (r < 0)
		return r;
	set = choose_of(permitted, set);
	return set_capabilities(sys, set, set);
}
