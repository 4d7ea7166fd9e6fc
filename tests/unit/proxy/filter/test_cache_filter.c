/* Caches in a configuration; tests/system/test_cache.py plays them. */
#include "unit/proxy/proxies_rig.h"

#include "proxy/model/filter.h"

#define DEFAULTS                                                                         \
	"defaults\n    mode http\n    timeout client 1s\n    timeout connect 1s\n"          \
	"    timeout server 1s\n"
#define CACHE "cache c\n    total-max-size 2\n"
#define LISTEN "listen l\n    bind 127.0.0.1:1\n    server s 127.0.0.1:2\n"
#define RULES "    http-request cache-use c\n    http-response cache-store c\n"
#define GZIP "    compression algo gzip\n"

static void
good(const char *lines, const char *order)
{
	struct world w;
	char text[2048], found[256] = "";

	(void)snprintf(text, sizeof(text), DEFAULTS LISTEN "%s" CACHE, lines);
	world_good(&w, text);
	for (const struct filter_conf *c = world_proxy(&w, "l")->filters; c; c = c->next) {
		(void)strncat(found, c->kind->name, sizeof(found) - strlen(found) - 1);
		(void)strncat(found, " ", sizeof(found) - strlen(found) - 1);
	}
	assert_string_equal(found, order);
	world_fini(&w);
}

static void
bad(const char *cache, const char *lines, const char *what)
{
	char text[2048];

	(void)snprintf(text, sizeof(text), DEFAULTS "%s" LISTEN "%s", cache, lines);
	world_reports(text, -1, what);
}

/* Filters that only rules have made stand before the others. */
static void
filters_have_their_places(void **st)
{
	(void)st;
	good("", "");
	good(RULES, "cache ");
	good(GZIP RULES, "cache compression ");
	good("    filter cache c\n" GZIP RULES, "cache compression ");
	good("    filter bwlim-out x default-limit 1m default-period 1s\n    filter cache c\n"
	     "    filter compression\n" GZIP RULES, "bwlim cache compression ");
	good(RULES "    filter bwlim-out x default-limit 1m default-period 1s\n"
	     "    filter cache c\n", "bwlim cache ");
}

static void
sizes_have_their_defaults(void **st)
{
	struct world w;
	const struct cache_conf *c;

	(void)st;
	world_good(&w, DEFAULTS CACHE LISTEN);
	c = &proxies_find_cache(&w.proxies, "c")->conf;
	assert_int_equal(c->megabytes, 2);
	assert_int_equal(c->max_object, 8192);
	assert_int_equal(c->max_age_s, 60);
	world_fini(&w);
	world_good(&w, DEFAULTS "cache c\n    total-max-size 1\n    max-object-size 524288\n"
		"    max-age 5\n    process-vary off\n    max-secondary-entries 3\n" LISTEN);
	c = &proxies_find_cache(&w.proxies, "c")->conf;
	assert_int_equal(c->max_object, 524288);
	assert_int_equal(c->max_age_s, 5);
	assert_int_equal(c->variants_max, 0);
	world_fini(&w);
	world_good(&w, DEFAULTS CACHE "    process-vary on\n" LISTEN);
	assert_int_equal(proxies_find_cache(&w.proxies, "c")->conf.variants_max, 10);
	world_fini(&w);
}

static void
errors_have_their_reasons(void **st)
{
	(void)st;
	bad("cache c\n", "", "Size not specified for cache 'c'");
	bad("cache c\n    total-max-size 4096\n", "", "4095");
	bad("cache c\n    total-max-size 1\n    max-object-size 524289\n", "", "524288");
	bad("cache c\n    total-max-size 1m\n", "", "total-max-size");
	bad("cache c\n    total-max-size 1\n    process-vary maybe\n", "", "maybe");
	bad("cache c\n    total-max-size 1\n    collapse x\n", "", "collapse");
	bad("cache c\n    total-max-size 1\n    max-secondary-entries 0\n", "",
		"max-secondary-entries");
	bad("cache c\n    total-max-size 1\n    max-ages 1\n", "", "did you mean 'max-age'");
	bad(CACHE CACHE, "", "Duplicate cache name 'c'");
	bad("", RULES, "there is no section 'cache c'");
	bad("", "    filter cache c\n", "there is no section 'cache c'");
	bad(CACHE, "    http-request cache-use\n", "<cache>");
	bad(CACHE, "    filter cache c\n    filter cache c\n", "multiple explicit");
	bad(CACHE, "    filter compression\n    filter cache c\n" GZIP RULES,
		"unable to enable the compression filter before the cache 'c'");
	bad(CACHE "defaults d\n    mode http\n" RULES, "", "is not supported in a defaults");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_have_their_places),
		cmocka_unit_test(sizes_have_their_defaults),
		cmocka_unit_test(errors_have_their_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
