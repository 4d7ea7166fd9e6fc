/* The order of filters in a configuration; tests/unit/proxy/relay/test_filter.c has what runs. */
#include "unit/proxy/proxies_rig.h"

#include "proxy/model/filter.h"

#define CONFIG                                                                           \
	"defaults\n    mode http\n    timeout client 1s\n    timeout connect 1s\n"          \
	"    timeout server 1s\n"                                                            \
	"cache c\n    total-max-size 1\n"                                                   \
	"listen l\n    bind 127.0.0.1:1\n    server s 127.0.0.1:2\n"
#define IN(name) "    filter bwlim-in " name " default-limit 1m default-period 1s\n"
#define OUT(name) "    filter bwlim-out " name " default-limit 1m default-period 1s\n"
#define RES "    filter comp-res\n"
#define REQ "    filter comp-req\n"
#define CACHE "    http-request cache-use c\n    http-response cache-store c\n"

/* The words, or names, of the filters that run in a direction. */
static const char *
order_of(const struct proxy *p, int side)
{
	static char found[256];
	const struct filter_conf *c = filter_conf_first(p, side);

	found[0] = '\0';
	for (; c; c = filter_conf_after(p, side, c)) {
		const char *word = c->name ? c->name : c->word ? c->word : "-";

		assert_true(filter_conf_runs(c, side));
		(void)strncat(found, word, sizeof(found) - strlen(found) - 2);
		(void)strcat(found, " ");
	}
	return found;
}

static void
load(struct world *w, const char *lines)
{
	static char text[2048];

	(void)snprintf(text, sizeof(text), CONFIG "%s", lines);
	world_load(w, text);
}

/* message: "" for none. */
static void
orders(const char *lines, const char *request, const char *response, const char *message)
{
	struct world w;

	load(&w, lines);
	if (w.result || (message[0] ? !strstr(w.printed, message) : w.printed[0]))
		fail_msg("%s\nloaded with %d and\n%s", lines, w.result, w.printed);
	assert_string_equal(order_of(world_proxy(&w, "l"), CLIENT), request);
	assert_string_equal(order_of(world_proxy(&w, "l"), SERVER), response);
	world_fini(&w);
}

static void
bad(const char *lines, const char *what)
{
	struct world w;

	load(&w, lines);
	if (w.result != -1 || !strstr(w.printed, what))
		fail_msg("%s\nloaded with %d and\n%s\nexpected: %s", lines, w.result, w.printed,
			what);
	world_fini(&w);
}

#define LONG                                                                             \
	"a-name-of-more-than-60-bytes-which-is-longer-than-any-name-that-is-suggested-for-one"
#define SEQUENCE(names) "    filter-sequence " names "\n"

static void
each_direction_has_an_order(void **st)
{
	(void)st;
	orders(OUT("x") RES REQ, "x comp-res comp-req ", "x comp-res comp-req ", "");
	orders(OUT("x") RES REQ SEQUENCE("response comp-res,bwlim-out"),
		"x comp-res comp-req ", "comp-res x ", "");
	/* The line may stand before those that it names. */
	orders(SEQUENCE("request bwlim-in,comp-req") REQ IN("x") RES, "x comp-req ",
		"comp-req x comp-res ", "");
	orders(SEQUENCE("response bwlim-out,comp-res") SEQUENCE("request comp-req") REQ RES
		OUT("x"), "comp-req ", "x comp-res ", "");
	/* filter compression has both directions, by any of its names. */
	orders("    filter compression\n" OUT("x") SEQUENCE("request compression")
		SEQUENCE("response bwlim-out,comp-res"), "compression ", "x compression ", "");
	orders("    filter compression\n" SEQUENCE("request comp-req"), "compression ",
		"compression ", "");
}

/* A word stands for all its filters that are not named before; filters have names of their own. */
static void
filters_are_named_by_word_or_name(void **st)
{
	(void)st;
	orders(OUT("a") OUT("b") OUT("c2") RES SEQUENCE("response bwlim-out,comp-res"),
		"a b c2 comp-res ", "a b c2 comp-res ", "");
	orders(OUT("a") OUT("b") OUT("c2") RES SEQUENCE("response b,comp-res,bwlim-out"),
		"a b c2 comp-res ", "b comp-res a c2 ", "");
	orders(OUT("a") OUT("b") SEQUENCE("response b"), "a b ", "b ", "");
	orders(OUT(LONG) RES SEQUENCE("response comp-res," LONG), LONG " comp-res ",
		"comp-res " LONG " ", "");
	/* Caches that only rules have made, and compression without a line of its own. */
	orders(CACHE "    compression algo gzip\n" OUT("x")
		SEQUENCE("response bwlim-out,cache,compression"), "c compression x ",
		"x c compression ", "");
}

