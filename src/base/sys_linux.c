/* The real kernel behind struct sys: each row of sys.tbl.h as a call that returns >= 0 or -errno.
 * Any thread. No other file of the daemon makes system calls. */
#include "base/sys.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <grp.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>


static inline long
sys_result(long r)
{
	return likely(r >= 0) ? r : -errno;
}

void
sys_init(struct sys *s, const struct sys_ops *ops, void *ctx)
{
	memset(s, 0, sizeof(*s));
	s->ops = ops;
	s->ctx = ctx;
	s->account = s->only = &s->ledger;
	s->accounts = &s->only;
	s->n_accounts = 1;
}

/*
 * ThreadSanitizer tracks descriptors like memory but does not know this call: a thread that reopens
 * one of these numbers would seem to race with the previous owner.
 */
static int
close_all(unsigned int lo, unsigned int hi)
{
#ifdef __SANITIZE_THREAD__
	extern void __sanitizer_syscall_pre_impl_close(long fd);

	for (unsigned int fd = lo; fd <= hi; fd++)
		__sanitizer_syscall_pre_impl_close(fd);
#endif
	return close_range(lo, hi, 0);
}

/* The address goes to *at: as a number it may look like an error. */
static long
map_shared(size_t len, int prot, int fd, void **at)
{
	void *p = mmap(NULL, len, prot, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -1;
	*at = p;
	return 0;
}

/* A call whose C function has the same name and parameters as the row. */
#define PLAIN(name, fn, params, args)              \
	static long lx_##name(void *ctx UNPAREN params) \
	{                                          \
		(void)ctx;                         \
		return sys_result(fn args);               \
	}

PLAIN(accept4, accept4, (, int fd, struct sockaddr *sa, socklen_t *len, int flags),
	(fd, sa, len, flags))
PLAIN(alarm, alarm, (, unsigned int seconds), (seconds))
PLAIN(bind, bind, (, int fd, const struct sockaddr *sa, socklen_t len), (fd, sa, len))
PLAIN(capget, syscall, (, struct __user_cap_header_struct *h, struct __user_cap_data_struct *d),
	(SYS_capget, h, d))
PLAIN(capset, syscall,
	(, struct __user_cap_header_struct *h, const struct __user_cap_data_struct *d),
	(SYS_capset, h, d))
PLAIN(chdir, chdir, (, const char *path), (path))
PLAIN(chmod, chmod, (, const char *path, mode_t mode), (path, mode))
PLAIN(chown, chown, (, const char *path, uid_t uid, gid_t gid), (path, uid, gid))
PLAIN(chroot, chroot, (, const char *path), (path))
PLAIN(clock_gettime, clock_gettime, (, clockid_t id, struct timespec *ts), (id, ts))
PLAIN(clone, fork, (), ())
PLAIN(close, close, (, int fd), (fd))
PLAIN(close_range, close_all, (, unsigned int lo, unsigned int hi), (lo, hi))
PLAIN(connect, connect, (, int fd, const struct sockaddr *sa, socklen_t len), (fd, sa, len))
PLAIN(dup2, dup2, (, int from, int to), (from, to))
PLAIN(epoll_create1, epoll_create1, (, int flags), (flags))
PLAIN(epoll_ctl, epoll_ctl, (, int ep, int op, int fd, struct epoll_event *ev), (ep, op, fd, ev))
PLAIN(epoll_wait, epoll_wait, (, int ep, struct epoll_event *ev, int n, int ms), (ep, ev, n, ms))
PLAIN(eventfd2, eventfd, (, unsigned int count, int flags), (count, flags))
PLAIN(execve, execve, (, const char *path, const char *const *args, const char *const *env),
	(path, (char *const *)(uintptr_t)args, (char *const *)(uintptr_t)env))
PLAIN(fallocate, fallocate, (, int fd, int mode, off_t at, off_t len), (fd, mode, at, len))
PLAIN(fcntl, fcntl, (, int fd, int cmd, long arg), (fd, cmd, arg))
PLAIN(fstat, fstat, (, int fd, struct stat *st), (fd, st))
PLAIN(futex, syscall, (, uint32_t *word, int op, uint32_t val, const struct timespec *ts),
	(SYS_futex, word, op, val, ts, NULL, 0))
PLAIN(ftruncate, ftruncate, (, int fd, off_t len), (fd, len))
PLAIN(getdents64, getdents64, (, int fd, void *buf, size_t len), (fd, buf, len))
PLAIN(getpeername, getpeername, (, int fd, struct sockaddr *sa, socklen_t *len), (fd, sa, len))
/* Not libc's, which the program replaces (app/main/own_pid.h). */
PLAIN(getpid, syscall, (), (SYS_getpid))
/* The kernel gives 20 - nice. Both apply to the calling thread, and to those that it starts. */
PLAIN(getpriority, syscall, (), (SYS_getpriority, PRIO_PROCESS, 0))
PLAIN(setpriority, setpriority, (, int nice), (PRIO_PROCESS, 0, nice))
PLAIN(getrandom, getrandom, (, void *buf, size_t len, unsigned int flags), (buf, len, flags))
PLAIN(getrusage, getrusage, (, int who, struct rusage *ru), (who, ru))
PLAIN(getsockname, getsockname, (, int fd, struct sockaddr *sa, socklen_t *len), (fd, sa, len))
PLAIN(getsockopt, getsockopt, (, int fd, int lvl, int opt, void *v, socklen_t *len),
	(fd, lvl, opt, v, len))
PLAIN(getuid, getuid, (), ())
PLAIN(ioctl, ioctl, (, int fd, unsigned long req, int *arg), (fd, req, arg))
PLAIN(kill, kill, (, pid_t pid, int sig), (pid, sig))
PLAIN(landlock_add_rule, syscall,
	(, int fd, int type, const void *attr, unsigned int flags),
	(SYS_landlock_add_rule, fd, type, attr, flags))
PLAIN(landlock_create_ruleset, syscall, (, const void *attr, size_t len, unsigned int flags),
	(SYS_landlock_create_ruleset, attr, len, flags))
PLAIN(landlock_restrict_self, syscall, (, int fd, unsigned int flags),
	(SYS_landlock_restrict_self, fd, flags))
PLAIN(listen, listen, (, int fd, int backlog), (fd, backlog))
PLAIN(madvise, madvise, (, void *p, size_t len, int advice), (p, len, advice))
PLAIN(memfd_create, memfd_create, (, const char *name, unsigned int flags), (name, flags))
PLAIN(mmap, map_shared, (, size_t len, int prot, int fd, void **at), (len, prot, fd, at))
PLAIN(munmap, munmap, (, void *p, size_t len), (p, len))
PLAIN(openat, openat, (, const char *path, int flags, mode_t mode), (AT_FDCWD, path, flags, mode))
PLAIN(pipe2, pipe2, (, int *fds, int flags), (fds, flags))
PLAIN(prctl, prctl, (, int op, unsigned long a), (op, a, 0ul, 0ul, 0ul))
PLAIN(pread64, pread, (, int fd, void *buf, size_t len, off_t at), (fd, buf, len, at))
PLAIN(prlimit64, prlimit, (, int res, const struct rlimit *set, struct rlimit *get),
	(0, (__rlimit_resource_t)res, set, get))
PLAIN(pwrite64, pwrite, (, int fd, const void *buf, size_t len, off_t at), (fd, buf, len, at))
PLAIN(read, read, (, int fd, void *buf, size_t len), (fd, buf, len))
PLAIN(readlink, readlink, (, const char *path, char *buf, size_t len), (path, buf, len))
PLAIN(recvfrom, recv, (, int fd, void *buf, size_t len, int flags), (fd, buf, len, flags))
PLAIN(recvmmsg, recvmmsg, (, int fd, struct mmsghdr *v, unsigned int n, int flags),
	(fd, v, n, flags, NULL))
PLAIN(rename, rename, (, const char *from, const char *to), (from, to))
PLAIN(rt_sigaction, sigaction, (, int sig, const struct sigaction *sa), (sig, sa, NULL))
PLAIN(rt_sigprocmask, sigprocmask, (, int how, const sigset_t *set), (how, set, NULL))
/* Both apply to the calling thread. */
PLAIN(sched_getaffinity, sched_getaffinity, (, size_t len, cpu_set_t *set), (0, len, set))
PLAIN(sched_setaffinity, sched_setaffinity, (, size_t len, const cpu_set_t *set), (0, len, set))
PLAIN(sched_yield, sched_yield, (), ())
PLAIN(sendmmsg, sendmmsg, (, int fd, struct mmsghdr *v, unsigned int n, int flags),
	(fd, v, n, flags))
PLAIN(sendmsg, sendmsg, (, int fd, const struct msghdr *m, int flags), (fd, m, flags))
PLAIN(sendto, send, (, int fd, const void *buf, size_t len, int flags), (fd, buf, len, flags))
PLAIN(setgid, setgid, (, gid_t gid), (gid))
PLAIN(setgroups, setgroups, (, size_t n, const gid_t *list), (n, list))
PLAIN(setns, setns, (, int fd, int type), (fd, type))
PLAIN(setsid, setsid, (), ())
PLAIN(setsockopt, setsockopt, (, int fd, int lvl, int opt, const void *v, socklen_t len),
	(fd, lvl, opt, v, len))
PLAIN(setuid, setuid, (, uid_t uid), (uid))
PLAIN(shutdown, shutdown, (, int fd, int how), (fd, how))
PLAIN(signalfd4, signalfd, (, int fd, const sigset_t *set, int flags), (fd, set, flags))
PLAIN(socket, socket, (, int domain, int type, int proto), (domain, type, proto))
PLAIN(socketpair, socketpair, (, int domain, int type, int proto, int *sv),
	(domain, type, proto, sv))
PLAIN(splice, splice, (, int in, int out, size_t len, unsigned int flags),
	(in, NULL, out, NULL, len, flags))
PLAIN(stat, stat, (, const char *path, struct stat *st), (path, st))
PLAIN(umask, umask, (, mode_t mask), (mask))
PLAIN(uname, uname, (, struct utsname *u), (u))
PLAIN(unlink, unlink, (, const char *path), (path))
PLAIN(wait4, waitpid, (, pid_t pid, int *status, int options), (pid, status, options))
PLAIN(write, write, (, int fd, const void *buf, size_t len), (fd, buf, len))
PLAIN(writev, writev, (, int fd, const struct iovec *iov, int n), (fd, iov, n))

const struct sys_ops sys_linux = {
#define SYS_ROW(name, when, params, args) .name = lx_##name,
#include "base/sys.tbl.h"
#undef SYS_ROW
};
