/* PROXY protocol headers, each split at every position and followed by other bytes. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/hash.h"
#include "base/str.h"
#include "net/proxy_header.h"
#include "unit/test.h"

#define BEHIND "GET / HTTP/1.1\r\n\r\n"
#define SIG "\r\n\r\n\0\r\nQUIT\n"
#define INET "\1\2\3\4\5\6\7\10\4\127\10\256"
#define INET_TEXT "1.2.3.4:1111 5.6.7.8:2222"
#define SIXTEEN "abcdefghijklmnop"
#define UNIX_TEN "0123456789"
#define UNIX_108 UNIX_TEN UNIX_TEN UNIX_TEN UNIX_TEN UNIX_TEN UNIX_TEN UNIX_TEN UNIX_TEN \
	UNIX_TEN UNIX_TEN "12345678"

struct said {
	struct str bytes;
	const char *want; /* "source destination", "keep", or the error */
};

/* The memory has exactly that size, so that a read beyond it is detected. */
static enum proxy_header_found
parse_copy(const char *p, size_t n, size_t max, struct proxy_header *out)
{
	char *copy = malloc(n ? n : 1);
	enum proxy_header_found found;

	assert_non_null(copy);
	memcpy(copy, p, n);
	found = proxy_header_parse(copy, n, max, out);
	free(copy);
	return found;
}

static const char *
text_of(enum proxy_header_found found, const struct proxy_header *h)
{
	static char out[300];
	char a[ADDR_TEXT], b[ADDR_TEXT];

	if (found == PROXY_HEADER_MORE)
		return "more";
	if (found == PROXY_HEADER_BAD)
		return h->err == CONN_ERR_OTHER ? "other"
			: h->err == CONN_ERR_INVALID ? "invalid"
			: h->err == CONN_ERR_UNHANDLED ? "unhandled" : "?";
	if (!h->announces)
		return "keep";
	(void)snprintf(out, sizeof(out), "%s %s", addr_text(&h->src, a), addr_text(&h->dst, b));
	return out;
}

/* Each prefix of a header needs more bytes or is rejected as the whole is; bytes that follow change
 * nothing. */
static void
check_one(const struct said *s)
{
	static char longer[PROXY_HEADER_MAX * 2];
	struct proxy_header h;
	enum proxy_header_found found;
	int over = 0;

	for (size_t n = 0; n <= s->bytes.len; n++) {
		found = parse_copy(s->bytes.p, n, PROXY_HEADER_MAX, &h);
		if (found == PROXY_HEADER_MORE && (over || n == s->bytes.len))
			fail_msg("%zu bytes of '%.*s': more", n, (int)s->bytes.len, s->bytes.p);
		if (found == PROXY_HEADER_MORE)
			continue;
		over = 1;
		if (strcmp(text_of(found, &h), s->want) != 0)
			fail_msg("%zu bytes of '%.*s': %s, not %s", n, (int)s->bytes.len,
				s->bytes.p, text_of(found, &h), s->want);
		if (found == PROXY_HEADER_WHOLE)
			assert_int_equal(n, s->bytes.len);
	}
	memcpy(longer, s->bytes.p, s->bytes.len);
	memcpy(longer + s->bytes.len, BEHIND, sizeof(BEHIND) - 1);
	found = parse_copy(longer, s->bytes.len + sizeof(BEHIND) - 1, PROXY_HEADER_MAX, &h);
	assert_string_equal(text_of(found, &h), s->want);
	if (found == PROXY_HEADER_WHOLE)
		assert_int_equal(h.len, s->bytes.len);
}

static void
check(const struct said *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_one(&t[i]);
}

#define FF "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
#define X10 "xxxxxxxxxx"
#define X92 X10 X10 X10 X10 X10 X10 X10 X10 X10 "xx"

