/* The filter of system calls. Main thread, when all threads run; it holds for all of them. The
 * kernel remembers which calls it always allows: only those with limits cost a check. */
#include "app/process/syscall_filter.h"

#include <errno.h>

#include "app/process/call_rules.h"

#ifdef TACIT_CALL_RULES

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

enum { TYPE_MASK = 0xf };

/* With another protocol than that of its type a socket would be SCTP, ICMP or Multipath TCP. */
#define SOCKET_OF(family, type, protocol)                                                       \
	{ "socket", { ARG_IS(0, family), ARG_BITS(1, TYPE_MASK, type), ARG_IS(2, protocol) }, 3 }
#define SOCKET(family, type) SOCKET_OF(family, type, 0)

static const struct call_rule limits[] = {
	SOCKET(AF_INET, SOCK_STREAM),
	SOCKET(AF_INET, SOCK_DGRAM),
	SOCKET(AF_INET6, SOCK_STREAM),
	SOCKET(AF_INET6, SOCK_DGRAM),
	SOCKET(AF_UNIX, SOCK_STREAM),
	SOCKET(AF_UNIX, SOCK_DGRAM),
	/* A soft stop asks for handshakes in progress (net/handshakes.c). */
	SOCKET_OF(AF_NETLINK, SOCK_DGRAM, NETLINK_SOCK_DIAG),
	/* Files are read only. */
	{ "openat", { ARG_BITS(2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY) }, 1 },
	{ "fcntl", { ARG_IS(1, F_GETFD) }, 1 },
	{ "fcntl", { ARG_IS(1, F_SETFD) }, 1 },
	{ "fcntl", { ARG_IS(1, F_GETFL) }, 1 },
	{ "fcntl", { ARG_IS(1, F_SETFL) }, 1 },
	{ "fcntl", { ARG_IS(1, F_GETPIPE_SZ) }, 1 },
	{ "fcntl", { ARG_IS(1, F_SETPIPE_SZ) }, 1 },
	{ "ioctl", { ARG_IS(1, SIOCOUTQ) }, 1 },
	/* stdio finds out whether it writes to a terminal. */
	{ "ioctl", { ARG_IS(1, TCGETS) }, 1 },
	{ "prctl", { ARG_IS(0, PR_SET_NAME) }, 1 },
	/* Its own limits are read only. */
	{ "prlimit64", { ARG_IS(0, 0), ARG_IS(2, 0) }, 2 },
	{ "mmap", { ARG_BITS(2, PROT_EXEC, 0) }, 1 },
	{ "mprotect", { ARG_BITS(2, PROT_EXEC, 0) }, 1 },
};

static const char *const allowed[] = {
#define IF_SERVING(name) #name,
#define IF_LIMITED(name)
#define IF_STARTING(name)
#define SYS_ROW(name, when, params, args) IF_##when(name)
#include "base/sys.tbl.h"
#undef SYS_ROW
#define LIBRARY_CALL(name, library) #name,
#include "app/process/library_calls.tbl.h"
#undef LIBRARY_CALL
};

static int
allow_call(scmp_filter_ctx ctx, const char *name)
{
	return call_rules_add(ctx, SCMP_ACT_ALLOW, &(struct call_rule){ .name = name });
}

static int
allow_mptcp(scmp_filter_ctx ctx)
{
	static const struct call_rule sockets[] = {
		SOCKET_OF(AF_INET, SOCK_STREAM, IPPROTO_MPTCP),
		SOCKET_OF(AF_INET6, SOCK_STREAM, IPPROTO_MPTCP),
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(sockets) && !r; i++)
		r = call_rules_add(ctx, SCMP_ACT_ALLOW, &sockets[i]);
	return r;
}

static int
allow_processes(scmp_filter_ctx ctx, const struct syscall_filter *f)
{
	static const char *const names[] = { "clone", "clone3", "fork", "vfork", "wait4" };
	const struct call_rule own = { "tgkill", { ARG_IS(0, f->self) }, 1 };
	const struct call_rule helper[] = {
		{ "kill", { ARG_IS(0, f->helper), ARG_IS(1, SIGKILL) }, 2 },
		{ "wait4", { ARG_IS(0, f->helper) }, 1 },
	};
	int r = call_rules_add(ctx, SCMP_ACT_ALLOW, &own);

	for (size_t i = 0; i < ARRAY_LEN(names) && f->may_fork && !r; i++)
		r = allow_call(ctx, names[i]);
	for (size_t i = 0; i < ARRAY_LEN(helper) && f->helper > 0 && !r; i++)
		r = call_rules_add(ctx, SCMP_ACT_ALLOW, &helper[i]);
	return r;
}

static int
add_rules(scmp_filter_ctx ctx, const struct syscall_filter *f)
{
	/* A regular expression that cannot be compiled to machine code is interpreted. */
	static const struct call_rule code = { "mmap", { ARG_BITS(2, PROT_EXEC, PROT_EXEC) }, 1 };
	int r = call_rules_add(ctx, SCMP_ACT_ERRNO(EACCES), &code);

	for (size_t i = 0; i < ARRAY_LEN(allowed) && !r; i++)
		r = allow_call(ctx, allowed[i]);
	for (size_t i = 0; i < ARRAY_LEN(limits) && !r; i++)
		r = call_rules_add(ctx, SCMP_ACT_ALLOW, &limits[i]);
	if (!r && f->may_mptcp)
		r = allow_mptcp(ctx);
	return r ? r : allow_processes(ctx, f);
}

int
syscall_filter_install(const struct syscall_filter *f)
{
	scmp_filter_ctx ctx;
	int r = call_rules_begin(&ctx, SCMP_ACT_KILL_PROCESS);

	return r ? r : call_rules_end(ctx, add_rules(ctx, f));
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
