#include <fcntl.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/sys.h"
#include "base/thread.h"
#include "unit/test.h"

static uint64_t
count(const struct sys *s, enum sys_call c, enum sys_outcome o)
{
	return s->ledger.n[c][o];
}

static void
test_a_failure_is_a_negative_errno(void **state)
{
	struct sys s;
	char c;

	(void)state;
	sys_init(&s, &sys_linux, NULL);
	errno = 0;
	assert_int_equal(sys_read(&s, -1, &c, 1), -EBADF);
	assert_int_equal(sys_openat(&s, "/nothing/of/the/kind", O_RDONLY, 0), -ENOENT);
	assert_int_equal(sys_close(&s, -1), -EBADF);
	assert_int_equal(count(&s, SYS_CALL_read, SYS_ERROR), 1);
	assert_int_equal(count(&s, SYS_CALL_openat, SYS_ERROR), 1);
	assert_int_equal(ledger_total(&s.ledger), 3);
}

static void
test_a_stream_of_bytes(void **state)
{
	struct sys s;
	struct iovec v[2] = { { (char *)"ab", 2 }, { (char *)"cd", 2 } };
	int sv[2];
	char got[8];

	(void)state;
	sys_init(&s, &sys_linux, NULL);
	assert_int_equal(sys_socketpair(&s, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv), 0);
	assert_int_equal(sys_recvfrom(&s, sv[1], got, sizeof(got), 0), -EAGAIN);
	assert_int_equal(sys_writev(&s, sv[0], v, 2), 4);
	assert_int_equal(sys_sendto(&s, sv[0], "ef", 2, MSG_NOSIGNAL), 2);
	assert_int_equal(sys_recvfrom(&s, sv[1], got, sizeof(got), 0), 6);
	assert_memory_equal(got, "abcdef", 6);
	assert_int_equal(sys_shutdown(&s, sv[0], SHUT_WR), 0);
	assert_int_equal(sys_recvfrom(&s, sv[1], got, sizeof(got), 0), 0);
	assert_int_equal(sys_close(&s, sv[1]), 0);
	assert_int_equal(sys_sendto(&s, sv[0], "x", 1, MSG_NOSIGNAL), -EPIPE);
	assert_int_equal(sys_close(&s, sv[0]), 0);
	assert_int_equal(count(&s, SYS_CALL_recvfrom, SYS_AGAIN), 1);
	assert_int_equal(count(&s, SYS_CALL_recvfrom, SYS_OK), 2);
	assert_int_equal(count(&s, SYS_CALL_close, SYS_OK), 2);
}

static void
test_two_neighbours_are_closed_by_one_call(void **state)
{
	struct sys s;
	int sv[2];

	(void)state;
	sys_init(&s, &sys_linux, NULL);
	assert_int_equal(sys_pipe2(&s, sv, O_CLOEXEC), 0);
	assert_int_equal(sv[1], sv[0] + 1);
	assert_int_equal(sys_close_range(&s, (unsigned int)sv[0], (unsigned int)sv[1]), 0);
	assert_int_equal(sys_close(&s, sv[0]), -EBADF);
	assert_int_equal(sys_close(&s, sv[1]), -EBADF);
}

static int are_closed; /* relaxed: it orders no other access */

static void
open_and_close(void *arg)
{
	int *sv = arg;
	struct sys s;

	sys_init(&s, &sys_linux, NULL);
	assert_int_equal(sys_pipe2(&s, sv, O_CLOEXEC), 0);
	assert_int_equal(sys_close_range(&s, (unsigned int)sv[0], (unsigned int)sv[1]), 0);
	atomic_write(&are_closed, 1);
}

/* Another thread may get a number as soon as one thread has closed it: ThreadSanitizer must see the
 * close as ordered. */
static void
test_closed_numbers_may_be_reused_by_other_threads(void **state)
{
	struct thread t;
	struct sys s;
	int theirs[2], ours[2];

	(void)state;
	sys_init(&s, &sys_linux, NULL);
	atomic_write(&are_closed, 0);
	assert_int_equal(thread_start(&t, open_and_close, theirs, NULL), 0);
	while (!atomic_read(&are_closed))
		(void)sys_sched_yield(&s);
	assert_int_equal(sys_pipe2(&s, ours, O_CLOEXEC), 0);
	assert_int_equal(thread_join(&t), 0);
	assert_int_equal(ours[0], theirs[0]);
	assert_int_equal(ours[1], theirs[1]);
	assert_int_equal(sys_close(&s, ours[0]), 0);
	assert_int_equal(sys_close(&s, ours[1]), 0);
}

