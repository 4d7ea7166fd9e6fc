/* Reports of an agent. Results and words are those of HAProxy 2.6, which also takes a negative
 * maxconn, as a very large one. */
#include <limits.h>
#include <stdlib.h>

#include "proxy/check/agent.h"
#include "unit/test.h"

#define UP AGENT_SAYS_UP
#define DOWN AGENT_SAYS_DOWN
#define NONE AGENT_SAYS_NOTHING
#define SAME AGENT_ADMIN_SAME
#define UNKNOWN "agent reports an error : "
#define BAD_WEIGHT "agent warns : Trailing garbage in weight string"
#define BAD_MAXCONN "agent warns : Trailing garbage in maxconn string"
#define NO_MAXCONN "agent warns : maxconn string empty or preceded by garbage"

static const struct {
	const char *line;
	enum agent_health health;
	enum agent_admin admin;
	int weight, maxconn;
	const char *info;
} lines[] = {
	{ "up\n", UP, SAME, -1, -1, "via agent : up" },
	{ "up\r\nfoo", UP, SAME, -1, -1, "via agent : up" },
	{ "down\n", DOWN, SAME, -1, -1, "via agent : down" },
	{ "fail\n", DOWN, SAME, -1, -1, "via agent : fail" },
	{ "stopped\n", DOWN, SAME, -1, -1, "via agent : stopped" },
	{ "UP\n", UP, SAME, -1, -1, "via agent : UP" },
	{ "Down\n", DOWN, SAME, -1, -1, "via agent : Down" },
	{ "down # desc\n", DOWN, SAME, -1, -1, "via agent : down (desc)" },
	{ "down,#x\n", DOWN, SAME, -1, -1, "via agent : down (x)" },
	{ "up #desc\n", UP, SAME, -1, -1, "via agent : up (desc)" },
	{ "down 50% #desc 30%\n", DOWN, SAME, 50, -1, "via agent : down (desc 30%)" },
	{ "stopped foo\n", DOWN, SAME, -1, -1, "via agent : stopped (foo)" },
	{ "up foo\n", UP, SAME, -1, -1, "via agent : up (foo)" },
	{ "foo up\n", UP, SAME, -1, -1, "via agent : up (foo)" },
	{ "down fail#a\n", DOWN, SAME, -1, -1, "via agent : down (fail#a)" },
	{ "up down\n", DOWN, SAME, -1, -1, "via agent : down" },
	{ "down up\n", UP, SAME, -1, -1, "via agent : up" },
	{ "  up  \n", UP, SAME, -1, -1, "via agent : up" },
	{ "down\rup\n", DOWN, SAME, -1, -1, "via agent : down" },
	{ "down#desc here\n", NONE, SAME, -1, -1, UNKNOWN "down#desc" },
	{ "failed\n", NONE, SAME, -1, -1, UNKNOWN "failed" },
	{ "downx\n", NONE, SAME, -1, -1, UNKNOWN "downx" },
	{ "foo bar\n", NONE, SAME, -1, -1, UNKNOWN "foo" },
	{ "foo:bar\n", NONE, SAME, -1, -1, UNKNOWN "foo:bar" },
	{ "up;50%\n", NONE, SAME, -1, -1, UNKNOWN "up;50%" },
	{ "up%\n", NONE, SAME, -1, -1, UNKNOWN "up%" },
	{ "down#a\tb,c\n", NONE, SAME, -1, -1, UNKNOWN "down#a" },
	{ "#desc\n", NONE, SAME, -1, -1, "" },
	{ "#\n", NONE, SAME, -1, -1, "" },
	{ "\n", NONE, SAME, -1, -1, "" },
	{ "\nup\n", NONE, SAME, -1, -1, "" },
	{ "", NONE, SAME, -1, -1, "" },
	{ "maint\n", NONE, AGENT_ADMIN_MAINT, -1, -1, "" },
	{ "DRAIN\n", NONE, AGENT_ADMIN_DRAIN, -1, -1, "" },
	{ "ready\n", NONE, AGENT_ADMIN_READY, -1, -1, "" },
	{ "ready maint\n", NONE, AGENT_ADMIN_MAINT, -1, -1, "" },
	{ "maint ready\n", NONE, AGENT_ADMIN_READY, -1, -1, "" },
	{ "drain 50%\n", NONE, AGENT_ADMIN_DRAIN, 50, -1, "" },
	{ "ready#desc\n", NONE, SAME, -1, -1, UNKNOWN "ready#desc" },
	{ "50%\n", NONE, SAME, 50, -1, "" },
	{ "0%\n", NONE, SAME, 0, -1, "" },
	{ "1000%\n", NONE, SAME, 1000, -1, "" },
	{ "10000000000%\n", NONE, SAME, INT_MAX, -1, "" },
	{ "50% 20%\n", NONE, SAME, 20, -1, "" },
	{ "50% up\n", UP, SAME, 50, -1, "via agent : up" },
	{ "up,50%\n", UP, SAME, 50, -1, "via agent : up" },
	{ "up\t50%\n", UP, SAME, 50, -1, "via agent : up" },
	{ "up, 50% , maxconn:3\n", UP, SAME, 50, 3, "via agent : up" },
	{ "50\n", NONE, SAME, -1, -1, UNKNOWN "50" },
	{ "abc%\n", NONE, SAME, -1, -1, UNKNOWN "abc%" },
	{ "-5%\n", NONE, SAME, -1, -1, UNKNOWN "-5%" },
	{ "+5%\n", NONE, SAME, -1, -1, UNKNOWN "+5%" },
	{ "%\n", NONE, SAME, -1, -1, UNKNOWN "%" },
	{ "50 %\n", NONE, SAME, -1, -1, UNKNOWN "50" },
	{ "5 0%\n", NONE, SAME, 0, -1, UNKNOWN "5" },
	{ "5.5%\n", NONE, SAME, -1, -1, BAD_WEIGHT },
	{ "50%%\n", NONE, SAME, -1, -1, BAD_WEIGHT },
	{ "50%#desc\n", NONE, SAME, -1, -1, BAD_WEIGHT },
	{ "0x10%\n", NONE, SAME, -1, -1, BAD_WEIGHT },
	{ "maxconn:10\n", NONE, SAME, -1, 10, "" },
	{ "MAXCONN:5\n", NONE, SAME, -1, 5, "" },
	{ "maxconn:0\n", NONE, SAME, -1, 0, "" },
	{ "maxconn:10 50% ready up\n", UP, AGENT_ADMIN_READY, 50, 10, "via agent : up" },
	{ "maxconn:\n", NONE, SAME, -1, -1, "agent warns : Require <maxconn>." },
	{ "maxconn:x\n", NONE, SAME, -1, -1, NO_MAXCONN },
	{ "maxconn:-1\n", NONE, SAME, -1, -1, NO_MAXCONN },
	{ "maxconn:10x\n", NONE, SAME, -1, -1, BAD_MAXCONN },
	{ "maxconn: 5\n", NONE, SAME, -1, -1, UNKNOWN "5" },
};

