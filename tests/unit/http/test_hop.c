/* The rest of a head when the fields of one connection are taken out of it. */

#include <stdio.h>
#include <string.h>

#include "http/h1_parse.h"
#include "http/h1_write.h"
#include "http/hop.h"
#include "unit/test.h"

#define FIELDS 16

struct row {
	const char *in, *out; /* fields with their line ends */
	unsigned int said;
};

static char text[1024];

/* Parses a head with these fields into h, whose texts lie in text. */
static void
parse(struct http_head *h, struct http_field *field, const char *start, const char *fields)
{
	struct h1_parser p = { 0 };
	size_t used;
	int is_response = strncmp(start, "HTTP/", 5) == 0;

	(void)snprintf(text, sizeof(text), "%s%s\r\n", start, fields);
	http_head_init(h, is_response ? HTTP_RESPONSE : HTTP_REQUEST, field, FIELDS);
	h->method = HTTP_GET;
	assert_int_equal(is_response ? h1_parse_response(&p, text, strlen(text), h, &used)
				     : h1_parse_request(&p, text, strlen(text), h, &used),
		HTTP_COMPLETE);
}

static void
assert_left(const struct http_head *h, unsigned int said, const char *start, const struct row *r)
{
	char want[1024], got[1024];

	(void)snprintf(want, sizeof(want), "%s%s\r\n", start, r->out);
	got[h1_write(h, got)] = '\0';
	if (strcmp(got, want) != 0 || said != r->said)
		fail_msg("\"%s\": %u, \"%s\"", r->in, said, got);
}

static void
check(const char *start, const struct row *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct http_field field[FIELDS];
		struct http_head h;

		parse(&h, field, start, r[i].in);
		assert_left(&h, http_strip_hop(&h, 0), start, &r[i]);
	}
}

#define REQUEST "GET / HTTP/1.1\r\nHost: a\r\n"
#define SWITCH HTTP_HOP_SWITCH
#define UPGRADE (HTTP_HOP_SWITCH | HTTP_HOP_UPGRADE)

static void
a_request_keeps_what_connection_names(void **st)
{
	static const struct row row[] = {
		{ "X-A: b\r\n", "X-A: b\r\n", 0 },
		{ "Connection: close\r\nX-A: b\r\n", "X-A: b\r\n", 0 },
		{ "Connection: X-A, keep-alive\r\nX-A: b\r\n", "X-A: b\r\n", 0 },
		{ "X-A: b\r\nconnection: x-a\r\nX-B: c\r\nConnection: x-b\r\n",
			"X-A: b\r\nX-B: c\r\n", 0 },
		{ "Connection: host, cookie, authorization, content-length, transfer-encoding\r\n"
		  "Cookie: a=b\r\nAuthorization: x\r\nContent-Length: 0\r\n",
			"Cookie: a=b\r\nAuthorization: x\r\nContent-Length: 0\r\n", 0 },
		{ "Connection: Trailer\r\nTrailer: X-A\r\nTransfer-Encoding: chunked\r\n",
			"Trailer: X-A\r\nTransfer-Encoding: chunked\r\n", 0 },
	};

	(void)st;
	check(REQUEST, row, ARRAY_LEN(row));
}

static void
fields_of_the_hop_are_dropped(void **st)
{
	static const struct row row[] = {
		{ "Keep-Alive: 3\r\nProxy-Connection: close\r\nkeep-alive: 4\r\n", "", 0 },
		{ "TE: gzip\r\n", "", 0 },
		{ "TE: gzip\r\nte: deflate, TRAILERS\r\n", "te: trailers\r\n", 0 },
	};

	(void)st;
	check(REQUEST, row, ARRAY_LEN(row));
}

static void
an_upgrade_needs_both_fields(void **st)
{
	static const struct row row[] = {
		{ "Upgrade: x\r\n", "", 0 },
		{ "Connection: upgrade\r\n", "", SWITCH },
		{ "Connection: a, Upgrade\r\nUpgrade: x\r\n", "Upgrade: x\r\n", UPGRADE },
		{ "Upgrade: x\r\nConnection: close\r\nConnection: upgrade\r\nUpgrade: y/1\r\n",
			"Upgrade: x\r\nUpgrade: y/1\r\n", UPGRADE },
	};

	(void)st;
	check(REQUEST, row, ARRAY_LEN(row));
}

#define REFUSED HTTP_HOP_REFUSED
#define ASKS "Connection: upgrade\r\n"

/* Upgrade as a lenient server would read it: in any case, with a version, in quotes, in any
 * list. */
