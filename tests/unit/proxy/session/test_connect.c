/* Connecting to a server: socket options before connect(), source ports, and failures. */
#include "unit/proxy/session_rig.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#include "event/poller.h"
#include "net/sockbuf.h"
#include "proxy/session/connect.h"

#define SOURCE_PORT 3000

static struct session sess;
static struct stream s;
static struct bind_conf bind_line;
static struct listener listener;
static struct server *srv;

static void
on_task(struct task *t)
{
	(void)t;
}

static int
setup(void **st)
{
	struct world_config cfg = { RIG_WORLD };

	(void)st;
	rig_open(&cfg, NULL);
	srv = w.srv[0];
	memset(&s, 0, sizeof(s));
	memset(&sess, 0, sizeof(sess));
	stream_join(&s, &sess, &sess.conn);
	memset(&bind_line, 0, sizeof(bind_line));
	memset(&listener, 0, sizeof(listener));
	listener.bind = &bind_line;
	listener.addr = w.ln->addr;
	s.engine = &w.engine;
	s.sess->listener = &listener;
	s.sess->fe = s.be = w.px;
	s.srv = srv;
	conn_init(s.conn[CLIENT]);
	conn_init(s.conn[SERVER]);
	task_init(&s.task, on_task);
	fake_trace_on(w.k, 1);
	fake_trace_clear(w.k);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	conn_close(s.conn[SERVER]);
	task_cancel(&s.task);
	rig_close();
	return 0;
}

static void
again(void)
{
	conn_close(s.conn[SERVER]);
	task_cancel(&s.task);
	fake_trace_clear(w.k);
}

static int
was_called(const char *what)
{
	return strstr(fake_trace(w.k), what) != NULL;
}

static struct addr
local(unsigned int port)
{
	struct addr a = w.ln->addr;

	addr_set_port(&a, port);
	return a;
}

static void
takes_two_calls(void **st)
{
	uint64_t before = ledger_total(&w.sys.ledger);

	(void)st;
	assert_int_equal(connect_server(&s), 0);
	assert_true(conn_is_open(s.conn[SERVER]));
	assert_int_equal(ledger_total(&w.sys.ledger) - before, 2);
	assert_true(was_called("socket(INET)"));
	assert_true(was_called(":2000)"));
	/* The first exchange follows in the same turn. */
	assert_int_equal(s.posted, STREAM_EV_NONE);
	assert_false(list_is_empty(&s.task.link));
}

static void
options_are_set_before(void **st)
{
	static const struct {
		unsigned int options;
		unsigned int user_timeout;
		int tfo, defer;
		const char *call; /* NULL: none */
	} t[] = {
		{ 0, 0, 0, 0, NULL },
		{ OPT_CLITCPKA, 0, 0, 0, NULL },
		{ OPT_SRVTCPKA, 0, 0, 0, "SO_KEEPALIVE" },
		{ OPT_SRVTCPKA, 0, 0, 0, "TCP_KEEPIDLE" },
		{ 0, 5000, 0, 0, "TCP_USER_TIMEOUT" },
		{ 0, 0, 1, 0, NULL },
		{ OPT_SMART_CONNECT, 0, 0, 0, NULL },
		{ 0, 0, 0, 1, NULL },
		{ OPT_SMART_CONNECT, 0, 0, 1, "TCP_QUICKACK" },
	};

	(void)st;
	assert_int_equal(TCP_FASTOPEN_CONNECT, 30);
	w.px->server_keepalive.idle = 7;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const char *option, *connected;

		w.px->options = t[i].options;
		srv->conf.user_timeout_ms = t[i].user_timeout;
		srv->conf.tfo = t[i].tfo;
		bind_line.defer_accept = t[i].defer;
		assert_int_equal(connect_server(&s), 0);
		option = strstr(fake_trace(w.k), "setsockopt(");
		connected = strstr(fake_trace(w.k), "connect(");
		assert_int_equal(option != NULL, t[i].call != NULL);
		if (t[i].call)
			assert_true(was_called(t[i].call) && option < connected);
		again();
	}
	/* The client's request has arrived: its segment carries the ACK. */
	w.px->options = OPT_SMART_CONNECT;
	bind_line.defer_accept = 0;
	srv->conf.tfo = 0;
	s.dir[CLIENT].tail = 5;
	assert_int_equal(connect_server(&s), 0);
	assert_true(was_called("TCP_QUICKACK"));
	again();
	/* They go with the SYN. Without them there would be none: the server may speak first. */
	w.px->options = 0;
	srv->conf.tfo = 1;
	s.dir[CLIENT].tail = 5;
	assert_int_equal(connect_server(&s), 0);
	assert_true(was_called("6:30"));
}