static void
headers_of_version_1_are_read(void **st)
{
	static const struct said t[] = {
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n"), INET_TEXT },
		{ STR("PROXY TCP4 255.255.255.255 0.0.0.0 65535 0\r\n"),
			"255.255.255.255:65535 0.0.0.0:0" },
		{ STR("PROXY TCP6 2001:db8::1 :: 1 2\r\n"), "[2001:db8::1]:1 [::]:2" },
		{ STR("PROXY TCP6 2001:DB8:0:0:0:0:0:1 ::1 1 2\r\n"), "[2001:db8::1]:1 [::1]:2" },
		{ STR("PROXY TCP6 ::ffff:1.2.3.4 ::1 1 2\r\n"), "[::ffff:1.2.3.4]:1 [::1]:2" },
		{ STR("PROXY TCP6 " FF " " FF " 65535 65535\r\n"),
			"[" FF "]:65535 [" FF "]:65535" },
		{ STR("PROXY UNKNOWN\r\n"), "keep" },
		/* HAProxy 2.6 rejects what the specification says to ignore. */
		{ STR("PROXY UNKNOWN \r\n"), "keep" },
		{ STR("PROXY UNKNOWN " FF " " FF " 65535 65535\r\n"), "keep" },
		{ STR("PROXY UNKNOWN \0 anything\r\n"), "keep" },
		/* 107 bytes, and 108 */
		{ STR("PROXY UNKNOWN" X92 "\r\n"), "invalid" },
		{ STR("PROXY UNKNOWN " X92 "\r\n"), "invalid" },
	};

	(void)st;
	check(t, ARRAY_LEN(t) - 2);
	check_one(&(struct said){ STR("PROXY UNKNOWN " X10 X10 X10 X10 X10 X10 X10 X10 X10 "x\r\n"),
		"keep" });
	check_one(&t[ARRAY_LEN(t) - 1]);
}

static void
lines_that_are_refused(void **st)
{
	static const struct said t[] = {
		{ STR("GET / HTTP/1.1\r\n"), "other" },
		{ STR("X"), "other" },
		{ STR("PROXYTCP4"), "other" },
		{ STR("proxy TCP4"), "other" },
		{ STR(" PROXY"), "other" },
		{ STR("\n"), "other" },
		{ STR("PROXY \r\n"), "unhandled" },
		{ STR("PROXY  TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n"), "unhandled" },
		{ STR("PROXY TCP5 1.2.3.4 5.6.7.8 1111 2222\r\n"), "unhandled" },
		{ STR("PROXY tcp4 1.2.3.4 5.6.7.8 1111 2222\r\n"), "unhandled" },
		{ STR("PROXY UNKNOWNX\r\n"), "unhandled" },
		{ STR("PROXY UDP4 1.2.3.4 5.6.7.8 1111 2222\r\n"), "unhandled" },
		{ STR("PROXY TCP4\r\n"), "invalid" },
		{ STR("PROXY TCP4 \r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 1111\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 1111 \r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8  2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222 \r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222 3333\r\n"), "invalid" },
		{ STR("PROXY TCP4  1.2.3.4 5.6.7.8 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4  5.6.7.8 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4\t1.2.3.4 5.6.7.8 1111 2222\r\n"), "unhandled" },
		/* addresses */
		{ STR("PROXY TCP4 1.2.3 5.6.7.8 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4.5 5.6.7.8 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.256 5.6.7.8 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.04 5.6.7.8 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.08 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 0x1.2.3.4 5.6.7.8 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4\0 5.6.7.8 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 ::1 ::2 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP6 1.2.3.4 5.6.7.8 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP6 ::1 5.6.7.8 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP6 1::2::3 ::1 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP6 fe80::1%eth0 ::1 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP6 [::1] ::1 1111 2222\r\n"), "invalid" },
		{ STR("PROXY TCP6 00001::1 ::1 1111 2222\r\n"), "invalid" },
		/* ports */
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 65536 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 1111 65536\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 01 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 1111 00\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 -1 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 +1 2222\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2a\r\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 123456 2222\r\n"), "invalid" },
		/* the end of the line */
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\n"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\rx"), "invalid" },
		{ STR("PROXY TCP4 1.2.3.4 5.6.7.8 1111\r2222\r\n"), "invalid" },
		{ STR("PROXY UNKNOWN\n"), "invalid" },
	};

	(void)st;
	check(t, ARRAY_LEN(t));
}

