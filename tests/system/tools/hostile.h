/*
 * Hostile messages, generated: each family is a table of positions in a message times a table of
 * invalid texts, so that each has a name, family/place/variant. Every one must be rejected, because
 * of its head or its body. Used by the unit tests, and printed by tools/hostile for the tests of
 * the whole program.
 */
#ifndef TESTS_SYSTEM_TOOLS_HOSTILE_H
#define TESTS_SYSTEM_TOOLS_HOSTILE_H

#include <stdio.h>
#include <string.h>

#define HOSTILE_MAX 4096

typedef void hostile_fn(void *arg, const char *name, int is_response, const char *text, size_t len);

struct hostile_place {
	const char *name, *before, *behind;
};

struct hostile_thing {
	const char *name, *text;
	size_t len;
};

/* --- invalid texts --- */

#define T(text) { #text, text, sizeof(text) - 1 }

/* Content-Length. */
static const struct hostile_thing hostile_lengths[] = {
	T(""), T("5, 5"), T("5,5"), T("5,"), T(",5"), T("5, 6"), T("+5"), T("-5"), T("-0"), T("+0"),
	T("0x5"), T("0b1"), T("5.0"), T("5e0"), T("5 5"), T("5\t5"), T("\"5\""), T("'5'"), T("5;5"),
	T("5a"), T("a5"), T("five"), T("0,0"), T("9223372036854775808"),
	T("18446744073709551615"), T("18446744073709551616"), T("18446744073709551621"),
	T("99999999999999999999999999999999"), T("0000000000000000000000000000005"), T("5\x0b"),
	T("5\x0c"), T("\x0b" "5"), T("5\0"), T("5\x7f"), T("\xa0" "5"), T("5\xa0"),
	T("\xef\xbc\x95"),
	T("5\r"), T("5\n"), T("5\rX"), T("5\nX: y"), T("chunked"), T("*"), T("5%20"), T("(5)"),
	T("1_0"), T("NaN"), T("inf"),
};

/* Transfer-Encoding. */
static const struct hostile_thing hostile_codings[] = {
	T(""), T("chunked, chunked"), T("chunked,chunked"), T("chunked,"), T(",chunked"),
	T("gzip, chunked"), T("chunked, gzip"), T("identity"), T("identity, chunked"),
	T("chunked, identity"), T("gzip"), T("deflate"), T("compress"), T("xchunked"),
	T("chunkedx"),
	T("chunk"), T("chunke"), T("chunked;q=1"), T("chunked; a=b"), T("\"chunked\""),
	T("'chunked'"),
	T("chunked\x0b"), T("\x0b" "chunked"), T("chunked\x0c"), T("\x0c" "chunked"),
	T("chunked\0"),
	T("\0chunked"), T("chun\0ked"), T("chunked\x7f"), T("chunked\x80"), T("\xa0" "chunked"),
	T("ch\xc3\xbcnked"), T("chunked chunked"), T("chunked\tchunked"), T("chunked\r"),
	T("chunked\n"), T("\nchunked"), T("chunked\r\n chunked"), T("\r\n chunked"),
	T("\r\n\tchunked"), T("c hunked"), T("chunked-"), T("*"), T("0"), T("x-chunked"), T("cow"),
};

/* Host. */
static const struct hostile_thing hostile_hosts[] = {
	T("a b"), T("a\tb"), T("a,b"), T("a, b"), T("u@a"), T("u:p@a"), T("@a"), T("a@"), T("a/"),
	T("a/b"), T("a?b"), T("a#b"), T("a\\b"), T("a:b"), T("a:80:80"), T("a:-1"), T("a:+80"),
	T("a:65536"), T("a:99999"), T("a:800000"), T("a: 80"), T(":80"), T(":"), T("a::1"),
	T("[::1"),
	T("::1]"), T("[::1]a"), T("[a]"), T("[]"), T("[::1%25e]"), T("a%"), T("a%2"), T("a%zz"),
	T("a%2g"),
	T("\"a\""), T("<a>"), T("a\0"), T("a\x7f"), T("a\x80"), T("\xc3\xa4"), T("a\x01"),
	T("http://a"), T("a\r"), T("a\n"), T("{a}"), T("a|b"), T("a^b"), T("`a`"),
};