/* Filters of options always run, behind the others. */
static void
filters_of_options_run(void **st)
{
	(void)st;
	orders("    option http-drop-response-trailers\n" RES OUT("x")
		SEQUENCE("response bwlim-out"), "comp-res x - ", "x - ", "");
}

static void
what_has_no_effect_is_noted(void **st)
{
	(void)st;
	orders(RES REQ SEQUENCE("request comp-res,comp-req"), "comp-res comp-req ",
		"comp-res comp-req ",
		"'filter-sequence request' : 'comp-res' does nothing with requests.");
	orders(IN("x") RES SEQUENCE("response bwlim-in,comp-res"), "x comp-res ", "x comp-res ",
		"'filter-sequence response' : 'bwlim-in' does nothing with responses.");
	/* A filter without a line was hardly left out on purpose. */
	orders(OUT("x") CACHE SEQUENCE("response bwlim-out"), "c x ", "x ",
		"'filter-sequence response' : it leaves out 'cache', which lines of this section "
		"use: add the name, or remove those lines.");
	orders(OUT("x") "    compression algo gzip\n" SEQUENCE("response bwlim-out"),
		"x compression ", "x ", "it leaves out 'compression', which");
	orders(IN("x") "    compression algo gzip\n" SEQUENCE("request bwlim-in"),
		"x ", "x compression ", "");
	orders(IN("x") "    compression algo-req gzip\n    compression direction both\n"
		SEQUENCE("request bwlim-in"), "x ", "x compression ",
		"it leaves out 'compression', which");
}

static void
errors_stand_at_the_name(void **st)
{
	(void)st;
	bad(RES SEQUENCE("response comp-rse"),
		"[t.cfg:12:30] : 'filter-sequence' : there is no filter 'comp-rse' in this "
		"section; did you mean 'comp-res'?\n"
		"      filter-sequence response comp-rse\n"
		"                               ^\n");
	bad(RES SEQUENCE("response comp-res,comp-req"), "[t.cfg:12:39] : 'filter-sequence' : there "
		"is no filter 'comp-req' in this section: add a line 'filter comp-req', or leave "
		"the name out.");
	bad(RES SEQUENCE("response comp-res,zork"), "there is no filter 'zork' in this section.");
	bad(RES SEQUENCE("response comp-res,comp-res"), "'comp-res' is given twice");
	bad(OUT("a") OUT("b") SEQUENCE("response bwlim-out,b"), "[t.cfg:13:40] : "
		"'filter-sequence' : 'b' is given twice; its word 'bwlim-out' counts, too.");
	bad(OUT("b") SEQUENCE("response b,b"), "'b' is given twice");
	bad(RES SEQUENCE("response comp-res,"), "[t.cfg:12:39] : 'filter-sequence' : a name is "
		"missing");
	bad(RES SEQUENCE("response ,comp-res"), "a name is missing");
	bad(RES SEQUENCE("response"), "{request | response} <filter>[,<filter>...]");
	bad(RES SEQUENCE("both comp-res"), "'both'");
	bad(RES SEQUENCE("response comp-res comp-req"), "cannot handle unexpected argument");
	bad(RES SEQUENCE("response comp-res") SEQUENCE("response comp-res"), "'response' has an "
		"order already: write all names in one line.");
	/* In an order that cannot be, too. */
	bad("    filter cache c\n" RES SEQUENCE("response comp-res,cache"),
		"unable to enable the compression filter before the cache 'c'");
	bad("    filter lua.x\n" SEQUENCE("request lua.x"), "unknown keyword 'filter lua.x'");
}

/* Errors that a refused line may have caused are not reported. */
static void
a_refused_filter_is_not_missed(void **st)
{
	struct world w;

	(void)st;
	load(&w, "    filter bwlim-out x default-limit 0 default-period 1s\n"
		SEQUENCE("response bwlim-out"));
	assert_int_equal(w.result, -1);
	assert_null(strstr(w.printed, "filter-sequence"));
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_direction_has_an_order),
		cmocka_unit_test(filters_are_named_by_word_or_name),
		cmocka_unit_test(filters_of_options_run),
		cmocka_unit_test(what_has_no_effect_is_noted),
		cmocka_unit_test(errors_stand_at_the_name),
		cmocka_unit_test(a_refused_filter_is_not_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
