#include <stdio.h>
#include <string.h>

#include <errno.h>

#include "app/config/options.h"
#include "base/err.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

#define TIMES "defaults\n mode tcp\n timeout connect 1s\n timeout client 1s\n timeout server 1s\n"
#define LISTEN "listen l\n bind 127.0.0.1:65000\n server s 127.0.0.1:1\n"

static int
load(unsigned int flags, int maxconn, int proxy_maxconn, const char *file, const char *more)
{
	static struct options o;

	memset(&o, 0, sizeof(o));
	o.flags = flags;
	o.maxconn = maxconn;
	o.proxy_maxconn = proxy_maxconn;
	o.files[o.n_files++] = file;
	if (more)
		o.files[o.n_files++] = more;
	return config_load(&cfg, &sys, &o);
}

static void
files_are_one_configuration(void **state)
{
	const char *a = files_write("a.cfg", "global\n maxconn 7\n" TIMES);
	const char *b = files_write("b.cfg", LISTEN);

	(void)state;
	assert_int_equal(load(0, 0, 0, a, b), 0);
	assert_int_equal(cfg.global.maxconn, 7);
	assert_true(config_has_listener(&cfg));
	assert_int_equal(cfg.diag.count[CFG_ALERT] + cfg.diag.count[CFG_WARNING], 0);
}

static void
command_line_wins(void **state)
{
	const char *a = files_write("a.cfg", "global\n maxconn 7\n" TIMES LISTEN
					     "listen m\n bind 127.0.0.1:65001\n maxconn 3\n");
	const struct proxy *l, *m;

	(void)state;
	assert_int_equal(load(OPTIONS_NO_EPOLL | OPTIONS_QUIET, 9, 5, a, NULL), 0);
	l = proxies_find(&cfg.proxies, "l", PROXY_FE);
	m = proxies_find(&cfg.proxies, "m", PROXY_FE);
	assert_int_equal(cfg.global.maxconn, 9);
	assert_int_equal(l->maxconn, 5);
	assert_int_equal(m->maxconn, 3);
	assert_true(cfg.global.no_epoll && cfg.global.quiet);
}

/* The ids that HAProxy 2.6 assigns (observed): its frontend of the stats sockets takes one where
 * the section global first says something of them. */
static void
stats_sockets_take_an_id(void **state)
{
	static const struct {
		const char *before, *between;
		int l, b, c;
	} t[] = {
		{ "", "", 1, 2, 3 },
		{ "global\n maxconn 7\n", "", 1, 2, 3 },
		{ "global\n stats socket /tmp/x\n", "", 2, 3, 4 },
		{ "global\n stats socket /tmp/x\n stats timeout 1s\n stats socket /tmp/y\n", "", 2,
			3, 4 },
		{ "global\n stats timeout 1s\n", "", 2, 3, 4 },
		{ "global\n stats maxconn 3\n", "", 2, 3, 4 },
		{ "", "global\n stats timeout 1s\n", 1, 2, 4 },
		{ "global\n stats timeout 1s\n", "global\n stats timeout 1s\n", 2, 3, 4 },
		{ "global\n stats timeout 1s\n", " id 1\n", 2, 1, 4 },
		{ "global\n stats timeout 1s\n", " id 2\n", 3, 2, 5 },
		{ "", " id 1\n", 2, 1, 4 },
	};
	char text[600];

	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		snprintf(text, sizeof(text), "%s" TIMES LISTEN "backend b\n%s" TIMES "backend c\n",
			t[i].before, t[i].between);
		assert_int_equal(load(0, 0, 0, files_write("a.cfg", text), NULL), 0);
		assert_int_equal(proxies_find(&cfg.proxies, "l", PROXY_FE)->id, t[i].l);
		assert_int_equal(proxies_find(&cfg.proxies, "b", PROXY_BE)->id, t[i].b);
		assert_int_equal(proxies_find(&cfg.proxies, "c", PROXY_BE)->id, t[i].c);
		world_files_close(state);
		world_files_open(state);
	}
}

/* The smaller of the file's and the command line's limits; one that is too small is an error. */
static void
the_smaller_limit_of_memory_counts(void **state)
{
	static const struct {
		const char *global;
		int mb;
		int bad;
		uint64_t bytes;
	} t[] = {
		{ "", 0, 0, 0 },
		{ "", 7, 0, 7 << 20 },
		{ "tune.memory 5", 7, 0, 5 << 20 },
		{ "tune.memory 9", 7, 0, 7 << 20 },
		{ "tune.memory 0", 7, 0, 7 << 20 },
		{ "tune.memory 128k", 0, 0, 128 << 10 },
		{ "tune.memory 127k", 0, 1, 127 << 10 },
		{ "tune.memory 1m\n tune.bufsize 1m", 0, 1, 1 << 20 },
		{ "tune.memory 8m\n tune.bufsize 1m", 0, 0, 8 << 20 },
		{ "tune.bufsize 1m", 7, 1, 7 << 20 },
	};

	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct options o = { 0 };
		char text[200];

		snprintf(text, sizeof(text), "global\n nbthread 1\n %s\n" TIMES LISTEN,
			t[i].global);
		o.memory_mb = t[i].mb;
		o.files[o.n_files++] = files_write("m.cfg", text);
		assert_int_equal(config_load(&cfg, &sys, &o), t[i].bad ? -ERR_INVAL : 0);
		assert_int_equal(cfg.global.memory, t[i].bytes);
		if (t[i].bad)
			assert_non_null(strstr(world_diagnostic(), "8 buffers of tune.bufsize"));
		assert_int_equal(world_close(state), 0);
		assert_int_equal(world_open(state), 0);
	}
}

