/* Counters of a listener and its copies: their sums, why clients wait, and what is cleared. */
#include "unit/test.h"

#include "base/counter.h"
#include "base/mem.h"
#include "net/bind_conf.h"
#include "net/listener.h"
#include "net/shards.h"

static struct bind_conf *b;
static struct listener *ln;

static int
setup(void **st)
{
	(void)st;
	b = bind_conf_new();
	ln = mem_zalloc(sizeof(*ln));
	assert_non_null(b);
	assert_non_null(ln);
	listener_init(ln, b);
	list_append(&b->listeners, &ln->link);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	bind_conf_free(&b);
	return 0;
}

static void
copies_add_up(void **st)
{
	struct listener_stat sum;

	(void)st;
	assert_int_equal(shards_make(b, 7, 1), 0);
	assert_int_equal(ln->group->n, 3);
	for (unsigned int i = 0; i < 3; i++) {
		struct listener_stat *s = &ln->group->of[i]->stat;

		*s = (struct listener_stat){ .cum_conn = 1, .bytes_in = 2, .bytes_out = 3,
			.denied_req = 4, .denied_resp = 5, .denied_conn = 6, .denied_sess = 7,
			.failed_req = 8, .failed_rewrites = 9, .cur = i, .cur_max = 10 - i };
	}
	listener_stat_sum(ln, &sum);
	assert_int_equal(sum.cum_conn, 3);
	assert_int_equal(sum.bytes_in, 6);
	assert_int_equal(sum.bytes_out, 9);
	assert_int_equal(sum.denied_req, 12);
	assert_int_equal(sum.denied_resp, 15);
	assert_int_equal(sum.denied_conn, 18);
	assert_int_equal(sum.denied_sess, 21);
	assert_int_equal(sum.failed_req, 24);
	assert_int_equal(sum.failed_rewrites, 27);
	assert_int_equal(sum.cur, 3);
	assert_int_equal(sum.cur_max, 10);
	assert_int_equal(listener_sessions(ln->group->of[2]), 3);
}

static void
current_sessions_are_not_cleared(void **st)
{
	(void)st;
	ln->stat = (struct listener_stat){ .cum_conn = 5, .bytes_in = 6, .cur = 2, .cur_max = 4 };
	listener_clear_stat(ln, 0);
	assert_int_equal(ln->stat.cum_conn, 5);
	assert_int_equal(ln->stat.cur_max, 0);
	listener_clear_stat(ln, 1);
	assert_int_equal(ln->stat.cum_conn, 0);
	assert_int_equal(ln->stat.bytes_in, 0);
	assert_int_equal(ln->stat.cur, 2);
}

/* Clients wait only when no copy accepts. */
static void
every_copy_has_to_be_full(void **st)
{
	struct listener *other;

	(void)st;
	b->maxconn = 2;
	assert_int_equal(shards_make(b, 3, 1), 0);
	other = ln->group->of[1];
	ln->stat.cur = 2;
	counter_set(&ln->state, LISTENER_FULL);
	counter_set(&other->state, LISTENER_READY);
	assert_int_equal(listener_load(ln), LISTENER_LOAD_OPEN);
	counter_set(&other->state, LISTENER_FULL);
	assert_int_equal(listener_load(ln), LISTENER_LOAD_HELD);
	other->stat.cur = 2;
	assert_int_equal(listener_load(ln), LISTENER_LOAD_FULL);
	b->maxconn = 0;
	assert_int_equal(listener_load(ln), LISTENER_LOAD_HELD);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(copies_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(current_sessions_are_not_cleared, setup, teardown),
		cmocka_unit_test_setup_teardown(every_copy_has_to_be_full, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
