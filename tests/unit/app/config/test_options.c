#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/config/options.h"
#include "base/err.h"
#include "unit/test.h"

static struct options o;
static char why[256];

/* Parses words separated by single blanks; the program's name is put before them. */
static int
parse(const char *line)
{
	static char buf[4096];
	static char *argv[512];
	int argc = 0;

	snprintf(buf, sizeof(buf), "/usr/sbin/tacit %s", line);
	for (char *p = strtok(buf, " "); p && argc < 512; p = strtok(NULL, " "))
		argv[argc++] = p;
	return options_parse(&o, argc, argv, why, sizeof(why));
}

static void
options_choose_the_action(void **state)
{
	static const struct { const char *line; enum options_action action; } t[] = {
		{ "-f a.cfg", OPTIONS_RUN },        { "-c -f a.cfg", OPTIONS_CHECK },
		{ "-f a.cfg -c", OPTIONS_CHECK },   { "-v", OPTIONS_VERSION },
		{ "-vv", OPTIONS_BUILD },           { "", OPTIONS_USAGE },
		{ "-h", OPTIONS_USAGE },            { "-h -f a", OPTIONS_USAGE },
		{ "-dKcfg", OPTIONS_KEYWORDS },
		{ "-dK all", OPTIONS_KEYWORDS },    { "-dKhelp", OPTIONS_DUMP_HELP },
		{ "-dK", OPTIONS_DUMP_HELP },       { "-cc 1", OPTIONS_COND },
		{ "-c -cc 1", OPTIONS_COND },       { "-- a.cfg b.cfg", OPTIONS_RUN },
		{ "--help", OPTIONS_HELP },         { "--version", OPTIONS_VERSION },
		{ "--explain timeout client -f a", OPTIONS_EXPLAIN },
		{ "--format a.cfg", OPTIONS_FORMAT },
		{ "--health /run/s", OPTIONS_HEALTH },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(parse(t[i].line), 0);
		assert_int_equal(o.action, t[i].action);
	}
}

static void
options_choose_where_to_run(void **state)
{
	static const struct {
		const char *line;
		enum options_place place;
		unsigned int flags;
	} t[] = {
		{ "-f a", OPTIONS_AS_CONFIGURED, 0 },
		{ "-f a -D", OPTIONS_DAEMON, 0 },
		{ "-f a -db", OPTIONS_FOREGROUND, 0 },
		{ "-f a -D -db", OPTIONS_FOREGROUND, 0 },
		{ "-f a -db -D", OPTIONS_FOREGROUND, 0 },
		{ "-f a -d", OPTIONS_DEBUG, 0 },
		{ "-f a -d -db", OPTIONS_DEBUG, 0 },
		{ "-f a -Ws", OPTIONS_SUPERVISED, OPTIONS_MASTER },
		{ "-f a -W -D", OPTIONS_DAEMON, OPTIONS_MASTER },
		{ "-f a -D -W", OPTIONS_DAEMON, OPTIONS_MASTER },
		{ "-f a -W -db", OPTIONS_FOREGROUND, OPTIONS_MASTER },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(parse(t[i].line), 0);
		assert_int_equal(o.place, t[i].place);
		assert_int_equal(o.flags, t[i].flags);
	}
}

static void
words_of_a_keyword_end_at_the_next_option(void **state)
{
	(void)state;
	assert_int_equal(parse("--explain timeout client -f a"), 0);
	assert_int_equal(o.n_explain, 2);
	assert_string_equal(o.explain[0], "timeout");
	assert_string_equal(o.explain[1], "client");
	assert_int_equal(o.n_files, 1);
	assert_true(parse("--explain") < 0);
}

static void
options_set_values(void **state)
{
	(void)state;
	assert_int_equal(
		parse("-f a -f b -p run.pid -C /etc -L me -n 10 -N 20 -m 30 -q -V -dW -dD -- c"),
		0);
	assert_string_equal(o.progname, "tacit");
	assert_int_equal(o.n_files, 3);
	assert_string_equal(o.files[1], "b");
	assert_string_equal(o.files[2], "c");
	assert_string_equal(o.pidfile, "run.pid");
	assert_string_equal(o.directory, "/etc");
	assert_string_equal(o.local_peer, "me");
	assert_int_equal(o.maxconn, 10);
	assert_int_equal(o.proxy_maxconn, 20);
	assert_int_equal(o.memory_mb, 30);
	assert_int_equal(o.flags, OPTIONS_QUIET | OPTIONS_VERBOSE | OPTIONS_WERROR | OPTIONS_DIAG);
	assert_int_equal(parse("-f a -de -dp -dS"), 0);
	assert_int_equal(o.flags, OPTIONS_NO_EPOLL | OPTIONS_NO_POLL | OPTIONS_NO_SPLICE);
	assert_int_equal(o.n_hints, 0);
	/* after -- no word is an option */
	assert_int_equal(parse("-- -c"), 0);
	assert_int_equal(o.action, OPTIONS_RUN);
	assert_string_equal(o.files[0], "-c");
}

