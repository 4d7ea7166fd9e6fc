/* Connections of both roles with each allocation failing once: nothing is lost, and a stream or the
 * connection ends. What fails in a call of the user's is reported by h2_conn_continue(). */
#include "sim/faults.h"
#include "unit/h2/h2_rig.h"
#include "unit/test.h"

static struct rig rig;
static struct wire in;

/* Passes frames in small pieces, without memory of its own. */
static void
feed(const char *words)
{
	in.n = 0;
	wire_words(&in, words);
	for (size_t at = 0, n; at < in.n; at += n) {
		n = MIN(in.n - at, (size_t)300);
		(void)h2_conn_input(&rig.h, in.p + at, n);
		while (rig.asked) {
			rig.asked = 0;
			(void)h2_conn_continue(&rig.h);
		}
	}
}

static void
open_streams(unsigned int n)
{
	struct http_field field[2];
	struct http_head req;

	http_head_init(&req, HTTP_REQUEST, field, 2);
	req.method_text = STR("PUT");
	req.method = HTTP_PUT;
	req.target = STR("http://a/");
	while (n--) {
		struct rig_stream *s = rig_new_stream(&rig);

		s->is_used = h2_conn_open(&rig.h, &s->st, &req, 0) == 0;
	}
}

/* Sends a head (role of a server) and much of a body in all streams. */
static void
answer_streams(void)
{
	static char bytes[50000];
	struct http_head res;

	http_head_init(&res, HTTP_RESPONSE, NULL, 0);
	res.status = 200;
	for (unsigned int i = 0; i < RIG_STREAMS; i++) {
		struct h2_stream *st = &rig.stream[i].st;

		if (!rig.stream[i].is_used)
			continue;
		if (rig.h.is_client || h2_stream_send_head(st, &res, 0) == 0) {
			size_t n = h2_stream_send(st, bytes, sizeof(bytes), 0);

			assert_true(n <= sizeof(bytes));
			h2_stream_end(st);
		}
	}
}

static void
send_all(void)
{
	struct str s;

	while ((s = h2_conn_output(&rig.h)).len)
		h2_conn_sent(&rig.h, s.len);
}

/* All that a connection does which needs memory; max_streams: input waits for places. */
static void
play(int is_client)
{
	rig_prepare(&rig);
	rig.keeps_reset = rig.holds_data = 1;
	rig.cfg.max_streams = 3;
	rig.cfg.header_table = 8000;
	if (rig_begin(&rig, is_client) < 0)
		return;
	if (is_client) {
		feed("S 1=100, A");
		open_streams(3);
		feed("H 1 h :status|103, H 3 h :status|200, Z 3 - 10000, Z 3 - 10000, Z 3 e 1");
		feed("H 1 - :status|200, C 1 h x|y, D 1 - hello, H 1 eh x|y, W 0 100000");
	} else {
		feed("PRI, S 1=100, A, H 1 h POST, Z 1 - 10000, Z 1 - 9000, H 3 - POST, C 3 h x|y");
		feed("D 3 - hello, H 3 eh x|y, H 5 eh GET, R 5 8, H 7 eh GET, P 12345678");
	}
	answer_streams();
	send_all();
	if (rig_find(&rig, 1))
		rig_take(rig_find(&rig, 1));
	feed("P 12345678, W 1 1000");
	h2_conn_goaway(&rig.h, H2_NO_ERROR, 0);
	if (rig.asked)
		(void)h2_conn_continue(&rig.h);
	rig.asked = 0;
	/* A failure is known, and all streams have heard of it. */
	for (unsigned int i = 0; i < RIG_STREAMS && rig.h.has_failed; i++)
		assert_true(!rig.stream[i].is_used || rig.stream[i].st.is_reported);
	faults_apply(0);
	rig_end(&rig);
}

static void
each_allocation_fails(int is_client)
{
	uint64_t n, failed = 0;

	for (n = 1; n == 1 || faults_hit(); n++) {
		faults_set(n);
		faults_apply(1);
		play(is_client);
		faults_apply(0);
		failed += (uint64_t)rig.h.has_failed;
	}
	assert_true(n > 10 && failed > 1);
}

static void
servers_survive(void **st)
{
	(void)st;
	each_allocation_fails(0);
}

static void
clients_survive(void **st)
{
	(void)st;
	each_allocation_fails(1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servers_survive),
		cmocka_unit_test(clients_survive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
