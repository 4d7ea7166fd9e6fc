/* Answers of our own, and what http-after-response makes of them. */
#include "http_rig.h"

#define NOBODY .n_servers = 1, .server = { { .absent = 1 } }
#define BODY                                             \
	"<html><body><h1>503 Service Unavailable</h1>\n" \
	"No server is available to handle this request.\n</body></html>\n"
#define PAGE(more)                                                                       \
	"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 107\r\n"                    \
	"Cache-Control: no-cache\r\nContent-Type: text/html\r\n" more "\r\n"

static const struct http_dialogue pages[] = {
	{ .name = "fields", .cfg = { HTTP_WORLD, NOBODY,
		.rules = "http-after-response set-header X-A %[status]\n"
			 "http-after-response del-header Cache-Control" },
	  .client = { SAY(GET_CLOSE), EOF_CLOSE }, .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 107\r\n"
		  "Content-Type: text/html\r\nX-A: 503\r\nConnection: close\r\n\r\n" BODY,
	  .terms = "SC" },
	{ .name = "another status", .cfg = { HTTP_WORLD, NOBODY,
		.rules = "http-after-response set-status 500 reason Oh" },
	  .client = { SAY(GET_CLOSE), EOF_CLOSE }, .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 500 Oh\r\nContent-Length: 107\r\n"
		  "Cache-Control: no-cache\r\nContent-Type: text/html\r\n"
		  "Connection: close\r\n\r\n" BODY,
	  .terms = "SC" },
	{ .name = "HEAD", .cfg = { HTTP_WORLD, NOBODY,
		.rules = "http-after-response set-header X-A b" },
	  .client = { SAY("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), AWAIT("\r\n\r\n"),
		  { STEP_CLOSE, 0 } },
	  .origin = { EOF_CLOSE }, .to_client = PAGE("X-A: b\r\n"), .terms = "SC" },
	{ .name = "rules before", .cfg = { HTTP_WORLD,
		.rules = "http-request return content-type a/b string ok hdr X-B c\n"
			 "http-after-response set-header X-A %[res.hdr(x-b)]" },
	  .client = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } }, .origin = { EOF_CLOSE },
	  .to_client = "HTTP/1.1 200 OK\r\nX-B: c\r\nContent-Length: 2\r\nContent-Type: a/b\r\n"
		  "X-A: c\r\n\r\nok",
	  .terms = "LR" },
	{ .name = "a question", .cfg = { HTTP_WORLD,
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
answers_are_changed(void **st)
{
	(void)st;
	http_play_all(pages, ARRAY_LEN(pages));
}

/* A rewrite that fails has a plain page told, which no rule can spoil again. */
static void
a_failure_is_told(void **st)
{
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static const struct world_config cfg = { HTTP_WORLD,
		.rules = "http-request return status 204\n"
			 "http-after-response set-header X-A b\n"
			 "http-after-response set-status 200" };

	(void)st;
	rig_play(&cfg, client, NULL);
	assert_memory_equal(w.client[0].text, "HTTP/1.1 500 ", 13);
	assert_null(strstr(w.client[0].text, "X-A"));
	assert_int_equal(w.px->shard[0].fe.failed_rewrites, 1);
	assert_int_equal(w.px->shard[0].fe.hrsp[5], 1);
	rig_close();
}

/* The biggest that fits, and one byte more. */
static void
a_long_answer_is_none(void **st)
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_changed),
		cmocka_unit_test(a_failure_is_told),
		cmocka_unit_test(a_long_answer_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
