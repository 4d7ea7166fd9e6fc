/* Responses that share a cookie; HAProxy 2.6 blocks the same ones. */

#include "base/compiler.h"
#include "http/cacheable.h"
#include "unit/test.h"

#define FIELDS 4

/* Fields behind Set-Cookie and ETag: "name: value" each. */
static const struct {
	enum http_method method;
	unsigned int status;
	const char *field[2];
	int shares;
} row[] = {
	{ HTTP_GET, 200, { NULL }, 1 },
	{ HTTP_GET, 201, { NULL }, 0 },
	{ HTTP_GET, 203, { NULL }, 1 },
	{ HTTP_GET, 204, { NULL }, 1 },
	{ HTTP_GET, 206, { NULL }, 1 },
	{ HTTP_GET, 300, { NULL }, 1 },
	{ HTTP_GET, 301, { NULL }, 1 },
	{ HTTP_GET, 302, { NULL }, 0 },
	{ HTTP_GET, 304, { NULL }, 0 },
	{ HTTP_GET, 404, { NULL }, 1 },
	{ HTTP_GET, 405, { NULL }, 1 },
	{ HTTP_GET, 410, { NULL }, 1 },
	{ HTTP_GET, 414, { NULL }, 1 },
	{ HTTP_GET, 500, { NULL }, 0 },
	{ HTTP_GET, 501, { NULL }, 1 },
	{ HTTP_GET, 302, { "Cache-Control: public" }, 1 },
	{ HTTP_HEAD, 200, { NULL }, 1 },
	{ HTTP_OPTIONS, 200, { NULL }, 1 },
	{ HTTP_TRACE, 200, { NULL }, 1 },
	{ HTTP_POST, 200, { NULL }, 0 },
	{ HTTP_PUT, 200, { NULL }, 0 },
	{ HTTP_OTHER, 200, { NULL }, 0 },
	{ HTTP_POST, 200, { "Cache-Control: public" }, 1 },
	{ HTTP_GET, 200, { "Pragma: No-Cache" }, 0 },
	{ HTTP_GET, 200, { "Pragma: foo, no-cache" }, 1 },
	{ HTTP_GET, 200, { "Pragma: no-cache", "Cache-Control: public" }, 0 },
	{ HTTP_GET, 200, { "Cache-Control: PRIVATE" }, 0 },
	{ HTTP_GET, 200, { "Cache-Control: foo, no-store" }, 0 },
	{ HTTP_GET, 200, { "Cache-Control: max-age=0" }, 0 },
	{ HTTP_GET, 200, { "Cache-Control: max-age=00" }, 1 },
	{ HTTP_GET, 200, { "Cache-Control: s-maxage=0" }, 0 },
	{ HTTP_GET, 200, { "Cache-Control: no-cache" }, 0 },
	{ HTTP_GET, 200, { "Cache-Control: no-cache=\"Set-Cookie\"" }, 0 },
	{ HTTP_GET, 200, { "Cache-Control: no-cache=\"set-cookie, foo\"" }, 0 },
	{ HTTP_GET, 200, { "Cache-Control: no-cache=\"foo, set-cookie\"" }, 1 },
	{ HTTP_GET, 200, { "Cache-Control: no-cache=\"set-cookie2\"" }, 1 },
	{ HTTP_GET, 200, { "Cache-Control: no-cache=\"set-cookie" }, 1 },
	{ HTTP_GET, 200, { "Cache-Control: private=\"x\"" }, 1 },
	{ HTTP_GET, 200, { "Cache-Control: public, private" }, 0 },
	{ HTTP_GET, 200, { "Cache-Control: private, public" }, 1 },
	{ HTTP_GET, 200, { "Cache-Control: no-store", "Cache-Control: public" }, 1 },
	{ HTTP_GET, 200, { "Cache-Control: max-age=5", "Cache-Control: private" }, 0 },
};

static struct str
before_colon(const char *text)
{
	return (struct str){ text, strcspn(text, ":") };
}

static int
shares(const char *const *fields, size_t n, enum http_method method, unsigned int status)
{
	struct http_field place[FIELDS];
	struct http_head h;

	http_head_init(&h, HTTP_RESPONSE, place, FIELDS);
	h.method = method;
	h.status = status;
	for (size_t i = 0; i < n && fields[i]; i++) {
		struct str name = before_colon(fields[i]);

		assert_int_equal(http_add(&h, name, str_of(name.p + name.len + 2)), 0);
	}
	return http_shares_cookie(&h);
}

static void
fields_of_the_response_decide(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		const char *const fields[] = { "Set-Cookie: a=b", "ETag: x", row[i].field[0],
			row[i].field[1] };

		if (shares(fields, FIELDS, row[i].method, row[i].status) != row[i].shares)
			fail_msg("row %zu", i);
	}
}

/* Without a time and a validator, or without a cookie, nothing is shared. */
static void
cookies_are_kept_with_a_time_or_a_validator(void **st)
{
	static const struct {
		const char *const field[3];
		int shares;
	} kept[] = {
		{ { "Set-Cookie: a=b" }, 0 },
		{ { "ETag: x" }, 0 },
		{ { "Set-Cookie: ", "ETag: x" }, 1 },
		{ { "Set-Cookie2: a=b", "ETag: x" }, 1 },
		{ { "Set-Cookie: a=b", "Last-Modified: x" }, 1 },
		{ { "Set-Cookie: a=b", "Expires: 0" }, 1 },
		{ { "Set-Cookie: a=b", "Cache-Control: max-age" }, 1 },
		{ { "Set-Cookie: a=b", "Cache-Control: s-maxage=5" }, 1 },
		{ { "Set-Cookie: a=b", "Cache-Control: max-ages=5" }, 0 },
		{ { "Set-Cookie: a=b", "Cache-Control: must-revalidate", "Age: 3" }, 0 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (shares(kept[i].field, 3, HTTP_GET, 200) != kept[i].shares)
			fail_msg("row %zu", i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_the_response_decide),
		cmocka_unit_test(cookies_are_kept_with_a_time_or_a_validator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
