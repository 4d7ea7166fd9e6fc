/* Queries as they are written, and responses of name servers and of forgers. */
#include "unit/dns/dns_rig.h"

#include <stdio.h>

#define NAME "app.example.com"

static struct dns_text m;
static struct dns_response r;

static int
teardown(void **st)
{
	(void)st;
	dns_response_fini(&r);
	return 0;
}

static enum dns_status
parse(const char *name, enum dns_type type)
{
	dns_response_fini(&r);
	/* The memory after the end does not belong to the message. */
	{
		uint8_t *exact = test_malloc(m.n ? m.n : 1);

		memcpy(exact, m.p, m.n);
		assert_int_equal(dns_response_parse(&r, exact, m.n, name, type), 0);
		test_free(exact);
	}
	return r.status;
}

static const char *
ip_of(unsigned int i)
{
	static char text[ADDR_TEXT];

	assert_true(i < r.n);
	return addr_host_text(&r.record[i].addr, text);
}

static void
names_are_made_plain(void **st)
{
	char out[DNS_NAME_MAX + 1], longest[300];

	(void)st;
	assert_int_equal(dns_name_set(out, "WWW.Example.COM."), 0);
	assert_string_equal(out, "www.example.com");
	assert_int_equal(dns_name_set(out, "_http._tcp.example"), 0);
	assert_int_equal(dns_name_set(out, ""), -ERR_INVAL);
	assert_int_equal(dns_name_set(out, "."), -ERR_INVAL);
	assert_int_equal(dns_name_set(out, "a..b"), -ERR_INVAL);
	assert_int_equal(dns_name_set(out, ".a"), -ERR_INVAL);
	memset(longest, 'a', sizeof(longest));
	longest[64] = '\0';
	assert_int_equal(dns_name_set(out, longest), -ERR_INVAL);
	longest[63] = '\0';
	assert_int_equal(dns_name_set(out, longest), 0);
	for (int i = 0; i < 254; i++)
		longest[i] = i % 60 == 59 ? '.' : 'b';
	longest[254] = '\0';
	assert_int_equal(dns_name_set(out, longest), -ERR_INVAL);
	longest[253] = '\0';
	assert_int_equal(dns_name_set(out, longest), 0);
}

