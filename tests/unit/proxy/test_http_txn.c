/* Transactions: what a new one is, and that none is left. */
#include "http_rig.h"

#include "proxy/http_txn.h"

static void
a_transaction_is_new(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD, .maxhdr = 7 };
	static const struct step end[] = { { STEP_END, 0 } };
	struct session s = { .engine = &w.engine };
	struct http_txn *t;

	(void)st;
	rig_open(&cfg, end);
	s.state_ms = loop_now_ms(w.loop);
	t = http_txn_get(&s);
	assert_ptr_equal(s.txn, t);
	assert_int_equal(s.requests, 1);
	assert_int_equal(t->req.max, 7);
	assert_int_equal(t->res.max, 7);
	assert_int_equal(t->req.kind, HTTP_REQUEST);
	assert_int_equal(t->res.kind, HTTP_RESPONSE);
	assert_false(http_has_answer(t));
	/* The heads have their own places, with those for what is added. */
	http_txn_allow_added(&s, &t->req);
	assert_int_equal(t->req.max, 7 + HTTP_FIELDS_ADDED);
	assert_true(t->res.field >= t->req.field + t->req.max);
	assert_true((size_t)((char *)(t->res.field + 7 + HTTP_FIELDS_ADDED) - (char *)t) <=
		w.engine.txn_pool.size);
	assert_int_equal(w.engine.txn_pool.live, 1);
	http_txn_put(&s);
	http_txn_put(&s);
	assert_null(s.txn);
	assert_int_equal(w.engine.txn_pool.live, 0);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_transaction_is_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
