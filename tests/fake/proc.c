/* The process in the fake kernel: its signals, limits, CPUs and random bytes. */
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <linux/futex.h>

#include "fake/kernel_int.h"

void
fake_set_cpus(struct fake *k, unsigned int n)
{
	k->cpus_present = k->cpus = UINT64_MAX >> (64 - n);
}

long
fake_signal_read(struct fake_file *f, void *buf, size_t len)
{
	struct signalfd_siginfo si;
	int bit;

	if (len < sizeof(si))
		return -EINVAL;
	if (!f->pending)
		return -EAGAIN;
	bit = __builtin_ctzll(f->pending);
	f->pending &= ~(1ull << bit);
	memset(&si, 0, sizeof(si));
	si.ssi_signo = (uint32_t)bit + 1;
	memcpy(buf, &si, sizeof(si));
	return (long)sizeof(si);
}

long
fake_signalfd4(void *ctx, int fd, const sigset_t *set, int flags)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_signalfd4, fd);
	uint64_t mask = 0;

	for (int i = 1; i < 64; i++)
		mask |= sigismember(set, i) == 1 ? 1ull << (i - 1) : 0;
	if (r == 0)
		r = fd >= 0 ? fd : fake_file_new(k, FAKE_KIND_SIGNAL, flags & SFD_NONBLOCK);
	if (r > 0 && fake_file_of(k, (int)r)) {
		k->files[r]->sigmask = mask;
		k->files[r]->process = fake_process();
	}
	return fake_leave(k, r, "signalfd4(%d)", fd);
}

long
fake_prlimit64(void *ctx, int res, const struct rlimit *set, struct rlimit *get)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_prlimit64, -1);

	if (r == 0 && res != RLIMIT_NOFILE) {
		fake_blame(k, FAKE_UNKNOWN);
		r = -ENOSYS;
	}
	if (r == 0 && get)
		get->rlim_cur = get->rlim_max = (rlim_t)k->fd_limit;
	if (r == 0 && set)
		k->fd_limit = (int)MIN(set->rlim_cur, (rlim_t)FAKE_MAX_FD);
	return fake_leave(k, r, "prlimit64()");
}

/* The same bytes in every run. */
long
fake_getrandom(void *ctx, void *buf, size_t len, unsigned int flags)
{
	struct fake *k = ctx;
	long r = fake_enter(ctx, SYS_CALL_getrandom, -1);

	(void)flags;
	if (r == 0)
		for (size_t i = 0; i < len; i++) {
			k->random = k->random * UINT64_C(6364136223846793005) +
				UINT64_C(1442695040888963407);
			((unsigned char *)buf)[i] = (unsigned char)(k->random >> 56);
		}
	return fake_leave(ctx, r ? r : (long)len, "getrandom(%zu)", len);
}

/* No CPU time is used. */
long
fake_getrusage(void *ctx, int who, struct rusage *ru)
{
	(void)who;
	memset(ru, 0, sizeof(*ru));
	return fake_leave(ctx, fake_enter(ctx, SYS_CALL_getrusage, -1), "getrusage()");
}

long
fake_getpriority(void *ctx)
{
	const struct fake *k = ctx;
	long r = fake_enter(ctx, SYS_CALL_getpriority, -1);

	return fake_leave(ctx, r ? r : 20 - k->nice, "getpriority()");
}

/* A process without privileges: it can only lower its priority. */
long
fake_setpriority(void *ctx, int nice)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_setpriority, -1);

	if (r == 0 && nice < k->nice)
		r = -EACCES;
	if (r == 0)
		k->nice = nice;
	return fake_leave(k, r, "setpriority(%d)", nice);
}

/* The set as words of the kernel, as many as fit. */
long
fake_sched_getaffinity(void *ctx, size_t len, cpu_set_t *set)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_sched_getaffinity, -1);

	if (r == 0 && len < sizeof(k->cpus))
		r = -EINVAL;
	if (r == 0)
		memset(set, 0, len);
	if (r == 0)
		memcpy(set, &k->cpus, sizeof(k->cpus));
	return fake_leave(k, r, "sched_getaffinity()");
}