/* Targets that are invalid with every method. */
static const struct hostile_thing hostile_targets[] = {
	T(""), T("a"), T("a/b"), T("./a"), T("../a"), T("?a"), T("#"), T("/#"), T("/a#b"), T("#/"),
	T("%2fa"), T("\\a"), T("**"), T("*/"), T("/*#"), T("http:"), T("http:/"), T("http://"),
	T("http:///"), T("http:///a"), T("http://?a"), T("http://:80/"), T("http://u@a/"),
	T("http://u:p@a/"), T("http://a@b/"), T("http://a,b/"), T("http://a b/"), T("http://a\\b/"),
	T("http://a:b/"), T("http://a:65536/"), T("http://a:80:80/"), T("http://[::1/"),
	T("http://a%/"), T("http://b/"), T("http://a:81/"), T("http://aa/"), T("http://a./"),
	T("http://a#b/"), T("http:a"), T("http:a/b"), T("ftp://a/"), T("file:///a"),
	T("javascript:1"), T("https//a/"), T("://a/"), T("//\x80"), T("/\xff"), T("/\xc3\xa4"),
	T("/a\0b"), T("/\x7f"), T("/a\tb"), T("/a b"), T("/a\rb"), T("/a\nb"), T("/a\r\nb"),
	T("/ HTTP/1.1"), T("/ HTTP/1.1\r\nX: y\r\n\r\nGET /"), T("/\x0b"), T("/\x0c"), T("/\x1f"),
};

/* Versions. */
static const struct hostile_thing hostile_versions[] = {
	T(""), T("HTTP"), T("HTTP/"), T("HTTP/1"), T("HTTP/1."), T("HTTP/.1"), T("HTTP/1.1.1"),
	T("HTTP/1.10"), T("HTTP/1.01"), T("HTTP/01.1"), T("HTTP/10.1"), T("HTTP/1.1 "),
	T("HTTP/1.1\t"), T(" HTTP/1.1"), T("\tHTTP/1.1"), T("HTTP /1.1"), T("HTTP/ 1.1"),
	T("HTTP/1 .1"), T("HTTP/1. 1"), T("HTTP/1.1\r"), T("HTTP/1.1\n"), T("HTTP/1.1\0"),
	T("HTTP/1.1\x0b"), T("HTTP/1,1"), T("HTTP/1-1"), T("HTTP/11"), T("HTTP1.1"), T("HTTP\\1.1"),
	T("http/1.1"), T("Http/1.1"), T("HTTPS/1.1"), T("HTTP/0.9"), T("HTTP/0.0"), T("HTTP/2.0"),
	T("HTTP/2"), T("HTTP/3.0"), T("HTTP/9.9"), T("HTTP/-1.1"), T("HTTP/+1.1"), T("HTTP/1.+1"),
	T("HTTP/1.a"), T("HTTP/a.1"), T("HTTP/\xef\xbc\x91.1"), T("ICY/1.1"), T("RTSP/1.0"),
	T("SIP/2.0"), T("HTTP/1.1 HTTP/1.1"), T("HTTP/1.1, HTTP/1.0"), T("/b HTTP/1.1"),
};

/* Between "HTTP/1.1" and the line end of a status line. */
static const struct hostile_thing hostile_statuses[] = {
	T(""), T(" "), T("  200 OK"), T("\t200 OK"), T(" 2 OK"), T(" 20 OK"), T(" 2000 OK"),
	T(" 200.0 OK"), T(" 099 OK"), T(" 000 OK"), T(" -20 OK"), T(" +20 OK"), T(" 0x1 OK"),
	T(" 2x0 OK"), T(" 20x OK"), T(" x00 OK"), T(" 200\tOK"), T(" 200\0OK"), T(" 200,OK"),
	T(" 200\rOK"), T(" 200 OK\r"), T(" 200 OK\n"), T(" 200\n"), T(" 200 O\rK"), T(" 200 O\nK"),
	T(" 200 O\0K"), T(" 200 \x01"), T(" 200 \x0b"), T(" 200 \x7f"), T(" \xb2" "00 OK"),
	T(" OK 200"), T(" 200OK"), T("200 OK"), T(",200 OK"), T(" 200 OK\r\n X: y"), T("/200 OK"),
};

