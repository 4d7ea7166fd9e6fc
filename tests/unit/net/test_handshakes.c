/* Counting handshakes in progress, on the real kernel. A client in a handshake is one with a filter
 * that drops the SYN-ACK; the kernel sends it again. */
#include "unit/net/net_rig.h"

#include <linux/filter.h>

#include "net/handshakes.h"

static int listens[2];
static struct sockaddr_storage at[2];
static socklen_t at_len[2];

static int
setup(void **st)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };

	(void)st;
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sys_init(&rig_sys, &sys_linux, NULL);
	memcpy(&at[0], &in, sizeof(in));
	memcpy(&at[1], &in6, sizeof(in6));
	at_len[0] = sizeof(in);
	at_len[1] = sizeof(in6);
	for (int i = 0; i < 2; i++) {
		listens[i] = socket(at[i].ss_family, SOCK_STREAM, 0);
		assert_int_equal(bind(listens[i], (void *)&at[i], at_len[i]), 0);
		assert_int_equal(listen(listens[i], 10), 0);
		assert_int_equal(getsockname(listens[i], (void *)&at[i], &at_len[i]), 0);
	}
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	close(listens[0]);
	close(listens[1]);
	return 0;
}

static unsigned int
port_of(int i)
{
	return ntohs(i ? ((struct sockaddr_in6 *)&at[i])->sin6_port
		       : ((struct sockaddr_in *)&at[i])->sin_port);
}

static int
pending_at(int i)
{
	struct handshake_ports ports = { { 0 } };

	handshake_ports_add(&ports, port_of(i));
	return handshakes_pending(&rig_sys, &ports);
}

/* A client whose handshake does not end; -1: this process may not attach filters. */
static int
half_connect(int i)
{
	struct sock_filter none[] = { BPF_STMT(BPF_RET | BPF_K, 0) };
	struct sock_fprog prog = { .len = 1, .filter = none };
	int fd = socket(at[i].ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) < 0) {
		close(fd);
		return -1;
	}
	assert_int_equal(connect(fd, (void *)&at[i], at_len[i]), -1);
	assert_int_equal(errno, EINPROGRESS);
	return fd;
}

static void
handshakes_are_counted_until_they_end(void **st)
{
	int none = 0;

	(void)st;
	if (pending_at(0) < 0)
		skip(); /* a kernel without sock_diag */
	for (int i = 0; i < 2; i++) {
		int fd = half_connect(i);
		struct pollfd p = { .fd = fd, .events = POLLOUT };

		if (fd < 0)
			skip();
		/* SYN cookies would leave nothing to count: the queue has room. */
		assert_int_equal(pending_at(i), 1);
		assert_int_equal(pending_at(!i), 0);
		assert_int_equal(
			setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof(none)), 0);
		assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
		assert_int_equal(p.revents & POLLOUT, POLLOUT);
		assert_int_equal(pending_at(i), 0);
		close(fd);
	}
}

static long
refuse_netlink(void *ctx, int domain, int type, int proto)
{
	return domain == AF_NETLINK ? -EACCES : sys_linux.socket(ctx, domain, type, proto);
}

static long
answer_nonsense(void *ctx, int fd, void *buf, size_t len, int flags)
{
	(void)ctx;
	(void)fd;
	(void)flags;
	assert_true(len >= 16);
	memset(buf, 0xff, 16);
	return 16;
}

static void
a_kernel_that_does_not_say_is_an_error(void **st)
{
	struct sys_ops ops = sys_linux;

	(void)st;
	ops.socket = refuse_netlink;
	sys_init(&rig_sys, &ops, NULL);
	assert_int_equal(pending_at(0), -EACCES);
	ops = sys_linux;
	ops.recvfrom = answer_nonsense;
	assert_true(pending_at(0) < 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			handshakes_are_counted_until_they_end, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_kernel_that_does_not_say_is_an_error, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