/* The window is announced in the SYN, so the size must be set before. */
static void
buffers_are_set_before(void **st)
{
	static const struct sockbuf small = { .rcv = 4096, .snd = 8192, .notsent = 2048 };
	static const char *const call[] = { "SO_RCVBUF", "SO_SNDBUF", "TCP_NOTSENT_LOWAT" };

	(void)st;
	w.engine.server_buf = &small;
	assert_int_equal(connect_server(&s), 0);
	for (size_t i = 0; i < ARRAY_LEN(call); i++) {
		const char *set = strstr(fake_trace(w.k), call[i]);

		assert_non_null(set);
		assert_true(set < strstr(fake_trace(w.k), "connect("));
	}
	again();
	fake_fail(w.k, SYS_CALL_setsockopt,
		ledger_sum(&w.sys.ledger, SYS_CALL_setsockopt) + 2, ENOBUFS);
	assert_int_equal(connect_server(&s), -ENOBUFS);
	assert_int_equal(fake_fds(w.k), 2);
}

static void
a_source_leaves_the_port_to_the_kernel(void **st)
{
	(void)st;
	srv->conf.source.addr = local(0);
	assert_int_equal(connect_server(&s), 0);
	assert_true(was_called("0:24")); /* IP_BIND_ADDRESS_NO_PORT */
	assert_true(was_called("bind("));
	again();
	srv->conf.source.addr.len = 0;
	assert_int_equal(connect_server(&s), 0);
	assert_false(was_called("bind("));
	again();
	memcpy(srv->conf.source.interface, "lo", 3);
	assert_int_equal(connect_server(&s), 0);
	assert_true(was_called("1:25")); /* SO_BINDTODEVICE */
	assert_false(was_called("bind("));
}

static unsigned int
calls_of(const char *name)
{
	unsigned int n = 0;

	for (const char *at = fake_trace(w.k); (at = strstr(at, name)) != NULL; at++)
		n++;
	return n;
}

/* usesrc: the address need not be this host's. */
static void
the_client_may_be_shown(void **st)
{
	(void)st;
	srv->conf.source.addr = local(0);
	srv->conf.source.as = SOURCE_AS_ADDR;
	srv->conf.source.as_addr = local(0);
	assert_int_equal(connect_server(&s), 0);
	assert_true(was_called("0:19")); /* IP_TRANSPARENT */
	assert_true(was_called("0:24"));
	assert_int_equal(calls_of("bind("), 1);
	again();
	srv->conf.source.as = SOURCE_AS_CLIENT;
	s.sess->peer = local(SOURCE_PORT);
	assert_int_equal(connect_server(&s), 0);
	assert_true(was_called("0:19"));
	assert_false(was_called("0:24"));
	assert_int_equal(fake_fd_port(w.k, s.conn[SERVER]->fd), SOURCE_PORT);
	again();
	/* No header has brought an address. */
	srv->conf.source.as = SOURCE_AS_HEADER;
	assert_int_equal(connect_server(&s), 0);
	assert_false(was_called("0:19"));
	assert_false(was_called("bind("));
	again();
	srv->conf.source.as = SOURCE_AS_CLIENT_IP;
	fake_fail(w.k, SYS_CALL_setsockopt,
		ledger_sum(&w.sys.ledger, SYS_CALL_setsockopt) + 1, EPERM);
	assert_int_equal(connect_server(&s), -EPERM);
	assert_false(conn_is_open(s.conn[SERVER]));
	assert_int_equal(fake_fds(w.k), 2);
	s.sess->peer.len = 0;
}

