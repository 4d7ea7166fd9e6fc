/* Interest and deadline of sessions: tables of states, without a kernel. */
#include <string.h>

#include "http/h1_message.h"
#include "proxy/session/handlers.h"
#include "proxy/relay/relay_ops.h"
#include "proxy/model/http_txn.h"
#include "unit/test.h"

#define BUFSIZE 64
#define RW EV_RW

static struct engine engine;
static struct proxy fe, be;
static struct session sess;
static struct h1_message h1;
static struct http_txn txn = { .h1 = { &h1, &h1 } };
static char buf[BUFSIZE];

/* A session in which all times are different. */
static int
setup(void **st)
{
	(void)st;
	memset(&engine, 0, sizeof(engine));
	memset(&fe, 0, sizeof(fe));
	memset(&be, 0, sizeof(be));
	memset(&sess, 0, sizeof(sess));
	stream_join(&sess.stream, &sess, &sess.conn);
	sess.stream.dir[CLIENT].ops = sess.stream.dir[SERVER].ops = &relay_plain;
	engine.bufsize = BUFSIZE;
	sess.stream.engine = &engine;
	sess.stream.sess->fe = &fe;
	sess.stream.be = &be;
	fe.to.client = 100;
	fe.to.server = 7; /* a frontend's timeout server is not used */
	be.to.client = 8;
	be.to.server = 200;
	be.to.queue = 300;
	be.to.connect = 400;
	be.to.tarpit = 500;
	fe.to.tarpit = 9;
	sess.stream.state_ms = 10000;
	sess.stream.last_ms[CLIENT] = 20000;
	sess.stream.last_ms[SERVER] = 30000;
	sess.stream.wake_ms = 45678;
	return 0;
}

static void
set_half(int side, enum direction_state state, uint32_t pending)
{
	sess.stream.dir[side].state = state;
	sess.stream.dir[side].buf = pending ? buf : NULL;
	sess.stream.dir[side].head = pending ? 3 : 0;
	sess.stream.dir[side].tail = sess.stream.dir[side].head + pending;
}

/* rq and rp: state and pending bytes of the directions; then what each side waits for. */
struct relay_row {
	enum direction_state rq;
	uint32_t rq_n;
	enum direction_state rp;
	uint32_t rp_n;
	unsigned int client, server;
};

static const struct relay_row relay_rows[] = {
	{ DIRECTION_OPEN,   0, DIRECTION_OPEN,   0, EV_R, EV_R },
	{ DIRECTION_OPEN,   5, DIRECTION_OPEN,   0, 0,    RW },
	{ DIRECTION_OPEN,   0, DIRECTION_OPEN,   5, RW,   0 },
	{ DIRECTION_OPEN,   5, DIRECTION_OPEN,   5, EV_W, EV_W },
	{ DIRECTION_DRAIN,  5, DIRECTION_OPEN,   0, 0,    RW },
	{ DIRECTION_DRAIN,  5, DIRECTION_OPEN,   5, EV_W, EV_W },
	{ DIRECTION_DRAIN,  5, DIRECTION_DRAIN,  5, EV_W, EV_W },
	{ DIRECTION_OPEN,   0, DIRECTION_DRAIN,  5, RW,   0 },
	{ DIRECTION_CLOSED, 0, DIRECTION_OPEN,   0, 0,    EV_R },
	{ DIRECTION_CLOSED, 0, DIRECTION_OPEN,   5, EV_W, 0 },
	{ DIRECTION_OPEN,   0, DIRECTION_CLOSED, 0, EV_R, 0 },
	{ DIRECTION_OPEN,   5, DIRECTION_CLOSED, 0, 0,    EV_W },
	{ DIRECTION_CLOSED, 0, DIRECTION_CLOSED, 0, 0,    0 },
};

static void
interest_of_a_relay(void **st)
{
	(void)st;
	sess.stream.state = STREAM_RELAY;
	for (size_t i = 0; i < ARRAY_LEN(relay_rows); i++) {
		const struct relay_row *r = &relay_rows[i];

		set_half(CLIENT, r->rq, r->rq_n);
		set_half(SERVER, r->rp, r->rp_n);
		if (stream_derive(&sess.stream).wants[CLIENT] != r->client ||
			stream_derive(&sess.stream).wants[SERVER] != r->server)
			fail_msg("row %zu: client %u, server %u", i,
				stream_derive(&sess.stream).wants[CLIENT],
				stream_derive(&sess.stream).wants[SERVER]);
	}
}

