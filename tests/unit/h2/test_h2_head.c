/* Blocks made heads, by table: what is accepted and how it reads, and each reason to refuse. Heads
 * made blocks, and read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "h2/h2_head.h"
#include "http/h1_write.h"
#include "unit/h2/block.h"
#include "unit/test.h"

#define FIELDS 24

static struct h2_hpack hp;
static struct http_field field[FIELDS];
static struct http_head head;
static struct h2_texts texts;
static char place[4096];
static uint8_t block[70000];

static int
setup(void **st)
{
	(void)st;
	init_table(&hp);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	h2_hpack_fini(&hp);
	return 0;
}

static int
decode_bytes(const uint8_t *p, size_t n, enum http_kind kind, enum http_method method,
	unsigned int flags, size_t cap)
{
	/* A block of the exact size, so that a sanitizer sees what is beyond. */
	uint8_t *exact = malloc(n ? n : 1);
	int rc;

	assert_non_null(exact);
	memcpy(exact, p, n);
	http_head_init(&head, kind, field, FIELDS);
	head.method = method;
	texts = (struct h2_texts){ .p = place, .cap = cap };
	rc = h2_head_decode(&hp, exact, n, flags, &head, &texts);
	free(exact);
	return rc;
}

static int
decode(const char *lines, enum http_kind kind, enum http_method method, unsigned int flags)
{
	return decode_bytes(block, block_of(block, lines), kind, method, flags, sizeof(place));
}

/* The head as text: control data, then fields in brackets if they are secret. */
static const char *
text_of_head(void)
{
	static char out[8192];
	size_t n = 0;

	if (head.kind == HTTP_REQUEST)
		n = (size_t)snprintf(out, sizeof(out), "%.*s %.*s\n", (int)head.method_text.len,
			head.method_text.p, (int)head.target.len, head.target.p);
	else if (head.kind == HTTP_RESPONSE)
		n = (size_t)snprintf(out, sizeof(out), "%u\n", head.status);
	else
		out[0] = '\0';
	for (unsigned int i = 0; i < head.n; i++) {
		const struct http_field *f = &field[i];

		if (f->dropped)
			continue;
		n += (size_t)snprintf(out + n, sizeof(out) - n, f->never_indexed ? "[%.*s|%.*s]\n"
										: "%.*s|%.*s\n",
			(int)f->name.len, f->name.p, (int)f->value.len, f->value.p);
	}
	return out;
}

/* The head reads so, has this framing, and fits into its place as HTTP/1. */
static void
assert_reads(const char *lines, int rc, const char *expected, enum http_framing framing)
{
	if (rc != 0)
		fail_msg("%d %s for %s", rc, h2_bad_text((enum h2_bad)texts.bad), lines);
	assert_string_equal(text_of_head(), expected);
	if (head.framing != framing)
		fail_msg("framing %d, expected %d: %s", head.framing, framing, lines);
	assert_true(h1_size(&head) <= texts.used);
	assert_int_equal(head.version, HTTP_2);
}

#define GET ":method|GET\n:scheme|http\n:path|/p?q\n:authority|ex.com\n"
#define POST ":method|POST\n:scheme|http\n:path|/\n:authority|ex.com\n"
#define HEAD_TEXT "GET http://ex.com/p?q\nhost|ex.com\n"