/* Lines that are not a field line. */
static const struct hostile_thing hostile_lines[] = {
	T(":"), T(": v"), T(" : v"), T("A"), T("A B"), T("A B: c"), T("A : b"), T("A\t: b"),
	T(" A: b"), T("\tA: b"), T(" "), T("\t"), T(" b"), T("A: b\r\n c"), T("A: b\r\n\tc"),
	T("A: b\r\n "), T("A: b\r\n\t"), T("A:\r\n b"), T("\"A\": b"), T("(A): b"), T("A/B: c"),
	T("A=b"), T("A;b: c"), T("A,B: c"), T("[A]: b"), T("{A}: b"), T("<A>: b"), T("A@b: c"),
	T("A\\b: c"), T("A?: b"), T("\xc3\x84: b"), T("A\xa0: b"), T("\xef\xbb\xbf" "A: b"),
	T("A\0: b"), T("A: b\nC: d"), T("A: b\rC: d"), T("A: b\n"), T("A: b\r"), T("A: b\n\n"),
	T("A: b\n\rC: d"), T("A\r: b"), T("A\n: b"), T("\r"), T("\n"), T("\rA: b"), T("\nA: b"),
	T("A: b\n C: d"), T("GET / HTTP/1.1"), T("HTTP/1.1 200 OK"),
	T("Transfer-Encoding\x0b: chunked"), T("Transfer-Encoding : chunked"),
	T("Transfer-Encoding\t: chunked"), T(" Transfer-Encoding: chunked"),
	T("Transfer Encoding: chunked"), T("Transfer-Encoding\0: chunked"),
	T("X: y\nTransfer-Encoding: chunked"), T("X: y\rTransfer-Encoding: chunked"),
	T("X\nTransfer-Encoding: chunked"), T("Content-Length : 5"), T("Content-Length\t: 5"),
	T(" Content-Length: 5"), T("Content-Length\x0b: 5"), T("Content Length: 5"),
	T("X: y\nContent-Length: 5"), T("X: y\rContent-Length: 5"),
};

/* Ends of a line. */
static const struct hostile_thing hostile_ends[] = {
	T("\n"), T("\r"), T("\r\r\n"), T("\n\r"), T("\n\n"), T("\r\r"), T("\x0b\r\n"),
	T("\x0c\r\n"),
	T("\0\r\n"), T("\r\0\n"), T("\r \n"), T("\r\t\n"), T("\x1c"), T("\n \r\n"), T("\r\n\x0b"),
	T("\r\n\0"), T("\r\n \r\n"),
};

/* Chunk-size lines; CRLF and three bytes follow. */
static const struct hostile_thing hostile_sizes[] = {
	T(""), T(" "), T(" 3"), T("\t3"), T("3 "), T("3\t"), T("3 3"), T("+3"), T("-3"), T("0x3"),
	T("3x"), T("x3"), T("3h"), T("3.0"), T("3,"), T("3,3"), T("\"3\""), T("g"), T("3\0"),
	T("3\x0b"),
	T("3\x0c"), T("3\x7f"), T("3\x80"), T("\xef\xbc\x93"), T("3\r"), T("3\n"), T("3\n;a"),
	T("3\r;a"), T("3;a\n"), T("3;a\r"), T("3;a\nb"), T("3;\n"), T("3;"), T("3;;a"), T("3;a;"),
	T("3;=b"), T("3;a="), T("3;a=;b"), T("3;a b"), T("3;a=b c"), T("3;a "), T("3;a=b "),
	T("3;a=\"b"), T("3;a=\"b\"c"), T("3;a=\"b\\\""), T("3;a=\"\n\""), T("3;a=\"\r\""),
	T("3;a=\"\0\""), T("3;a=(b)"), T("3;\x80"), T("3;a=\x80"), T("3;\x01"), T("3 a"), T("3=a"),
	T("00000000000000003"), T("10000000000000000"), T("10000000000000003"),
	T("8000000000000000"), T("8000000000000003"), T("ffffffffffffffff"), T("fffffffffffffffd"),
	T("FFFFFFFFFFFFFFFF3"), T("0000000000000000000000000000000000000003"),
};

