/* Confines the process step by step, and reports what failed. Main thread, at start. */
#include "app/process/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "app/process/connect_targets.h"
#include "app/process/forbidden_calls.h"
#include "app/process/privileges.h"
#include "app/process/process.h"
#include "app/process/syscall_filter.h"
#include "base/compiler.h"
#include "base/err.h"
#include "base/sys.h"
#include "cfg/diag.h"
#include "net/listener.h"

/* --- access to files ------------------------------------------------------------------------- */

/*
 * Limits what a serving process may use (landlock(7)). Files: it may remove its pid file and the
 * paths of its stats sockets, and read the time zone; it can open, create, remove or execute no
 * other file. Descriptors that are open stay usable, and unix sockets at paths can be connected to.
 * Where the caller knows enough: the TCP ports that it may bind and connect to, and neither
 * abstract unix sockets nor signals of processes outside. It cannot be undone.
 */

struct sys;

/* The limits besides files, as far as the kernel can; one bit each. */
enum {
	ACCESS_BIND     = 1u << 0, /* TCP ports; Linux 6.7 */
	ACCESS_CONNECT  = 1u << 1, /* the same */
	ACCESS_ABSTRACT = 1u << 2, /* abstract unix sockets of others; Linux 6.12 */
	ACCESS_SIGNAL   = 1u << 3  /* signals to others; Linux 6.12 */
};

struct file_access {
	struct sys *sys;
	int fd;              /* the rules, or -1 */
	unsigned int limits; /* ACCESS_x that the kernel has */
};

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

/* Begins a set of rules; without any rule nothing is permitted. `limits`: what is to be limited
 * besides files, ACCESS_x. 0; -ENOSYS if the kernel has no such rules or this build leaves them
 * out; another -errno. */
static int
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

static void
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

/* A file, or all files below a directory, may be read. No effect on what does not exist. 0 or
 * -errno. */
static int
file_access_read(struct file_access *f, const char *path)
{
	return allow_below(f, path, LANDLOCK_ACCESS_FS_READ_FILE);
}

/* The file may be removed, as may others below its directory. No effect if that does not exist. */
static int
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

/* The TCP port may be bound; 0: any that the kernel chooses. No effect where ports
 * are not limited. */
static int
file_access_bind(struct file_access *f, unsigned int port)
{
	return allow_port(f, ACCESS_BIND, NET_BIND_TCP, port);
}

/* The process may connect to this TCP port, at any address. The same. */
static int
file_access_connect(struct file_access *f, unsigned int port)
{
	return allow_port(f, ACCESS_CONNECT, NET_CONNECT_TCP, port);
}

/* Applies the limits to this thread and those that it starts. The process can gain no
 * privileges. */
static int
file_access_limit(struct file_access *f)
{
	return (int)sys_landlock_restrict_self(f->sys, f->fd, 0);
}

/* False if connections may be bound to the port of a client, which may be any. */
static int
knows_ports(const struct process *p)
{
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, const struct proxy, link);

		list_each(st, &px->servers)
			if (list_entry(st, const struct server, link)->conf.source.as !=
				SOURCE_AS_SELF)
				return 0;
	}
	return 1;
}

static int
allow_source_ports(struct file_access *f, const struct source_conf *src)
{
	int r = 0;

	for (unsigned int port = src->port_lo; port && port <= src->port_hi && !r; port++)
		r = file_access_bind(f, port);
	return r;
}

static int
allow_ports(struct process *p, struct file_access *f)
{
	int r = file_access_bind(f, 0);

	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, const struct proxy, link);

		list_each(st, &px->servers)
			if (!r)
				r = allow_source_ports(f,
					&list_entry(st, const struct server, link)->conf.source);
	}
	return r;
}

/* --- connections --- */

/* Ports that have a rule already. */
struct port_rules {
	struct file_access *files;
	uint8_t seen[8192];
	int error;
};

static void
allow_target(const struct addr *a, void *rules)
{
	struct port_rules *r = rules;
	unsigned int port = addr_port(a);
	uint8_t bit = (uint8_t)(1 << port % 8);

	if (!port || (r->seen[port / 8] & bit) || r->error)
		return;
	r->seen[port / 8] |= bit;
	r->error = file_access_connect(r->files, port);
}

