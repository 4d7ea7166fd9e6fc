/* Connections that tacit opens, on the fake kernel: sources, options, transports, proxies on the
 * way, and failures. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "fake/kernel.h"
#include "fake/xprt.h"
#include "net/keepalive.h"
#include "net/outbound.h"
#include "unit/test.h"

#define PORT 2000
#define PROXY 1080
#define SOURCE 3000
#define MAX_FD 64

static struct fake *k;
static struct sys sys;
static struct loop *loop;
static struct conn c;
static struct addr server, proxy;
static struct outbound_source source;
static struct outbound o;
static unsigned int next_port;

static void
on_io(void *owner, int fd, uint32_t ev)
{
	(void)owner;
	(void)fd;
	(void)ev;
}

static struct addr
local(unsigned int port)
{
	struct addr a = { .len = sizeof(a.u.in) };

	a.u.in.sin_family = AF_INET;
	a.u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	addr_set_port(&a, port);
	return a;
}

static struct loop *
new_loop(int max_fd)
{
	struct loop_config cfg = { .poller = &poller_epoll, .mode = INTEREST_EDGE,
				   .max_fd = max_fd, .max_events = 16, .lazy = 1 };
	int reason;
	struct loop *l = loop_new(&sys, &cfg, &reason);

	assert_non_null(l);
	return l;
}

static int
setup(void **st)
{
	(void)st;
	k = fake_new();
	sys_init(&sys, &sys_fake, k);
	loop = new_loop(MAX_FD);
	(void)fake_origin(k, PORT, 8);
	(void)fake_origin(k, PROXY, 8);
	server = local(PORT);
	proxy = local(PROXY);
	source = (struct outbound_source){ .addr = local(0), .interface = "" };
	next_port = 0;
	o = (struct outbound){ .to = &server };
	conn_init(&c);
	fake_trace_on(k, 1);
	fake_trace_clear(k);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	conn_close(&c);
	loop_free(&loop);
	assert_int_equal(fake_fds(k), 0);
	fake_free(&k);
	return 0;
}

static int
open_it(void)
{
	return outbound_open(&c, loop, &o, on_io, NULL);
}

static void
close_it(void)
{
	conn_close(&c);
	fake_trace_clear(k);
}

static int
was_called(const char *what)
{
	return strstr(fake_trace(k), what) != NULL;
}

static unsigned int
calls_of(enum sys_call call)
{
	return (unsigned int)ledger_sum(&sys.ledger, call);
}

static void
fail_next(enum sys_call call, int err)
{
	fake_fail(k, call, calls_of(call) + 1, err);
}

static void
a_plain_connection_takes_two_calls(void **st)
{
	uint64_t before = ledger_total(&sys.ledger);

	(void)st;
	assert_int_equal(open_it(), 0);
	assert_int_equal(ledger_total(&sys.ledger) - before, 2);
	assert_true(was_called("socket(INET)"));
	assert_true(was_called(":2000)"));
	/* A first send may be tried; there is nothing to read yet. */
	assert_true(conn_is_ready(&c, DIR_W));
	assert_false(conn_is_ready(&c, DIR_R));
	outbound_await(&c);
	assert_false(conn_is_ready(&c, DIR_W));
	assert_int_equal(loop_turn(loop, 1), 0);
	assert_true(conn_is_ready(&c, DIR_W));
}

static void
nagle_and_datagrams_are_options(void **st)
{
	int fd;

	(void)st;
	assert_int_equal(open_it(), 0);
	assert_false(c.nodelay);
	close_it();
	o.options = OUTBOUND_NAGLE;
	assert_int_equal(open_it(), 0);
	assert_true(c.nodelay);
	close_it();
	(void)fake_receiver(k, 53);
	o.options = OUTBOUND_DATAGRAM;
	addr_set_port(&server, 53);
	fd = outbound_connect(&sys, &o);
	assert_true(fd >= 0 && o.is_up);
	assert_true(was_called("socket(INET, DGRAM)"));
	assert_int_equal(sys_close(&sys, fd), 0);
}