/* Bytes behind "3\r\nabc". */
static const struct hostile_thing hostile_chunk_ends[] = {
	T("0\r\n\r\n"), T("\n0\r\n\r\n"), T("\r0\r\n\r\n"), T("\r\r\n0\r\n\r\n"),
	T("d\r\n0\r\n\r\n"),
	T(" \r\n0\r\n\r\n"), T("\0\r\n0\r\n\r\n"), T("\n\r0\r\n\r\n"), T("XX0\r\n\r\n"),
	T("\r\n\r\n0\r\n\r\n"), T("\r\n\n0\r\n\r\n"), T("\r\n 0\r\n\r\n"), T("\r\n0\n\n"),
	T("\r\n0\r\r\n"), T("\r\n0\r\n\n"), T("\r\n0\r\n\r\r\n"), T("\r\n0\r\n \r\n\r\n"),
	T("\r\n0 \r\n\r\n"), T("\r\n0;\r\n\r\n"), T("\r\n0\0\r\n\r\n"), T("\r\n-0\r\n\r\n"),
	T("\r\n0x0\r\n\r\n"), T("\r\n00000000000000000\r\n\r\n"), T("\r\n;a\r\n\r\n"),
};

/* Lines after the last chunk. */
static const struct hostile_thing hostile_trailers[] = {
	T(":"), T(": b"), T("A"), T("A : b"), T("A\t: b"), T("A B: c"), T(" A: b"), T("\tA: b"),
	T("A: b\r\n c"), T("A: b\nC: d"), T("A: b\rC: d"), T("A: b\r"), T("A: b\n"), T("A: \0"),
	T("A: \x01"), T("A: \x0b"), T("A: \x7f"), T("A\0: b"), T("A\x80: b"), T("\"A\": b"),
	T("A/b: c"), T("GET / HTTP/1.1"), T("Content-Length: 5"), T("content-length: 0"),
	T("CONTENT-LENGTH:5"), T("Transfer-Encoding: chunked"), T("tRANSFER-eNCODING: identity"),
	T("Host: b"), T("Connection: close"), T("Keep-Alive: timeout=1"),
	T("Proxy-Connection: close"), T("TE: trailers"), T("Trailer: A"), T("Upgrade: h2c"),
	T("Content-Encoding: gzip"), T("Content-Type: text/html"), T("Content-Range: bytes 0-1/2"),
	T("Authorization: Basic YQ=="), T("Proxy-Authorization: x"), T("Set-Cookie: a=b"),
	T("Cookie: a=b"), T("Cache-Control: no-store"), T("Expect: 100-continue"),
	T("Max-Forwards: 1"), T("Range: bytes=0-1"), T("Forwarded: for=b"),
	T("X-Forwarded-For: 127.0.0.1"),
};

/* --- positions --- */

#define H "Host: a\r\n"
#define TE "Transfer-Encoding: chunked\r\n"
#define CL "Content-Length: 5\r\n"
#define CHUNKS "5\r\nabcde\r\n0\r\n\r\n"
#define POST "POST / HTTP/1.1\r\n"
#define OK "HTTP/1.1 200 OK\r\n"

/* Positions where no control byte is permitted. */
static const struct hostile_place hostile_at[] = {
	{ "first", "", "GET / HTTP/1.1\r\n" H "\r\n" },
	{ "method", "GE", "T / HTTP/1.1\r\n" H "\r\n" },
	{ "target", "GET /a", "b HTTP/1.1\r\n" H "\r\n" },
	{ "version", "GET / HTTP/1", ".1\r\n" H "\r\n" },
	{ "line end", "GET / HTTP/1.1", "\r\n" H "\r\n" },
	{ "name", "GET / HTTP/1.1\r\nHo", "st: a\r\n\r\n" },
	{ "before the colon", "GET / HTTP/1.1\r\n" H "X", ": y\r\n\r\n" },
	{ "value", "GET / HTTP/1.1\r\n" H "X: y", "z\r\n\r\n" },
	{ "value's begin", "GET / HTTP/1.1\r\n" H "X: ", "z\r\n\r\n" },
	{ "value's end", "GET / HTTP/1.1\r\n" H "X: y", "\r\n\r\n" },
	{ "long value", "GET / HTTP/1.1\r\n" H "X: 0123456789abcdef0123456789abcdef0123456789abc",
	  "def0123456789abcdef\r\n\r\n" },
	{ "last line", "GET / HTTP/1.1\r\n" H, "\r\n\r\n" },
};