static void
ports_of_a_range_are_used_in_turn(void **st)
{
	static const unsigned int want[] = { 3000, 3001, 3002, 3000 };

	(void)st;
	srv->conf.source.addr = local(0);
	srv->conf.source.port_lo = SOURCE_PORT;
	srv->conf.source.port_hi = SOURCE_PORT + 2;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(connect_server(&s), 0);
		assert_int_equal(fake_fd_port(w.k, s.conn[SERVER]->fd), want[i]);
		assert_false(was_called("0:24"));
		again();
	}
}

static void
ports_in_use_are_skipped(void **st)
{
	(void)st;
	srv->conf.source.addr = local(0);
	srv->conf.source.port_lo = SOURCE_PORT;
	srv->conf.source.port_hi = SOURCE_PORT + 2;
	(void)fake_origin(w.k, SOURCE_PORT, 1);
	(void)fake_origin(w.k, SOURCE_PORT + 1, 1);
	assert_int_equal(connect_server(&s), 0);
	assert_int_equal(fake_fd_port(w.k, s.conn[SERVER]->fd), SOURCE_PORT + 2);
	assert_int_equal(calls_of("bind("), 3);
	again();
	/* Each port is tried once; then it is a local shortage of ports. */
	(void)fake_origin(w.k, SOURCE_PORT + 2, 1);
	assert_int_equal(connect_server(&s), -EADDRINUSE);
	assert_int_equal(calls_of("bind("), 3);
	assert_false(conn_is_open(s.conn[SERVER]));
	assert_int_equal(fake_fds(w.k), 2);
}

/* A connection from that port to that server is open: the kernel reports it when it connects. */
static void
ports_with_a_connection_are_skipped(void **st)
{
	uint64_t n = ledger_sum(&w.sys.ledger, SYS_CALL_connect);

	(void)st;
	srv->conf.source.addr = local(0);
	srv->conf.source.port_lo = SOURCE_PORT;
	srv->conf.source.port_hi = SOURCE_PORT + 2;
	fake_fail(w.k, SYS_CALL_connect, n + 1, EADDRNOTAVAIL);
	fake_fail_again(w.k, 1);
	assert_int_equal(connect_server(&s), 0);
	assert_int_equal(fake_fd_port(w.k, s.conn[SERVER]->fd), SOURCE_PORT + 2);
	assert_int_equal(fake_fds(w.k), 2 + 1);
	again();
	/* Each port is tried once. */
	fake_fail(w.k, SYS_CALL_connect, n + 4, EADDRNOTAVAIL);
	fake_fail_again(w.k, 100);
	assert_int_equal(connect_server(&s), -EADDRNOTAVAIL);
	assert_int_equal(ledger_sum(&w.sys.ledger, SYS_CALL_connect), n + 6);
	assert_int_equal(fake_fds(w.k), 2);
	/* A turn is not spent on a long range. */
	srv->conf.source.port_hi = SOURCE_PORT + 60000;
	assert_int_equal(connect_server(&s), -EADDRNOTAVAIL);
	assert_int_equal(ledger_sum(&w.sys.ledger, SYS_CALL_connect), n + 6 + 64);
	assert_int_equal(fake_fds(w.k), 2);
}