static void
http_2_is_not_offered(void **st)
{
	static const struct row row[] = {
		{ ASKS "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n", "", SWITCH | REFUSED },
		{ "Upgrade: h2c\r\n", "", REFUSED },
		{ "http2-settings: A\r\nX-A: b\r\n", "X-A: b\r\n", 0 },
		{ ASKS "Upgrade: H2C\r\n", "", SWITCH | REFUSED },
		{ ASKS "Upgrade: h2\r\nUpgrade: h2c/1\r\nUpgrade: h2C/2.0\r\n", "",
			SWITCH | REFUSED },
		{ ASKS "Upgrade: h2c-14, h2-17\r\n", "", SWITCH | REFUSED },
		{ ASKS "Upgrade: h2c;q=1\r\n", "", SWITCH | REFUSED },
		{ ASKS "Upgrade: \"h2c\"\r\n", "", SWITCH | REFUSED },
		{ ASKS "Upgrade: x h2c\r\n", "", SWITCH | REFUSED },
		{ ASKS "Upgrade: x/h2c/1\r\n", "", SWITCH | REFUSED },
		{ ASKS "Upgrade: ,\th2c ,\r\n", "", SWITCH | REFUSED },
		{ ASKS "Upgrade: \r\n", "", SWITCH },
		{ ASKS "Upgrade: , ,\r\n", "", SWITCH },
		{ ASKS "Upgrade: \"a, h2c\r\n", "", SWITCH | REFUSED },
		{ ASKS "Upgrade: h2c, websocket\r\n", "Upgrade: websocket\r\n",
			UPGRADE | REFUSED },
		{ ASKS "Upgrade: websocket , h2c\r\n", "Upgrade: websocket\r\n",
			UPGRADE | REFUSED },
		{ ASKS "Upgrade: a/1, b,h2,c, h2c,,d/2\r\nX-A: b\r\n",
			"Upgrade: a/1, b\r\nX-A: b\r\nUpgrade: c\r\nUpgrade: d/2\r\n",
			UPGRADE | REFUSED },
		{ ASKS "Upgrade: h2c\r\nUpgrade: x\r\n", "Upgrade: x\r\n", UPGRADE | REFUSED },
		{ ASKS "Upgrade: h2cx, xh2c, h3, HTTP/2.0, TLS/1.0\r\n",
			"Upgrade: h2cx, xh2c, h3, HTTP/2.0, TLS/1.0\r\n", UPGRADE },
		{ "Upgrade: a,h2c,b\r\n", "", REFUSED },
	};

	(void)st;
	check(REQUEST, row, ARRAY_LEN(row));
	check("HTTP/1.1 426 No\r\n", row, ARRAY_LEN(row));
}

/* Runs of protocols for which the head has no field left are not offered. */
static void
a_full_head_offers_fewer_protocols(void **st)
{
	struct http_field field[FIELDS];
	struct http_head h;
	char out[1024];

	(void)st;
	parse(&h, field, REQUEST, ASKS "Upgrade: a,h2,b,h2,c,h2c,d\r\nX-A: b\r\n");
	h.max = h.n + 1;
	assert_int_equal(http_strip_hop(&h, 0), UPGRADE | REFUSED);
	out[h1_write(&h, out)] = '\0';
	assert_null(strstr(out, "h2"));
	assert_non_null(strstr(out, "Upgrade: a\r\n"));
	assert_non_null(strstr(out, "X-A: b\r\n"));
	assert_non_null(strstr(out, "Upgrade: b\r\n"));
}

static void
a_request_of_http_1_0_upgrades_nothing(void **st)
{
	static const struct row row[] = {
		{ "Connection: upgrade\r\nUpgrade: x\r\nTE: trailers\r\nX-A: b\r\n",
			"X-A: b\r\n", 0 },
	};

	(void)st;
	check("GET / HTTP/1.0\r\n", row, ARRAY_LEN(row));
}

static void
a_response_is_cleaned_too(void **st)
{
	static const struct row row[] = {
		{ "Connection: X-A, close\r\nX-A: b\r\nKeep-Alive: 5\r\nTE: trailers\r\n"
		  "Proxy-Connection: close\r\n", "X-A: b\r\n", 0 },
		{ "Upgrade: x\r\n", "", 0 },
		{ "Upgrade: x\r\nConnection: upgrade\r\n", "Upgrade: x\r\n", UPGRADE },
		{ "Connection: Set-Cookie\r\nSet-Cookie: a=b\r\n", "Set-Cookie: a=b\r\n", 0 },
	};

	(void)st;
	check("HTTP/1.1 200 OK\r\n", row, ARRAY_LEN(row));
}

