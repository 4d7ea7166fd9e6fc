#include "proxy/sample/fetch.h"

#include "base/log_ring.h"
#include "proxy/model/ring_conf.h"
#include "rule/sample/expr.h"
#include "unit/proxy/proxies_rig.h"

static struct world w;
static struct log_sink sink;
static struct arena arena;
static char texts[256];
static struct sample_ctx cx;
static unsigned int noticed;

static void
on_ring(void *arg, struct log_ring *r)
{
	(void)arg;
	noticed++;
	log_ring_collect(r, &sink);
}

static int
setup(void **state)
{
	static const struct log_ident id = { .tag = "t" };

	(void)state;
	world_good(&w, WORLD_DEFAULTS "backend b\n");
	log_sink_init(&sink, &w.sys, &id);
	sink.on_ring = on_ring;
	arena = (struct arena){ .p = texts, .cap = sizeof(texts) };
	cx = (struct sample_ctx){ .arena = &arena, .sys = &w.sys, .sink = &sink };
	noticed = 0;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	log_sink_fini(&sink);
	world_fini(&w);
	return 0;
}

static struct rule_expr *
parsed(const char *text)
{
	struct rule_expr *e = NULL;
	struct rule_err why;
	size_t used;

	assert_int_equal(rule_expr_parse(&w.proxies.vocab, text, strlen(text), 0, 0, &e, &used,
		&why), 0);
	return e;
}

/* Checks the expression twice, as rules of a defaults section are, and evaluates it. */
static void
evaluate(const char *text, struct sample *s)
{
	struct rule_expr *e = parsed(text);
	struct rule_err why;

	for (int i = 0; i < 2; i++)
		assert_int_equal(rule_expr_check(e, &w.proxies, &why), 0);
	assert_int_equal(rule_expr_eval(e, &cx, s), 1);
	assert_int_equal(arena.used, 0);
	rule_expr_free(&e);
	log_flush(&sink);
}

/* The newest message of a ring. */
static const char *
newest(const char *name)
{
	static char text[LOG_LEN_MAX + 1];
	struct ring_conf *c = ring_conf_find(&w.proxies.log.rings, name);
	uint64_t at;
	long n;

	assert_non_null(c);
	text[0] = '\0';
	for (at = c->ring.head; (n = log_ring_len(&c->ring, at)) >= 0; text[n] = '\0')
		at = log_ring_copy(&c->ring, at, text);
	return text;
}

static void
the_sample_is_a_line_of_buf0_and_unchanged(void **state)
{
	struct sample s;

	(void)state;
	evaluate("int(7),debug(n)", &s);
	assert_int_equal(s.type, SAMPLE_SINT);
	assert_int_equal(s.u.sint, 7);
	assert_string_equal(strstr(newest("buf0"), " [debug]"), " [debug] n: type=sint <7>");
	assert_memory_equal(newest("buf0"), "<0>", 3);
	evaluate("str(a\x01),debug", &s);
	assert_string_equal(strstr(newest("buf0"), " [debug]"), " [debug] : type=str <a.>");
	assert_int_equal(noticed, 2);
}

static void
a_value_that_finds_no_room_is_not_displayable(void **state)
{
	struct sample s;

	(void)state;
	arena.cap = 4;
	evaluate("ipv6(2001:db8::1),debug(ip)", &s);
	assert_int_equal(s.type, SAMPLE_IPV6);
	assert_non_null(strstr(newest("buf0"), "[debug] ip: type=ipv6 (undisplayable)"));
}

static void
lines_of_stdout_have_no_header(void **state)
{
	int end[2], saved = dup(STDOUT_FILENO);
	char got[64] = "";
	struct sample s;

	(void)state;
	assert_int_equal(pipe(end), 0);
	assert_true(saved >= 0 && dup2(end[1], STDOUT_FILENO) >= 0);
	evaluate("bool(1),debug(b,stdout)", &s);
	log_sink_fini(&sink);
	assert_true(dup2(saved, STDOUT_FILENO) >= 0);
	assert_true(read(end[0], got, sizeof(got) - 1) > 0);
	assert_string_equal(got, "[debug] b: type=bool <1>\n");
	(void)close(end[0]);
	(void)close(end[1]);
	(void)close(saved);
}

/* A context without a sink: expressions that are evaluated while the configuration is read. */
static void
nothing_is_shown_without_a_sink(void **state)
{
	struct sample s;

	(void)state;
	cx.sink = NULL;
	evaluate("int(7),debug", &s);
	assert_string_equal(newest("buf0"), "");
	assert_int_equal(noticed, 0);
}

static void
unknown_destinations_are_refused(void **state)
{
	static const char *const texts_of[] = { "int(7),debug(a,none)", "int(7),debug(a,)" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts_of); i++) {
		struct rule_expr *e = parsed(texts_of[i]);
		struct rule_err why;

		assert_int_equal(rule_expr_check(e, &w.proxies, &why), -1);
		assert_non_null(strstr(why.text, "the destination is stdout, stderr, buf0 or"));
		rule_expr_free(&e);
	}
	assert_null(ring_conf_find(&w.proxies.log.rings, "buf0"));
}

/* Routes of use_backend are checked before the rings of a configuration are opened. */
static void
a_ring_that_is_open_keeps_its_memory(void **state)
{
	struct sample s;
	const char *mem;
	struct ring_conf *c;

	(void)state;
	evaluate("int(7),debug", &s);
	c = ring_conf_find(&w.proxies.log.rings, "buf0");
	assert_non_null(c);
	mem = c->ring.mem;
	assert_int_equal(ring_confs_finish(&w.proxies.log.rings, &w.diag), 0);
	assert_ptr_equal(c->ring.mem, mem);
	assert_non_null(strstr(newest("buf0"), "[debug]"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
		T(the_sample_is_a_line_of_buf0_and_unchanged),
		T(a_value_that_finds_no_room_is_not_displayable),
		T(lines_of_stdout_have_no_header),
		T(nothing_is_shown_without_a_sink),
		T(unknown_destinations_are_refused),
		T(a_ring_that_is_open_keeps_its_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
