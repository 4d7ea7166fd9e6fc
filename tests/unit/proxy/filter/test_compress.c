/* Compression in a configuration; tests/system/test_compression.py plays it. */
#include "unit/proxy/proxies_rig.h"

#include "http/coder.h"
#include "proxy/model/filter.h"

#define DEFAULTS                                                                         \
	"defaults\n    mode http\n    timeout client 1s\n    timeout connect 1s\n"          \
	"    timeout server 1s\n"
#define LISTEN "listen l\n    bind 127.0.0.1:1\n    server s 127.0.0.1:2\n"

static void
good(const char *defaults, const char *lines, const char *order)
{
	struct world w;
	char text[2048], found[256] = "";

	(void)snprintf(text, sizeof(text), DEFAULTS "%s" LISTEN "%s", defaults, lines);
	world_good(&w, text);
	for (const struct filter_conf *c = world_proxy(&w, "l")->filters; c; c = c->next) {
		(void)strncat(found, c->word, sizeof(found) - strlen(found) - 1);
		(void)strncat(found, " ", sizeof(found) - strlen(found) - 1);
	}
	assert_string_equal(found, order);
	world_fini(&w);
}

static void
bad(const char *lines, const char *what)
{
	char text[2048];

	(void)snprintf(text, sizeof(text), DEFAULTS LISTEN "%s", lines);
	world_reports(text, -1, what);
}

#define BWLIM "    filter bwlim-out x default-limit 1m default-period 1s\n"

static void
test_good(void **st)
{
	(void)st;
	good("", "", "");
	good("", "    compression algo gzip deflate\n    compression type text/html text/plain\n"
		"    compression offload\n", "compression ");
	good("    compression algo gzip\n    compression type text/\n", "", "compression ");
	good("", "    compression algo-res gzip\n    compression algo-req gzip\n"
		"    compression direction both\n    compression type-res a/\n"
		"    compression type-req b/\n    compression minsize-res 1k\n"
		"    compression minsize-req 2k\n", "compression ");
	good("", "    compression algo gzip\n" BWLIM, "compression bwlim-out ");
	good("", "    compression algo gzip\n" BWLIM "    filter compression\n",
		"bwlim-out compression ");
	good("    compression algo gzip\n", BWLIM "    filter compression\n",
		"bwlim-out compression ");
}

/* Each direction has a place of its own. */
static void
directions_have_places(void **st)
{
	(void)st;
	good("", "    filter comp-req\n    compression algo-req gzip\n", "comp-req ");
	good("", "    compression algo gzip\n    filter comp-res\n", "comp-res ");
	good("", "    filter comp-res\n" BWLIM "    filter comp-req\n",
		"comp-res bwlim-out comp-req ");
	good("    compression algo gzip\n", BWLIM "    filter comp-res\n", "bwlim-out comp-res ");
	good("", "    compression algo gzip\n" BWLIM "    filter comp-req\n    filter comp-res\n",
		"bwlim-out comp-req comp-res ");
}

static void
a_direction_has_one_place(void **st)
{
	static const char *const twice[][2] = { { "comp-req", "comp-req" },
		{ "comp-res", "comp-res" }, { "compression", "comp-req" },
		{ "comp-res", "compression" }, { "compression", "compression" } };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(twice); i++) {
		char lines[128], why[128];

		(void)snprintf(lines, sizeof(lines), "    filter %s\n    filter %s\n",
			twice[i][0], twice[i][1]);
		(void)snprintf(why, sizeof(why), "'filter %s' : this section has 'filter %s' "
			"already.", twice[i][1], twice[i][0]);
		bad(lines, why);
	}
	bad("    filter comp-rse\n", "did you mean 'filter comp-res' maybe ?");
	bad("    filter comp-req gzip\n", "filter comp-req");
}

static void
lines_without_effect_are_noted(void **st)
{
	static const char algo[] = "'compression algo' has no effect in this section without "
		"'filter comp-res'.", algo_req[] = "'compression algo-req' has no effect in this "
		"section without 'filter comp-req'.", direction[] = "'compression direction' has "
		"no effect beside";
	static const struct {
		const char *lines, *note; /* NULL: none */
	} t[] = {
		{ "    filter comp-req\n    compression algo gzip\n", algo },
		{ "    compression algo-req gzip\n    filter comp-res\n", algo_req },
		{ "    filter comp-res\n    compression direction both\n", direction },
		{ "    filter comp-res\n    compression direction response\n", NULL },
		{ "    filter comp-res\n    filter comp-req\n    compression direction both\n"
		  "    compression algo gzip\n    compression algo-req gzip\n", NULL },
		{ "    compression algo gzip\n    compression algo-req gzip\n", NULL },
		{ "    mode tcp\n    compression algo gzip\n", "no effect in mode tcp" },
		{ "    mode tcp\n    filter compression\n", "no effect in mode tcp" },
		{ "    mode tcp\n", NULL },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct world w;
		char text[1024];

		/* Lines of a defaults section are for sections of all kinds. */
		(void)snprintf(text, sizeof(text), DEFAULTS "    compression algo gzip\n" LISTEN
			"%s", t[i].lines);
		world_load(&w, text);
		if (w.result || (t[i].note ? !strstr(w.printed, t[i].note) : w.printed[0]))
			fail_msg("%s: %d\n%s", t[i].lines, w.result, w.printed);
		world_fini(&w);
	}
}

/* An algorithm of tacit's own, where it is built in. */
static void
ours(const char *word, const struct coder *coder)
{
	char line[64], why[128];

	(void)snprintf(line, sizeof(line), "    compression algo gzip %s\n", word);
	(void)snprintf(why, sizeof(why), "'%s' is not built in: install %s and build tacit again.",
		word, coder->package);
	if (coder->memory)
		good("", line, "compression ");
	else
		bad(line, why);
}

static void
test_bad(void **st)
{
	(void)st;
	bad("    compression algo zip\n", "'zip'");
	ours("br", &coder_br);
	ours("zstd", &coder_zstd);
	bad("    compression algo-req gzip deflate\n", "compression algo-req");
	bad("    compression direction up\n", "'up'");
	bad("    compression minsize-res x\n", "minsize-res");
	bad("    compression algo gzip gzip gzip gzip gzip gzip gzip gzip gzip\n",
		"there are more than 8 words");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(directions_have_places),
		cmocka_unit_test(a_direction_has_one_place),
		cmocka_unit_test(lines_without_effect_are_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
