/* Showing, searching and changing maps and ACLs at run time; tests/system compares the commands
 * with HAProxy's. */
#include "unit/app/app_rig.h"

#include "rule/match/pattern_file.h"

static char map[64];

#define COMMAND(fmt) (snprintf(line, sizeof(line), fmt, map), rig_command(line))

static char line[500];

static int
setup(void **st)
{
	static const char text[] = "a 1\nb two words\na 3\n";
	char proxy[330];
	int fd;

	(void)st;
	snprintf(map, sizeof(map), "/tmp/tacit-map-XXXXXX");
	fd = mkstemp(map);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	snprintf(proxy, sizeof(proxy),
		"frontend f\n bind unix@/nowhere/at.all\n mode http\n disabled\n"
		" acl n req.hdr_val(x) gt 100\n acl s req.hdr(host) -i -u 40 FOO.com\n"
		" use_backend %%[path,map(%s)]\n acl s req.hdr(host) -i bar.com\n",
		map);
	rig_open("", proxy);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	rig_close();
	unlink(map);
	return 0;
}

static void
changing(void **st)
{
	(void)st;
	assert_string_equal(COMMAND("add map %s c 4"), "\n");
	assert_string_equal(COMMAND("set map %s a x"), "\n");
	assert_string_equal(COMMAND("set map %s #0x2 y"), "\n");
	assert_string_equal(COMMAND("del map %s #0x3"), "\n");
	assert_string_equal(COMMAND("show map %s"), "0x1 a x\n0x2 b y\n0x4 c 4\n\n");
	assert_string_equal(COMMAND("del map %s a"), "\n");
	assert_string_equal(COMMAND("clear map %s"), "\n");
	assert_string_equal(COMMAND("show map %s"), "\n");
	assert_string_equal(rig_command("add acl #0 7"), "\n");
	assert_string_equal(rig_command("del acl #0 101:"), "\n");
	assert_string_equal(rig_command("show acl #0"), "0x2 7\n\n");
	assert_string_equal(rig_command("clear acl #0"), "\n");
	assert_string_equal(rig_command("show acl #0"), "\n");
}

static void
entries_from_a_payload(void **st)
{
	static char text[] = "k1 v1\r\n\tk2   v2 with  blanks \n\nk3\nk4 v4\n";

	(void)st;
	(void)COMMAND("clear map %s");
	(void)rig_command("show cli level");
	snprintf(line, sizeof(line), "add map %s", map);
	assert_string_equal(rig_run_line(line, text), "Missing value for key 'k3'.\n\n");
	assert_string_equal(COMMAND("show map %s"), "0x4 k1 v1\n0x5 k2 v2 with  blanks \n\n");
}

/* Others are served between its parts. */
static void
a_long_payload_takes_several_turns(void **st)
{
	enum { LINES = 1000, LINES_A_TURN = 64 };
	static char text[LINES * 16];
	unsigned int turns = 0;
	size_t n = 0;

	(void)st;
	for (int i = 0; i < LINES; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "key%d v\n", i);
	(void)COMMAND("clear map %s");
	snprintf(line, sizeof(line), "add map %s", map);
	admin_begin_line(&rig_conn, line, text);
	for (; rig_conn.line; turns++)
		admin_run_line(&rig_conn);
	assert_true(turns >= LINES / LINES_A_TURN);
	sbuf_reset(&rig_conn.out);
	assert_non_null(strstr(COMMAND("get map %s key999"), "found=yes"));
}

static void
whole_versions(void **st)
{
	(void)st;
	assert_string_equal(COMMAND("prepare map %s"), "New version created: 1\n\n");
	assert_string_equal(COMMAND("add map @1 %s z 26"), "\n");
	assert_string_equal(COMMAND("add map @2 %s z 26"),
		"Version number in the future, please use 'prepare map' before.\n\n");
	assert_string_equal(COMMAND("show map @1 %s"), "0x4 z 26\n\n");
	assert_non_null(strstr(rig_command("show map"), "curr_ver=0 next_ver=1 entry_cnt=4\n"));
	assert_string_equal(COMMAND("commit map @2 %s"), "Version number out of range.\n\n");
	assert_string_equal(COMMAND("commit map @1 %s"), "\n");
	assert_string_equal(COMMAND("show map %s"), "0x4 z 26\n\n");
	assert_string_equal(COMMAND("clear map @0 %s"), "\n");
	assert_non_null(strstr(rig_command("show map"), "curr_ver=1 next_ver=1 entry_cnt=1\n"));
	assert_string_equal(rig_command("prepare acl #0"), "New version created: 1\n\n");
	assert_string_equal(rig_command("commit acl @1 #0"), "\n");
	assert_string_equal(rig_command("show acl #0"), "\n");
}