/* A rule sets, adds or changes fields after the head was parsed. */
static void
fields_that_rules_set_are_obeyed(void **st)
{
	static const struct row keep = { "", "Keep-Alive: 5\r\nProxy-Connection: p\r\n", 0 };
	static const struct row close = { "Connection: close\r\n", "", HTTP_HOP_CLOSE };
	static const struct row changed = { "Keep-Alive: 3\r\n", "Keep-Alive: 4\r\n", 0 };
	static const struct row alone = { "", "Upgrade: x\r\n", 0 };
	static const struct row proxied = { "Keep-Alive: 3\r\nProxy-Connection: p\r\n",
		"Proxy-Connection: p\r\n", 0 };
	struct http_field field[FIELDS];
	struct http_head h;

	(void)st;
	parse(&h, field, REQUEST, keep.in);
	assert_int_equal(http_add(&h, STR("Keep-Alive"), STR("5")), 0);
	assert_int_equal(http_add(&h, STR("Proxy-Connection"), STR("p")), 0);
	assert_left(&h, http_strip_hop(&h, 0), REQUEST, &keep);

	parse(&h, field, REQUEST, close.in);
	assert_int_equal(http_add(&h, STR("Connection"), STR("a, close")), 0);
	assert_left(&h, http_strip_hop(&h, 0), REQUEST, &close);

	parse(&h, field, REQUEST, changed.in);
	assert_int_equal(http_set_value(&h, 1, STR("4")), 0);
	assert_left(&h, http_strip_hop(&h, 0), REQUEST, &changed);

	parse(&h, field, "HTTP/1.1 200 OK\r\n", alone.in);
	assert_int_equal(http_add(&h, STR("Upgrade"), STR("x")), 0);
	assert_left(&h, http_strip_hop(&h, 0), "HTTP/1.1 200 OK\r\n", &alone);

	parse(&h, field, REQUEST, proxied.in);
	assert_left(&h, http_strip_hop(&h, 1), REQUEST, &proxied);
}

/* HAProxy 2.6 refuses the same heads, but for one whose last Upgrade names something else. */
static void
a_websocket_needs_its_field(void **st)
{
#define WS "Connection: upgrade\r\nUpgrade: websocket\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define ACCEPT "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
#define AGREES "HTTP/1.1 101 Go\r\n"
	static const struct {
		const char *start, *fields;
		int lacks;
	} t[] = {
		{ REQUEST, WS KEY, 0 },
		{ REQUEST, WS, 1 },
		{ REQUEST, WS "Sec-WebSocket-Key:\r\n", 1 },
		{ REQUEST, WS "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=\r\n", 1 },
		{ REQUEST, WS "Sec-WebSocket-Key: x\r\n" KEY, 0 },
		{ REQUEST, "Connection: upgrade\r\nUpgrade: WebSocket\r\n", 1 },
		{ REQUEST, "Connection: upgrade\r\nUpgrade: foo, websocket\r\n", 1 },
		{ REQUEST, "Connection: upgrade\r\nUpgrade: foo\r\nUpgrade: websocket\r\n", 1 },
		{ REQUEST, "Connection: upgrade\r\nUpgrade: websocket/13\r\n", 0 },
		{ REQUEST, "Connection: upgrade\r\nUpgrade: foo\r\n", 0 },
		{ REQUEST, "Upgrade: websocket\r\n", 0 },
		{ AGREES, WS ACCEPT, 0 },
		{ AGREES, WS, 1 },
		{ AGREES, WS KEY, 1 },
		{ AGREES, WS "Sec-WebSocket-Accept:\r\n", 0 },
		{ AGREES, "Connection: upgrade\r\nUpgrade: foo\r\n", 0 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct http_field field[FIELDS];
		struct http_head h;

		parse(&h, field, t[i].start, t[i].fields);
		(void)http_strip_hop(&h, 0);
		if (http_lacks_websocket(&h) != t[i].lacks)
			fail_msg("%s%s", t[i].start, t[i].fields);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_keeps_what_connection_names),
		cmocka_unit_test(fields_of_the_hop_are_dropped),
		cmocka_unit_test(an_upgrade_needs_both_fields),
		cmocka_unit_test(http_2_is_not_offered),
		cmocka_unit_test(a_full_head_offers_fewer_protocols),
		cmocka_unit_test(a_request_of_http_1_0_upgrades_nothing),
		cmocka_unit_test(a_response_is_cleaned_too),
		cmocka_unit_test(fields_that_rules_set_are_obeyed),
		cmocka_unit_test(a_websocket_needs_its_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