static const struct hostile_place hostile_at_response[] = {
	{ "first", "", OK CL "\r\nabcde" },
	{ "version", "HTTP/1", ".1 200 OK\r\n" CL "\r\nabcde" },
	{ "status", "HTTP/1.1 20", "0 OK\r\n" CL "\r\nabcde" },
	{ "reason", "HTTP/1.1 200 O", "K\r\n" CL "\r\nabcde" },
	{ "name", OK "Ser", "ver: y\r\n" CL "\r\nabcde" },
	{ "value", OK CL "Server: y", "z\r\n\r\nabcde" },
};

/* Positions where only the bytes of a token are permitted, and no colon. */
static const struct hostile_place hostile_in_name[] = {
	{ "other's begin", "GET / HTTP/1.1\r\n" H, "X: y\r\n\r\n" },
	{ "other's end", "GET / HTTP/1.1\r\n" H "X", ": y\r\n\r\n" },
	{ "length's middle", POST H "Content", "Length: 5\r\n\r\nabcde" },
	{ "length's end", POST H "Content-Length", ": 5\r\n\r\nabcde" },
	{ "coding's middle", POST H "Transfer-Enc", "oding: chunked\r\n\r\n" CHUNKS },
	{ "coding's end", POST H "Transfer-Encoding", ": chunked\r\n\r\n" CHUNKS },
	{ "beside a length", POST H CL "Transfer-Encoding", ": chunked\r\n\r\nabcde" },
	{ "second host", "GET / HTTP/1.1\r\n" H "Host", ": b\r\n\r\n" },
};

static const struct hostile_place hostile_length_at[] = {
	{ "alone", POST H "Content-Length: ", "\r\n\r\nabcde" },
	{ "no blank", POST H "Content-Length:", "\r\n\r\nabcde" },
	{ "second", POST H CL "Content-Length: ", "\r\n\r\nabcde" },
	{ "first", POST H "Content-Length: ", "\r\n" CL "\r\nabcde" },
	{ "beside chunked", POST H TE "Content-Length: ", "\r\n\r\n" CHUNKS },
	{ "old", "POST / HTTP/1.0\r\nContent-Length: ", "\r\n\r\nabcde" },
};

static const struct hostile_place hostile_coding_at[] = {
	{ "alone", POST H "Transfer-Encoding: ", "\r\n\r\n" CHUNKS },
	{ "no blank", POST H "Transfer-Encoding:", "\r\n\r\n" CHUNKS },
	{ "second", POST H TE "Transfer-Encoding: ", "\r\n\r\n" CHUNKS },
	{ "first", POST H "Transfer-Encoding: ", "\r\n" TE "\r\n" CHUNKS },
	{ "before a length", POST H "Transfer-Encoding: ", "\r\n" CL "\r\n" CHUNKS },
	{ "behind a length", POST H CL "Transfer-Encoding: ", "\r\n\r\n" CHUNKS },
	{ "old", "POST / HTTP/1.0\r\nTransfer-Encoding: ", "\r\n\r\n" CHUNKS },
};

static const struct hostile_place hostile_host_at[] = {
	{ "alone", "GET / HTTP/1.1\r\nHost: ", "\r\n\r\n" },
	{ "second", "GET / HTTP/1.1\r\n" H "Host: ", "\r\n\r\n" },
	{ "first", "GET / HTTP/1.1\r\nHost: ", "\r\n" H "\r\n" },
	{ "absolute", "GET http://a/ HTTP/1.1\r\nHost: ", "\r\n\r\n" },
	{ "connect", "CONNECT a:443 HTTP/1.1\r\nHost: ", "\r\n\r\n" },
};