/* A thread may choose among the present CPUs, at least one. */
long
fake_sched_setaffinity(void *ctx, size_t len, const cpu_set_t *set)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_sched_setaffinity, -1);
	uint64_t mask = 0;

	memcpy(&mask, set, MIN(len, sizeof(mask)));
	if (r == 0 && !(mask & k->cpus_present))
		r = -EINVAL;
	if (r == 0)
		k->cpus = mask & k->cpus_present;
	return fake_leave(k, r, "sched_setaffinity(%llx)", (unsigned long long)mask);
}

long
fake_getpid(void *ctx)
{
	return fake_leave(ctx,
		fake_enter(ctx, SYS_CALL_getpid, -1) ? 0 : FAKE_PID + (long)fake_process(),
		"getpid()");
}

long
fake_rt_sigprocmask(void *ctx, int how, const sigset_t *set)
{
	(void)how;
	(void)set;
	return fake_leave(ctx, fake_enter(ctx, SYS_CALL_rt_sigprocmask, -1), "rt_sigprocmask()");
}

long
fake_rt_sigaction(void *ctx, int sig, const struct sigaction *sa)
{
	(void)sa;
	return fake_leave(ctx, fake_enter(ctx, SYS_CALL_rt_sigaction, -1), "rt_sigaction(%d)", sig);
}

long
fake_uname(void *ctx, struct utsname *u)
{
	static const struct utsname fake = { .sysname = "Fake", .nodename = "fake" };

	*u = fake;
	return fake_leave(ctx, fake_enter(ctx, SYS_CALL_uname, -1), "uname()");
}

long
fake_umask(void *ctx, mode_t mask)
{
	return fake_leave(ctx, fake_enter(ctx, SYS_CALL_umask, -1), "umask(%o)", mask);
}

/* Without another thread that could change the word the time passes. */
static long
wait_for_word(struct fake *k, const uint32_t *word, const struct timespec *ts)
{
	uint64_t ns = ts ? (uint64_t)ts->tv_sec * FAKE_SEC + (uint64_t)ts->tv_nsec : 0;
	uint64_t until = ts ? k->now + ns : UINT64_MAX;

	if (k->n_tasks > 1) {
		(void)fake_task_wait(NULL, word, until);
		k->call = SYS_CALL_futex;
		return k->now >= until ? -ETIMEDOUT : 0;
	}
	if (ts)
		fake_advance(k, ns);
	else
		fake_blame(k, FAKE_BLOCKED);
	return -ETIMEDOUT;
}

long
fake_futex(void *ctx, uint32_t *word, int op, uint32_t val, const struct timespec *ts)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_futex, -1);

	if (r == 0 && op == FUTEX_WAIT_PRIVATE)
		r = *word == val ? wait_for_word(k, word, ts) : -EAGAIN;
	else if (r == 0 && op == FUTEX_WAKE_PRIVATE)
		r = fake_task_wake(k, word);
	return fake_leave(k, r, "futex()");
}

long
fake_sched_yield(void *ctx)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_sched_yield, -1);

	if (k->n_tasks > 1)
		fake_task_yield();
	return fake_leave(k, r, "sched_yield()");
}

/* Only the process itself is known by its number. */
long
fake_kill(void *ctx, pid_t pid, int sig)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_kill, -1);

	if (r == 0 && pid != FAKE_PID + (pid_t)fake_process())
		r = -ESRCH;
	if (r == 0 && sig)
		fake_signal_to(k, fake_process(), sig);
	return fake_leave(k, r, "kill(%d, %d)", (int)pid, sig);
}

static void
deliver(struct fake_file *f, int signo)
{
	uint64_t bit = 1ull << (signo - 1);

	if (f->kind != FAKE_KIND_SIGNAL || !(f->sigmask & bit))
		return;
	f->pending |= bit;
	fake_file_wake(f, EPOLLIN);
}

void
fake_signal(struct fake *k, int signo)
{
	for (int fd = FAKE_FD_MIN; fd < FAKE_MAX_FD; fd++)
		if (k->files[fd])
			deliver(k->files[fd], signo);
}

void
fake_signal_to(struct fake *k, unsigned int process, int signo)
{
	for (int fd = FAKE_FD_MIN; fd < FAKE_MAX_FD; fd++)
		if (k->files[fd] && k->files[fd]->process == process)
			deliver(k->files[fd], signo);
}