/* A kernel without it, and options that it does not have. */
static void
mptcp_falls_back_to_tcp(void **st)
{
	static const struct keepalive any;
	static const int lacks[] = { EPROTONOSUPPORT, ENOPROTOOPT };

	(void)st;
	o.options = OUTBOUND_MPTCP | OUTBOUND_FASTOPEN;
	o.keepalive = &any;
	for (size_t i = 0; i < ARRAY_LEN(lacks); i++) {
		unsigned int before = calls_of(SYS_CALL_socket);

		fail_next(SYS_CALL_socket, lacks[i]);
		assert_int_equal(open_it(), 0);
		assert_int_equal(calls_of(SYS_CALL_socket) - before, 2);
		close_it();
	}
	fail_next(SYS_CALL_setsockopt, EOPNOTSUPP);
	assert_int_equal(open_it(), 0);
	assert_true(was_called("6:30")); /* the next option is set */
	close_it();
	o.options = OUTBOUND_FASTOPEN;
	fail_next(SYS_CALL_setsockopt, EOPNOTSUPP);
	assert_int_equal(open_it(), -EOPNOTSUPP);
}

static void
ports_of_a_range_are_used_in_turn(void **st)
{
	static const unsigned int want[] = { SOURCE, SOURCE + 1, SOURCE + 2, SOURCE };

	(void)st;
	source.port_lo = SOURCE;
	source.port_hi = SOURCE + 2;
	source.next = &next_port;
	o.source = &source;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(open_it(), 0);
		assert_int_equal(fake_fd_port(k, c.fd), want[i]);
		close_it();
	}
	assert_int_equal(next_port, ARRAY_LEN(want));
}

/* The port of an address that is not this host's may be bound by an earlier connection. */
static void
a_given_port_is_shared(void **st)
{
	(void)st;
	addr_set_port(&source.addr, SOURCE);
	source.is_foreign = 1;
	o.source = &source;
	assert_int_equal(open_it(), 0);
	assert_true(was_called("0:19")); /* IP_TRANSPARENT */
	assert_true(was_called("SO_REUSEADDR"));
	assert_false(was_called("0:24")); /* IP_BIND_ADDRESS_NO_PORT */
	assert_int_equal(fake_fd_port(k, c.fd), SOURCE);
	close_it();
	addr_set_port(&source.addr, 0);
	assert_int_equal(open_it(), 0);
	assert_true(was_called("0:24"));
	assert_false(was_called("SO_REUSEADDR"));
}

/* The transport is for the server: it begins when the proxy has granted the request. */
static void
a_proxy_on_the_way_is_asked_first(void **st)
{
	struct fake_script script = FAKE_SCRIPT(.is_client = 1);

	(void)st;
	o.xprt = &script.maker;
	assert_int_equal(open_it(), 0);
	assert_true(was_called(":2000)"));
	assert_non_null(c.xprt);
	assert_false(c.owes_preface);
	close_it();
	o.via = &proxy;
	o.options = OUTBOUND_MPTCP;
	assert_int_equal(open_it(), 0);
	assert_true(was_called(":1080)"));
	assert_null(c.xprt);
	assert_true(c.owes_preface);
	close_it();
	/* SOCKS4 has IPv4 addresses only. */
	server = (struct addr){ .len = sizeof(server.u.in6) };
	server.u.in6.sin6_family = AF_INET6;
	assert_int_equal(open_it(), -EAFNOSUPPORT);
	assert_false(conn_is_open(&c));
}

static void
a_failure_leaves_nothing(void **st)
{
	static const struct {
		enum sys_call call;
		int err;
	} t[] = {
		{ SYS_CALL_socket, EMFILE }, { SYS_CALL_setsockopt, ENOMEM },
		{ SYS_CALL_bind, EADDRINUSE }, { SYS_CALL_connect, ECONNREFUSED },
		{ SYS_CALL_connect, EADDRNOTAVAIL },
	};
	struct fake_script script = FAKE_SCRIPT(.refuses = 1);
	struct loop *tiny = new_loop(4);
	unsigned int open = fake_fds(k);

	(void)st;
	o.source = &source;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		fail_next(t[i].call, t[i].err);
		assert_int_equal(open_it(), -t[i].err);
		assert_false(conn_is_open(&c));
		assert_int_equal(fake_fds(k), open);
	}
	/* A descriptor above the size of the loop's table is one too many. */
	assert_int_equal(outbound_open(&c, tiny, &o, on_io, NULL), -EMFILE);
	assert_int_equal(fake_fds(k), open);
	loop_free(&tiny);
	o.xprt = &script.maker;
	assert_int_equal(open_it(), -ENOMEM);
	assert_int_equal(loop_fds(loop), 0);
}