/* Byte for byte: header, question, OPT with the payload size. */
static void
a_query_is_written(void **st)
{
	static const uint8_t expect[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01"
					"\x03" "app" "\x07" "example" "\x03" "com" "\x00"
					"\x00\x1c\x00\x01"
					"\x00\x00\x29\x10\x00\x00\x00\x00\x00\x00";
	uint8_t out[DNS_QUERY_MAX];
	int n = dns_query_write(out, NAME, DNS_AAAA, 0x1234, 4096);

	(void)st;
	assert_int_equal(n, sizeof(expect));
	assert_memory_equal(out, expect, (size_t)n);
	assert_int_equal(dns_message_id(out), 0x1234);
}

static void
addresses_are_read(void **st)
{
	(void)st;
	write_head(&m, 7, 0x8180, NAME, DNS_A);
	write_a(&m, 0, NULL, "10.0.0.1");
	write_a(&m, 0, "APP.example.COM", "10.0.0.2");
	assert_int_equal(parse(NAME, DNS_A), DNS_VALID);
	assert_int_equal(r.n, 2);
	assert_string_equal(ip_of(0), "10.0.0.1");
	assert_string_equal(ip_of(1), "10.0.0.2");
	assert_int_equal(addr_port(&r.record[0].addr), 0);
	write_head(&m, 7, 0x8180, NAME, DNS_AAAA);
	write_aaaa(&m, 0, NULL, "2001:db8::1");
	assert_int_equal(parse(NAME, DNS_AAAA), DNS_VALID);
	assert_string_equal(ip_of(0), "2001:db8::1");
	assert_false(r.has_cname);
}

/* Records of other names are ignored. */
static void
other_records_are_ignored(void **st)
{
	(void)st;
	write_head(&m, 7, 0x8180, NAME, DNS_A);
	write_a(&m, 0, "bank.example.com", "10.6.6.6");
	assert_int_equal(parse(NAME, DNS_A), DNS_NO_RECORD);
	write_a(&m, 0, NULL, "10.0.0.1");
	write_aaaa(&m, 0, NULL, "::6");
	assert_int_equal(parse(NAME, DNS_A), DNS_VALID);
	assert_int_equal(r.n, 1);
	assert_string_equal(ip_of(0), "10.0.0.1");
}

static void
a_chain_of_aliases_is_followed(void **st)
{
	(void)st;
	write_head(&m, 7, 0x8180, NAME, DNS_A);
	write_cname(&m, NULL, "one.example.net");
	write_cname(&m, "one.example.net", "two.example.net");
	write_a(&m, 0, "two.example.net", "10.0.0.3");
	assert_int_equal(parse(NAME, DNS_A), DNS_VALID);
	assert_true(r.has_cname);
	assert_string_equal(ip_of(0), "10.0.0.3");
	/* In any order. */
	write_head(&m, 7, 0x8180, NAME, DNS_A);
	write_a(&m, 0, "two.example.net", "10.0.0.3");
	write_cname(&m, "one.example.net", "two.example.net");
	write_cname(&m, NULL, "one.example.net");
	assert_int_equal(parse(NAME, DNS_A), DNS_VALID);
}

static void
aliases_that_lead_nowhere_are_an_error(void **st)
{
	(void)st;
	write_head(&m, 7, 0x8180, NAME, DNS_A);
	write_cname(&m, NULL, "one.example.net");
	write_a(&m, 0, NULL, "10.0.0.3");
	assert_int_equal(parse(NAME, DNS_A), DNS_CNAME_ERROR);
	write_head(&m, 7, 0x8180, NAME, DNS_A);
	write_cname(&m, NULL, "one.example.net");
	write_cname(&m, "one.example.net", NAME);
	write_a(&m, 0, NULL, "10.0.0.3");
	assert_int_equal(parse(NAME, DNS_A), DNS_CNAME_ERROR);
	assert_int_equal(r.n, 0);
}

static void
services_are_read(void **st)
{
	(void)st;
	write_head(&m, 7, 0x8180, "_http._tcp.example", DNS_SRV);
	write_srv(&m, NULL, 5, 8080, "A.example");
	write_srv(&m, NULL, 65535, 8081, "b.example");
	write_srv(&m, NULL, 1, 1, "."); /* no such service */
	write_a(&m, 2, "a.example", "10.0.0.1");
	write_a(&m, 2, "a.example", "10.0.0.9");
	write_a(&m, 2, "c.example", "10.0.0.3");
	assert_int_equal(parse("_http._tcp.example", DNS_SRV), DNS_VALID);
	assert_int_equal(r.n, 2);
	assert_string_equal(r.record[0].target, "a.example");
	assert_int_equal(r.record[0].port, 8080);
	assert_int_equal(r.record[0].weight, 5);
	assert_int_equal(r.record[0].priority, 10);
	assert_string_equal(ip_of(0), "10.0.0.1");
	assert_int_equal(r.record[1].weight, 65535);
	assert_int_equal(r.record[1].addr.len, 0);
}

static void
error_codes_are_distinguished(void **st)
{
	static const struct {
		unsigned int flags;
		enum dns_status status;
	} rows[] = {
		{ 0x8180, DNS_NO_RECORD }, { 0x8183, DNS_NX }, { 0x8185, DNS_REFUSED },
		{ 0x8182, DNS_SERVER_ERROR }, { 0x8181, DNS_SERVER_ERROR },
		{ 0x8380, DNS_TRUNCATED },
		{ 0x0180, DNS_INVALID }, /* a query */
		{ 0x9180, DNS_INVALID }, /* of another kind */
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		write_head(&m, 7, rows[i].flags, NAME, DNS_A);
		assert_int_equal(parse(NAME, DNS_A), rows[i].status);
	}
}

static void
answers_to_other_questions_are_invalid(void **st)
{
	(void)st;
	write_head(&m, 7, 0x8180, "other.example.com", DNS_A);
	write_a(&m, 0, NULL, "10.0.0.1");
	assert_int_equal(parse(NAME, DNS_A), DNS_INVALID);
	write_head(&m, 7, 0x8180, NAME, DNS_AAAA);
	write_a(&m, 0, NULL, "10.0.0.1");
	assert_int_equal(parse(NAME, DNS_A), DNS_INVALID);
	m.n = 12;
	m.p[5] = 0;
	assert_int_equal(parse(NAME, DNS_A), DNS_INVALID);
}

/* A pointer to itself, one beyond the end, data of a wrong length. */
static void
malformed_messages_are_invalid(void **st)
{
	size_t at;

	(void)st;
	write_head(&m, 7, 0x8180, NAME, DNS_A);
	count_record(&m, 0);
	put_u16(&m, 0xc000 | (unsigned int)m.n);
	write_bytes(&m, "\0\1\0\1\0\0\0\0\0\4\12\0\0\1", 14);
	assert_int_equal(parse(NAME, DNS_A), DNS_INVALID);
	write_head(&m, 7, 0x8180, NAME, DNS_A);
	count_record(&m, 0);
	put_u16(&m, 0xcfff);
	write_bytes(&m, "\0\1\0\1\0\0\0\0\0\4\12\0\0\1", 14);
	assert_int_equal(parse(NAME, DNS_A), DNS_INVALID);
	write_head(&m, 7, 0x8180, NAME, DNS_A);
	at = begin_record(&m, 0, NULL, DNS_A);
	write_bytes(&m, "\12\0\0", 3);
	end_record(&m, at);
	assert_int_equal(parse(NAME, DNS_A), DNS_INVALID);
	write_head(&m, 7, 0x8180, "_s._t.x", DNS_SRV);
	at = begin_record(&m, 0, NULL, DNS_SRV);
	write_bytes(&m, "\0\1\0\1\0\1\1a\0tail", 13);
	end_record(&m, at);
	assert_int_equal(parse("_s._t.x", DNS_SRV), DNS_INVALID);
}

/* No prefix of a valid message is valid. */
static void
cut_messages_are_invalid(void **st)
{
	size_t whole;

	(void)st;
	write_head(&m, 7, 0x8180, "_http._tcp.example", DNS_SRV);
	write_srv(&m, NULL, 5, 8080, "a.example");
	write_srv(&m, NULL, 5, 8081, "b.example");
	whole = m.n;
	for (m.n = 0; m.n < whole; m.n++)
		assert_int_equal(parse("_http._tcp.example", DNS_SRV), DNS_INVALID);
	assert_int_equal(parse("_http._tcp.example", DNS_SRV), DNS_VALID);
}

static void
many_records_are_bounded(void **st)
{
	char target[32];

	(void)st;
	write_head(&m, 7, 0x8180, "_http._tcp.example", DNS_SRV);
	for (int i = 0; i < 500; i++) {
		snprintf(target, sizeof(target), "node%d.example", i);
		write_srv(&m, NULL, 1, 80, target);
	}
	assert_int_equal(parse("_http._tcp.example", DNS_SRV), DNS_VALID);
	assert_int_equal(r.n, 500);
	assert_string_equal(r.record[499].target, "node499.example");
	write_head(&m, 7, 0x8180, NAME, DNS_A);
	for (int i = 0; i < DNS_RECORDS_MAX + 100; i++)
		write_a(&m, 0, NULL, "10.0.0.1");
	assert_int_equal(parse(NAME, DNS_A), DNS_VALID);
	assert_int_equal(r.n, DNS_RECORDS_MAX);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_made_plain),
		cmocka_unit_test(a_query_is_written),
		cmocka_unit_test_teardown(addresses_are_read, teardown),
		cmocka_unit_test_teardown(other_records_are_ignored, teardown),
		cmocka_unit_test_teardown(a_chain_of_aliases_is_followed, teardown),
		cmocka_unit_test_teardown(aliases_that_lead_nowhere_are_an_error, teardown),
		cmocka_unit_test_teardown(services_are_read, teardown),
		cmocka_unit_test_teardown(error_codes_are_distinguished, teardown),
		cmocka_unit_test_teardown(answers_to_other_questions_are_invalid, teardown),
		cmocka_unit_test_teardown(malformed_messages_are_invalid, teardown),
		cmocka_unit_test_teardown(cut_messages_are_invalid, teardown),
		cmocka_unit_test_teardown(many_records_are_bounded, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
