#include "unit/rule/expr_rig.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/sys.h"
#include "rule/match/map.h"
#include "rule/match/pattern_file.h"
/* The unit itself, instead of the library's. */
#include "rule/sample/expr.c"

static struct expr_rig rig;
static struct pattern_files files;
static struct sys sys;
static char path[64];

static int
setup(void **state)
{
	(void)state;
	rig_init(&rig);
	sys_init(&sys, &sys_linux, NULL);
	pattern_files_init(&files, &sys);
	rig.vocab.files = &files;
	rig.cx.regex = regex_work_new();
	if (!rule_find_conv(&rig.vocab, STR("map")))
		assert_int_equal(rule_vocab_add_convs(&rig.vocab, rule_map_convs), 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	regex_work_free(&rig.cx.regex);
	pattern_files_fini(&files);
	rig_fini(&rig);
	return 0;
}

static void
write_file(const char *text)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/tacit-map-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* fmt has one %s, the file. */
static void
expect(const char *fmt, const char *want)
{
	char text[200];
	const char *got;

	snprintf(text, sizeof(text), fmt, path);
	got = rig_eval(&rig, text);
	if (strcmp(got, want) != 0)
		fail_msg("%s: <%s>, want <%s>", text, got, want);
}

static void
maps_give_texts(void **state)
{
	(void)state;
	write_file("/a first\n/a/b second one\nb 7\n");
	expect("str(b),map(%s)", "7");
	expect("str(b),map_str(%s)", "7");
	expect("str(c),map(%s)", "(none)");
	expect("str(c),map(%s,none at all)", "none at all");
	expect("str(c),map(%s,)", "");
	expect("str(/a/bc),map_beg(%s)", "second one");
	expect("str(/x/a),map_end(%s)", "first");
	expect("str(x/a/b/),map_sub(%s)", "first");
	expect("str(/x/a/b),map_dir(%s)", "first");
	expect("str(x.b.y),map_dom(%s)", "7");
	unlink(path);
}

static void
maps_give_typed_values(void **state)
{
	(void)state;
	write_file("a 42\n10 -1\n10.0.0.0/8 8\n10.1.0.0/16 16\n");
	expect("str(a),map_str_int(%s)", "42");
	expect("str(b),map_str_int(%s,-7)", "-7");
	expect("str(b),map_str_int(%s)", "(none)");
	unlink(path);
	write_file("10.0.0.0/8 8\n10.1.0.0/16 16\n2001:db8::/32 32\n");
	expect("str(10.1.2.3),map_ip_int(%s)", "16");
	expect("str(10.2.2.3),map_ip_int(%s)", "8");
	expect("str(2001:db8::1),map_ip_int(%s)", "32");
	expect("str(11.2.2.3),map_ip_int(%s,0)", "0");
	expect("str(nothing),map_ip(%s,x)", "(none)");
	unlink(path);
	write_file("1:10 10.0.0.1\n11 ::1\n");
	expect("int(5),map_int_ip(%s)", "10.0.0.1");
	expect("int(11),map_int_ip(%s)", "::1");
	expect("int(12),map_int_ip(%s)", "(none)");
	expect("int(12),map_int_ip(%s,1.2.3.4)", "1.2.3.4");
	expect("int(12),map_int_ip(%s,fe80::1)", "fe80::1");
	expect("int(5),map_int(%s)", "10.0.0.1");
	unlink(path);
}

static void
map_regm_inserts_groups(void **state)
{
	(void)state;
	write_file("^/user/([0-9]+)/(.*) u\\1-\\2\\\\\n^/plain value\\1\n");
	expect("str(/user/42/x),map_regm(%s)", "u42-x\\");
	expect("str(/user/42/x),map_reg(%s)", "u\\1-\\2\\\\");
	expect("str(/plain),map_regm(%s)", "value");
	expect("str(/none),map_regm(%s,d\\1)", "d\\1");
	unlink(path);
}

/* If a group makes the result too long there is no result, not a truncated one. */
static void
without_room_there_is_no_result(void **state)
{
	size_t cap = rig.arena.cap;

	(void)state;
	write_file("^(.*)$ \\1\\1\\1\\1\n");
	rig.arena.cap = 20;
	expect("str(0123456789),map_regm(%s)", "(none)");
	assert_int_equal(rig.arena.used, 0);
	rig.arena.cap = cap;
	expect("str(01),map_regm(%s)", "01010101");
	unlink(path);
}

static void
found_values_stay_valid(struct pattern_ref *ref)
{
	struct rule_expr *e = NULL;
	struct rule_err why;
	struct sample s;
	char text[200];
	size_t used;

	snprintf(text, sizeof(text), "str(a),map(%s)", path);
	assert_int_equal(
		rule_expr_parse(&rig.vocab, text, strlen(text), ~0u, 0, &e, &used, &why), 0);
	assert_int_equal(rule_expr_eval(e, &rig.cx, &s), 1);
	assert_int_equal(pattern_ref_set(ref, STR("a"), STR("other"), &why), 1);
	assert_int_equal(pattern_ref_del(ref, STR("a")), 1);
	assert_true(str_is(s.u.str, STR("some text")));
	arena_release(&rig.arena, 0);
	rule_expr_free(&e);
}

/* When rules change the file, a found value is copied to the caller, and must fit. */
static void
values_of_changing_files_are_copied(void **state)
{
	static const char *const words[] = { "str(a),map(%s)", "str(a),map_regm(%s)" };
	uint64_t before = rig.arena.refused;
	size_t cap = rig.arena.cap;

	(void)state;
	write_file("a some text\n");
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		expect(words[i], "some text");
	pattern_ref_guard(pattern_files_find(&files, path));
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		expect(words[i], "some text");
	rig.arena.cap = 8;
	expect(words[0], "(none)");
	rig.arena.cap = cap;
	assert_int_equal(rig.arena.refused, before + 1);
	assert_int_equal(pattern_files_find(&files, path)->lock.state, 0);
	found_values_stay_valid(pattern_files_find(&files, path));
	unlink(path);
}

static void
bad_maps_are_refused(void **state)
{
	static const struct {
		const char *fmt, *want;
	} t[] = {
		{ "str(a),map_str_int(%s)", "19: 'map_str_int': line 2 of" },
		{ "str(a),map_str(%s.none)", "15: 'map_str': cannot read" },
		{ "str(a),map_str_ip(%s)", "18: 'map_str_ip': line 1 of" },
		{ "str(a),map_reg(%s)", "15: 'map_reg': line 2 of" },
		{ "str(a),map()", "11: 'map' needs a map file" },
	};

	(void)state;
	write_file("a 1\n(b x\n");
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		char text[200];
		const char *got;

		snprintf(text, sizeof(text), t[i].fmt, path);
		got = rig_eval(&rig, text);
		if (strncmp(got, t[i].want, strlen(t[i].want)) != 0)
			fail_msg("%s: <%s>, want <%s>", text, got, t[i].want);
	}
	unlink(path);
	write_file("a 1\n");
	expect("str(a),map_str_int(%s,x)", "41: 'map_str_int': the default is not a number");
	expect("str(a),map_str(%s)", "1");
	unlink(path);
	rig.vocab.files = NULL;
	expect("str(a),map_str(%s)", "15: 'map_str': files cannot be read here");
	rig.vocab.files = &files;
}

/* The manual's table has every method with every type of value. */
static void
every_method_has_every_type(void **state)
{
	static const char *const methods[] = { "str", "beg", "end", "sub", "dir", "dom", "reg",
		"int", "ip" };
	static const char *const outs[] = { "", "_str", "_int", "_ip" };
	char name[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		for (size_t k = 0; k < ARRAY_LEN(outs); k++) {
			snprintf(name, sizeof(name), "map_%s%s", methods[i], outs[k]);
			assert_non_null(rule_find_conv(&rig.vocab, str_of(name)));
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_give_texts),
		cmocka_unit_test(maps_give_typed_values),
		cmocka_unit_test(map_regm_inserts_groups),
		cmocka_unit_test(without_room_there_is_no_result),
		cmocka_unit_test(values_of_changing_files_are_copied),
		cmocka_unit_test(bad_maps_are_refused),
		cmocka_unit_test(every_method_has_every_type),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
