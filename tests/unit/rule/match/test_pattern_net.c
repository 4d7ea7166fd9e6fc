#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rule/match/pattern_key.h"
#include "unit/test.h"

struct row {
	const char *text;
	int ok, v6;
	uint64_t hi, lo;
	unsigned int bits;
};

#define V4(a, b, c, d) ((uint64_t)((unsigned int)a << 24 | b << 16 | c << 8 | d) << 32)

/* The manual's own table (7.1.6) first. */
static const struct row rows[] = {
	{ "192.168.0.1", 1, 0, V4(192, 168, 0, 1), 0, 32 },
	{ "192.168.1", 1, 0, V4(192, 168, 0, 1), 0, 32 },
	{ "192.168.1/22", 1, 0, V4(192, 168, 0, 0), 0, 22 },
	{ "10.12", 1, 0, V4(10, 0, 0, 12), 0, 32 },
	{ "10.12/8", 1, 0, V4(10, 0, 0, 0), 0, 8 },
	{ "127.1", 1, 0, V4(127, 0, 0, 1), 0, 32 },
	{ "0.0.0.0/0", 1, 0, 0, 0, 0 },
	{ "10.1.2.3/255.255.0.0", 1, 0, V4(10, 1, 0, 0), 0, 16 },
	{ "10.1.2.3/255.255.255.255", 1, 0, V4(10, 1, 2, 3), 0, 32 },
	{ "10.1.2.3/0.0.0.0", 1, 0, 0, 0, 0 },
	{ "255.255.255.255", 1, 0, V4(255, 255, 255, 255), 0, 32 },
	{ "7", 1, 0, V4(0, 0, 0, 7), 0, 32 },
	{ "::", 1, 1, 0, 0, 128 },
	{ "::/0", 1, 1, 0, 0, 0 },
	{ "2001:db8::1/32", 1, 1, UINT64_C(0x20010db800000000), 0, 32 },
	{ "2001:db8::1/64", 1, 1, UINT64_C(0x20010db800000000), 0, 64 },
	{ "2001:db8::ffff/124", 1, 1, UINT64_C(0x20010db800000000), 0xfff0, 124 },
	{ "::ffff:1.2.3.4", 1, 1, 0, UINT64_C(0xffff01020304), 128 },
	{ "", 0, 0, 0, 0, 0 },
	{ "/8", 0, 0, 0, 0, 0 },
	{ "1.2.3.4.5", 0, 0, 0, 0, 0 },
	{ "1.2.3.", 0, 0, 0, 0, 0 },
	{ ".1", 0, 0, 0, 0, 0 },
	{ "1..2", 0, 0, 0, 0, 0 },
	{ "256.0.0.1", 0, 0, 0, 0, 0 },
	{ "010.0.0.1", 0, 0, 0, 0, 0 },
	{ "10.65535", 0, 0, 0, 0, 0 },
	{ "0x7f.1", 0, 0, 0, 0, 0 },
	{ "1.2.3.4/33", 0, 0, 0, 0, 0 },
	{ "1.2.3.4/-1", 0, 0, 0, 0, 0 },
	{ "1.2.3.4/", 0, 0, 0, 0, 0 },
	{ "1.2.3.4/8/8", 0, 0, 0, 0, 0 },
	{ "1.2.3.4/255.0.0.255", 0, 0, 0, 0, 0 },
	{ "1.2.3.4/255.255", 0, 0, 0, 0, 0 },
	{ "1.2.3.4 ", 0, 0, 0, 0, 0 },
	{ "::1/129", 0, 0, 0, 0, 0 },
	{ "::1/ffff::", 0, 0, 0, 0, 0 },
	{ "::1::", 0, 0, 0, 0, 0 },
	{ "1:2:3:4:5:6:7:8:9", 0, 0, 0, 0, 0 },
	{ "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", 0, 0, 0, 0, 0 },
	{ "host", 0, 0, 0, 0, 0 },
};

static void
networks_are_parsed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *t = &rows[i];
		struct pattern_net net;
		const char *why = NULL;
		int ok = pattern_net_parse(str_of(t->text), &net, &why) == 0;

		if (ok != t->ok)
			fail_msg("<%s>: %s", t->text, why);
		assert_non_null(why);
		if (ok && (net.hi != t->hi || net.lo != t->lo || net.bits != t->bits ||
				  net.v6 != t->v6))
			fail_msg("<%s>: %llx %llx /%u", t->text, (unsigned long long)net.hi,
				(unsigned long long)net.lo, net.bits);
	}
}

static void
a_network_is_cut_to_its_bits(void **state)
{
	struct pattern_net net;

	(void)state;
	for (unsigned int bits = 129; bits-- > 0;) {
		net = (struct pattern_net){ ~UINT64_C(0), ~UINT64_C(0), 128, 1 };
		pattern_net_cut(&net, bits);
		assert_int_equal(net.bits, bits);
		assert_int_equal(__builtin_popcountll(net.hi) + __builtin_popcountll(net.lo), bits);
		assert_true(bits == 0 || net.hi >> 63);
	}
}

/* Converting an address to a sample and back gives the same address. */
static void
an_address_and_its_sample_are_the_same(void **state)
{
	unsigned int addresses = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pattern_net net, back;
		struct str text = { rows[i].text, strcspn(rows[i].text, "/") };
		struct sample s;
		const char *why;

		memset(&s, 0xff, sizeof(s));
		if (pattern_address_parse(text, &s) < 0)
			continue;
		addresses++;
		assert_int_equal(pattern_net_parse(text, &net, &why), 0);
		assert_int_equal(s.type, net.v6 ? SAMPLE_IPV6 : SAMPLE_IPV4);
		pattern_net_of(&s, &back);
		assert_true(back.hi == net.hi && back.lo == net.lo && back.v6 == net.v6);
		assert_int_equal(back.bits, net.v6 ? 128 : 32);
	}
	assert_true(addresses > 5);
}

static void
keys_of_different_networks_differ(void **state)
{
	struct pattern_net a = { 0 }, b = { .bits = 1 }, c = { .v6 = 1 };
	char ka[PATTERN_NET_KEY], kb[PATTERN_NET_KEY], kc[PATTERN_NET_KEY];
	size_t len = pattern_net_key(&a, ka);

	(void)state;
	assert_int_equal(pattern_net_key(&b, kb), len);
	assert_memory_not_equal(ka, kb, len);
	assert_int_not_equal(pattern_net_key(&c, kc), len);
	assert_true(pattern_net_hash(&keyhash_known, &a) != pattern_net_hash(&keyhash_known, &b));
	assert_true(pattern_net_hash(&keyhash_known, &a) != pattern_net_hash(&keyhash_known, &c));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(networks_are_parsed),
		cmocka_unit_test(a_network_is_cut_to_its_bits),
		cmocka_unit_test(an_address_and_its_sample_are_the_same),
		cmocka_unit_test(keys_of_different_networks_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
