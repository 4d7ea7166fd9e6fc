#include <string.h>

#include "app/config/tls_finish.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static void
values(void **state)
{
	const struct tls_conf *t = &cfg.tls;

	(void)state;
	assert_int_equal(t->files.extra, TLS_EXTRA_ALL);
	assert_int_equal(t->lifetime_s, 300);
	assert_int_equal(t->cache_size, 20000);
	assert_int_equal(t->key_updates, 100);
	assert_int_equal(
		world_global("crt-base /c\nca-base /d\nssl-load-extra-del-ext\n"
			     "ssl-load-extra-files ocsp key\n"
			     "ssl-default-bind-ciphers A\nssl-default-server-ciphers B\n"
			     "ssl-default-bind-options ssl-min-ver TLSv1.3 no-tls-tickets\n"
			     "ssl-server-verify none\ntune.ssl.lifetime 1h\n"
			     "tune.ssl.cachesize 0\ntune.ssl.maxrecord 1400\n"
			     "tune.ssl.capture-buffer-size 96\ntune.ssl.keylog on\n"
			     "tune.ssl.default-dh-param 2048\nssl-security-level 3\n"
			     "ssl-passphrase-cmd old\nssl-passphrase-cmd new a 'b c'\n"
			     "ssl-provider-path /no/such\nssl-provider default\n"
			     "ssl-provider base\nssl-propquery ?provider=default\n"
			     "tune.ssl.keyupdate-rate-limit 7\n"
			     "ocsp-update.mode on\nocsp-update.mindelay 10\n"
			     "tune.ssl.ocsp-update.maxdelay 20\nocsp-update.disable on"),
		0);
	assert_string_equal(t->files.crt_base, "/c");
	assert_string_equal(t->files.ca_base, "/d");
	assert_int_equal(t->files.del_ext, 1);
	assert_int_equal(t->files.extra, TLS_EXTRA_OCSP | TLS_EXTRA_KEY);
	assert_string_equal(t->bind_defaults.ciphers, "A");
	assert_string_equal(t->server_defaults.ciphers, "B");
	assert_int_equal(t->bind_defaults.min, TLS_VERSION_13);
	assert_int_equal(t->bind_defaults.flags, TLS_NO_TICKETS);
	assert_int_equal(t->server_verify_none, 1);
	assert_int_equal(t->lifetime_s, 3600);
	assert_int_equal(t->cache_size, 0);
	assert_int_equal(t->maxrecord, 1400);
	assert_int_equal(t->capture_size, 96);
	assert_int_equal(t->keylog, 1);
	assert_int_equal(t->default_dh, 2048);
	assert_string_equal(t->passphrases.cmd[0], "new");
	assert_string_equal(t->passphrases.cmd[2], "b c");
	assert_null(t->passphrases.cmd[3]);
	assert_true(t->algorithms.line > 0);
	assert_int_equal(t->key_updates, 7);
	assert_int_equal(t->bind_defaults.level, 4);
	assert_int_equal(t->server_defaults.level, 4);
	assert_int_equal(t->ocsp.mode, TLS_OCSP_ON);
	assert_int_equal(t->ocsp.min_s, 10);
	assert_int_equal(t->ocsp.max_s, 20);
	assert_int_equal(t->ocsp.off, 1);
}

static void
mistakes(void **state)
{
	static const char *const bad[] = {
		"ssl-load-extra-files none ocsp",
		"ssl-load-extra-files x",
		"ssl-default-bind-options x",
		"ssl-default-bind-options ssl-min-ver",
		"ssl-default-bind-options ssl-min-ver TLSv9",
		"ssl-default-server-options strict-sni",
		"ssl-server-verify optional",
		"ssl-passphrase-cmd",
		"ssl-provider",
		"ssl-provider default base",
		"ssl-provider no-such-provider",
		"ssl-provider-path",
		"ssl-propquery provider=",
		"ssl-propquery",
		"tune.ssl.keyupdate-rate-limit -1",
		"tune.ssl.keyupdate-rate-limit many",
		"ssl-security-level",
		"ssl-security-level 6",
		"ssl-security-level -1",
		"ssl-security-level high",
		"ssl-security-level 1 2",
		"ocsp-update.mode maybe",
		"ocsp-update.disable maybe",
		"ocsp-update.mindelay 0",
		"ocsp-update.maxdelay x",
		"tune.ssl.lifetime 0",
		"tune.ssl.cachesize -1",
		"tune.ssl.default-dh-param 512",
		"tune.ssl.maxrecord x",
		"tune.ssl.capture-buffer-size -1",
		"tune.ssl.keylog maybe",
		"crt-base",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (world_global(bad[i]) == 0)
			fail_msg("accepted: %s", bad[i]);
	}
}

/* Files are named in errors, at the line of the configuration. */
static void
missing_file(void **state)
{
	struct cfg_reader r;
	struct cfg_facts facts;
	struct cfg_reader_opts opts = { .root = &cfg, .registry = &cfg.registry, .diag = &cfg.diag,
					.env = &cfg.env, .facts = &facts };
	static const char text[] = "frontend f\n bind 127.0.0.1:1 ssl crt /no/such.pem\n";

	(void)state;
	sys_init(&sys, &sys_linux, NULL);
	config_facts(&cfg, &facts);
	cfg_reader_init(&r, &opts);
	assert_int_equal(cfg_reader_text(&r, "t.cfg", text, strlen(text)), 0);
	(void)cfg_reader_end(&r);
	cfg_reader_fini(&r);
	assert_true(config_uses_tls(&cfg));
	assert_int_equal(tls_finish(&cfg, &sys), -1);
	assert_non_null(strstr(world_diagnostic(), "'/no/such.pem' : No such file or directory"));
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_open, world_close)
	const struct CMUnitTest tests[] = { T(values), T(mistakes), T(missing_file) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