static int
allow_targets(struct process *p, struct file_access *f)
{
	struct port_rules rules = { .files = f };

	if (f->limits & ACCESS_CONNECT)
		connect_targets_each(p->cfg, allow_target, &rules);
	return rules.error;
}

static void
note_abstract(const struct addr *a, void *found)
{
	if (addr_family(a) == AF_UNIX && !a->u.un.sun_path[0])
		*(int *)found = 1;
}

/* Without a master it passes its sockets through such a socket of the process that replaces it. */
static int
needs_abstract(const struct process *p)
{
	int found = !p->master;

	connect_targets_each(p->cfg, note_abstract, &found);
	return found;
}

/* True if the process sends signals: it kills its helper. Without a master it signals previous
 * processes to stop, and children of the program before this one may have asked for a signal at
 * its end, which counts as sent by it. */
static int
needs_signals(const struct process *p)
{
	return !p->master || p->helper.pid > 0;
}

/* NULL: the configuration says all ports. The master's socket can change ports, and a previous
 * worker process may have. */
static const char *
unknown_ports(const struct process *p)
{
	return p->master ? "there is a master" : connect_targets_unknown(p->cfg);
}

/* A server that is added while the process runs may use it, where that is possible. */
static int
needs_mptcp(const struct process *p)
{
	if (!(p->confined & CONFINED_CONNECTIONS))
		return 1;
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, const struct proxy, link);

		if (px->dispatch && px->dispatch->spec.is_mptcp)
			return 1;
		list_each(st, &px->servers)
			if (list_entry(st, const struct server, link)->spec.is_mptcp)
				return 1;
	}
	return 0;
}

static unsigned int
wanted_limits(const struct process *p)
{
	const char *why = unknown_ports(p);

	if (why)
		report_msg(p->report, REPORT_NOTICE,
			"TCP connections are not limited to ports of the configuration: %s", why);
	return (knows_ports(p) ? ACCESS_BIND : 0) | (why ? 0 : ACCESS_CONNECT) |
		(needs_abstract(p) ? 0 : ACCESS_ABSTRACT) |
		(needs_signals(p) ? 0 : ACCESS_SIGNAL);
}

/* --- files --- */

/* Paths that it removes at its end. */
static int
allow_removals(struct process *p, struct file_access *f)
{
	int r = 0;

	if (p->pidfile)
		r = file_access_remove(f, p->pidfile);
	if (p->pidfile && !r)
		r = file_access_read(f, p->pidfile);
	list_each(it, &p->cfg->global.admin_binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		list_each(lt, &b->listeners) {
			const struct listener *ln = list_entry(lt, const struct listener, link);

			if (ln->made_ino && !r)
				r = file_access_remove(f, ln->addr.u.un.sun_path);
		}
	}
	return r;
}

/* Paths are those before the root directory changes. */
static int
open_file_rules(struct process *p, struct file_access *f)
{
	const struct global_conf *g = &p->cfg->global;
	int r = -ENOSYS;

	f->fd = -1;
	if (g->insecure_files || g->insecure_setuid)
		return 0;
	r = file_access_open(f, p->sys, wanted_limits(p));
	if (r == -ENOSYS) {
		report_msg(p->report, REPORT_NOTICE,
			"files are not limited: the kernel or this build has no Landlock");
		return 0;
	}
	/* strftime() reads the time zone again when it has changed. */
	if (!r)
		r = file_access_read(f, "/etc/localtime");
	if (!r)
		r = file_access_read(f, "/usr/share/zoneinfo");
	if (!r)
		r = allow_removals(p, f);
	if (!r)
		r = allow_ports(p, f);
	return r ? r : allow_targets(p, f);
}

static int
limit_files(struct process *p, struct file_access *f)
{
	int r = f->fd >= 0 ? file_access_limit(f) : 0;

	if (f->fd < 0 || r)
		return r;
	p->confined |= CONFINED_FILES;
	if (f->limits & ACCESS_CONNECT)
		p->confined |= CONFINED_CONNECTIONS;
	if (f->limits & ACCESS_ABSTRACT)
		p->confined |= CONFINED_ABSTRACT;
	if (f->limits & ACCESS_SIGNAL)
		p->confined |= CONFINED_SIGNALS;
	return 0;
}

