#include <stdio.h>
#include <string.h>

#include "rule/action/action.h"
#include "rule/action/action_dump.h"
#include "rule/match/acl.h"
#include "rule/match/pattern.h"
#include "unit/test.h"

static unsigned int
count_text(const char *in, const char *what)
{
	unsigned int n = 0;

	for (const char *p = in; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

/* Appends an entry as "name syntax|place" and its description. */
static void
note_entry(void *arg, const struct cfg_entry *e)
{
	sbuf_addf(arg, "entry %s %s|%s\n%s\n"
		"", e->name, e->syntax ? e->syntax : "", e->place, e->doc);
}

/* Each action, match method and predefined ACL has an entry. */
static void
all_entries(void **state)
{
	static const struct rule_action *const tables[] = { rule_head_actions, rule_uri_actions,
		rule_var_actions, rule_end_actions, rule_redirect_actions, rule_misc_actions,
		rule_auth_actions, rule_map_actions, rule_service_actions };
	struct rule_vocab v = { 0 };
	unsigned int entries = 0;
	struct sbuf out;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		assert_int_equal(rule_vocab_add_actions(&v, tables[i]), 0);
		for (const struct rule_action *a = tables[i]; a->name; a++, entries++)
			if (!a->doc || !a->doc[0] || !a->paren != !a->inner)
				fail_msg("%s is not documented", a->name);
	}
	for (unsigned int m = 0; m < PATTERN_METHODS; m++) {
		enum pattern_method method = (enum pattern_method)m;

		assert_int_equal(!pattern_method_name(method), !pattern_method_doc(method));
		entries += pattern_method_name(method) != NULL;
	}
	for (size_t i = 0; rule_acl_predefined_name(i); i++)
		entries++;
	sbuf_init(&out, 0);
	rule_action_entries(&v, note_entry, &out);
	assert_int_equal(count_text(out.p, "entry "), entries);
	assert_non_null(strstr(out.p, "entry set-header <name> <fmt>|In http-request, "
				      "http-response, http-after-response\n"));
	assert_non_null(strstr(out.p, "entry set-var(<name>) <expr>|"));
	assert_non_null(strstr(out.p, "entry beg |A matching method, behind -m.\nThe beginning "
		"of "));
	assert_non_null(strstr(out.p, "entry LOCALHOST |A predefined ACL.\nsrc 127.0.0.1/8 ::1\n"));
	sbuf_fini(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
