#include "unit/cfg/cfg_rig.h"

#define GLOBAL_SEEN(x) "begin global <> from <->\n" x "end global <>\n"

static void
names_and_forms(void **state)
{
	(void)state;
	world_expect(
		"defaults\n option tcplog\n option tcpka\n no option tcpka\n default option tcpka\n"
		" no log\n log a \"b c\"\n log a \"$NOPE\"\n",
		"begin defaults <> from <->\n"
		"option tcplog\n"
		"option tcpka\n"
		"no option tcpka\n"
		"default option tcpka\n"
		"no log\n"
		"log [a] [b c]\n"
		"log [a]\n"
		"end defaults <>\n",
		"");
}

static void
counts_of_arguments_are_checked(void **state)
{
	(void)state;
	world_expect("global\n maxconn\n maxconn 1 2\n daemon x\n no daemon\n no log x\n no\n"
		     " stats socket\n mute\n",
		GLOBAL_SEEN("no log [x]\n"),
		"[ALERT]    config : parsing [t.cfg:2:9] : 'maxconn' expects <number>.\n"
		"   maxconn\n"
		"          ^\n"
		"[ALERT]    config : parsing [t.cfg:3:12] : 'maxconn' cannot handle unexpected "
		"argument '2'.\n"
		"   maxconn 1 2\n"
		"             ^\n"
		"[ALERT]    config : parsing [t.cfg:4:9] : 'daemon' cannot handle unexpected "
		"argument 'x'.\n"
		"   daemon x\n"
		"          ^\n"
		"[ALERT]    config : parsing [t.cfg:5:5] : negation and default are not supported "
		"for 'daemon'.\n"
		"   no daemon\n"
		"      ^\n"
		"[ALERT]    config : parsing [t.cfg:7:2] : unknown keyword 'no' in 'global' "
		"section.\n"
		"   no\n"
		"   ^\n"
		"[ALERT]    config : parsing [t.cfg:8:14] : 'stats socket' expects <address> "
		"[<option>...].\n"
		"   stats socket\n"
		"               ^\n"
		"[ALERT]    config : parsing [t.cfg:9:2] : 'mute' could not be applied.\n"
		"   mute\n"
		"   ^\n");
}

/* Keywords that may occur once in a section: either the last line counts, or the first. */
static void
a_repeated_keyword_counts_once(void **state)
{
	(void)state;
	world_expect("defaults\n timeout client 1s\n timeout connect 1s\n timeout connect 2s\n"
		     " log a\n log a\n timeout client 2s\n timeout client 3s\n"
		     "defaults\n timeout client 4s\n",
		"begin defaults <> from <->\n"
		"timeout client = 1000\n"
		"timeout connect = 1000\n"
		"log [a]\n"
		"log [a]\n"
		"timeout client = 2000\n"
		"timeout client = 3000\n"
		"end defaults <>\n"
		"begin defaults <> from <->\n"
		"timeout client = 4000\n"
		"end defaults <>\n",
		"[WARNING]  config : parsing [t.cfg:4:2] : 'timeout connect' ignored: it is "
		"already set at line 3.\n"
		"   timeout connect 2s\n"
		"   ^\n"
		"[WARNING]  config : parsing [t.cfg:7:2] : 'timeout client' overrides line 2.\n"
		"   timeout client 2s\n"
		"   ^\n"
		"[WARNING]  config : parsing [t.cfg:8:2] : 'timeout client' overrides line 7.\n"
		"   timeout client 3s\n"
		"   ^\n");
}

