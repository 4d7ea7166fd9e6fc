/* The pool of pipes, on the fake kernel: which pipes are reused, which are closed, and when there
 * is none. */

#include <errno.h>
#include <fcntl.h>

#include "fake/kernel.h"
#include "net/pipe.h"
#include "unit/test.h"

static struct fake *k;
static struct sys sys;
static struct pipe_pool pp;

static int
setup(void **st)
{
	(void)st;
	k = fake_new();
	sys_init(&sys, &sys_fake, k);
	pipe_pool_init(&pp, &sys, 4, 0);
	return 0;
}

/* After every test no descriptor is open. */
static int
teardown(void **st)
{
	(void)st;
	pipe_pool_fini(&pp);
	assert_int_equal(fake_fds(k), 0);
	for (int a = 0; a < FAKE_ABUSES; a++)
		assert_int_equal(fake_abuse(k, (enum fake_abuse)a), 0);
	fake_free(&k);
	return 0;
}

static struct pipe *
get(void)
{
	struct pipe *p = pipe_get(&pp, 0);

	assert_non_null(p);
	assert_int_equal(p->bytes, 0);
	return p;
}

static void
nothing_is_opened_before_it_is_needed(void **st)
{
	struct pipe *p;

	(void)st;
	assert_int_equal(fake_fds(k), 0);
	p = get();
	assert_int_equal(fake_fds(k), 2);
	assert_int_equal(pp.used, 1);
	pipe_put(&pp, p);
	assert_int_equal(pp.used, 0);
	assert_int_equal(pp.n_idle, 1);
	assert_int_equal(fake_fds(k), 2);
}

static void
the_last_one_put_back_is_the_next(void **st)
{
	struct pipe *a = get(), *b = get();

	(void)st;
	assert_ptr_not_equal(a, b);
	pipe_put(&pp, a);
	pipe_put(&pp, b);
	assert_ptr_equal(get(), b);
	assert_ptr_equal(get(), a);
	assert_int_equal(pp.made, 2);
	pipe_put(&pp, a);
	pipe_put(&pp, b);
}

static void
there_are_never_more_than_max(void **st)
{
	struct pipe *p[4];

	(void)st;
	for (int i = 0; i < 4; i++)
		p[i] = get();
	assert_null(pipe_get(&pp, 0));
	assert_int_equal(pp.refused, 1);
	assert_int_equal(fake_fds(k), 8);
	pipe_put(&pp, p[2]);
	assert_ptr_equal(get(), p[2]);
	for (int i = 0; i < 4; i++)
		pipe_put(&pp, p[i]);
}

/* A pipe with bytes in it is closed; only empty pipes are reused. */
static void
a_pipe_with_bytes_is_closed(void **st)
{
	struct pipe *p = get();

	(void)st;
	p->bytes = 10;
	pipe_drop(&pp, p);
	assert_int_equal(pp.used, 0);
	assert_int_equal(pp.n_idle, 0);
	assert_int_equal(fake_fds(k), 0);
	pipe_put(&pp, get());
	assert_int_equal(pp.made, 2);
}

static void
a_failure_is_not_tried_again_at_once(void **st)
{
	static const int errors[] = { EMFILE, ENFILE, ENOMEM };
	uint64_t now = 0;
	struct pipe *p;

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
		uint64_t calls;

		fake_fail(k, SYS_CALL_pipe2, i + 1, errors[i]);
		assert_null(pipe_get(&pp, now));
		calls = fake_calls(k);
		assert_null(pipe_get(&pp, now + PIPE_RETRY_MS - 1));
		assert_int_equal(fake_calls(k), calls);
		now += PIPE_RETRY_MS;
	}
	assert_int_equal(pp.refused, 6);
	p = pipe_get(&pp, now);
	assert_non_null(p);
	pipe_put(&pp, p);
	/* An idle pipe is used nevertheless. */
	assert_ptr_equal(pipe_get(&pp, 0), p);
	pipe_put(&pp, p);
}

