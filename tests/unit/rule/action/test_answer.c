#include "unit/rule/action_rig.h"

#include "http/reply.h"

#include <stdlib.h>
#include <unistd.h>

#define REQ "GET / HTTP/1.1\r\nHost: h\r\nF: f"

/* "head|body" of the response to `http-request return ARGUMENTS`. */
static const char *
answer(const char *arguments)
{
	static char text[20000];
	char line[1024];

	(void)snprintf(line, sizeof(line), "http-request return %s", arguments);
	action_rig_good(&r, line);
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_FINAL);
	if (r.v.what != RULE_END_REPLY || !r.v.has_answer)
		fail_msg("%s: no answer", line);
	assert_int_equal(r.answer.framing,
		r.v.is_empty || http_status_has_no_body(r.v.status) ? HTTP_BODY_NONE
								    : HTTP_BODY_LENGTH);
	assert_int_equal(r.answer.length, r.v.body.len);
	(void)snprintf(text, sizeof(text), "%s|%.*s", action_rig_show(&r, &r.answer),
		(int)r.v.body.len, r.v.body.p ? r.v.body.p : "");
	return text;
}

static void
refuses(const char *arguments, const char *says)
{
	char line[1024];

	(void)snprintf(line, sizeof(line), "http-request return %s", arguments);
	action_rig_refuses(&r, line, says);
}

static void
test_words_without_effect_are_warned_of(void **state)
{
	(void)state;
	assert_int_equal(action_rig_read(&r, "http-request return content-type a/b"), 0);
	assert_non_null(strstr(r.printed, "'content-type' has no effect without a payload."));
	assert_int_equal(action_rig_read(&r, "http-request deny default-errorfiles hdr a b"), 0);
	assert_non_null(strstr(r.printed, "'hdr' has no effect on a page"));
	assert_int_equal(
		action_rig_read(&r, "http-request return content-type a/b string \"\" hdr a b"), 0);
	assert_string_equal(r.printed, "");
}

static void
test_payloads(void **state)
{
	(void)state;
	assert_string_equal(answer(""), "HTTP/1.1 200 OK|Content-Length: 0||");
	assert_string_equal(answer("status 204"), "HTTP/1.1 204 No Content||");
	/* an empty value: no header */
	assert_string_equal(answer("hdr A %[rq(none)]"), "HTTP/1.1 200 OK|Content-Length: 0||");
	assert_string_equal(answer("status 418 hdr A b hdr C %[rq(F)]"),
		"HTTP/1.1 418 I'm a teapot|A: b|C: f|Content-Length: 0||");
	assert_string_equal(answer("content-type text/plain string \"a %[rq(F)] %%\""),
		"HTTP/1.1 200 OK|Content-Length: 13|Content-Type: text/plain||a %[rq(F)] %%");
	assert_string_equal(answer("status 404 content-type a/b lf-string \"a %[rq(F)] %%\""),
		"HTTP/1.1 404 Not Found|Content-Length: 5|Content-Type: a/b||a f %");
	assert_string_equal(answer("string \"\" hdr A b"),
		"HTTP/1.1 200 OK|A: b|Content-Length: 0||");
}

static void
test_files(void **state)
{
	char path[] = "/tmp/tacit-answer-XXXXXX", line[256];
	static const char page[] = "HTTP/1.0 503 Gone fishing\r\nX: y\r\nConnection: "
		"close\r\n\r\nbye\n";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "%[rq(F)]!", 9), 9);
	(void)snprintf(line, sizeof(line), "content-type a/b file %s", path);
	assert_string_equal(answer(line),
		"HTTP/1.1 200 OK|Content-Length: 9|Content-Type: a/b||%[rq(F)]!");
	(void)snprintf(line, sizeof(line), "content-type a/b lf-file %s", path);
	assert_string_equal(answer(line),
		"HTTP/1.1 200 OK|Content-Length: 2|Content-Type: a/b||f!");
	assert_int_equal(ftruncate(fd, 20000), 0);
	refuses(line, "is larger than 15360 bytes");
	assert_int_equal(ftruncate(fd, 10), 0);
	refuses(line, "holds a NUL");
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, page, sizeof(page) - 1, 0), sizeof(page) - 1);
	(void)snprintf(line, sizeof(line), "status 503 errorfile %s", path);
	assert_string_equal(answer(line),
		"HTTP/1.1 503 Gone fishing|X: y|Content-Length: 4||bye\n");
	assert_int_equal(ftruncate(fd, 12), 0);
	refuses(line, "cannot be the answer");
	/* Nothing is sent then: the connection is closed. */
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_string_equal(answer(line), "HTTP/1.1 503 Service Unavailable||");
	assert_int_equal(r.v.is_empty, 1);
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlink(path), 0);
	refuses(line, "cannot read file");
}

