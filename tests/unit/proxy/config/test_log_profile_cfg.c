/* Sections log-profile, profiles of log lines, and log-steps. */
#include "proxy/config/log_cfg.h"

#include "unit/proxy/log_rig.h"

#include "proxy/config/vocab.h"
#include "proxy/model/log_profile.h"

static void
every_keyword_is_kept(void **state)
{
	struct cfg_world w;
	const struct log_profile *p;
	const struct log_line *l;

	(void)state;
	cfg_world_read(&w, "global\n log stdout len 900 profile p format iso local7 err\n"
			   "log-profile p\n log-tag a-tag\n on close format \"%ci\" sd \"[a]\"\n"
			   " on connect drop\n on any sd \"[b]\"\n"
			   " on http-req format %[req.hdr(a)]\n"
			   " on close drop\n");
	if (w.diag.count[CFG_ALERT])
		fail_msg("%s", w.diag.entry[0].text);
	p = log_profile_find(&w.proxies.log.profiles, "p");
	assert_non_null(p);
	assert_true(p->is_declared);
	assert_string_equal(p->tag, "a-tag");
	assert_string_equal(p->on[LOG_STEP_CLOSE].format.text, "%ci");
	assert_string_equal(p->on[LOG_STEP_CLOSE].sd.text, "[a]");
	assert_true(p->on[LOG_STEP_CLOSE].drop);
	assert_true(p->on[LOG_STEP_CONNECT].drop);
	assert_null(p->on[LOG_STEP_ANY].format.text);
	assert_string_equal(p->on[LOG_STEP_ANY].sd.text, "[b]");
	assert_true(p->on[LOG_STEP_HTTP_REQ].is_set);
	assert_false(p->on[LOG_STEP_ERROR].is_set);
	/* Only its last line, where drop makes a format useless. */
	assert_int_equal(w.diag.count[CFG_WARNING], 1);
	l = cfg_world_line(&w.proxies.log.lines, 0);
	assert_ptr_equal(l->profile, p);
	assert_int_equal(l->facility, log_facility_parse("local7"));
	assert_int_equal(l->level, LOG_LEVEL_ERR);
	assert_int_equal(l->max_len, 900);
	assert_int_equal(log_global_finish(&w.proxies.log, &w.diag), 0);
	assert_string_equal(l->tag, "a-tag");
	cfg_world_fini(&w);
}

static void
steps_are_a_list_and_inherited(void **state)
{
	static const struct {
		const char *list;
		unsigned int bits;
	} rows[] = {
		{ "close", 1u << LOG_STEP_CLOSE },
		{ "accept,close", 1u << LOG_STEP_ACCEPT | 1u << LOG_STEP_CLOSE },
		{ "response,request,connect", 1u << LOG_STEP_RESPONSE | 1u << LOG_STEP_REQUEST |
			1u << LOG_STEP_CONNECT },
		{ "all", 1u << LOG_STEP_ACCEPT | 1u << LOG_STEP_REQUEST | 1u << LOG_STEP_CONNECT |
			1u << LOG_STEP_RESPONSE | 1u << LOG_STEP_CLOSE },
	};
	struct cfg_world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[128];

		snprintf(text, sizeof(text), "defaults\n log-steps %s\nfrontend f\n", rows[i].list);
		cfg_world_read(&w, text);
		assert_int_equal(w.diag.nentry, 0);
		assert_int_equal(cfg_world_proxy_at(&w, 0)->log.steps, rows[i].bits);
		cfg_world_fini(&w);
	}
}

static void
errors_have_a_place(void **state)
{
	static const struct {
		const char *text;
		unsigned int line, col;
		const char *message;
	} rows[] = {
		{ "log-profile p\n on clos drop\n", 2, 5,
			"'on' : unknown step 'clos'; did you mean 'close'?" },
		{ "log-profile p\n on quic-init drop\n", 2, 5, "not supported" },
		{ "log-profile p\n on close\n", 2, 10, "'on close' expects drop, format or sd." },
		{ "log-profile p\n on close fmt x\n", 2, 11, "'on close' : unknown word 'fmt'" },
		{ "log-profile p\n on close drop format\n", 2, 22,
			"'on close format' expects a format; without 'format' it is the "
			"frontend's." },
		{ "log-profile p\n on close sd \"\" drop\n", 2, 14,
			"'on close sd' expects a format" },
		{ "log-profile p\n on close format x format y\n", 2, 20,
			"'on close format' is given twice: see line 2." },
		{ "log-profile p\n on close format \"%[nosuch]\"\n", 2, 18,
			"failed to parse 'on close format' : " },
		/* Fetches that are available later or never. */
		{ "log-profile p\n on close format %[req.hdr(a)]\n", 2, 18,
			"failed to parse 'on close format' : " },
		{ "log-profile p\n on http-req sd %[res.hdr(a)]\n", 2, 17,
			"failed to parse 'on http-req sd' : " },
		{ "log-profile p\nlog-profile q\nlog-profile p\n", 3, 13,
			"log-profile 'p' exists already, at t.cfg:1." },
		{ "global\n log stdout profile\n", 2, 20,
			"'log' : 'profile' expects the name of a log-profile." },
		{ "frontend f\n log-steps accept,clos\n", 2, 12,
			"'log-steps' : unknown step 'clos'; did you mean 'close'?" },
		{ "frontend f\n log-steps error\n", 2, 12, "cannot be in log-steps" },
		{ "frontend f\n log-steps accept,\n", 2, 12, "'log-steps' : unknown step ''." },
	};
	struct cfg_world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct cfg_diag_entry *e;

		cfg_world_read(&w, rows[i].text);
		assert_int_equal(w.diag.count[CFG_ALERT], 1);
		e = &w.diag.entry[0];
		if (!strstr(e->text, rows[i].message))
			fail_msg("%s: %s", rows[i].text, e->text);
		if (e->where.line != rows[i].line || e->where.col != rows[i].col)
			fail_msg("%s: line %u col %u", rows[i].text, e->where.line, e->where.col);
		cfg_world_fini(&w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_keyword_is_kept),
		cmocka_unit_test(steps_are_a_list_and_inherited),
		cmocka_unit_test(errors_have_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