static void
headers_of_version_2_are_read(void **st)
{
	static const struct said t[] = {
		{ STR(SIG "\x21\x11\0\14" INET), INET_TEXT },
		{ STR(SIG "\x21\x21\0\44" SIXTEEN "ABCDEFGHIJKLMNOP\0\1\377\377"),
			"[6162:6364:6566:6768:696a:6b6c:6d6e:6f70]:1 "
			"[4142:4344:4546:4748:494a:4b4c:4d4e:4f50]:65535" },
		/* LOCAL: the rest is ignored, including the family */
		{ STR(SIG "\x20\0\0\0"), "keep" },
		{ STR(SIG "\x20\x11\0\14" INET), "keep" },
		{ STR(SIG "\x20\x99\0\1?"), "keep" },
		/* HAProxy 2.6 rejects these; by the specification they are accepted without
		 * addresses */
		{ STR(SIG "\x21\0\0\0"), "keep" },
		{ STR(SIG "\x21\0\0\2??"), "keep" },
		{ STR(SIG "\x21\1\0\0"), "keep" },
		{ STR(SIG "\x21\x10\0\14" INET), "keep" },
		{ STR(SIG "\x21\x12\0\14" INET), "keep" },
		{ STR(SIG "\x21\x22\0\44" SIXTEEN SIXTEEN "\0\1\0\2"), "keep" },
		{ STR(SIG "\x21\x31\0\330" UNIX_108 UNIX_108), "keep" },
		{ STR(SIG "\x21\x32\0\330" UNIX_108 UNIX_108), "keep" },
		/* TLVs after the addresses */
		{ STR(SIG "\x21\x11\0\17" INET "\4\0\0"), INET_TEXT },
		{ STR(SIG "\x21\x11\0\31" INET "\4\0\1?\352\0\0\1\0\3h2-"), INET_TEXT },
		{ STR(SIG "\x21\x31\0\333" UNIX_108 UNIX_108 "\4\0\0"), "keep" },
	};

	(void)st;
	check(t, ARRAY_LEN(t));
}

static void
blocks_that_are_refused(void **st)
{
	static const struct said t[] = {
		{ STR("\r\r"), "other" },
		{ STR("\r\n\r\n\0\r\nQUIT\r"), "other" },
		{ STR(SIG "\x11"), "other" },
		{ STR(SIG "\x31"), "other" },
		{ STR(SIG "\x22"), "invalid" },
		{ STR(SIG "\x2f"), "invalid" },
		{ STR(SIG "\x21\x41"), "invalid" },
		{ STR(SIG "\x21\xf1"), "invalid" },
		{ STR(SIG "\x21\x13"), "invalid" },
		{ STR(SIG "\x21\x03"), "invalid" },
		{ STR(SIG "\x21\x11\0\13"), "invalid" },
		{ STR(SIG "\x21\x11\0\0"), "invalid" },
		{ STR(SIG "\x21\x12\0\13"), "invalid" },
		{ STR(SIG "\x21\x21\0\43"), "invalid" },
		{ STR(SIG "\x21\x31\0\327"), "invalid" },
		/* 8192 - 16, and one more */
		{ STR(SIG "\x21\x11\x1f\xf1"), "invalid" },
		{ STR(SIG "\x20\0\xff\xff"), "invalid" },
		/* TLVs that do not end where the header does */
		{ STR(SIG "\x21\x11\0\15" INET "\4"), "invalid" },
		{ STR(SIG "\x21\x11\0\16" INET "\4\0"), "invalid" },
		{ STR(SIG "\x21\x11\0\17" INET "\4\0\1"), "invalid" },
		{ STR(SIG "\x21\x11\0\20" INET "\4\0\2?"), "invalid" },
		{ STR(SIG "\x21\x31\0\331" UNIX_108 UNIX_108 "?"), "invalid" },
		/* a checksum of three bytes, and of five */
		{ STR(SIG "\x21\x11\0\22" INET "\3\0\3???"), "invalid" },
		{ STR(SIG "\x21\x11\0\24" INET "\3\0\5?????"), "invalid" },
	};

	(void)st;
	check(t, ARRAY_LEN(t));
}

/* Writes SIG, an address block and the TLVs to out. */
static size_t
build(unsigned char *out, const void *tlvs, size_t n)
{
	memcpy(out, SIG "\x21\x11\0\0" INET, 28);
	memcpy(out + 28, tlvs, n);
	out[14] = (unsigned char)((12 + n) >> 8);
	out[15] = (unsigned char)(12 + n);
	return 28 + n;
}

static void
put_sum(unsigned char *header, size_t len, size_t at)
{
	uint32_t h;

	memset(header + at, 0, 4);
	h = hash_crc32c(0, header, len);
	for (int i = 0; i < 4; i++)
		header[at + (size_t)i] = (unsigned char)(h >> (24 - 8 * i));
}

