#include "unit/cfg/cfg_rig.h"

#include "base/sys.h"

static void
options_of_a_line_are_read(void **state)
{
	(void)state;
	world_expect("listen l\n bind :80 backlog 5 tfo many 1 2 tfo backlog 6\n"
		     " bind :81 many tfo\n bind :82 \"$NOPE\" tfo \"\"\n bind :83\n",
		     "begin listen <l> from <->\n"
		     "bind :80\n"
		     "  backlog = 5\n"
		     "  tfo of 0\n"
		     "  many took 2 of 5\n"
		     "  tfo of 0\n"
		     "  backlog = 6\n"
		     "bind :81\n"
		     "  many took 0 of 1\n"
		     "  tfo of 0\n"
		     "bind :82\n"
		     "  tfo of 0\n"
		     "bind :83\n"
		     "end listen <l>\n",
		     "");
}

static void
wrong_options_are_reported(void **state)
{
	(void)state;
	world_expect(
		"listen l\n bind :80 backlog x tfo\n bind :81 tfo backlog\n bind :82 alpn x tfo\n"
		" bind :83 tof backlog 1\n bind :84 shards 2 nice 3 tfo\n"
		" bind :85 backlog 65536\n bind :86 xyzzyxyzzy tfo\n",
		"begin listen <l> from <->\n"
		"bind :80\n"
		"  tfo of 0\n"
		"bind :81\n"
		"  tfo of 0\n"
		"bind :82\n"
		"  tfo of 0\n"
		"bind :83\n"
		"  backlog = 1\n"
		"bind :84\n"
		"  tfo of 0\n"
		"bind :85\n"
		"bind :86\n"
		"  tfo of 0\n"
		"end listen <l>\n",
		"[ALERT]    config : parsing [t.cfg:2:19] : 'bind' option 'backlog': 'x' is not an "
		"integer (0..65535 expected).\n"
		"   bind :80 backlog x tfo\n"
		"                    ^\n"
		"[ALERT]    config : parsing [t.cfg:3:15] : 'bind' : 'backlog' expects <number>.\n"
		"   bind :81 tfo backlog\n"
		"                ^\n"
		"[ALERT]    config : parsing [t.cfg:4:11] : 'bind' : keyword 'alpn' is known but "
		"not supported.\n"
		"   bind :82 alpn x tfo\n"
		"            ^\n"
		"[ALERT]    config : parsing [t.cfg:5:11] : 'bind' : unknown keyword 'tof'; did "
		"you mean 'tfo' maybe ?\n"
		"   bind :83 tof backlog 1\n"
		"            ^\n"
		"[ALERT]    config : parsing [t.cfg:6:11] : 'bind' : keyword 'shards' is known but "
		"not supported.\n"
		"   bind :84 shards 2 nice 3 tfo\n"
		"            ^\n"
		"[ALERT]    config : parsing [t.cfg:7:19] : 'bind' option 'backlog': '65536' is "
		"out of range (0..65535).\n"
		"   bind :85 backlog 65536\n"
		"                    ^\n"
		"[ALERT]    config : parsing [t.cfg:8:11] : 'bind' : unknown keyword "
		"'xyzzyxyzzy'.\n"
		"   bind :86 xyzzyxyzzy tfo\n"
		"            ^\n");
}

/* Every unknown word of a line is reported, but not one that may be the argument of an unknown
 * word. */
