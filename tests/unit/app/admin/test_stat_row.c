/* The text of each column of a row. */
#include <stdio.h>
#include <string.h>

#include "app/admin/stat_rows.h"
#include "unit/test.h"
/* The unit itself, instead of the library's. */
#include "app/admin/admin_show_stat.c"

static struct sbuf out;
static struct stat_row row;

static int
setup(void **state)
{
	(void)state;
	memset(&row, 0, sizeof(row));
	sbuf_init(&out, 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	sbuf_fini(&out);
	return 0;
}

static void
set(enum stat_col c, int64_t n)
{
	row.v[c].kind = VAL_INT;
	row.v[c].u.n = n;
}

static void
the_widest_row_fits(void **state)
{
	char want[STAT_COLS * 22];
	size_t n = 0;

	(void)state;
	for (int c = 0; c < STAT_COLS; c++) {
		set((enum stat_col)c, INT64_MIN);
		n += (size_t)snprintf(want + n, sizeof(want) - n, "-9223372036854775808,");
	}
	snprintf(want + n, sizeof(want) - n, "\n");
	stat_row_print(&out, &row);
	assert_string_equal(out.p, want);
}

static void
numbers_and_texts_alternate(void **state)
{
	static const char want[] = "\"a,\"\"b\"\"\",,0,9223372036854775807,,";

	(void)state;
	row.v[STAT_pxname].kind = row.v[STAT_svname].kind = VAL_TEXT;
	row.v[STAT_pxname].u.s = "a,\"b\"";
	row.v[STAT_svname].u.s = "";
	set((enum stat_col)(STAT_svname + 1), 0);
	set((enum stat_col)(STAT_svname + 2), INT64_MAX);
	set((enum stat_col)(STAT_COLS - 1), -1);
	stat_row_print(&out, &row);
	assert_int_equal(strncmp(out.p, want, sizeof(want) - 1), 0);
	assert_string_equal(out.p + out.len - 5, ",-1,\n");
}

/* Around the length up to which they are copied with the numbers, with and without quotes. */
static void
texts_of_any_length_are_whole(void **state)
{
	char text[STAT_COLS][80], want[STAT_COLS * 100] = "", *end = want;

	(void)state;
	for (int c = 0; c < STAT_COLS; c++) {
		int len = c % 70, quoted = c % 3 == 2 && len > 0;

		memset(text[c], 'x', (size_t)len);
		text[c][len] = '\0';
		if (quoted)
			text[c][len - 1] = ',';
		row.v[c].kind = VAL_TEXT;
		row.v[c].u.s = text[c];
		end += sprintf(end, quoted ? "\"%s\"," : "%s,", text[c]);
	}
	(void)strcpy(end, "\n");
	stat_row_print(&out, &row);
	assert_string_equal(out.p, want);
}

static void
the_header_has_as_many_columns(void **state)
{
	unsigned int commas = 0;

	(void)state;
	stat_row_header(&out);
	for (const char *p = out.p; *p; p++)
		commas += *p == ',';
	assert_int_equal(commas, STAT_COLS);
	assert_int_equal(strncmp(out.p, "# pxname,svname,", 16), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_widest_row_fits),
		CASE(numbers_and_texts_alternate),
		CASE(texts_of_any_length_are_whole),
		CASE(the_header_has_as_many_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
