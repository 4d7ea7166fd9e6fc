/* silent-drop: on the real kernel as far as permissions allow, and each method on the fake
 * kernel. */
#include <sched.h>

#include "unit/net/net_rig.h"

#include "fake/kernel.h"
#include "net/conn.h"
#include "net/silent_drop.h"

/* Runs this process on one CPU: what it sends over loopback arrives in the order of its calls. */
static void
stay_on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* 1 if the peer had seen an end of the connection before it sent a byte, which is answered with a
 * reset in any case: only of an open connection that is ECONNRESET. */
static int
is_told(int peer)
{
	struct pollfd p = { .fd = peer, .events = 0 };
	int err = 0;
	socklen_t len = sizeof(err);

	if (send(peer, "x", 1, MSG_NOSIGNAL) != 1)
		return 1;
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	assert_int_equal(getsockopt(peer, SOL_SOCKET, SO_ERROR, &err, &len), 0);
	return err != ECONNRESET;
}

static void
the_peer_sees_no_end_if_permitted(void **st)
{
	struct conn c;
	int fd[2], may;

	(void)st;
	stay_on_one_cpu();
	rig_open(INTEREST_EDGE);
	rig_tcp_pair(fd);
	conn_init(&c);
	conn_attach(&c, rig_loop, fd[1]);
	conn_silent_drop_on_close(&c);
	may = rig_calls(SYS_CALL_setsockopt) == 1;
	close(fd[1]);
	assert_int_equal(is_told(fd[0]), !may);
	close(fd[0]);
	/* without it the peer sees the end at once */
	rig_tcp_pair(fd);
	close(fd[1]);
	assert_true(is_told(fd[0]));
	close(fd[0]);
	rig_close();
}

static void
without_tcp_repair_the_reset_has_a_short_ttl(void **st)
{
	struct loop_config cfg = { .poller = &poller_epoll, .mode = INTEREST_EDGE, .max_fd = 64,
				   .max_events = 16, .lazy = 1 };
	struct fake *k = fake_new();
	struct sys sys;
	struct loop *loop;
	struct conn c;
	int reason;
	long fd;

	(void)st;
	sys_init(&sys, &sys_fake, k);
	loop = loop_new(&sys, &cfg, &reason);
	assert_non_null(loop);
	fake_trace_on(k, 1);
	fd = sys_socket(&sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	conn_init(&c);
	conn_attach(&c, loop, (int)fd);
	conn_silent_drop_on_close(&c);
	assert_non_null(strstr(fake_trace(k), "TCP_REPAIR"));
	assert_null(strstr(fake_trace(k), "SO_LINGER"));
	fake_fail(k, SYS_CALL_setsockopt, ledger_sum(&sys.ledger, SYS_CALL_setsockopt) + 1, EPERM);
	conn_silent_drop_on_close(&c);
	assert_non_null(strstr(fake_trace(k), "IP_TTL"));
	assert_non_null(strstr(fake_trace(k), "IPV6_UNICAST_HOPS"));
	assert_non_null(strstr(fake_trace(k), "SO_LINGER"));
	(void)sys_close(&sys, (int)fd);
	loop_free(&loop);
	fake_free(&k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_peer_sees_no_end_if_permitted),
		cmocka_unit_test(without_tcp_repair_the_reset_has_a_short_ttl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