/* Warns of limits that cannot be undone, since they are inherited: the master's are those of its
 * start. */
static void
warn_of_inherited(struct process *p)
{
	const struct global_conf *g = &p->cfg->global;
	static const char text[] = "'%s' is without effect: %s were forbidden before this process "
				   "started. Restart to change what the master forbids.";

	if (g->insecure_setuid && sys_prctl(p->sys, PR_GET_NO_NEW_PRIVS, 0) > 0)
		report_msg(p->report, REPORT_WARNING, text, "insecure-setuid-wanted",
			"new privileges");
	if (g->insecure_syscalls && sys_prctl(p->sys, PR_GET_SECCOMP, 0) > 0)
		report_msg(p->report, REPORT_WARNING, text, "insecure-syscalls-wanted",
			"system calls");
}

static int
drop_privileges(struct process *p)
{
	const struct global_conf *g = &p->cfg->global;
	char why[160] = "";
	int r;

	warn_of_inherited(p);
	if (privileges_keeps_group(p->sys, g))
		report_msg(p->report, REPORT_WARNING,
			"'user %s' without 'group': the process keeps the group of root.", g->user);
	if (privileges_stays_root(p->sys, g))
		report_msg(p->report, REPORT_WARNING,
			"the process stays root, since 'global' has no 'user': an attacker who "
			"controls it can connect to the unix sockets of root's services. 'user "
			"root' confirms that.");
	r = privileges_drop(p->sys, g, capabilities_wanted(p->cfg), why, sizeof(why));
	if (r)
		report_msg(p->report, REPORT_ALERT, "cannot drop privileges: %s", why);
	else if (!g->insecure_caps)
		p->confined |= CONFINED_CAPABILITIES;
	return r;
}

