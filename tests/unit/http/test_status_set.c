/* Sets of status codes: their defaults, and the syntax of http-err-codes. */
#include <stdlib.h>

#include "http/status_set.h"
#include "unit/test.h"

static void
defaults_are_those_of_the_manual(void **st)
{
	struct status_set err, fail;

	(void)st;
	status_set_client_errors(&err);
	status_set_server_failures(&fail);
	for (unsigned int code = 0; code < 1100; code++) {
		assert_int_equal(status_set_has(&err, code), code >= 400 && code <= 499);
		assert_int_equal(status_set_has(&fail, code),
			code >= 500 && code <= 599 && code != 501 && code != 505);
	}
}

static const struct {
	const char *texts[2];
	const char *has; /* codes, or NULL: an error in the last text */
	const char *lacks;
} lines[] = {
	{ { "404" }, "404", "400 405 403" },
	{ { "404,500-502" }, "404 500 501 502", "400 499 503" },
	{ { "-404" }, "400 403 405 499", "404 500" },
	{ { "+500-599,-501" }, "400 499 500 502 599", "501" },
	{ { "404", "410" }, "404 410", "400" },
	{ { "100", "599" }, "100 599", "400 499" },
	{ { "400-410", "-404" }, "400 405", "404 411" },
	{ { "" }, NULL, NULL },
	{ { "404," }, NULL, NULL },
	{ { ",404" }, NULL, NULL },
	{ { "99" }, NULL, NULL },
	{ { "600" }, NULL, NULL },
	{ { "404-403" }, NULL, NULL },
	{ { "404-" }, NULL, NULL },
	{ { "-" }, NULL, NULL },
	{ { "404x" }, NULL, NULL },
	{ { "404 " }, NULL, NULL },
	{ { "4040000404" }, NULL, NULL },
	{ { "404", "x" }, NULL, NULL },
};

static void
all_are(const struct status_set *set, const char *codes, int in)
{
	for (const char *p = codes; *p; p += strspn(p, " ")) {
		unsigned int code = (unsigned int)strtoul(p, (char **)(uintptr_t)&p, 10);

		assert_int_equal(status_set_has(set, code), in);
	}
}

static void
ranges_are_parsed(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct status_set set;
		const char *why = NULL;
		int is_own = 0, r = 0;

		status_set_client_errors(&set);
		for (size_t k = 0; k < 2 && lines[i].texts[k] && r == 0; k++)
			r = status_set_parse(&set, str_of(lines[i].texts[k]), &is_own, &why);
		if (r != (lines[i].has ? 0 : -1))
			fail_msg("'%s': %d", lines[i].texts[0], r);
		assert_non_null(why);
		if (lines[i].has) {
			all_are(&set, lines[i].has, 1);
			all_are(&set, lines[i].lacks, 0);
		}
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_manual),
		cmocka_unit_test(ranges_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
