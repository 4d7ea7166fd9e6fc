#include "unit/cfg/cfg_rig.h"

static void
sections_and_inheritance(void **state)
{
	(void)state;
	world_expect("  global#first\n\tdaemon# now\n"
		     "defaults\n timeout connect 5s\n"
		     "defaults d2 from d1\n"
		     "defaults d1\n"
		     "defaults d3 from d1\n"
		     "frontend a\n maxconn 10\n"
		     "backend b from d1\n"
		     "global\n maxconn 5\n",
		"begin global <> from <->\n"
		"daemon\n"
		"end global <>\n"
		"begin defaults <> from <->\n"
		"timeout connect = 5000\n"
		"end defaults <>\n"
		"begin defaults <d1> from <->\n"
		"end defaults <d1>\n"
		"begin defaults <d3> from <d1>\n"
		"end defaults <d3>\n"
		"begin frontend <a> from <d3>\n"
		"maxconn = 10\n"
		"end frontend <a>\n"
		"begin backend <b> from <d1>\n"
		"end backend <b>\n"
		"begin global <> from <->\n"
		"maxconn = 5\n"
		"end global <>\n",
		"[ALERT]    config : parsing [t.cfg:5:18] : defaults section 'd1' not found for "
		"defaults 'd2'.\n"
		"  defaults d2 from d1\n"
		"                   ^\n");
}

static void
errors_of_sections_are_reported(void **state)
{
	(void)state;
	world_expect("frontend\n maxconn 1\n"
		     "frontend a/b\n"
		     "listen refused\n maxconn 1\n"
		     "listen silent\n"
		     "global x\n daemon\n"
		     "backend b from\n"
		     "backend b c\n"
		     "defaults d\ndefaults d\nbackend b from d\n"
		     "resolvers dns\n nameserver a 1.2.3.4\n",
		"begin defaults <d> from <->\nend defaults <d>\n"
		"begin defaults <d> from <->\nend defaults <d>\n",
		"[ALERT]    config : parsing [t.cfg:1:1] : 'frontend' expects an <id> argument.\n"
		"  frontend\n"
		"  ^\n"
		"[ALERT]    config : parsing [t.cfg:3:10] : character '/' is not permitted in "
		"'frontend' name 'a/b'.\n"
		"  frontend a/b\n"
		"           ^\n"
		"[ALERT]    config : parsing [t.cfg:4:8] : 'refused' is a name nobody likes.\n"
		"  listen refused\n"
		"         ^\n"
		"[ALERT]    config : parsing [t.cfg:6:1] : 'listen' could not be opened.\n"
		"  listen silent\n"
		"  ^\n"
		"[ALERT]    config : parsing [t.cfg:7:8] : 'global' cannot handle unexpected "
		"argument 'x'.\n"
		"  global x\n"
		"         ^\n"
		"[ALERT]    config : parsing [t.cfg:9:11] : 'from' expects the name of a defaults "
		"section.\n"
		"  backend b from\n"
		"            ^\n"
		"[ALERT]    config : parsing [t.cfg:10:11] : 'backend' cannot handle unexpected "
		"argument 'c'.\n"
		"  backend b c\n"
		"            ^\n"
		"[ALERT]    config : parsing [t.cfg:13:16] : ambiguous defaults section name 'd' "
		"referenced by backend 'b': it stands at [t.cfg:11] and at [t.cfg:12].\n"
		"  backend b from d\n"
		"                 ^\n"
		"[ALERT]    config : parsing [t.cfg:14:1] : section 'resolvers' is known but not "
		"supported.\n"
		"  resolvers dns\n"
		"  ^\n");
}

static void
outside_of_sections(void **state)
{
	(void)state;
	world_expect("maxconn 1\nfronted f\n", "",
		     "[ALERT]    config : parsing [t.cfg:1:1] : unknown keyword 'maxconn' out of "
		     "section.\n"
		     "  maxconn 1\n"
		     "  ^\n"
		     "[ALERT]    config : parsing [t.cfg:2:1] : unknown keyword 'fronted' out of "
		     "section; did you mean 'frontend' maybe ?\n"
		     "  fronted f\n"
		     "  ^\n");
}

