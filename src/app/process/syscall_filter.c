/* The filter of system calls. Main thread, when all threads run; it holds for all of them. The
 * kernel remembers which calls it always allows: only those with limits cost a look. */
#include "app/process/syscall_filter.h"

#include <errno.h>

#if defined(TACIT_SECCOMP) && !defined(TACIT_UNCONFINED)

#include <fcntl.h>
#include <linux/sockios.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

enum { TYPE_MASK = 0xf, MAX_ARGS = 2 };

/* A call that is allowed when all these arguments are as they say. */
struct limit {
	const char *name;
	struct scmp_arg_cmp args[MAX_ARGS];
	unsigned int n;
};

#define IS(i, value) { .arg = (i), .op = SCMP_CMP_EQ, .datum_a = (scmp_datum_t)(value) }
#define BITS(i, mask, value)                                                       \
	{ .arg = (i), .op = SCMP_CMP_MASKED_EQ, .datum_a = (scmp_datum_t)(mask),   \
	  .datum_b = (scmp_datum_t)(value) }
#define SOCKET(family, type) { "socket", { IS(0, family), BITS(1, TYPE_MASK, type) }, 2 }

static const struct limit limits[] = {
	SOCKET(AF_INET, SOCK_STREAM),
	SOCKET(AF_INET, SOCK_DGRAM),
	SOCKET(AF_INET6, SOCK_STREAM),
	SOCKET(AF_INET6, SOCK_DGRAM),
	SOCKET(AF_UNIX, SOCK_STREAM),
	SOCKET(AF_UNIX, SOCK_DGRAM),
	/* Files are read only. */
	{ "openat", { BITS(2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY) }, 1 },
	{ "fcntl", { IS(1, F_GETFD) }, 1 },
	{ "fcntl", { IS(1, F_SETFD) }, 1 },
	{ "fcntl", { IS(1, F_GETFL) }, 1 },
	{ "fcntl", { IS(1, F_SETFL) }, 1 },
	{ "fcntl", { IS(1, F_GETPIPE_SZ) }, 1 },
	{ "fcntl", { IS(1, F_SETPIPE_SZ) }, 1 },
	{ "ioctl", { IS(1, SIOCOUTQ) }, 1 },
	/* stdio asks whether it writes to a terminal. */
	{ "ioctl", { IS(1, TCGETS) }, 1 },
	{ "prctl", { IS(0, PR_SET_NAME) }, 1 },
	/* Its own limits are read only. */
	{ "prlimit64", { IS(0, 0), IS(2, 0) }, 2 },
	{ "mmap", { BITS(2, PROT_EXEC, 0) }, 1 },
	{ "mprotect", { BITS(2, PROT_EXEC, 0) }, 1 },
};

static const char *const allowed[] = {
#define IF_SERVING(name) #name,
#define IF_LIMITED(name)
#define IF_STARTING(name)
#define SYS_ROW(name, when, params, args) IF_##when(name)
#include "base/sys.tbl.h"
#undef SYS_ROW
#define LIBRARY_CALL(name, whose) #name,
#include "app/process/library_calls.tbl.h"
#undef LIBRARY_CALL
};

static int
add_limit(scmp_filter_ctx ctx, uint32_t action, const struct limit *l)
{
	int nr = seccomp_syscall_resolve_name(l->name);

	/* Negative: not of this architecture. */
	return nr < 0 ? 0 : seccomp_rule_add_array(ctx, action, nr, l->n, l->args);
}

static int
allow_call(scmp_filter_ctx ctx, const char *name)
{
	return add_limit(ctx, SCMP_ACT_ALLOW, &(struct limit){ .name = name });
}

static int
allow_processes(scmp_filter_ctx ctx, const struct syscall_filter *f)
{
	static const char *const names[] = { "clone", "clone3", "fork", "vfork", "wait4" };
	const struct limit own = { "tgkill", { IS(0, f->self) }, 1 };
	const struct limit helper[] = {
		{ "kill", { IS(0, f->helper), IS(1, SIGKILL) }, 2 },
		{ "wait4", { IS(0, f->helper) }, 1 },
	};
	int r = add_limit(ctx, SCMP_ACT_ALLOW, &own);

	for (size_t i = 0; i < ARRAY_LEN(names) && f->may_fork && !r; i++)
		r = allow_call(ctx, names[i]);
	for (size_t i = 0; i < ARRAY_LEN(helper) && f->helper > 0 && !r; i++)
		r = add_limit(ctx, SCMP_ACT_ALLOW, &helper[i]);
	return r;
}

static int
add_rules(scmp_filter_ctx ctx, const struct syscall_filter *f)
{
	/* A regular expression that cannot be compiled to machine code is interpreted. */
	static const struct limit code = { "mmap", { BITS(2, PROT_EXEC, PROT_EXEC) }, 1 };
	int r = add_limit(ctx, SCMP_ACT_ERRNO(EACCES), &code);

	for (size_t i = 0; i < ARRAY_LEN(allowed) && !r; i++)
		r = allow_call(ctx, allowed[i]);
	for (size_t i = 0; i < ARRAY_LEN(limits) && !r; i++)
		r = add_limit(ctx, SCMP_ACT_ALLOW, &limits[i]);
	return r ? r : allow_processes(ctx, f);
}

/* Without SSB the kernel may turn off speculation, which costs each read after a write: this
 * process runs no code of others. */
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
syscall_filter_install(const struct syscall_filter *f)
{
	scmp_filter_ctx ctx;
	int r;

	/* 3: the kernel has TSYNC, and can end the whole process. */
	if (seccomp_api_get() < 3)
		return -ENOSYS;
	ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (!ctx)
		return -ENOMEM;
	r = set_attributes(ctx);
	if (!r)
		r = add_rules(ctx, f);
	if (!r)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	return r;
}

int
syscall_filter_is_built(void)
{
	return 1;
}

#else

int
syscall_filter_install(const struct syscall_filter *f unused)
{
	return -ENOSYS;
}

int
syscall_filter_is_built(void)
{
	return 0;
}

#endif
