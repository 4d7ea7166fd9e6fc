/* Limits what a process may use. Main thread, before other threads are started: the rules
 * hold for the thread and those that it starts. */
#include "app/process/file_access.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/sys.h"

/* Newer than the oldest headers that this is built with. */
enum {
	ABI_REFER = 2,
	ABI_TRUNCATE = 3,
	ABI_TCP = 4,
	ABI_IOCTL = 5,
	ABI_SCOPES = 6,
	RULE_PORT = 2
};

#define FS_BASE ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)
#define FS_REFER (UINT64_C(1) << 13)
#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_IOCTL (UINT64_C(1) << 15)
#define NET_BIND_TCP (UINT64_C(1) << 0)
#define NET_CONNECT_TCP (UINT64_C(1) << 1)
#define SCOPE_ABSTRACT (UINT64_C(1) << 0)
#define SCOPE_SIGNAL (UINT64_C(1) << 1)

/* struct landlock_ruleset_attr since ABI_SCOPES; earlier kernels know its first members. */
struct ruleset_attr {
	uint64_t fs, net, scoped;
};

/* struct landlock_net_port_attr */
struct port_attr {
	uint64_t access, port;
};

static uint64_t
fs_rights(int abi)
{
	return FS_BASE | (abi >= ABI_REFER ? FS_REFER : 0) |
		(abi >= ABI_TRUNCATE ? FS_TRUNCATE : 0) | (abi >= ABI_IOCTL ? FS_IOCTL : 0);
}

/* Sanitizers and coverage use files of their own. */
static long
newest_abi(struct sys *sys)
{
#ifdef TACIT_UNCONFINED
	(void)sys;
	return -ENOSYS;
#else
	return sys_landlock_create_ruleset(sys, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
#endif
}

static uint64_t
net_rights(unsigned int limits)
{
	return (limits & ACCESS_BIND ? NET_BIND_TCP : 0) |
		(limits & ACCESS_CONNECT ? NET_CONNECT_TCP : 0);
}

static uint64_t
scopes_of(unsigned int limits)
{
	return (limits & ACCESS_ABSTRACT ? SCOPE_ABSTRACT : 0) |
		(limits & ACCESS_SIGNAL ? SCOPE_SIGNAL : 0);
}

/* As far as this kernel has them. */
static unsigned int
possible_limits(int abi, unsigned int limits)
{
	if (abi < ABI_TCP)
		limits &= ~(ACCESS_BIND | ACCESS_CONNECT);
	if (abi < ABI_SCOPES)
		limits &= ~(ACCESS_ABSTRACT | ACCESS_SIGNAL);
	return limits;
}

static size_t
attr_size(int abi)
{
	return abi >= ABI_SCOPES ? sizeof(struct ruleset_attr)
		: abi >= ABI_TCP ? offsetof(struct ruleset_attr, scoped)
				 : offsetof(struct ruleset_attr, net);
}

int
file_access_open(struct file_access *f, struct sys *sys, unsigned int limits)
{
	struct ruleset_attr attr = { 0 };
	long r;

	*f = (struct file_access){ .sys = sys, .fd = -1 };
	r = newest_abi(sys);
	/* EOPNOTSUPP: turned off when the kernel was started */
	if (r <= 0)
		return r == 0 || r == -EOPNOTSUPP ? -ENOSYS : (int)r;
	f->limits = possible_limits((int)r, limits);
	attr.fs = fs_rights((int)r);
	attr.net = net_rights(f->limits);
	attr.scoped = scopes_of(f->limits);
	r = sys_landlock_create_ruleset(sys, &attr, attr_size((int)r), 0);
	if (r < 0)
		return (int)r;
	f->fd = (int)r;
	return 0;
}

void
file_access_close(struct file_access *f)
{
	if (f->fd >= 0)
		(void)sys_close(f->sys, f->fd);
	f->fd = -1;
}

static int
allow_below(struct file_access *f, const char *path, uint64_t access)
{
	long fd = sys_openat(f->sys, path, O_PATH | O_CLOEXEC, 0), r;
	struct landlock_path_beneath_attr attr = { .allowed_access = access };

	if (fd < 0)
		return fd == -ENOENT || fd == -EACCES || fd == -ENOTDIR ? 0 : (int)fd;
	attr.parent_fd = (int)fd;
	r = sys_landlock_add_rule(f->sys, f->fd, LANDLOCK_RULE_PATH_BENEATH, &attr, 0);
	(void)sys_close(f->sys, (int)fd);
	return (int)r;
}

int
file_access_read(struct file_access *f, const char *path)
{
	return allow_below(f, path, LANDLOCK_ACCESS_FS_READ_FILE);
}

int
file_access_remove(struct file_access *f, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[4096] = ".";

	if (slash && slash - path >= (ptrdiff_t)sizeof(dir))
		return -ENAMETOOLONG;
	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", MAX((int)(slash - path), 1), path);
	return allow_below(f, dir, LANDLOCK_ACCESS_FS_REMOVE_FILE);
}

static int
allow_port(struct file_access *f, unsigned int limit, uint64_t access, unsigned int port)
{
	struct port_attr attr = { access, port };

	if (!(f->limits & limit))
		return 0;
	return (int)sys_landlock_add_rule(f->sys, f->fd, RULE_PORT, &attr, 0);
}

int
file_access_bind(struct file_access *f, unsigned int port)
{
	return allow_port(f, ACCESS_BIND, NET_BIND_TCP, port);
}

int
file_access_connect(struct file_access *f, unsigned int port)
{
	return allow_port(f, ACCESS_CONNECT, NET_CONNECT_TCP, port);
}

int
file_access_limit(struct file_access *f)
{
	return (int)sys_landlock_restrict_self(f->sys, f->fd, 0);
}