/* Warns at the start, rather than failing silently for each connection. */
static int
check_marks(struct process *p)
{
	uint32_t mark = 0;
	long fd, r;

	if (!p->cfg->proxies.sets_mark)
		return 0;
	fd = sys_socket(p->sys, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	r = fd < 0 ? fd : sys_setsockopt(p->sys, (int)fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
	if (fd >= 0)
		(void)sys_close(p->sys, (int)fd);
	if (r < 0)
		report_msg(p->report, REPORT_ALERT,
			"'set-mark' needs the capability CAP_NET_ADMIN: %s", err_text((int)r));
	return r < 0 ? (int)r : 0;
}

static const struct rule *
find_silent_drop(const struct proxy_rules *rules)
{
	for (unsigned int i = 0; i < RULES_LISTS; i++)
		list_each(it, (struct list *)(uintptr_t)&rules->own[i]) {
			const struct rule *r = list_entry(it, const struct rule, link);

			if (strcmp(r->action->name, "silent-drop") == 0)
				return r;
		}
	return rules->before ? find_silent_drop(rules->before) : NULL;
}

/* Returns a rule of any proxy that drops connections silently, or NULL. */
static const struct rule *
first_silent_drop(const struct process *p)
{
	list_each(it, &p->cfg->proxies.all) {
		const struct rule *r =
			find_silent_drop(&list_entry(it, const struct proxy, link)->rules);

		if (r)
			return r;
	}
	return NULL;
}

/* Warns that silent-drop will send a reset: only a socket in repair mode closes without one. */
static void
check_silent_drops(struct process *p)
{
	const struct rule *rule = first_silent_drop(p);
	int on = 1;
	long fd, r;

	if (!rule)
		return;
	fd = sys_socket(p->sys, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	r = fd < 0 ? 0
		   : sys_setsockopt(p->sys, (int)fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on));
	if (fd >= 0)
		(void)sys_close(p->sys, (int)fd);
	if (r < 0)
		report_msg(p->report, REPORT_WARNING,
			"[%s:%u] : 'silent-drop' sends a reset, which the first router drops, and "
			"clients on this network see: without one it needs the capability "
			"CAP_NET_ADMIN (%s). 'setcap cap_net_admin' keeps it.",
			rule->where.file ? rule->where.file->name : "?", rule->where.line,
			err_text((int)r));
}

int
confine_privileges(struct process *p)
{
	struct file_access files;
	int r = open_file_rules(p, &files), dropped;

	dropped = r ? 0 : drop_privileges(p);
	if (!r && !dropped)
		dropped = check_marks(p);
	if (!r && !dropped)
		check_silent_drops(p);
	if (!r && !dropped)
		r = limit_files(p, &files);
	file_access_close(&files);
	if (r)
		report_msg(p->report, REPORT_ALERT,
			"cannot limit files: %s. 'insecure-files-wanted' does without.",
			err_text(r));
	return r ? r : dropped;
}

/* A process that may gain privileges may have no filter: programs with privileges would get it. */
static int
filter_calls(struct process *p)
{
	const struct global_conf *g = &p->cfg->global;
	struct syscall_filter f = {
		.may_fork = g->insecure_fork,
		.may_mptcp = needs_mptcp(p),
		.self = (pid_t)sys_getpid(p->sys),
		.helper = p->helper.pid,
	};
	int r;

	if (g->insecure_syscalls || g->insecure_setuid || !syscall_filter_is_built())
		return 0;
	r = syscall_filter_install(&f);
	if (r == -ENOSYS) {
		report_msg(p->report, REPORT_NOTICE,
			"system calls are not filtered: the kernel has no seccomp filters");
		return 0;
	}
	if (r)
		report_msg(p->report, REPORT_ALERT,
			"cannot filter system calls: %s. 'insecure-syscalls-wanted' does without.",
			err_text(r));
	else
		p->confined |= CONFINED_SYSCALLS;
	return r;
}

int
confine_calls(struct process *p)
{
	int r = privileges_seal(p->sys, &p->cfg->global);

	if (r) {
		report_msg(p->report, REPORT_ALERT, "cannot limit processes: %s", err_text(r));
		return r;
	}
	return filter_calls(p);
}

/* --- processes that execute programs --- */

/* Capabilities that starts of worker processes may need, and CAP_KILL to stop those with another
 * user. */
#define CAP(name) (UINT64_C(1) << (name))
#define LAUNCHER_CAPABILITIES                                                      \
	(CAP(CAP_CHOWN) | CAP(CAP_DAC_OVERRIDE) | CAP(CAP_FOWNER) | CAP(CAP_KILL) |   \
	 CAP(CAP_SETGID) | CAP(CAP_SETUID) | CAP(CAP_SETPCAP) |                     \
	 CAP(CAP_NET_BIND_SERVICE) | CAP(CAP_NET_ADMIN) | CAP(CAP_NET_RAW) |       \
	 CAP(CAP_IPC_LOCK) | CAP(CAP_SYS_CHROOT) | CAP(CAP_SYS_RESOURCE))

int
confine_launcher(const struct global_conf *g)
{
	int r;

	if (g->insecure_syscalls || g->insecure_setuid)
		return 0;
	r = forbidden_calls_install();
	return r == -ENOSYS ? 0 : r;
}

int
confine_master(struct sys *sys, const struct global_conf *g, const struct report *report)
{
	char why[160] = "";
	int r = privileges_drop_master(sys, g, LAUNCHER_CAPABILITIES, why, sizeof(why));

	if (!r) {
		r = confine_launcher(g);
		(void)snprintf(why, sizeof(why), "system calls: %s", r ? err_text(r) : "");
	}
	if (r)
		report_msg(report, REPORT_ALERT, "cannot confine the master: %s", why);
	return r;
}

void
confinement_text(unsigned int confined, char *out, size_t size)
{
	static const struct {
		enum confinement bit;
		const char *name;
	} names[] = {
		{ CONFINED_CAPABILITIES, "capabilities" },
		{ CONFINED_FILES, "files" },
		{ CONFINED_CONNECTIONS, "connections" },
		{ CONFINED_ABSTRACT, "abstract" },
		{ CONFINED_SIGNALS, "signals" },
		{ CONFINED_SYSCALLS, "syscalls" },
	};
	size_t at = 0;

	snprintf(out, size, "none");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (confined & names[i].bit)
			at += (size_t)snprintf(
				out + at, size - at, "%s%s", at ? "," : "", names[i].name);
}
