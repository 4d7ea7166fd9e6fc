#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "cfg/diag.h"
#include "rule/match/pattern_file.h"
#include "unit/test.h"

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
	.path = "x",
	.method = PATTERN_STR,
	.out = SAMPLE_ANY,
	.flags = PATTERN_NO_DNS,
};
static const struct pattern_file_use map_use = {
	.path = "x",
	.method = PATTERN_STR,
	.out = SAMPLE_STR,
	.two_columns = 1,
};

static struct pattern_files files;

/* The set of a file with this text, or NULL. */
static const struct pattern_set *
read_file(const struct pattern_file_use *as, struct str text)
{
	struct pattern_file_use use = *as;
	const struct pattern_set *set;

	write_file(text.p, text.len);
	pattern_files_init(&files, &sys);
	use.path = path;
	set = pattern_files_get(&files, &use);
	unlink(path);
	return set;
}

/* The n-th entry of the only file. */
static const struct pattern_entry *
nth_entry(size_t n)
{
	struct list *at = list_first(&files.refs, struct pattern_ref, link)->entries.next;

	while (n--)
		at = at->next;
	return list_entry(at, const struct pattern_entry, link);
}

/* The result of Debian's haproxy 2.6 for the same bytes. */
static void
lines_are_read_as_haproxy_reads_them(void **state)
{
	static const char text[] = "# comment\nb x y\n\n #d\n\t \n\tlead trail  \ncr\r\n##\nlast";
	static const char *const want[] = { "b x y", "#d", "lead trail  ", "cr", "last" };
	const struct pattern_set *set = read_file(&acl_use, STR(text));

	(void)state;
	assert_non_null(set);
	assert_int_equal(set->n, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_string_equal(nth_entry(i)->bytes, want[i]);
	pattern_files_fini(&files);
}

static void
a_map_has_two_columns(void **state)
{
	static const char text[] =
		"# comment\nb x y\nc\n #d\tz  \n   2.22.246.0/23  \tUnited Kingdom "
		"\t \r\n";
	static const char *const want[][2] = {
		{ "b", "x y" },
		{ "c", "" },
		{ "#d", "z" },
		{ "2.22.246.0/23", "United Kingdom" },
	};
	const struct pattern_set *set = read_file(&map_use, STR(text));

	(void)state;
	assert_non_null(set);
	assert_int_equal(set->n, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_string_equal(nth_entry(i)->bytes, want[i][0]);
		assert_string_equal(nth_entry(i)->value, want[i][1]);
	}
	pattern_files_fini(&files);
}

static void
assert_wrong(enum pattern_method m, struct str text, const char *want)
{
	struct pattern_file_use use = acl_use;
	char message[200];

	use.method = m;
	assert_null(read_file(&use, text));
	(void)snprintf(message, sizeof(message), want, path);
	assert_string_equal(files.why.text, message);
	pattern_files_fini(&files);
}

static void
a_wrong_line_is_named(void **state)
{
	(void)state;
	assert_wrong(
		PATTERN_INT, STR("1\n# 2\n\nthree\n4"), "line 4 of '%s': 'three' is not a number");
	assert_wrong(PATTERN_STR, STR("a\nb\0c\n"), "line 2 of '%s': a NUL byte");
}

/* Two uses of one file for the same purpose share a set. */
static void
shared(void **state)
{
	struct pattern_file_use use = map_use;
	const struct pattern_set *a, *b, *c;
	struct pattern_files f;

	(void)state;
	write_file("a 1\nb 2\n", 8);
	pattern_files_init(&f, &sys);
	f.key = (struct keyhash){ 8000, 7 };
	use.path = path;
	a = pattern_files_get(&f, &use);
	assert_non_null(a);
	assert_memory_equal(&a->index[0].key, &f.key, sizeof(f.key));
	assert_memory_equal(&pattern_files_find(&f, path)->table.key, &f.key, sizeof(f.key));
	b = pattern_files_get(&f, &use);
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
	assert_non_null(strstr(f.why.text, "used as a file of two columns already"));
	pattern_files_fini(&f);
	unlink(path);
}

static void
a_missing_file_is_an_error(void **state)
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

/* Ids: the requested ones, and the lowest free ones for the others, in order. */
static void
free_ids_are_given_in_order(void **state)
{
	static const int64_t ids[] = { PATTERN_ID_NONE, 1, PATTERN_ID_NONE, 70, 0,
		PATTERN_ID_NONE };
	static const int64_t want[] = { 2, 1, 3, 70, 0, 4 };
	struct pattern_line line = { .method = PATTERN_IP, .name = STR("src") };
	struct pattern_ref *made[ARRAY_LEN(ids)];
	const struct pattern_set *first;
	struct pattern_files f;
	int64_t last = -1;

	(void)state;
	pattern_files_init(&f, &sys);
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		line.id = ids[i];
		made[i] = pattern_files_line(&f, &line, &first);
		assert_non_null(made[i]);
	}
	line.id = 70;
	assert_null(pattern_files_line(&f, &line, &first));
	assert_string_equal(f.why.text, "the id 70 is used already");
	assert_int_equal(pattern_files_finish(&f), 0);
	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		assert_int_equal(made[i]->id, want[i]);
	list_each(it, &f.refs) {
		assert_true(list_entry(it, struct pattern_ref, link)->id > last);
		last = list_entry(it, struct pattern_ref, link)->id;
	}
	assert_ptr_equal(pattern_files_find(&f, "#70"), made[3]);
	assert_null(pattern_files_find(&f, "#5"));
	assert_null(pattern_files_find(&f, "#"));
	assert_null(pattern_files_find(&f, "70"));
	assert_string_equal(made[0]->where, "acl 'src' file '' line 0");
	/* host names are no longer resolved */
	assert_true(
		pattern_ref_add(made[0], 0, STR("localhost"), (struct str){ NULL, 0 }, &f.why) < 0);
	pattern_files_fini(&f);
}