/* There are pipes only if one of the proxies may splice. */
static void
pipes_are_needed_only_for_splicing(void **state)
{
	const char *none = files_write("n.cfg", TIMES LISTEN "option splice-auto\n"
						"no option splice-auto\n");
	const char *one = files_write("o.cfg", TIMES "listen m\n bind 127.0.0.1:65001\n"
					       " server s 127.0.0.1:1\n option splice-request\n");

	(void)state;
	assert_int_equal(load(0, 0, 0, none, NULL), 0);
	assert_false(config_splices(&cfg));
	assert_false(config_may_splice(&cfg));
	assert_false(cfg.global.splice.off);
	assert_int_equal(load(OPTIONS_NO_SPLICE, 0, 0, one, NULL), 0);
	assert_true(config_splices(&cfg));
	assert_true(config_may_splice(&cfg));
	assert_true(cfg.global.splice.off);
	/* The default in mode tcp. */
	world_close(state);
	world_open(state);
	assert_int_equal(load(0, 0, 0, files_write("q.cfg", TIMES LISTEN), NULL), 0);
	assert_false(config_splices(&cfg));
	assert_true(config_may_splice(&cfg));
}

static void
every_error_is_reported(void **state)
{
	const char *a = files_write("a.cfg",
		"global\n maxconn x\n" TIMES "listen l\n bind nonsense\n"
		" default_backend nowhere\n");

	(void)state;
	assert_int_equal(load(0, 0, 0, a, files_path("missing.cfg")), -ERR_INVAL);
	assert_true(cfg.diag.count[CFG_ALERT] >= 4);
}

static void
warnings_do_not_stop_it(void **state)
{
	const char *a = files_write("a.cfg", "defaults\n mode tcp\n" LISTEN);

	(void)state;
	assert_int_equal(load(0, 0, 0, a, NULL), 0);
	assert_true(cfg.diag.count[CFG_WARNING] > 0);
	world_close(state);
	world_open(state);
	assert_int_equal(load(OPTIONS_WERROR, 0, 0, a, NULL), -ERR_INVAL);
	world_close(state);
	world_open(state);
	a = files_write("a.cfg", "global\n zero-warning\ndefaults\n mode tcp\n" LISTEN);
	assert_int_equal(load(0, 0, 0, a, NULL), -ERR_INVAL);
}

/* True if one of the messages is this one. */
static int
was_printed(const char *what)
{
	for (unsigned i = 0; i < cfg.diag.nentry; i++)
		if (strstr(cfg.diag.entry[i].text, what))
			return 1;
	return 0;
}

static void
too_many_threads(void **state)
{
	const char *a = files_write("a.cfg",
		"global\n nbthread 8\n thread-hard-limit 4\n" TIMES LISTEN);

	(void)state;
	(void)!load(0, 0, 0, a, NULL);
	assert_true(
		was_printed("'nbthread 8' is more than 'thread-hard-limit' allows: 4 will run"));
	assert_int_equal(cfg.diag.count[CFG_WARNING], 1);
	world_close(state);
	world_open(state);
	a = files_write("a.cfg", "global\n thread-hard-limit 1\n nbthread 1\n" TIMES LISTEN);
	assert_int_equal(load(0, 0, 0, a, NULL), 0);
	assert_int_equal(cfg.diag.count[CFG_WARNING], 0);
}

