/* Facts of the socket below a connection, on the real kernel. */
#include "net_rig.h"

#include "net/conn_socket.h"

static struct conn c;
static int peer;

static int
open_pair(void **st)
{
	int fd[2];

	(void)st;
	rig_open(INTEREST_EDGE);
	rig_tcp_pair(fd);
	peer = fd[1];
	conn_init(&c);
	conn_attach(&c, rig_loop, fd[0]);
	return 0;
}

static int
close_pair(void **st)
{
	(void)st;
	close(c.fd);
	close(peer);
	rig_close();
	return 0;
}

static void
both_ends_have_addresses(void **st)
{
	struct addr own, other, seen;

	(void)st;
	assert_int_equal(conn_local_addr(&c, &own), 0);
	assert_int_equal(conn_peer_addr(&c, &other), 0);
	assert_int_equal(addr_of_peer(&rig_sys, peer, &seen), 0);
	assert_int_equal(own.len, seen.len);
	assert_memory_equal(&own.u, &seen.u, seen.len);
	assert_int_equal(addr_of_socket(&rig_sys, peer, &seen), 0);
	assert_memory_equal(&other.u, &seen.u, seen.len);
}

static void
figures_and_options_are_of_the_socket(void **st)
{
	struct tcp_info info;
	socklen_t len = sizeof(int);
	int tos;

	(void)st;
	assert_int_equal(conn_tcp_info(&c, &info), 0);
	assert_int_equal(info.tcpi_state, TCP_ESTABLISHED);
	conn_socket_set(&c, IPPROTO_IP, IP_TOS, 0x28);
	assert_int_equal(getsockopt(c.fd, IPPROTO_IP, IP_TOS, &tos, &len), 0);
	assert_int_equal(tos, 0x28);
}

static void
a_closed_connection_has_none(void **st)
{
	struct conn none;
	struct tcp_info info;
	struct addr a;

	(void)st;
	conn_init(&none);
	assert_null(conn_socket(&none));
	assert_int_equal(conn_local_addr(&none, &a), -ENOTCONN);
	assert_int_equal(conn_peer_addr(&none, &a), -ENOTCONN);
	assert_int_equal(conn_addr_before_nat(&none, AF_INET, &a), -ENOTCONN);
	assert_int_equal(conn_tcp_info(&none, &info), -ENOTCONN);
	conn_socket_set(&none, IPPROTO_IP, IP_TOS, 0x28);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_ends_have_addresses, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(
			figures_and_options_are_of_the_socket, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(
			a_closed_connection_has_none, open_pair, close_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
