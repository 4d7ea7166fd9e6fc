#include "proxy/http1/persist.c"
#include <stdio.h>
#include <string.h>

#include "unit/test.h"

/* 2026-11-22 10:15:52 UTC, which HAProxy 2.6 encodes as "awLA2". */
#define NOW 1795342552

static char name[] = "SRV";

static struct persist_conf
conf(unsigned int idle, unsigned int life)
{
	return (struct persist_conf){ .name = name, .way = PERSIST_INSERT, .max_idle = idle,
		.max_life = life };
}

static void
cookies_are_read_with_their_dates(void **state)
{
	static const struct {
		enum persist_way way;
		const char *text, *who;
		int64_t last, first;
	} t[] = {
		{ PERSIST_INSERT, "a", "a", 0, 0 },
		{ PERSIST_INSERT, "", "", 0, 0 },
		{ PERSIST_INSERT, "a|awLA2", "a", NOW, 0 },
		{ PERSIST_INSERT, "a|awLA3|awLA2", "a", NOW + 4, NOW },
		{ PERSIST_INSERT, "a||awLA2", "a", 0, NOW },
		{ PERSIST_REWRITE, "a|awLA2xx|", "a", NOW, 0 },
		{ PERSIST_PASSIVE, "a|awLA|aw*A2", "a", 0, 0 },
		{ PERSIST_INSERT, "a|AAAAA|////+", "a", 0, (INT64_C(1) << 32) - 8 },
		{ PERSIST_INSERT, "a~b", "a~b", 0, 0 },
		{ PERSIST_PREFIX, "a~b~c", "a", 0, 0 },
		{ PERSIST_PREFIX, "~b", "", 0, 0 },
		{ PERSIST_PREFIX, "a|awLA2", "a|awLA2", 0, 0 },
		{ PERSIST_PREFIX, "", "", 0, 0 },
	};
	struct persist_cookie k;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct persist_conf c = { .way = t[i].way };

		persist_cookie_read(&c, str_of(t[i].text), &k);
		if (!str_is(k.who, str_of(t[i].who)) || k.last != t[i].last ||
			k.first != t[i].first)
			fail_msg("%s: %.*s %lld %lld", t[i].text, (int)k.who.len, k.who.p,
				(long long)k.last, (long long)k.first);
	}
}

/* Ages are in seconds before NOW; 0: no date. The letters that HAProxy 2.6 logs, and whether it
 * sends a new cookie. */
static void
old_and_future_dates_are_recognized(void **state)
{
#define FAR (-PERSIST_AHEAD_MAX_S - 8)
#define NEAR (-PERSIST_AHEAD_MAX_S + 8)
#define NONE INT64_MIN
	static const struct {
		unsigned int idle, life;
		int64_t last, first;
		char age;
		int due;
	} t[] = {
		/* no limits: a cookie with a date is replaced by one without */
		{ 0, 0, NONE, NONE, 0, 0 },
		{ 0, 0, 8, NONE, 0, 1 },
		{ 0, 0, FAR, NONE, 0, 0 },
		{ 0, 0, NONE, 0, 0, 1 },
		/* maxidle */
		{ 60, 0, NONE, NONE, 0, 1 },
		{ 60, 0, 0, NONE, 0, 0 },
		{ 60, 0, 4, NONE, 0, 1 },
		{ 60, 0, 60, NONE, 0, 1 },
		{ 60, 0, 64, NONE, 'E', -1 },
		{ 60, 0, NEAR, NONE, 0, 0 },
		{ 60, 0, FAR, NONE, 'E', -1 },
		{ 60, 0, 0, 9000, 0, 1 },
		/* maxlife */
		{ 0, 600, NONE, NONE, 0, 1 },
		{ 0, 600, NONE, 0, 0, 0 },
		{ 0, 600, 0, NONE, 0, 1 },
		{ 0, 600, 4, 400, 0, 1 },
		{ 0, 600, 0, 400, 0, 0 },
		{ 0, 600, 0, 604, 'O', -1 },
		{ 0, 600, 0, FAR, 'O', -1 },
		/* both */
		{ 60, 600, 64, 604, 'O', -1 },
		{ 60, 600, 64, 4, 'E', -1 },
		{ 60, 600, 4, 4, 0, 1 },
		{ 60, 600, 0, 4, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct persist_conf c = conf(t[i].idle, t[i].life);
		struct persist_cookie k = { .last = t[i].last == NONE ? 0 : NOW - t[i].last,
			.first = t[i].first == NONE ? 0 : NOW - t[i].first };
		char age = persist_cookie_age(&c, &k, NOW);

		if (age != t[i].age || (t[i].due >= 0 &&
					       persist_cookie_is_due(&c, &k, NOW) != t[i].due))
			fail_msg("row %zu: %c, due %d", i, age ? age : '-',
				persist_cookie_is_due(&c, &k, NOW));
	}
}

static const char *
written(const struct persist_conf *c, const char *who, int64_t first)
{
	static char text[200];
	struct sbuf b;

	sbuf_init_fixed(&b, text, sizeof(text));
	persist_cookie_write(c, who, NOW + 3, first, &b);
	assert_false(b.failed);
	assert_true(b.len < strlen(c->name) + (who ? strlen(who) : 0) +
			(c->attrs ? strlen(c->attrs) : 0) + PERSIST_COOKIE_EXTRA);
	return text;
}

static void
cookies_are_written_with_their_attributes(void **state)
{
	static char attrs[] = "; domain=.a.b; HttpOnly";
	struct persist_conf c = conf(0, 0);

	(void)state;
	assert_string_equal(written(&c, "a", 0), "SRV=a; path=/");
	c.attrs = attrs;
	assert_string_equal(written(&c, "a", 0), "SRV=a; path=/; domain=.a.b; HttpOnly");
	assert_string_equal(written(&c, NULL, 0),
		"SRV=; Expires=Thu, 01-Jan-1970 00:00:01 GMT; path=/; domain=.a.b; HttpOnly");
	c = conf(60, 0);
	assert_string_equal(written(&c, "a", NOW - 40), "SRV=a|awLA2; path=/");
	c = conf(0, 60);
	assert_string_equal(written(&c, "a", 0), "SRV=a|awLA2|awLA2; path=/");
	assert_string_equal(written(&c, "a", NOW - 40), "SRV=a|awLA2|awLAs; path=/");
	assert_string_equal(
		written(&c, NULL, 0), "SRV=; Expires=Thu, 01-Jan-1970 00:00:01 GMT; path=/");
}

/* A date that was written is read back, at any time. */
static void
a_written_date_is_read_back(void **state)
{
	struct persist_conf c = conf(60, 60);

	(void)state;
	for (int64_t s = 4; s < INT64_C(1) << 32; s = s * 3 + 1) {
		char text[100];
		struct persist_cookie k;
		struct sbuf b;

		sbuf_init_fixed(&b, text, sizeof(text));
		persist_cookie_write(&c, "who", s, 7, &b);
		persist_cookie_read(&c, (struct str){ text + 4, b.len - 4 }, &k);
		assert_true(str_is(k.who, STR("who")));
		assert_int_equal(k.last, s & ~INT64_C(3));
		assert_int_equal(k.first, 4);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cookies_are_read_with_their_dates),
		cmocka_unit_test(old_and_future_dates_are_recognized),
		cmocka_unit_test(cookies_are_written_with_their_attributes),
		cmocka_unit_test(a_written_date_is_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