/* Bind lines all of whose threads do not exist, of enabled proxies and of stats sockets. */
static void
bind_lines_need_a_thread_that_exists(void **state)
{
	static const struct {
		const char *stats, *bind;
		unsigned int errors;
	} t[] = {
		{ "", "thread 1", 0 },
		{ "", "thread 1-3", 0 },
		{ "thread 1/all", "thread 2 thread 1", 0 },
		{ "", "thread 2", 1 },
		{ "thread 1/3", "", 1 },
		{ "thread 64", "thread 2-", 2 },
		{ "", "thread 2\n disabled", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		char text[512];
		unsigned int errors;

		snprintf(text, sizeof(text),
			"global\n nbthread 1\n stats socket /run/x %s\n%slisten l\n"
			" server s 127.0.0.1:1\n bind 127.0.0.1:65000 %s\n",
			t[i].stats, TIMES, t[i].bind);
		errors = load(0, 0, 0, files_write("a.cfg", text), NULL) ? 1 : 0;
		assert_int_equal(errors, t[i].errors > 0);
		assert_int_equal(cfg.diag.count[CFG_ALERT], t[i].errors);
		if (t[i].errors)
			assert_true(
				was_printed("only names threads that do not exist; there is 1"));
		world_close(state);
		world_open(state);
	}
}

static void
variables_name_peer_and_files(void **state)
{
	const char *a = files_write("a.cfg",
		TIMES "listen \"${HAPROXY_LOCALPEER}\"\n bind "
		      "127.0.0.1:65000\n description \"${HAPROXY_CFGFILES}\"\n");
	static struct options o;

	(void)state;
	memset(&o, 0, sizeof(o));
	o.files[o.n_files++] = a;
	o.local_peer = "peer1";
	assert_int_equal(config_load(&cfg, &sys, &o), 0);
	assert_string_equal(proxies_find(&cfg.proxies, "peer1", PROXY_FE)->description, a);
}

/* Without -L the local peer has the name of the host. */
static void
the_default_peer_is_the_host(void **state)
{
	char host[256] = "";

	(void)state;
	assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
	assert_int_equal(load(0, 0, 0, files_write("a.cfg", TIMES LISTEN), NULL), 0);
	assert_string_equal(cfg_env_get(&cfg.env, "HAPROXY_LOCALPEER"), host);
}

static void
listeners(void **state)
{
	(void)state;
	assert_int_equal(load(0, 0, 0, files_write("a.cfg", "global\n maxconn 7\n"), NULL), 0);
	assert_false(config_has_listener(&cfg));
	assert_int_equal(load(0, 0, 0, files_write("b.cfg", TIMES LISTEN " disabled\n"), NULL), 0);
	assert_false(config_has_listener(&cfg));
	assert_int_equal(
		load(0, 0, 0, files_write("c.cfg", "global\n stats socket /run/x\n"), NULL), 0);
	assert_true(config_has_listener(&cfg));
}

static long
no_random(void *ctx, void *buf, size_t len, unsigned int flags)
{
	(void)ctx, (void)buf, (void)len, (void)flags;
	return -ENOSYS;
}

/* Each configuration gets a secret of its own for its hashes; without one it is not read. */
static void
each_configuration_has_a_secret(void **state)
{
	struct keyhash first;
	struct sys_ops ops = sys_linux;

	assert_int_equal(load(0, 0, 0, files_write("a.cfg", TIMES LISTEN), NULL), 0);
	first = cfg.proxies.files.key;
	assert_true(first.point != keyhash_known.point && first.stir != keyhash_known.stir);
	world_close(state);
	assert_int_equal(world_open(state), 0);
	assert_int_equal(load(0, 0, 0, files_write("a.cfg", TIMES LISTEN), NULL), 0);
	assert_true(first.point != cfg.proxies.files.key.point);
	ops.getrandom = no_random;
	sys_init(&sys, &ops, NULL);
	world_close(state);
	assert_int_equal(world_open(state), 0);
	assert_int_equal(load(0, 0, 0, files_write("a.cfg", TIMES LISTEN), NULL), -ERR_INVAL);
	assert_int_equal(cfg.diag.count[CFG_ALERT], 1);
	sys_init(&sys, &sys_linux, NULL);
}

static void
conditions_see_version_and_features(void **state)
{
	FILE *null = fopen("/dev/null", "w");

	(void)state;
	assert_int_equal(config_cond(&cfg, "version_atleast(2.4)", null), 0);
	assert_int_equal(config_cond(&cfg, "version_atleast(9.9)", null), 1);
	assert_int_equal(config_cond(&cfg, "feature(EPOLL)", null), 0);
	assert_int_equal(config_cond(&cfg, "feature(OPENSSL)", null), 0);
	assert_int_equal(config_cond(&cfg, "openssl_version_atleast(3.0.0)", null), 0);
	assert_int_equal(config_cond(&cfg, "feature(LUA)", null), 1);
	assert_int_equal(config_cond(&cfg, "nonsense(1)", null), 1);
	assert_int_equal(cfg_env_set(&cfg.env, "A", "b"), 0);
	assert_int_equal(config_cond(&cfg, "streq(\"$A\",b)", null), 0);
	assert_int_equal(config_cond(&cfg, "defined(A) && !defined(B)", null), 0);
	fclose(null);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		FILES_CASE(files_are_one_configuration),
		FILES_CASE(command_line_wins),
		FILES_CASE(stats_sockets_take_an_id),
		FILES_CASE(the_smaller_limit_of_memory_counts),
		FILES_CASE(pipes_are_needed_only_for_splicing),
		FILES_CASE(every_error_is_reported),
		FILES_CASE(warnings_do_not_stop_it),
		FILES_CASE(variables_name_peer_and_files),
		FILES_CASE(the_default_peer_is_the_host),
		FILES_CASE(listeners),
		FILES_CASE(each_configuration_has_a_secret),
		FILES_CASE(conditions_see_version_and_features),
		FILES_CASE(too_many_threads),
		FILES_CASE(bind_lines_need_a_thread_that_exists),
	};

	sys_init(&sys, &sys_linux, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