static void
requests_are_accepted(void **st)
{
	static const struct {
		const char *lines, *text;
		unsigned int flags;
		enum http_framing framing;
	} rows[] = {
		{ GET, HEAD_TEXT, H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ GET, HEAD_TEXT, 0, HTTP_BODY_CHUNKED },
		/* Pseudo-header fields in any order */
		{ ":authority|ex.com\n:path|/p?q\n:method|GET\n:scheme|http", HEAD_TEXT,
			H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ ":path|/p?q\n:scheme|http\n:authority|ex.com\n:method|GET", HEAD_TEXT,
			H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ ":scheme|http\n:method|GET\n:path|/p?q\n:authority|ex.com", HEAD_TEXT,
			H2_HEAD_ENDED, HTTP_BODY_NONE },
		/* The default port, and others */
		{ ":method|GET\n:scheme|http\n:authority|ex.com:80\n:path|/p?q", HEAD_TEXT,
			H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ ":method|GET\n:scheme|https\n:authority|ex.com:443\n:path|/",
			"GET https://ex.com/\nhost|ex.com\n", H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ ":method|GET\n:scheme|https\n:authority|ex.com:80\n:path|/",
			"GET https://ex.com:80/\nhost|ex.com:80\n", H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ ":method|GET\n:scheme|HTTP\n:authority|Ex.COM\n:path|/",
			"GET HTTP://Ex.COM/\nhost|Ex.COM\n", H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ ":method|GET\n:scheme|http\n:authority|[::1]:80\n:path|/",
			"GET http://[::1]/\nhost|[::1]\n", H2_HEAD_ENDED, HTTP_BODY_NONE },
		/* Host */
		{ ":method|GET\n:scheme|http\n:path|/p\nhost|h.com:80\na|b",
			"GET /p\nhost|h.com:80\na|b\n", H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ GET "a|b\nhost|ex.com\nc|d", HEAD_TEXT "a|b\nc|d\n", H2_HEAD_ENDED,
			HTTP_BODY_NONE },
		{ GET "host|other.com", HEAD_TEXT, H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ ":method|GET\n:scheme|http\n:path|/\nhost|a\nhost|a", "GET /\nhost|a\n",
			H2_HEAD_ENDED, HTTP_BODY_NONE },
		/* Cookies: beside each other, and among other fields */
		{ GET "cookie|a=1\nx|y\n", HEAD_TEXT "x|y\ncookie|a=1\n", H2_HEAD_ENDED,
			HTTP_BODY_NONE },
		{ GET "cookie|a=1\ncookie|b=2\n!cookie|c=3\nx|y",
			HEAD_TEXT "x|y\n[cookie|a=1; b=2; c=3]\n", H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ GET "cookie|a=1\nx|y\ncookie|b=2\ncookie|c=3\nz|\ncookie|",
			HEAD_TEXT "x|y\nz|\ncookie|a=1; b=2; c=3;\n", H2_HEAD_ENDED,
			HTTP_BODY_NONE },
		{ GET "!authorization|x\ny|z", HEAD_TEXT "[authorization|x]\ny|z\n",
			H2_HEAD_ENDED, HTTP_BODY_NONE },
		/* Bodies */
		{ POST "content-length|5", "POST http://ex.com/\nhost|ex.com\ncontent-length|5\n",
			0, HTTP_BODY_LENGTH },
		{ POST "content-length|5\ncontent-length|5",
			"POST http://ex.com/\nhost|ex.com\ncontent-length|5\n", 0,
			HTTP_BODY_LENGTH },
		{ POST "content-length|0", "POST http://ex.com/\nhost|ex.com\ncontent-length|0\n",
			H2_HEAD_ENDED, HTTP_BODY_LENGTH },
		{ POST "expect|100-continue\nte|trailers",
			"POST http://ex.com/\nhost|ex.com\nexpect|100-continue\nte|trailers\n", 0,
			HTTP_BODY_CHUNKED },
		/* The asterisk, CONNECT, extended CONNECT */
		{ ":method|OPTIONS\n:scheme|http\n:path|*\n:authority|ex.com",
			"OPTIONS http://ex.com\nhost|ex.com\n", H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ ":method|OPTIONS\n:scheme|http\n:path|*\nhost|a", "OPTIONS *\nhost|a\n",
			H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ ":authority|ex.com:443\n:method|CONNECT\na|b",
			"CONNECT ex.com:443\nhost|ex.com:443\na|b\n", 0, HTTP_BODY_TUNNEL },
		{ ":authority|ex.com:443\n:method|CONNECT",
			"CONNECT ex.com:443\nhost|ex.com:443\n", H2_HEAD_ENDED, HTTP_BODY_TUNNEL },
		{ ":protocol|w\n:method|CONNECT\n:scheme|https\n:path|/\n:authority|e\na|\n"
			"cookie|c",
			"GET https://e/\nhost|e\na|\nupgrade|w\nconnection|upgrade\ncookie|c\n",
			H2_HEAD_EXTENDED, HTTP_BODY_TUNNEL },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int rc = decode(rows[i].lines, HTTP_REQUEST, HTTP_OTHER, rows[i].flags);

		assert_reads(rows[i].lines, rc, rows[i].text, rows[i].framing);
		assert_int_equal(texts.extended, rows[i].flags == H2_HEAD_EXTENDED);
	}
	assert_int_equal(head.method, HTTP_GET);
}

