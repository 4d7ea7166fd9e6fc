/* Selection of stored responses: rows are as HAProxy 2.6 has them (tests/system/test_cache.py). */

#include "base/compiler.h"
#include "http/vary.h"
#include "unit/test.h"

enum { GZIP = 1, DEFLATE = 2, BR = 4, COMPRESS = 8, ZSTD = 0x80, IDENTITY = 0x100, ALL = 0x1ff };

static void
add_fields(struct http_head *h, struct http_field *place, enum http_kind kind, const char *name,
	const char *const value[2])
{
	http_head_init(h, kind, place, 2);
	for (int i = 0; i < 2 && value[i]; i++)
		assert_int_equal(http_add(h, str_of(name), str_of(value[i])), 0);
}

static const struct {
	const char *value[2];
	int by;
} varies[] = {
	{ { NULL }, 0 },
	{ { "Accept-Encoding" }, HTTP_BY_ACCEPT_ENCODING },
	{ { "accept-encoding, REFERER" }, HTTP_BY_ACCEPT_ENCODING | HTTP_BY_REFERER },
	{ { "Referer", "origin" }, HTTP_BY_REFERER | HTTP_BY_ORIGIN },
	{ { "*" }, -1 },
	{ { "" }, -1 },
	{ { "Accept-Encoding, Cookie" }, -1 },
	{ { "Accept-Encoding", "Cookie" }, -1 },
	{ { "Accept" }, -1 },
};

static void
fields_of_vary_are_known(void **state)
{
	struct http_field place[2];
	struct http_head h;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(varies); i++) {
		add_fields(&h, place, HTTP_RESPONSE, "Vary", varies[i].value);
		if (http_vary_of(&h) != varies[i].by)
			fail_msg("row %zu", i);
	}
}

static const struct {
	const char *value[2];
	uint32_t codings;
} accepted[] = {
	{ { NULL }, ALL },
	{ { "" }, IDENTITY },
	{ { "gzip" }, GZIP | IDENTITY },
	{ { "GZIP, br;q=1" }, GZIP | BR | IDENTITY },
	{ { "x-gzip , x-compress" }, GZIP | COMPRESS | IDENTITY },
	{ { "gzip", "zstd" }, GZIP | ZSTD | IDENTITY },
	{ { "foo" }, IDENTITY },
	{ { "*" }, ALL },
	{ { "gzip;q=0, *" }, ALL & ~GZIP },
	{ { "*, gzip; q=0" }, ALL & ~GZIP },
	{ { "gzip;q=0.0" }, IDENTITY },
	{ { "gzip;Q=0." }, IDENTITY },
	{ { "gzip;q=0.001" }, GZIP | IDENTITY },
	{ { "gzip;q=00" }, IDENTITY },
	{ { "identity;q=0, gzip" }, GZIP },
	{ { "*;q=0, gzip" }, GZIP },
	{ { "*;q=0, identity" }, IDENTITY },
	{ { "deflate;q=" }, DEFLATE | IDENTITY },
	{ { "," }, IDENTITY },
};

static void
codings_that_a_request_accepts(void **state)
{
	struct http_field place[2];
	struct http_head h;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(accepted); i++) {
		add_fields(&h, place, HTTP_REQUEST, "Accept-Encoding", accepted[i].value);
		if (http_codings_accepted(&h) != accepted[i].codings)
			fail_msg("row %zu: %#x", i, http_codings_accepted(&h));
	}
}

static void
codings_of_a_response(void **state)
{
	static const struct {
		const char *value[2];
		uint32_t codings;  /* 0: refused */
	} rows[] = {
		{ { NULL }, IDENTITY }, { { "" }, IDENTITY }, { { "identity" }, IDENTITY },
		{ { "gzip, br" }, GZIP | BR }, { { "gzip", "br" }, GZIP | BR },
		{ { "x-gzip" }, GZIP }, { { "foo" }, 0 }, { { "gzip, foo" }, 0 }, { { "*" }, 0 },
	};
	struct http_field place[2];
	struct http_head h;
	uint32_t codings;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		add_fields(&h, place, HTTP_RESPONSE, "Content-Encoding", rows[i].value);
		if ((http_codings_of(&h, &codings) == 0) != (rows[i].codings != 0) ||
			(rows[i].codings && codings != rows[i].codings))
			fail_msg("row %zu", i);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_vary_are_known),
		cmocka_unit_test(codings_that_a_request_accepts),
		cmocka_unit_test(codings_of_a_response),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
