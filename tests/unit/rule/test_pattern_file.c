#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "rule/pattern_file.h"

static struct sys sys;
static char path[64];

static void
write_file(const char *text, size_t len)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/tacit-patterns-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	close(fd);
}

static const struct pattern_file_use acl_use = {
	.path = "x", .method = PATTERN_STR, .out = SAMPLE_ANY, .flags = PATTERN_NO_DNS,
};
static const struct pattern_file_use map_use = {
	.path = "x", .method = PATTERN_STR, .out = SAMPLE_STR, .two_columns = 1,
};

/* As Debian's haproxy 2.6 reads the same bytes. */
static void
lines(void **state)
{
	static const char text[] = "# comment\nb x y\n\n #d\n\t \n\tlead trail  \ncr\r\n##\nlast";
	static const char *const want[] = { "b x y", "#d", "lead trail  ", "cr", "last" };
	struct pattern_set p;
	struct rule_err why;

	(void)state;
	pattern_set_init(&p, PATTERN_STR, SAMPLE_ANY);
	assert_int_equal(pattern_file_parse(&p, STR(text), &acl_use, &why), 0);
	assert_int_equal(p.n, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_string_equal(p.all[i]->text.p, want[i]);
	pattern_set_fini(&p);
}

static void
columns(void **state)
{
	static const char text[] =
		"# comment\nb x y\nc\n #d\tz  \n   2.22.246.0/23  \tUnited Kingdom "
		"\t \r\n";
	static const char *const want[][2] = {
		{ "b", "x y" }, { "c", "" }, { "#d", "z" }, { "2.22.246.0/23", "United Kingdom" },
	};
	struct pattern_set p;
	struct rule_err why;

	(void)state;
	pattern_set_init(&p, PATTERN_STR, SAMPLE_STR);
	assert_int_equal(pattern_file_parse(&p, STR(text), &map_use, &why), 0);
	assert_int_equal(p.n, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_string_equal(p.all[i]->text.p, want[i][0]);
		assert_string_equal(p.all[i]->value.p, want[i][1]);
	}
	pattern_set_fini(&p);
}

static void
wrong_lines(void **state)
{
	struct pattern_file_use use = acl_use;
	struct pattern_set p;
	struct rule_err why;

	(void)state;
	use.method = PATTERN_INT;
	pattern_set_init(&p, PATTERN_INT, SAMPLE_ANY);
	assert_true(pattern_file_parse(&p, STR("1\n# 2\n\nthree\n4"), &use, &why) < 0);
	assert_string_equal(why.text, "line 4 of 'x': 'three' is not a number");
	pattern_set_fini(&p);
	pattern_set_init(&p, PATTERN_STR, SAMPLE_ANY);
	assert_true(pattern_file_parse(&p, STR("a\nb\0c\n"), &acl_use, &why) < 0);
	assert_string_equal(why.text, "line 2 of 'x': a NUL byte");
	pattern_set_fini(&p);
}

/* Who names the same file for the same purpose has the same set. */
static void
shared(void **state)
{
	struct pattern_file_use use = map_use;
	const struct pattern_set *a, *b, *c;
	struct pattern_files f;

	(void)state;
	write_file("a 1\nb 2\n", 8);
	pattern_files_init(&f, &sys);
	use.path = path;
	a = pattern_files_get(&f, &use);
	b = pattern_files_get(&f, &use);
	assert_non_null(a);
	assert_ptr_equal(a, b);
	assert_int_equal(a->n, 2);
	use.out = SAMPLE_SINT;
	c = pattern_files_get(&f, &use);
	assert_non_null(c);
	assert_ptr_not_equal(a, c);
	use.flags = PATTERN_NOCASE;
	assert_ptr_not_equal(pattern_files_get(&f, &use), c);
	use.two_columns = 0;
	assert_null(pattern_files_get(&f, &use));
	pattern_files_fini(&f);
	unlink(path);
}

static void
missing(void **state)
{
	struct pattern_file_use use = acl_use;
	struct pattern_files f;

	(void)state;
	use.path = "/nonexistent/patterns";
	pattern_files_init(&f, &sys);
	assert_null(pattern_files_get(&f, &use));
	assert_non_null(strstr(f.why.text, "cannot read '/nonexistent/patterns'"));
	pattern_files_fini(&f);
	pattern_files_init(&f, NULL);
	assert_null(pattern_files_get(&f, &use));
	pattern_files_fini(&f);
}

/* Ten thousand entries, each of which is found. */
static void
large(void **state)
{
	struct pattern_file_use use = map_use;
	struct sample_ctx cx = { 0 };
	const struct pattern_set *p;
	struct pattern_files f;
	char *text = malloc(400000);
	size_t len = 0;

	(void)state;
	for (int i = 0; i < 10000; i++)
		len += (size_t)sprintf(text + len, "host%d.example.org  backend%d\n", i, i % 7);
	write_file(text, len);
	pattern_files_init(&f, &sys);
	use.path = path;
	p = pattern_files_get(&f, &use);
	assert_non_null(p);
	for (int i = 0; i < 10000; i++) {
		char key[64], value[64];
		struct sample s = { .type = SAMPLE_STR };
		const struct pattern *hit;

		snprintf(key, sizeof(key), "host%d.example.org", i);
		snprintf(value, sizeof(value), "backend%d", i % 7);
		s.u.str = str_of(key);
		hit = pattern_match(p, &s, &cx, NULL);
		assert_non_null(hit);
		assert_string_equal(hit->value.p, value);
	}
	pattern_files_fini(&f);
	unlink(path);
	free(text);
}

static int
setup(void **state)
{
	(void)state;
	sys_init(&sys, &sys_linux, NULL);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(columns),
		cmocka_unit_test(wrong_lines),
		cmocka_unit_test(shared),
		cmocka_unit_test(missing),
		cmocka_unit_test(large),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