/* Editors show neither. */
static void
bytes_that_are_not_seen(void **state)
{
	(void)state;
	world_expect("\xef\xbb\xbf" "global\n", "",
		     "[ALERT]    config : parsing [t.cfg:1:1] : unknown keyword '\xef\xbb\xbf"
		     "global' out of section; did you mean 'global' maybe ? It begins with a byte "
		     "order mark: save the file without one.\n"
		     "  \xef\xbb\xbf" "global\n"
		     "  ^\n");
	world_expect("front\xc3\xa9\n", "",
		     "[ALERT]    config : parsing [t.cfg:1:1] : unknown keyword 'front\xc3\xa9' "
		     "out of section. It contains characters that are not ASCII.\n"
		     "  front\xc3\xa9\n"
		     "  ^\n");
}

/* Errors that follow from a section that cannot be read are not reported. */
static void
errors_that_follow_are_not_reported(void **state)
{
	(void)state;
	world_expect("global\nfronted f\n bind :80\n nonsense\n"
		     "defaults base from nowhere\n nonsense\n"
		     "backend b from base\n balance x\n",
		"begin global <> from <->\nend global <>\n"
		"begin backend <b> from <->\nbalance [x]\nend backend <b>\n",
		"[ALERT]    config : parsing [t.cfg:2:1] : unknown keyword 'fronted' in 'global' "
		"section; did you mean 'frontend' maybe ?\n"
		"  fronted f\n"
		"  ^\n"
		"[ALERT]    config : parsing [t.cfg:5:20] : defaults section 'nowhere' not found "
		"for defaults 'base'.\n"
		"  defaults base from nowhere\n"
		"                     ^\n");
}

static void
files_end_sections(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	assert_int_equal(world_read(&w, "a", "global\n"), 0);
	assert_int_equal(world_read(&w, "b", "daemon\n"), -1);
	assert_int_equal(world_read(&w, "c", "global\ndaemon"), -1);
	assert_int_equal(world_read(&w, "d", ""), 0);
	assert_int_equal(cfg_reader_end(&w.reader), -1);
	assert_string_equal(world_printed(&w),
		"[ALERT]    config : parsing [b:1:1] : unknown keyword 'daemon' out of "
		"section.\n"
		"  daemon\n"
		"  ^\n"
		"[ALERT]    config : parsing [c:2] : Missing LF on last line, file might have "
		"been truncated.\n"
		"  daemon\n");
	world_fini(&w);
}

static void
conditions_choose_lines(void **state)
{
	(void)state;
	world_expect("global\n"
		     ".if 0\n nonsense\n .if nonsense\n .else\n daemon\n .endif\n"
		     ".elif feature(THREAD) && version_atleast(2.9)\n maxconn 1\n"
		     ".elif nonsense\n maxconn 2\n"
		     ".else # no\n maxconn 3\n"
		     ".endif # end\n"
		     ".if streq(\"$NOPE\",)\n maxconn 4\n.endif\n"
		     ".if\n maxconn 5\n.else\n maxconn 6\n.endif\n",
		     "begin global <> from <->\n"
		     "maxconn = 1\nmaxconn = 4\nmaxconn = 6\n"
		     "end global <>\n",
		     "");
}

