#include "unit/net/net_rig.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "net/listener.h"
#include "net/sockbuf.h"
#include "net/keepalive.h"

static struct bind_conf bind_conf;
static struct listener ln;
static char why[256];

static int
setup(void **st)
{
	(void)st;
	rig_open(INTEREST_EDGE);
	memset(&bind_conf, 0, sizeof(bind_conf));
	bind_conf.uid = (uid_t)-1;
	bind_conf.gid = (gid_t)-1;
	listener_init(&ln, &bind_conf);
	ln.addr = rig_any();
	why[0] = '\0';
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	listener_close(&ln, &rig_sys);
	rig_close();
	return 0;
}

static int
bind_it(void)
{
	return listener_bind(&ln, &rig_sys, 10, why, sizeof(why));
}

static void
accepted_sockets_inherit_what_the_listener_was_given(void **st)
{
	static const struct sockbuf small = { .rcv = 8192, .snd = 16384, .notsent = 4096 };
	static const struct keepalive alive = { .count = 5, .idle = 70, .interval = 8 };
	int fd, acc;

	(void)st;
	ln.nodelay = 1;
	ln.keepalive = &alive;
	ln.sockbuf = &small;
	bind_conf.user_timeout_ms = 1234;
	bind_conf.defer_accept = 0;
	assert_int_equal(bind_it(), 0);
	assert_int_equal(ln.state, LISTENER_BOUND);
	fd = rig_connect(&ln.addr);
	while ((acc = accept(ln.fd, NULL, NULL)) < 0)
		assert_int_equal(errno, EAGAIN);
	assert_true(rig_opt(acc, IPPROTO_TCP, TCP_NODELAY) != 0);
	assert_true(rig_opt(acc, SOL_SOCKET, SO_KEEPALIVE) != 0);
	assert_int_equal(rig_opt(acc, IPPROTO_TCP, TCP_KEEPCNT), 5);
	assert_int_equal(rig_opt(acc, IPPROTO_TCP, TCP_KEEPIDLE), 70);
	assert_int_equal(rig_opt(acc, IPPROTO_TCP, TCP_KEEPINTVL), 8);
	assert_int_equal(rig_opt(acc, IPPROTO_TCP, TCP_USER_TIMEOUT), 1234);
	assert_int_equal(rig_opt(acc, SOL_SOCKET, SO_RCVBUF), 2 * small.rcv);
	assert_int_equal(rig_opt(acc, SOL_SOCKET, SO_SNDBUF), 2 * small.snd);
	assert_int_equal(rig_opt(acc, IPPROTO_TCP, TCP_NOTSENT_LOWAT), small.notsent);
	close(acc);
	close(fd);
}

/* The kernel has no way back to its own values but to be given them. */
static void
a_kept_socket_loses_what_is_not_configured_any_more(void **st)
{
	static const struct keepalive before = { .count = 5, .idle = 70, .interval = 8 };
	static const struct keepalive after = { .idle = 60 };
	int fresh = socket(AF_INET, SOCK_STREAM, 0);

	(void)st;
	ln.keepalive = &before;
	assert_int_equal(bind_it(), 0);
	ln.kept_fd = ln.fd;
	ln.keepalive = &after;
	assert_int_equal(bind_it(), 0);
	assert_int_equal(rig_opt(ln.fd, IPPROTO_TCP, TCP_KEEPIDLE), 60);
	assert_int_equal(rig_opt(ln.fd, IPPROTO_TCP, TCP_KEEPCNT),
		rig_opt(fresh, IPPROTO_TCP, TCP_KEEPCNT));
	assert_int_equal(rig_opt(ln.fd, IPPROTO_TCP, TCP_KEEPINTVL),
		rig_opt(fresh, IPPROTO_TCP, TCP_KEEPINTVL));
	ln.keepalive = NULL;
	assert_int_equal(bind_it(), 0);
	assert_int_equal(rig_opt(ln.fd, SOL_SOCKET, SO_KEEPALIVE), 0);
	close(fresh);
}

