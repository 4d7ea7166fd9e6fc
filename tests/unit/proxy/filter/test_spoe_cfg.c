/* Engines of SPOE in a configuration; tests/system/test_spoe.py plays them. */
#include "unit/proxy/proxies_rig.h"

#include <unistd.h>

#include "proxy/filter/spoe_conf.h"

#define DEFAULTS                                                                         \
	"defaults\n    mode http\n    timeout client 1s\n    timeout connect 1s\n"          \
	"    timeout server 1s\n"
#define AGENT "spoe-agent ag\n    timeout processing 2s\n    use-backend agents\n"
#define MESSAGE "spoe-message m\n    args path=path src\n"
#define EVENT "    event on-frontend-http-request\n"

/* The file of the engine, and the configuration that names it. */
static char file[] = "/tmp/test_spoe_cfg.XXXXXX", text[1024];
/* The lines of the frontend, and of its agents' servers, that most tests do not have. */
static const char *frontend_lines = "", *server_words = "";

static void
write_file(const char *engine)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	assert_true(fputs(engine, f) >= 0);
	assert_int_equal(fclose(f), 0);
	(void)snprintf(text, sizeof(text), DEFAULTS "frontend f\n    bind 127.0.0.1:1\n"
		"    filter spoe config %s\n%s    default_backend b\n"
		"backend b\n    server s 127.0.0.1:2\n"
		"backend agents\n    mode spop\n    server a 127.0.0.1:3 %s\n", file,
		frontend_lines, server_words);
}

static void
bad(const char *engine, const char *what)
{
	write_file(engine);
	world_reports(text, -1, what);
}

static void
sections_are_read(void **st)
{
	struct world w;
	const struct spoe_conf *c;
	const struct spoe_message *m;

	(void)st;
	write_file(AGENT "    messages m\n    option var-prefix pre\n    max-waiting-frames 7\n"
		MESSAGE EVENT);
	world_good(&w, text);
	c = (const struct spoe_conf *)world_proxy(&w, "f")->filters;
	assert_ptr_equal(c->conf.kind, &spoe_kind);
	assert_string_equal(c->agent, "ag");
	assert_string_equal(c->prefix, "pre");
	assert_ptr_equal(c->be, world_proxy(&w, "agents"));
	assert_int_equal(c->processing_ms, 2000);
	assert_int_equal(c->max_waiting, 7);
	m = list_entry(c->messages.next, const struct spoe_message, link);
	assert_string_equal(m->name, "m");
	assert_int_equal(m->n_args, 2);
	assert_string_equal(m->args->name, "path");
	assert_int_equal(m->event, SPOE_FE_HTTP_REQUEST);
	assert_true(m->is_listed);
	world_fini(&w);
}

static void
groups_have_messages(void **st)
{
	struct world w;
	const struct spoe_conf *c;
	const struct spoe_group *g;

	(void)st;
	write_file(AGENT "    groups g\nspoe-group g\n    messages m\n" MESSAGE);
	world_good(&w, text);
	c = (const struct spoe_conf *)world_proxy(&w, "f")->filters;
	g = list_entry(c->groups.next, const struct spoe_group, link);
	assert_true(g->is_listed);
	assert_string_equal(g->messages->message->name, "m");
	world_fini(&w);
}

static void
errors_name_what_is_missing(void **st)
{
	(void)st;
	bad("", "there is no 'spoe-agent'");
	bad(AGENT "    messages x\n" MESSAGE EVENT, "there is no 'spoe-message x' in this engine");
	bad(AGENT "    groups g\n" MESSAGE, "there is no 'spoe-group g' in this engine");
	bad(AGENT "    messages m\n" MESSAGE, "message 'm' has no 'event'");
	bad(AGENT "    messages m\n    groups g\nspoe-group g\n    messages m\n" MESSAGE EVENT,
		"message 'm' is in another list already");
	bad(AGENT MESSAGE MESSAGE, "'spoe-message m' exists already");
	bad("[other]\n" AGENT, "has scopes in brackets");
	bad(AGENT "    messages m\n" MESSAGE "    event on-server-session\n",
		"'path' is not available in event 'on-server-session'");
}

#define LISTED AGENT "    messages m\n"

static void
agents_are_checked(void **st)
{
	(void)st;
	bad(LISTED "spoe-agent other\n" MESSAGE EVENT, "there is one already, 'ag'");
	bad("spoe-agent ag\n    timeout processing 2s\n", "'use-backend' is missing");
	bad("spoe-agent a-b\n    timeout processing 2s\n    use-backend agents\n",
		"the name cannot be the prefix of variables");
	bad(AGENT "    use-backend none\n", "unable to find backend 'none'");
	bad(AGENT "    use-backend b\n", "backend 'b' must be in mode tcp or spop");
	bad(AGENT "    messages m m\n" MESSAGE EVENT, "'messages' : 'm' is there already");
	bad(AGENT "    option var-prefix a-b\n", "a prefix is made of letters");
	bad(AGENT "    option set-on-error txn:e\n", "stands without its scope");
	bad(AGENT "    register-var-names good b-d\n", "stands without its scope");
	bad(AGENT "    max-frame-size 255\n", "'255' is out of range (256..268435456 bytes)");
	write_file("spoe-agent ag\n    use-backend agents\n    messages m\n" MESSAGE EVENT);
	world_reports(text, 0, "'timeout processing' is missing: a client waits");
}

