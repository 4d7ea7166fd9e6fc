#include "unit/rule/expr_rig.h"

static struct http_rig h;

/* Type, user, password and bearer, separated by '|', as in HAProxy 2.6. */
static void
check(const char *value, const char *expect)
{
	static const char *const names[] = { "http_auth_type", "http_auth_user", "http_auth_pass",
		"http_auth_bearer" };
	char text[512], got[256] = "";

	rig_init(&h.r);
	snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: h\r\nX-T: Bearer qq\r\n%s%s\r\n\r\n",
		value ? "Authorization: " : "X: ", value ? value : "");
	rig_request(&h, text);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		strcat(got, i ? "|" : "");
		strcat(got, rig_eval(&h.r, names[i]));
	}
	assert_string_equal(got, expect);
	assert_string_equal(rig_eval(&h.r, "http_auth_bearer(x-t)"), "qq");
	h.r.arena.cap = 2;
	assert_string_equal(rig_eval(&h.r, "http_auth_user"), "(none)");
	rig_fini(&h.r);
}

static void
schemes(void **state)
{
	(void)state;
	check("Basic dTpw", "Basic|u|p|(none)");
	check("basic dTpw", "Basic|u|p|(none)");
	check("Basic dTpwOnE=", "Basic|u|p:q|(none)");
	check("Basic OnA=", "Basic||p|(none)");
	check("Basic dQ==", "(none)|(none)|(none)|(none)");
	check("Basic !!", "(none)|(none)|(none)|(none)");
	check("Basic", "(none)|(none)|(none)|(none)");
	check("Bearer abc", "Bearer|(none)|(none)|abc");
	check("Bearer  abc", "Bearer|(none)|(none)|abc");
	check("Bearer", "(none)|(none)|(none)|(none)");
	check("X y z", "(none)|(none)|(none)|(none)");
	check(NULL, "(none)|(none)|(none)|(none)");
}

static void
without_a_request(void **state)
{
	(void)state;
	rig_init(&h.r);
	h.r.cx.req = NULL;
	assert_string_equal(rig_eval(&h.r, "http_auth_user"), "(none)");
	assert_string_equal(rig_eval(&h.r, "http_auth_bearer"), "(none)");
	rig_fini(&h.r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schemes),
		cmocka_unit_test(without_a_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
