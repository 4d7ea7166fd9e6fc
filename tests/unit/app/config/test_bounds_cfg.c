#include <stdio.h>
#include <string.h>

#include "app/config/bounds_cfg.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static void
values(void **state)
{
	const struct global_conf *g = &cfg.global;

	(void)state;
	assert_int_equal(
		world_global("tune.rcvbuf.client 4096\ntune.sndbuf.client 8k\n"
			     "tune.rcvbuf.server 16384\ntune.sndbuf.server 1m\n"
			     "tune.notsent-lowat.client 2000\ntune.notsent-lowat.server 3000"),
		0);
	assert_int_equal(g->client_buf.rcv, 4096);
	assert_int_equal(g->client_buf.snd, 8192);
	assert_int_equal(g->client_buf.notsent, 2000);
	assert_int_equal(g->server_buf.rcv, 16384);
	assert_int_equal(g->server_buf.snd, 1 << 20);
	assert_int_equal(g->server_buf.notsent, 3000);
	assert_int_equal(cfg.diag.count[CFG_WARNING], 0);
}

/* The first line counts, with a warning, as in HAProxy. */
static void
the_first_line_counts(void **state)
{
	(void)state;
	assert_int_equal(world_global("tune.rcvbuf.client 0\ntune.rcvbuf.client 4096\n"
				      "tune.rcvbuf.client 8192"),
		0);
	assert_int_equal(cfg.global.client_buf.rcv, 4096);
	assert_int_equal(cfg.diag.count[CFG_WARNING], 1);
	assert_non_null(strstr(world_diagnostic(), "it is already set to 4096"));
}

/* A number without a unit is in megabytes. */
static void
memory(void **state)
{
	static const struct {
		const char *line;
		uint64_t bytes;
	} t[] = {
		{ "tune.memory 0", 0 },
		{ "tune.memory 64", 64 << 20 },
		{ "tune.memory 512k", 512 << 10 },
		{ "tune.memory 3M", 3 << 20 },
		{ "tune.memory 5g", 5ull << 30 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(world_global(t[i].line), 0);
		assert_int_equal(cfg.global.memory, t[i].bytes);
	}
}

static void
zero_copy(void **state)
{
	struct global_conf *g = &cfg.global;

	(void)state;
	assert_int_equal(g->zerocopy_threshold, 0);
	assert_int_equal(g->zerocopy_max, 16 << 20);
	assert_true(g->ranges_fast_path);
	assert_int_equal(world_global("tune.zerocopy.threshold 8k\ntune.zerocopy.max 1m\n"
				      "tune.ranges.fast-path off"),
		0);
	assert_int_equal(g->zerocopy_threshold, 8192);
	assert_int_equal(g->zerocopy_max, 1 << 20);
	assert_false(g->ranges_fast_path);
	assert_int_equal(bounds_finish(g, 1, 0, &cfg.diag), 0);
	assert_int_equal(cfg.diag.count[CFG_WARNING], 0);
}

/* The setting would be accepted and have no effect. */
static void
zero_copy_without_effect(void **state)
{
	struct global_conf *g = &cfg.global;

	(void)state;
	assert_int_equal(world_global("tune.zerocopy.threshold 16384"), 0);
	assert_int_equal(bounds_finish(g, 1, 0, &cfg.diag), 0);
	assert_int_equal(world_global("tune.zerocopy.threshold 16385"), 0);
	assert_int_equal(bounds_finish(g, 1, 0, &cfg.diag), -1);
	assert_non_null(strstr(world_diagnostic(), "is never reached"));
	assert_int_equal(world_global("tune.zerocopy.threshold 8k\nnoepoll"), 0);
	assert_int_equal(bounds_finish(g, 1, 0, &cfg.diag), 0);
	assert_int_equal(cfg.diag.count[CFG_WARNING], 1);
	assert_non_null(strstr(world_diagnostic(), "no effect with poller 'ev:poll'"));
}

static void
mistakes(void **state)
{
	static const char *const bad[] = {
		"tune.rcvbuf.client",
		"tune.rcvbuf.client 1 2",
		"tune.rcvbuf.client -1",
		"tune.rcvbuf.client 1073741825",
		"tune.rcvbuf.server 4294967296",
		"tune.sndbuf.client 2g",
		"tune.sndbuf.server 10x",
		"tune.notsent-lowat.client -1",
		"tune.memory",
		"tune.memory -1",
		"tune.memory 16777217",
		"tune.memory 16385g",
		"tune.memory 18446744073709551616",
		"tune.memory 10x",
		"tune.memory 1.5g",
		"tune.memory off",
		"tune.zerocopy.threshold",
		"tune.zerocopy.threshold -1",
		"tune.zerocopy.threshold 17m",
		"tune.zerocopy.threshold on",
		"tune.zerocopy.max 0",
		"tune.zerocopy.max 2g",
		"tune.ranges.fast-path maybe",
		"tune.ranges.fast-path",
		"tune.notsent-lowat.server 9223372036854775808",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(world_global(bad[i]), -1);
		assert_true(world_diagnostic()[0] != '\0');
	}
	assert_int_equal(cfg.global.client_buf.rcv, 0);
	assert_int_equal(cfg.global.server_buf.snd, 0);
}

/* Limits of HTTP; the reserve in a buffer is at most half of it. */
static void
http(void **state)
{
	static const char *const bad[] = { "tune.http.maxhdr 0", "tune.http.maxhdr 32768",
		"tune.http.logurilen 0", "tune.http.logurilen x", "tune.maxrewrite -1",
		"tune.pool-low-fd-ratio 101", "tune.pool-high-fd-ratio -1" };
	struct global_conf *g = &cfg.global;

	(void)state;
	assert_int_equal(g->maxrewrite, 1024);
	assert_int_equal(g->http_maxhdr, 101);
	assert_int_equal(g->http_line_max, 1023);
	assert_int_equal(g->pool_low_fds, 20);
	assert_int_equal(g->pool_high_fds, 25);
	assert_int_equal(world_global("tune.http.maxhdr 32767\ntune.maxrewrite 2000\n"
				      "tune.http.logurilen 70000\n"
				      "tune.pool-low-fd-ratio 0\ntune.pool-high-fd-ratio 100"),
		0);
	assert_int_equal(g->http_maxhdr, 32767);
	assert_int_equal(g->http_line_max, 70000);
	assert_int_equal(g->maxrewrite, 2000);
	assert_int_equal(g->pool_low_fds, 0);
	assert_int_equal(g->pool_high_fds, 100);
	assert_int_equal(world_global("tune.bufsize 1024\ntune.maxrewrite 600"), 0);
	assert_int_equal(bounds_finish(g, 1, 0, &cfg.diag), 0);
	assert_int_equal(g->maxrewrite, 512);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_not_equal(world_global(bad[i]), 0);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_open, world_close)
	const struct CMUnitTest tests[] = { T(values), T(the_first_line_counts), T(memory),
					    T(zero_copy), T(zero_copy_without_effect), T(http),
					    T(mistakes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
