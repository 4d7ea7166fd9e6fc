#include <stdio.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/process/confine.c"
#include "base/sys.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static struct sys sys;

/* A port of 127.0.0.1 that the test has, and does not listen at: no other program may listen there,
 * and no connection begins there. */
static unsigned int held_port;

static void
hold_port(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)(const void *)&in, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)(void *)&in, &len), 0);
	held_port = ntohs(in.sin_port);
}

/* The errno of what is tried, in a process that may only remove in `own`, read `readable`, and bind
 * port 0 and the held one. */
static int
errno_of(int (*attempt)(const char *path), const char *path, const char *own, const char *readable)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct file_access f;

		if (file_access_open(&f, &sys, ACCESS_BIND | ACCESS_CONNECT) ||
			file_access_remove(&f, own) ||
			file_access_read(&f, readable) || file_access_read(&f, "/no/such/file") ||
			file_access_bind(&f, 0) || file_access_bind(&f, held_port) ||
			file_access_connect(&f, held_port) ||
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || file_access_limit(&f))
			_exit(255);
		file_access_close(&f);
		_exit(attempt(path) < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
needs_rules(void)
{
	struct file_access f;
	int r = file_access_open(&f, &sys, ACCESS_BIND | ACCESS_CONNECT);

	file_access_close(&f);
	if (r == -ENOSYS)
		skip();
	assert_int_equal(r, 0);
	return r;
}

static int
kernel_limits_ports(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 4;
}

static int
opens_to_read(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int
opens_to_write(const char *path)
{
	return open(path, O_WRONLY | O_CLOEXEC);
}

static int
creates_file(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

static int
makes_directory(const char *path)
{
	return mkdir(path, 0700);
}

static int
executes(const char *path)
{
	char *const args[] = { (char[]){ "x" }, NULL };

	return execv(path, args);
}

static int
looks_at(const char *path)
{
	struct stat st;

	return stat(path, &st);
}

static int
binds_unix(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	return bind(fd, (const struct sockaddr *)(const void *)&un, sizeof(un));
}

static int
binds_port(const char *port)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return bind(fd, (const struct sockaddr *)(const void *)&in, sizeof(in));
}

/* ECONNREFUSED: it may. */
static int
connects_to_port(const char *port)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)strtoul(port, NULL, 10)),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = in6.sin6_port,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd6 = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	int r6 = connect(fd6, (const struct sockaddr *)(const void *)&in6, sizeof(in6));

	if (r6 < 0 && errno == EACCES)
		return -1;
	return connect(fd, (const struct sockaddr *)(const void *)&in, sizeof(in));
}

static int
disconnects(const char *port)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)port;
	return connect(fd, &none, sizeof(none));
}

static void
only_what_is_permitted(void **state)
{
	char own[256], other[256], readable[256], fresh[300];

	(void)state;
	needs_rules();
	snprintf(own, sizeof(own), "%s", files_write("own", "x"));
	snprintf(readable, sizeof(readable), "%s", files_write("readable", "x"));
	snprintf(other, sizeof(other), "/etc/passwd");
	snprintf(fresh, sizeof(fresh), "%s.new", own);
	assert_int_equal(errno_of(opens_to_read, readable, own, readable), 0);
	assert_int_equal(errno_of(opens_to_read, own, own, readable), EACCES);
	assert_int_equal(errno_of(opens_to_read, other, own, readable), EACCES);
	assert_int_equal(errno_of(opens_to_read, "/dev/null", own, readable), EACCES);
	assert_int_equal(errno_of(opens_to_read, "/no/such/file", own, readable), ENOENT);
	assert_int_equal(errno_of(opens_to_write, readable, own, readable), EACCES);
	assert_int_equal(errno_of(creates_file, fresh, own, readable), EACCES);
	assert_int_equal(errno_of(makes_directory, fresh, own, readable), EACCES);
	assert_int_equal(errno_of(binds_unix, fresh, own, readable), EACCES);
	assert_int_equal(errno_of(executes, "/bin/true", own, readable), EACCES);
	assert_int_equal(errno_of(looks_at, other, own, readable), 0);
	assert_int_equal(errno_of(unlink, "/tmp/../etc/no-such-file", own, readable), ENOENT);
	assert_int_equal(errno_of(unlink, own, own, readable), 0);
	assert_int_equal(looks_at(own), -1);
	assert_int_equal(errno_of(unlink, readable, "/etc/x", readable), EACCES);
	assert_int_equal(looks_at(readable), 0);
}

static void
only_ports_that_are_permitted(void **state)
{
	char own[256], held[8], other[8];

	(void)state;
	needs_rules();
	if (!kernel_limits_ports())
		skip();
	hold_port();
	snprintf(held, sizeof(held), "%u", held_port);
	snprintf(other, sizeof(other), "%u", held_port ^ 1);
	snprintf(own, sizeof(own), "%s", files_write("own", "x"));
	assert_int_equal(errno_of(binds_port, "0", own, own), 0);
	assert_int_equal(errno_of(binds_port, held, own, own), 0);
	assert_int_equal(errno_of(binds_port, other, own, own), EACCES);
	assert_int_equal(errno_of(binds_port, "80", own, own), EACCES);
	assert_int_equal(errno_of(connects_to_port, held, own, own), ECONNREFUSED);
	assert_int_equal(errno_of(connects_to_port, other, own, own), EACCES);
	assert_int_equal(errno_of(connects_to_port, "80", own, own), EACCES);
	/* as a listener does that is suspended */
	assert_int_equal(errno_of(disconnects, "", own, own), 0);
}

/* --- others --- */

static void
listen_on_abstract(struct sockaddr_un *un, socklen_t *len)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)(const void *)un, *len), 0);
	assert_int_equal(listen(fd, 8), 0);
}

