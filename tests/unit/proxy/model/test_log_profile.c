#include "proxy/model/log_profile.h"

#include <string.h>

#include "unit/test.h"

/* `any` is for the steps without a line of their own; these take nothing of it. */
static void
a_line_of_its_own_replaces_any(void **state)
{
	struct list profiles;
	struct log_profile *p;

	(void)state;
	list_init(&profiles);
	p = log_profile_add(&profiles, "p");
	assert_non_null(p);
	assert_ptr_equal(log_profile_find(&profiles, "p"), p);
	assert_null(log_profile_find(&profiles, "q"));
	for (int i = 0; i < LOG_STEPS; i++)
		assert_null(log_profile_on(p, (enum log_step)i));
	p->on[LOG_STEP_ANY].is_set = 1;
	p->on[LOG_STEP_ERROR].is_set = 1;
	for (int i = 0; i < LOG_STEPS; i++)
		assert_ptr_equal(log_profile_on(p, (enum log_step)i),
			&p->on[i == LOG_STEP_ERROR ? LOG_STEP_ERROR : LOG_STEP_ANY]);
	log_profiles_free(&profiles);
	assert_true(list_is_empty(&profiles));
}

/* A tcp frontend in front of an http backend has steps of mode http too. */
static void
steps_of_http_have_formats_of_http(void **state)
{
	struct list profiles;
	struct log_profile *p;

	(void)state;
	list_init(&profiles);
	p = log_profile_add(&profiles, "p");
	assert_int_equal(log_profile_fmt_index(&p->on[LOG_STEP_HTTP_REQ], 0), LOG_FMT_HTTP);
	assert_int_equal(log_profile_fmt_index(&p->on[LOG_STEP_CLOSE], 0), LOG_FMT_TCP);
	assert_int_equal(log_profile_fmt_index(&p->on[LOG_STEP_ANY], 0), LOG_FMT_TCP);
	assert_int_equal(log_profile_fmt_index(&p->on[LOG_STEP_ANY], 1), LOG_FMT_HTTP);
	log_profiles_free(&profiles);
}

static void
each_name_needs_a_section(void **state)
{
	struct list profiles;
	struct cfg_diag d;

	(void)state;
	list_init(&profiles);
	cfg_diag_init(&d, 0);
	log_profile_add(&profiles, "access")->is_declared = 1;
	assert_int_equal(log_profiles_finish(&profiles, &d), 0);
	(void)log_profile_add(&profiles, "acess");
	assert_int_equal(log_profiles_finish(&profiles, &d), -1);
	assert_string_equal(d.entry[0].text,
		"'log' : there is no section 'log-profile acess'; did you mean 'access'?");
	/* Its section had an error, which was reported. */
	cfg_diag_lose(&d, "acess");
	assert_int_equal(log_profiles_finish(&profiles, &d), 0);
	cfg_diag_fini(&d);
	log_profiles_free(&profiles);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_of_its_own_replaces_any),
		cmocka_unit_test(steps_of_http_have_formats_of_http),
		cmocka_unit_test(each_name_needs_a_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
