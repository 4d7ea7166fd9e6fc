/* A ring's client and a syslog server on loopback: frames, pauses, servers that go and come. */
#include "unit/hand_clock.h"
#include "unit/net/net_rig.h"

#include <stdio.h>

#include "base/counter.h"
#include "base/mem.h"
#include "net/log_client.h"

static struct log_ring ring;
static struct log_sink sink;
static struct log_client client;
static struct log_client_conf conf;
static int server, peer;
static unsigned int failures;
static char failed_with[80];

static struct sys_ops calls;

static void
on_failure(void *arg, const char *why)
{
	(void)arg;
	failures++;
	snprintf(failed_with, sizeof(failed_with), "%s", why);
	/* The callback may send more. */
	assert_int_equal(conn_is_open(&client.conn), client.state != LOG_CLIENT_OFF);
}

static void
open_server(struct addr *at)
{
	server = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)), 0);
	assert_int_equal(bind(server, &at->u.sa, at->len), 0);
	assert_int_equal(listen(server, 4), 0);
	assert_int_equal(addr_of_socket(&rig_sys, server, at), 0);
}

static int
setup(void **st)
{
	const struct log_ident id = { "tacit", NULL, 7, NULL };

	(void)st;
	rig_open(INTEREST_EDGE);
	calls = sys_linux;
	/* Pauses do not end by themselves: a test calls the timer's function. */
	calls.clock_gettime = read_clock;
	clock_ms = loop_now_ms(rig_loop) + 1000;
	rig_sys.ops = &calls;
	rig_turn(0);
	log_sink_init(&sink, &rig_sys, &id);
	log_ring_init(&ring);
	assert_int_equal(log_ring_open(&ring), 0);
	memset(&client, 0, sizeof(client));
	client.on_failure = on_failure;
	conf = (struct log_client_conf){ .addr = rig_any(), .counts_octets = 1 };
	failures = 0;
	peer = -1;
	open_server(&conf.addr);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	log_client_stop(&client);
	assert_true(list_is_empty(&ring.readers));
	if (peer >= 0)
		close(peer);
	if (server >= 0)
		close(server);
	rig_turn(0);
	log_ring_fini(&ring);
	log_sink_fini(&sink);
	rig_close();
	return 0;
}

static void
put(const char *text, size_t len)
{
	uint32_t n = (uint32_t)len;
	struct log_batch *b = mem_alloc(sizeof(*b) + sizeof(n) + len);

	assert_non_null(b);
	memcpy(b->text, &n, sizeof(n));
	memcpy(b->text + sizeof(n), text, len);
	b->len = sizeof(n) + len;
	assert_int_equal(log_ring_post(&ring, b), 1);
	log_ring_collect(&ring, &sink);
}

static void
start(void)
{
	assert_int_equal(log_client_start(&client, rig_loop, &ring, &conf), 0);
}

static void
come_up(void)
{
	for (int i = 0; i < 100 && client.state != LOG_CLIENT_UP; i++)
		rig_turn(600);
	assert_int_equal(client.state, LOG_CLIENT_UP);
	peer = accept(server, NULL, NULL);
	assert_true(peer >= 0);
}

/* The bytes received so far, at least n. */
static const char *
heard(size_t n)
{
	static char buf[65536];
	size_t got = 0;

	while (got < n) {
		ssize_t r = recv(peer, buf + got, sizeof(buf) - 1 - got, 0);

		assert_true(r > 0);
		got += (size_t)r;
	}
	buf[got] = '\0';
	return buf;
}

static void
octets_are_counted(void **st)
{
	(void)st;
	put("before", 6);
	start();
	come_up();
	assert_string_equal(heard(8), "6 before");
	put("0123456789", 10);
	put("", 0);
	assert_string_equal(heard(15), "10 01234567890 ");
	assert_int_equal(failures, 0);
}

static void
or_a_line_feed_ends_each(void **st)
{
	(void)st;
	conf.counts_octets = 0;
	start();
	come_up();
	put("a", 1);
	put("bc", 2);
	assert_string_equal(heard(5), "a\nbc\n");
}

static void
a_turn_of_messages_is_one_call(void **st)
{
	uint64_t before;

	(void)st;
	for (int i = 0; i < 100; i++)
		put("message", 7);
	start();
	before = rig_calls(SYS_CALL_sendto);
	come_up();
	assert_int_equal(rig_calls(SYS_CALL_sendto) - before, 1);
	(void)heard(900);
}