/* Neither the source nor the options that outlive a connection are set again. */
static void
a_socket_may_be_used_again(void **st)
{
	static const struct keepalive any;
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd;

	(void)st;
	o.source = &source;
	o.keepalive = &any;
	o.options = OUTBOUND_LATE_ACK;
	fd = outbound_connect(&sys, &o);
	assert_true(fd >= 0 && !o.is_up);
	assert_true(sys_connect(&sys, fd, &none, sizeof(none)) >= 0);
	fake_trace_clear(k);
	assert_int_equal(outbound_reconnect(&sys, fd, &o), fd);
	assert_true(was_called("TCP_QUICKACK"));
	assert_false(was_called("SO_KEEPALIVE"));
	assert_false(was_called("bind("));
	assert_true(sys_connect(&sys, fd, &none, sizeof(none)) >= 0);
	fail_next(SYS_CALL_connect, ECONNREFUSED);
	assert_int_equal(outbound_reconnect(&sys, fd, &o), -ECONNREFUSED);
}

static void
local_shortages_are_distinguished(void **st)
{
	static const int own[] = { EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL, EADDRINUSE,
				   EAGAIN };
	static const int theirs[] = { ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH,
				      ECONNRESET, 0 };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		assert_true(outbound_is_shortage(own[i]));
	for (size_t i = 0; i < ARRAY_LEN(theirs); i++)
		assert_false(outbound_is_shortage(theirs[i]));
}

/* The numbers are those of HAProxy's bc_err. */
static void
errors_have_reasons(void **st)
{
	static const struct {
		int err, number, with_source, of_unix;
	} rows[] = {
		{ EMFILE, 2, 2, 2 }, { ENFILE, 3, 3, 3 }, { ENOBUFS, 4, 4, 4 }, { ENOMEM, 4, 4, 4 },
		{ EAFNOSUPPORT, 5, 5, 5 }, { EPROTONOSUPPORT, 5, 5, 5 }, { EACCES, 6, 6, 6 },
		{ EADDRINUSE, 9, 8, 9 }, { EADDRNOTAVAIL, 9, 8, 9 }, { ECONNREFUSED, 0, 0, 6 },
		{ ETIMEDOUT, 0, 0, 6 }, { ENETUNREACH, 0, 0, 6 }, { EHOSTUNREACH, 0, 0, 6 },
		{ ECONNRESET, 0, 0, 6 }, { ENOENT, 6, 6, 6 },
	};
	struct addr un = { .len = sizeof(un.u.un) };
	struct outbound plain = { .to = &server }, bound = { .to = &server, .source = &source },
		unix_socket = { .to = &un };

	(void)st;
	un.u.un.sun_family = AF_UNIX;
	source = (struct outbound_source){ .addr = local(SOURCE) };
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int err = rows[i].err;

		assert_int_equal(conn_err_number(outbound_error(&plain, err)), rows[i].number);
		assert_int_equal(conn_err_number(outbound_error(&bound, err)), rows[i].with_source);
		assert_int_equal(conn_err_number(outbound_error(&unix_socket, err)),
			rows[i].of_unix);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(errors_have_reasons),
		CASE(a_plain_connection_takes_two_calls),
		CASE(nagle_and_datagrams_are_options),
		CASE(mptcp_falls_back_to_tcp),
		CASE(ports_of_a_range_are_used_in_turn),
		CASE(a_given_port_is_shared),
		CASE(a_proxy_on_the_way_is_asked_first),
		CASE(a_failure_leaves_nothing),
		CASE(a_socket_may_be_used_again),
		CASE(local_shortages_are_distinguished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