/* A direction that waits for its turn waits for no event, but has a deadline. */
static void
a_direction_in_the_queue_wants_nothing(void **st)
{
	uint64_t deadline;

	(void)st;
	sess.stream.state = STREAM_RELAY;
	set_half(CLIENT, DIRECTION_OPEN, 0);
	set_half(SERVER, DIRECTION_OPEN, 5);
	deadline = stream_deadline(&sess.stream);
	assert_int_equal(stream_derive(&sess.stream).wants[CLIENT], RW);
	sess.stream.dir[CLIENT].waits = 1;
	assert_int_equal(stream_derive(&sess.stream).wants[CLIENT], EV_W);
	sess.stream.dir[SERVER].waits = 1;
	assert_int_equal(stream_derive(&sess.stream).wants[CLIENT], 0);
	set_half(SERVER, DIRECTION_OPEN, 0);
	assert_int_equal(stream_derive(&sess.stream).wants[SERVER], 0);
	sess.stream.dir[SERVER].waits = 0;
	assert_int_equal(stream_derive(&sess.stream).wants[SERVER], EV_R);
	assert_true(stream_deadline(&sess.stream) <= deadline);
}

/* A direction in DRAIN has pending bytes, and a closed one has none. The other states belong to
 * messages, which mode tcp does not have. */
static int
is_possible(int state, uint32_t pending)
{
	if (state == DIRECTION_TAIL || state == DIRECTION_DONE)
		return 0;
	return state == DIRECTION_OPEN || (state == DIRECTION_DRAIN) == (pending > 0);
}

/* A relay waits for something or has ended: this is why every session has a deadline. */
static void
a_relay_without_interest_has_ended(void **st)
{
	(void)st;
	sess.stream.state = STREAM_RELAY;
	for (int rq = 0; rq < DIRECTION_STATES; rq++)
		for (int rp = 0; rp < DIRECTION_STATES; rp++)
			for (uint32_t n = 0; n < 4; n++) {
				int over = rq == DIRECTION_CLOSED && rp == DIRECTION_CLOSED, idle;

				if (!is_possible(rq, n & 1) || !is_possible(rp, n & 2))
					continue;
				set_half(CLIENT, (enum direction_state)rq, n & 1);
				set_half(SERVER, (enum direction_state)rp, n & 2);
				idle = !stream_derive(&sess.stream).wants[CLIENT] &&
					!stream_derive(&sess.stream).wants[SERVER];
				assert_int_equal(idle, over);
				assert_int_equal(
					stream_deadline(&sess.stream) == TIMER_NEVER, over);
			}
}

static void
before_there_is_a_server_the_client_is_read_into_a_buffer(void **st)
{
	static const enum stream_state early[] = { STREAM_ASSIGN, STREAM_QUEUE,
						    STREAM_RETRY, STREAM_CONNECT };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(early); i++) {
		sess.stream.state = early[i];
		set_half(CLIENT, DIRECTION_OPEN, 0);
		assert_int_equal(stream_derive(&sess.stream).wants[CLIENT], EV_R);
		assert_int_equal(stream_derive(&sess.stream).wants[SERVER], EV_W);
		set_half(CLIENT, DIRECTION_OPEN, BUFSIZE - 4);
		assert_int_equal(stream_derive(&sess.stream).wants[CLIENT], EV_R);
		set_half(CLIENT, DIRECTION_OPEN, BUFSIZE - 3);
		assert_int_equal(stream_derive(&sess.stream).wants[CLIENT], 0);
		set_half(CLIENT, DIRECTION_DRAIN, 5);
		assert_int_equal(stream_derive(&sess.stream).wants[CLIENT], 0);
	}
	/* the proxy's reply, once all of the request is sent */
	sess.stream.state = STREAM_HANDSHAKE;
	assert_int_equal(stream_derive(&sess.stream).wants[SERVER], EV_R);
	sess.stream.conn[SERVER]->owes_preface = 1;
	assert_int_equal(stream_derive(&sess.stream).wants[SERVER], EV_W);
	sess.stream.conn[SERVER]->owes_preface = 0;
	sess.stream.state = STREAM_LINGER;
	assert_int_equal(stream_derive(&sess.stream).wants[CLIENT] |
			stream_derive(&sess.stream).wants[SERVER],
		0);
	sess.stream.state = STREAM_CLOSED;
	assert_int_equal(stream_derive(&sess.stream).wants[CLIENT] |
			stream_derive(&sess.stream).wants[SERVER],
		0);
}

