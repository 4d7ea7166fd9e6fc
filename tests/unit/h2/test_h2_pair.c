/* Both roles against each other in memory: many streams with bodies both ways, cut anywhere, with
 * small windows, few places and resets. Each byte that arrives is the one that was sent, and each
 * stream that is not reset comes to its end. Seeded: a failure names its seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "h2/h2_conn.h"
#include "unit/test.h"

#define SEEDS 100
#define STREAMS 24
#define STEPS 3000
#define STEPS_TO_END 1000000

struct side;

struct exchange {
	struct h2_stream st;
	struct side *side;
	uint64_t sent, got; /* bytes of bodies */
	uint8_t used, done; /* it is attached; it was, and has been released */
	uint8_t head_sent, head_got, end_sent, was_reset, has_trailers;
	uint8_t ended;      /* it has the whole message of the peer */
};

struct side {
	struct h2_conn h;
	struct side *peer;
	struct h2_config cfg;
	struct exchange x[STREAMS]; /* by number: id / 2 */
	int asked;
};

static struct h2_shared shared;
static struct side client, server;
static uint64_t state;
static unsigned int seed;

static unsigned int
below(unsigned int n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(state >> 33) % n;
}

#define hold(what) \
	do { \
		if (!(what)) \
			fail_msg("seed %u: %s", seed, #what); \
	} while (0)

/* --- facts of an exchange, by its number and direction --- */

static uint64_t
mix(uint32_t number, int of_client)
{
	uint64_t v = (uint64_t)seed * 1000003 + number * 2u + (of_client != 0);

	v ^= v >> 15;
	v *= 0x9e3779b97f4a7c15u;
	return v ^ v >> 29;
}

static uint64_t
length_of(uint32_t number, int of_client)
{
	static const uint32_t most[] = { 1, 10, 1000, 70000, 300000 };
	uint64_t v = mix(number, of_client);

	return (v >> 8) % most[v % ARRAY_LEN(most)];
}

static int
has_length(uint32_t number, int of_client)
{
	return mix(number, of_client) >> 40 & 1;
}

static int
has_trailers(uint32_t number, int of_client)
{
	return !has_length(number, of_client) && (mix(number, of_client) >> 41 & 1);
}

static uint8_t
byte_of(uint32_t number, int of_client, uint64_t at)
{
	return (uint8_t)(mix(number, of_client) + at * 7 + at / 251);
}

static uint32_t
number_of(const struct exchange *x)
{
	return (uint32_t)(x - x->side->x);
}

/* --- callbacks --- */

static struct exchange *
exchange_of(struct h2_stream *st)
{
	return container_of(st, struct exchange, st);
}

static void
leave(struct exchange *x)
{
	x->used = 0;
	x->done = 1;
	h2_stream_release(&x->st);
}

static int
on_request(void *arg, const struct http_head *req, int end, struct h2_stream **out)
{
	struct side *s = arg;
	struct exchange *x;
	unsigned int number = 0;

	hold(req->target.len == 13 && sscanf(req->target.p, "http://a/%4u", &number) == 1);
	x = &s->x[number];
	hold(!x->used && !x->done);
	*x = (struct exchange){ .side = s, .used = 1, .head_got = 1 };
	hold(!end == (length_of(number, 1) || has_trailers(number, 1)));
	hold(!has_length(number, 1) || end ||
		(req->framing == HTTP_BODY_LENGTH && req->length == length_of(number, 1)));
	*out = &x->st;
	return 0;
}

static int
on_head(struct h2_stream *st, struct http_head *h, int end)
{
	struct exchange *x = exchange_of(st);

	(void)end;
	if (h->kind == HTTP_RESPONSE) {
		hold(h->status == 200 || h->status == 103);
		x->head_got = h->status == 200;
	} else {
		hold(h->n == 1 && str_is(h->field[0].name, STR("x-sum")));
		x->has_trailers = 1;
	}
	return 0;
}

static void
take(struct exchange *x, size_t most)
{
	uint8_t buf[5000];
	size_t n = h2_stream_take(&x->st, buf, MIN(most, sizeof(buf)));

	for (size_t i = 0; i < n; i++)
		hold(buf[i] == byte_of(number_of(x), !x->side->h.is_client, x->got + i));
	x->got += n;
}

static void
on_data(struct h2_stream *st)
{
	if (below(2))
		take(exchange_of(st), below(5000));
	else if (seed % 2 && !below(300))
		leave(exchange_of(st));
}

static void
on_room(struct h2_stream *st)
{
	(void)h2_stream_may_send(st);
}

static void
on_reset(struct h2_stream *st, uint32_t code, int unprocessed)
{
	(void)unprocessed;
	hold(code == H2_CANCEL || code == H2_NO_ERROR || code == H2_REFUSED_STREAM);
	exchange_of(st)->was_reset = 1;
	if (below(2))
		leave(exchange_of(st));
}

static void
on_output(void *arg)
{
	(void)arg;
}

static void
on_continue(void *arg)
{
	((struct side *)arg)->asked = 1;
}

static const struct h2_user user = { on_request, NULL, on_head, on_data, on_room, on_reset,
	on_output, on_output, on_continue };

/* --- steps --- */

/* The length of the next message of an exchange, as a field. */
static int
add_length(struct http_head *h, uint32_t number, int of_client, char *digits)
{
	if (!has_length(number, of_client))
		return 0;
	return http_add(h, STR("Content-Length"),
		http_length_text(length_of(number, of_client), digits));
}

static void
begin_exchange(uint32_t number)
{
	struct exchange *x = &client.x[number];
	struct http_field field[4];
	struct http_head req;
	char target[16], digits[HTTP_LENGTH_DIGITS];
	int end = !length_of(number, 1) && !has_trailers(number, 1);

	*x = (struct exchange){ .side = &client };
	(void)snprintf(target, sizeof(target), "/%04u", number);
	http_head_init(&req, HTTP_REQUEST, field, 4);
	req.method_text = STR("PUT");
	req.method = HTTP_PUT;
	req.target = str_of(target);
	hold(http_add(&req, STR("Host"), STR("a")) == 0);
	hold(add_length(&req, number, 1, digits) == 0);
	hold(h2_conn_open(&client.h, &x->st, &req, end) == 0);
	x->used = x->head_sent = 1;
	x->end_sent = (uint8_t)end;
}

static void
send_response(struct exchange *x)
{
	struct http_field field[4];
	struct http_head res;
	char digits[HTTP_LENGTH_DIGITS];
	uint32_t number = number_of(x);
	int end = !length_of(number, 0) && !has_trailers(number, 0), r;

	http_head_init(&res, HTTP_RESPONSE, field, 4);
	res.status = below(4) ? 200 : 103;
	if (res.status == 200)
		hold(add_length(&res, number, 0, digits) == 0);
	r = h2_stream_send_head(&x->st, &res, end && res.status == 200);
	hold(r == 0 || r == -ERR_FULL || (r == -ERR_CLOSED && x->was_reset));
	if (r == 0 && res.status == 200) {
		x->head_sent = 1;
		x->end_sent = (uint8_t)end;
	}
}

static void
send_trailers(struct exchange *x)
{
	struct http_field field[2];
	struct http_head h;
	int r;

	http_head_init(&h, HTTP_TRAILERS, field, 2);
	hold(http_add(&h, STR("X-Sum"), STR("1")) == 0);
	r = h2_stream_send_head(&x->st, &h, 1);
	x->end_sent = r != -ERR_FULL;
}

static void
send_some(struct exchange *x)
{
	static uint8_t buf[40000];
	uint32_t number = number_of(x);
	int of_client = x->side->h.is_client, trailers = has_trailers(number, of_client), end;
	uint64_t left = length_of(number, of_client) - x->sent;
	size_t most = below(sizeof(buf)), n = (size_t)MIN(left, most);

	if (!left) {
		if (trailers)
			send_trailers(x);
		else if (below(2))
			h2_stream_end(&x->st);
		else
			(void)h2_stream_send(&x->st, NULL, 0, 1);
		x->end_sent |= !trailers;
		return;
	}
	for (size_t i = 0; i < n; i++)
		buf[i] = byte_of(number, of_client, x->sent + i);
	end = n == left && !trailers && below(2);
	(void)h2_stream_may_send(&x->st);
	n = h2_stream_send(&x->st, buf, n, end);
	x->sent += n;
	x->end_sent = (uint8_t)(end && n == left);
}

/* True if all of the peer's message was taken. */
static void
check_end(struct exchange *x)
{
	uint32_t number = number_of(x);
	int of_client = !x->side->h.is_client;

	if (x->ended || !h2_stream_has_ended(&x->st) || h2_stream_readable(&x->st))
		return;
	hold(x->got == length_of(number, of_client));
	hold(x->has_trailers == has_trailers(number, of_client) && x->head_got);
	x->ended = 1;
}

static void
step_exchange(struct exchange *x, int may_reset)
{
	if (!x->used)
		return;
	if (x->was_reset || (x->ended && x->end_sent)) {
		leave(x);
		return;
	}
	if (may_reset && !below(200)) {
		x->was_reset = 1;
		if (below(2))
			h2_stream_reset(&x->st, H2_CANCEL);
		else
			leave(x);
		return;
	}
	if (!x->head_sent)
		send_response(x);
	else if (!x->end_sent)
		send_some(x);
	take(x, below(6000));
	check_end(x);
}

/* Moves some bytes from one side to the other. */
static void
carry(struct side *from)
{
	struct str s = h2_conn_output(&from->h);
	size_t most = (below(3) ? below(50) : below(20000)) + 1, n = MIN(s.len, most);
	uint8_t *exact;

	if (from->peer->asked) {
		from->peer->asked = 0;
		hold(h2_conn_continue(&from->peer->h) == 0);
	}
	if (!s.len || !h2_conn_wants_input(&from->peer->h))
		return;
	exact = malloc(n);
	assert_non_null(exact);
	memcpy(exact, s.p, n);
	h2_conn_sent(&from->h, n);
	hold(h2_conn_input(&from->peer->h, exact, n) == 0);
	free(exact);
}

/* All streams together have no more of rxbuf than there is. */
static void
check_extra(const struct h2_conn *h)
{
	hold(h->extra >= 0 && h->extra <= MAX((int64_t)h->cfg->rxbuf - h->local_window, 0));
}

static int
all_done(uint32_t begun)
{
	for (uint32_t i = 0; i < begun; i++)
		if (client.x[i].used || server.x[i].used)
			return 0;
	return !h2_conn_has_output(&client.h) && !h2_conn_has_output(&server.h);
}

static void
begin_side(struct side *s, struct side *peer, int is_client)
{
	static const uint32_t windows[] = { 500, 2000, 5000, 65535, 65536, 1 << 20 };

	memset(s, 0, sizeof(*s));
	s->peer = peer;
	h2_config_default(&s->cfg);
	s->cfg.window = windows[below(ARRAY_LEN(windows))];
	s->cfg.max_streams = 1 + below(8);
	s->cfg.rxbuf = below(2) ? 0 : 200000;
	s->cfg.max_frames = below(5);
	s->cfg.header_table = below(2) ? 4096 : below(5000);
	hold(h2_conn_init(&s->h, &s->cfg, &shared, &user, s, is_client) == 0);
}

/* One world; its streams that were not reset are complete on both sides. */
static void
play(void)
{
	uint32_t begun = 0;

	begin_side(&client, &server, 1);
	begin_side(&server, &client, 0);
	for (int i = 0; i < STEPS_TO_END && (i < STEPS || !all_done(begun)); i++) {
		int may_reset = i < STEPS && seed % 2;

		if (i < STEPS && begun < STREAMS && client.h.has_settings && !below(10) &&
			client.h.n_open < h2_conn_max_streams(&client.h))
			begin_exchange(begun++);
		step_exchange(&client.x[below(STREAMS)], may_reset);
		step_exchange(&server.x[below(STREAMS)], may_reset);
		carry(&client);
		carry(&server);
		check_extra(&client.h);
		check_extra(&server.h);
		if (!below(500))
			h2_conn_trim(below(2) ? &client.h : &server.h);
	}
	hold(all_done(begun));
	for (uint32_t i = 0; i < begun; i++) {
		const struct exchange *c = &client.x[i], *s = &server.x[i];

		hold(c->was_reset || s->was_reset || seed % 2 || (c->ended && s->ended));
	}
	hold(!client.h.n_attached && !server.h.n_attached && !client.h.n_open && !server.h.n_open);
	hold(!client.h.n_bodies && !server.h.n_bodies && !client.h.extra && !server.h.extra);
	hold(!client.h.has_failed && !server.h.has_failed);
	h2_conn_fini(&client.h);
	h2_conn_fini(&server.h);
}

static void
worlds_come_to_their_end(void **st)
{
	unsigned int pieces;

	(void)st;
	assert_int_equal(h2_shared_init(&shared, 16384, 64), 0);
	for (seed = 0; seed < SEEDS; seed += test_every()) {
		state = seed * 7919u + 1;
		play();
		pieces = shared.in.live + shared.out.live;
		hold(!pieces);
	}
	h2_shared_fini(&shared);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worlds_come_to_their_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