/* One http-errors section, g, with one page. */
static struct http_reply *
page(const void *root, const char *section, unsigned int status, const char **why)
{
	static struct http_field field = { .name = { "X", 1 }, .value = { "y", 1 } };
	static struct http_reply reply = { .status = 410, .reason = { "Away", 4 },
		.field = &field, .n = 1, .body = { "z", 1 } };

	assert_ptr_equal(root, &r);
	*why = "nothing";
	reply.refs = 1;
	return strcmp(section, "g") == 0 && status == 403 ? &reply : NULL;
}

static void
test_sections(void **state)
{
	(void)state;
	r.x.vocab.page = page;
	assert_string_equal(answer("status 403 errorfiles g"), "HTTP/1.1 410 Away|X: y||z");
	assert_string_equal(answer("status 403 errorfiles g hdr A b content-type c"),
		"HTTP/1.1 410 Away|X: y||z");
	refuses("status 404 errorfiles g",
		"http-errors section 'g', status 404: nothing");
	refuses("status 403 errorfiles h", "http-errors section 'h', status 403: nothing");
	refuses("errorfiles g", "status 200: nothing");
	refuses("status 418 errorfiles g", "there is no page for status 418");
	refuses("errorfiles", "'errorfiles' expects an argument");
	refuses("status 403 errorfiles g string x", "'string' cannot follow 'errorfiles'");
}

static void
test_refused(void **state)
{
	char line[1024];
	size_t n = 0;

	(void)state;
	refuses("status", "'status' expects a status");
	refuses("status 199", "200..599");
	refuses("status 600", "200..599");
	refuses("string x", "a content-type must be given");
	refuses("string", "'string' expects an argument");
	refuses("content-type a string x file /dev/null", "'file' cannot follow 'string'");
	refuses("status 204 content-type a string x", "has no body");
	refuses("status 418 default-errorfiles", "there is no page for status 418");
	refuses("status 403 errorfiles x", "there are no sections 'http-errors' here");
	refuses("hdr A", "'hdr' expects a name and a format");
	refuses("hdr \"a b\" c", "cannot be the name of a header");
	refuses("hdr Content-Length 5", "comes by itself");
	refuses("hdr A \"b\\rc\"", "control characters are not allowed");
	refuses("hdr A %[nope]", "nope");
	refuses("content-type \"a\\nb\" string x", "control characters are not allowed");
	for (int i = 0; i < 33; i++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, " hdr A b");
	refuses(line, "more than 32 headers");
	refuses("blah", "expects either 'if' or 'unless'");
}

/* A value from the traffic cannot end a header line of the response. */
static void
test_injection(void **state)
{
	(void)state;
	action_rig_good(&r, "http-request set-var(txn.x) str(\"a\\r\\nb: c\")\n"
			    "http-request return hdr X %[var(txn.x)]");
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_FINAL);
	assert_string_equal(action_rig_show(&r, &r.answer),
		"HTTP/1.1 200 OK|X: a%0D%0Ab: c|Content-Length: 0|");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ACTION_CASE(test_words_without_effect_are_warned_of),
		ACTION_CASE(test_payloads),
		ACTION_CASE(test_files),
		ACTION_CASE(test_sections),
		ACTION_CASE(test_refused),
		ACTION_CASE(test_injection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