static void
test_bytes_go_through_a_pipe_without_a_copy(void **state)
{
	struct sys s;
	int sv[2], p[2];
	char got[8];

	(void)state;
	sys_init(&s, &sys_linux, NULL);
	assert_int_equal(sys_socketpair(&s, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv), 0);
	assert_int_equal(sys_pipe2(&s, p, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(sys_splice(&s, sv[1], p[1], 10, SPLICE_F_NONBLOCK), -EAGAIN);
	assert_int_equal(sys_sendto(&s, sv[0], "hello", 5, MSG_NOSIGNAL), 5);
	assert_int_equal(sys_splice(&s, sv[1], p[1], 10, SPLICE_F_NONBLOCK), 5);
	assert_int_equal(sys_splice(&s, p[0], sv[1], 5, SPLICE_F_MORE), 5);
	assert_int_equal(sys_recvfrom(&s, sv[0], got, sizeof(got), 0), 5);
	assert_memory_equal(got, "hello", 5);
	assert_int_equal(count(&s, SYS_CALL_splice, SYS_OK), 2);
	assert_int_equal(count(&s, SYS_CALL_splice, SYS_AGAIN), 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sys_close(&s, sv[i]), 0);
		assert_int_equal(sys_close(&s, p[i]), 0);
	}
}

static void
test_clocks_never_go_back(void **state)
{
	struct sys s;
	uint64_t a, b;

	(void)state;
	sys_init(&s, &sys_linux, NULL);
	a = sys_clock_ns(&s, CLOCK_MONOTONIC);
	b = sys_clock_ns(&s, CLOCK_MONOTONIC);
	assert_true(a > 0 && b >= a);
	/* later than this test, before the end of 32-bit seconds */
	assert_true(sys_clock_ns(&s, CLOCK_REALTIME) > 1600000000ull * 1000000000ull);
	assert_int_equal(ledger_sum(&s.ledger, SYS_CALL_clock_gettime), 3);
	assert_int_equal(ledger_total(&s.ledger), 0);
}

/* A kernel whose calls are interrupted a few times before they succeed. */
struct interrupting_kernel {
	int left;
};

static long
interrupted_call(struct interrupting_kernel *k)
{
	return k->left-- > 0 ? -EINTR : 0;
}

static long
interrupted_close(void *ctx, int fd)
{
	(void)fd;
	return interrupted_call(ctx);
}

static long
interrupted_recvfrom(void *ctx, int fd, void *buf, size_t len, int flags)
{
	(void)fd;
	(void)buf;
	(void)len;
	(void)flags;
	return interrupted_call(ctx);
}

static long
interrupted_epoll_wait(void *ctx, int ep, struct epoll_event *ev, int n, int ms)
{
	(void)ep;
	(void)ev;
	(void)n;
	(void)ms;
	return interrupted_call(ctx);
}

static void
test_interrupted_calls_are_made_again_unless_they_wait(void **state)
{
	const struct sys_ops ops = {
		.close = interrupted_close,
		.recvfrom = interrupted_recvfrom,
		.epoll_wait = interrupted_epoll_wait,
	};
	struct interrupting_kernel kernel = { .left = 3 };
	struct sys s;
	struct epoll_event ev;
	char c;

	(void)state;
	sys_init(&s, &ops, &kernel);
	assert_int_equal(sys_recvfrom(&s, 0, &c, 1, 0), 0);
	/* each attempt was a call and is counted in the ledger */
	assert_int_equal(count(&s, SYS_CALL_recvfrom, SYS_ERROR), 3);
	assert_int_equal(count(&s, SYS_CALL_recvfrom, SYS_OK), 1);
	kernel.left = 1;
	assert_int_equal(sys_epoll_wait(&s, 0, &ev, 1, -1), -EINTR);
	/* after an interrupted close the number is free: a second close could close another
	 * descriptor */
	kernel.left = 1;
	assert_int_equal(sys_close(&s, 0), -EINTR);
}

static void
test_no_row_is_empty(void **state)
{
	(void)state;
#define SYS_ROW(name, when, params, args) assert_true(sys_linux.name != NULL);
#include "base/sys.tbl.h"
#undef SYS_ROW
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_failure_is_a_negative_errno),
		cmocka_unit_test(test_a_stream_of_bytes),
		cmocka_unit_test(test_two_neighbours_are_closed_by_one_call),
		cmocka_unit_test(test_closed_numbers_may_be_reused_by_other_threads),
		cmocka_unit_test(test_bytes_go_through_a_pipe_without_a_copy),
		cmocka_unit_test(test_clocks_never_go_back),
		cmocka_unit_test(test_interrupted_calls_are_made_again_unless_they_wait),
		cmocka_unit_test(test_no_row_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