static void
mistakes(void **st)
{
	static const char *const t[][2] = {
		{ "show map #0", "Unknown map identifier. Please use #<id> or <file>." },
		{ "show acl @0", "Unknown ACL identifier. Please use #<id> or <file>." },
		{ "show map @x #1", "Invalid version number." },
		{ "show map @4294967296 #1", "Invalid version number." },
		{ "get map", "Missing map identifier and/or key." },
		{ "get acl #0", "Missing ACL identifier and/or key." },
		{ "add map #1 k",
			"'add map' expects three parameters (map identifier, key and value) "
			"or one parameter (map identifier) and a payload" },
		{ "add acl #0", "'add acl' expects two parameters: ACL identifier and pattern." },
		{ "add acl #0 x", "'x' is not a number." },
		{ "add acl #1 x",
			"This ACL is shared with a map containing samples. You must use the "
			"command 'add map' to add values." },
		{ "add acl #7 x", "Unknown ACL identifier. Please use #<id> or <file>." },
		{ "clear map #0", "Unknown map identifier. Please use #<id> or <file>." },
		{ "set map #1 x",
			"'set map' expects three parameters: map identifier, key and value." },
		{ "set map #1 x y", "entry not found." },
		{ "set map #1 #0x77 y", "key or pattern not found." },
		{ "del map", "This command expects two parameters: map identifier and key." },
		{ "del acl #0", "This command expects two parameters: ACL identifier and key." },
		{ "del acl #0 9", "Key not found." },
		{ "del acl #0 #zz", "Key not found." },
		{ "clear acl @0", "Missing ACL identifier." },
		{ "prepare map", "Unknown map identifier. Please use #<id> or <file>." },
		{ "commit map #1", "Missing version number." },
		{ "commit map @1", "Missing map identifier." },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		if (strcmp(rig_line(rig_command(t[i][0]), 0), t[i][1]) != 0)
			fail_msg("%s: %s", t[i][0], rig_command(t[i][0]));
}

/* They have one list of numbers; a value does not change what an ACL matches. */
static void
commands_for_maps_take_acls(void **st)
{
	(void)st;
	assert_string_equal(rig_command("add map #0 7 seven"), "\n");
	assert_non_null(strstr(rig_command("show acl #0"), " 7 seven\n"));
	assert_string_equal(rig_command("set map #0 7 sept"), "\n");
	assert_non_null(strstr(rig_command("show acl #0"), " 7 sept\n"));
	assert_non_null(strstr(rig_command("get map #0 7"), "found=yes, "));
	assert_non_null(strstr(rig_command("get map #0 7"), "value=none\n"));
	assert_non_null(strstr(rig_command("get acl #0 7"), "match=yes, "));
	assert_string_equal(rig_command("set map #0 8 x"), "entry not found.\n\n");
	assert_non_null(strstr(rig_command("get acl #1 b"), "match=yes, "));
}

/* A user whose level permits no changes cannot change these (manual, `level`). */
static void
permissions(void **st)
{
	static const char *const changes[] = { "add map", "add acl", "set map", "del map",
		"del acl", "clear map", "clear acl", "prepare map", "prepare acl", "commit map",
		"commit acl" };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(changes); i++)
		assert_string_equal(rig_run(BIND_OPERATOR, changes[i]), "Permission denied\n\n");
	assert_null(strstr(rig_run(BIND_USER, "show map"), "denied"));
}

/* --- showing and searching --- */

static void
show_map_and_show_acl(void **st)
{
	char want[900];

	(void)st;
	rig_check_shape(rig_command("show map"));
	snprintf(want, sizeof(want), " (%s) pattern loaded from file '%s' used by map at file '",
		map, map);
	assert_non_null(strstr(rig_command("show map"), want));
	assert_non_null(strstr(rig_command("show map"), ". curr_ver=0 next_ver=0 entry_cnt=3\n"));
	assert_string_equal(rig_line(rig_command("show acl"), 0), "# id (file) description");
	assert_non_null(strstr(rig_command("show acl"), "\n0 () acl 'req.hdr_val' file '"));
	assert_non_null(strstr(rig_command("show acl"), "\n40 () acl 'req.hdr' file '"));
	assert_null(strstr(rig_command("show acl"), "t.map"));
	assert_string_equal(COMMAND("show map %s"), "0x1 a 1\n0x2 b two words\n0x3 a 3\n\n");
	assert_string_equal(COMMAND("show map @7 %s"), "\n");
	assert_string_equal(rig_command("show acl #0"), "0x1 101:\n\n");
	assert_string_equal(rig_command("show acl #40"), "0x1 FOO.com\n\n");
}

static void
get_map_and_get_acl(void **st)
{
	(void)st;
	assert_string_equal(COMMAND("get map %s a"),
		"type=str, case=sensitive, found=yes, idx=tree, "
		"key=\"a\", value=\"1\", type=\"str\"\n\n");
	assert_string_equal(COMMAND("get map %s c"), "type=str, case=sensitive, found=no\n\n");
	assert_string_equal(rig_command("get acl #0 101"),
		"type=int, case=sensitive, match=yes, "
		"idx=list, pattern=\"101:\"\n\n");
	assert_string_equal(rig_command("get acl #40 foo.COM"),
		"type=str, case=insensitive, match=yes, idx=list, pattern=\"FOO.com\"\n\n");
	/* the other line of this ACL, which shares a pattern set with it */
	assert_string_equal(
		rig_command("get acl #40 bar.com"), "type=str, case=insensitive, match=no\n\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(changing),
		CASE(entries_from_a_payload),
		CASE(a_long_payload_takes_several_turns),
		CASE(whole_versions),
		CASE(mistakes),
		CASE(commands_for_maps_take_acls),
		CASE(permissions),
		CASE(show_map_and_show_acl),
		CASE(get_map_and_get_acl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
