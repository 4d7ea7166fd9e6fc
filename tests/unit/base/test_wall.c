#include "base/wall.h"
#include "unit/test.h"

#include <stdlib.h>
#include <string.h>

static const char *
shown(void (*add)(struct sbuf *, const struct tm *), const struct tm *tm, char *buf, size_t len)
{
	struct sbuf b;

	sbuf_init_fixed(&b, buf, len);
	add(&b, tm);
	assert_false(b.failed);
	return b.p;
}

static void
zone(const char *name)
{
	setenv("TZ", name, 1);
	tzset();
}

static void
test_dates_in_utc(void **state)
{
	struct wall w = { 0 };
	const struct tm *tm;
	char buf[64];
	struct sbuf b;

	(void)state;
	zone("UTC0");
	tm = wall_local(&w, 1233922376); /* 2009-02-06 12:12:56 */
	assert_string_equal(shown(wall_add_syslog, tm, buf, sizeof(buf)), "Feb  6 12:12:56");
	assert_string_equal(shown(wall_add_clf, tm, buf, sizeof(buf)), "06/Feb/2009:12:12:56");
	assert_string_equal(shown(wall_add_zone, tm, buf, sizeof(buf)), "+0000");
	sbuf_init_fixed(&b, buf, sizeof(buf));
	wall_add_iso(&b, tm, 1234);
	assert_string_equal(b.p, "2009-02-06T12:12:56.001234+00:00");
	sbuf_init_fixed(&b, buf, sizeof(buf));
	wall_add_mail(&b, tm);
	assert_string_equal(b.p, "Fri, 06 Feb 2009 12:12:56 +0000 (UTC)");
}

static void
test_zones_on_both_sides(void **state)
{
	struct wall w = { 0 };
	const struct tm *tm;
	char buf[64];
	struct sbuf b;

	(void)state;
	zone("WEST3:30");
	tm = wall_local(&w, 0);
	assert_string_equal(shown(wall_add_zone, tm, buf, sizeof(buf)), "-0330");
	assert_string_equal(shown(wall_add_syslog, tm, buf, sizeof(buf)), "Dec 31 20:30:00");
	zone("EAST-5:45");
	w.valid = 0;
	tm = wall_local(&w, 0);
	sbuf_init_fixed(&b, buf, sizeof(buf));
	wall_add_iso(&b, tm, 999999);
	assert_string_equal(b.p, "1970-01-01T05:45:00.999999+05:45");
}

static void
test_a_second_is_kept_and_replaced(void **state)
{
	struct wall w = { 0 };

	(void)state;
	zone("UTC0");
	assert_int_equal(wall_local(&w, 59)->tm_sec, 59);
	w.tm.tm_sec = 7; /* the same second again: nothing was computed */
	assert_int_equal(wall_local(&w, 59)->tm_sec, 7);
	assert_int_equal(wall_local(&w, 60)->tm_min, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dates_in_utc),
		cmocka_unit_test(test_zones_on_both_sides),
		cmocka_unit_test(test_a_second_is_kept_and_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
