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

static void
write_file(const char *engine)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	assert_true(fputs(engine, f) >= 0);
	assert_int_equal(fclose(f), 0);
	(void)snprintf(text, sizeof(text), DEFAULTS "frontend f\n    bind 127.0.0.1:1\n"
		"    filter spoe config %s\n    default_backend b\n"
		"backend b\n    server s 127.0.0.1:2\n"
		"backend agents\n    mode spop\n    server a 127.0.0.1:3\n", file);
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
		cmocka_unit_test(events_follow_the_sequence),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
