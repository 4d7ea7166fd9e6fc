/* Local replies, and the changes that http-after-response makes to them. */
#include "unit/proxy/session_rig.h"

#include "proxy/model/byte_count.h"
#include "proxy/relay/direction.h"

#define ABSENT .n_servers = 1, .server = { { .absent = 1 } }
#define BODY                                             \
	"<html><body><h1>503 Service Unavailable</h1>\n" \
	"No server is available to handle this request.\n</body></html>\n"
#define PAGE(more)                                                                       \
	"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 107\r\n"                    \
	"Cache-Control: no-cache\r\nContent-Type: text/html\r\n" more "\r\n"

static const struct http_dialogue pages[] = {
	{ .name = "fields", .cfg = { HTTP_WORLD, ABSENT,
		.rules = "http-after-response set-header X-A %[status]\n"
			 "http-after-response del-header Cache-Control" },
	  .client = { SAY(GET_CLOSE), EOF_CLOSE }, .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 107\r\n"
		  "Content-Type: text/html\r\nX-A: 503\r\nConnection: close\r\n\r\n" BODY,
	  .terms = "SC" },
	{ .name = "another status", .cfg = { HTTP_WORLD, ABSENT,
		.rules = "http-after-response set-status 500 reason Oh" },
	  .client = { SAY(GET_CLOSE), EOF_CLOSE }, .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 500 Oh\r\nContent-Length: 107\r\n"
		  "Cache-Control: no-cache\r\nContent-Type: text/html\r\n"
		  "Connection: close\r\n\r\n" BODY,
	  .terms = "SC" },
	{ .name = "HEAD", .cfg = { HTTP_WORLD, ABSENT,
		.rules = "http-after-response set-header X-A b" },
	  .client = { SAY("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), AWAIT("\r\n\r\n"),
		  { STEP_CLOSE, 0 } },
	  .origin = { EOF_CLOSE }, .to_client = PAGE("X-A: b\r\n"), .terms = "SC" },
	{ .name = "a field that a rule has set", .cfg = { HTTP_WORLD,
		.rules = "http-request return content-type a/b string ok hdr X-B c\n"
			 "http-after-response set-header X-A %[res.hdr(x-b)]" },
	  .client = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } }, .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 200 OK\r\nX-B: c\r\nContent-Length: 2\r\nContent-Type: a/b\r\n"
		  "X-A: c\r\n\r\nok",
	  .terms = "LR" },
	{ .name = "a rule closes the connection", .cfg = { HTTP_WORLD,
		.rules = "http-request return content-type a/b string ok hdr Keep-Alive 3\n"
			 "http-after-response set-header Connection close" },
	  .client = { SAY(GET "\r\n"), EOF_CLOSE }, .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 200 OK\r\nKeep-Alive: 3\r\nContent-Length: 2\r\n"
		  "Content-Type: a/b\r\nConnection: close\r\n\r\nok",
	  .terms = "LR" },
	{ .name = "a rule makes it 204", .cfg = { HTTP_WORLD,
		.rules = "http-request return content-type a/b string ok\n"
			 "http-after-response set-status 204" },
	  .client = { SAY(GET "\r\n"), AWAIT("\r\n\r\n"), { STEP_CLOSE, 0 } },
	  .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 204 No Content\r\nContent-Type: a/b\r\n\r\n", .terms = "LR" },
	{ .name = "a rule makes it 304", .cfg = { HTTP_WORLD, ABSENT,
		.rules = "http-after-response set-status 304" },
	  .client = { SAY(GET_CLOSE), EOF_CLOSE }, .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 304 Not Modified\r\nContent-Length: 107\r\n"
		  "Cache-Control: no-cache\r\nContent-Type: text/html\r\n"
		  "Connection: close\r\n\r\n",
	  .terms = "SC" },
	{ .name = "formats", .cfg = { HTTP_WORLD, ABSENT,
		.rules = "http-request set-var(txn.p) path\n"
			 "http-error status 503 content-type a/b hdr X-P %[var(txn.p)] "
			 "lf-string \"at %[var(txn.p)]%[path]\"\n"
			 "http-after-response set-header X-A %[res.hdr(x-p)]" },
	  .client = { SAY("GET /q HTTP/1.1\r\nHost: a\r\n\r\n"), AWAIT("at /q"),
		  { STEP_CLOSE, 0 } },
	  .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 503 Service Unavailable\r\nX-P: /q\r\nContent-Length: 5\r\n"
		  "Content-Type: a/b\r\nX-A: /q\r\n\r\nat /q",
	  .terms = "SC" },
	{ .name = "formats for a denied request", .cfg = { HTTP_WORLD,
		.rules = "http-error status 403 content-type a/b lf-string \"no %[path]\"\n"
			 "http-request set-path /changed\n"
			 "http-request deny" },
	  .client = { SAY("GET /q HTTP/1.1\r\nHost: a\r\n\r\n"), AWAIT("/changed"),
		  { STEP_CLOSE, 0 } },
	  .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 403 Forbidden\r\nContent-Length: 11\r\n"
		  "Content-Type: a/b\r\n\r\nno /changed",
	  .terms = "PR" },
	{ .name = "auth with formats", .cfg = { HTTP_WORLD,
		.rules = "http-error status 401 hdr X-P %[path] hdr WWW-Authenticate Digest\n"
			 "http-request auth realm r" },
	  .client = { SAY("GET /q HTTP/1.1\r\nHost: a\r\n\r\n"), AWAIT("\r\n\r\n"),
		  { STEP_CLOSE, 0 } },
	  .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 401 Unauthorized\r\nX-P: /q\r\nContent-Length: 0\r\n"
		  "WWW-Authenticate: Basic realm=\"r\"\r\n\r\n",
	  .terms = "LR" },
	{ .name = "auth", .cfg = { HTTP_WORLD,
		.rules = "http-request auth realm \"a b\\\"\\\\\"\n"
			 "http-after-response set-header X-A %[res.hdr(www-authenticate)]" },
	  .client = { SAY(GET "\r\n"), AWAIT("</html>"), { STEP_CLOSE, 0 } },
	  .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 112\r\n"
		  "Cache-Control: no-cache\r\nContent-Type: text/html\r\n"
		  "WWW-Authenticate: Basic realm=\"a b\\\"\\\\\"\r\n"
		  "X-A: Basic realm=\"a b\\\"\\\\\"\r\n\r\n"
		  "<html><body><h1>401 Unauthorized</h1>\n"
		  "You need a valid user and password to access this content.\n"
		  "</body></html>\n",
	  .terms = "LR" },
};