static void
responses_are_accepted(void **st)
{
	static const struct {
		const char *lines, *text;
		enum http_method method;
		unsigned int flags;
		enum http_framing framing;
	} rows[] = {
		{ ":status|200\na|b", "200\na|b\n", HTTP_GET, 0, HTTP_BODY_CHUNKED },
		{ ":status|200\ncontent-length|7", "200\ncontent-length|7\n", HTTP_GET, 0,
			HTTP_BODY_LENGTH },
		{ ":status|200", "200\n", HTTP_GET, H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ ":status|200\ncontent-length|7", "200\ncontent-length|7\n", HTTP_HEAD,
			H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ ":status|304\ncontent-length|7", "304\ncontent-length|7\n", HTTP_GET,
			H2_HEAD_ENDED, HTTP_BODY_NONE },
		{ ":status|204", "204\n", HTTP_GET, 0, HTTP_BODY_NONE },
		{ ":status|103\nlink|x", "103\nlink|x\n", HTTP_GET, 0, HTTP_BODY_NONE },
		{ ":status|200", "200\n", HTTP_CONNECT, 0, HTTP_BODY_TUNNEL },
		{ ":status|200\ncontent-length|7", "200\n", HTTP_CONNECT, 0, HTTP_BODY_TUNNEL },
		{ ":status|200", "200\n", HTTP_CONNECT, H2_HEAD_ENDED, HTTP_BODY_TUNNEL },
		{ ":status|404", "404\n", HTTP_CONNECT, 0, HTTP_BODY_CHUNKED },
		{ ":status|204", "204\n", HTTP_CONNECT, 0, HTTP_BODY_TUNNEL },
		{ ":status|200", "101\nupgrade|websocket\nconnection|upgrade\n", HTTP_GET,
			H2_HEAD_EXTENDED, HTTP_BODY_TUNNEL },
		{ ":status|999", "999\n", HTTP_GET, H2_HEAD_ENDED, HTTP_BODY_NONE },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int rc = decode(rows[i].lines, HTTP_RESPONSE, rows[i].method, rows[i].flags);

		assert_reads(rows[i].lines, rc, rows[i].text, rows[i].framing);
	}
}

static void
trailers_are_accepted(void **st)
{
	const char *lines = "grpc-status|0\nset-cookie|a\nx|y";
	int rc;

	(void)st;
	rc = decode(lines, HTTP_TRAILERS, HTTP_OTHER, H2_HEAD_ENDED);
	assert_reads(lines, rc, "grpc-status|0\nx|y\n", HTTP_BODY_NONE);
}

static unsigned char met[H2_BADS];