static void
a_refused_connection_is_tried_again_later(void **st)
{
	(void)st;
	close(server);
	server = -1;
	start();
	for (int i = 0; i < 100 && !failures; i++)
		rig_turn(600);
	assert_int_equal(failures, 1);
	assert_string_equal(failed_with, "Connection refused");
	assert_int_equal(client.state, LOG_CLIENT_PAUSING);
	assert_int_equal(client.timer.deadline, loop_now_ms(rig_loop) + LOG_CLIENT_RETRY_MS);
	assert_int_equal(client.pause_ms, 2 * LOG_CLIENT_RETRY_MS);
	put("kept", 4);
	open_server(&conf.addr);
	client.timer.fn(&client.timer);
	come_up();
	assert_string_equal(heard(6), "4 kept");
	assert_int_equal(client.pause_ms, LOG_CLIENT_RETRY_MS);
}

static void
pauses_grow_up_to_a_limit(void **st)
{
	(void)st;
	close(server);
	server = -1;
	start();
	for (int round = 0; round < 8; round++) {
		for (int i = 0; i < 100 && client.state != LOG_CLIENT_PAUSING; i++)
			rig_turn(600);
		assert_int_equal(client.state, LOG_CLIENT_PAUSING);
		client.timer.fn(&client.timer);
	}
	assert_int_equal(client.pause_ms, LOG_CLIENT_RETRY_MAX_MS);
}

static void
a_message_sent_in_part_is_sent_again(void **st)
{
	char text[1000];
	int n = 0;

	(void)st;
	log_ring_fini(&ring);
	ring.size = 1 << 23;
	assert_int_equal(log_ring_open(&ring), 0);
	assert_int_equal(setsockopt(server, SOL_SOCKET, SO_RCVBUF, &(int){ 4096 }, sizeof(int)), 0);
	memset(text, 'x', sizeof(text));
	start();
	come_up();
	while (n < 8000 && !client.len) {
		n += snprintf(text, sizeof(text), "%05d", n) > 0;
		text[5] = 'x';
		put(text, sizeof(text));
	}
	/* The socket is full in the middle of a message. */
	assert_true(client.len > 0 && client.sent > client.done);
	assert_int_equal(ring.readers.next == &client.reader.link, 1);
	/* A close with unread bytes is a reset. */
	close(peer);
	peer = -1;
	for (int i = 0; i < 100 && !failures; i++)
		rig_turn(600);
	assert_int_equal(failures, 1);
	assert_int_equal(client.len, 0);
	assert_int_equal(client.reader.holds, 0);
	client.timer.fn(&client.timer);
	come_up();
	assert_memory_equal(heard(10), "1000 ", 5);
	assert_int_equal(counter_read(&ring.dropped), 0);
}

static void
a_server_that_does_not_read_loses_its_connection(void **st)
{
	char text[1000];

	(void)st;
	conf.server_ms = 5000;
	memset(text, 'x', sizeof(text));
	assert_int_equal(setsockopt(server, SOL_SOCKET, SO_RCVBUF, &(int){ 4096 }, sizeof(int)), 0);
	start();
	come_up();
	while (!counter_read(&ring.dropped))
		put(text, sizeof(text));
	assert_int_equal(failures, 0);
	assert_int_equal(client.reader.holds, 1);
	clock_ms += 4000;
	rig_turn(0);
	assert_int_equal(failures, 0);
	clock_ms += 1000;
	rig_turn(0);
	assert_int_equal(failures, 1);
	assert_string_equal(failed_with, "Connection timed out");
}

static void
an_end_from_the_server_is_seen_without_messages(void **st)
{
	(void)st;
	start();
	come_up();
	assert_int_equal(send(peer, "thanks", 6, 0), 6);
	rig_turn(100);
	assert_int_equal(failures, 0);
	close(peer);
	peer = -1;
	for (int i = 0; i < 100 && !failures; i++)
		rig_turn(600);
	assert_int_equal(failures, 1);
	assert_string_equal(failed_with, "end of file");
	assert_int_equal(client.state, LOG_CLIENT_PAUSING);
}

/* --- a transport --- */

static enum io_result step_says;
static int refuses;

static enum io_result
step(struct conn *c)
{
	if (step_says == IO_ERR)
		conn_failed(c, -EPROTO);
	return step_says;
}

static enum io_result
take_none(struct conn *c, void *buf, size_t len, size_t *got)
{
	(void)c;
	(void)buf;
	(void)len;
	*got = 0;
	return IO_AGAIN;
}

