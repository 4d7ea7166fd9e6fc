/* The rare members of streams: allocated once, bounded by tune.memory, released. */
#include "unit/proxy/session_rig.h"

#include "proxy/model/stream_extras.h"

static struct session sess;
static struct stream s;

static void
open_stream(void)
{
	static const struct world_config cfg = { RIG_WORLD };
	static const struct step end[] = { { STEP_END, 0 } };

	rig_open(&cfg, end);
	sess = (struct session){ .fe = w.px };
	s = (struct stream){ .engine = &w.engine, .sess = &sess };
}

static void
are_allocated_once(void **st)
{
	struct stream_extras *x;

	(void)st;
	open_stream();
	assert_null(stream_upgraded_to(&s));
	stream_extras_end(&s);
	x = stream_extras_get(&s);
	assert_non_null(x);
	assert_null(x->upgraded_to);
	assert_null(x->asks);
	x->upgraded_to = w.px;
	assert_ptr_equal(stream_extras_get(&s), x);
	assert_ptr_equal(stream_upgraded_to(&s), w.px);
	assert_int_equal(memory_live(&w.engine), w.engine.extras_pool.size);
	stream_extras_end(&s);
	assert_null(s.extras);
	assert_null(stream_upgraded_to(&s));
	assert_int_equal(memory_live(&w.engine), 0);
	/* The next ones are empty. */
	x = stream_extras_get(&s);
	assert_non_null(x);
	assert_null(x->upgraded_to);
	stream_extras_end(&s);
	rig_close();
}

static void
are_bounded(void **st)
{
	(void)st;
	open_stream();
	w.engine.max_memory = w.engine.extras_pool.size - 1;
	assert_null(stream_extras_get(&s));
	w.engine.max_memory++;
	assert_non_null(stream_extras_get(&s));
	stream_extras_end(&s);
	w.engine.max_memory = 0;
	rig_close();
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_allocated_once),
		cmocka_unit_test(are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