static void
each_unknown_word_is_reported(void **state)
{
	(void)state;
	world_expect(
		"listen l\n bind :80 sll abc def alnp x tfo bakclog 7 qqqqqq backlog 8 xxxxxx\n",
		"begin listen <l> from <->\n"
		"bind :80\n"
		"  tfo of 0\n"
		"  backlog = 8\n"
		"end listen <l>\n",
		"[ALERT]    config : parsing [t.cfg:2:11] : 'bind' : unknown keyword 'sll'; did "
		"you mean 'ssl' maybe ?\n"
		"   bind :80 sll abc def alnp x tfo bakclog 7 qqqqqq backlog 8 xxxxxx\n"
		"            ^\n"
		"[ALERT]    config : parsing [t.cfg:2:15] : 'bind' : unknown keyword 'abc'.\n"
		"   bind :80 sll abc def alnp x tfo bakclog 7 qqqqqq backlog 8 xxxxxx\n"
		"                ^\n"
		"[ALERT]    config : parsing [t.cfg:2:23] : 'bind' : unknown keyword 'alnp'; did "
		"you mean 'alpn' maybe ?\n"
		"   bind :80 sll abc def alnp x tfo bakclog 7 qqqqqq backlog 8 xxxxxx\n"
		"                        ^\n"
		"[ALERT]    config : parsing [t.cfg:2:34] : 'bind' : unknown keyword 'bakclog'; "
		"did you mean 'backlog' maybe ?\n"
		"   bind :80 sll abc def alnp x tfo bakclog 7 qqqqqq backlog 8 xxxxxx\n"
		"                                   ^\n"
		"[ALERT]    config : parsing [t.cfg:2:44] : 'bind' : unknown keyword 'qqqqqq'.\n"
		"   bind :80 sll abc def alnp x tfo bakclog 7 qqqqqq backlog 8 xxxxxx\n"
		"                                             ^\n"
		"[ALERT]    config : parsing [t.cfg:2:61] : 'bind' : unknown keyword 'xxxxxx'.\n"
		"   bind :80 sll abc def alnp x tfo bakclog 7 qqqqqq backlog 8 xxxxxx\n"
		"                                                              ^\n");
}

/* Found by fuzzing: with "$VAR" the place of a missing argument was beyond the end of the line. */
static void
missing_after_expansion(void **state)
{
	(void)state;
	world_expect("global\n setenv A a-rather-long-value\n stats socket \"$A\"\n"
		     " setenv \"$A\"\n",
		"begin global <> from <->\nstats socket [a-rather-long-value]\nend global <>\n",
		"[ALERT]    config : parsing [t.cfg:4:13] : 'setenv' expects a name and a value.\n"
		"   setenv \"$A\"\n"
		"              ^\n");
}

/* One line, parsed by the helpers without a reader. */
struct line {
	struct cfg_ctx ctx;
	struct cfg_diag diag;
	struct cfg_word word[4];
};

static const struct cfg_kw line_kw = { .name = "kw", .syntax = "<a> <b>" };

static void
line_init(struct line *l, const char *a, const char *b)
{
	memset(l, 0, sizeof(*l));
	cfg_diag_init(&l->diag, 0);
	l->word[0] = (struct cfg_word){ "kw", 1 };
	l->word[1] = (struct cfg_word){ a, 4 };
	l->word[2] = (struct cfg_word){ b, 10 };
	l->ctx = (struct cfg_ctx){
		.diag = &l->diag, .kw = &line_kw, .word = l->word, .nword = 3, .base = 1, .argc = 2,
	};
}

static void
expect_refusal(struct line *l, int rc, const char *text, unsigned col)
{
	assert_int_equal(rc, -1);
	assert_int_equal(l->diag.nentry, 1);
	assert_string_equal(l->diag.entry[0].text, text);
	assert_int_equal(l->diag.entry[0].where.col, col);
	cfg_diag_fini(&l->diag);
}