static void
errors_of_blocks_are_reported(void **state)
{
	(void)state;
	world_expect(".else\n.endif\n.elif 1\n"
		     ".if foo && 1\n .alert never\n.else\n .alert never\n.endif\n"
		     ".if 1 && (\"0\" bar)\n.endif\n"
		     ".if 1\n.else\n.else\n.elif 0\n.endif x\n"
		     ".foo\n"
		     ".if 1\n.if 0\n",
		"",
		"[ALERT]    config : parsing [t.cfg:1:1] : lone '.else' with no matching '.if'.\n"
		"  .else\n"
		"  ^\n"
		"[ALERT]    config : parsing [t.cfg:2:1] : lone '.endif' with no matching '.if'.\n"
		"  .endif\n"
		"  ^\n"
		"[ALERT]    config : parsing [t.cfg:3:1] : lone '.elif' with no matching '.if'.\n"
		"  .elif 1\n"
		"  ^\n"
		"[ALERT]    config : parsing [t.cfg:4:5] : unparsable conditional expression "
		"'foo && 1' in '.if'\n"
		"  .if foo && 1\n"
		"      ^\n"
		"[ALERT]    config : parsing [t.cfg:9:15] : expected ')' after conditional "
		"expression '(0 bar)' in '.if'\n"
		"  .if 1 && (\"0\" bar)\n"
		"                ^\n"
		"[ALERT]    config : parsing [t.cfg:13:1] : '.else' after '.else' is not "
		"permitted.\n"
		"  .else\n"
		"  ^\n"
		"[ALERT]    config : parsing [t.cfg:14:1] : '.elif' after '.else' is not "
		"permitted.\n"
		"  .elif 0\n"
		"  ^\n"
		"[ALERT]    config : parsing [t.cfg:15:8] : Unexpected argument 'x' for '.endif'.\n"
		"  .endif x\n"
		"         ^\n"
		"[ALERT]    config : parsing [t.cfg:16:1] : unknown directive '.foo'.\n"
		"  .foo\n"
		"  ^\n"
		"[ALERT]    config : parsing [t.cfg:18] : non-terminated '.if' block.\n"
		"  .if 0\n"
		"[ALERT]    config : parsing [t.cfg:17] : non-terminated '.if' block.\n"
		"  .if 1\n");
}

static void
directives_print_messages(void **state)
{
	(void)state;
	world_expect(".notice \"a b\"\n.warning w\n.alert \"$.LINE ${.FILE} ${.SECTION}\"\n"
		     ".diag hidden\n.notice a b\n.if 0\n.alert no\n.endif\n",
		"",
		"[NOTICE]   config : parsing [t.cfg:1] : 'a b'.\n"
		"  .notice \"a b\"\n"
		"[WARNING]  config : parsing [t.cfg:2] : 'w'.\n"
		"  .warning w\n"
		"[ALERT]    config : parsing [t.cfg:3] : '3 t.cfg '.\n"
		"  .alert \"$.LINE ${.FILE} ${.SECTION}\"\n"
		"[ALERT]    config : parsing [t.cfg:5:11] : Unexpected argument 'b' for '.notice'. "
		"Use quotes if the message should contain spaces.\n"
		"  .notice a b\n"
		"            ^\n");
}

static void
lines_see_the_environment(void **state)
{
	(void)state;
	world_expect(
		"global\n setenv A \"x y\"\n presetenv A z\n presetenv B b\n"
		" log \"$A\" \"${B}${.SECTION}\"\n unsetenv A\n log \"${A-gone}\"\n"
		" resetenv\n log \"${B-gone}\"\n setenv 1x y\n setenv E \"\"\n"
		" log \"<${E-unset}>\"\n"
		"frontend web\n log \"$.SECTION\"\n",
		"begin global <> from <->\n"
		"log [x y] [bglobal]\n"
		"log [gone]\n"
		"log [gone]\n"
		"log [<>]\n"
		"end global <>\n"
		"begin frontend <web> from <->\n"
		"log [web]\n"
		"end frontend <web>\n",
		"[ALERT]    config : parsing [t.cfg:10:9] : 'setenv': '1x' is not the name of a "
		"variable.\n"
		"   setenv 1x y\n"
		"          ^\n");
}

static void
errors_of_the_lexer_are_reported(void **state)
{
	(void)state;
	world_expect("global\r\n daemon\r\n\tmaxconn \"1\r\n log ${X \"${X\"\n.if 0\n 'x\n.endif\n",
		"begin global <> from <->\ndaemon\nend global <>\n",
		"[ALERT]    config : parsing [t.cfg:3:10] : unmatched quote.\n"
		"  \tmaxconn \"1\n"
		"  \t        ^\n"
		"   | and 1 more line: 6\n"
		"[ALERT]    config : parsing [t.cfg:4:12] : unmatched brace in environment "
		"variable "
		"name.\n"
		"   log ${X \"${X\"\n"
		"             ^\n");
}