static void
keywords_have_their_sections(void **state)
{
	(void)state;
	world_expect("defaults\n server a b\n daemon\n"
		     "frontend f\n balance x\n server a b\n timeout connect 1s\n"
		     "backend b\n bind :80\n maxconn x\n option contstats\n"
		     "global\n balance x\n",
		"begin defaults <> from <->\nend defaults <>\n"
		"begin frontend <f> from <>\nend frontend <f>\n"
		"begin backend <b> from <>\nend backend <b>\n" GLOBAL_SEEN(""),
		"[ALERT]    config : parsing [t.cfg:2:2] : 'server' not allowed in 'defaults' "
		"section.\n"
		"   server a b\n"
		"   ^\n"
		"[ALERT]    config : parsing [t.cfg:3:2] : unknown keyword 'daemon' in 'defaults' "
		"section; it belongs to 'global'.\n"
		"   daemon\n"
		"   ^\n"
		"[WARNING]  config : parsing [t.cfg:5:2] : 'balance' ignored because frontend 'f' "
		"has no backend capability.\n"
		"   balance x\n"
		"   ^\n"
		"[ALERT]    config : parsing [t.cfg:6:2] : 'server' not allowed because frontend "
		"'f' has no backend capability.\n"
		"   server a b\n"
		"   ^\n"
		"[WARNING]  config : parsing [t.cfg:7:2] : 'timeout connect' ignored because "
		"frontend 'f' has no backend capability.\n"
		"   timeout connect 1s\n"
		"   ^\n"
		"[WARNING]  config : parsing [t.cfg:9:2] : 'bind' ignored because backend 'b' has "
		"no frontend capability.\n"
		"   bind :80\n"
		"   ^\n"
		"[WARNING]  config : parsing [t.cfg:10:2] : 'maxconn' ignored because backend 'b' "
		"has no frontend capability.\n"
		"   maxconn x\n"
		"   ^\n"
		"[WARNING]  config : parsing [t.cfg:11:2] : 'option contstats' ignored because "
		"backend 'b' has no frontend capability.\n"
		"   option contstats\n"
		"   ^\n"
		"[ALERT]    config : parsing [t.cfg:13:2] : unknown keyword 'balance' in 'global' "
		"section; it belongs to 'defaults', 'backend', 'listen'.\n"
		"   balance x\n"
		"   ^\n");
}

static void
unsupported_keywords_are_not_unknown(void **state)
{
	(void)state;
	world_expect("global\n tune.quiet\n nbproc 3\n stick-table x\n"
		     "listen l\n option contstats\n no option contstats\n option splice-auto\n"
		     " use-fcgi-app a\n contimeout 5\n use-fcgi-app b\n",
		GLOBAL_SEEN("") "begin listen <l> from <->\nend listen <l>\n",
		"[ALERT]    config : parsing [t.cfg:3:2] : keyword 'nbproc' was "
		"removed in HAProxy 2.5: use 'nbthread'.\n"
		"   nbproc 3\n"
		"   ^\n"
		"[ALERT]    config : parsing [t.cfg:4:2] : unknown keyword 'stick-table' in "
		"'global' section; it belongs to 'frontend', 'backend', 'listen' and is not "
		"supported.\n"
		"   stick-table x\n"
		"   ^\n"
		"[NOTICE]   config : parsing [t.cfg:6:2] : 'option contstats' is accepted and has "
		"no effect: counters are always continuous.\n"
		"   option contstats\n"
		"   ^\n"
		"   | and 1 more line: 7\n"
		"[ALERT]    config : parsing [t.cfg:8:2] : keyword 'option splice-auto' is "
		"known but not supported (it comes later).\n"
		"   option splice-auto\n"
		"   ^\n"
		"[ALERT]    config : parsing [t.cfg:9:2] : keyword 'use-fcgi-app' is "
		"known but not supported.\n"
		"   use-fcgi-app a\n"
		"   ^\n"
		"   | and 1 more line: 11\n"
		"[ALERT]    config : parsing [t.cfg:10:2] : keyword 'contimeout' was "
		"removed in HAProxy 2.1: use 'timeout connect'.\n"
		"   contimeout 5\n"
		"   ^\n"
		"[ALERT]    config : not supported here: FastCGI (2 lines: 9, 11)\n"
		"   | instead of FastCGI: place a web server before the application, and let it "
		"speak HTTP\n");
}

static void
expect_text(const char *text, const char *want)
{
	struct world w;

	world_init(&w);
	world_read(&w, "t.cfg", text);
	assert_int_equal(w.diag.nentry, 1);
	assert_string_equal(w.diag.entry[0].text, want);
	world_fini(&w);
}