/* A user with too many pipe pages gets pipes of two pages, which need more calls than copying. */
static void
a_pipe_too_small_is_not_used(void **st)
{
	struct pipe *p;

	(void)st;
	fake_set_pipes(k, 2, 4096);
	assert_null(pipe_get(&pp, 0));
	assert_int_equal(fake_fds(k), 0);
	assert_int_equal(pp.used, 0);
	fake_set_pipes(k, 4, 4096);
	assert_null(pipe_get(&pp, PIPE_RETRY_MS - 1));
	p = pipe_get(&pp, PIPE_RETRY_MS);
	assert_non_null(p);
	pipe_put(&pp, p);
	assert_int_equal(pp.made, 1);
}

static long
size_of(const struct pipe *p)
{
	return sys_fcntl(&sys, p->wr, F_GETPIPE_SZ, 0);
}

static void
a_size_is_asked_for_and_not_insisted_on(void **st)
{
	struct pipe *p;

	(void)st;
	pp.size = 300000;
	p = get();
	assert_int_equal(size_of(p), 524288);
	pipe_drop(&pp, p);
	/* More than a user may request: the pipe keeps the system's default size. */
	pp.size = 64 << 20;
	p = get();
	assert_int_equal(size_of(p), 65536);
	pipe_drop(&pp, p);
}

/* The first pipes are large; if all were, they would exhaust the user's limit. */
static void
the_first_ones_are_big(void **st)
{
	struct pipe *p[PIPES_BIG + 2];

	(void)st;
	pp.max = PIPES_BIG + 2;
	for (size_t i = 0; i < ARRAY_LEN(p); i++) {
		p[i] = get();
		assert_int_equal(size_of(p[i]), i < PIPES_BIG ? PIPE_SIZE_BIG : 65536);
	}
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		pipe_put(&pp, p[i]);
}

static void
an_unknown_size_is_not_trusted(void **st)
{
	(void)st;
	fake_fail(k, SYS_CALL_fcntl, 1, EPERM);
	fake_fail_again(k, 1);
	assert_null(pipe_get(&pp, 0));
	assert_int_equal(fake_fds(k), 0);
}

/* Pipes that were not needed for a whole period are closed; the others stay. */
static void
idle_ones_are_closed_in_time(void **st)
{
	struct pipe *p[3];

	(void)st;
	for (int i = 0; i < 3; i++)
		p[i] = get();
	for (int i = 0; i < 3; i++)
		pipe_put(&pp, p[i]);
	assert_int_equal(pipe_pool_trim(&pp), 3);
	p[0] = get();
	pipe_put(&pp, p[0]);
	assert_int_equal(pipe_pool_trim(&pp), 1);
	assert_int_equal(fake_fds(k), 2);
	assert_ptr_equal(get(), p[0]);
	pipe_put(&pp, p[0]);
	assert_int_equal(pipe_pool_trim(&pp), 1);
	assert_int_equal(pipe_pool_trim(&pp), 0);
	assert_int_equal(fake_fds(k), 0);
}

static void
the_idle_ones_are_bounded(void **st)
{
	struct pipe *p[PIPES_KEPT + 3];

	(void)st;
	pp.max = PIPES_KEPT + 3;
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		p[i] = get();
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		pipe_put(&pp, p[i]);
	assert_int_equal(pp.n_idle, PIPES_KEPT);
	assert_int_equal(pp.used, 0);
	assert_int_equal(fake_fds(k), 2 * PIPES_KEPT);
}


int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nothing_is_opened_before_it_is_needed),
		CASE(the_last_one_put_back_is_the_next),
		CASE(there_are_never_more_than_max),
		CASE(a_pipe_with_bytes_is_closed),
		CASE(a_failure_is_not_tried_again_at_once),
		CASE(a_pipe_too_small_is_not_used),
		CASE(a_size_is_asked_for_and_not_insisted_on),
		CASE(the_first_ones_are_big),
		CASE(an_unknown_size_is_not_trusted),
		CASE(idle_ones_are_closed_in_time),
		CASE(the_idle_ones_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