#define MALFORMED(text, kind, flags, why) { text, kind, flags, H2_BAD_##why }
#define REQ(text, why) MALFORMED(text, HTTP_REQUEST, H2_HEAD_ENDED, why)
#define RES(text, why) MALFORMED(text, HTTP_RESPONSE, H2_HEAD_ENDED, why)
#define TRL(text, why) MALFORMED(text, HTTP_TRAILERS, H2_HEAD_ENDED, why)
static const struct {
	const char *lines;
	enum http_kind kind;
	unsigned int flags;
	enum h2_bad bad;
} malformed[] = {
	REQ(GET "X|y", FIELD_NAME), REQ(GET "aZ|y", FIELD_NAME),
	REQ(GET "a:b|y", FIELD_NAME), REQ(GET "a b|y", FIELD_NAME),
	REQ(GET "\x80|y", FIELD_NAME), REQ(GET "|y", FIELD_NAME),
	REQ(GET "x| y", FIELD_VALUE), REQ(GET "x|y\t", FIELD_VALUE),
	REQ(GET "x|y\rz", FIELD_VALUE), REQ(GET "x|\x01", FIELD_VALUE),
	REQ(GET "x|\x7f", FIELD_VALUE), REQ(GET "cookie|a\r", FIELD_VALUE),
	REQ(GET "connection|close", CONNECTION), REQ(GET "keep-alive|1", CONNECTION),
	REQ(GET "proxy-connection|x", CONNECTION),
	REQ(GET "transfer-encoding|chunked", CONNECTION),
	REQ(GET "upgrade|h2c", CONNECTION), RES(":status|200\nupgrade|x", CONNECTION),
	TRL("transfer-encoding|chunked", CONNECTION),
	REQ(GET "te|gzip", TE), REQ(GET "te|trailers, gzip", TE),
	REQ(":method|GET\n:scheme|http\n:path|/\na|b\n:authority|x", PSEUDO_LATE),
	TRL(":path|/", PSEUDO_LATE), TRL("a|b\n:status|200", PSEUDO_LATE),
	REQ(GET ":path|/", PSEUDO_TWICE), RES(":status|200\n:status|200", PSEUDO_TWICE),
	REQ(GET ":status|200", PSEUDO_UNKNOWN), REQ(GET ":x|y", PSEUDO_UNKNOWN),
	REQ(GET ":|y", PSEUDO_UNKNOWN), REQ(GET ":Path|y", PSEUDO_UNKNOWN),
	RES(":status|200\n:path|/", PSEUDO_UNKNOWN),
	REQ(":scheme|http\n:path|/\n:authority|x", METHOD),
	REQ(":method|\n:scheme|http\n:path|/\n:authority|x", METHOD),
	REQ(":method|G T\n:scheme|http\n:path|/\n:authority|x", METHOD),
	REQ(":method|GET\n:path|/\n:authority|x", SCHEME),
	REQ(":method|GET\n:scheme|ftp\n:path|/\n:authority|x", SCHEME),
	REQ(":method|GET\n:scheme|http \n:path|/\n:authority|x", SCHEME),
	REQ(":method|GET\n:scheme|http://a\n:path|/\n:authority|x", SCHEME),
	REQ(":method|GET\n:scheme|http\n:authority|x", PATH),
	REQ(":method|GET\n:scheme|http\n:path|\n:authority|x", PATH),
	REQ(":method|GET\n:scheme|http\n:path|abc\n:authority|x", PATH),
	REQ(":method|GET\n:scheme|http\n:path|*\n:authority|x", PATH),
	REQ(":method|GET\n:scheme|http\n:path|/a b\n:authority|x", PATH),
	REQ(":method|GET\n:scheme|http\n:path|/a#b\n:authority|x", PATH),
	REQ(":method|GET\n:scheme|http\n:path|/\x7f\n:authority|x", PATH),
	REQ(":method|GET\n:scheme|http\n:path|/\x80\n:authority|x", PATH),
	REQ(":method|GET\n:scheme|http\n:path|/\r\n:authority|x", PATH),
	REQ(":method|GET\n:scheme|http\n:path|/\n:authority|", AUTHORITY),
	REQ(":method|GET\n:scheme|http\n:path|/\n:authority|u@x", AUTHORITY),
	REQ(":method|GET\n:scheme|http\n:path|/\n:authority|x/y", AUTHORITY),
	REQ(":method|GET\n:scheme|http\n:path|/\n:authority|x?y", AUTHORITY),
	REQ(":method|GET\n:scheme|http\n:path|/\n:authority|x#y", AUTHORITY),
	REQ(":method|GET\n:scheme|http\n:path|/\n:authority|x\\y", AUTHORITY),
	REQ(":method|GET\n:scheme|http\n:path|/\n:authority|x,y", AUTHORITY),
	REQ(":method|GET\n:scheme|http\n:path|/\n:authority|x y", AUTHORITY),
	REQ(":method|GET\n:scheme|http\n:path|/\n:authority|x:99999", AUTHORITY),
	REQ(":method|GET\n:scheme|http\n:path|/", AUTHORITY),
	REQ(":method|GET\n:scheme|http\n:path|/\nhost|", HOST),
	REQ(":method|GET\n:scheme|http\n:path|/\nhost|a\nhost|b", HOST),
	REQ(":method|GET\n:scheme|http\n:path|/\nhost|a/b", HOST),
	REQ(POST "content-length|5", LENGTH), RES(":status|200\ncontent-length|5", LENGTH),
	REQ(POST "content-length|x", LENGTH), REQ(POST "content-length|", LENGTH),
	REQ(POST "content-length|+5", LENGTH), REQ(POST "content-length|5,5", LENGTH),
	MALFORMED(POST "content-length|5\ncontent-length|6", HTTP_REQUEST, 0, LENGTH),
	MALFORMED(":status|204\ncontent-length|5", HTTP_RESPONSE, 0, LENGTH),
	TRL("content-length|5", TRAILER), TRL("host|a", TRAILER),
	TRL("te|trailers", TRAILER),
	RES("a|b", STATUS), RES("", STATUS), RES(":status|20", STATUS),
	RES(":status|2000", STATUS), RES(":status|2x0", STATUS),
	RES(":status|099", STATUS), RES(":status|101", STATUS),
	MALFORMED(":status|101", HTTP_RESPONSE, H2_HEAD_EXTENDED, STATUS),
	RES(":status|100", INTERIM_END),
	REQ(":method|CONNECT\n:scheme|http\n:authority|x:1", CONNECT),
	REQ(":method|CONNECT\n:path|/\n:authority|x:1", CONNECT),
	REQ(":method|CONNECT\n:authority|x", CONNECT), REQ(":method|CONNECT", CONNECT),
	MALFORMED(":method|CONNECT\n:authority|x:1\ncontent-length|3", HTTP_REQUEST, 0,
		CONNECT),
	REQ(GET ":protocol|websocket", PSEUDO_UNKNOWN),
	MALFORMED(GET ":protocol|websocket", HTTP_REQUEST, H2_HEAD_EXTENDED, PROTOCOL),
#define EXTENDED(p) ":method|CONNECT\n:scheme|http\n:path|/\n:authority|x\n:protocol|" p
	MALFORMED(EXTENDED("h2c"), HTTP_REQUEST, H2_HEAD_EXTENDED, PROTOCOL),
	MALFORMED(EXTENDED("HTTP/1.1"), HTTP_REQUEST, H2_HEAD_EXTENDED, PROTOCOL),
	MALFORMED(EXTENDED("a b"), HTTP_REQUEST, H2_HEAD_EXTENDED, PROTOCOL),
	MALFORMED(EXTENDED(""), HTTP_REQUEST, H2_HEAD_EXTENDED, PROTOCOL),
};