static void
each_line_gives_its_report(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		enum check_status status = lines[i].health == UP ? CHECK_L7OK
			: lines[i].health == DOWN		  ? CHECK_L7STS
								  : CHECK_CHECKED;
		struct agent_report say;

		agent_parse(str_of(lines[i].line), &say);
		if (say.health != lines[i].health || say.admin != lines[i].admin ||
			say.weight != lines[i].weight || say.maxconn != lines[i].maxconn ||
			say.verdict.status != status ||
			strcmp(say.verdict.info, lines[i].info) != 0)
			fail_msg("%s => %d %d %d %d %s '%s'", lines[i].line, say.health, say.admin,
				say.weight, say.maxconn, check_status_code(say.verdict.status),
				say.verdict.info);
	}
}

/* Cut at every byte, in blocks of just that size. */
static void
a_truncated_line_is_no_report(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		for (size_t n = 0; n <= strlen(lines[i].line); n++) {
			char *copy = malloc(n ? n : 1);
			struct agent_report say;

			assert_non_null(copy);
			memcpy(copy, lines[i].line, n);
			agent_parse((struct str){ copy, n }, &say);
			free(copy);
		}
	}
}

/* A NUL ends the line, and long words are cut. */
static void
reports_are_bounded(void **state)
{
	struct agent_report say;
	char big[2000];

	(void)state;
	agent_parse((struct str){ "up\0down", 7 }, &say);
	assert_int_equal(say.health, UP);
	memset(big, 'x', sizeof(big));
	agent_parse((struct str){ big, sizeof(big) }, &say);
	assert_int_equal(strlen(say.verdict.info), CHECK_INFO_MAX - 1);
	memcpy(big, "up #", 4);
	agent_parse((struct str){ big, sizeof(big) }, &say);
	assert_int_equal(strlen(say.verdict.info), CHECK_INFO_MAX - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_gives_its_report),
		cmocka_unit_test(a_truncated_line_is_no_report),
		cmocka_unit_test(reports_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
