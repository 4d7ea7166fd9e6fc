#include "proxy/sample/eval.h"

#include "unit/proxy/log_rig.h"

#include "base/err.h"
#include "base/mem.h"
#include "rule/sample/var.h"

static void
test_room(void **state)
{
	struct eval_scratch room;

	(void)state;
	assert_int_equal(eval_scratch_init(&room, 100, NULL), 0);
	assert_int_equal(room.arena.max, 100);
	assert_non_null(room.regex);
	for (int i = 0; i < EVAL_SCRATCH_VALUES; i++)
		assert_non_null(arena_get(&room.arena, 100));
	eval_scratch_fini(&room);
	assert_null(room.arena.p);
	eval_scratch_fini(&room);
}

/* All that expressions may use is there, also for a session that is not logged. */
static void
test_context_of_a_session(void **state)
{
	static struct log_world w;
	struct eval l;
	struct sample s = { 0 };
	struct var_name name;
	const char *why;

	(void)state;
	log_world_init(&w);
	w.engine.eval.arena.p = NULL;
	assert_int_equal(eval_scratch_init(&w.engine.eval, 100, w.engine.sys), 0);
	eval_init(&l, &w.s, SAMPLE_AT_CONN);
	assert_int_equal(l.cx.at, SAMPLE_AT_CONN);
	assert_ptr_equal(l.cx.stream, &w.s);
	assert_ptr_equal(l.cx.log, &l.log);
	assert_non_null(l.log.id);
	assert_non_null(l.log.wall);
	assert_ptr_equal(l.cx.arena, &w.engine.eval.arena);
	assert_ptr_equal(l.cx.regex, w.engine.eval.regex);
	assert_ptr_equal(l.cx.random, &w.engine.eval.random);
	assert_ptr_equal(l.cx.random->sys, w.engine.sys);
	assert_int_equal(var_name_parse(STR("sess.x"), &name, &why), 0);
	sample_set_int(&s, 5);
	assert_int_equal(var_store(&l.cx, name, &s), 0);
	assert_int_equal(var_find(&l.cx, name, &s), 1);
	assert_int_equal(var_name_parse(STR("txn.x"), &name, &why), 0);
	/* in mode tcp the session has the role of the transaction */
	assert_int_equal(var_find(&l.cx, name, &s), 0);
	assert_int_equal(var_store(&l.cx, name, &s), 0);
	assert_int_equal(var_find(&l.cx, name, &s), 1);
	assert_int_equal(var_name_parse(STR("req.x"), &name, &why), 0);
	assert_int_equal(var_find(&l.cx, name, &s), 0);
	/* in mode http there is a transaction, or none */
	w.fe.mode = PROXY_HTTP;
	w.s.is_http = 1;
	eval_init(&l, &w.s, SAMPLE_AT_CONN);
	assert_int_equal(var_store(&l.cx, name, &s), -ERR_MISSING);
	vars_fini(&w.s.sess->vars);
	eval_scratch_fini(&w.engine.eval);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_context_of_a_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
