/* Windows that a connection gives its peer. Bodies whose readers stall, in as many streams as there
 * may be: the others arrive, in either role, and what waits in memory is bounded. */
#define RIG_STREAMS 100

#include "unit/h2/h2_script.h"

#define BODY (4u << 20)
/* The bytes that are given back at once. */
#define STEP 16384

/* The two ends; bodies go from one to the other. */
static struct rig client, server, *from, *to;

/* Moves the output of one end to the other: 0, there was none. */
static int
carry_from(struct rig *r, struct rig *other)
{
	struct str s = h2_conn_output(&r->h);

	if (!s.len)
		return 0;
	rig_feed(other, (const uint8_t *)s.p, s.len, s.len);
	h2_conn_sent(&r->h, s.len);
	return 1;
}

static void
carry(void)
{
	int moved;

	do {
		moved = carry_from(&client, &server);
		moved |= carry_from(&server, &client);
	} while (moved);
	assert_int_equal(client.h.has_failed | server.h.has_failed, 0);
}

static void
begin(int to_client, uint32_t rxbuf)
{
	to = to_client ? &client : &server;
	from = to_client ? &server : &client;
	rig_prepare(&client);
	rig_prepare(&server);
	to->cfg.rxbuf = rxbuf;
	to->holds_data = 1;
	assert_int_equal(rig_begin(&client, 1), 0);
	assert_int_equal(rig_begin(&server, 0), 0);
	carry();
}

static void
end(void)
{
	rig_end(&client);
	rig_end(&server);
}

/* Opens a stream whose body may be sent: its id. */
static uint32_t
open_body(void)
{
	struct h2_stream *st = &rig_new_stream(&client)->st;
	struct http_field field[2];
	struct http_head h;

	http_head_init(&h, HTTP_REQUEST, field, 2);
	h.method_text = STR("POST");
	h.method = HTTP_POST;
	h.target = STR("/");
	assert_int_equal(http_add(&h, STR("Host"), STR("a")), 0);
	assert_int_equal(h2_conn_open(&client.h, st, &h, 0), 0);
	carry();
	http_head_init(&h, HTTP_RESPONSE, NULL, 0);
	h.status = 200;
	assert_int_equal(h2_stream_send_head(rig_find(&server, st->id), &h, 0), 0);
	carry();
	return st->id;
}

/* Sends up to so many bytes to a reader that takes all of them, or only `most` at first and then
 * nothing: the number that was sent. */
static size_t
send_body(uint32_t id, size_t len, int reads, size_t most)
{
	static char bytes[STEP];
	struct h2_stream *out = rig_find(from, id), *reader = rig_find(to, id);
	size_t at = 0, n;

	do {
		n = h2_stream_send(out, bytes, MIN(len - at, sizeof(bytes)), 0);
		at += n;
		carry();
		if (reads)
			rig_take(reader);
		else if (at == n)
			(void)h2_stream_take(reader, bytes, MIN(most, sizeof(bytes)));
		carry();
	} while (n && at < len);
	return at;
}

/* The bytes that wait for readers. */
static size_t
held(void)
{
	size_t n = 0;

	for (int i = 0; i < RIG_STREAMS; i++)
		if (to->stream[i].is_used)
			n += h2_stream_readable(&to->stream[i].st);
	return n;
}

/* Opens all streams that are allowed but one. Their bodies have this length; each reader takes the
 * given number of bytes and no more. */
static void
stall_all(size_t len, size_t most, int ends)
{
	for (int i = 0; i < RIG_STREAMS - 1; i++) {
		uint32_t id = open_body();

		if (send_body(id, len, 0, most) == len && ends)
			h2_stream_end(rig_find(from, id));
		carry();
	}
}

/* Each end with stalled readers that have taken the beginning, or nothing. */
static void
test_others_arrive(void **state)
{
	(void)state;
	for (int to_client = 0; to_client < 2; to_client++)
		for (int takes = 0; takes < 2; takes++)
			for (int has_rxbuf = 0; has_rxbuf < 2; has_rxbuf++) {
				begin(to_client, has_rxbuf ? 1600 * 1024 : 0);
				stall_all(BODY, takes ? STEP : 0, 0);
				assert_int_equal(send_body(open_body(), BODY, 1, 0), BODY);
				end();
			}
}

