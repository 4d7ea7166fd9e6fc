#include "unit/proxy/proxies_rig.h"

#include "base/mem.h"
#include "proxy/model/errors.h"
#include "proxy/config/proxy_life.h"

static struct http_reply *
reply(unsigned int status)
{
	struct http_reply *r = NULL;

	assert_int_equal(http_reply_new(status, NULL, 0, STR(""), &r), 0);
	return r;
}

/* A line for one error. */
static void
line(struct proxy_errors *e, enum http_error_id id, struct http_reply *r, const char *group)
{
	assert_int_equal(
		proxy_errors_add(e, 1u << id, r, group, (struct cfg_where){ 0 }), 0);
}

static struct error_group *
group(struct proxies *ps, const char *name)
{
	struct error_group *g = mem_zalloc(sizeof(*g));

	assert_non_null(g);
	g->name = mem_strdup(name);
	proxy_errors_init(&g->errors);
	list_append(&ps->error_groups, &g->link);
	assert_int_equal(name_index_add(&ps->error_group_names, g->name, g), 0);
	return g;
}

static unsigned int
answer(const struct proxy *fe, const struct proxy *be, unsigned int status)
{
	return proxy_error(fe, be, status)->status;
}

static void
without_a_page_the_built_in_one_is_sent(void **state)
{
	struct proxy *fe = proxy_new("f", PROXY_FE), *be = proxy_new("b", PROXY_BE);

	(void)state;
	assert_ptr_equal(proxy_error(fe, be, 404), http_error(HTTP_ERROR_404));
	assert_ptr_equal(proxy_error(fe, NULL, 503), http_error(HTTP_ERROR_503));
	assert_ptr_equal(proxy_error(fe, NULL, 299), http_error(HTTP_ERROR_500));
	proxy_free(&fe);
	proxy_free(&be);
}

/* Precedence: the backend before the frontend, later lines before earlier ones, the section's own
 * before the defaults', and a reset line counts as no line. */
static void
pages_have_their_precedence(void **state)
{
	struct proxies ps;
	struct proxy *defaults, *fe, *be;
	struct cfg_diag d = { 0 };

	(void)state;
	proxies_init(&ps);
	defaults = proxy_new("", PROXY_DEFAULTS);
	fe = proxy_new("f", PROXY_FE);
	be = proxy_new("b", PROXY_BE);
	line(&defaults->errors, HTTP_ERROR_403, reply(203), NULL);
	line(&defaults->errors, HTTP_ERROR_404, reply(204), NULL);
	assert_int_equal(proxy_inherit(fe, defaults), 0);
	proxy_free(&defaults);
	line(&fe->errors, HTTP_ERROR_404, reply(304), NULL);
	line(&fe->errors, HTTP_ERROR_404, reply(305), NULL);
	line(&fe->errors, HTTP_ERROR_410, reply(310), NULL);
	line(&fe->errors, HTTP_ERROR_500, reply(302), NULL);
	line(&be->errors, HTTP_ERROR_404, reply(404), NULL);
	line(&be->errors, HTTP_ERROR_410, reply(410), NULL);
	line(&be->errors, HTTP_ERROR_410, NULL, NULL);
	assert_int_equal(proxy_errors_resolve(&fe->errors, &ps, &d), 0);
	assert_int_equal(proxy_errors_resolve(&be->errors, &ps, &d), 0);
	assert_int_equal(answer(fe, NULL, 403), 203);
	assert_int_equal(answer(fe, be, 403), 203);
	assert_int_equal(answer(fe, NULL, 404), 305);
	assert_int_equal(answer(fe, be, 404), 404);
	assert_int_equal(answer(fe, be, 410), 310);
	assert_int_equal(answer(fe, be, 599), 302);
	proxy_free(&fe);
	proxy_free(&be);
	proxies_fini(&ps);
}

static void
groups_of_pages_are_found(void **state)
{
	struct proxies ps;
	struct proxy *fe = proxy_new("f", PROXY_FE);
	struct error_group *g;
	struct cfg_diag d;
	const char *why;

	(void)state;
	proxies_init(&ps);
	cfg_diag_init(&d, 1);
	line(&fe->errors, HTTP_ERROR_400, reply(200), NULL);
	line(&fe->errors, HTTP_ERROR_408, reply(208), NULL);
	assert_int_equal(proxy_errors_add(&fe->errors, UINT32_MAX, NULL, "g",
		(struct cfg_where){ 0 }), 0);
	line(&fe->errors, HTTP_ERROR_403, NULL, "h");
	assert_int_equal(proxy_errors_resolve(&fe->errors, &ps, &d), -1);
	assert_int_equal(d.count[CFG_ALERT], 2);
	g = group(&ps, "g");
	line(&g->errors, HTTP_ERROR_400, reply(300), NULL);
	line(&g->errors, HTTP_ERROR_400, reply(301), NULL);
	line(&g->errors, HTTP_ERROR_403, reply(303), NULL);
	g = group(&ps, "h");
	line(&g->errors, HTTP_ERROR_400, reply(400), NULL);
	line(&g->errors, HTTP_ERROR_403, reply(403), NULL);
	assert_ptr_equal(error_group_find(&ps, "h"), g);
	assert_null(error_group_find(&ps, "i"));
	/* errors used by rules */
	assert_int_equal(error_group_page(&ps, "g", 400, &why)->status, 301);
	assert_null(why);
	assert_null(error_group_page(&ps, "g", 404, &why));
	assert_string_equal(why, "there is no such page");
	assert_null(error_group_page(&ps, "g", 299, &why));
	assert_null(error_group_page(&ps, "i", 400, &why));
	assert_string_equal(why, "there is no such section");
	assert_int_equal(proxy_errors_resolve(&fe->errors, &ps, &d), 0);
	assert_int_equal(answer(fe, NULL, 400), 301);
	assert_int_equal(answer(fe, NULL, 403), 403);
	assert_int_equal(answer(fe, NULL, 408), 208);
	assert_int_equal(answer(fe, NULL, 404), 404);
	proxy_free(&fe);
	proxies_fini(&ps);
	cfg_diag_fini(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_page_the_built_in_one_is_sent),
		cmocka_unit_test(pages_have_their_precedence),
		cmocka_unit_test(groups_of_pages_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
