#include "unit/proxy/proxies_rig.h"

#include <stdlib.h>
#include <unistd.h>

static char dir[] = "/tmp/errors_cfg.XXXXXX";

/* Writes a file with that text; one file for all tests. */
static const char *
file(const char *text)
{
	static char path[64];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/e", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
	return path;
}

static int
setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	(void)unlink(file(""));
	return rmdir(dir);
}

static const struct world_line lines[] = {
	{ "errorfile 403 /dev/null", NULL },
	{ "errorfile 431 /dev/null", NULL },
	{ "errorfile 403 /nonexistent/x", "cannot read file '/nonexistent/x'" },
	{ "errorfile 499 /dev/null", "status code '499' not handled" },
	{ "errorfile 4033 /dev/null", "status code '4033' not handled" },
	{ "errorfile 4o3 /dev/null", "status code '4o3' not handled" },
	{ "errorfile '' /dev/null", "status code '' not handled" },
	{ "errorfile 403", "<code> <file>" },
	{ "errorfile 403 /dev/null x", "unexpected argument 'x'" },
	{ "errorloc 403 http://x/y", NULL },
	{ "errorloc302 403 /y", NULL },
	{ "errorloc303 503 /y", NULL },
	{ "errorloc 299 /y", "status code '299' not handled" },
	{ "errorloc 403 '/y\x01'", "a header cannot hold" },
	{ "errorfiles g", NULL },
	{ "errorfiles g 400 403", NULL },
	{ "errorfiles h", "unable to find the http-errors section 'h'" },
	{ "errorfiles g 400 401 999", "status code '999' not handled" },
	{ "http-error status 403", NULL },
	{ "http-error status 403 content-type text/plain string hello", NULL },
	{ "http-error status 403 string hello", "a content type must be defined" },
	{ "http-error content-type a/b string x", "expects at least a <status>" },
	{ "http-error status 403 default-errorfiles", NULL },
	{ "http-error status 403 errorfile /dev/null", NULL },
	{ "http-error status 403 errorfiles g", NULL },
	{ "http-error status 403 errorfiles h", "unable to find" },
	{ "http-error status 403 content-type a/b file /dev/null", NULL },
	{ "http-error status 403 file /nonexistent", "cannot read file" },
	{ "http-error status 403 content-type a/b lf-string %[src]", NULL },
	{ "http-error status 403 content-type a/b lf-string %[nope]", "unknown fetch 'nope'" },
	{ "http-error status 403 content-type a/b lf-string %[nbsrv(x)]",
		"'nbsrv': there is no such backend" },
	{ "http-error status 403 content-type a/b lf-string %[res.hdr(x)]", "needs a response" },
	{ "http-error status 403 lf-string x", "a content type must be defined" },
	{ "http-error status 403 content-type a/b lf-file /dev/zero", "is larger than" },
	{ "http-error status 403 content-type a/b lf-file /nonexistent", "cannot read file" },
	{ "http-error status 403 content-type a/b string x file y", "cannot be combined with" },
	{ "http-error status 403 errorfile /dev/null string x", "cannot be combined with" },
	{ "http-error status 403 hdr X-A b hdr X-B c", NULL },
	{ "http-error status 403 hdr X-A", "expects <name> and <fmt>" },
	{ "http-error status 403 hdr 'X A' b", "'hdr' expects a valid name and value" },
	{ "http-error status 403 hdr X-A %[src]", NULL },
	{ "http-error status 403 hdr X-A %[src", "http-error" },
	{ "http-error status 403 string", "expects an argument" },
	{ "http-error status 403 content-type", "expects a type" },
	{ "http-error status 403 bogus", "unknown argument 'bogus'" },
	{ "http-error status", "status <code>" },
};

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("http-errors g\n errorfile 400 /dev/null\nlisten l\n bind :80\n ", lines,
		ARRAY_LEN(lines), "");
}

static void
assert_answer(struct world *w, const char *fe, unsigned int status, const char *expected)
{
	const struct http_reply *r = proxy_error(world_proxy(w, fe), NULL, status);
	char out[1024];
	long n = http_reply_write(r, HTTP_CONN_UNSAID, HTTP_GET, out, sizeof(out));

	assert_int_equal(n, strlen(expected));
	assert_memory_equal(out, expected, strlen(expected));
}

static void
http_error_makes_the_reply(void **state)
{
	char text[2048];
	struct world w;

	(void)state;
	(void)snprintf(text, sizeof(text), WORLD_DEFAULTS
		" errorfile 403 %s\n errorloc303 404 /gone\n"
		"listen a\n bind :1\n errorfiles g 502\n"
		" http-error status 503 content-type text/plain hdr X-A b string 'sorry, later'\n"
		"listen b\n bind :2\n errorloc 403 /no\n http-error status 404 default-errorfiles\n"
		"http-errors g\n errorfile 502 /dev/null\n errorfile 503 /dev/null\n",
		file("HTTP/1.0 403 No\nConnection: close\nA: b\n\nBody\n"));
	world_good(&w, text);
	assert_answer(&w, "a", 403, "HTTP/1.1 403 No\r\nA: b\r\nContent-Length: 5\r\n\r\nBody\n");
	assert_answer(&w, "a", 404, "HTTP/1.1 303 See Other\r\nCache-Control: no-cache\r\n"
		"Location: /gone\r\nContent-Length: 0\r\n\r\n");
	assert_answer(&w, "a", 502, "");
	assert_answer(&w, "a", 503, "HTTP/1.1 503 Service Unavailable\r\nX-A: b\r\n"
		"Content-Type: text/plain\r\nContent-Length: 12\r\n\r\nsorry, later");
	assert_answer(&w, "b", 403, "HTTP/1.1 302 Found\r\nCache-Control: no-cache\r\n"
		"Location: /no\r\nContent-Length: 0\r\n\r\n");
	assert_ptr_equal(
		proxy_error(world_proxy(&w, "b"), NULL, 404), http_error(HTTP_ERROR_404));
	world_fini(&w);
}