static size_t
bound_of(const struct h2_config *cfg)
{
	return cfg->rxbuf + (size_t)cfg->window * (cfg->max_streams - 1);
}

/* A complete body that is not read counts like one that still arrives. */
static void
test_memory_is_bounded(void **state)
{
	(void)state;
	for (int to_client = 0; to_client < 2; to_client++)
		for (int ends = 0; ends < 2; ends++) {
			begin(to_client, 1600 * 1024);
			stall_all(ends ? 1500 * 1024 : BODY, STEP, ends);
			assert_in_range(held(), to->cfg.rxbuf, bound_of(&to->cfg));
			end();
		}
}

enum { READ, RELEASED, RESET, RESET_BY_PEER, WAYS };

/* Ends the stall of a stream in one of these ways. */
static void
end_stall(uint32_t id, int way)
{
	if (way == READ) {
		rig_take(rig_find(to, id));
		h2_stream_end(rig_find(from, id));
	} else if (way == RELEASED) {
		rig_release(rig_find(to, id));
	} else if (way == RESET) {
		h2_stream_reset(rig_find(to, id), H2_CANCEL);
	} else {
		rig_release(rig_find(from, id));
	}
	carry();
}

/* The part of rxbuf that a stalled stream has is for others afterwards. */
static void
test_rxbuf_is_given_back(void **state)
{
	(void)state;
	for (int to_client = 0; to_client < 2; to_client++)
		for (int way = 0; way < WAYS; way++) {
			uint32_t id, other;

			begin(to_client, 1600 * 1024);
			id = open_body();
			other = open_body();
			assert_int_equal(send_body(id, BODY, 0, STEP), to->cfg.rxbuf + STEP);
			assert_int_equal(send_body(other, BODY, 0, STEP), to->cfg.window + STEP);
			end_stall(id, way);
			end_stall(other, RELEASED);
			assert_int_equal(
				send_body(open_body(), BODY, 0, STEP), to->cfg.rxbuf + STEP);
			end();
		}
}

/* --- frames in words --- */

/* A server whose streams get no more than their windows. */
static void
begin_without_rxbuf(void)
{
	rig.cfg.rxbuf = 0;
	assert_int_equal(rig_begin(&rig, 0), 0);
	feed("PRI, S, A");
	(void)rig_sent(&rig, &peer_table);
}

/* A frame of which one half has come and was read: the other half still takes room. */
static void
test_half_a_frame_returns_nothing(void **state)
{
	(void)state;
	begin_without_rxbuf();
	in.n = 0;
	wire_words(&in, "H 1 h POST, Z 1 - 16384");
	rig_feed(&rig, in.p, in.n - 8192, in.n);
	assert_sent("");
	rig_feed(&rig, in.p + in.n - 8192, 8192, 8192);
	assert_sent("W 1 16384");
}

/* Nothing is returned for a body whose last frame arrives in parts, nor for a short one. */
static void
test_a_last_frame_returns_nothing(void **state)
{
	(void)state;
	begin_server();
	in.n = 0;
	wire_words(&in, "H 1 h POST, Z 1 - 9000, Z 1 e 9000, H 3 h POST, D 3 - hello, H 3 eh x|y");
	rig_feed(&rig, in.p, in.n, 1000);
	assert_sent("");
}

/* Nor for one that fits into what is left of the window, with padding behind it. */
static void
test_a_body_that_fits_returns_nothing(void **state)
{
	(void)state;
	begin_server();
	feed("H 1 h :method|POST;:scheme|http;:path|/;:authority|a;content-length|65280");
	feed("Z 1 - 16384, Z 1 - 16384, Z 1 - 16384, Z 1 - 16128");
	assert_sent("");
	feed("D 1 e, H 3 h :method|POST;:scheme|http;:path|/;:authority|a;content-length|65281");
	feed("Z 3 - 16384");
	assert_sent("W 3 1589248");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_others_arrive),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_rxbuf_is_given_back),
		cmocka_unit_test_setup_teardown(test_half_a_frame_returns_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_last_frame_returns_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_body_that_fits_returns_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
