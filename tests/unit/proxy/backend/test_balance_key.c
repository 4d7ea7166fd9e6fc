/* Hash keys: numbers made from texts and addresses. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/compiler.h"
#include "http/h1_parse.h"
#include "net/addr.h"
#include "proxy/backend/balance.h"
#include "unit/net/net_rig.h"
#include "unit/test.h"

static void
test_addresses(void **state)
{
	const struct hash_type plain = { 0 }, mixed = { .avalanche = 1 };
	struct addr four = addr_of("10.1.2.3"), six = addr_of("[2001:db8::1]"),
		    un = addr_of("/run/x");
	uint32_t key;

	(void)state;
	assert_int_equal(balance_key_of_addr(&plain, &four, &key), 1);
	assert_int_equal(key, 0x0a010203);
	assert_int_equal(balance_key_of_addr(&mixed, &four, &key), 1);
	assert_int_equal(key, hash_avalanche(0x0a010203));
	assert_int_equal(balance_key_of_addr(&plain, &six, &key), 1);
	assert_int_equal(key, 0x20010db8 ^ 1);
	assert_int_equal(balance_key_of_addr(&plain, &un, &key), 0);
}

static void
test_texts(void **state)
{
	struct hash_type t = { .function = HASH_SDBM };

	(void)state;
	assert_int_equal(balance_key_of_text(&t, "hello", 5), hash_sdbm("hello", 5));
	t.function = HASH_DJB2;
	assert_int_equal(balance_key_of_text(&t, "hello", 5), hash_djb2("hello", 5));
	t.function = HASH_CRC32;
	assert_int_equal(balance_key_of_text(&t, "hello", 5), hash_crc32("hello", 5));
	t.avalanche = 1;
	assert_int_equal(balance_key_of_text(&t, "hello", 5),
		hash_avalanche(hash_crc32("hello", 5)));
}

/* --- the keys of HAProxy 2.6, derived from the servers it chose among 13 --- */

static const struct hash_type plain;

static void
hashes(enum balance_algo algo, struct balance_by by, const char *target, const char *fields,
	const char *expected)
{
	struct h1_parser p = { 0 };
	struct http_field field[16];
	struct http_head head;
	char text[512];
	size_t used;
	uint32_t key = 0;
	int known;

	(void)snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n%s\r\n", target, fields);
	http_head_init(&head, HTTP_REQUEST, field, ARRAY_LEN(field));
	assert_int_equal(h1_parse_request(&p, text, strlen(text), &head, &used), HTTP_COMPLETE);
	known = balance_key_of_request(algo, &by, &plain, &head, &key);
	assert_int_equal(known, expected != NULL);
	if (expected && key != hash_sdbm(expected, strlen(expected)))
		fail_msg("%s is not hashed as %s", target, expected);
}

#define HOST "Host: h.example\r\n"

static void
test_uri(void **state)
{
	static const struct {
		const char *target;
		struct balance_by by;
		const char *key;
	} t[] = {
		{ "/", { 0 }, "/" },
		{ "/a/b/c?x=1", { 0 }, "/a/b/c" },
		{ "/a/b/c?x=1", { .whole = 1 }, "/a/b/c?x=1" },
		{ "/index.html?q=1", { .len = 5 }, "/inde" },
		{ "/a/b/c?x=1", { .whole = 1, .len = 8 }, "/a/b/c?x" },
		{ "/aa/bb/cc/dd", { .depth = 1 }, "/aa" },
		{ "/aa/bb/cc/dd", { .depth = 2 }, "/aa/bb" },
		{ "/index.html?q=1", { .depth = 1 }, "/index.html" },
		{ "/a//b///c", { .depth = 2 }, "/a/" },
		{ "/abcdefghijklmnop", { .depth = 2, .len = 4 }, "/abc" },
		{ "http://h.example/a/b", { 0 }, "http://h.example/a/b" },
		{ "http://h.example/a/b", { .depth = 2 }, "http://h.example" },
		{ "http://h.example/a/b", { .path_only = 1 }, "/a/b" },
		{ "/a/b/c?x=1", { .path_only = 1, .depth = 2 }, "/a/b" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		hashes(BALANCE_URI, t[i].by, t[i].target, HOST, t[i].key);
}

static void
test_url_param(void **state)
{
	static const char *const t[][2] = {
		{ "/?id=7", "7" },
		{ "/?a=1&id=hello", "hello" },
		{ "/?b&id=hello", "hello" },
		{ "/?id=", "" },
		{ "/?xid=3&id=5", "5" },
		{ "/x?id=1;id=2", "1;id=2" },
		{ "/?id=hello?x", "hello?x" },
		{ "/?id", NULL },
		{ "/?ID=9", NULL },
		{ "/?a=1;id=hello", NULL },
		{ "/id=7", NULL },
		{ "/?", NULL },
		{ "/?a=1&", NULL },
	};
	struct balance_by by = { .name = (char *)"id" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		hashes(BALANCE_URL_PARAM, by, t[i][0], HOST, t[i][1]);
}

static void
test_hdr(void **state)
{
	static const char *const t[][3] = {
		{ "Host: www.example.com", "www.example.com", "example" },
		{ "Host: 1wt.eu", "1wt.eu", "1wt" },
		{ "Host: haproxy.1wt.eu", "haproxy.1wt.eu", "1wt" },
		{ "Host: example", "example", "example" },
		{ "Host: WWW.Example.COM:80", "WWW.Example.COM:80", "Example" },
		{ "Host: example.com:8080", "example.com:8080", "example" },
		{ "Host: 10.0.0.1", "10.0.0.1", "0" },
	};
	struct balance_by by = { .name = (char *)"host" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		char line[64];

		(void)snprintf(line, sizeof(line), "%s\r\n", t[i][0]);
		by.domain_only = 0;
		hashes(BALANCE_HDR, by, "/", line, t[i][1]);
		by.domain_only = 1;
		hashes(BALANCE_HDR, by, "/", line, t[i][2]);
	}
	by = (struct balance_by){ .name = (char *)"x-k" };
	hashes(BALANCE_HDR, by, "/", HOST "X-K: c\r\nX-K: dd\r\n", "c");
	hashes(BALANCE_HDR, by, "/", HOST "X-K: c,dd\r\n", "c");
	hashes(BALANCE_HDR, by, "/", HOST "X-K:  bb \r\n", "bb");
	hashes(BALANCE_HDR, by, "/", HOST "X-K: \r\n", NULL);
	hashes(BALANCE_HDR, by, "/", HOST, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_uri),
		cmocka_unit_test(test_url_param),
		cmocka_unit_test(test_hdr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
