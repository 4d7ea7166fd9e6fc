#include <stdio.h>
#include <string.h>

#include "app/admin/admin.h"
#include "unit/test.h"

struct seen {
	unsigned int n, bad;
	char last[64];
};

static void
judge(void *arg, const struct cfg_entry *e)
{
	struct seen *s = arg;

	assert_string_equal(e->heading, "COMMANDS");
	assert_true(strcmp(s->last, e->name) < 0);
	snprintf(s->last, sizeof(s->last), "%s", e->name);
	s->n++;
	if (!e->answer) {
		print_error("%s: it has no row in app/admin/answers.tbl.h\n", e->name);
		s->bad++;
	}
	assert_true(e->doc[0] >= 'A' && e->doc[0] <= 'Z' && e->doc[strlen(e->doc) - 1] == '.');
	if (strcmp(e->name, "debug dev loop") == 0)
		assert_string_equal(e->place, "Level: admin, in the mode expert");
	if (strcmp(e->name, "show stat") == 0) {
		assert_string_equal(e->place, "Level: user");
		assert_string_equal(e->syntax, "[desc|json|no-maint|typed|up]*");
	}
	if (strcmp(e->name, "quit") == 0)
		assert_null(e->syntax);
}

/* In the order of their words. */
static void
each_command_is_an_entry_with_its_answer(void **state)
{
	struct seen s = { 0 };

	(void)state;
	admin_entries(judge, &s);
	assert_true(s.n > 100);
	assert_int_equal(s.bad, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_command_is_an_entry_with_its_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
