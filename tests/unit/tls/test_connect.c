/* TLS to servers: what the settings need, and the name that is asked for. */
#include "tls/connect.h"

#include <stdio.h>

#include "tls/tls_conf.h"
#include "unit/tls/tls_rig.h"

static struct rig g;
static struct tls_conf conf;
static struct tls_settings set;
static struct tls_server *server;
static char why[TLS_WHY_MAX];
static struct sys real;

static int
setup(void **state)
{
	(void)state;
	rig_open(&g, 0);
	sys_init(&real, &sys_linux, NULL);
	tls_conf_init(&conf);
	memset(&set, 0, sizeof(set));
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rig_disconnect(&g);
	tls_server_free(&server);
	tls_settings_free(&set);
	tls_conf_fini(&conf);
	rig_close(&g);
	return 0;
}

static void
use(const char *name, const char *arg)
{
	assert_true(tls_settings_set(&set, TLS_AT_SERVER, name, arg, why) >= 0);
}

static void
test_verification_needs_a_ca(void **state)
{
	(void)state;
	assert_true(tls_server_load(&server, &conf, &set, &real, why) < 0);
	assert_non_null(strstr(why, "no CA file specified"));
	assert_null(server);
	use("ca-file", "/no/such/file");
	assert_true(tls_server_load(&server, &conf, &set, &real, why) < 0);
	assert_non_null(strstr(why, "'/no/such/file': No such file"));
	use("verify", "none");
	assert_int_equal(tls_server_load(&server, &conf, &set, &real, why), 0);
}

static void
test_default_of_global(void **state)
{
	(void)state;
	conf.server_verify_none = 1;
	assert_int_equal(tls_server_load(&server, &conf, &set, &real, why), 0);
	tls_server_free(&server);
	use("verify", "required");
	assert_true(tls_server_load(&server, &conf, &set, &real, why) < 0);
}

static void
test_errors(void **state)
{
	(void)state;
	use("verify", "none");
	use("ciphers", "NO-SUCH");
	assert_true(tls_server_load(&server, &conf, &set, &real, why) < 0);
	assert_non_null(strstr(why, "NO-SUCH"));
	use("ciphers", "HIGH");
	use("crt", "/no/such/file");
	assert_true(tls_server_load(&server, &conf, &set, &real, why) < 0);
	assert_non_null(strstr(why, "No such file"));
}

static char asked[300];

static int
note_name(SSL *ssl, int *alert, void *arg)
{
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	(void)alert;
	(void)arg;
	snprintf(asked, sizeof(asked), "%s", name ? name : "");
	return SSL_TLSEXT_ERR_OK;
}

static int
connect_as(struct str name)
{
	struct tls_ask ask = { .name = name };

	return tls_connect_as(&g.c, &ask);
}

static void
test_name(void **state)
{
	static char longest[256];

	(void)state;
	use("verify", "none");
	assert_int_equal(tls_server_load(&server, &conf, &set, &real, why), 0);
	assert_null(tls_server_makers(server));
	assert_int_equal(tls_server_open(server, &g.io, 1), 0);
	assert_non_null(tls_server_makers(server)[0]);
	SSL_CTX_set_tlsext_servername_callback(g.server_ctx, note_name);
	assert_int_equal(rig_connect(&g, TLS_CONNECTS, NULL), 0);
	memset(longest, 'a', sizeof(longest));
	assert_true(connect_as((struct str){ longest, 256 }) < 0);
	assert_true(connect_as((struct str){ "a\0b", 3 }) < 0);
	assert_int_equal(connect_as(STR("name.test")), 0);
	for (int i = 0; i < 20; i++) {
		char buf[16];
		size_t n;

		(void)SSL_do_handshake(g.peer);
		rig_peer_move(&g);
		if (conn_is_ready(&g.c, DIR_R))
			(void)conn_recv(&g.c, buf, sizeof(buf), &n);
		conn_want(&g.c, EV_R);
		rig_turn(&g);
	}
	assert_string_equal(asked, "name.test");
	ERR_clear_error();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_verification_needs_a_ca),
		CASE(test_default_of_global),
		CASE(test_errors),
		CASE(test_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
