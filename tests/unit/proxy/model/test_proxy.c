#include "unit/proxy/proxies_rig.h"

#include "base/mem.h"
#include "proxy/config/proxy_life.h"

static void
a_new_proxy_has_the_defaults(void **state)
{
	struct proxy *p = proxy_new("web", PROXY_FE | PROXY_BE);

	(void)state;
	assert_non_null(p);
	assert_string_equal(p->name, "web");
	assert_int_equal(p->mode, PROXY_TCP);
	assert_int_equal(p->balance, BALANCE_ROUNDROBIN);
	assert_int_equal(p->balance_draws, 2);
	assert_int_equal(p->retries, 3);
	assert_int_equal(p->default_server.weight, 1);
	assert_int_equal(p->options | p->no_options, 0);
	assert_int_equal(proxy_usable_servers(p), 0);
	proxy_free(&p);
	assert_null(p);
	proxy_free(&p);
}

/* An option on either side applies; without any, splice-auto is on in mode tcp. */
static void
splice_options_of_either_side_apply(void **state)
{
	struct proxy *fe = proxy_new("f", PROXY_FE), *be = proxy_new("b", PROXY_BE);

	(void)state;
	assert_non_null(fe);
	assert_non_null(be);
	assert_int_equal(proxy_splice(fe, be), OPT_SPLICE_AUTO);
	fe->no_options = OPT_SPLICE_AUTO;
	assert_int_equal(proxy_splice(fe, be), 0);
	fe->no_options = 0;
	fe->mode = PROXY_HTTP;
	assert_int_equal(proxy_splice(fe, be), 0);
	fe->mode = PROXY_TCP;
	fe->options = OPT_SPLICE_AUTO | OPT_NOLINGER;
	assert_int_equal(proxy_splice(fe, be), OPT_SPLICE_AUTO);
	be->options = OPT_SPLICE_RESPONSE;
	assert_int_equal(proxy_splice(fe, be), OPT_SPLICE_AUTO | OPT_SPLICE_RESPONSE);
	be->no_options = OPT_SPLICE_AUTO;
	assert_int_equal(proxy_splice(fe, be), OPT_SPLICE_AUTO | OPT_SPLICE_RESPONSE);
	fe->options = 0;
	assert_int_equal(proxy_splice(fe, be), OPT_SPLICE_RESPONSE);
	proxy_free(&fe);
	proxy_free(&be);
}

/* Settings are copied, but not the objects that belong to the section. */
static void
settings_are_inherited_and_objects_are_not(void **state)
{
	struct proxy *d = proxy_new("", PROXY_DEFAULTS), *p = proxy_new("p", PROXY_FE),
		     *b = proxy_new("b", PROXY_BE);

	(void)state;
	assert_non_null(d);
	assert_non_null(p);
	assert_non_null(b);
	d->default_be_name = mem_strdup("x");
	d->id = 7;
	d->maxconn = 8;
	d->retries = 9;
	assert_int_equal(proxy_inherit(p, d), 0);
	assert_int_equal(proxy_inherit(b, d), 0);
	assert_string_equal(p->default_be_name, "x");
	assert_ptr_not_equal(p->default_be_name, d->default_be_name);
	assert_null(b->default_be_name);
	assert_int_equal(p->maxconn, 8);
	assert_int_equal(b->retries, 9);
	assert_int_equal(p->id, 0);
	assert_int_equal(p->caps, PROXY_FE);
	assert_string_equal(p->name, "p");
	proxy_free(&d);
	assert_string_equal(p->default_be_name, "x");
	proxy_free(&p);
	proxy_free(&b);
}

static void
a_proxy_has_a_kind_and_a_file(void **state)
{
	static struct proxy p = { .caps = PROXY_FE };
	struct cfg_file file = { .name = (char[]){ "a.cfg" } };

	(void)state;
	assert_string_equal(proxy_kind(&p), "frontend");
	assert_string_equal(proxy_file(&p), "?");
	p.where.file = &file;
	assert_string_equal(proxy_file(&p), "a.cfg");
	p.caps = PROXY_BE;
	assert_string_equal(proxy_kind(&p), "backend");
	p.caps = PROXY_FE | PROXY_BE;
	assert_string_equal(proxy_kind(&p), "proxy");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_proxy_has_the_defaults),
		cmocka_unit_test(settings_are_inherited_and_objects_are_not),
		cmocka_unit_test(splice_options_of_either_side_apply),
		cmocka_unit_test(a_proxy_has_a_kind_and_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
