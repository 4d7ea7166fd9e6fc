/* Showing and searching maps and ACLs at run time; tests/system compares the commands
 * with HAProxy's. */
#include "unit/app/map_rig.h"

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
		TEST(show_map_and_show_acl),
		TEST(get_map_and_get_acl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
