/* Lists of rules: those of the defaults come first, and a list that waited continues at the same
 * rule. */
#include <string.h>

#include "base/mem.h"
#include "cfg/diag.h"
#include "proxy/model/proxies.h"
#include "proxy/config/proxy_life.h"
#include "proxy/model/engine.h"
#include "proxy/model/stream.h"
#include "unit/net/net_rig.h"
#include "unit/test.h"

static int
setup(void **st)
{
	(void)st;
	rig_open(INTEREST_EDGE);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	rig_close();
	return 0;
}

/* An action that records its letter and returns the outcome that the rule names. */
static char said[16];

static enum rule_result
record_letter(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	size_t n = strlen(said);

	(void)cx;
	(void)out;
	said[n] = (char)r->num[0];
	said[n + 1] = '\0';
	return (enum rule_result)r->num[1];
}

static const struct rule_action action = { .name = "say", .run = record_letter };

static struct rule *
add(struct proxy *p, unsigned int list, char letter, enum rule_result result)
{
	struct rule *r = mem_zalloc(sizeof(*r));

	assert_non_null(r);
	list_init(&r->link);
	r->action = &action;
	r->num[0] = letter;
	r->num[1] = result;
	list_append(&p->rules.own[list], &r->link);
	p->rules.has |= 1u << list;
	return r;
}

static struct proxy *
make(const char *name, unsigned int caps, const struct proxy *from)
{
	struct proxy *p = proxy_new(name, caps);

	assert_non_null(p);
	p->mode = PROXY_HTTP;
	if (from)
		assert_int_equal(proxy_inherit(p, from), 0);
	return p;
}

static enum rule_result
run(const struct proxy *p, struct rules_at *at)
{
	struct engine e = { .loop = rig_loop };
	struct stream s = { .engine = &e };
	struct rule_outcome v = { .proxy = &s };
	struct sample_ctx cx = { 0 };

	said[0] = '\0';
	return proxy_rules_run(&p->rules, RULE_HTTP_REQUEST, at, &cx, &v);
}

static void
defaults_come_first(void **st)
{
	struct proxy *d = make("d", PROXY_DEFAULTS, NULL), *p;
	struct rules_at at = { 0 };
	struct rule *pause;

	(void)st;
	pause = add(d, RULE_HTTP_REQUEST, 'a', RULE_CONT);
	add(d, RULE_HTTP_REQUEST, 'b', RULE_CONT);
	add(d, RULE_HTTP_RESPONSE, 'x', RULE_CONT);
	p = make("p", PROXY_FE, d);
	assert_true(proxy_has_rules(&p->rules, RULE_HTTP_REQUEST));
	assert_false(proxy_has_rules(&p->rules, RULE_HTTP_AFTER_RESPONSE));
	add(p, RULE_HTTP_REQUEST, 'c', RULE_CONT);
	assert_int_equal(run(p, &at), RULE_CONT);
	assert_string_equal(said, "abc");
	memset(&at, 0, sizeof(at));
	pause->num[1] = RULE_STOP;
	assert_int_equal(run(p, &at), RULE_STOP);
	assert_string_equal(said, "a");
	proxy_free(&p);
	proxy_free(&d);
}

/* Wherever a list waits, no rule runs twice. */
static void
a_list_resumes_at_the_waiting_rule(void **st)
{
	struct proxy *d = make("d", PROXY_DEFAULTS, NULL), *p;
	struct rule *r[4];

	(void)st;
	r[0] = add(d, RULE_HTTP_REQUEST, 'a', RULE_CONT);
	r[1] = add(d, RULE_HTTP_REQUEST, 'b', RULE_CONT);
	p = make("p", PROXY_FE, d);
	r[2] = add(p, RULE_HTTP_REQUEST, 'c', RULE_CONT);
	r[3] = add(p, RULE_HTTP_REQUEST, 'd', RULE_CONT);
	for (size_t i = 0; i < ARRAY_LEN(r); i++) {
		struct rules_at at = { 0 };

		r[i]->num[1] = RULE_YIELD;
		assert_int_equal(run(p, &at), RULE_YIELD);
		assert_ptr_equal(at.next, r[i]);
		assert_int_equal(run(p, &at), RULE_YIELD);
		r[i]->num[1] = RULE_CONT;
		assert_int_equal(run(p, &at), RULE_CONT);
		assert_string_equal(said, &"abcd"[i]);
	}
	proxy_free(&p);
	proxy_free(&d);
}

static unsigned int
count_errors(struct proxies *ps)
{
	struct cfg_diag d;
	unsigned int n;
	int r;

	cfg_diag_init(&d, 1);
	r = proxies_check_default_rules(ps, &d);
	n = d.count[CFG_ALERT];
	assert_int_equal(r, n ? -1 : 0);
	cfg_diag_fini(&d);
	return n;
}

static void
a_defaults_section_serves_one_kind(void **st)
{
	static const struct {
		unsigned int caps[2], bad;
	} t[] = { { { PROXY_FE, PROXY_FE }, 0 }, { { PROXY_BE, PROXY_BE }, 0 },
		{ { PROXY_FE, PROXY_BE }, 1 }, { { PROXY_FE | PROXY_BE, PROXY_FE }, 1 } };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct proxies ps;
		struct proxy *d, *p;

		proxies_init(&ps);
		d = make("d", PROXY_DEFAULTS, NULL);
		list_append(&ps.defaults, &d->link);
		for (int k = 0; k < 2; k++) {
			p = make(k ? "q" : "p", t[i].caps[k], d);
			list_append(&ps.all, &p->link);
		}
		assert_int_equal(count_errors(&ps), 0);
		add(d, RULE_HTTP_REQUEST, 'a', RULE_CONT);
		assert_int_equal(count_errors(&ps), t[i].bad);
		proxies_fini(&ps);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_come_first),
		cmocka_unit_test(a_list_resumes_at_the_waiting_rule),
		cmocka_unit_test(a_defaults_section_serves_one_kind),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