/* Its exit status: 1 it may connect to the abstract socket, 2 it may signal us. */
static int
what_it_may(unsigned int limits, const struct sockaddr_un *un, socklen_t len)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), may = 0;
		struct file_access f;

		if (file_access_open(&f, &sys, limits) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
			file_access_limit(&f))
			_exit(255);
		if (connect(fd, (const struct sockaddr *)(const void *)un, len) == 0)
			may |= 1;
		if (kill(getppid(), 0) == 0)
			may |= 2;
		_exit(may | (kill(getpid(), 0) == 0 ? 0 : 254));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
processes_outside_are_out_of_reach(void **state)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	socklen_t len;

	(void)state;
	needs_rules();
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 6)
		skip();
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
		(size_t)snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, "tacit-unit-%d",
			(int)getpid()));
	listen_on_abstract(&un, &len);
	assert_int_equal(what_it_may(0, &un, len), 3);
	assert_int_equal(what_it_may(ACCESS_ABSTRACT, &un, len), 2);
	assert_int_equal(what_it_may(ACCESS_SIGNAL, &un, len), 1);
	assert_int_equal(what_it_may(ACCESS_ABSTRACT | ACCESS_SIGNAL, &un, len), 0);
}

/* --- kernels of several ages --- */

static int version;
static size_t attr_len;
static uint64_t attr_fs, attr_net, attr_scoped;
static unsigned int n_bind, n_connect;

static long
f_create(void *ctx, const void *attr, size_t len, unsigned int flags)
{
	const uint64_t *words = attr;

	(void)ctx;
	if (flags)
		return version;
	attr_len = len;
	attr_fs = words[0];
	attr_net = len > sizeof(*words) ? words[1] : 0;
	attr_scoped = len > 2 * sizeof(*words) ? words[2] : 0;
	return 1000000;
}

static long
f_add(void *ctx, int fd, int type, const void *attr, unsigned int flags)
{
	const uint64_t *words = attr;

	(void)ctx;
	assert_true(fd == 1000000 && type == 2 && flags == 0);
	n_bind += words[0] == 1 && words[1] == 80;
	n_connect += words[0] == 2 && words[1] == 443;
	return 0;
}

static long
f_close(void *ctx, int fd)
{
	(void)ctx;
	return fd == 1000000 ? 0 : -EBADF;
}

#define ALL (ACCESS_BIND | ACCESS_CONNECT | ACCESS_ABSTRACT | ACCESS_SIGNAL)

static void
a_kernel_is_asked_for_what_it_knows(void **state)
{
	static const struct {
		int abi;
		unsigned int wanted, limits;
		uint64_t fs, net, scoped;
		size_t len;
	} t[] = {
		{ 1, ALL, 0, 0x1fff, 0, 0, 8 },
		{ 2, ALL, 0, 0x3fff, 0, 0, 8 },
		{ 3, ALL, 0, 0x7fff, 0, 0, 8 },
		{ 4, ALL, ACCESS_BIND | ACCESS_CONNECT, 0x7fff, 3, 0, 16 },
		{ 5, ALL, ACCESS_BIND | ACCESS_CONNECT, 0xffff, 3, 0, 16 },
		{ 6, ALL, ALL, 0xffff, 3, 3, 24 },
		{ 9, ALL, ALL, 0xffff, 3, 3, 24 },
		{ 9, 0, 0, 0xffff, 0, 0, 24 },
		{ 9, ACCESS_BIND, ACCESS_BIND, 0xffff, 1, 0, 24 },
		{ 9, ACCESS_CONNECT, ACCESS_CONNECT, 0xffff, 2, 0, 24 },
		{ 9, ACCESS_ABSTRACT, ACCESS_ABSTRACT, 0xffff, 0, 1, 24 },
		{ 9, ACCESS_SIGNAL, ACCESS_SIGNAL, 0xffff, 0, 2, 24 },
		{ 5, ACCESS_SIGNAL, 0, 0xffff, 0, 0, 16 },
	};
	struct sys_ops ops = sys_linux;
	struct file_access f;
	struct sys s;

	(void)state;
	needs_rules();
	ops.landlock_create_ruleset = f_create;
	ops.landlock_add_rule = f_add;
	ops.close = f_close;
	sys_init(&s, &ops, NULL);
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		version = t[i].abi;
		n_bind = n_connect = 0;
		assert_int_equal(file_access_open(&f, &s, t[i].wanted), 0);
		assert_int_equal(f.limits, t[i].limits);
		assert_true(attr_fs == t[i].fs && attr_net == t[i].net);
		assert_true(attr_scoped == t[i].scoped && attr_len == t[i].len);
		assert_int_equal(file_access_bind(&f, 80), 0);
		assert_int_equal(file_access_connect(&f, 443), 0);
		assert_int_equal(n_bind, (t[i].net & 1) != 0);
		assert_int_equal(n_connect, (t[i].net & 2) != 0);
		file_access_close(&f);
		assert_int_equal(f.fd, -1);
	}
	version = -EOPNOTSUPP;
	assert_int_equal(file_access_open(&f, &s, ALL), -ENOSYS);
	version = -ENOSYS;
	assert_int_equal(file_access_open(&f, &s, ALL), -ENOSYS);
	version = -EPERM;
	assert_int_equal(file_access_open(&f, &s, ALL), -EPERM);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_what_is_permitted, files_open, files_close),
		cmocka_unit_test_setup_teardown(
			only_ports_that_are_permitted, files_open, files_close),
		cmocka_unit_test(processes_outside_are_out_of_reach),
		cmocka_unit_test(a_kernel_is_asked_for_what_it_knows),
	};

	sys_init(&sys, &sys_linux, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
