#include <string.h>

#include "base/compiler.h"
#include "cfg/known.h"
#include "unit/test.h"

static void
sorted_and_sound(void **state)
{
	const unsigned all = CFG_GLOBAL | CFG_PROXIES;

	(void)state;
	for (const struct cfg_known_kw *k = cfg_known_kws; k->name; k++) {
		assert_true(k->sections != 0 && (k->sections & ~all) == 0);
		assert_null(strstr(k->name, "  "));
		if (k != cfg_known_kws)
			assert_true(strcmp(k[-1].name, k->name) < 0);
	}
	for (int p = 0; p < CFG_OPT_PLACES; p++)
		for (const struct cfg_known_opt *o = cfg_known_opts[p]; o->name; o++) {
			assert_true(o->args >= -1 && o->args <= 2);
			if (o != cfg_known_opts[p])
				assert_true(strcmp(o[-1].name, o->name) < 0);
		}
}

/* True if HAProxy has the word without another one behind it. */
static int
stands_alone(const char *word)
{
	static const char *const words[] = { "external-check", "http-check", "tcp-check" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(words[i], word) == 0)
			return 1;
	return 0;
}

/* A keyword of several words that is misspelt is none of HAProxy's, so its first word alone is no
 * row: "filter comp-rse" gets the nearest name. */
static void
first_words_are_no_rows(void **state)
{
	(void)state;
	for (const struct cfg_known_kw *k = cfg_known_kws; k[1].name; k++) {
		size_t n = strlen(k->name);

		if (strncmp(k[1].name, k->name, n) == 0 && k[1].name[n] == ' ' &&
			!strchr(k->name, ' ') && !stands_alone(k->name))
			fail_msg("'%s' is the first word of '%s'", k->name, k[1].name);
	}
}

static void
lookups(void **state)
{
	(void)state;
	assert_int_equal(cfg_known_kw("stick-table")->sections,
			 CFG_FRONTEND | CFG_BACKEND | CFG_LISTEN);
	assert_int_equal(cfg_known_kw("maxconn")->sections, CFG_GLOBAL | CFG_FE);
	assert_int_equal(cfg_known_kw("option httpchk")->sections, CFG_BE);
	assert_int_equal(cfg_known_kw("tune.h2.fe.max-total-streams")->sections, CFG_GLOBAL);
	assert_string_equal(cfg_known_kw("clitimeout")->fix, "use 'timeout client'");
	assert_null(cfg_known_kw("option"));
	assert_null(cfg_known_kw("maxcon"));
	/* First words of keywords that are implemented: the message has the nearest name. */
	assert_null(cfg_known_kw("tcp-request"));
	assert_null(cfg_known_kw("tcp-response"));
	assert_int_equal(cfg_known_opt(CFG_OPT_BIND, "alpn")->args, 1);
	assert_int_equal(cfg_known_opt(CFG_OPT_BIND, "ssl")->args, 0);
	assert_int_equal(cfg_known_opt(CFG_OPT_SERVER, "source")->args, -1);
	assert_null(cfg_known_opt(CFG_OPT_BIND, "check"));
	assert_true(cfg_known_is_section("peers"));
	assert_true(cfg_known_is_section("traces"));
	assert_false(cfg_known_is_section("peer"));
	assert_non_null(strstr(cfg_known_instead("log-forward"), "syslog daemon"));
	assert_null(cfg_known_instead("peers"));
	assert_string_equal(cfg_known_instead("cpu_ns_tot"), cfg_known_instead("cpu_calls"));
	assert_null(cfg_known_instead("cpu"));
	/* what belongs to a feature is listed behind all messages */
	assert_null(cfg_known_instead("log-bufsize"));
	assert_non_null(strstr(cfg_known_advice("log-bufsize"), "'ring'"));
	assert_non_null(strstr(cfg_known_advice("lua-load"), "rules, maps"));
	assert_string_equal(cfg_known_advice("ech"), cfg_known_instead("ech"));
	assert_null(cfg_known_advice("maxconn"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorted_and_sound),
		cmocka_unit_test(first_words_are_no_rows),
		cmocka_unit_test(lookups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
