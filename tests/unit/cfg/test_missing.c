#include <stdio.h>
#include <string.h>

#include "cfg/diag.c"
#include "unit/test.h"

static void
words_belong_to_what_is_missing(void **state)
{
	static const struct {
		const char *word;
		enum cfg_missing is;
	} t[] = {
		{ "stick-table", CFG_MISSING_COUNT }, { "track-sc0", CFG_MISSING_COUNT },
		{ "fcgi.x", CFG_MISSING_FASTCGI }, { "use-fcgi-app", CFG_MISSING_FASTCGI },
		{ "res.cache_hit", CFG_MISSING_COUNT }, { "cache-use", CFG_MISSING_COUNT },
		{ "lua.", CFG_MISSING_LUA }, { "lua.x", CFG_MISSING_LUA },
		{ "lua-load", CFG_MISSING_LUA }, { "luax", CFG_MISSING_COUNT },
		{ "compression algo", CFG_MISSING_COUNT },
		{ "filter comp-req", CFG_MISSING_COUNT },
		{ "filter cache", CFG_MISSING_COUNT }, { "fcgi-apps", CFG_MISSING_COUNT },
		{ "filter fcgi-app", CFG_MISSING_FASTCGI }, { "quic", CFG_MISSING_QUIC },
		{ "h2", CFG_MISSING_COUNT }, { "h2c", CFG_MISSING_COUNT },
		{ "", CFG_MISSING_COUNT },
	};

	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		snprintf(text, sizeof(text), "'%s' is not supported", t[i].word);
		if (cfg_missing_in(text) != t[i].is)
			fail_msg("%s: %d", text, (int)cfg_missing_in(text));
	}
}

static void
messages_belong_to_what_is_missing(void **state)
{
	static const struct {
		const char *text;
		enum cfg_missing is;
	} t[] = {
		{ "keyword 'filter-sequence' is known but not supported.", CFG_MISSING_COUNT },
		{ "section 'fcgi-app' is known but not supported.", CFG_MISSING_FASTCGI },
		{ "'http-request use-fcgi-app' is not supported.", CFG_MISSING_FASTCGI },
		{ "'http-request use-service lua.x' is not supported.", CFG_MISSING_LUA },
		{ "'x' : fetch 'fcgi.x' is not supported", CFG_MISSING_FASTCGI },
		{ "'proto' : 'h2' is not supported; there are h1", CFG_MISSING_COUNT },
		{ "converter 'wt6' is not supported", CFG_MISSING_WT6 },
		{ "'hash-type' : function 'wt6' is not supported.", CFG_MISSING_WT6 },
		{ "keyword 'timeout server-hs' is known but not supported.",
			CFG_MISSING_SERVER_HANDSHAKES },
		{ "'server' : keyword 'log-bufsize' is known but not supported.",
			CFG_MISSING_LOG_BACKENDS },
		{ "keyword 'transparent' is known but not supported.", CFG_MISSING_COUNT },
		{ "h2' is not supported", CFG_MISSING_COUNT },
		{ "caching is not supported", CFG_MISSING_COUNT },
		{ "unknown keyword 'fcgi'", CFG_MISSING_COUNT },
		{ "", CFG_MISSING_COUNT },
	};
	char text[1024] = "'";

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (cfg_missing_in(t[i].text) != t[i].is)
			fail_msg("%s: %d", t[i].text, (int)cfg_missing_in(t[i].text));
	memset(text + 1, 'a', 600);
	memcpy(text + 601, " h2' is not supported", 22);
	assert_int_equal(cfg_missing_in(text), CFG_MISSING_COUNT);
}

/* Lines are counted once; a dozen of them are shown, files only if there are several. */
static void
lines_are_listed_once(void **state)
{
	struct cfg_diag d;
	struct cfg_where w = { .col = 1 }, other = { .line = 2, .col = 1 };
	struct sbuf out;

	(void)state;
	cfg_diag_init(&d, 0);
	w.file = cfg_diag_file(&d, "a.cfg", "", 0);
	other.file = cfg_diag_file(&d, "b.cfg", "", 0);
	sbuf_init(&out, 0);
	assert_false(cfg_diag_misses(&d));
	for (w.line = 1; w.line <= 13; w.line++) {
		cfg_diag_add(&d, CFG_ALERT, &w, "section 'fcgi-app' is known but not supported.");
		cfg_diag_add(&d, CFG_ALERT, &w, "fetch 'fcgi.x' is not supported");
	}
	w.line = 5;
	cfg_diag_add(&d, CFG_ALERT, &w, "'http-request lua.a' is not supported.");
	cfg_diag_add(&d, CFG_ALERT, &other, "'http-request lua.a' is not supported.");
	cfg_diag_add(&d, CFG_WARNING, &other, "'h2' is not supported");
	assert_true(cfg_diag_misses(&d));
	cfg_missing_list(d.missing, 0, &out);
	assert_string_equal(out.p, "Lua (2 lines: 5, 2), FastCGI (13 lines: 1, 2, 3, 4, 5, 6, "
				   "7, 8, 9, 10, 11, 12, ...)");
	out.len = 0;
	cfg_missing_list(d.missing, 1, &out);
	cfg_diag_fini(&d);
	assert_non_null(strstr(out.p, "(13 lines: a.cfg:1, 2, 3"));
	assert_non_null(strstr(out.p, "Lua (2 lines: a.cfg:5, b.cfg:2)"));
	sbuf_fini(&out);
}

static void
each_feature_has_a_replacement(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CFG_MISSING_COUNT; i++) {
		assert_true(strlen(cfg_missing_name(i)) > 2);
		assert_true(strlen(cfg_missing_instead(i)) > 10);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_belong_to_what_is_missing),
		cmocka_unit_test(messages_belong_to_what_is_missing),
		cmocka_unit_test(lines_are_listed_once),
		cmocka_unit_test(each_feature_has_a_replacement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
