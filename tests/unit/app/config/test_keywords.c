#include <stdio.h>
#include <string.h>

#include "app/admin/admin.h"
#include "app/config/keywords.h"
#include "app/promex/promex.h"
#include "rule/action/action_dump.h"
#include "rule/sample/dump.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static char out[1 << 20];

static void
more(cfg_entry_fn *fn, void *arg)
{
	admin_entries(fn, arg);
	promex_entries(fn, arg);
}

/* Each list has what only it has. */
static void
each_class_is_printed(void **state)
{
	static const struct {
		enum cfg_dump kind;
		const char *has, *has_not;
	} rows[] = {
		{ CFG_DUMP_CFG, "\tmaxconn", "src_port" },
		{ CFG_DUMP_ALL, "implemented  -DFBL acl ", ".TP" },
		{ CFG_DUMP_MAN, ".TP", "unsupported  " },
		{ CFG_DUMP_VIM, "syn match tacitKeyword", "src_port" },
		{ CFG_DUMP_VSCODE, "|option\\\\s+tcplog|", "src_port" },
		{ CFG_DUMP_SMP, "src_port: integer", "maxconn" },
		{ CFG_DUMP_CNV, "base64", "src_port" },
		{ CFG_DUMP_MAN8, "\\fBshow stat\\fR", "src_port" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		FILE *f = fmemopen(out, sizeof(out), "w");

		assert_non_null(f);
		assert_int_equal(keywords_print(&cfg, more, rows[i].kind, f), 0);
		fclose(f);
		if (!strstr(out, rows[i].has) || strstr(out, rows[i].has_not))
			fail_msg("class %zu:\n%.2000s", i, out);
	}
}

/* --- laws of entries ------------------------------------------------------------------------- */

/* True if an entry of this heading has a default: what it sets is something else without it. */
static int
has_default(const char *heading)
{
	return strstr(heading, "KEYWORDS") || strstr(heading, "OPTIONS") ||
		strstr(heading, "SWITCHES");
}

/* The reason why an entry explains nothing, or NULL. */
static const char *
lack_of(const struct cfg_entry *e)
{
	static const char *const vague[] = { "The same.", "The same for", "The same with",
		"The same, ", "The same as a ", "The same in ", "The same by ", "of that error",
		"More of them", "See HAProxy", "HAProxy's manual" };

	if (!e->doc || !*e->doc)
		return e->is_hint ? NULL : "it has no description";
	for (size_t i = 0; i < ARRAY_LEN(vague); i++)
		if (strstr(e->doc, vague[i]))
			return "it depends on another entry that it does not name";
	if (strchr(e->doc, '\t') || strstr(e->doc, "  ") || (e->syntax && strchr(e->syntax, '\t')))
		return "a tab or two blanks stand in it";
	for (const struct cfg_enum *v = e->values; v && v->name; v++)
		if (!v->doc || !*v->doc)
			return "a value has no description";
	if (!e->is_hint && e->syntax && !e->dflt && has_default(e->heading) &&
		!strstr(e->doc, "ithout effect"))
		return "it has no default";
	if (e->dflt && strstr(e->doc, "he default is"))
		return "its default stands in the description, too";
	return e->place ? NULL : "it has no place";
}

/* True if the entry says since which version HAProxy has the word, or that it has not. */
static int
has_version(const struct cfg_entry *e)
{
	struct sbuf text;
	int r;

	sbuf_init(&text, 0);
	cfg_entry_text(&text, e);
	r = strstr(text.p, "\n    In HAProxy since ") || strstr(text.p, "\n    Not in HAProxy.");
	sbuf_fini(&text);
	return r;
}

static void
judge(void *arg, const struct cfg_entry *e)
{
	unsigned int *bad = arg;
	const char *lack = lack_of(e);

	if (!lack && !has_version(e))
		lack = "no version of HAProxy: add it to include/cfg/since.tbl.h";

	if (!lack)
		return;
	print_error("%s: %s: %s\n", e->heading, e->name, lack);
	(*bad)++;
}

static void
each_entry_stands_alone(void **state)
{
	unsigned int bad = 0;

	(void)state;
	cfg_entries(&cfg.registry, judge, &bad);
	rule_action_entries(&cfg.proxies.vocab, judge, &bad);
	rule_sample_entries(&cfg.proxies.vocab, judge, &bad);
	assert_int_equal(bad, 0);
}

static void
an_entry_that_explains_nothing_is_found(void **state)
{
	static const struct cfg_enum values[] = { { "a", 1, NULL }, { 0 } };
	const struct cfg_entry whole = { .heading = "PROXY KEYWORDS",
		.name = "x",
		.syntax = "<n>",
		.doc = "Text.",
		.dflt = "1",
		.place = "In defaults" };
	struct cfg_entry e = whole;

	(void)state;
	assert_null(lack_of(&e));
	e.dflt = NULL;
	assert_string_equal(lack_of(&e), "it has no default");
	e.is_hint = 1;
	assert_null(lack_of(&e));
	e = whole;
	e.doc = NULL;
	assert_string_equal(lack_of(&e), "it has no description");
	e.doc = "The same.";
	assert_non_null(lack_of(&e));
	e.doc = "Text  with two blanks.";
	assert_string_equal(lack_of(&e), "a tab or two blanks stand in it");
	e.doc = "The same as y.";
	assert_null(lack_of(&e));
	e.values = values;
	assert_string_equal(lack_of(&e), "a value has no description");
}

/* --- explain --------------------------------------------------------------------------------- */

static char said[1 << 16], wrong[1024];

/* Asks for a keyword, whose words a slash separates. */
static int
explain(const char *line)
{
	char buf[128], *words[8];
	unsigned int n = 0;
	FILE *to = fmemopen(said, sizeof(said), "w"), *err = fmemopen(wrong, sizeof(wrong), "w");
	int r;

	assert_non_null(to);
	assert_non_null(err);
	snprintf(buf, sizeof(buf), "%s", line);
	for (char *p = strtok(buf, "/"); p && n < ARRAY_LEN(words); p = strtok(NULL, "/"))
		words[n++] = p;
	r = keywords_explain(&cfg, more, words, n, to, err);
	fclose(to);
	fclose(err);
	return r;
}

static void
a_keyword_is_explained(void **state)
{
	static const char *const rows[][2] = {
		{ "timeout/tunnel", "timeout tunnel <time>\n    Replaces" },
		{ "timeout tunnel", "    Default: none: timeout client and timeout server apply\n"
			"" },
		{ "http-reuse", "    safe                Any request but the first" },
		{ "http-request/deny", "deny [status" },
		{ "set-var", "set-var(<name>) <expr>\n" },
		{ "weight", "An option of server lines." },
		{ "server/maxconn", "Maximum number of concurrent connections; 0" },
		{ "bind/maxconn", "Maximum number of concurrent connections of each" },
		{ "%ci", "A variable of formats." },
		{ "map_beg", "A converter: string to string." },
		{ "path_beg", "path\n    The path" },
		{ "dir", "A matching method" },
		{ "LOCALHOST", "src 127.0.0.1/8 ::1" },
		{ "set/weight", "    Answer: An empty line" },
		{ "http-request/track-sc1", "track-sc<n> " },
		{ "haproxy_server_current_queue", "haproxy_<scope>_current_queue\n" },
		{ "contimeout", "Not supported: use 'timeout connect'." },
		{ "namespace_list", "Not supported: remove it" },
		{ "server/namespace", "namespace\n    Not supported: start tacit in that" },
		{ "bind/namespace", "Makes the sockets in the network namespace" },
		{ "log-bufsize", "Not supported: 'log' lines name" },
		{ "timeout server-hs", "Not supported: 'timeout connect'" },
		{ "wt6", "Not supported: HAProxy's manual" },
		{ "http-request/normalize-uri", "normalize-uri\n    Not supported: use" },
		{ "fc_saved_syn", "Not supported.\n" },
		{ "quic-initial", "Not supported: leave these lines out" },
		{ "h1-do-not-close-on-insecure-transfer-encoding", "Not supported: remove it" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (explain(rows[i][0]) != 0 || !strstr(said, rows[i][1]) || *wrong)
			fail_msg("%s:\n%s%s", rows[i][0], said, wrong);
	assert_true(explain("track-sc") < 0);
	assert_true(explain("haproxy_server_current") < 0);
	/* of the place that the words name only */
	assert_int_equal(explain("server/maxconn"), 0);
	assert_null(strstr(said, "bind"));
	assert_int_equal(explain("maxconn"), 0);
	assert_non_null(strstr(said, "An option of bind lines.\n"
				     "    In HAProxy since 1.3 or before.\n\nmaxconn"));
}

/* A suggestion belongs to a name that is known. */
static void
each_advice_is_explained(void **state)
{
#define INSTEAD(name, text) { name, text },
	static const char *const rows[][2] = {
#include "cfg/instead.tbl.h"
	};
#undef INSTEAD
	static const char *const values[] = { "cpu_calls", "distcc_body", "lat_ns_avg" };
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *name = strchr(rows[i][0], '*') ? values[n++] : rows[i][0];

		if (explain(name) != 0 || !strstr(said, "Not supported: ") ||
			!strstr(said, rows[i][1]))
			fail_msg("%s:\n%s%s", name, said, wrong);
	}
	assert_int_equal(n, ARRAY_LEN(values));
}

static void
an_unknown_keyword_is_answered_by_the_nearest(void **state)
{
	(void)state;
	assert_true(explain("retryon") < 0);
	assert_string_equal(wrong, "'retryon' is unknown; did you mean 'retry-on'?\n");
	assert_true(explain("silentdrop") < 0);
	assert_string_equal(wrong, "'silentdrop' is unknown; did you mean 'silent-drop'?\n");
	assert_true(explain("zzzzzzzzzzzz") < 0);
	assert_string_equal(wrong, "'zzzzzzzzzzzz' is unknown.\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_class_is_printed),
		cmocka_unit_test(each_entry_stands_alone),
		cmocka_unit_test(an_entry_that_explains_nothing_is_found),
		cmocka_unit_test(a_keyword_is_explained),
		cmocka_unit_test(each_advice_is_explained),
		cmocka_unit_test(an_unknown_keyword_is_answered_by_the_nearest),
	};

	return cmocka_run_group_tests(tests, world_open, world_close);
}
