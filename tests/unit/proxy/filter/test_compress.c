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
		(void)strncat(found, c->kind->name, sizeof(found) - strlen(found) - 1);
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
	good("", "    compression algo gzip\n" BWLIM, "compression bwlim ");
	good("", "    compression algo gzip\n" BWLIM "    filter compression\n",
		"bwlim compression ");
	good("    compression algo gzip\n", BWLIM "    filter compression\n", "bwlim compression ");
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
