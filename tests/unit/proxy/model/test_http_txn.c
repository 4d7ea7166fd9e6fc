/* Transactions: their initial state, and that none leaks. */
#include "unit/proxy/session_rig.h"

#include "proxy/model/http_txn.h"
#include "proxy/sample/eval.h"
#include "rule/sample/var.h"

static void
a_transaction_is_new(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD, .maxhdr = 7 };
	static const struct step end[] = { { STEP_END, 0 } };
	struct session sess = { .requests = 0 };
	struct stream s = { .engine = &w.engine, .sess = &sess };
	struct http_txn *t;

	(void)st;
	rig_open(&cfg, end);
	s.sess->fe = w.px;
	s.state_ms = loop_now_ms(w.loop);
	s.id = engine_next_id(&w.engine);
	t = http_txn_get(&s);
	assert_int_equal(t->id, s.id);
	assert_ptr_equal(s.txn, t);
	assert_int_equal(s.sess->requests, 1);
	assert_int_equal(t->req.max, 7);
	assert_int_equal(t->res.max, 7);
	assert_int_equal(t->req.kind, HTTP_REQUEST);
	assert_int_equal(t->res.kind, HTTP_RESPONSE);
	assert_false(http_has_answer(t));
	/* The heads have their own arrays of fields, with room for added ones. */
	http_txn_allow_added(&s, &t->req);
	assert_int_equal(t->req.max, 7 + HTTP_FIELDS_ADDED);
	assert_true(t->res.field >= t->req.field + t->req.max);
	assert_true((size_t)((char *)(t->res.field + 7 + HTTP_FIELDS_ADDED) - (char *)t) <=
		w.engine.pools.txn.size);
	assert_int_equal(w.engine.pools.txn.live, 1);
	http_txn_put(&s);
	http_txn_put(&s);
	/* The first transaction has the id of its session, later ones have their own. */
	t = http_txn_get(&s);
	assert_int_not_equal(t->id, s.id);
	http_txn_put(&s);
	assert_null(s.txn);
	assert_int_equal(w.engine.pools.txn.live, 0);
	assert_int_equal(w.px->shard[0].fe.h1.streams_over, 2);
	rig_close();
}

/* Its time begins with the wait for the request, and it does not count as an HTTP stream. */
static void
a_silent_client_has_a_transaction_too(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD };
	static const struct step end[] = { { STEP_END, 0 } };
	struct session sess = { .requests = 0 };
	struct stream s = { .engine = &w.engine, .sess = &sess };
	uint64_t now;
	struct http_txn *t;

	(void)st;
	rig_open(&cfg, end);
	s.sess->fe = w.px;
	now = loop_now_ms(w.loop);
	s.state_ms = now - 700;
	t = http_txn_get_awaited(&s);
	assert_int_equal(t->began_ms, now - 700);
	assert_int_equal(t->began_wall_ns, loop_wall_ns(w.loop) - 700 * 1000000u);
	assert_int_equal(t->idle_ms, 0);
	http_txn_put(&s);
	assert_int_equal(w.px->shard[0].fe.h1.streams_over, 0);
	rig_close();
}

static void
rules_see_variables_and_complete_heads(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD };
	static const struct step end[] = { { STEP_END, 0 } };
	struct session sess = { .requests = 0 };
	struct stream s = { .engine = &w.engine, .sess = &sess, .is_http = 1 };
	struct sample value = { .type = SAMPLE_SINT, .u.sint = 7 };
	struct http_txn *t;
	struct eval l;

	(void)st;
	rig_open(&cfg, end);
	s.sess->fe = w.px;
	eval_init(&l, &s, SAMPLE_AT_REQ);
	assert_null(l.cx.txn);
	t = http_txn_get(&s);
	eval_init(&l, &s, SAMPLE_AT_REQ | SAMPLE_AT_RES);
	assert_ptr_equal(l.cx.txn, &t->vars);
	assert_ptr_equal(l.cx.reqv, &t->message_vars);
	assert_null(l.cx.resv);
	/* The heads are incomplete. */
	assert_null(l.cx.req);
	assert_null(l.cx.res);
	t->head_ms = 1;
	t->res.status = 200;
	eval_init(&l, &s, SAMPLE_AT_REQ | SAMPLE_AT_RES);
	assert_ptr_equal(l.cx.req, &t->req);
	assert_ptr_equal(l.cx.res, &t->res);
	eval_init(&l, &s, SAMPLE_AT_CONN);
	assert_null(l.cx.req);
	/* After they were sent their texts are gone. */
	t->placed = 1;
	t->res_ms = 1;
	eval_init(&l, &s, SAMPLE_AT_REQ | SAMPLE_AT_RES);
	assert_null(l.cx.req);
	assert_null(l.cx.res);
	/* Variables of the request end where the response begins, once. */
	assert_int_equal(var_store(&l.cx, (struct var_name){ .scope = VAR_REQ, .id = 1 }, &value),
		0);
	http_end_req_vars(t);
	eval_init(&l, &s, SAMPLE_AT_RES);
	assert_null(l.cx.reqv);
	assert_int_equal(var_find(&l.cx, (struct var_name){ .scope = VAR_RES, .id = 1 }, &value),
		0);
	assert_int_equal(var_store(&l.cx, (struct var_name){ .scope = VAR_RES, .id = 1 }, &value),
		0);
	http_end_req_vars(t);
	assert_int_equal(var_find(&l.cx, (struct var_name){ .scope = VAR_RES, .id = 1 }, &value),
		1);
	/* Variables of the transaction end with it. */
	assert_int_equal(var_store(&l.cx, (struct var_name){ .scope = VAR_TXN, .id = 1 }, &value),
		0);
	http_txn_put(&s);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_transaction_is_new),
		cmocka_unit_test(a_silent_client_has_a_transaction_too),
		cmocka_unit_test(rules_see_variables_and_complete_heads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