static const struct hostile_place hostile_target_at[] = {
	{ "get", "GET ", " HTTP/1.1\r\n" H "\r\n" },
	{ "options", "OPTIONS ", " HTTP/1.1\r\n" H "\r\n" },
	{ "connect", "CONNECT ", " HTTP/1.1\r\n" H "\r\n" },
};

static const struct hostile_place hostile_version_at[] = {
	{ "get", "GET / ", "\r\n" H "\r\n" },
	{ "post", "POST / ", "\r\n" H CL "\r\nabcde" },
};

static const struct hostile_place hostile_line_at[] = {
	{ "first", "POST / HTTP/1.1\r\n", "\r\n" H CL "\r\nabcde" },
	{ "middle", "POST / HTTP/1.1\r\n" H, "\r\n" CL "\r\nabcde" },
	{ "last", "POST / HTTP/1.1\r\n" H CL, "\r\n\r\nabcde" },
};

static const struct hostile_place hostile_end_at[] = {
	{ "request line", "POST / HTTP/1.1", H CL "\r\nabcde" },
	{ "field", "POST / HTTP/1.1\r\nHost: a", CL "\r\nabcde" },
	{ "last field", "POST / HTTP/1.1\r\n" H "Content-Length: 5", "\r\nabcde" },
};

static const struct hostile_place hostile_size_at[] = {
	{ "first", POST H TE "\r\n", "\r\nabc\r\n0\r\n\r\n" },
	{ "second", POST H TE "\r\n1\r\nx\r\n", "\r\nabc\r\n0\r\n\r\n" },
};

static const struct hostile_place hostile_chunk_end_at[] = {
	{ "first", POST H TE "\r\n3\r\nabc", "" },
	{ "second", POST H TE "\r\n1\r\nx\r\n3\r\nabc", "" },
};

static const struct hostile_place hostile_trailer_at[] = {
	{ "first", POST H TE "\r\n0\r\n", "\r\n\r\n" },
	{ "second", POST H TE "\r\n3\r\nabc\r\n0\r\nX: y\r\n", "\r\n\r\n" },
};

static const struct hostile_place hostile_response_length[] = {
	{ "alone", OK "Content-Length: ", "\r\n\r\nabcde" },
	{ "second", OK CL "Content-Length: ", "\r\n\r\nabcde" },
};

static const struct hostile_place hostile_response_coding[] = {
	{ "alone", OK "Transfer-Encoding: ", "\r\n\r\n" CHUNKS },
	{ "behind a length", OK CL "Transfer-Encoding: ", "\r\n\r\n" CHUNKS },
};

static const struct hostile_place hostile_response_status[] = {
	{ "with a length", "HTTP/1.1", "\r\n" CL "\r\nabcde" },
};

static const struct hostile_place hostile_response_line[] = {
	{ "first", OK, "\r\n" CL "\r\nabcde" },
	{ "last", OK CL, "\r\n\r\nabcde" },
};

static const struct hostile_place hostile_response_end[] = {
	{ "status line", "HTTP/1.1 200 OK", CL "\r\nabcde" },
	{ "field", OK "Content-Length: 5", "\r\nabcde" },
};

static const struct hostile_place hostile_response_size[] = {
	{ "first", OK TE "\r\n", "\r\nabc\r\n0\r\n\r\n" },
};

static const struct hostile_place hostile_response_chunk_end[] = {
	{ "first", OK TE "\r\n3\r\nabc", "" },
};

static const struct hostile_place hostile_response_trailer[] = {
	{ "first", OK TE "\r\n0\r\n", "\r\n\r\n" },
};

