#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rule/match/pattern_entry.h"
#include "rule/match/pattern_key.h"
#include "unit/test.h"

static char room[4096];
static struct arena arena = { .p = room, .cap = sizeof(room) };
static struct sample_ctx cx;

static int
open_cx(void **state)
{
	(void)state;
	cx.arena = &arena;
	cx.regex = regex_work_new();
	return cx.regex ? 0 : -1;
}

static int
close_cx(void **state)
{
	(void)state;
	regex_work_free(&cx.regex);
	return 0;
}

static void
add(struct pattern_set *p, const char *text, enum pattern_op op, unsigned int flags)
{
	struct rule_err why = { 0 };
	struct str value = { NULL, 0 };

	if (p->out != SAMPLE_ANY)
		value = str_of(text);
	if (pattern_set_add(p, str_of(text), op, flags | PATTERN_NO_DNS, value, &why) < 0)
		fail_msg("<%s>: %s", text, why.text);
}

static const struct pattern *
look_up(const struct pattern_set *p, struct sample s)
{
	const struct pattern *t = pattern_match(p, &s, &cx, NULL);

	arena_release(&arena, 0);
	return t;
}

static struct sample
text_sample(const char *text)
{
	return (struct sample){ .type = SAMPLE_STR, .u.str = str_of(text) };
}

static struct sample
int_sample(int64_t v)
{
	return (struct sample){ .type = SAMPLE_SINT, .u.sint = v };
}

#define NOCASE PATTERN_NOCASE