/* The error of any call that fails is returned, and no descriptor stays open. */
static void
failures_leave_nothing(void **st)
{
	static const struct {
		enum sys_call call;
		int err;
	} t[] = {
		{ SYS_CALL_socket, EMFILE }, { SYS_CALL_socket, ENOBUFS },
		{ SYS_CALL_setsockopt, ENOMEM }, { SYS_CALL_bind, EADDRNOTAVAIL },
		{ SYS_CALL_connect, ECONNREFUSED }, { SYS_CALL_connect, EADDRNOTAVAIL },
		{ SYS_CALL_connect, ENETUNREACH }, { SYS_CALL_connect, EAGAIN },
	};

	(void)st;
	w.px->options = OPT_SRVTCPKA;
	srv->conf.source.addr = local(0);
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		fake_fail(w.k, t[i].call, ledger_sum(&w.sys.ledger, t[i].call) + 1, t[i].err);
		assert_int_equal(connect_server(&s), -t[i].err);
		assert_false(conn_is_open(s.conn[SERVER]));
		assert_int_equal(fake_fds(w.k), 2);
		assert_int_equal(loop_fds(w.loop), 1);
	}
}

/* A server without a port uses the client's destination port, plus an offset. */
static void
the_port_may_follow_the_clients(void **st)
{
	static const struct {
		unsigned int client;
		int offset;
		const char *to;
	} t[] = {
		{ 1000, 0, ":1000)" }, { 1000, 500, ":1500)" }, { 1000, -200, ":800)" },
		{ 65535, 1, ":0)" }, { 10, -11, ":65535)" },
	};

	(void)st;
	srv->spec.has_offset = 1;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		addr_set_port(&listener.addr, t[i].client);
		srv->spec.port_offset = t[i].offset;
		(void)!connect_server(&s);
		assert_true(was_called(t[i].to));
		again();
	}
}

static void
unix_sockets_have_no_tcp_options(void **st)
{
	static const struct sockbuf buf = { .rcv = 4096, .snd = 8192, .notsent = 2048 };
	struct addr to;

	(void)st;
	w.engine.server_buf = &buf;
	w.px->options = OPT_SRVTCPKA | OPT_SMART_CONNECT;
	srv->conf.user_timeout_ms = 1000;
	srv->conf.tfo = 1;
	srv->conf.source.addr = local(0);
	srv->spec.has_offset = 1;
	memset(&to, 0, sizeof(to));
	to.u.un.sun_family = AF_UNIX;
	memcpy(to.u.un.sun_path, "/none", 6);
	to.len = sizeof(to.u.un);
	addr_cell_set(&srv->addr, &to);
	assert_true(connect_server(&s) < 0);
	assert_true(was_called("socket(UNIX)"));
	/* Except the option that applies there. */
	assert_int_equal(calls_of("setsockopt("), 1);
	assert_true(was_called("SO_SNDBUF"));
	assert_false(was_called("bind("));
	assert_int_equal(fake_fds(w.k), 2);
}

/* A descriptor above the size of the loop's table counts as a shortage and is closed. */
static void
a_number_beyond_the_table_is_a_shortage(void **st)
{
	struct loop_config lc = { .poller = &poller_epoll, .mode = INTEREST_MERGED, .max_fd = 4,
				  .max_events = 8, .lazy = 1 };
	struct loop *was = w.engine.loop, *tiny;
	int reason;

	(void)st;
	tiny = loop_new(&w.sys, &lc, &reason);
	assert_non_null(tiny);
	w.engine.loop = tiny;
	assert_int_equal(connect_server(&s), -EMFILE);
	assert_false(conn_is_open(s.conn[SERVER]));
	w.engine.loop = was;
	loop_free(&tiny);
	assert_int_equal(fake_fds(w.k), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(takes_two_calls),
		CASE(options_are_set_before),
		CASE(buffers_are_set_before),
		CASE(a_source_leaves_the_port_to_the_kernel),
		CASE(the_client_may_be_shown),
		CASE(ports_of_a_range_are_used_in_turn),
		CASE(ports_in_use_are_skipped),
		CASE(ports_with_a_connection_are_skipped),
		CASE(failures_leave_nothing),
		CASE(the_port_may_follow_the_clients),
		CASE(unix_sockets_have_no_tcp_options),
		CASE(a_number_beyond_the_table_is_a_shortage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