/* Each malformed message, with the reason, and the table still right behind it. */
static void
malformed_heads_are_refused(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(malformed); i++) {
		int rc = decode(malformed[i].lines, malformed[i].kind, HTTP_GET,
			malformed[i].flags);

		if (rc != -ERR_INVAL || texts.bad != malformed[i].bad)
			fail_msg("%d %s, expected %s, for %s", rc,
				h2_bad_text((enum h2_bad)texts.bad) ?: "",
				h2_bad_text(malformed[i].bad), malformed[i].lines);
		met[malformed[i].bad] = 1;
	}
	for (unsigned int i = 1; i < H2_BADS; i++) {
		assert_non_null(h2_bad_section((enum h2_bad)i));
		if (!met[i])
			fail_msg("no row for: %s", h2_bad_text((enum h2_bad)i));
	}
}

/* A zero byte, and a line feed, which separates lines above. */
static void
control_bytes_are_refused(void **st)
{
	static const char *const bytes[] = { "\n", "\0" };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(bytes); i++) {
		size_t n = block_of(block, GET);

		n += block_field(block + n, STR("x"), (struct str){ bytes[i], 1 }, 0);
		assert_int_equal(decode_bytes(block, n, HTTP_REQUEST, HTTP_OTHER, H2_HEAD_ENDED,
					 sizeof(place)), -ERR_INVAL);
		assert_int_equal(texts.bad, H2_BAD_FIELD_VALUE);
	}
}

/* Every place that is too small gets an error, and nothing is written behind it. */
static void
places_bound_heads(void **st)
{
	const char *lines = GET "cookie|a=1\nx|y\ncookie|b=2\ncontent-length|0";
	size_t n = block_of(block, lines), cap;
	int rc = -ERR_RANGE;

	(void)st;
	for (cap = 0; rc == -ERR_RANGE; cap++) {
		memset(place, '#', sizeof(place));
		rc = decode_bytes(block, n, HTTP_REQUEST, HTTP_OTHER, H2_HEAD_ENDED, cap);
		assert_int_equal(place[cap], '#');
	}
	assert_int_equal(rc, 0);
	assert_int_equal(texts.used, cap - 1);
	assert_true(h1_size(&head) <= cap - 1);
	/* Too many fields; the block behind it is decoded with the right table. */
	for (unsigned int i = n = 0; i < FIELDS + 1; i++)
		n += block_of(block + n, "a|b");
	assert_int_equal(decode_bytes(block, n, HTTP_TRAILERS, HTTP_OTHER, H2_HEAD_ENDED,
				 sizeof(place)), -ERR_RANGE);
}

/* --- RFC 7541, appendix C --- */

static char decoded[1024];

static void
note_field(void *ctx, const struct h2_field *f)
{
	size_t n = strlen(decoded);

	(void)ctx;
	(void)snprintf(decoded + n, sizeof(decoded) - n, "%.*s|%.*s\n", (int)f->name.len, f->name.p,
		(int)f->value.len, f->value.p);
}

static void
assert_decodes(const char *hex, const char *expected)
{
	size_t n = 0;

	for (; hex[0]; hex += *hex == ' ' ? 1 : 2)
		if (*hex != ' ')
			block[n++] = (uint8_t)(str_hex_digit(hex[0]) << 4 | str_hex_digit(hex[1]));
	decoded[0] = '\0';
	assert_int_equal(h2_hpack_decode(&hp, block, n, note_field, NULL), 0);
	assert_string_equal(decoded, expected);
}

#define C3_1 ":method|GET\n:scheme|http\n:path|/\n:authority|www.example.com\n"
#define C3_2 C3_1 "cache-control|no-cache\n"
#define C3_3 ":method|GET\n:scheme|https\n:path|/index.html\n:authority|www.example.com\n" \
	"custom-key|custom-value\n"

static void
examples_c3_are_decoded(void **st)
{
	(void)st;
	assert_decodes("828684410f7777772e6578616d706c652e636f6d", C3_1);
	assert_decodes("828684be58086e6f2d6361636865", C3_2);
	assert_decodes("828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565", C3_3);
}

static void
examples_c4_are_decoded(void **st)
{
	(void)st;
	assert_decodes("828684418cf1e3c2e5f23a6ba0ab90f4ff", C3_1);
	assert_decodes("828684be5886a8eb10649cbf", C3_2);
	assert_decodes("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", C3_3);
}

#define C6_REST(time) "cache-control|private\ndate|Mon, 21 Oct 2013 20:13:" time " GMT\n" \
	"location|https://www.example.com\n"

/* With a table of 256 bytes: entries are evicted. A smaller table is confirmed first (4.2). */
static void
examples_c6_are_decoded(void **st)
{
	(void)st;
	assert_int_equal(h2_hpack_set_in(&hp, 256), 0);
	assert_decodes("3fe101 488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a6"
		       "2d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
		":status|302\n" C6_REST("21"));
	assert_decodes("4883640effc1c0bf", ":status|307\n" C6_REST("21"));
	assert_decodes("88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7"
		       "821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed"
		       "4ee5b1063d5007",
		":status|200\ncache-control|private\ndate|Mon, 21 Oct 2013 20:13:22 GMT\n"
		"location|https://www.example.com\ncontent-encoding|gzip\n"
		"set-cookie|foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1\n");
}