static void
debug_options_are_hints(void **state)
{
	(void)state;
	assert_int_equal(parse("-f a -dM -dMff -dM=1 -dI -dZ"), 0);
	assert_string_equal(o.hints, "MIZ");
	assert_int_equal(parse("-f a -dIx"), -ERR_UNKNOWN);
}

static void
previous_processes(void **state)
{
	char many[4000] = "-f a -sf";

	(void)state;
	assert_int_equal(parse("-sf -f a"), 0);
	assert_int_equal(o.n_former, 0);
	assert_int_equal(parse("-sf 12 13 -x /s -f a"), 0);
	assert_int_equal(o.n_former, 2);
	assert_int_equal(o.former[1], 13);
	assert_int_equal(o.former_sig, SIGUSR1);
	assert_string_equal(o.fetch_from, "/s");
	assert_int_equal(parse("-f a -sf 12 -st 14"), 0);
	assert_int_equal(o.n_former, 1);
	assert_int_equal(o.former[0], 14);
	assert_int_equal(o.former_sig, SIGTERM);
	for (int i = 0; i <= OPTIONS_FORMER_MAX; i++)
		strcat(many, " 7");
	assert_int_equal(parse(many), -ERR_FULL);
}

static void
wrong_options_are_refused(void **state)
{
	static const struct { const char *line; int reason; const char *text; } t[] = {
		{ "-f", -ERR_SYNTAX, "needs an argument" },
		{ "-p", -ERR_SYNTAX, "'-p'" },
		{ "-c", -ERR_SYNTAX, "no configuration" },
		{ "-D", -ERR_SYNTAX, "no configuration" },
		{ "-z", -ERR_UNKNOWN, "'-z'" },
		{ "-", -ERR_UNKNOWN, "'-'" },
		{ "-cV", -ERR_UNKNOWN, "'-cV'" },
		{ "a.cfg", -ERR_UNKNOWN, "'a.cfg'" },
		{ "-S", -ERR_SYNTAX, "'-S'" },
		{ "-f a -sf 12 x", -ERR_RANGE, "'-sf'" },
		{ "-f a -st 0", -ERR_RANGE, "'-st'" },
		{ "-f a -sf 12 4294967298", -ERR_RANGE, "'-sf'" },
		{ "-x", -ERR_SYNTAX, "'-x'" },
		{ "-n -1", -ERR_RANGE, "-1" },
		{ "-n 2147483648", -ERR_RANGE, "2147483648" },
		{ "-n 4294967296", -ERR_RANGE, "4294967296" },
		{ "-N 9223372036854775808", -ERR_RANGE, "'-N'" },
		{ "-m 1e99", -ERR_RANGE, "1e99" },
		{ "-n 10x", -ERR_RANGE, "10x" },
		{ "-dKnone", -ERR_UNKNOWN, "none" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(parse(t[i].line), t[i].reason);
		assert_non_null(strstr(why, t[i].text));
	}
}

static void
too_many_files(void **state)
{
	static char *argv[2 + OPTIONS_FILES_MAX + 1];

	(void)state;
	argv[0] = (char *)"tacit";
	argv[1] = (char *)"--";
	for (int i = 0; i <= OPTIONS_FILES_MAX; i++)
		argv[2 + i] = (char *)"x";
	assert_int_equal(options_parse(&o, 2 + OPTIONS_FILES_MAX, argv, why, sizeof(why)), 0);
	assert_int_equal(
		options_parse(&o, 2 + OPTIONS_FILES_MAX + 1, argv, why, sizeof(why)), -ERR_FULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_choose_the_action),
		cmocka_unit_test(options_choose_where_to_run),
		cmocka_unit_test(words_of_a_keyword_end_at_the_next_option),
		cmocka_unit_test(options_set_values),
		cmocka_unit_test(debug_options_are_hints),
		cmocka_unit_test(previous_processes),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(too_many_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