static void
blocks_that_are_too_deep_are_refused(void **state)
{
	struct world w;
	char text[8 * 64] = "";

	(void)state;
	for (int i = 0; i < CFG_BLOCK_DEPTH_MAX + 1; i++)
		strcat(text, ".if 1\n");
	for (int i = 0; i < CFG_BLOCK_DEPTH_MAX; i++)
		strcat(text, ".endif\n");
	world_init(&w);
	assert_int_equal(world_read(&w, "t", text), -1);
	assert_int_equal(w.diag.count[CFG_ALERT], 1);
	assert_non_null(strstr(w.diag.entry[0].text, "too many nested '.if'"));
	world_fini(&w);
}

static void
too_many_defaults(void **state)
{
	struct world w;
	struct sbuf b;

	(void)state;
	sbuf_init(&b, 0);
	for (int i = 0; i < CFG_DEFAULTS_MAX; i++)
		sbuf_adds(&b, "defaults\n");
	world_init(&w);
	assert_int_equal(world_read(&w, "t", b.p), 0);
	assert_int_equal(world_read(&w, "u", "defaults x\n maxconn 1\n"), -1);
	assert_non_null(strstr(w.diag.entry[0].text, "too many defaults"));
	assert_null(strstr(w.seen.p, "maxconn"));
	world_fini(&w);
	sbuf_fini(&b);
}

/*
 * Torture: this program has its own allocator, so that the k-th allocation can fail, for every k.
 * Reading never crashes or leaks, and never accepts a configuration that it has not stored
 * completely.
 */
static unsigned mem_calls, mem_fail_at;

static int
mem_refuses(void)
{
	return ++mem_calls == mem_fail_at;
}

void *
mem_alloc(size_t size)
{
	return mem_refuses() ? NULL : malloc(size ? size : 1);
}

void *
mem_zalloc(size_t size)
{
	return mem_refuses() ? NULL : calloc(1, size ? size : 1);
}

void *
mem_resize(void *p, size_t n, size_t size)
{
	return mem_refuses() ? NULL : reallocarray(p, n ? n : 1, size);
}

char *
mem_strndup(const char *s, size_t n)
{
	return mem_refuses() ? NULL : strndup(s, n);
}

char *
mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

void
mem_free(void *p)
{
	free(p);
}

static void
every_allocation_may_fail(void **state)
{
	static const char text[] =
		"global\n setenv A \"b ${HOME-c}\"\n log \"${A[*]}\"\n daemon\n"
		".if streq(\"$A\",x) || 1\ndefaults d\n maxconn 5\n.endif\n"
		"frontend f from d\n bind :80 backlog 5 tfo many 1 2\n maxconn 0\n"
		"listen l\n stick-table\n optoin tcplog\n";
	unsigned total, failed = 0;
	struct world w;

	(void)state;
	world_init(&w);
	mem_calls = 0;
	assert_int_equal(world_read(&w, "t", text), -1);
	total = mem_calls;
	assert_int_equal(w.diag.count[CFG_ALERT], 3);
	world_fini(&w);
	assert_in_range(total, 20, 500);
	for (unsigned k = 1; k <= total; k++) {
		world_init(&w);
		mem_calls = 0;
		mem_fail_at = k;
		assert_int_equal(world_read(&w, "t", text), -1);
		mem_fail_at = 0;
		/* what could not be stored is one more error, or was only a text to print */
		failed += w.diag.count[CFG_ALERT] > 3 || w.diag.dropped > 0 || w.seen.failed;
		assert_true(w.diag.count[CFG_ALERT] > 0);
		world_printed(&w);
		world_fini(&w);
	}
	assert_true(failed > total / 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_and_inheritance),
		cmocka_unit_test(errors_of_sections_are_reported),
		cmocka_unit_test(outside_of_sections),
		cmocka_unit_test(bytes_that_are_not_seen),
		cmocka_unit_test(errors_that_follow_are_not_reported),
		cmocka_unit_test(files_end_sections),
		cmocka_unit_test(conditions_choose_lines),
		cmocka_unit_test(errors_of_blocks_are_reported),
		cmocka_unit_test(directives_print_messages),
		cmocka_unit_test(lines_see_the_environment),
		cmocka_unit_test(errors_of_the_lexer_are_reported),
		cmocka_unit_test(blocks_that_are_too_deep_are_refused),
		cmocka_unit_test(too_many_defaults),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
