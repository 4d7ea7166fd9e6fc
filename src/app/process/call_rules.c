/* The common part of all filters of system calls. Main thread. */
#include "app/process/call_rules.h"

#ifdef TACIT_CALL_RULES

#include <errno.h>

/* Without SSB the kernel may turn off speculation, which costs each read after a write, also in
 * what the process executes: one that serves runs no code of others. */
static int
set_attributes(scmp_filter_ctx ctx)
{
	static const struct {
		enum scmp_filter_attr name;
		uint32_t value;
	} attributes[] = {
		{ SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS },
		{ SCMP_FLTATR_CTL_TSYNC, 1 },
		{ SCMP_FLTATR_CTL_SSB, 1 },
		{ SCMP_FLTATR_CTL_OPTIMIZE, 2 },
		{ SCMP_FLTATR_API_SYSRAWRC, 1 },
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(attributes) && !r; i++)
		r = seccomp_attr_set(ctx, attributes[i].name, attributes[i].value);
	return r;
}

int
call_rules_begin(scmp_filter_ctx *out, uint32_t action)
{
	int r;

	/* 3: the kernel has TSYNC, and can end the whole process. */
	if (seccomp_api_get() < 3)
		return -ENOSYS;
	*out = seccomp_init(action);
	if (!*out)
		return -ENOMEM;
	r = set_attributes(*out);
	if (r)
		seccomp_release(*out);
	return r;
}

int
call_rules_add(scmp_filter_ctx ctx, uint32_t action, const struct call_rule *rule)
{
	int nr = seccomp_syscall_resolve_name(rule->name);

	/* Negative: not of this architecture. */
	return nr < 0 ? 0 : seccomp_rule_add_array(ctx, action, nr, rule->n, rule->args);
}

int
call_rules_end(scmp_filter_ctx ctx, int error)
{
	if (!error)
		error = seccomp_load(ctx);
	seccomp_release(ctx);
	return error;
}

#endif