/* A line that continues where an earlier one stopped: one set holds both. */
static void
lines_of_one_acl_share_a_set(void **state)
{
	struct pattern_line line = {
		.method = PATTERN_STR, .name = STR("x"), .id = PATTERN_ID_NONE
	};
	const struct pattern_set *a, *b;
	struct pattern_ref *one, *two;
	struct pattern_files f;

	(void)state;
	pattern_files_init(&f, NULL);
	one = pattern_files_line(&f, &line, &a);
	line.join = a;
	two = pattern_files_line(&f, &line, &b);
	assert_ptr_equal(a, b);
	assert_int_equal(pattern_ref_add(one, 0, STR("1"), (struct str){ NULL, 0 }, &f.why), 0);
	assert_int_equal(pattern_ref_add(two, 0, STR("2"), (struct str){ NULL, 0 }, &f.why), 0);
	assert_int_equal(a->n, 2);
	pattern_files_fini(&f);
}

/* The places of use, as in `show map`. */
static void
places_of_use_are_listed(void **state)
{
	struct pattern_file_use use = map_use;
	struct cfg_file file = { .name = (char *)(uintptr_t) "a.cfg" };
	struct cfg_diag diag = { .at = { &file, 7, 0 } };
	struct pattern_files f;
	char want[300];

	(void)state;
	write_file("a 1\n", 4);
	use.path = path;
	pattern_files_init(&f, &sys);
	f.diag = &diag;
	assert_non_null(pattern_files_get(&f, &use));
	diag.at.line = 9;
	use.out = SAMPLE_ANY;
	assert_non_null(pattern_files_get(&f, &use));
	snprintf(want, sizeof(want),
		"pattern loaded from file '%s' used by map at file 'a.cfg' line 7, by map at file "
		"'a.cfg' line 9",
		path);
	assert_string_equal(pattern_files_find(&f, path)->where, want);
	assert_true(pattern_files_find(&f, path)->is_map);
	assert_true(pattern_files_find(&f, path)->is_acl);
	for (int i = 0; i < 5000; i++)
		assert_non_null(pattern_files_get(&f, &use));
	assert_true(pattern_files_find(&f, path)->where_len < 2 * PATTERN_WHERE_MAX);
	pattern_files_fini(&f);
	unlink(path);
}

/* Ten thousand entries, each of which is found. */
static void
each_of_many_entries_is_found(void **state)
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
		assert_string_equal(pattern_entry_of(hit)->value, value);
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
		cmocka_unit_test(lines_are_read_as_haproxy_reads_them),
		cmocka_unit_test(a_map_has_two_columns),
		cmocka_unit_test(a_wrong_line_is_named),
		cmocka_unit_test(shared),
		cmocka_unit_test(a_missing_file_is_an_error),
		cmocka_unit_test(free_ids_are_given_in_order),
		cmocka_unit_test(lines_of_one_acl_share_a_set),
		cmocka_unit_test(places_of_use_are_listed),
		cmocka_unit_test(each_of_many_entries_is_found),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