static enum io_result
put_all(struct conn *c, const void *buf, size_t len, int more, size_t *n)
{
	(void)more;
	*n = len;
	return send(c->fd, buf, len, 0) == (ssize_t)len ? IO_OK : IO_ERR;
}

static enum io_result
end_at_once(struct conn *c)
{
	(void)c;
	return IO_OK;
}

static unsigned int
want(const struct xprt *x, unsigned int dir)
{
	/* The transport begins by writing, and waits for the answer. */
	return x->is_up ? dir : (unsigned int)(client.state == LOG_CLIENT_CONNECTING ? EV_W : EV_R);
}

static void
free_none(struct conn *c)
{
	(void)c;
}

static struct xprt *
make_transport(const struct xprt_maker *m, const struct conn *c, int *reason)
{
	static const struct xprt_ops ops = { .step = step, .recv = take_none, .send = put_all,
		.shutdown = end_at_once, .want = want, .close = free_none };
	static struct xprt x;

	(void)m;
	(void)c;
	(void)reason;
	x = (struct xprt){ .ops = &ops };
	return &x;
}

static int
on_open(void *arg, struct conn *c)
{
	(void)arg;
	assert_non_null(c->xprt);
	return refuses ? -ERR_NOMEM : 0;
}

static void
start_over_transport(void)
{
	static const struct xprt_maker maker = { make_transport };

	client.xprt = &maker;
	client.on_open = on_open;
	refuses = 0;
	step_says = IO_AGAIN;
	put("first", 5);
	start();
	for (int i = 0; i < 100 && client.state == LOG_CLIENT_CONNECTING; i++)
		rig_turn(600);
	assert_int_equal(client.state, LOG_CLIENT_HANDSHAKING);
}

static void
the_ring_waits_for_no_handshake(void **st)
{
	(void)st;
	start_over_transport();
	assert_int_equal(client.reader.holds, 0);
	assert_int_equal(client.timer.deadline, loop_now_ms(rig_loop) + LOG_CLIENT_HANDSHAKE_MS);
	assert_true(log_client_is_busy(&client));
	put("second", 6);
	assert_int_equal(client.len, 0);
	step_says = IO_OK;
	peer = accept(server, NULL, NULL);
	assert_int_equal(send(peer, "x", 1, 0), 1);
	for (int i = 0; i < 100 && client.state != LOG_CLIENT_UP; i++)
		rig_turn(600);
	assert_string_equal(heard(15), "5 first6 second");
	assert_int_equal(client.reader.holds, 1);
	assert_int_equal(client.timer.pos, 0);
	assert_int_equal(failures, 0);
}

static void
a_handshake_that_fails_or_takes_too_long_is_a_failure(void **st)
{
	(void)st;
	start_over_transport();
	client.timer.fn(&client.timer);
	assert_string_equal(failed_with, "Timeout during SSL handshake");
	assert_int_equal(client.state, LOG_CLIENT_PAUSING);
	client.timer.fn(&client.timer);
	for (int i = 0; i < 100 && client.state == LOG_CLIENT_CONNECTING; i++)
		rig_turn(600);
	step_says = IO_ERR;
	close(accept(server, NULL, NULL));
	close(accept(server, NULL, NULL));
	for (int i = 0; i < 100 && failures < 2; i++)
		rig_turn(600);
	assert_string_equal(failed_with, "SSL handshake failure");
	assert_int_equal(client.pause_ms, 4 * LOG_CLIENT_RETRY_MS);
}

static void
a_transport_without_memory_is_tried_again(void **st)
{
	(void)st;
	start_over_transport();
	client.timer.fn(&client.timer);
	refuses = 1;
	client.timer.fn(&client.timer);
	assert_int_equal(failures, 2);
	assert_string_equal(failed_with, "out of memory");
	assert_int_equal(client.state, LOG_CLIENT_PAUSING);
	assert_false(conn_is_open(&client.conn));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(octets_are_counted),
		CASE(or_a_line_feed_ends_each),
		CASE(a_turn_of_messages_is_one_call),
		CASE(a_refused_connection_is_tried_again_later),
		CASE(pauses_grow_up_to_a_limit),
		CASE(a_message_sent_in_part_is_sent_again),
		CASE(a_server_that_does_not_read_loses_its_connection),
		CASE(an_end_from_the_server_is_seen_without_messages),
		CASE(the_ring_waits_for_no_handshake),
		CASE(a_handshake_that_fails_or_takes_too_long_is_a_failure),
		CASE(a_transport_without_memory_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