static void
messages_are_checked(void **st)
{
	(void)st;
	bad(LISTED "spoe-message m\n    args =path\n" EVENT,
		"'args' : the name of a fetch is missing");
	bad(LISTED "spoe-message m\n    args n=nbsrv(none)\n" EVENT,
		"'args' : 'nbsrv': there is no such backend");
	bad(LISTED "spoe-message m\n    event on-nothing\n",
		"on-server-session, on-tcp-response, on-http-response.");
	bad(LISTED "spoe-message m\n    event on-frontend-http-request if { nbsrv(none) 1 }\n",
		"'event' : 'nbsrv': there is no such backend");
	write_file(LISTED "spoe-message m\n"
		"    event on-frontend-http-request if { status 200 }\n");
	world_reports(text, 0, "needs what is not available in 'on-frontend-http-request'");
	bad(AGENT "    groups g\nspoe-group g\n    messages m\nspoe-group g\n" MESSAGE,
		"'spoe-group g' exists already");
	bad(LISTED "spoe-message m\n    event on-backend-http-request\n",
		"event 'on-backend-http-request' is not supported in 'f': use a 'filter spoe' in "
		"the backend");
	frontend_lines = "    mode tcp\n    default_backend agents\n";
	bad(LISTED "spoe-message m\n" EVENT, "needs a section in mode http; 'f' is not");
	frontend_lines = "";
}

static void
a_message_has_255_arguments(void **st)
{
	static char engine[8192];
	size_t n = 0;

	(void)st;
	for (int more = 0; more <= 1; more++) {
		n = (size_t)snprintf(engine, sizeof(engine), LISTED "spoe-message m\n");
		for (int i = 0; i < 255 + more; i++)
			n += (size_t)snprintf(engine + n, sizeof(engine) - n, "%s n=src",
				i % 40 ? "" : "\n    args");
		(void)snprintf(engine + n, sizeof(engine) - n, "\n" EVENT);
		if (more) {
			bad(engine, "'args' : a message has at most 255 of them");
			continue;
		}
		write_file(engine);
		world_reports(text, 0, "");
	}
}

static void
options_are_set_and_cleared(void **st)
{
	struct world w;
	const struct spoe_conf *c;

	(void)st;
	write_file(LISTED "    max-frame-size 4k\n    option continue-on-error\n"
		"    option pipelining\n    no option async\n    no option dontlog-normal\n"
		"    option force-set-var\n    no option force-set-var\n    log global\n"
		"    no log\n    option set-on-error err\n" MESSAGE EVENT);
	world_good(&w, text);
	c = (const struct spoe_conf *)world_proxy(&w, "f")->filters;
	assert_int_equal(c->max_frame, 4096);
	assert_int_equal(c->flags, SPOE_CONTINUE_ON_ERROR | SPOE_NO_ASYNC);
	assert_true(c->var[SPOE_VAR_ERROR].is_set);
	assert_string_equal(c->var[SPOE_VAR_ERROR].name, "err");
	world_fini(&w);
}

/* Servers and rules that an engine does not support are errors. */
static void
sections_of_engines_are_checked(void **st)
{
	static const char *const words[][2] = {
		{ "send-proxy", "send-proxy" },
		{ "socks4 127.0.0.1:9", "socks4" },
		{ "ssl verify none sni req.hdr(host)", "sni" },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		char report[128];

		server_words = words[i][0];
		(void)snprintf(report, sizeof(report),
			"server 'agents/a' : %s is not supported for an agent", words[i][1]);
		bad(LISTED MESSAGE EVENT, report);
	}
	server_words = "";
	frontend_lines = "    http-request send-spoe-group none g\n";
	bad(LISTED MESSAGE EVENT, "there is no 'filter spoe' with the engine 'none'");
	frontend_lines = "    http-request send-spoe-group ag x\n";
	bad(LISTED MESSAGE EVENT, "the agent of engine 'ag' has no group 'x'");
	frontend_lines = "    http-request send-spoe-group ag\n";
	bad(LISTED MESSAGE EVENT, "send-spoe-group' expects <engine> <group>");
	frontend_lines = "    tcp-request content send-spoe-group ag g\n";
	bad(AGENT "    groups g\nspoe-group g\n    messages m\n"
		"spoe-message m\n    args s=status\n",
		"argument 's' of message 'm' is not available here");
	bad(AGENT "    groups g\nspoe-group g\n    messages m\n"
		"spoe-message m\n    args n=nbsrv(none)\n",
		"'nbsrv': there is no such backend");
	frontend_lines = "    filter spoe engine x\n";
	bad(LISTED MESSAGE EVENT, "'filter spoe' expects [engine <name>] config <file>");
	frontend_lines = "";
}