/* The results of Debian's haproxy 2.6 for each of them as a condition. */
static void
texts_match_as_in_haproxy(void **state)
{
	static const struct {
		enum pattern_method method;
		const char *subject, *pattern;
		unsigned int flags;
		int want;
	} t[] = {
		{ PATTERN_STR, "abc", "abc", 0, 1 },
		{ PATTERN_STR, "ABC", "abc", 0, 0 },
		{ PATTERN_STR, "ABC", "abc", NOCASE, 1 },
		{ PATTERN_STR, "abc", "ABC", NOCASE, 1 },
		{ PATTERN_STR, "abcd", "abc", 0, 0 },
		{ PATTERN_STR, "", "", 0, 1 },
		{ PATTERN_BEG, "www.x", "www.", 0, 1 },
		{ PATTERN_BEG, "WWW.x", "www.", NOCASE, 1 },
		{ PATTERN_BEG, "ww", "www.", 0, 0 },
		{ PATTERN_BEG, "abc", "", 0, 1 },
		{ PATTERN_END, "a.b", ".b", 0, 1 },
		{ PATTERN_END, "a.b", ".B", 0, 0 },
		{ PATTERN_END, "a.b", ".B", NOCASE, 1 },
		{ PATTERN_END, "b", ".b", 0, 0 },
		{ PATTERN_END, ".b", ".b", 0, 1 },
		{ PATTERN_SUB, "xabcx", "abc", 0, 1 },
		{ PATTERN_SUB, "xaBcx", "abc", 0, 0 },
		{ PATTERN_SUB, "xaBcx", "AbC", NOCASE, 1 },
		{ PATTERN_SUB, "ab", "abc", NOCASE, 0 },
		{ PATTERN_SUB, "ab", "", 0, 1 },
		{ PATTERN_SUB, "", "", NOCASE, 1 },
		{ PATTERN_DIR, "/a/b/c", "/b/", 0, 1 },
		{ PATTERN_DIR, "/a/b/c", "/", 0, 0 },
		{ PATTERN_DIR, "/a/b/c", "a/b", 0, 1 },
		{ PATTERN_DIR, "/a/b?c", "b", 0, 1 },
		{ PATTERN_DIR, "/a/b?c", "c", 0, 1 },
		{ PATTERN_DIR, "/images/png/logo/32x32.png", "png", 0, 1 },
		{ PATTERN_DIR, "/images/png/logo/32x32.png", "/images", 0, 1 },
		{ PATTERN_DIR, "/images/png/logo/32x32.png", "logo/32x32.png", 0, 1 },
		{ PATTERN_DIR, "/images/png/logo/32x32.png", "32x32", 0, 0 },
		{ PATTERN_DIR, "/images/png/logo/32x32.png", "pn", 0, 0 },
		{ PATTERN_DIR, "/IMAGES", "images", NOCASE, 1 },
		{ PATTERN_DOM, "http://www1.dc-eu.example.com:80/blah", "www1", 0, 1 },
		{ PATTERN_DOM, "http://www1.dc-eu.example.com:80/blah", ":www1:", 0, 1 },
		{ PATTERN_DOM, "http://www1.dc-eu.example.com:80/blah", "dc-eu.example", 0, 1 },
		{ PATTERN_DOM, "http://www1.dc-eu.example.com:80/blah", "dc-eu.example:80", 0, 0 },
		{ PATTERN_DOM, "http://www1.dc-eu.example.com:80/blah", "80", 0, 1 },
		{ PATTERN_DOM, "http://www1.dc-eu.example.com:80/blah", "blah", 0, 1 },
		{ PATTERN_DOM, "http://www1.dc-eu.example.com:80/blah", "eu", 0, 0 },
		{ PATTERN_DOM, "http://www1.dc-eu.example.com:80/blah", "dc", 0, 0 },
		{ PATTERN_DOM, "a.b.c", "b.", 0, 1 },
		{ PATTERN_DOM, "a.b.c", ".", 0, 0 },
		{ PATTERN_DOM, "a.b.c", "b..c", 0, 0 },
		{ PATTERN_DOM, "a..c", "a..c", 0, 1 },
		{ PATTERN_REG, "/a.gif", "^/.*\\.gif$", 0, 1 },
		{ PATTERN_REG, "/a.GIF", "^/.*\\.gif$", 0, 0 },
		{ PATTERN_REG, "/a.GIF", "^/.*\\.gif$", NOCASE, 1 },
		{ PATTERN_BIN, "abc", "616263", 0, 1 },
		{ PATTERN_BIN, "abc", "61", 0, 0 },
		{ PATTERN_BIN, "jk", "6A6b", 0, 1 },
		{ PATTERN_INT, "12", "12", 0, 1 },
		{ PATTERN_INT, "12abc", "12", 0, 1 },
		{ PATTERN_LEN, "abc", "3", 0, 1 },
		{ PATTERN_LEN, "abc", "4:", 0, 0 },
		{ PATTERN_LEN, "", "0", 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct pattern_set p;
		int got;

		pattern_set_init(&p, t[i].method, SAMPLE_ANY, &keyhash_known);
		add(&p, t[i].pattern, PATTERN_EQ, t[i].flags);
		got = look_up(&p, text_sample(t[i].subject)) != NULL;
		if (got != t[i].want)
			fail_msg("%s: <%s> and <%s>: %d", pattern_method_name(t[i].method),
				t[i].subject, t[i].pattern, got);
		pattern_set_fini(&p);
	}
}

static void
numbers_match_ranges(void **state)
{
	static const struct {
		int64_t v;
		enum pattern_op op;
		const char *pattern;
		int want;
	} t[] = {
		{ 5, PATTERN_EQ, "5", 1 },
		{ 5, PATTERN_EQ, "4:6", 1 },
		{ 5, PATTERN_EQ, ":5", 1 },
		{ 5, PATTERN_EQ, "6:", 0 },
		{ 5, PATTERN_GE, "5", 1 },
		{ 5, PATTERN_GT, "5", 0 },
		{ 5, PATTERN_GT, "4", 1 },
		{ 5, PATTERN_LE, "5", 1 },
		{ 5, PATTERN_LT, "5", 0 },
		{ 5, PATTERN_LT, "6", 1 },
		{ -5, PATTERN_LT, "0", 1 },
		{ -5, PATTERN_EQ, "-5", 1 },
		{ INT64_MAX, PATTERN_GT, "9223372036854775807", 0 },
		{ INT64_MAX, PATTERN_GE, "9223372036854775807", 1 },
		{ INT64_MIN, PATTERN_LT, "-9223372036854775808", 0 },
		{ INT64_MIN, PATTERN_LE, "-9223372036854775808", 1 },
		{ 0, PATTERN_GT, "9223372036854775807", 0 },
		{ 0, PATTERN_LT, "-9223372036854775808", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct pattern_set p;

		pattern_set_init(&p, PATTERN_INT, SAMPLE_ANY, &keyhash_known);
		add(&p, t[i].pattern, t[i].op, 0);
		if ((look_up(&p, int_sample(t[i].v)) != NULL) != t[i].want)
			fail_msg("%lld %d %s", (long long)t[i].v, t[i].op, t[i].pattern);
		pattern_set_fini(&p);
	}
}

static void
versions_match_ranges(void **state)
{
	struct pattern_set p;

	(void)state;
	pattern_set_init(&p, PATTERN_VER, SAMPLE_ANY, &keyhash_known);
	add(&p, "3:3.1", PATTERN_EQ, 0);
	assert_non_null(look_up(&p, int_sample(3 << 16)));
	assert_non_null(look_up(&p, int_sample(3 << 16 | 1)));
	assert_null(look_up(&p, int_sample(3 << 16 | 2)));
	assert_null(look_up(&p, int_sample(3)));
	pattern_set_fini(&p);
}

static void
addresses_match_networks(void **state)
{
	static const struct {
		const char *subject, *pattern;
		int want;
	} t[] = {
		{ "10.5.5.5", "10.0.0.0/8", 1 },
		{ "11.5.5.5", "10.0.0.0/8", 0 },
		{ "10.5.5.5", "10.12/8", 1 },
		{ "10.0.0.12", "10.12", 1 },
		{ "1.2.3.4", "0.0.0.0/0", 1 },
		{ "1.2.3.4", "::ffff:1.2.3.0/120", 1 },
		{ "1.2.3.4", "::1.2.3.4", 0 },
		{ "1.2.3.4", "::/0", 1 },
		{ "2002:7f00:1::5", "127.0.0.1", 1 },
		{ "2002:7f00:1::", "127.0.0.1", 1 },
		{ "::ffff:1.2.3.4", "1.2.3.4", 1 },
		{ "::1.2.3.4", "1.2.3.4", 1 },
		{ "::1", "0.0.0.1", 1 },
		{ "2001:db8::1", "2001:db8::/32", 1 },
		{ "2001:db9::1", "2001:db8::/32", 0 },
		{ "2001:db8::1", "2001:db8::1", 1 },
		{ "2001:db8::1", "2001:db8::2", 0 },
		{ "2001:db8::1", "0.0.0.0/0", 0 },
		{ "1:ffff::1.2.3.4", "1.2.3.4", 0 },
		{ "not an address", "0.0.0.0/0", 0 },
		{ "", "0.0.0.0/0", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct pattern_set p;

		pattern_set_init(&p, PATTERN_IP, SAMPLE_ANY, &keyhash_known);
		add(&p, t[i].pattern, PATTERN_EQ, 0);
		if ((look_up(&p, text_sample(t[i].subject)) != NULL) != t[i].want)
			fail_msg("%s in %s", t[i].subject, t[i].pattern);
		pattern_set_fini(&p);
	}
}

/* Samples of other types, by the matrix in 7.1. */
static void
samples_are_cast_before_they_match(void **state)
{
	struct sample ip = { .type = SAMPLE_IPV4 }, bin = { .type = SAMPLE_BIN };
	struct sample yes = { .type = SAMPLE_BOOL, .u.sint = 1 };
	struct pattern_set p;

	(void)state;
	pattern_set_init(&p, PATTERN_STR, SAMPLE_ANY, &keyhash_known);
	add(&p, "5", PATTERN_EQ, 0);
	add(&p, "10.0.0.1", PATTERN_EQ, 0);
	assert_non_null(look_up(&p, int_sample(5)));
	ip.u.ipv4.s_addr = htonl(0x0a000001);
	assert_non_null(look_up(&p, ip));
	/* Bytes after a NUL count: "5\0" is not 5. */
	bin.u.str = (struct str){ "5\0", 2 };
	assert_null(look_up(&p, bin));
	bin.u.str.len = 1;
	assert_non_null(look_up(&p, bin));
	bin.u.str = (struct str){ NULL, 0 };
	assert_null(look_up(&p, bin));
	pattern_set_fini(&p);
	pattern_set_init(&p, PATTERN_LEN, SAMPLE_ANY, &keyhash_known);
	add(&p, "3", PATTERN_EQ, 0);
	assert_non_null(look_up(&p, int_sample(123)));
	pattern_set_fini(&p);
	pattern_set_init(&p, PATTERN_INT, SAMPLE_ANY, &keyhash_known);
	add(&p, "1", PATTERN_EQ, 0);
	assert_non_null(look_up(&p, yes));
	pattern_set_fini(&p);

	assert_true(pattern_match_bool(&yes, &cx));
	ip = int_sample(-3);
	assert_true(pattern_match_bool(&ip, &cx));
	ip = text_sample("0");
	assert_false(pattern_match_bool(&ip, &cx));
	ip = text_sample("5");
	assert_true(pattern_match_bool(&ip, &cx));
	ip.type = SAMPLE_IPV6;
	assert_false(pattern_match_bool(&ip, &cx));
}

/* The manual wants the most specific or the first of several matches (map). */
static void
the_best_of_several_matches_is_taken(void **state)
{
	static const struct {
		enum pattern_method method;
		const char *patterns[4];
		const char *subject, *want;
	} t[] = {
		{ PATTERN_BEG, { "/", "/a", "/a/b", "/a/b/c" }, "/a/bx", "/a/b" },
		{ PATTERN_BEG, { "/a/b/c", "/a/b", "/a", "/" }, "/a/bx", "/a/b" },
		{ PATTERN_IP, { "0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.1.1" },
			"10.1.1.2", "10.1.0.0/16" },
		{ PATTERN_IP, { "10.1.1.1", "10.1.0.0/16", "10.0.0.0/8", "0.0.0.0/0" },
			"10.2.1.2", "10.0.0.0/8" },
		{ PATTERN_IP, { "::/0", "2001:db8::/32", "2001:db8:1::/48", "2001:db8:1::1" },
			"2001:db8:1::2", "2001:db8:1::/48" },
		{ PATTERN_END, { ".org", ".b.org", "a.b.org", "org" }, "a.b.org", ".org" },
		{ PATTERN_END, { "a.b.org", ".b.org", ".org", "org" }, "x.b.org", ".b.org" },
		{ PATTERN_DOM, { "org", "b.org", "a", "b" }, "a.b.org", "org" },
		{ PATTERN_DIR, { "z", "c", "b", "a/b" }, "/a/b/c", "c" },
		{ PATTERN_SUB, { "z", "b", "ab", "abc" }, "abc", "b" },
		{ PATTERN_REG, { "^z", "b", "^abc", "." }, "abc", "b" },
		{ PATTERN_INT, { "1:9", "5", "5:6", "7" }, "5", "1:9" },
		{ PATTERN_INT, { "5", "1:9", "5:6", "7" }, "5", "5" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const struct pattern *hit;
		struct pattern_set p;

		pattern_set_init(&p, t[i].method, SAMPLE_STR, &keyhash_known);
		for (int k = 0; k < 4; k++)
			add(&p, t[i].patterns[k], PATTERN_EQ, 0);
		hit = look_up(&p, text_sample(t[i].subject));
		assert_non_null(hit);
		if (!str_is(pattern_value(hit).u.str, str_of(t[i].want)))
			fail_msg("%zu: <%s> is <%s>", i, t[i].subject, pattern_value(hit).u.str.p);
		pattern_set_fini(&p);
	}
}

/* --- many patterns, compared with a matcher that tries each as the manual describes --- */

static uint32_t
dice(void)
{
	static uint32_t x = 7;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

static struct keyhash
random_key(void)
{
	const uint64_t bits[2] = { (uint64_t)dice() << 32 | dice(), dice() };
	struct keyhash k;

	keyhash_init(&k, bits);
	return k;
}

static char *
random_text(char *to, unsigned int max)
{
	static const char letters[] = "aAb/.B?:";
	unsigned int n = dice() % (max + 1);

	for (unsigned int i = 0; i < n; i++)
		to[i] = letters[dice() % 8];
	to[n] = '\0';
	return to;
}

static int
same(const char *a, const char *b, size_t n, int nocase)
{
	return nocase ? strncasecmp(a, b, n) == 0 : strncmp(a, b, n) == 0;
}

static int
naive(enum pattern_method m, const char *pattern, int nocase, const char *s)
{
	const char *delimiters = m == PATTERN_DOM ? "/?.:" : "/?";
	size_t len = strlen(s), n;
	char key[64];

	if (m == PATTERN_DIR || m == PATTERN_DOM)
		pattern += strspn(pattern, delimiters);
	n = strlen(pattern);
	memcpy(key, pattern, n + 1);
	if (m == PATTERN_DIR || m == PATTERN_DOM) {
		while (n && strchr(delimiters, key[n - 1]))
			key[--n] = '\0';
		if (!n)
			return 0;
	}
	for (size_t i = 0; i + n <= len; i++) {
		int first = i == 0, last = i + n == len;

		if (m == PATTERN_DIR || m == PATTERN_DOM) {
			first = first || strchr(delimiters, s[i - 1]);
			last = last || strchr(delimiters, s[i + n]);
		}
		if ((m == PATTERN_SUB || m == PATTERN_END || first) &&
			(m == PATTERN_SUB || m == PATTERN_BEG || last) &&
			same(s + i, key, n, nocase))
			return 1;
	}
	return 0;
}

static void
like_a_naive_matcher(void **state)
{
	static const enum pattern_method methods[] = { PATTERN_STR, PATTERN_BEG, PATTERN_END,
		PATTERN_SUB, PATTERN_DIR, PATTERN_DOM };
	char text[50][16], s[32];
	unsigned int flags[50], hits = 0, misses = 0;

	(void)state;
	for (int round = 0; round < 600; round++) {
		enum pattern_method m = methods[round % 6];
		struct keyhash key = random_key();
		struct pattern_set p;
		int n = 1 + (int)(dice() % 50);

		pattern_set_init(&p, m, SAMPLE_ANY, &key);
		for (int i = 0; i < n; i++) {
			flags[i] = dice() % 2 ? PATTERN_NOCASE : 0;
			add(&p, random_text(text[i], 8), PATTERN_EQ, flags[i]);
		}
		for (int k = 0; k < 50; k++) {
			const struct pattern *hit;
			int want = -1;

			random_text(s, 16);
			hit = look_up(&p, text_sample(s));
			for (int i = 0; i < n; i++) {
				if (!naive(m, text[i], flags[i] != 0, s))
					continue;
				if (want < 0 || (m == PATTERN_BEG &&
							strlen(text[i]) > strlen(text[want])))
					want = i;
			}
			if ((hit != NULL) != (want >= 0))
				fail_msg("%s <%s>: %d, want %d", pattern_method_name(m), s,
					hit != NULL, want);
			hits += hit != NULL;
			misses += hit == NULL;
			if (hit && m != PATTERN_BEG)
				assert_int_equal(pattern_entry_of(hit)->id, want + 1);
			else if (hit)
				assert_int_equal(pattern_key(hit).len, strlen(text[want]));
		}
		pattern_set_fini(&p);
	}
	assert_true(hits > 5000 && misses > 5000);
}

static void
networks_like_a_naive_matcher(void **state)
{
	struct pattern_net net[60];
	char text[64];

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct keyhash key = random_key();
		struct pattern_set p;

		pattern_set_init(&p, PATTERN_IP, SAMPLE_ANY, &key);
		for (int i = 0; i < 60; i++) {
			const char *why;

			snprintf(text, sizeof(text), "%u.%u.%u.%u/%u", dice() % 2, dice() % 2,
				dice() % 4, dice() % 256, dice() % 33);
			add(&p, text, PATTERN_EQ, 0);
			assert_int_equal(pattern_net_parse(str_of(text), &net[i], &why), 0);
		}
		for (int k = 0; k < 50; k++) {
			uint32_t v = (dice() % 2) << 24 | (dice() % 2) << 16 |
				(dice() % 4) << 8 | dice() % 256;
			struct sample s = { .type = SAMPLE_IPV4, .u.ipv4.s_addr = htonl(v) };
			const struct pattern *hit = look_up(&p, s);
			int want = -1;

			for (int i = 0; i < 60; i++) {
				uint32_t mask = net[i].bits ? ~0u << (32 - net[i].bits) : 0;

				if ((v & mask) == net[i].hi >> 32 && net[i].bits > want)
					want = net[i].bits;
			}
			assert_int_equal(hit ? pattern_key(hit).p[PATTERN_NET_KEY4 - 1] : -1, want);
		}
		pattern_set_fini(&p);
	}
}

/* The groups that a map's regex captured, for map_regm. */
static void
groups_of_a_regex_are_captured(void **state)
{
	struct sample s = text_sample("/user/42/x");
	struct regex_match m;
	struct pattern_set p;

	(void)state;
	pattern_set_init(&p, PATTERN_REG, SAMPLE_STR, &keyhash_known);
	add(&p, "^/no/(.*)", PATTERN_EQ, 0);
	add(&p, "^/user/([0-9]+)/", PATTERN_EQ, 0);
	assert_non_null(pattern_match(&p, &s, &cx, &m));
	assert_true(str_is(m.group[1], STR("42")));
	pattern_set_fini(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_match_as_in_haproxy),
		cmocka_unit_test(numbers_match_ranges),
		cmocka_unit_test(versions_match_ranges),
		cmocka_unit_test(addresses_match_networks),
		cmocka_unit_test(samples_are_cast_before_they_match),
		cmocka_unit_test(the_best_of_several_matches_is_taken),
		cmocka_unit_test(like_a_naive_matcher),
		cmocka_unit_test(networks_like_a_naive_matcher),
		cmocka_unit_test(groups_of_a_regex_are_captured),
	};

	return cmocka_run_group_tests(tests, open_cx, close_cx);
}
