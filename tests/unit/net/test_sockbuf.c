/* Socket buffers on the real kernel: which sizes are set, the resulting sizes, and failures. */
#include "unit/net/net_rig.h"

#include <sys/socket.h>

#include "fake/kernel.h"
#include "net/sockbuf.h"

static const struct sockbuf all = { .rcv = 8192, .snd = 16384, .notsent = 4096 };

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

static void
configured_sizes_are_set(void **st)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	const char *what;

	(void)st;
	assert_int_equal(sockbuf_set(&rig_sys, fd, AF_INET, &all, &what), 0);
	assert_int_equal(rig_opt(fd, SOL_SOCKET, SO_RCVBUF), 2 * all.rcv);
	assert_int_equal(rig_opt(fd, SOL_SOCKET, SO_SNDBUF), 2 * all.snd);
	assert_int_equal(rig_opt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT), all.notsent);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 3);
	close(fd);
}

/* Zero is the kernel's default, and makes no call. */
static void
without_a_size_no_call_is_made(void **st)
{
	static const struct sockbuf none, one = { .rcv = 5000 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	const char *what;

	(void)st;
	assert_int_equal(sockbuf_set(&rig_sys, fd, AF_INET, &none, &what), 0);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 0);
	assert_int_equal(sockbuf_set(&rig_sys, fd, AF_INET, &one, &what), 0);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 1);
	close(fd);
}

/* The bytes on a unix socket count against their sender. */
static void
a_unix_socket_has_one_buffer(void **st)
{
	static const struct sockbuf rcv = { .rcv = 8192, .notsent = 10 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	const char *what;

	(void)st;
	assert_int_equal(sockbuf_set(&rig_sys, fd, AF_UNIX, &rcv, &what), 0);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 0);
	assert_int_equal(sockbuf_set(&rig_sys, fd, AF_UNIX, &all, &what), 0);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 1);
	assert_int_equal(rig_opt(fd, SOL_SOCKET, SO_SNDBUF), 2 * all.snd);
	close(fd);
}

static void
a_failure_names_the_option(void **st)
{
	static const char *const name[] = { "SO_SNDBUF", "SO_RCVBUF", "TCP_NOTSENT_LOWAT" };
	struct fake *k = fake_new();
	struct sys sys;
	long fd;

	(void)st;
	sys_init(&sys, &sys_fake, k);
	fd = sys_socket(&sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	for (size_t i = 0; i < ARRAY_LEN(name); i++) {
		const char *what = "";

		fake_fail(k, SYS_CALL_setsockopt,
			ledger_sum(&sys.ledger, SYS_CALL_setsockopt) + i + 1, EPERM);
		assert_int_equal(sockbuf_set(&sys, (int)fd, AF_INET, &all, &what), -EPERM);
		assert_non_null(strstr(what, name[i]));
	}
	(void)sys_close(&sys, (int)fd);
	fake_free(&k);
}

/* The kernel applies its limits without an error: a probe reads the resulting size. */
static void
a_probe_finds_the_kernels_limits(void **st)
{
	static const struct sockbuf huge = { .rcv = SOCKBUF_MAX, .snd = SOCKBUF_MAX };
	struct sockbuf got;

	(void)st;
	assert_int_equal(sockbuf_probe(&rig_sys, &all, &got), 0);
	assert_int_equal(got.rcv, all.rcv);
	assert_int_equal(got.snd, all.snd);
	assert_int_equal(sockbuf_probe(&rig_sys, &huge, &got), 0);
	assert_true(got.rcv > 0 && got.rcv < SOCKBUF_MAX);
	assert_true(got.snd > 0 && got.snd < SOCKBUF_MAX);
	/* Both probes were closed. */
	assert_int_equal(rig_calls(SYS_CALL_close), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(configured_sizes_are_set),
		CASE(without_a_size_no_call_is_made),
		CASE(a_unix_socket_has_one_buffer),
		CASE(a_failure_names_the_option),
		CASE(a_probe_finds_the_kernels_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
