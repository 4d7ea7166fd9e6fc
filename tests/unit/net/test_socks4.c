/* The handshake with a SOCKS4 proxy, a byte at a time and all at once, over real sockets. */
#include "net/outbound.c"
#include "unit/net/net_rig.h"

#include "net/conn.h"

static struct conn c;
static int peer;
static uint8_t got;

static void
on_io(void *owner, int fd, uint32_t ev)
{
	(void)owner;
	(void)fd;
	(void)ev;
}

static struct addr
server_at(const char *text)
{
	struct addr_spec spec;
	const char *why;

	assert_int_equal(addr_parse(text, ADDR_WANT_PORT, &spec, &why), 0);
	return spec.addr;
}

static int
setup(void **st)
{
	int fd[2];

	(void)st;
	rig_open(INTEREST_EDGE);
	rig_tcp_pair(fd);
	assert_int_equal(conn_open(&c, rig_loop, fd[0], on_io, NULL, CONN_TCP), 0);
	peer = fd[1];
	got = 0;
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	conn_close(&c);
	close(peer);
	rig_turn(0);
	rig_close();
	return 0;
}

static void
ask(void)
{
	struct addr to = server_at("1.2.3.4:8765");
	char heard[32];

	assert_int_equal(socks4_begin(&c, &to), 0);
	assert_int_equal(socks4_proceed(&c, &got), SOCKS4_READS);
	assert_int_equal(recv(peer, heard, sizeof(heard), 0), SOCKS4_REQUEST_LEN);
	assert_memory_equal(heard, "\4\1\x22\x3d\1\2\3\4HAProxy", SOCKS4_REQUEST_LEN);
}

/* The proxy sends something, and the loop reports it. */
static void
proxy_says(const char *bytes, size_t n)
{
	assert_int_equal(send(peer, bytes, n, 0), (ssize_t)n);
	loop_want(rig_loop, c.fd, EV_R);
	rig_turn(PATIENCE_MS);
}

static void
the_reply_may_come_in_pieces(void **st)
{
	static const char reply[] = "\0\x5a\1\2\3\4\5\6";

	(void)st;
	ask();
	for (unsigned int i = 0; i < SOCKS4_REPLY_LEN; i++) {
		assert_int_equal(got, i);
		assert_non_null(c.preface);
		proxy_says(reply + i, 1);
		assert_int_equal(socks4_proceed(&c, &got),
			i + 1 < SOCKS4_REPLY_LEN ? SOCKS4_READS : SOCKS4_GRANTED);
	}
	assert_null(c.preface);
	assert_int_equal(c.err, 0);
	/* the server's own preface may follow */
	assert_int_equal(conn_set_preface(&c, "PROXY", 5), 0);
	assert_int_equal(conn_send_preface(&c), IO_OK);
}

static void
bytes_behind_the_reply_are_the_servers(void **st)
{
	char greeting[16];
	size_t n;

	(void)st;
	ask();
	proxy_says("\7\x5a------220 ready", 17);
	assert_int_equal(socks4_proceed(&c, &got), SOCKS4_GRANTED);
	assert_int_equal(conn_recv(&c, greeting, sizeof(greeting), &n), IO_OK);
	assert_int_equal(n, 9);
	assert_memory_equal(greeting, "220 ready", 9);
}

/* The code decides, wherever the reply is cut. */
static void
all_other_codes_deny(void **st)
{
	char reply[SOCKS4_REPLY_LEN] = { 0 };

	(void)st;
	for (int code = 0; code < 256; code++) {
		if (code == 90)
			continue;
		setup(NULL);
		ask();
		reply[1] = (char)code;
		if (code & 1)
			proxy_says(reply, 1);
		if (code & 1)
			assert_int_equal(socks4_proceed(&c, &got), SOCKS4_READS);
		proxy_says(reply + (code & 1), (size_t)(SOCKS4_REPLY_LEN - (code & 1)));
		assert_int_equal(socks4_proceed(&c, &got), SOCKS4_DENIED);
		assert_int_equal(c.err, ECONNREFUSED);
		teardown(NULL);
	}
	assert_int_equal(socks4_error(SOCKS4_DENIED), CONN_ERR_SOCKS4_DENIED);
}

static void
a_proxy_that_closes_has_failed(void **st)
{
	(void)st;
	ask();
	proxy_says("\0\x5a-", 3);
	assert_int_equal(socks4_proceed(&c, &got), SOCKS4_READS);
	assert_int_equal(shutdown(peer, SHUT_WR), 0);
	rig_turn(PATIENCE_MS);
	assert_int_equal(socks4_proceed(&c, &got), SOCKS4_CLOSED);
	assert_int_equal(c.err, ECONNRESET);
}

static void
a_proxy_that_resets_has_failed(void **st)
{
	struct linger now = { .l_onoff = 1 };

	(void)st;
	ask();
	assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
	close(peer);
	peer = -1;
	loop_want(rig_loop, c.fd, EV_R);
	rig_turn(PATIENCE_MS);
	assert_int_equal(socks4_proceed(&c, &got), SOCKS4_FAILED);
	assert_int_equal(c.err, ECONNRESET);
}

static void
requests_carry_ipv4_only(void **st)
{
	struct addr to = server_at("[2001:db8::1]:80");
	char heard[32];

	(void)st;
	assert_int_equal(socks4_begin(&c, &to), -EAFNOSUPPORT);
	assert_null(c.preface);
	to = server_at("[::ffff:9.8.7.6]:80");
	assert_int_equal(socks4_begin(&c, &to), 0);
	assert_int_equal(socks4_proceed(&c, &got), SOCKS4_READS);
	assert_int_equal(recv(peer, heard, sizeof(heard), 0), SOCKS4_REQUEST_LEN);
	assert_memory_equal(heard, "\4\1\0\x50\x9\x8\x7\x6HAProxy", SOCKS4_REQUEST_LEN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_reply_may_come_in_pieces),
		CASE(bytes_behind_the_reply_are_the_servers),
		cmocka_unit_test(all_other_codes_deny),
		CASE(a_proxy_that_closes_has_failed),
		CASE(a_proxy_that_resets_has_failed),
		CASE(requests_carry_ipv4_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
