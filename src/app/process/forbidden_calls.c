/* The filter of system calls of processes that execute programs. Main thread. */
#include "app/process/forbidden_calls.h"

#include <errno.h>

#include "app/process/call_rules.h"

#ifdef TACIT_CALL_RULES

#include <sched.h>
#include <sys/ioctl.h>

/* The kernel reads 32 bits of a command of ioctl(). */
#define COMMAND UINT32_MAX
/* personality() with it changes nothing. */
#define ASK_PERSONALITY UINT32_MAX

/* On s390 the stack is the first argument of clone(). */
#ifdef __s390__
#define CLONE_FLAGS 1
#else
#define CLONE_FLAGS 0
#endif
#define NAMESPACE(flag) { "clone", { ARG_BITS(CLONE_FLAGS, flag, flag) }, 1 }

static const struct call_rule limits[] = {
	NAMESPACE(CLONE_NEWCGROUP),
	NAMESPACE(CLONE_NEWIPC),
	NAMESPACE(CLONE_NEWNET),
	NAMESPACE(CLONE_NEWNS),
	NAMESPACE(CLONE_NEWPID),
	NAMESPACE(CLONE_NEWUSER),
	NAMESPACE(CLONE_NEWUTS),
	/* Input for a terminal, which another program would read. */
	{ "ioctl", { ARG_BITS(1, COMMAND, TIOCSTI) }, 1 },
	{ "ioctl", { ARG_BITS(1, COMMAND, TIOCLINUX) }, 1 },
	{ "personality", { ARG_IS_NOT(0, ASK_PERSONALITY) }, 1 },
};

static const char *const forbidden[] = {
#define FORBIDDEN_CALL(name, why) #name,
#include "app/process/forbidden_calls.tbl.h"
#undef FORBIDDEN_CALL
};

static int
forbid_calls(scmp_filter_ctx ctx)
{
	/* Its flags lie in memory. The C library takes clone() where the kernel has no clone3(). */
	static const struct call_rule clone3 = { .name = "clone3" };
	int r = call_rules_add(ctx, SCMP_ACT_ERRNO(ENOSYS), &clone3);

	for (size_t i = 0; i < ARRAY_LEN(forbidden) && !r; i++)
		r = call_rules_add(ctx, SCMP_ACT_ERRNO(EPERM),
			&(struct call_rule){ .name = forbidden[i] });
	for (size_t i = 0; i < ARRAY_LEN(limits) && !r; i++)
		r = call_rules_add(ctx, SCMP_ACT_ERRNO(EPERM), &limits[i]);
	return r;
}

int
forbidden_calls_install(void)
{
	scmp_filter_ctx ctx;
	int r = call_rules_begin(&ctx, SCMP_ACT_ALLOW);

	return r ? r : call_rules_end(ctx, forbid_calls(ctx));
}

#else

int
forbidden_calls_install(void)
{
	return -ENOSYS;
}

#endif