static void
errorfile_makes_the_reply(void **state)
{
	char text[2048];
	struct world w;

	(void)state;
	(void)snprintf(text, sizeof(text),
		WORLD_DEFAULTS "listen a\n bind :1\n errorfile 403 %s\n", file("hello\n\n"));
	world_reports(text, -1, "malformed status line");
	(void)snprintf(text, sizeof(text), WORLD_DEFAULTS
		"listen a\n bind :1\n http-error status 403 content-type a/b file %s\n",
		file("raw\r\n"));
	world_good(&w, text);
	assert_answer(&w, "a", 403, "HTTP/1.1 403 Forbidden\r\nContent-Type: a/b\r\n"
		"Content-Length: 5\r\n\r\nraw\r\n");
	world_fini(&w);
}

/* The last line counts, and the closest section, whatever its kind. */
static void
the_closest_error_format_counts(void **state)
{
	const struct proxy *a, *b, *c;
	struct world w;

	(void)state;
	world_good(&w, WORLD_DEFAULTS
		" http-error status 403 hdr X %[src]\n http-error status 404 hdr X %[src]\n"
		"listen a\n bind :1\n"
		"listen b\n bind :2\n errorloc 403 /no\n http-error status 404 default-errorfiles\n"
		"listen c\n bind :3\n errorloc 403 /no\n http-error status 403 hdr X %[dst]\n");
	a = world_proxy(&w, "a");
	b = world_proxy(&w, "b");
	c = world_proxy(&w, "c");
	assert_non_null(proxy_error_page(a, NULL, 403));
	assert_null(proxy_error_page(a, NULL, 410));
	assert_ptr_equal(proxy_error_page(a, NULL, 404), proxy_error_page(a, c, 404));
	assert_null(proxy_error_page(b, NULL, 403));
	assert_int_equal(proxy_error(b, NULL, 403)->status, 302);
	assert_null(proxy_error_page(b, NULL, 404));
	assert_null(proxy_error_page(a, b, 403));
	assert_non_null(proxy_error_page(b, a, 403));
	assert_non_null(proxy_error_page(c, NULL, 403));
	assert_ptr_not_equal(proxy_error_page(c, NULL, 403), proxy_error_page(a, NULL, 403));
	world_fini(&w);
}

static void
ignored_headers_cause_warnings(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS "listen a\n bind :1\n"
		" http-error status 403 content-type a/b hdr Content-Length 5 string x\n", 0,
		"header 'Content-Length' always ignored");
	world_reports(WORLD_DEFAULTS
		"listen a\n bind :1\n http-error status 403 content-type a/b\n",
		0, "content-type 'a/b' ignored");
	world_reports(WORLD_DEFAULTS "listen a\n bind :1\n"
		" http-error status 403 errorfile /dev/null hdr a b\n", 0,
		"'http-error' : 'hdr' has no effect on a page");
	world_reports(WORLD_DEFAULTS "listen a\n bind :1\n"
		" http-error status 403 content-type a/b default-errorfiles\n", 0,
		"'http-error' : 'content-type' has no effect without a payload.");
}

/* A reply must fit into a buffer; a line is reported once, however many proxies inherit it. */
static void
a_reply_must_fit_into_a_buffer(void **state)
{
	struct world w;
	const struct http_reply *r;
	size_t size;

	(void)state;
	world_good(&w, WORLD_DEFAULTS " errorloc 403 /x\nlisten a\n bind :1\nlisten b\n bind :2\n"
		"http-errors g\n errorfile 400 /dev/null\n");
	r = proxy_error(world_proxy(&w, "a"), NULL, 403);
	size = http_reply_size(r);
	assert_int_equal(size, strlen("HTTP/1.1 302 Found\r\nCache-Control: no-cache\r\n"
		"Location: /x\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"));
	assert_int_equal(proxies_fit_errors(&w.proxies, size, &w.diag), 0);
	assert_int_equal(proxies_fit_errors(&w.proxies, size - 1, &w.diag), -1);
	assert_int_equal(w.diag.count[CFG_ALERT], 1);
	world_fini(&w);
}

static void
http_errors_sections_are_checked(void **state)
{
	(void)state;
	world_reports("http-errors g\n errorloc 403 /x\n", -1,
		"unknown keyword 'errorloc' in 'http-errors' section");
	world_reports("http-errors g\nhttp-errors g\n", -1, "'g' already exists");
	world_reports("http-errors\n errorfile 403 /dev/null\n", -1, "http-errors");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(http_error_makes_the_reply),
		cmocka_unit_test(errorfile_makes_the_reply),
		cmocka_unit_test(the_closest_error_format_counts),
		cmocka_unit_test(ignored_headers_cause_warnings),
		cmocka_unit_test(a_reply_must_fit_into_a_buffer),
		cmocka_unit_test(http_errors_sections_are_checked),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