static void
a_misspelling_gets_a_suggestion(void **state)
{
	(void)state;
	expect_text("global\n maxcon 1\n",
		    "unknown keyword 'maxcon' in 'global' section; did you mean 'maxconn' maybe ?");
	expect_text("listen l\n option tcplogx\n",
		    "unknown keyword 'option tcplogx' in 'listen' section; did you mean 'option "
		    "tcplog' maybe ?");
	expect_text("global\n maxconn\xc2\xa0" "1\n",
		    "unknown keyword 'maxconn\xc2\xa0" "1' in 'global' section; did you mean "
		    "'maxconn' maybe ? It contains a no-break space.");
	expect_text("listen l\n tiemout client 1s\n",
		"unknown keyword 'tiemout' in 'listen' section; did you mean 'timeout client' "
		"maybe ?");
	expect_text("listen l\n timeout zzzzzzz 1s\n",
		    "unknown keyword 'timeout zzzzzzz' in 'listen' section; 'timeout' supports "
		    "'client', 'connect'.");
	expect_text(
		"listen l\n timeout\n", "'timeout' expects one more word: 'client', 'connect'.");
	expect_text("listen l\n stick-tabel\n",
		    "unknown keyword 'stick-tabel' in 'listen' section; did you mean 'stick-table' "
		    "maybe ?");
	expect_text("listen l\n bakcend b\n",
		"unknown keyword 'bakcend' in 'listen' section; did you mean 'backend' maybe ?");
	expect_text("listen l\n timeout client\n",
		"'timeout client' expects an integer value (in milliseconds unless it has "
		"a unit).");
	expect_text("listen l\n timeout client 10x\n",
		"unexpected character 'x' in 'timeout client': '10x' is not a time (a number and "
		"one of us, ms, s, m, h, d expected).");
	expect_text("listen l\n xyzzy\n", "unknown keyword 'xyzzy' in 'listen' section.");
}

/* "no" before a keyword that is not supported. */
static void
no_before_an_unsupported_keyword_is_explained(void **state)
{
	(void)state;
	expect_text("listen l\n no option forwardfor\n",
		"'option forwardfor' is not supported, so it is off already.");
	expect_text("listen l\n no option splice-auto\n",
		"'option splice-auto' is not supported, so it is off already.");
	expect_text("listen l\n no stick-table\n",
		"keyword 'stick-table' is known but not supported.");
}

static void
very_long_words(void **state)
{
	char text[1200] = "global\n ";
	struct world w;

	(void)state;
	memset(text + 8, 'k', 1000);
	strcpy(text + 1008, " x\n");
	world_init(&w);
	assert_int_equal(world_read(&w, "t", text), -1);
	assert_int_equal(w.diag.count[CFG_ALERT], 1);
	assert_true(strlen(w.diag.entry[0].text) < 200);
	world_fini(&w);
}

/* The keyword has no effect there, but its arguments are checked. */
static void
arguments_are_checked_where_it_has_no_effect(void **state)
{
	(void)state;
	expect_text("backend b\n maxconn\n", "'maxconn' expects <number>.");
	expect_text("backend b\n maxconn 1 2\n",
		"'maxconn' cannot handle unexpected argument '2'.");
}

/* Found by fuzzing: a second word that was too long for a name left the first one unterminated. */
static void
long_second_word(void **state)
{
	char text[400] = "global\n zz ", want[] = "unknown keyword 'zz' in 'global' section.";

	(void)state;
	memset(text + strlen(text), '9', 150);
	strcpy(text + 161, "\n");
	expect_text(text, want);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_forms),
		cmocka_unit_test(counts_of_arguments_are_checked),
		cmocka_unit_test(a_repeated_keyword_counts_once),
		cmocka_unit_test(keywords_have_their_sections),
		cmocka_unit_test(unsupported_keywords_are_not_unknown),
		cmocka_unit_test(a_misspelling_gets_a_suggestion),
		cmocka_unit_test(no_before_an_unsupported_keyword_is_explained),
		cmocka_unit_test(very_long_words),
		cmocka_unit_test(long_second_word),
		cmocka_unit_test(arguments_are_checked_where_it_has_no_effect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