/* Messages of backends' events do nothing in a section that is also a frontend. */
static void
events_of_backends_are_skipped_in_listen(void **st)
{
	(void)st;
	write_file(LISTED MESSAGE "    event on-backend-http-request\n");
	(void)snprintf(text, sizeof(text), DEFAULTS "listen f\n    bind 127.0.0.1:1\n"
		"    filter spoe config %s\n    server s 127.0.0.1:2\n"
		"backend agents\n    mode spop\n    server a 127.0.0.1:3\n", file);
	world_reports(text, 0, "event 'on-backend-http-request' is skipped in a listen section");
}

static void
an_engine_is_read_once(void **st)
{
	(void)st;
	write_file("[a]\n" LISTED MESSAGE EVENT);
	(void)snprintf(text, sizeof(text), DEFAULTS "frontend f\n    bind 127.0.0.1:1\n"
		"    filter spoe engine a config %s\n    filter spoe engine a config %s\n", file,
		file);
	world_reports(text, -1, "this section has an engine 'a' already");
	(void)snprintf(text, sizeof(text), DEFAULTS "frontend f\n    bind 127.0.0.1:1\n"
		"    filter spoe engine b config %s\n", file);
	world_reports(text, -1, "there is no scope [b] in");
}

static void
rules_of_defaults_run_before_events(void **st)
{
	(void)st;
	write_file(LISTED MESSAGE EVENT);
	(void)snprintf(text, sizeof(text), "defaults d\n    mode http\n    timeout client 1s\n"
		"    timeout connect 1s\n    timeout server 1s\n"
		"    http-request deny if { path /no }\n"
		"frontend f from d\n    bind 127.0.0.1:1\n    filter spoe config %s\n"
		"defaults\n    timeout connect 1s\n    timeout server 1s\n"
		"backend agents\n    mode spop\n    server a 127.0.0.1:3\n", file);
	world_reports(text, 0, "the rules 'http-request' of the defaults section run before the "
		"event 'on-frontend-http-request'");
}

#define ENGINE(name)                                                                     \
	"[" name "]\n" AGENT "    messages q r\n"                                           \
	"spoe-message q\n    args path=path\n" EVENT                                        \
	"spoe-message r\n    args status=status\n    event on-http-response\n"

/* The engines whose events a list of rules begins with, in their order. */
static const char *
events_of(const struct proxy *p, unsigned int list)
{
	static char found[64];

	found[0] = '\0';
	list_each(it, &p->rules.own[list]) {
		const struct spoe_conf *c = list_entry(it, const struct rule, link)->ref;

		(void)snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s ",
			c->conf.name);
	}
	return found;
}

static void
expect_events(const char *sequences, const char *requests, const char *responses)
{
	struct world w;

	write_file(ENGINE("a") ENGINE("b"));
	(void)snprintf(text, sizeof(text), DEFAULTS "frontend f\n    bind 127.0.0.1:1\n"
		"    filter spoe engine a config %s\n    filter spoe engine b config %s\n%s"
		"    default_backend b\nbackend b\n    server s 127.0.0.1:2\n"
		"backend agents\n    mode spop\n    server a 127.0.0.1:3\n", file, file,
		sequences);
	world_good(&w, text);
	assert_string_equal(events_of(world_proxy(&w, "f"), RULE_HTTP_REQUEST), requests);
	assert_string_equal(events_of(world_proxy(&w, "f"), RULES_RES_EVENTS), responses);
	world_fini(&w);
}

/* Events come in the order of their filters, which filter-sequence changes for a direction. */
static void
events_follow_the_sequence(void **st)
{
	(void)st;
	expect_events("", "a b ", "a b ");
	expect_events("    filter-sequence request b,a\n", "b a ", "a b ");
	expect_events("    filter-sequence response spoe\n", "a b ", "a b ");
	expect_events("    filter-sequence response b\n", "a b ", "b ");
	expect_events("    filter-sequence request b\n    filter-sequence response a\n", "b ",
		"a ");
}

static int
setup(void **st)
{
	int fd = mkstemp(file);

	(void)st;
	return fd < 0 ? -1 : close(fd);
}

static int
teardown(void **st)
{
	(void)st;
	return unlink(file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_are_read),
		cmocka_unit_test(groups_have_messages),
		cmocka_unit_test(errors_name_what_is_missing),
		cmocka_unit_test(agents_are_checked),
		cmocka_unit_test(messages_are_checked),
		cmocka_unit_test(a_message_has_255_arguments),
		cmocka_unit_test(options_are_set_and_cleared),
		cmocka_unit_test(sections_of_engines_are_checked),
		cmocka_unit_test(events_of_backends_are_skipped_in_listen),
		cmocka_unit_test(an_engine_is_read_once),
		cmocka_unit_test(rules_of_defaults_run_before_events),
		cmocka_unit_test(events_follow_the_sequence),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
