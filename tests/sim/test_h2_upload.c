/*
 * Uploads over HTTP/2 from far away, in virtual time: a lone one fills its link as far as
 * tune.h2.fe.rxbuf allows, and no more than that waits in memory for a server that does not read.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "proxy/http2/h2_engine.h"
#include "sim/world.h"
#include "unit/test.h"

#define MB        (1024 * 1024ull)
#define ONE_WAY   (50 * FAKE_MS)
#define ROUND     (2 * ONE_WAY)
#define GIGABIT   125000000ull
#define OK        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
#define ANSWER_MAX 256

struct upload {
	struct world w;
	uint64_t size;     /* of the body; */
	uint64_t measured; /* from this byte on at the server */
	/* client */
	struct fake_sock *client;
	struct wire *wire;
	uint64_t sent;     /* of the head and the body */
	char head[128];
	char answer[ANSWER_MAX];
	size_t n_answer;
	int is_over;
	/* server */
	struct fake_sock *server;
	int is_stalled;    /* it does not read; */
	int is_closed;
	int has_head;
	uint64_t got;      /* of the body */
	uint64_t since, until;
	size_t most;       /* bytes of bodies in memory */
};

static struct upload up;

static void
client_runs(struct fake *k, void *arg)
{
	struct upload *u = arg;
	static char body[65536];
	size_t head = strlen(u->head);
	long n;

	(void)k;
	if (u->is_over || !fake_peer_is_connected(u->client))
		return;
	(void)wire_flush(u->wire, u->client);
	do {
		n = wire_recv(u->wire, u->client, u->answer + u->n_answer,
			ANSWER_MAX - 1 - u->n_answer);
		u->n_answer += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	do {
		uint64_t left = head + u->size - u->sent;
		const char *from = u->sent < head ? u->head + u->sent : body;

		n = left ? wire_send(u->wire, u->client, from,
			u->sent < head ? head - u->sent : (size_t)MIN(left, sizeof(body)))
			 : 0;
		u->sent += n > 0 ? (uint64_t)n : 0;
	} while (n > 0);
	if (strstr(u->answer, "hello") && wire_end(u->wire, u->client)) {
		u->is_over = 1;
		fake_peer_close(u->client);
	}
}

static void
server_runs(struct fake *k, void *arg)
{
	struct upload *u = arg;
	static char buf[65536];
	long n = 1;

	while (!u->is_stalled && !u->is_closed && n > 0) {
		n = fake_peer_recv(u->server, buf, sizeof(buf));
		u->got += n > 0 ? (uint64_t)n : 0;
		if (!u->has_head && n > 0) {
			u->got -= (uint64_t)(strstr(buf, "\r\n\r\n") + 4 - buf);
			u->has_head = 1;
		}
		if (!u->since && u->got >= u->measured)
			u->since = fake_now(k);
		if (!u->until && u->got == u->size) {
			u->until = fake_now(k);
			assert_true(fake_peer_send(u->server, OK, strlen(OK)) > 0);
		}
	}
	if (n == 0 && !u->is_closed) {
		u->is_closed = 1;
		fake_peer_close(u->server);
	}
}

static void
server_accepted(struct world *w, unsigned int server, struct fake_sock *s)
{
	struct upload *u = w->arg;

	(void)server;
	u->server = s;
	fake_peer_notify(s, 0, server_runs, u);
}

static int
ends_are_over(const struct world *w)
{
	const struct upload *u = w->arg;

	return u->is_over && (u->is_closed || !u->server);
}

static void
session_ended(struct world *w, const struct world_end *e)
{
	if (memcmp(e->term, "--", 2) != 0)
		world_error(w, "it ends with %.2s", e->term);
}

static void
note_memory(struct world *w)
{
	struct upload *u = w->arg;
	const struct h2_engine *h = w->engine.h2;

	if (h)
		u->most = MAX(u->most, h->worker.shared.in.live * h->worker.shared.in.size);
}

/* A client that sends so many bytes over a link of this rate; server: it reads at once. */
static void
begin(struct world_config *cfg, uint64_t size, uint32_t rxbuf)
{
	struct upload *u = &up;

	memset(u, 0, sizeof(*u));
	cfg->mode = INTEREST_EDGE;
	cfg->http = cfg->h2 = 1;
	cfg->n_servers = 1;
	cfg->client_delay = ONE_WAY;
	cfg->to = (struct proxy_timeouts){
		.connect = 5000, .client = 30000, .server = 30000, .queue = 5000
	};
	assert_int_equal(world_open(&u->w, cfg), 0);
	if (rxbuf)
		u->w.h2_client.rxbuf = rxbuf;
	u->w.arg = u;
	u->w.server_accepted = server_accepted;
	u->w.ends_are_over = ends_are_over;
	u->w.session_ended = session_ended;
	u->w.meddle = note_memory;
	u->size = size;
	u->measured = size / 4;
	(void)snprintf(u->head, sizeof(u->head), POST_LINE "Content-Length: %llu\r\n\r\n",
		(unsigned long long)size);
	u->client = world_connect(&u->w);
	u->wire = world_wire(&u->w, CLIENT);
	fake_peer_notify(u->client, 0, client_runs, u);
}

static void
end(void)
{
	struct upload *u = &up;

	wire_free(u->wire);
	if (world_close(&u->w) < 0)
		fail_msg("%s", u->w.why);
}

/* Bytes per second of the last three quarters of an upload. */
static uint64_t
rate_of(uint64_t size, uint32_t rxbuf)
{
	struct world_config cfg = {
		.client_rate = GIGABIT, .sndbuf = 32 * MB, .rcvbuf = 32 * MB
	};
	uint64_t rate;

	begin(&cfg, size, rxbuf);
	world_run(&up.w, 60 * FAKE_SEC);
	assert_string_equal(up.w.why, "");
	assert_true(up.is_over && up.until > up.since);
	assert_true(up.most <= up.w.h2_client.rxbuf);
	rate = (up.size - up.measured) * FAKE_SEC / (up.until - up.since);
	end();
	return rate;
}

/* With memory for what is under way, 12.5 MB here. */
static void
test_it_fills_the_link(void **state)
{
	(void)state;
	assert_in_range(rate_of(64 * MB, 16 * MB), GIGABIT / 10 * 9, GIGABIT);
}

/* By default 1600 KiB may be under way. */
static void
test_it_fills_rxbuf(void **state)
{
	uint64_t most = 1600 * 1024 * FAKE_SEC / ROUND;

	(void)state;
	assert_in_range(rate_of(16 * MB, 0), most / 10 * 9, most);
}

/* A server that does not read: what the client may still send is stored. */
static void
test_rxbuf_bounds_memory(void **state)
{
	struct world_config cfg = { .sndbuf = 65536, .rcvbuf = 65536 };
	struct upload *u = &up;

	(void)state;
	begin(&cfg, 16 * MB, 0);
	u->is_stalled = 1;
	world_run(&u->w, 10 * FAKE_SEC);
	assert_int_equal(u->got, 0);
	assert_in_range(u->most, u->w.h2_client.rxbuf / 10 * 9, u->w.h2_client.rxbuf / 10 * 11);
	assert_in_range(u->sent, u->w.h2_client.rxbuf, u->w.h2_client.rxbuf + 512 * 1024);
	u->is_stalled = 0;
	server_runs(u->w.k, u);
	world_run(&u->w, 60 * FAKE_SEC);
	assert_true(u->is_over);
	assert_int_equal(u->got, u->size);
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_fills_the_link),
		cmocka_unit_test(test_it_fills_rxbuf),
		cmocka_unit_test(test_rxbuf_bounds_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
