#include <stdio.h>
#include <string.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/process/syscall_filter.h"
#include "base/compiler.h"
#include "unit/test.h"

/* Calls that a thief of the process would try, and calls of the process itself. Each returns 0, or
 * the errno of a call that was refused. */

static int
errno_if(long r)
{
	return r < 0 ? errno : 0;
}

static int
executes(void)
{
	char *const args[] = { (char[]){ "true" }, NULL };

	return errno_if(execv("/bin/true", args));
}

static int
forks(void)
{
	return errno_if(fork());
}

static void *
thread_routine(void *arg)
{
	return arg;
}

static int
starts_thread(void)
{
	pthread_t t;

	return pthread_create(&t, NULL, thread_routine, NULL);
}

static int
writes_file(void)
{
	return errno_if(open("/dev/null", O_WRONLY | O_CLOEXEC));
}

static int
creates_file(void)
{
	return errno_if(open("/tmp", O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int
empties_file(void)
{
	return errno_if(open("/dev/null", O_RDONLY | O_TRUNC | O_CLOEXEC));
}

static int
reads_file(void)
{
	return errno_if(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

static int
traces(void)
{
	return errno_if(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
}

static int
reads_memory_of_another(void)
{
	struct iovec none = { NULL, 0 };

	return errno_if(process_vm_readv(getppid(), &none, 1, &none, 1, 0));
}

static int
becomes_root(void)
{
	return errno_if(setuid(0));
}

static int
changes_root(void)
{
	return errno_if(chroot("/"));
}

static int
kills_another(void)
{
	return errno_if(kill(getppid(), 0));
}

static int
signals_another_thread(void)
{
	return errno_if(syscall(SYS_tgkill, getppid(), getppid(), 0));
}

static int
opens_raw_socket(void)
{
	return errno_if(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
}

static int
opens_netlink(void)
{
	return errno_if(socket(AF_NETLINK, SOCK_DGRAM, 0));
}

static int
opens_packet_socket(void)
{
	return errno_if(socket(AF_PACKET, SOCK_DGRAM, 0));
}

static int
opens_sctp(void)
{
	return errno_if(socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP));
}

static int
opens_ping_socket(void)
{
	return errno_if(socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP));
}

/* Some kernels have none. */
static int
opens_mptcp(void)
{
	int r = errno_if(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_MPTCP));

	return r == EPROTONOSUPPORT || r == ENOPROTOOPT ? 0 : r;
}

static int
makes_executable(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? errno : errno_if(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int
maps_executable(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);

	return p == MAP_FAILED ? errno : 0;
}

static int
becomes_dumpable(void)
{
	return errno_if(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static int
raises_limit(void)
{
	struct rlimit rl = { 1, 1 };

	return errno_if(setrlimit(RLIMIT_CORE, &rl));
}

static int
types_into_terminal(void)
{
	return errno_if(ioctl(0, TIOCSTI, "x"));
}

static int
duplicates(void)
{
	return errno_if(fcntl(0, F_DUPFD, 100));
}

static int
makes_user_namespace(void)
{
	return errno_if(syscall(SYS_unshare, 0x10000000 /* CLONE_NEWUSER */));
}

static int
loads_bpf(void)
{
	return errno_if(syscall(SYS_bpf, 0, NULL, 0));
}

static int
uses_io_uring(void)
{
	return errno_if(syscall(SYS_io_uring_setup, 1, NULL));
}

static int
lists_directory(void)
{
	DIR *d = opendir("/");

	return d && readdir(d) ? 0 : EACCES;
}

static int
renames(void)
{
	return errno_if(rename("/nowhere", "/nothing"));
}

static int
opens_sockets(void)
{
	static const int families[] = { AF_INET, AF_INET6, AF_UNIX };

	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		for (int dgram = 0; dgram < 2; dgram++) {
			int fd = socket(families[i],
				(dgram ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC,
				0);

			if (fd < 0 && errno != EAFNOSUPPORT)
				return errno;
			close(fd);
		}
	return 0;
}

static int
uses_pipe(void)
{
	char c;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) || fcntl(fds[0], F_GETPIPE_SZ) < 0 ||
		fcntl(fds[0], F_SETFL, O_NONBLOCK) || write(fds[1], "x", 1) != 1)
		return errno;
	return read(fds[0], &c, 1) == 1 ? 0 : errno;
}

static int
allocates(void)
{
	for (size_t n = 1; n < 1 << 26; n *= 2) {
		char *p = realloc(malloc(n), 2 * n);

		memset(p, 1, n);
		free(p);
	}
	return 0;
}

static int
aborts(void)
{
	abort();
}

static int
kills_helper(void)
{
	return errno_if(kill(12345678, SIGKILL));
}

static int
kills_helper_gently(void)
{
	return errno_if(kill(12345678, SIGTERM));
}

static const struct probe {
	const char *name;
	int (*fn)(void);
	int signal;   /* that ends the process, or 0 */
	int refused;  /* errno */
} probes[] = {
	{ "executes", executes, SIGSYS, 0 },
	{ "forks", forks, SIGSYS, 0 },
	{ "starts_thread", starts_thread, SIGSYS, 0 },
	{ "writes_file", writes_file, SIGSYS, 0 },
	{ "creates_file", creates_file, SIGSYS, 0 },
	{ "empties_file", empties_file, SIGSYS, 0 },
	{ "reads_file", reads_file, 0, 0 },
	{ "traces", traces, SIGSYS, 0 },
	{ "reads_memory_of_another", reads_memory_of_another, SIGSYS, 0 },
	{ "becomes_root", becomes_root, SIGSYS, 0 },
	{ "changes_root", changes_root, SIGSYS, 0 },
	{ "kills_another", kills_another, SIGSYS, 0 },
	{ "signals_another_thread", signals_another_thread, SIGSYS, 0 },
	{ "opens_raw_socket", opens_raw_socket, SIGSYS, 0 },
	{ "opens_netlink", opens_netlink, SIGSYS, 0 },
	{ "opens_packet_socket", opens_packet_socket, SIGSYS, 0 },
	{ "opens_sctp", opens_sctp, SIGSYS, 0 },
	{ "opens_ping_socket", opens_ping_socket, SIGSYS, 0 },
	{ "opens_mptcp", opens_mptcp, SIGSYS, 0 },
	{ "makes_executable", makes_executable, SIGSYS, 0 },
	/* JIT compilers ask first */
	{ "maps_executable", maps_executable, 0, EACCES },
	{ "becomes_dumpable", becomes_dumpable, SIGSYS, 0 },
	{ "raises_limit", raises_limit, SIGSYS, 0 },
	{ "types_into_terminal", types_into_terminal, SIGSYS, 0 },
	{ "duplicates", duplicates, SIGSYS, 0 },
	{ "makes_user_namespace", makes_user_namespace, SIGSYS, 0 },
	{ "loads_bpf", loads_bpf, SIGSYS, 0 },
	{ "uses_io_uring", uses_io_uring, SIGSYS, 0 },
	{ "lists_directory", lists_directory, SIGSYS, 0 },
	{ "renames", renames, SIGSYS, 0 },
	{ "opens_sockets", opens_sockets, 0, 0 },
	{ "uses_pipe", uses_pipe, 0, 0 },
	{ "allocates", allocates, 0, 0 },
	{ "aborts", aborts, SIGABRT, 0 },
	{ "kills_helper", kills_helper, SIGSYS, 0 },
};

/* The exit status of a process that installs the filter and then tries. */
static int
status_of(int (*fn)(void), const struct syscall_filter *more)
{
	const struct rlimit no_core = { 0, 0 };
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct syscall_filter f = *more;

		f.self = getpid();
		if (setrlimit(RLIMIT_CORE, &no_core) || syscall_filter_install(&f))
			_exit(255);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int
needs_filter(void **state)
{
	static const struct syscall_filter f = { .self = 1 };

	(void)state;
	if (syscall_filter_is_built())
		return 0;
	assert_int_equal(syscall_filter_install(&f), -ENOSYS);
	skip();
	return 0;
}

static void
each_call_is_allowed_refused_or_the_end(void **state)
{
	static const struct syscall_filter none = { 0 };

	needs_filter(state);
	for (size_t i = 0; i < ARRAY_LEN(probes); i++) {
		const struct probe *p = &probes[i];
		int status = status_of(p->fn, &none);

		if (p->signal ? !WIFSIGNALED(status) || WTERMSIG(status) != p->signal
			      : !WIFEXITED(status) || WEXITSTATUS(status) != p->refused)
			fail_msg("%s: status %#x", p->name, (unsigned int)status);
	}
}

static void
a_process_that_may_fork_may_do_nothing_else(void **state)
{
	static const struct syscall_filter f = { .may_fork = 1 };
	int status;

	needs_filter(state);
	status = status_of(forks, &f);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	status = status_of(executes, &f);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

static void
multipath_tcp_can_be_allowed(void **state)
{
	static const struct syscall_filter f = { .may_mptcp = 1 };
	int status;

	needs_filter(state);
	status = status_of(opens_mptcp, &f);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	status = status_of(opens_sctp, &f);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

static void
the_helper_can_be_killed(void **state)
{
	static const struct syscall_filter f = { .helper = 12345678 };
	int status;

	needs_filter(state);
	status = status_of(kills_helper, &f);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == ESRCH);
	status = status_of(kills_helper_gently, &f);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	status = status_of(kills_another, &f);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

/* --- threads that run already --- */

static int go[2];

static void *
wait_and_exec(void *arg)
{
	char c;

	if (read(go[0], &c, 1) == 1)
		(void)executes();
	return arg;
}

static void
the_filter_holds_for_all_threads(void **state)
{
	int status;
	pid_t pid;

	needs_filter(state);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		struct syscall_filter f = { .self = getpid() };
		pthread_t t;

		if (pthread_create(&t, NULL, wait_and_exec, NULL) || syscall_filter_install(&f))
			_exit(255);
		if (write(go[1], "x", 1) == 1)
			(void)pthread_join(t, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	close(go[0]);
	close(go[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_allowed_refused_or_the_end),
		cmocka_unit_test(a_process_that_may_fork_may_do_nothing_else),
		cmocka_unit_test(multipath_tcp_can_be_allowed),
		cmocka_unit_test(the_helper_can_be_killed),
		cmocka_unit_test(the_filter_holds_for_all_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
