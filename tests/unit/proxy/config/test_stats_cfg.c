/* The keywords of the statistics page: what they accept, what they imply, and where they apply. */
#include "unit/proxy/proxies_rig.h"

#include "proxy/model/stats_conf.h"

static const struct world_line lines[] = {
	{ "stats enable", NULL },
	{ "stats enable x", "unexpected argument 'x'" },
	{ "stats uri /stats", NULL },
	{ "stats uri /haproxy?stats", NULL },
	{ "stats uri", "<prefix>" },
	{ "stats uri stats", "'stats' does not begin with '/'" },
	{ "stats uri /a /b", "unexpected argument '/b'" },
	{ "stats realm My\\ Realm", NULL },
	{ "stats realm \"a\\x0ab\"", "control characters are not allowed" },
	{ "stats realm", "<text>" },
	{ "stats auth u:p", NULL },
	{ "stats auth u:p:q", NULL },
	{ "stats auth u:", NULL },
	{ "stats auth u", "expects <user>:<password>" },
	{ "stats auth", "<user>:<password>" },
	{ "stats auth u:p x", "unexpected argument 'x'" },
	{ "stats scope .", NULL },
	{ "stats scope other", NULL },
	{ "stats scope", "{<name> | .}" },
	{ "stats hide-version", NULL },
	{ "stats hide-version x", "unexpected argument 'x'" },
	{ "stats refresh 5", NULL },
	{ "stats refresh 500ms", NULL },
	{ "stats refresh 0", NULL },
	{ "stats refresh", "expects an integer value" },
	{ "stats refresh abc", "'abc'" },
	{ "stats refresh -1", "'-1'" },
	{ "stats show-legends", NULL },
	{ "stats show-modules", NULL },
	{ "stats show-modules x", "unexpected argument 'x'" },
	{ "stats show-node", NULL },
	{ "stats show-node n", NULL },
	{ "stats show-node n m", "unexpected argument 'm'" },
	{ "stats show-desc", NULL },
	{ "stats show-desc a b c", NULL },
	{ "stats admin if TRUE", NULL },
	{ "stats admin unless { src 127.0.0.1 }", NULL },
	{ "stats admin if { path /x } || { method POST }", NULL },
	{ "stats admin", "{if | unless} <condition>" },
	{ "stats admin TRUE x", "'if' or 'unless' is expected" },
	{ "stats admin if nope", "nope" },
	{ "stats admin if { http_auth(nobody) }", "there is no such userlist" },
	{ "stats http-request allow", NULL },
	{ "stats http-request deny unless { src 127.0.0.1 }", NULL },
	{ "stats http-request auth realm x if TRUE", NULL },
	{ "stats http-request", "{allow | deny | auth" },
	{ "stats http-request foo", "'foo'" },
	{ "stats http-request set-header a b", "'set-header'" },
	{ "stats http-request auth realm", "realm" },
	{ "stats http-request allow x", "'x'" },
	{ "stats hideversion", "did you mean 'stats hide-version'" },
	{ "stats", "expects one more word" },
};

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("listen l\n bind :80\n mode http\n ", lines, ARRAY_LEN(lines), "");
}

static struct world w;

static const struct stats_conf *
stats_of(const char *conf, const char *proxy)
{
	char text[1024];

	(void)snprintf(text, sizeof(text), WORLD_DEFAULTS " mode http\n%s", conf);
	world_good(&w, text);
	return world_proxy(&w, proxy)->stats;
}

/* Each keyword turns the page on, with the defaults of the others. */
static void
test_defaults(void **state)
{
	static const char *const each[] = { "enable", "uri /haproxy?stats", "auth u:p", "scope .",
					    "hide-version", "realm HAProxy\\ Statistics" };
	char conf[100];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(each); i++) {
		const struct stats_conf *c;

		(void)snprintf(conf, sizeof(conf), "listen l\n bind :80\n stats %s\n", each[i]);
		c = stats_of(conf, "l");
		assert_non_null(c);
		assert_string_equal(stats_conf_uri(c), "/haproxy?stats");
		assert_string_equal(stats_conf_realm(c), "HAProxy Statistics");
		assert_int_equal(c->refresh_s, 0);
		world_fini(&w);
	}
	assert_null(stats_of("listen l\n bind :80\n", "l"));
	world_fini(&w);
}

/* The first line of a section replaces all of its defaults section, as in HAProxy. */
static void
test_inheritance(void **state)
{
#define DEFAULTS                                                                             \
	"defaults d\n mode http\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n" \
	" stats uri /x\n stats auth u:p\n stats scope a\n stats hide-version\n"
	const struct stats_conf *c = stats_of(DEFAULTS "listen l from d\n bind :80\n", "l");

	(void)state;
	assert_string_equal(stats_conf_uri(c), "/x");
	assert_true(stats_conf_admits(c, STR("u"), STR("p")));
	assert_true(stats_conf_shows(c, "l", "a"));
	assert_false(stats_conf_shows(c, "l", "l"));
	assert_int_equal(c->flags, STATS_HIDE_VERSION);
	world_fini(&w);
	c = stats_of(DEFAULTS "backend l from d\n stats realm r\n stats scope .\n", "l");
	assert_string_equal(stats_conf_uri(c), "/haproxy?stats");
	assert_string_equal(stats_conf_realm(c), "r");
	assert_true(list_is_empty(&c->users));
	assert_true(stats_conf_shows(c, "l", "l"));
	assert_false(stats_conf_shows(c, "l", "a"));
	assert_int_equal(c->flags, 0);
	world_fini(&w);
}

static void
test_modes(void **state)
{
	(void)state;
	world_reports(WORLD_DEFAULTS "listen l\n bind :80\n mode http\n stats realm x\n"
		" stats http-request deny\n", -1, "cannot be used together");
	world_reports(WORLD_DEFAULTS "listen l\n bind :80\n mode http\n stats auth u:p\n"
		" stats http-request deny\n", -1, "cannot be used together");
	world_reports(WORLD_DEFAULTS "backend l\n stats http-request deny\n", 0,
		"'stats http-request' rules ignored for proxy 'l'");
	world_reports("defaults\n stats admin if TRUE\n", -1, "stats admin");
	world_reports("defaults\n stats http-request deny\n", -1, "stats http-request");
	world_reports(WORLD_DEFAULTS "listen l\n bind :80\n mode tcp\n stats enable\n", 0,
		"'stats' statement ignored for proxy 'l' as it requires HTTP mode.");
	world_reports(WORLD_DEFAULTS "listen l\n bind :80\n mode tcp\n stats enable\n disabled\n",
		0, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_load_or_are_refused),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_inheritance),
		cmocka_unit_test(test_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