/* Each is a connection error (RFC 9113, 4.3): an index that is not there, 0, a block that ends in a
 * field, a size update behind a field or above the table, Huffman with EOS or wrong padding, an
 * integer that is too large. */
static void
broken_blocks_are_errors(void **st)
{
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = {
#define BYTES(s) { s, sizeof(s) - 1 }
		BYTES("\xbe"), BYTES("\x80"), BYTES("\x82\x41"), BYTES("\x82\x41\x0fwww"),
		BYTES("\x82\x3f\xe1\x01"), BYTES("\x3f\xe2\x1f"), BYTES("\x41\x84\xff\xff\xff\xff"),
		BYTES("\x41\x81\x00"), BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x0f"),
	};

	(void)st;
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		const uint8_t *bytes = (const uint8_t *)rows[i / 2].bytes;
		int rc;

		init_table(&hp);
		/* As the first block, or behind one. */
		if (i % 2)
			assert_int_equal(h2_head_skip(&hp, (const uint8_t *)"\x82", 1), 0);
		rc = h2_head_skip(&hp, bytes, rows[i / 2].len);
		if (rc != -ERR_SYNTAX)
			fail_msg("row %zu: %d", i / 2, rc);
		h2_hpack_fini(&hp);
	}
}

/* A smaller table has to be confirmed by the next block, whatever that begins with (4.2). */
static void
a_due_update_is_awaited(void **st)
{
	(void)st;
	for (int confirms = 0; confirms < 2; confirms++) {
		init_table(&hp);
		assert_decodes("82", ":method|GET\n");
		assert_int_equal(h2_hpack_set_in(&hp, 100), 0);
		if (confirms) {
			assert_decodes("3f4582", ":method|GET\n");
			assert_decodes("83", ":method|POST\n");
		} else {
			assert_int_equal(h2_head_skip(&hp, (const uint8_t *)"\x82", 1),
				-ERR_SYNTAX);
		}
		h2_hpack_fini(&hp);
	}
}

/* --- encoding --- */

/* Encodes the head of these lines, also behind another block, and behind a change of the table's
 * size; decodes the blocks, which are the same, and returns the fields as lines. */
static const char *
encoded(unsigned int flags)
{
	static char first[sizeof(decoded)];
	struct h2_hpack other;

	init_table(&hp);
	init_table(&other);
	for (int i = 0; i < 3; i++) {
		long n;

		if (i == 2)
			assert_int_equal(h2_hpack_set_out(&hp, 0), 0);
		n = h2_head_encode(&hp, &head, flags, block, sizeof(block));
		decoded[0] = '\0';
		assert_true(n > 0);
		assert_int_equal(block[0] == 0x20, i == 2);
		assert_int_equal(h2_hpack_decode(&other, block, (size_t)n, note_field, NULL), 0);
		if (i)
			assert_string_equal(decoded, first);
		memcpy(first, decoded, sizeof(first));
	}
	h2_hpack_fini(&other);
	h2_hpack_fini(&hp);
	return decoded;
}

static void
request_of(const char *method, const char *target)
{
	http_head_init(&head, HTTP_REQUEST, field, FIELDS);
	head.method_text = str_of(method);
	head.method = http_method_of(head.method_text);
	head.target = str_of(target);
}

static void
add(const char *name, const char *value)
{
	assert_int_equal(http_add(&head, str_of(name), str_of(value)), 0);
}

static void
requests_are_encoded(void **st)
{
	(void)st;
	request_of("GET", "/p?q");
	add("Host", "ex.com");
	add("X-Y", "Z");
	add("Connection", "close");
	add("Keep-Alive", "1");
	add("Proxy-Connection", "1");
	add("Transfer-Encoding", "chunked");
	add("Upgrade", "x");
	add("HTTP2-Settings", "x");
	add("TE", "trailers");
	assert_string_equal(encoded(H2_HEAD_TLS),
		":method|GET\n:scheme|https\n:authority|ex.com\n:path|/p?q\nx-y|Z\nte|trailers\n");
	assert_string_equal(encoded(H2_HEAD_EXTENDED),
		":method|CONNECT\n:protocol|x\n:scheme|http\n:authority|ex.com\n:path|/p?q\n"
		"x-y|Z\nte|trailers\n");
	request_of("OPTIONS", "*");
	add("Host", "ex.com");
	add("TE", "gzip");
	assert_string_equal(encoded(0),
		":method|OPTIONS\n:scheme|http\n:authority|ex.com\n:path|*\n");
	request_of("OPTIONS", "https://ex.com");
	add("Host", "ex.com");
	assert_string_equal(encoded(0),
		":method|OPTIONS\n:scheme|https\n:authority|ex.com\n:path|*\n");
	request_of("GET", "http://ex.com");
	assert_string_equal(encoded(0),
		":method|GET\n:scheme|http\n:authority|ex.com\n:path|/\n");
	request_of("CONNECT", "ex.com:443");
	add("Host", "ex.com:443");
	assert_string_equal(encoded(0), ":method|CONNECT\n:authority|ex.com:443\n");
}

