#include "app/config/crt_store_cfg.h"

#include <string.h>

#include "tls/crt_list.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

/* 0, or -1 when a line was rejected. */
static int
read_text(const char *text)
{
	struct cfg_reader r;
	struct cfg_facts facts;
	struct cfg_reader_opts opts = { .root = &cfg, .registry = &cfg.registry, .diag = &cfg.diag,
					.env = &cfg.env, .facts = &facts };
	int bad;

	config_facts(&cfg, &facts);
	cfg_reader_init(&r, &opts);
	bad = cfg_reader_text(&r, "t.cfg", text, strlen(text));
	bad |= cfg_reader_end(&r);
	cfg_reader_fini(&r);
	return bad || cfg.diag.count[CFG_ALERT] ? -1 : 0;
}

static void
values(void **state)
{
	const struct tls_crt_store *s;
	const struct tls_load *l;

	(void)state;
	assert_int_equal(read_text("crt-store web\n crt-base /c\n key-base /k\n"
				   " load key b alias x crt a issuer d ocsp e sctl f"
				   " ocsp-update off\n"
				   " load ocsp-update on crt g\n"
				   "crt-store\n load crt h\ncrt-store\n load crt i\n"), 0);
	s = tls_crt_store_find(&cfg.tls.crt_stores, "web");
	assert_non_null(s);
	assert_string_equal(s->crt_base, "/c");
	assert_string_equal(s->key_base, "/k");
	l = list_first(&s->loads, const struct tls_load, link);
	assert_string_equal(l->alias, "x");
	assert_string_equal(l->path.of[TLS_CERT_CRT], "a");
	assert_string_equal(l->path.of[TLS_CERT_KEY], "b");
	assert_string_equal(l->path.of[TLS_CERT_ISSUER], "d");
	assert_string_equal(l->path.of[TLS_CERT_OCSP], "e");
	assert_string_equal(l->path.of[TLS_CERT_SCTL], "f");
	assert_int_equal(l->ocsp_update, TLS_OCSP_OFF);
	l = list_entry(l->link.next, const struct tls_load, link);
	assert_null(l->alias);
	assert_int_equal(l->ocsp_update, TLS_OCSP_ON);
	assert_null(l->path.of[TLS_CERT_KEY]);
	s = tls_crt_store_find(&cfg.tls.crt_stores, "");
	assert_non_null(s);
	assert_string_equal(list_entry(s->loads.prev, const struct tls_load, link)
				    ->path.of[TLS_CERT_CRT], "i");
}

static void
mistakes(void **state)
{
	static const char *const bad[][2] = {
		{ "crt-store w\n load alias x\n", "'crt' is missing" },
		{ "crt-store w\n load crt a key\n", "'key' expects an argument" },
		{ "crt-store w\n load crt a crt b\n", "'crt' is given twice" },
		{ "crt-store w\n load crt a ocsp-update\n", "'ocsp-update' expects 'on' or 'off'" },
		{ "crt-store w\n load crt a ocsp-update yes\n",
			"'ocsp-update' expects 'on' or 'off'" },
		{ "crt-store w\n load ocsp-update on crt a ocsp-update off\n",
			"'ocsp-update' is given twice" },
		{ "crt-store w\n load crt a kye b\n", "unknown parameter 'kye'" },
		{ "crt-store w\ncrt-store w\n", "crt-store 'w' already exists" },
		{ "crt-store a/b\n", "'/' is not permitted" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(read_text(bad[i][0]), -1);
		if (!strstr(world_diagnostic(), bad[i][1]))
			fail_msg("%s: %s", bad[i][0], world_diagnostic());
		world_close(state);
		assert_int_equal(world_open(state), 0);
	}
}

/* Other lines are read, and what they name, so that all errors are shown at once. */
static void
a_load_without_crt_does_not_end_the_check(void **state)
{
	struct options o = { .n_files = 1 };

	(void)state;
	sys_init(&sys, &sys_linux, NULL);
	o.files[0] = files_write("t.cfg", "crt-store w\n load key x\n load crt gone.pem\n");
	assert_int_equal(config_load(&cfg, &sys, &o), -ERR_INVAL);
	assert_int_equal(cfg.diag.count[CFG_ALERT], 2);
	assert_non_null(strstr(cfg.diag.entry[0].text, "'crt' is missing"));
	assert_non_null(strstr(cfg.diag.entry[1].text, "gone.pem"));
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_open, world_close)
	const struct CMUnitTest tests[] = { T(values), T(mistakes),
		FILES_CASE(a_load_without_crt_does_not_end_the_check) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
