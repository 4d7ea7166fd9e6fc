#include "rule/match/userlist.h"
#include "unit/test.h"

#include <stdio.h>

#include "base/mem.h"
#include "fake/print_diag.h"

static struct userlists all;
static struct userlist *l;
static struct cfg_diag diag;

static int
setup(void **state)
{
	(void)state;
	userlists_init(&all);
	cfg_diag_init(&diag, 0);
	l = userlists_add(&all, "L");
	return l ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	userlists_fini(&all);
	cfg_diag_fini(&diag);
	return 0;
}

static void
add(const char *name, enum user_secret kind, const char *secret)
{
	struct user *u = userlist_add_user(l, name);

	assert_non_null(u);
	u->kind = kind;
	u->secret = secret ? mem_strdup(secret) : NULL;
}

static void
tie(const char *user, const char *group, int is_of_group)
{
	struct user_tie *t = userlist_tie(l, user, group);

	assert_non_null(t);
	t->is_of_group = is_of_group;
}

static const char *
admitted(const char *name, const char *password)
{
	const struct user *u = userlist_admit(l, str_of(name), str_of(password));

	return u ? u->name : "-";
}

static void
users_are_found(void **state)
{
	(void)state;
	add("bob", USER_TEXT, "pw");
	add("bo", USER_TEXT, "pq");
	add("bobby", USER_TEXT, "pr");
	add("al", USER_HASH, "$1$abcdefgh$JwUHHj6d3iZojViDCToRQ.");
	add("zed", USER_LOCKED, NULL);
	assert_int_equal(userlist_finish(l, &diag), 0);
	assert_string_equal(admitted("bob", "pw"), "bob");
	assert_string_equal(admitted("bo", "pq"), "bo");
	assert_string_equal(admitted("bobby", "pr"), "bobby");
	assert_string_equal(admitted("al", "tiger"), "al");
	assert_string_equal(admitted("bob", "pq"), "-");
	assert_string_equal(admitted("al", "lion"), "-");
	assert_string_equal(admitted("b", "pw"), "-");
	assert_string_equal(admitted("bobb", "pw"), "-");
	assert_string_equal(admitted("bobbyy", "pr"), "-");
	assert_string_equal(admitted("", ""), "-");
	assert_string_equal(admitted("zed", ""), "-");
	assert_null(userlist_admit(l, STR("bob\0x"), STR("pw")));
	assert_null(userlist_admit(l, STR("bob\0"), STR("pw")));
	for (unsigned int i = 0; i < l->n; i++)
		assert_int_equal(l->by_name[i]->place, i);
}

static void
groups_are_tied(void **state)
{
	const struct user *u;

	(void)state;
	add("a", USER_TEXT, "x");
	tie("a", "g", 0);
	tie("a", "h", 1);
	tie("a", "g", 1);
	assert_non_null(userlist_add_group(l, "g"));
	assert_non_null(userlist_add_group(l, "h"));
	assert_int_equal(userlist_finish(l, &diag), 0);
	u = userlist_admit(l, STR("a"), STR("x"));
	assert_non_null(u);
	assert_int_equal(u->n_groups, 2);
	assert_ptr_equal(u->group[0], userlist_find_group(l, "g"));
	assert_ptr_equal(u->group[1], userlist_find_group(l, "h"));
	assert_true(list_is_empty(&l->ties));
}

static void
unknown_users_and_groups(void **state)
{
	char text[2048] = "";
	FILE *f;

	(void)state;
	add("a", USER_TEXT, "x");
	assert_non_null(userlist_add_group(l, "g"));
	tie("b", "g", 1);
	tie("a", "h", 0);
	assert_int_equal(userlist_finish(l, &diag), -1);
	f = fmemopen(text, sizeof(text), "w");
	assert_non_null(f);
	print_diag(&diag, f, 0);
	(void)fclose(f);
	assert_non_null(strstr(text, "userlist 'L': no such user 'b' specified in group 'g'."));
	assert_non_null(strstr(text, "userlist 'L': no such group 'h' specified in user 'a'."));
}

static void
lists_are_found(void **state)
{
	(void)state;
	assert_ptr_equal(userlists_find(&all, "L"), l);
	assert_null(userlists_find(&all, "l"));
	/* without members */
	assert_int_equal(userlist_finish(l, &diag), 0);
	assert_string_equal(admitted("a", "b"), "-");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(users_are_found),
		CASE(groups_are_tied),
		CASE(unknown_users_and_groups),
		CASE(lists_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