/* Wherever the checksum is, and whichever bit is wrong. */
static void
checksums_are_verified(void **st)
{
	static const char tlvs[] = "\3\0\4zzzz\4\0\2..\3\0\4yyyy";
	unsigned char h[64];
	struct said s = { { (const char *)h, 0 }, INET_TEXT };

	(void)st;
	s.bytes.len = build(h, tlvs, 12);
	put_sum(h, s.bytes.len, 31);
	check_one(&s);
	for (size_t bit = 8 * 16; bit < 8 * s.bytes.len; bit++) {
		struct proxy_header out;

		h[bit / 8] ^= (unsigned char)(1u << bit % 8);
		/* The type of the TLV may become an unknown one. */
		if (bit / 8 != 28)
			assert_int_equal(PROXY_HEADER_BAD,
				parse_copy((const char *)h, s.bytes.len, PROXY_HEADER_MAX, &out));
		h[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	s.bytes.len = build(h, tlvs + 7, 12);
	put_sum(h, s.bytes.len, 36);
	check_one(&s);
	/* two checksums: the second one is verified too */
	s.bytes.len = build(h, tlvs, 19);
	put_sum(h, s.bytes.len, 31);
	s.want = "invalid";
	check_one(&s);
}

/* A checksum TLV has four bytes; the same bytes in a TLV of another length are not a checksum. */
static void
checksums_have_four_bytes(void **st)
{
	static const char five[] = "\3\0\5zzzz?";
	char three[] = "\3\0\3zzzT\0\2..";
	unsigned char h[64];
	struct said s = { { (const char *)h, 0 }, "invalid" };
	unsigned int tried = 0;

	(void)st;
	s.bytes.len = build(h, five, sizeof(five) - 1);
	put_sum(h, s.bytes.len, 31);
	check_one(&s);
	/* The fourth byte is the type of the next TLV: an unknown one. */
	do {
		assert_true(tried < 256);
		three[9] = (char)tried++;
		s.bytes.len = build(h, three, sizeof(three) - 1);
		put_sum(h, s.bytes.len, 31);
	} while (h[34] == 3 || h[34] == 5);
	check_one(&s);
}

static void
identifiers_have_a_length(void **st)
{
	unsigned char h[200], tlv[3 + 129] = { 5, 0, 128 };
	struct said s = { { (const char *)h, 0 }, INET_TEXT };

	(void)st;
	s.bytes.len = build(h, tlv, 3 + 128);
	check_one(&s);
	tlv[2] = 129;
	s.bytes.len = build(h, tlv, 3 + 129);
	s.want = "invalid";
	check_one(&s);
}

/* The longest header, and a reader with less space. */
static void
room_is_bounded(void **st)
{
	static unsigned char h[PROXY_HEADER_MAX], tlv[PROXY_HEADER_MAX - 28] = { 4 };
	struct proxy_header out;

	(void)st;
	tlv[1] = (unsigned char)((sizeof(tlv) - 3) >> 8);
	tlv[2] = (unsigned char)(sizeof(tlv) - 3);
	assert_int_equal(build(h, tlv, sizeof(tlv)), PROXY_HEADER_MAX);
	check_one(&(struct said){ { (const char *)h, sizeof(h) }, INET_TEXT });
	assert_int_equal(
		parse_copy((const char *)h, 16, PROXY_HEADER_MAX - 1, &out), PROXY_HEADER_BAD);
	assert_int_equal(
		parse_copy((const char *)h, 16, PROXY_HEADER_MAX, &out), PROXY_HEADER_MORE);
	assert_int_equal(
		parse_copy((const char *)h, 16, PROXY_HEADER_MAX + 1, &out), PROXY_HEADER_MORE);
}

static void
errors_have_numbers(void **st)
{
	(void)st;
	assert_int_equal(conn_err_number(CONN_ERR_NONE), 0);
	assert_int_equal(conn_err_number(CONN_ERR_UNHANDLED), 17);
	assert_string_equal(conn_err_text(CONN_ERR_CUT),
		"Truncated PROXY protocol header received");
}

/* --- written --- */

struct written {
	const char *src, *dst; /* addresses; NULL: unknown */
	int version, has_crc32c;
	const char *unique_id; /* NULL: none */
	struct str want;
};

/* As Debian's haproxy 2.6.12 writes them. */
static const struct written headers[] = {
	{ "127.0.0.1", "127.0.0.2", 1, 0, NULL, STR("PROXY TCP4 127.0.0.1 127.0.0.2 258 772\r\n") },
	{ "::1", "2001:db8::1", 1, 0, NULL, STR("PROXY TCP6 ::1 2001:db8::1 258 772\r\n") },
	{ "1.2.3.4", "::1", 1, 0, NULL, STR("PROXY TCP6 ::ffff:1.2.3.4 ::1 258 772\r\n") },
	{ "::1", "1.2.3.4", 1, 0, NULL, STR("PROXY TCP6 ::1 ::ffff:1.2.3.4 258 772\r\n") },
	{ NULL, "1.2.3.4", 1, 1, "I", STR("PROXY UNKNOWN\r\n") },
	{ "1.2.3.4", NULL, 1, 0, NULL, STR("PROXY UNKNOWN\r\n") },
	{ "127.0.0.1", "127.0.0.2", 2, 0, NULL,
		STR(SIG "\x21\x11\0\14\x7f\0\0\1\x7f\0\0\2\1\2\3\4") },
	{ "::1", "::2", 2, 0, NULL,
		STR(SIG "\x21\x21\0\44\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"
			"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\1\2\3\4") },
	{ "1.2.3.4", "::2", 2, 0, NULL,
		STR(SIG "\x21\x21\0\44\0\0\0\0\0\0\0\0\0\0\xff\xff\1\2\3\4"
			"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\1\2\3\4") },
	{ NULL, NULL, 2, 0, NULL, STR(SIG "\x20\0\0\0") },
	{ NULL, NULL, 2, 1, NULL, STR(SIG "\x20\0\0\7\3\0\4\xa9\xb8\x7e\x8f") },
	{ NULL, NULL, 2, 1, "I", STR(SIG "\x20\0\0\13\3\0\4\x71\x29\x90\x14\5\0\1I") },
	{ NULL, NULL, 2, 0, "", STR(SIG "\x20\0\0\3\5\0\0") },
};

static const struct addr *
addr_of_text(const char *text, unsigned int port, struct addr *a)
{
	if (!text)
		return NULL;
	assert_int_equal(addr_parse_ip(text, a), 0);
	addr_set_port(a, port);
	return a;
}

static void
headers_are_written_as_by_haproxy(void **state)
{
	char out[PROXY_HEADER_OUT_MAX];
	struct addr src, dst;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
		const struct written *h = &headers[i];
		struct proxy_header_fields f = { .version = h->version,
			.src = addr_of_text(h->src, 258, &src),
			.dst = addr_of_text(h->dst, 772, &dst),
			.has_crc32c = h->has_crc32c, .has_unique_id = h->unique_id != NULL };
		size_t n;

		if (h->unique_id)
			f.unique_id = str_of(h->unique_id);
		n = proxy_header_write(&f, out);
		assert_int_equal(n, h->want.len);
		assert_memory_equal(out, h->want.p, n);
	}
}

/* The longest of both versions have room, and the reader accepts them. */
static void
the_longest_headers_have_room(void **state)
{
	static const char id[300];
	char out[PROXY_HEADER_OUT_MAX];
	struct addr a;
	struct proxy_header_fields f = { .version = 1, .has_crc32c = 1, .has_unique_id = 1,
		.unique_id = { id, sizeof(id) } };
	struct proxy_header h;

	(void)state;
	f.src = f.dst = addr_of_text("1111:2222:3333:4444:5555:6666:7777:8888", 65535, &a);
	for (; f.version <= 2; f.version++) {
		size_t n = proxy_header_write(&f, out);

		assert_true(n < sizeof(out));
		assert_int_equal(proxy_header_parse(out, n, 1024, &h), PROXY_HEADER_WHOLE);
		assert_int_equal(h.len, n);
		assert_memory_equal(&h.src.u.in6, &a.u.in6, sizeof(a.u.in6));
	}
}

/* Fields are written in HAProxy's order and found again; those that have no room are left out. */
static void
fields_are_written_and_found(void **state)
{
	static const char big[PROXY_HEADER_OUT_MAX];
	const struct proxy_header_tlv tlv[] = { { 0xe0, { "one", 3 } },
		{ 0xe1, { big, sizeof(big) } }, { 0xe0, { "two", 3 } }, { 0xe2, { "", 0 } } };
	struct addr a;
	struct proxy_header_fields f = { .version = 2, .has_crc32c = 1, .has_authority = 1,
		.has_unique_id = 1, .authority = STR("example.org"), .unique_id = STR("id"),
		.tlv = tlv, .n_tlvs = ARRAY_LEN(tlv) };
	char out[PROXY_HEADER_OUT_MAX];
	struct proxy_header h;
	struct str v;
	size_t n;

	(void)state;
	f.src = f.dst = addr_of_text("1.2.3.4", 1, &a);
	n = proxy_header_write(&f, out);
	assert_int_equal(n, 16 + 12 + 7 + 14 + 5 + 6 + 6 + 3);
	assert_memory_equal(
		out + 35, "\2\0\13example.org\5\0\2id\xe0\0\3one\xe0\0\3two\xe2\0\0", 34);
	assert_int_equal(proxy_header_parse(out, n, 1024, &h), PROXY_HEADER_WHOLE);
	assert_int_equal(h.tlvs.len, n - 28);
	assert_int_equal(proxy_header_find_tlv(h.tlvs, PROXY_TLV_AUTHORITY, &v), 1);
	assert_true(str_is(v, STR("example.org")));
	assert_int_equal(proxy_header_find_tlv(h.tlvs, 0xe0, &v), 1);
	assert_true(str_is(v, STR("two")));
	assert_int_equal(proxy_header_find_tlv(h.tlvs, 0xe2, &v), 1);
	assert_int_equal(v.len, 0);
	assert_int_equal(proxy_header_find_tlv(h.tlvs, 0xe1, &v), 0);
}

/* The field about TLS has fields of its own; what has no room is left out of it. */
static void
the_field_about_tls_has_fields(void **state)
{
	static const char big[PROXY_HEADER_OUT_MAX];
	const struct proxy_header_ssl ssl = { .client = PROXY_SSL_USED | PROXY_SSL_CERT_SESS,
		.verify = 0x01020304,
		.sub = { { PROXY_TLV_SSL_VERSION, { "TLSv1.3", 7 } },
			{ PROXY_TLV_SSL_CN, { big, sizeof(big) } },
			{ PROXY_TLV_SSL_KEY_ALG, { "EC256", 5 } } },
		.n_subs = 3 };
	const struct proxy_header_tlv tlv = { 0xe0, { "one", 3 } };
	struct addr a;
	struct proxy_header_fields f = { .version = 2, .has_alpn = 1, .alpn = STR("h2"),
		.has_authority = 1, .authority = STR("a"), .ssl = &ssl, .tlv = &tlv,
		.n_tlvs = 1 };
	char out[PROXY_HEADER_OUT_MAX];
	size_t n;

	(void)state;
	f.src = f.dst = addr_of_text("1.2.3.4", 1, &a);
	n = proxy_header_write(&f, out);
	assert_int_equal(n, 16 + 12 + 5 + 4 + 8 + 10 + 8 + 6);
	assert_memory_equal(out + 28,
		"\1\0\2h2\2\0\1a\x20\0\27\5\1\2\3\4\x21\0\7TLSv1.3\x25\0\5EC256\xe0\0\3one",
		n - 28);
}

/* As HAProxy refuses them. */
static void
a_long_authority_is_invalid(void **state)
{
	static const char name[256];
	struct addr a;
	char out[PROXY_HEADER_OUT_MAX];
	struct proxy_header h;

	(void)state;
	for (size_t len = 255; len <= 256; len++) {
		struct proxy_header_tlv tlv = { PROXY_TLV_AUTHORITY, { name, len } };
		struct proxy_header_fields f = { .version = 2, .tlv = &tlv, .n_tlvs = 1 };
		size_t n;

		f.src = f.dst = addr_of_text("1.2.3.4", 1, &a);
		n = proxy_header_write(&f, out);
		assert_int_equal(proxy_header_parse(out, n, 1024, &h),
			len == 255 ? PROXY_HEADER_WHOLE : PROXY_HEADER_BAD);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_written_and_found),
		cmocka_unit_test(the_field_about_tls_has_fields),
		cmocka_unit_test(a_long_authority_is_invalid),
		cmocka_unit_test(headers_of_version_1_are_read),
		cmocka_unit_test(lines_that_are_refused),
		cmocka_unit_test(headers_of_version_2_are_read),
		cmocka_unit_test(blocks_that_are_refused),
		cmocka_unit_test(checksums_are_verified),
		cmocka_unit_test(checksums_have_four_bytes),
		cmocka_unit_test(identifiers_have_a_length),
		cmocka_unit_test(room_is_bounded),
		cmocka_unit_test(errors_have_numbers),
		cmocka_unit_test(headers_are_written_as_by_haproxy),
		cmocka_unit_test(the_longest_headers_have_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