static void
every_state_has_its_deadline(void **st)
{
	static const struct {
		enum stream_state state;
		uint64_t due, without; /* and with no timeout configured */
	} t[] = {
		{ STREAM_NEW, TIMER_NEVER, TIMER_NEVER },
		{ STREAM_READ, 20100, TIMER_NEVER },
		{ STREAM_INSPECT, 20100, TIMER_NEVER },
		{ STREAM_REPLY, 20100, TIMER_NEVER },
		{ STREAM_TARPIT, 10500, 10000 },
		{ STREAM_ASSIGN, TIMER_NEVER, TIMER_NEVER },
		{ STREAM_QUEUE, 10300, TIMER_NEVER },
		{ STREAM_CONNECT, 10400, TIMER_NEVER },
		{ STREAM_HANDSHAKE, 45678, 45678 },
		{ STREAM_RETRY, 45678, 45678 },
		{ STREAM_RELAY, 20100, TIMER_NEVER },
		{ STREAM_LINGER, 45678, 45678 },
		{ STREAM_CLOSED, TIMER_NEVER, TIMER_NEVER },
	};

	(void)st;
	assert_int_equal(ARRAY_LEN(t), STREAM_STATES);
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		sess.stream.state = t[i].state;
		assert_int_equal(stream_deadline(&sess.stream), t[i].due);
	}
	memset(&fe.to, 0, sizeof(fe.to));
	memset(&be.to, 0, sizeof(be.to));
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		sess.stream.state = t[i].state;
		assert_int_equal(stream_deadline(&sess.stream), t[i].without);
	}
}

/* Before its stream begins. */
static void
a_session_has_its_deadline(void **st)
{
	static const uint64_t due[SESSION_STATES] = {
		[SESSION_INIT] = TIMER_NEVER,
		[SESSION_PROXY_HEADER] = 10100,
		[SESSION_CLIENT_HANDSHAKE] = 10100,
		[SESSION_SERVING] = TIMER_NEVER,
		[SESSION_CLOSED] = TIMER_NEVER,
	};

	(void)st;
	sess.stream.state = STREAM_NEW;
	for (unsigned int i = 0; i < SESSION_STATES; i++) {
		/* The time of its connection: h2_client.c. */
		if (i == SESSION_MULTIPLEX)
			continue;
		sess.state = (uint8_t)i;
		assert_int_equal(stream_deadline(&sess.stream), due[i]);
	}
	sess.state = SESSION_CLIENT_HANDSHAKE;
	fe.to.client_hs = 7;
	assert_int_equal(stream_deadline(&sess.stream), 10007);
	fe.to.client = fe.to.client_hs = 0;
	assert_int_equal(stream_deadline(&sess.stream), TIMER_NEVER);
	sess.state = SESSION_PROXY_HEADER;
	assert_int_equal(stream_deadline(&sess.stream), TIMER_NEVER);
}

static void
the_side_that_is_waited_for_is_late(void **st)
{
	(void)st;
	sess.stream.state = STREAM_RELAY;
	/* Both sides are waited for: the earlier deadline of 20100 and 30200 counts. */
	assert_int_equal(stream_late_side(&sess.stream), CLIENT);
	assert_int_equal(stream_deadline(&sess.stream), 20100);
	sess.stream.last_ms[CLIENT] = 40000;
	assert_int_equal(stream_late_side(&sess.stream), SERVER);
	assert_int_equal(stream_deadline(&sess.stream), 30200);
	/* The client's bytes wait for the server: the client is not late, however long it takes. */
	sess.stream.last_ms[CLIENT] = 1;
	set_half(CLIENT, DIRECTION_OPEN, 5);
	assert_int_equal(stream_late_side(&sess.stream), SERVER);
	assert_int_equal(stream_deadline(&sess.stream), 30200);
	/* The other way round. */
	set_half(CLIENT, DIRECTION_OPEN, 0);
	set_half(SERVER, DIRECTION_OPEN, 5);
	sess.stream.last_ms[CLIENT] = 90000;
	assert_int_equal(stream_late_side(&sess.stream), CLIENT);
	assert_int_equal(stream_deadline(&sess.stream), 90100);
	/* A server without a timeout is never late. */
	set_half(SERVER, DIRECTION_OPEN, 0);
	be.to.server = 0;
	assert_int_equal(stream_late_side(&sess.stream), CLIENT);
}