static void
responses_are_encoded(void **st)
{
	(void)st;
	http_head_init(&head, HTTP_RESPONSE, field, FIELDS);
	head.status = 200;
	add("Server", "S");
	add("Trailer", "T");
	add("TE", "trailers");
	assert_string_equal(encoded(0), ":status|200\nserver|S\ntrailer|T\n");
	head.status = 101;
	assert_string_equal(encoded(H2_HEAD_EXTENDED),
		":status|200\nserver|S\ntrailer|T\n");
	assert_int_equal(h2_head_encode(&hp, &head, 0, block, sizeof(block)), -ERR_INVAL);
	http_head_init(&head, HTTP_TRAILERS, field, FIELDS);
	add("Grpc-Status", "0");
	assert_string_equal(encoded(0), "grpc-status|0\n");
}

/* Heads that cannot be sent leave the table as it was. */
static void
unsendable_heads_are_refused(void **st)
{
	static char name[H2_NAME_MAX + 2];
	struct http_field bad = { .name = STR("x"), .value = STR("a\r\nb") };

	(void)st;
	request_of("GET", "/");
	assert_int_equal(h2_head_encode(&hp, &head, H2_HEAD_EXTENDED, block, sizeof(block)),
		-ERR_INVAL);
	request_of("GET", "http://ex.com?q");
	assert_int_equal(h2_head_encode(&hp, &head, 0, block, sizeof(block)), -ERR_INVAL);
	request_of("GET", "http://ex.com/");
	assert_int_equal(h2_head_encode(&hp, &head, H2_HEAD_EXTENDED, block, sizeof(block)),
		-ERR_INVAL);
	assert_int_equal(h2_head_encode(&hp, &head, 0, block, 64), -ERR_RANGE);
	field[head.n++] = bad;
	assert_int_equal(h2_head_encode(&hp, &head, 0, block, sizeof(block)), -ERR_INVAL);
	field[head.n - 1].value = STR("a");
	field[head.n - 1].name = STR("x y");
	assert_int_equal(h2_head_encode(&hp, &head, 0, block, sizeof(block)), -ERR_INVAL);
	memset(name, 'N', sizeof(name) - 1);
	field[head.n - 1].name = str_of(name);
	assert_int_equal(h2_head_encode(&hp, &head, 0, block, sizeof(block)), -ERR_RANGE);
	field[head.n - 1].name.len--;
	assert_null(hp.out);
	assert_true(strstr(encoded(0), "nnnn"));
}

/* Credentials are literals that are never indexed, each time; what is known becomes an index. */
static void
secrets_are_never_indexed(void **st)
{
	long first, again;

	(void)st;
	http_head_init(&head, HTTP_TRAILERS, field, FIELDS);
	add("x-long-field", "a long value that is known");
	first = h2_head_encode(&hp, &head, 0, block, sizeof(block));
	again = h2_head_encode(&hp, &head, 0, block, sizeof(block));
	assert_true(first > 20);
	assert_int_equal(again, 1);
	for (unsigned int i = 0; i < 4; i++) {
		static const char *const names[] = { "authorization", "proxy-authorization",
			"set-cookie", "cookie" };

		http_head_init(&head, HTTP_TRAILERS, field, FIELDS);
		add(names[i], "secret");
		for (int times = 0; times < 2; times++) {
			assert_true(h2_head_encode(&hp, &head, 0, block, sizeof(block)) > 1);
			assert_int_equal(block[0] & 0xf0, 0x10);
		}
	}
	http_head_init(&head, HTTP_TRAILERS, field, FIELDS);
	add("x-key", "as it arrived");
	field[0].never_indexed = 1;
	assert_true(h2_head_encode(&hp, &head, 0, block, sizeof(block)) > 1);
	assert_int_equal(block[0], 0x10);
}