static void
port_zero_becomes_known(void **st)
{
	(void)st;
	assert_int_equal(bind_it(), 0);
	assert_true(addr_port(&ln.addr) > 0);
	assert_true(fcntl(ln.fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(ln.fd, F_GETFD) & FD_CLOEXEC);
}

static void
options_of_the_listener_itself(void **st)
{
	(void)st;
	bind_conf.defer_accept = 1;
	bind_conf.mss = 700;
	bind_conf.tfo = 1;
	assert_int_equal(bind_it(), 0);
	assert_int_equal(rig_opt(ln.fd, IPPROTO_TCP, TCP_DEFER_ACCEPT), 1);
	assert_int_equal(rig_opt(ln.fd, IPPROTO_TCP, TCP_MAXSEG), 700);
	assert_true(rig_opt(ln.fd, IPPROTO_TCP, TCP_FASTOPEN) > 0);
}

static void
a_taken_port_is_an_error_that_names_it(void **st)
{
	struct listener other;
	char port[16];

	(void)st;
	assert_int_equal(bind_it(), 0);
	listener_init(&other, &bind_conf);
	other.addr = ln.addr;
	assert_int_equal(listener_bind(&other, &rig_sys, 10, why, sizeof(why)), -EADDRINUSE);
	(void)snprintf(port, sizeof(port), ":%u", addr_port(&ln.addr));
	assert_non_null(strstr(why, port));
	assert_non_null(strstr(why, "in use"));
	assert_int_equal(other.fd, -1);
}

static void
an_inherited_socket_is_served(void **st)
{
	struct addr a = rig_any();
	int fd = socket(AF_INET, SOCK_STREAM, 0), client;

	(void)st;
	assert_int_equal(bind(fd, &a.u.sa, a.len), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(addr_of_socket(&rig_sys, fd, &a), 0);
	/* The client connects before the listener is started. */
	client = rig_connect(&a);
	ln.addr.len = 0;
	ln.inherit_fd = fd;
	assert_int_equal(bind_it(), 0);
	assert_int_equal(ln.fd, fd);
	assert_int_equal(addr_port(&ln.addr), addr_port(&a));
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(accept(ln.fd, NULL, NULL));
	close(client);
}

static void
a_descriptor_that_is_no_socket_is_refused(void **st)
{
	(void)st;
	ln.addr.len = 0;
	ln.inherit_fd = MAX_FD + 1;
	assert_int_equal(bind_it(), -EBADF);
	assert_non_null(strstr(why, "inherited"));
}

static void
make_path(struct addr *a, char *dir, size_t size)
{
	(void)snprintf(dir, size, "/tmp/test_listener.XXXXXX");
	assert_non_null(mkdtemp(dir));
	memset(a, 0, sizeof(*a));
	a->u.un.sun_family = AF_UNIX;
	(void)snprintf(a->u.un.sun_path, sizeof(a->u.un.sun_path), "%s/s", dir);
	a->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(a->u.un.sun_path) + 1);
}

static void
a_unix_socket_replaces_the_old_one(void **st)
{
	struct listener second;
	struct stat first, now;
	char dir[64], path[128];
	int fd;

	(void)st;
	make_path(&ln.addr, dir, sizeof(dir));
	(void)snprintf(path, sizeof(path), "%s", ln.addr.u.un.sun_path);
	bind_conf.mode = 0600;
	assert_int_equal(bind_it(), 0);
	assert_int_equal(stat(path, &first), 0);
	assert_int_equal(first.st_mode & 0777, 0600);
	listener_init(&second, &bind_conf);
	second.addr = ln.addr;
	assert_int_equal(listener_bind(&second, &rig_sys, 10, why, sizeof(why)), 0);
	assert_int_equal(stat(path, &now), 0);
	assert_int_not_equal(first.st_ino, now.st_ino);
	fd = rig_connect(&second.addr);
	close(accept(second.fd, NULL, NULL));
	close(fd);
	/* Closing the first listener leaves the second one alone; only then the path is removed. */
	listener_unlink(&ln, &rig_sys);
	assert_int_equal(stat(path, &now), 0);
	listener_unlink(&second, &rig_sys);
	assert_int_equal(stat(path, &now), -1);
	listener_close(&second, &rig_sys);
	/* Nothing else was left behind. */
	assert_int_equal(rmdir(dir), 0);
}

static long
no_bind(void *ctx, int fd, const struct sockaddr *sa, socklen_t len)
{
	(void)ctx;
	(void)fd;
	(void)sa;
	(void)len;
	return -EACCES;
}

/* A refusal names the permission that such a port needs. */
static void
a_refused_privileged_port_names_the_capability(void **st)
{
	struct sys_ops ops = sys_linux;
	const char *end = NULL;
	struct sys sys;

	(void)st;
	ops.bind = no_bind;
	sys_init(&sys, &ops, NULL);
	assert_int_equal(addr_parse_ip("127.0.0.1", &ln.addr), 0);
	addr_set_port(&ln.addr, 1023);
	assert_int_equal(listener_bind(&ln, &sys, 10, why, sizeof(why)), -EACCES);
	end = strstr(why, "127.0.0.1:1023: Permission denied (ports below 1024 ");
	assert_non_null(end);
	assert_non_null(strstr(end, "CAP_NET_BIND_SERVICE"));
	addr_set_port(&ln.addr, 1024);
	assert_int_equal(listener_bind(&ln, &sys, 10, why, sizeof(why)), -EACCES);
	assert_null(strstr(why, "1024 "));
	assert_non_null(strstr(why, "Permission denied"));
}

static long
no_chmod(void *ctx, const char *path, mode_t mode)
{
	(void)ctx;
	(void)path;
	(void)mode;
	return -EPERM;
}

/* A failed bind leaves no file behind, under any name. */
static void
a_unix_socket_that_fails_leaves_nothing(void **st)
{
	struct sys_ops ops = sys_linux;
	struct sys sys;
	char dir[64];

	(void)st;
	ops.chmod = no_chmod;
	sys_init(&sys, &ops, NULL);
	make_path(&ln.addr, dir, sizeof(dir));
	bind_conf.mode = 0600;
	assert_int_equal(listener_bind(&ln, &sys, 10, why, sizeof(why)), -EPERM);
	assert_non_null(strstr(why, "change the mode"));
	assert_int_equal(rmdir(dir), 0);
}

static int netns_calls, netns_fails;

/* The call number netns_fails fails. */
static long
count_setns(void *ctx, int fd, int type)
{
	(void)ctx;
	(void)fd;
	assert_int_equal(type, CLONE_NEWNET);
	netns_calls++;
	return netns_calls == netns_fails ? -EPERM : 0;
}

static long
open_netns(void *ctx, const char *path, int flags, mode_t mode)
{
	(void)mode;
	assert_int_equal(flags, O_RDONLY | O_CLOEXEC);
	if (strcmp(path, "/run/netns/none") == 0)
		return -ENOENT;
	if (strcmp(path, "/run/netns/blue") != 0)
		assert_string_equal(path, "/proc/self/ns/net");
	return sys_linux.openat(ctx, "/dev/null", flags, 0);
}

/* The lowest free descriptor. */
static int
next_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static int
bind_there(char *name, int failing)
{
	struct sys_ops ops = sys_linux;
	struct sys sys;
	int r;

	ops.openat = open_netns;
	ops.setns = count_setns;
	netns_calls = 0;
	netns_fails = failing;
	sys_init(&sys, &ops, NULL);
	bind_conf.netns = name;
	r = listener_bind(&ln, &sys, 10, why, sizeof(why));
	bind_conf.netns = NULL;
	return r;
}

static void
a_socket_of_another_namespace(void **st)
{
	static char blue[] = "blue", none[] = "none";
	int before = next_fd();

	(void)st;
	assert_int_equal(bind_there(none, 0), -ENOENT);
	assert_string_equal(why,
		"cannot enter the network namespace 'none' for 127.0.0.1:0: No such file or "
		"directory ('ip netns list' shows those that exist)");
	assert_int_equal(netns_calls, 0);
	assert_int_equal(bind_there(blue, 1), -EPERM);
	assert_string_equal(why,
		"cannot enter the network namespace 'blue' for 127.0.0.1:0: Operation not "
		"permitted (it needs CAP_SYS_ADMIN, which a master gives up after its start)");
	assert_int_equal(netns_calls, 1);
	/* In, but not out again: the start fails. */
	assert_int_equal(bind_there(blue, 2), -EPERM);
	assert_non_null(strstr(why, "cannot leave the network namespace for 127.0.0.1:"));
	assert_int_equal(next_fd(), before);
	assert_int_equal(bind_there(blue, 0), 0);
	assert_int_equal(netns_calls, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(accepted_sockets_inherit_what_the_listener_was_given),
		CASE(a_kept_socket_loses_what_is_not_configured_any_more),
		CASE(port_zero_becomes_known),
		CASE(options_of_the_listener_itself),
		CASE(a_taken_port_is_an_error_that_names_it),
		CASE(a_refused_privileged_port_names_the_capability),
		CASE(an_inherited_socket_is_served),
		CASE(a_descriptor_that_is_no_socket_is_refused),
		CASE(a_unix_socket_replaces_the_old_one),
		CASE(a_unix_socket_that_fails_leaves_nothing),
		CASE(a_socket_of_another_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
