#include <stdio.h>
#include <string.h>

#include <stdlib.h>

#include "app/config/version.h"
#include "base/compiler.h"
#include "unit/test.h"

static char *
printed_as(const char *progname, int build)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	version_print(to, progname, build);
	fclose(to);
	return text;
}

static char *
printed(int build)
{
	return printed_as("tacit", build);
}

static void
the_short_version_is_one_line(void **state)
{
	char *text = printed(0);

	(void)state;
	assert_int_equal(
		strncmp(text, "tacit version " TACIT_VERSION " ", strlen("tacit version ")), 0);
	assert_null(strstr(text, "TARGET"));
	free(text);
}

static void
the_long_version_lists_what_is_built_in(void **state)
{
	static const char *const lines[] = { "  TARGET  = linux-glibc\n", "Feature list : +",
		" +THREAD", " +OPENSSL", "Built with OpenSSL version : OpenSSL 3", "MALLOC",
		" +PROMEX", "Built with the Prometheus exporter as a service\n",
		"Available services : prometheus-exporter\n",
#ifdef __clang__
		"  CC      = clang ",
#else
		"  CC      = gcc 1",
#endif
		" +ZLIB", " +SLZ", " -LUA",
		"Compression algorithms supported : identity(\"identity\"), gzip(\"gzip\"), "
		"deflate(\"deflate\"), raw-deflate(\"deflate\")",
		"\n         h2 : mode=HTTP  side=FE|BE  mux=H2\n",
		"\n       none : mode=TCP   side=FE|BE  mux=PASS\n",
		"Available filters :\n\t[BWLIM] bwlim-in\n\t[BWLIM] bwlim-out\n\t[CACHE] cache\n"
		"\t[COMP] comp-req\n\t[COMP] comp-res\n\t[COMP] compression\n\t[SPOE] spoe\n",
		"epoll : modes unmerged, merged, edge\n", "ev:poll : modes unmerged, merged\n",
		"will use epoll." };
	char *text = printed(1);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		assert_non_null(strstr(text, lines[i]));
	free(text);
}

/* Tools want the prefix, and take the third word. */
static void
called_as_haproxy(void **state)
{
	static const char first[] = "HAProxy version " VERSION_COMPAT " 20";
	char *text = printed_as("haproxy", 0), *build = printed_as("haproxy", 1);

	(void)state;
	assert_int_equal(strncmp(text, first, strlen(first)), 0);
	assert_int_equal(strncmp(build, text, strlen(text)), 0);
	assert_non_null(strstr(text, " - https://"));
	assert_non_null(strstr(text, "tacit version " TACIT_VERSION));
	free(text);
	free(build);
}

/* Tools take "Version: A.B.C" apart: A.B must be at least 1.5 and everything non-empty. */
static void
tools_can_compare_the_version(void **state)
{
	int a = 0, b = 0, c = 0;

	(void)state;
	assert_int_equal(sscanf(VERSION_COMPAT, "%d.%d.%d-tacit", &a, &b, &c), 3);
	assert_true(a > 1 || (a == 1 && b >= 5));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_short_version_is_one_line),
		cmocka_unit_test(the_long_version_lists_what_is_built_in),
		cmocka_unit_test(called_as_haproxy),
		cmocka_unit_test(tools_can_compare_the_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
