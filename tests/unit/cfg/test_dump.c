#include "unit/cfg/cfg_rig.h"

#include "cfg/dump.h"
#include "cfg/entry.h"
#include "cfg/known.h"

static char text[200000];

static const char *
dumped(enum cfg_dump kind)
{
	struct world w;
	FILE *f = fmemopen(text, sizeof(text), "w");

	assert_non_null(f);
	world_init(&w);
	cfg_dump(&w.registry, kind, f);
	world_fini(&w);
	fclose(f);
	return text;
}

static void
kinds_have_names(void **state)
{
	(void)state;
	assert_int_equal(cfg_dump_kind("cfg"), CFG_DUMP_CFG);
	assert_int_equal(cfg_dump_kind("all"), CFG_DUMP_ALL);
	assert_int_equal(cfg_dump_kind("man"), CFG_DUMP_MAN);
	assert_int_equal(cfg_dump_kind("vim"), CFG_DUMP_VIM);
	assert_int_equal(cfg_dump_kind("smp"), CFG_DUMP_SMP);
	assert_int_equal(cfg_dump_kind("cnv"), CFG_DUMP_CNV);
	/* those belong to other modules */
	assert_string_equal(dumped(CFG_DUMP_SMP), "");
	assert_string_equal(dumped(CFG_DUMP_CNV), "");
	assert_string_equal(dumped(CFG_DUMP_MAN), "");
	assert_int_equal(cfg_dump_kind("nope"), -1);
	assert_int_equal(cfg_dump_kind(""), -1);
}

static void
the_list_has_haproxys_form(void **state)
{
	(void)state;
	assert_string_equal(dumped(CFG_DUMP_CFG),
		"# List of registered configuration keywords:\n"
		"global\n"
		"\tdaemon\n\tlog\n\tmaxconn\n\tmute\n\tpresetenv\n\tresetenv\n\tsetenv\n"
		"\tstats socket\n\ttune.quiet\n\tunsetenv\n"
		"defaults\n"
		"\tbalance\n\tlog\n\tmaxconn\n\toption contstats\n\toption tcpka\n\toption tcplog\n"
		"\ttimeout client\n\ttimeout connect\n"
		"frontend\n"
		"\tbind\n\tlog\n\tmaxconn\n\toption contstats\n\toption tcpka\n\toption tcplog\n"
		"\ttimeout client\n"
		"\tbind <addr> backlog +1\n\tbind <addr> many +-1\n\tbind <addr> nice +1\n"
		"\tbind <addr> tfo\n"
		"backend\n"
		"\tbalance\n\tlog\n\toption tcpka\n\toption tcplog\n\tserver\n\ttimeout connect\n"
		"listen\n"
		"\tbalance\n\tbind\n\tlog\n\tmaxconn\n\toption contstats\n\toption tcpka\n"
		"\toption tcplog\n\tserver\n\ttimeout client\n\ttimeout connect\n"
		"\tbind <addr> backlog +1\n\tbind <addr> many +-1\n\tbind <addr> nice +1\n"
		"\tbind <addr> tfo\n");
}

/* The number of lines in the dump that end with this or contain it. */
static int
count(const char *needle)
{
	int n = 0;

	for (const char *p = text; (p = strstr(p, needle)) != NULL; p++)
		n++;
	return n;
}

static void
every_name_once(void **state)
{
	char want[128];

	(void)state;
	dumped(CFG_DUMP_ALL);
	assert_int_equal(count("implemented  GDF-L maxconn <number>\n"), 1);
	assert_int_equal(count(" maxconn "), 1);
	assert_int_equal(count("hint         -DF-L option contstats\n"), 1);
	assert_int_equal(count("unsupported  -DFBL option splice-auto\n"), 1);
	assert_int_equal(count("unsupported  --FBL stick-table\n"), 1);
	assert_int_equal(count("unsupported  -DFBL contimeout use 'timeout connect'\n"), 1);
	assert_int_equal(count("implemented  backlog <number>\n"), 1);
	assert_int_equal(count("unsupported  alpn\n"), 2);
	assert_int_equal(count("implemented  listen\n"), 1);
	assert_int_equal(count("unsupported  peers\n"), 1);
	for (const struct cfg_known_kw *k = cfg_known_kws; k->name; k++) {
		if (k->fix)
			continue;
		snprintf(want, sizeof(want), " %s\n", k->name);
		if (count(want) == 0) {
			snprintf(want, sizeof(want), "implemented  G---- %s ", k->name);
			if (count(want) > 0)
				continue;
			snprintf(want, sizeof(want), " %s <", k->name);
			if (count(want) == 0)
				fail_msg("'%s' is not dumped", k->name);
		}
	}
}

/* Appends an entry as "heading|name|syntax|default|place" and its description. */
static void
note_entry(void *arg, const struct cfg_entry *e)
{
	fprintf(arg, "%s|%s|%s|%s|%s\n%s%s\n", e->heading, e->name, e->syntax ? e->syntax : "",
		e->dflt ? e->dflt : "", e->place ? e->place : "", e->is_hint ? "hint: " : "",
		e->doc ? e->doc : "");
}

static void
each_word_is_an_entry(void **state)
{
	struct world w;
	FILE *f = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_non_null(f);
	world_init(&w);
	cfg_entries(&w.registry, note_entry, f);
	world_fini(&w);
	fclose(f);
	assert_int_equal(count("KEYWORDS|maxconn|<number>||In "), 2);
	assert_int_equal(count("GLOBAL KEYWORDS|maxconn|<number>||In global\nConnections at "), 1);
	assert_int_equal(
		count("PROXY KEYWORDS|maxconn|<number>||In defaults, frontend, listen\n"), 1);
	/* a flag is off, and what has no effect has no default */
	assert_int_equal(count("PROXY KEYWORDS|option tcpka||off|"), 1);
	assert_int_equal(count("PROXY KEYWORDS|option contstats||||"), 0);
	assert_int_equal(count("PROXY KEYWORDS|option contstats|||In "), 1);
	assert_int_equal(count("\nhint: counters are always continuous"), 1);
	assert_int_equal(count("splice"), 0);
	assert_int_equal(count("BIND OPTIONS|backlog|<number>||An option of bind lines.\n"), 1);
	assert_int_equal(count("SWITCHES FOR MEASUREMENTS|mute|"), 1);
	assert_int_equal(count("GLOBAL KEYWORDS|tune.quiet|"), 1);
	assert_int_equal(count("SECTIONS|listen|<name> [from <defaults>]||Keywords: "), 1);
}

static void
keywords_are_printed_for_vim(void **state)
{
	(void)state;
	dumped(CFG_DUMP_VIM);
	assert_int_equal(count("syn match tacitSection \"^\\s*frontend\\>\"\n"), 1);
	assert_int_equal(
		count("tacitKeyword \"^\\s*\\(\\(no\\|default\\)\\s\\+\\)\\?\\zsmaxconn\\>\"\n"),
		1);
	assert_int_equal(
		count("tacitHint \"^\\s*\\(\\(no\\|default\\)\\s\\+\\)\\?\\zstune\\.quiet\\>\""),
		1);
	assert_int_equal(count("\\zstimeout\\s\\+client\\>\"\n"), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_have_names),
		cmocka_unit_test(the_list_has_haproxys_form),
		cmocka_unit_test(every_name_once),
		cmocka_unit_test(each_word_is_an_entry),
		cmocka_unit_test(keywords_are_printed_for_vim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