/* Without a buffer nothing is read: it is tried again, until a timeout. */
static void
waiting_for_a_buffer_has_a_deadline(void **st)
{
	(void)st;
	sess.stream.state = STREAM_RELAY;
	set_half(CLIENT, DIRECTION_DONE, 0);
	sess.stream.dir[SERVER].waits_for_buffer = 1;
	sess.stream.wake_ms = 25000;
	assert_int_equal(stream_derive(&sess.stream).wants[SERVER], 0);
	assert_int_equal(stream_deadline(&sess.stream), 25000);
	sess.stream.wake_ms = 45000;
	assert_int_equal(stream_deadline(&sess.stream), 30200);
	assert_int_equal(stream_late_side(&sess.stream), SERVER);
}

/* A filter that holds bytes back decides when they are read: no timeout runs meanwhile. */
static void
waiting_for_a_filter_has_a_deadline(void **st)
{
	(void)st;
	sess.stream.state = STREAM_RELAY;
	set_half(CLIENT, DIRECTION_DONE, 0);
	sess.stream.dir[SERVER].waits_to_pass = 1;
	sess.stream.wake_ms = 25000;
	assert_int_equal(stream_derive(&sess.stream).wants[SERVER], 0);
	assert_int_equal(stream_deadline(&sess.stream), 25000);
	sess.stream.wake_ms = 45000;
	assert_int_equal(stream_deadline(&sess.stream), 45000);
	sess.stream.dir[SERVER].waits_to_pass = 0;
	assert_int_equal(stream_derive(&sess.stream).wants[SERVER], EV_R);
	assert_int_equal(stream_deadline(&sess.stream), 30200);
}

/* client-fin and server-fin apply after one direction was closed (manual 4.2). */
static void
fin_timeouts_apply_after_one_direction_is_closed(void **st)
{
	(void)st;
	sess.stream.state = STREAM_RELAY;
	fe.to.client_fin = 11;
	be.to.server_fin = 22;
	assert_int_equal(stream_deadline(&sess.stream), 20100);
	/* The client has sent its FIN, the server continues. */
	set_half(CLIENT, DIRECTION_CLOSED, 0);
	assert_int_equal(stream_deadline(&sess.stream), 30022);
	be.to.server_fin = 0;
	assert_int_equal(stream_deadline(&sess.stream), 30200);
	/* The client is slow to read the rest of a server that has finished. */
	set_half(CLIENT, DIRECTION_OPEN, 0);
	set_half(SERVER, DIRECTION_DRAIN, 5);
	assert_int_equal(stream_deadline(&sess.stream), 20100);
	set_half(SERVER, DIRECTION_CLOSED, 0);
	assert_int_equal(stream_late_side(&sess.stream), CLIENT);
	assert_int_equal(stream_deadline(&sess.stream), 20011);
}

/* timeout tunnel is the backend's and replaces both idle timeouts, but not client-fin and
 * server-fin. */
static void
a_tunnel_has_a_timeout_of_its_own(void **st)
{
	(void)st;
	be.to.tunnel = 5000;
	fe.to.tunnel = 9; /* not used */
	sess.stream.state = STREAM_RELAY;
	assert_int_equal(stream_deadline(&sess.stream), 25000);
	assert_int_equal(stream_late_side(&sess.stream), CLIENT);
	fe.to.client_fin = 11;
	be.to.server_fin = 22;
	assert_int_equal(stream_deadline(&sess.stream), 25000);
	set_half(CLIENT, DIRECTION_CLOSED, 0);
	assert_int_equal(stream_deadline(&sess.stream), 30022);
	be.to.server_fin = 0;
	assert_int_equal(stream_deadline(&sess.stream), 35000);
	/* The tunnel timeout does not apply while requests and responses alternate, nor before the
	 * connection is established. */
	set_half(CLIENT, DIRECTION_OPEN, 0);
	sess.stream.txn = &txn;
	assert_int_equal(stream_deadline(&sess.stream), 20100);
	h1.body.framing = HTTP_BODY_TUNNEL;
	assert_int_equal(stream_deadline(&sess.stream), 25000);
	sess.stream.txn = NULL;
	sess.stream.state = STREAM_CONNECT;
	assert_int_equal(stream_deadline(&sess.stream), 10400);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup(fn, setup)
	const struct CMUnitTest tests[] = {
		T(interest_of_a_relay),
		T(a_relay_without_interest_has_ended),
		T(a_direction_in_the_queue_wants_nothing),
		T(before_there_is_a_server_the_client_is_read_into_a_buffer),
		T(every_state_has_its_deadline),
		T(a_session_has_its_deadline),
		T(the_side_that_is_waited_for_is_late),
		T(waiting_for_a_buffer_has_a_deadline),
		T(waiting_for_a_filter_has_a_deadline),
		T(fin_timeouts_apply_after_one_direction_is_closed),
		T(a_tunnel_has_a_timeout_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
