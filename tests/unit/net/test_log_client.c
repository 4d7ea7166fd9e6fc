/* A ring's client and a syslog server on loopback: frames, pauses, servers that go and come. */
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
static int failed_with;

static void
on_failure(void *arg, int err)
{
	(void)arg;
	failures++;
	failed_with = err;
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
		rig_turn(10);
	assert_int_equal(client.state, LOG_CLIENT_UP);
	peer = accept(server, NULL, NULL);
	assert_true(peer >= 0);
}

/* What has come, at least n bytes. */
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
		rig_turn(10);
	assert_int_equal(failures, 1);
	assert_int_equal(failed_with, ECONNREFUSED);
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
			rig_turn(10);
		assert_int_equal(client.state, LOG_CLIENT_PAUSING);
		client.timer.fn(&client.timer);
	}
	assert_int_equal(client.pause_ms, LOG_CLIENT_RETRY_MAX_MS);
}

static void
what_was_not_sent_whole_is_sent_again(void **st)
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
		rig_turn(10);
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
	conf.server_ms = 50;
	memset(text, 'x', sizeof(text));
	assert_int_equal(setsockopt(server, SOL_SOCKET, SO_RCVBUF, &(int){ 4096 }, sizeof(int)), 0);
	start();
	come_up();
	while (!counter_read(&ring.dropped))
		put(text, sizeof(text));
	assert_int_equal(failures, 0);
	assert_int_equal(client.reader.holds, 1);
	for (int i = 0; i < 100 && !failures; i++)
		rig_turn(10);
	assert_int_equal(failed_with, ETIMEDOUT);
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
		rig_turn(10);
	assert_int_equal(failures, 1);
	assert_int_equal(client.state, LOG_CLIENT_PAUSING);
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
		CASE(what_was_not_sent_whole_is_sent_again),
		CASE(a_server_that_does_not_read_loses_its_connection),
		CASE(an_end_from_the_server_is_seen_without_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