static void
after_response_rules_change_replies(void **st)
{
	(void)st;
	http_play_all(pages, ARRAY_LEN(pages));
}

/* If a rewrite fails, an error page is sent; and if it fails for that too, one that rules do not
 * change. */
static void
a_failed_rewrite_sends_an_error_page(void **st)
{
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static char rules[6000];
	const struct world_config cfg = { HTTP_WORLD, .bufsize = 4096, .rules = rules };

	(void)st;
	(void)snprintf(rules, sizeof(rules),
		"http-request return status 204\n"
		"http-after-response set-header X-A b\n"
		"http-after-response set-header X-B %%[src]%04200d", 1);
	rig_play(&cfg, client, NULL);
	assert_memory_equal(w.client[0].text, "HTTP/1.1 500 ", 13);
	assert_null(strstr(w.client[0].text, "X-A"));
	assert_int_equal(w.px->shard[0].fe.failed_rewrites, 2);
	assert_string_equal(rig_terms(), "PR");
	assert_int_equal(w.px->shard[0].fe.hrsp[5], 1);
	rig_close();
}

/* The format's text is too long: the page for 500 is sent, and if that is too long the built-in
 * one. */
static void
a_format_is_too_long(void **st)
{
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static char rules[9000];
	struct world_config cfg = { HTTP_WORLD, .bufsize = 4096, .rules = rules };

	(void)st;
	for (int also = 0; also < 2; also++) {
		(void)snprintf(rules, sizeof(rules),
			"http-error status 403 content-type a/b lf-string \"%%[src]%04200d\"\n"
			"http-error status 500 content-type a/b %s%0*d\"\nhttp-request deny",
			1, also ? "lf-string \"%[src]" : "string \"", also ? 4200 : 8, 1);
		rig_play(&cfg, client, NULL);
		assert_memory_equal(w.client[0].text, "HTTP/1.1 500 ", 13);
		assert_int_equal(strstr(w.client[0].text, "00000001") == NULL, also);
		rig_close();
	}
}

/* The longest reply that fits, and one that is a byte longer. */
static void
a_reply_that_is_too_long(void **st)
{
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static char rules[4200];
	struct world_config cfg = { HTTP_WORLD, .bufsize = 4096, .rules = rules };

	(void)st;
	for (int extra = 0; extra < 2; extra++) {
		/* "HTTP/1.1 200 OK", Content-Length of four digits, Content-Type, Connection */
		int n = 4096 - 17 - 22 - 19 - 19 - 2 + extra;

		(void)snprintf(rules, sizeof(rules),
			"http-request return content-type a/b string %0*d", n, 7);
		rig_play(&cfg, client, NULL);
		assert_memory_equal(w.client[0].text, extra ? "HTTP/1.1 500 " : "HTTP/1.1 200 ",
			13);
		rig_close();
	}
}

/* While a tarpit holds a reply it is lookahead: neither pending nor counted. It is counted as a
 * whole when it is sent. */
static void
a_held_reply_is_lookahead(void **st)
{
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static const struct world_config cfg = { .mode = INTEREST_EDGE, .http = 1,
		.rules = "http-request tarpit content-type a/b string held",
		.to = { .connect = 5000, .client = 5000, .server = 5000, .tarpit = 700 } };
	struct stream *s;
	uint64_t all;

	(void)st;
	rig_open(&cfg, NULL);
	(void)world_client(&w, client, 0);
	world_run(&w, 100 * FAKE_MS);
	s = rig_session(0);
	assert_int_equal(s->state, STREAM_TARPIT);
	assert_int_equal(direction_pending(&s->dir[SERVER]), 0);
	assert_true(s->dir[SERVER].lookahead > strlen("held"));
	all = s->dir[SERVER].lookahead;
	assert_int_equal(stream_message_bytes(s, SERVER), 0);
	assert_int_equal(w.px->shard[0].fe.bytes_out, 0);
	world_run(&w, RIG_LIMIT);
	assert_non_null(strstr(w.client[0].text, "\r\n\r\nheld"));
	assert_int_equal(strlen(w.client[0].text), all);
	assert_int_equal(w.px->shard[0].fe.bytes_out, all);
	assert_int_equal(w.engine.stat.bytes_out, all);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_response_rules_change_replies),
		cmocka_unit_test(a_failed_rewrite_sends_an_error_page),
		cmocka_unit_test(a_format_is_too_long),
		cmocka_unit_test(a_reply_that_is_too_long),
		cmocka_unit_test(a_held_reply_is_lookahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