/* Complete messages: two parts are valid, but not together. */
static const struct hostile_place hostile_alone[] = {
	{ "no host", "GET / HTTP/1.1\r\n\r\n", "" },
	{ "no host, a field", "GET / HTTP/1.1\r\nX: y\r\n\r\n", "" },
	{ "no host, absolute", "GET http://a/ HTTP/1.1\r\n\r\n", "" },
	{ "two hosts", "GET / HTTP/1.1\r\n" H H "\r\n", "" },
	{ "two hosts apart", "GET / HTTP/1.1\r\n" H "X: y\r\nhOST: a\r\n\r\n", "" },
	{ "length and coding", POST H CL TE "\r\n" CHUNKS, "" },
	{ "coding and length", POST H TE CL "\r\n" CHUNKS, "" },
	{ "coding and zero", POST H TE "Content-Length: 0\r\n\r\n" CHUNKS, "" },
	{ "length twice", POST H CL CL "\r\nabcde", "" },
	{ "length twice apart", POST CL H CL "\r\nabcde", "" },
	{ "coding twice", POST H TE TE "\r\n" CHUNKS, "" },
	{ "coding in 1.0", "POST / HTTP/1.0\r\n" H TE "\r\n" CHUNKS, "" },
	{ "coding in 1.0, kept",
	  "POST / HTTP/1.0\r\nConnection: keep-alive\r\n" TE "\r\n" CHUNKS, "" },
	{ "connect with length", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n" CL "\r\nabcde", "" },
	{ "connect, chunked", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n" TE "\r\n" CHUNKS, "" },
	{ "asterisk", "GET * HTTP/1.1\r\n" H "\r\n", "" },
	{ "authority", "GET a:80 HTTP/1.1\r\n" H "\r\n", "" },
	{ "path", "CONNECT / HTTP/1.1\r\n" H "\r\n", "" },
	{ "preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "" },
	{ "nine", "GET /\r\n", "" },
	{ "two empty lines", "\r\n\r\nGET / HTTP/1.1\r\n" H "\r\n", "" },
	{ "tls", "\x16\x03\x01\x02\x01\x01\x01", "" },
	{ "ssh", "SSH-2.0-OpenSSH_9.2\r\n", "" },
	{ "proxy", "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\nGET / HTTP/1.1\r\n" H "\r\n", "" },
	{ "response", OK CL "\r\nabcde", "" },
};

static const struct hostile_place hostile_alone_response[] = {
	{ "length and coding", OK CL TE "\r\n" CHUNKS, "" },
	{ "coding and length", OK TE CL "\r\n" CHUNKS, "" },
	{ "length twice", OK CL CL "\r\nabcde", "" },
	{ "coding twice", OK TE TE "\r\n" CHUNKS, "" },
	{ "coding in 1.0", "HTTP/1.0 200 OK\r\n" TE "\r\n" CHUNKS, "" },
	{ "204 with length", "HTTP/1.1 204 No\r\n" CL "\r\nabcde", "" },
	{ "204, chunked", "HTTP/1.1 204 No\r\n" TE "\r\n" CHUNKS, "" },
	{ "100 with length", "HTTP/1.1 100 Go\r\n" CL "\r\nabcde" OK "\r\n", "" },
	{ "103, chunked", "HTTP/1.1 103 Early\r\n" TE "\r\n" CHUNKS OK "\r\n", "" },
	{ "101 with length", "HTTP/1.1 101 Up\r\n" CL "\r\nabcde", "" },
	{ "101, chunked", "HTTP/1.1 101 Up\r\n" TE "\r\n" CHUNKS, "" },
	{ "empty line first", "\r\n" OK CL "\r\nabcde", "" },
	{ "html", "<html></html>\r\n\r\n", "" },
	{ "shoutcast", "ICY 200 OK\r\n\r\n", "" },
	{ "two", "HTTP/2.0 200 OK\r\n" CL "\r\nabcde", "" },
	{ "request", "GET / HTTP/1.1\r\n" H "\r\n", "" },
	{ "tls", "\x15\x03\x01\x02\x02\x16", "" },
};

#undef H
#undef TE
#undef CL
#undef CHUNKS
#undef POST
#undef OK
#undef T

/* --- all of them --- */

struct hostile_work {
	hostile_fn *fn;
	void *arg;
	int is_response;
};

static inline void
hostile_one(const struct hostile_work *w, const char *family, const struct hostile_place *at,
	const char *variant, const char *thing, size_t len)
{
	char text[HOSTILE_MAX], name[256];
	size_t before = strlen(at->before), behind = strlen(at->behind);

	snprintf(name, sizeof(name), "%s/%s/%s", family, at->name, variant);
	memcpy(text, at->before, before);
	memcpy(text + before, thing, len);
	memcpy(text + before + len, at->behind, behind);
	w->fn(w->arg, name, w->is_response, text, before + len + behind);
}

#define CROSS(w, family, places, things) \
	do { \
		for (size_t p_ = 0; p_ < sizeof(places) / sizeof((places)[0]); p_++) \
			for (size_t t_ = 0; t_ < sizeof(things) / sizeof((things)[0]); t_++) \
				hostile_one(w, family, &(places)[p_], (things)[t_].name, \
					(things)[t_].text, (things)[t_].len); \
	} while (0)

/* Each byte of the list, which has its own length since it may contain NUL. */
static inline void
hostile_bytes(const struct hostile_work *w, const char *family, const struct hostile_place *at,
	size_t n, const char *bytes, size_t count)
{
	for (size_t p = 0; p < n; p++) {
		for (size_t i = 0; i < count; i++) {
			char variant[8];

			snprintf(variant, sizeof(variant), "%02x", (unsigned char)bytes[i]);
			hostile_one(w, family, &at[p], variant, &bytes[i], 1);
		}
	}
}

#define BYTES(w, family, places, bytes) \
	hostile_bytes(w, family, places, sizeof(places) / sizeof((places)[0]), bytes, \
		sizeof(bytes) - 1)

/* All bytes that are never permitted in a head except as line ends; HTAB has positions of its
 * own. */
#define HOSTILE_CONTROLS \
	"\0\1\2\3\4\5\6\7\10\n\13\14\r\16\17\20\21\22\23\24\25\26\27\30\31\32\33\34\35\36\37\177"

static inline void
hostile_requests(const struct hostile_work *w)
{
	BYTES(w, "control", hostile_at, HOSTILE_CONTROLS);
	BYTES(w, "name", hostile_in_name, " \t\"(),/;<=>?@[\\]{}\x80\xa0\xff");
	CROSS(w, "length", hostile_length_at, hostile_lengths);
	CROSS(w, "coding", hostile_coding_at, hostile_codings);
	CROSS(w, "host", hostile_host_at, hostile_hosts);
	CROSS(w, "target", hostile_target_at, hostile_targets);
	CROSS(w, "version", hostile_version_at, hostile_versions);
	CROSS(w, "line", hostile_line_at, hostile_lines);
	CROSS(w, "end", hostile_end_at, hostile_ends);
	CROSS(w, "size", hostile_size_at, hostile_sizes);
	CROSS(w, "chunk end", hostile_chunk_end_at, hostile_chunk_ends);
	CROSS(w, "trailer", hostile_trailer_at, hostile_trailers);
	for (size_t i = 0; i < sizeof(hostile_alone) / sizeof(hostile_alone[0]); i++)
		hostile_one(w, "alone", &hostile_alone[i], "-", "", 0);
}

static inline void
hostile_responses(const struct hostile_work *w)
{
	BYTES(w, "control", hostile_at_response, HOSTILE_CONTROLS);
	CROSS(w, "length", hostile_response_length, hostile_lengths);
	CROSS(w, "coding", hostile_response_coding, hostile_codings);
	CROSS(w, "status", hostile_response_status, hostile_statuses);
	CROSS(w, "line", hostile_response_line, hostile_lines);
	CROSS(w, "end", hostile_response_end, hostile_ends);
	CROSS(w, "size", hostile_response_size, hostile_sizes);
	CROSS(w, "chunk end", hostile_response_chunk_end, hostile_chunk_ends);
	CROSS(w, "trailer", hostile_response_trailer, hostile_trailers);
	for (size_t i = 0; i < sizeof(hostile_alone_response) / sizeof(hostile_alone_response[0]);
		i++)
		hostile_one(w, "alone", &hostile_alone_response[i], "-", "", 0);
}

/* Calls fn for each message, requests first. The text is valid only during the call. */
static inline void
hostile_all(hostile_fn *fn, void *arg)
{
	struct hostile_work w = { fn, arg, 0 };

	hostile_requests(&w);
	w.is_response = 1;
	hostile_responses(&w);
}

#undef BYTES
#undef CROSS

#endif