/* A table that the peer makes smaller is confirmed in the next block, and a larger one not used. */
static void
table_sizes_are_obeyed(void **st)
{
	(void)st;
	http_head_init(&head, HTTP_TRAILERS, field, FIELDS);
	add("x", "y");
	assert_int_equal(h2_hpack_set_out(&hp, 100), 0);
	assert_true(h2_head_encode(&hp, &head, 0, block, sizeof(block)) > 2);
	assert_memory_equal(block, "\x20\x3f\x45", 3);
	assert_int_equal(h2_hpack_set_out(&hp, 1 << 20), 0);
	assert_int_equal(hp.out_size, H2_TABLE_OUT_MAX);
	assert_true(h2_head_encode(&hp, &head, 0, block, sizeof(block)) > 2);
	assert_memory_equal(block, "\x3f\xe1\x1f", 3);
	/* Before the first block, and larger again: a peer waits for the smallest size. */
	h2_hpack_fini(&hp);
	init_table(&hp);
	assert_int_equal(h2_hpack_set_out(&hp, 0), 0);
	assert_int_equal(h2_hpack_set_out(&hp, 4096), 0);
	assert_true(h2_head_encode(&hp, &head, 0, block, sizeof(block)) > 2);
	assert_memory_equal(block, "\x20\x3f\xe1\x1f", 4);
	assert_true(h2_head_encode(&hp, &head, 0, block, sizeof(block)) > 0);
	assert_memory_not_equal(block, "\x20", 1);
}

/* The peer's table is emptied with the encoder's: indexes that it still has would be others. */
static void
dropped_encoders_empty_tables(void **st)
{
	struct h2_hpack peer;
	long n;

	(void)st;
	init_table(&peer);
	http_head_init(&head, HTTP_TRAILERS, field, FIELDS);
	add("x-a", "1");
	for (int times = 0; times < 3; times++) {
		n = h2_head_encode(&hp, &head, 0, block, sizeof(block));
		decoded[0] = '\0';
		assert_int_equal(h2_hpack_decode(&peer, block, (size_t)n, note_field, NULL), 0);
		assert_string_equal(decoded, times ? "x-b|2\nx-a|1\n" : "x-a|1\n");
		h2_hpack_park(&hp);
		assert_null(hp.out);
		http_head_init(&head, HTTP_TRAILERS, field, FIELDS);
		add("x-b", "2");
		add("x-a", "1");
	}
	assert_memory_equal(block, "\x20\x3f\xe1\x1f", 4);
	n = h2_head_encode(&hp, &head, 0, block, sizeof(block));
	assert_int_equal(h2_hpack_decode(&peer, block, (size_t)n, note_field, NULL), 0);
	/* A smaller table of the peer's is confirmed, too. */
	h2_hpack_park(&hp);
	assert_int_equal(h2_hpack_set_out(&hp, 64), 0);
	assert_int_equal(h2_hpack_set_in(&peer, 64), 0);
	n = h2_head_encode(&hp, &head, 0, block, sizeof(block));
	assert_int_equal(h2_hpack_decode(&peer, block, (size_t)n, note_field, NULL), 0);
	h2_hpack_fini(&peer);
}

/* A decoder that is parked before each block has the same table as one that never is. */
static void
parked_decoders_keep_tables(void **st)
{
	static const char *const names[] = { "x-a", "x-b", "x-c" };
	struct h2_hpack plain, parked;
	char expected[sizeof(decoded)], value[200];

	(void)st;
	init_table(&plain);
	init_table(&parked);
	for (int i = 0; i < 200; i++) {
		long n;

		http_head_init(&head, HTTP_TRAILERS, field, FIELDS);
		(void)snprintf(value, sizeof(value), "%0*d", 1 + i * 7 % 150, i / 2);
		for (int k = 0; k < 3; k++)
			add(names[k], k ? value : "same");
		n = h2_head_encode(&hp, &head, 0, block, sizeof(block));
		assert_true(n > 0);
		decoded[0] = '\0';
		assert_int_equal(h2_hpack_decode(&plain, block, (size_t)n, note_field, NULL), 0);
		memcpy(expected, decoded, sizeof(expected));
		h2_hpack_park(&parked);
		assert_null(parked.in);
		if (i == 100)
			assert_int_equal(h2_hpack_set_in(&parked, 4096), 0);
		decoded[0] = '\0';
		assert_int_equal(h2_hpack_decode(&parked, block, (size_t)n, note_field, NULL), 0);
		assert_string_equal(decoded, expected);
		assert_int_equal(h2_hpack_set_out(&hp, i % 50 < 25 ? 4096 : 300), 0);
	}
	h2_hpack_fini(&parked);
	h2_hpack_fini(&plain);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(requests_are_accepted),
		CASE(responses_are_accepted),
		CASE(trailers_are_accepted),
		CASE(malformed_heads_are_refused),
		CASE(control_bytes_are_refused),
		CASE(places_bound_heads),
		CASE(examples_c3_are_decoded),
		CASE(examples_c4_are_decoded),
		CASE(examples_c6_are_decoded),
		CASE(broken_blocks_are_errors),
		CASE(a_due_update_is_awaited),
		CASE(requests_are_encoded),
		CASE(responses_are_encoded),
		CASE(unsendable_heads_are_refused),
		CASE(secrets_are_never_indexed),
		CASE(table_sizes_are_obeyed),
		CASE(dropped_encoders_empty_tables),
		CASE(parked_decoders_keep_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