static void
arguments_are_read_by_type(void **state)
{
	static const struct cfg_enum names[] = { { "tcp", 1, NULL }, { "http", 2, NULL }, { 0 } };
	struct line l;
	int i = 0;
	int64_t i64 = 0;
	uint64_t u64 = 0;
	uint32_t u32 = 0;
	unsigned pct = 0;
	int on = 0;
	char *dup = NULL;

	(void)state;
	line_init(&l, "12", "13k");
	assert_int_equal(cfg_arg_int(&l.ctx, 0, 0, 20, &i), 0);
	assert_int_equal(i, 12);
	assert_int_equal(cfg_arg_int64(&l.ctx, 0, 0, 20, &i64), 0);
	assert_int_equal(i64, 12);
	assert_int_equal(cfg_arg_timeout(&l.ctx, 0, &u32), 0);
	assert_int_equal(u32, 12);
	assert_int_equal(cfg_arg_time(&l.ctx, 0, CFG_UNIT_S, 0, 20000, &u64), 0);
	assert_int_equal(u64, 12000);
	assert_int_equal(cfg_arg_size(&l.ctx, 1, 0, 1 << 20, &u64), 0);
	assert_int_equal(u64, 13 * 1024);
	assert_int_equal(cfg_arg_percent(&l.ctx, 0, 100, &pct), 0);
	assert_int_equal(pct, 12);
	assert_int_equal(cfg_arg_dup(&l.ctx, 0, &dup), 0);
	assert_int_equal(cfg_arg_dup(&l.ctx, 1, &dup), 0);
	assert_string_equal(dup, "13k");
	mem_free(dup);
	assert_int_equal(l.diag.nentry, 0);
	expect_refusal(&l, cfg_arg_int(&l.ctx, 1, 0, 20, &i),
		       "'kw': '13k' is not an integer (0..20 expected).", 10);

	line_init(&l, "on", "http");
	assert_int_equal(cfg_arg_bool(&l.ctx, 0, &on), 0);
	assert_true(on);
	assert_int_equal(cfg_arg_enum(&l.ctx, 1, names, &i), 0);
	assert_int_equal(i, 2);
	assert_int_equal(cfg_arg_word(&l.ctx, 1, names), 2);
	assert_int_equal(cfg_arg_word(&l.ctx, 0, names), -1);
	assert_int_equal(cfg_arg_word(&l.ctx, 2, names), -1);
	expect_refusal(
		&l, cfg_arg_enum(&l.ctx, 0, names, &i), "'kw': 'on' is not one of tcp, http.", 4);
	line_init(&l, "x", "y");
	expect_refusal(&l, cfg_arg_bool(&l.ctx, 0, &on),
		       "'kw': 'x' is not a switch ('on' or 'off' expected).", 4);
	line_init(&l, "x", "101%");
	expect_refusal(&l, cfg_arg_percent(&l.ctx, 1, 100, &pct),
		       "'kw': '101%' is out of range (0..100).", 10);
	line_init(&l, "x", "9999999d");
	expect_refusal(&l, cfg_arg_timeout(&l.ctx, 1, &u32),
		       "'kw': timer overflow in argument '9999999d' (0..2147483647 ms).", 10);
	line_init(&l, "x", "2g");
	expect_refusal(&l, cfg_arg_size(&l.ctx, 1, 1, 1 << 20, &u64),
		       "'kw': size '2g' is out of range (1..1048576 bytes).", 10);
}

static void
a_missing_argument_is_reported(void **state)
{
	struct line l;
	int i = 7;

	(void)state;
	line_init(&l, "1", "2");
	assert_string_equal(cfg_arg(&l.ctx, 2), "");
	assert_string_equal(cfg_arg(&l.ctx, -1), "");
	assert_int_equal(cfg_arg_where(&l.ctx, -1).col, 1);
	expect_refusal(&l, cfg_arg_int(&l.ctx, 2, 0, 9, &i), "'kw' expects <a> <b>.", 11);
	assert_int_equal(i, 7);
}

static void
files_of_arguments_are_read(void **state)
{
	static struct sys sys;
	struct line l;
	char *text;
	size_t len;

	(void)state;
	line_init(&l, "/dev/null", "/nonexistent");
	expect_refusal(&l, cfg_arg_file(&l.ctx, 0, 9, &text, &len),
		"'kw' : cannot read file '/dev/null': Operation not permitted.", 4);
	sys_init(&sys, &sys_linux, NULL);
	line_init(&l, "/dev/null", "/nonexistent");
	l.ctx.sys = &sys;
	assert_int_equal(cfg_arg_file(&l.ctx, 0, 9, &text, &len), 0);
	assert_int_equal(len, 0);
	mem_free(text);
	expect_refusal(&l, cfg_arg_file(&l.ctx, 1, 9, &text, &len),
		"'kw' : cannot read file '/nonexistent': No such file or directory.", 10);
	line_init(&l, "/dev/zero", "");
	l.ctx.sys = &sys;
	expect_refusal(&l, cfg_arg_file(&l.ctx, 0, 9, &text, &len),
		"'kw' : file '/dev/zero' is larger than 9 bytes.", 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_of_a_line_are_read),
		cmocka_unit_test(wrong_options_are_reported),
		cmocka_unit_test(each_unknown_word_is_reported),
		cmocka_unit_test(missing_after_expansion),
		cmocka_unit_test(arguments_are_read_by_type),
		cmocka_unit_test(a_missing_argument_is_reported),
		cmocka_unit_test(files_of_arguments_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
