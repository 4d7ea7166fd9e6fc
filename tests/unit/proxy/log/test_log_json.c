#include "proxy/log/log_json.h"

#include "unit/proxy/log_rig.h"

static struct log_world w;

static char room[8192];

static const char *
line(size_t max)
{
	struct sbuf b;

	sbuf_init_fixed(&b, room, sizeof(room));
	log_json_write(&w.s, &w.cx, max, &b);
	assert_false(b.failed);
	return room;
}

static void
open_request(const char *text)
{
	capture_open(&w);
	log_rig_line_keep(&capture_txn, text);
	capture_txn.version = HTTP_1_1;
	capture_txn.began_ms = 1005;
	capture_txn.idle_ms = 5;
	capture_txn.head_ms = 1009;
	capture_txn.res_ms = 1100;
	capture_txn.status = 200;
	capture_txn.began_wall_ns = w.s.sess->accept_wall_ns;
}

static void
test_all_fields(void **state)
{
	(void)state;
	open_request("GET /a\"?b HTTP/1.1");
	capture_put(&w.s, CAPTURE_REQUEST, 1, STR("\xe9"));
	capture_put(&w.s, CAPTURE_COOKIE, 0, STR("SID=1"));
	w.cx.asap = 1;
	assert_string_equal(line(SIZE_MAX),
		"{\"time\":\"2009-02-06T12:12:51.443Z\",\"frontend\":\"fnt\",\"backend\":\"bck\","
		"\"server\":\"srv1\",\"client\":\"10.0.1.2\",\"client_port\":33313,"
		"\"method\":\"GET\",\"uri\":\"/a\\\"?b\",\"version\":\"HTTP/1.1\","
		"\"status\":200,\"bytes\":212,\"upload\":99,\"idle\":5,\"request\":4,\"queue\":2,"
		"\"connect\":22,\"response\":67,\"active\":5002,\"end\":\"----\",\"retries\":1,"
		"\"redispatched\":false,\"conns_process\":5,\"conns_frontend\":4,"
		"\"conns_backend\":3,\"conns_server\":2,\"queue_server\":6,\"queue_backend\":7,"
		"\"request_cookie\":\"SID=1\",\"response_cookie\":null,"
		"\"request_headers\":[null,\"\\ufffd\"],\"response_headers\":[null],"
		"\"unique_id\":null,\"cut\":false}");
	capture_close(&w);
}

/* A value that does not exist is null. */
static void
test_nothing(void **state)
{
	(void)state;
	open_request("");
	capture_txn.head_ms = capture_txn.res_ms = capture_txn.status = 0;
	w.s.queued_ms = w.s.connected_ms = 0;
	w.s.be = NULL;
	w.s.srv = NULL;
	w.s.redispatched = 1;
	log_world_unix(&w.s.sess->peer);
	w.s.term[0] = 'P';
	assert_non_null(strstr(line(SIZE_MAX),
		"\"frontend\":\"fnt\",\"backend\":\"fnt\",\"server\":null,\"client\":null,"
		"\"client_port\":2,\"method\":null,\"uri\":null,\"version\":null,"
		"\"status\":null,\"bytes\":0,\"upload\":0,\"idle\":5,\"request\":null,"
		"\"queue\":null,\"connect\":null,\"response\":null,\"active\":5002,"
		"\"end\":\"P---\",\"retries\":1,\"redispatched\":true,"));
	capture_close(&w);
}

/* A truncated line would not be valid JSON: long texts are truncated before. */
static void
test_fits(void **state)
{
	char text[1000];
	size_t whole;

	(void)state;
	memset(text, '"', sizeof(text) - 1);
	memcpy(text, "GET /", 5);
	text[sizeof(text) - 1] = '\0';
	open_request(text);
	whole = strlen(line(SIZE_MAX));
	assert_non_null(strstr(room, "\"cut\":false}"));
	assert_int_equal(strlen(line(whole)), whole);
	for (size_t max = 0; max < whole; max++) {
		size_t n = strlen(line(max));

		assert_true(n <= max || max < 12);
		assert_string_equal(room + n - 11, "\"cut\":true}");
		/* The shortest line contains no other fields. */
		assert_true(room[0] == '{' && (n == 12 || strstr(room, "\"unique_id\":null,")));
	}
	capture_close(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fields),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
