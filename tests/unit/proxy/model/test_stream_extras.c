/* The rare members of streams: allocated once, bounded by tune.memory, released; entries that
 * streams and sessions track. */
#include "unit/proxy/session_rig.h"

#include "base/keyhash.h"
#include "proxy/model/stream_extras.h"

static struct session sess;
static struct table *table;
#define s sess.stream

static void
open_stream(void)
{
	static const struct world_config cfg = { RIG_WORLD };
	static const struct step end[] = { { STEP_END, 0 } };

	rig_open(&cfg, end);
	sess = (struct session){ .fe = w.px };
	s.engine = &w.engine;
	s.sess = &sess;
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
	assert_int_equal(memory_live(&w.engine), w.engine.pools.extras.size);
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
	w.engine.limits.max_memory = w.engine.pools.extras.size - 1;
	assert_null(stream_extras_get(&s));
	w.engine.limits.max_memory++;
	assert_non_null(stream_extras_get(&s));
	stream_extras_end(&s);
	w.engine.limits.max_memory = 0;
	rig_close();
}

/* --- tracked entries --- */

static void
open_table(void)
{
	struct table_conf c = { .type = TABLE_INTEGER, .key_len = 4, .size = 10,
		.brates_factor = 1 };

	open_stream();
	engine_allow_tracking(&w.engine, 2);
	for (int i = 0; i < TABLE_DATA_TYPES; i++)
		if (table_data_info[i].kind == TABLE_KIND_U32)
			c.store[i].n = !(table_data_info[i].flags & TABLE_ARRAY);
	table = table_new("t", &c, &keyhash_known);
	assert_non_null(table);
}

static struct table_entry *
entry(uint32_t key)
{
	struct table_caller by = stream_table_caller(&s);
	struct table_entry *e;
	struct table_key k;

	assert_int_equal(table_key_int(table, &k, key), 0);
	e = table_get(table, &k, &by);
	assert_non_null(e);
	return e;
}

static void
has(uint32_t key, enum table_data type, uint64_t expected)
{
	struct table_caller by = stream_table_caller(&s);
	struct table_entry *e = entry(key);
	uint64_t v;

	assert_int_equal(table_read(table, e, type, 0, &by, &v), 0);
	assert_int_equal(v, expected);
	table_unref(e);
}

static void
close_table(void)
{
	stream_extras_free(&s);
	session_tracked_end(&sess);
	assert_null(sess.tracked);
	assert_null(s.extras);
	assert_int_equal(memory_live(&w.engine), 0);
	table_free(table);
	rig_close();
}

/* A stream sees what its session tracks, and its own entry in the same slot before it. */
static void
streams_see_what_their_session_tracks(void **st)
{
	(void)st;
	open_table();
	assert_null(stream_tracked(&s, 0));
	stream_track(&s, 1, 0, table, entry(1));
	stream_track(&s, 0, 1, table, entry(2));
	assert_ptr_equal(stream_tracked(&s, 0), &sess.tracked[0]);
	assert_ptr_equal(stream_tracked(&s, 1), &s.extras->tracked[1]);
	assert_null(stream_tracked(&s, 2));
	has(1, TABLE_CONN_CUR, 1);
	has(2, TABLE_CONN_CUR, 1);
	stream_count_tracked_request(&s);
	stream_count_tracked_request(&s);
	has(1, TABLE_HTTP_REQ_CNT, 1);
	has(2, TABLE_HTTP_REQ_CNT, 1);
	/* The next request: what the session tracks remains, and extras with it. */
	stream_extras_end(&s);
	assert_non_null(s.extras);
	assert_null(stream_tracked(&s, 1));
	has(2, TABLE_CONN_CUR, 0);
	stream_count_tracked_request(&s);
	has(1, TABLE_HTTP_REQ_CNT, 2);
	has(2, TABLE_HTTP_REQ_CNT, 1);
	close_table();
}

static void
errors_and_failures_are_counted(void **st)
{
	(void)st;
	open_table();
	stream_count_client_error(&s);
	stream_count_server_failure(&s);
	stream_track(&s, 0, 0, table, entry(1));
	stream_count_client_error(&s);
	stream_count_server_failure(&s);
	has(1, TABLE_HTTP_ERR_CNT, 1);
	has(1, TABLE_HTTP_FAIL_CNT, 1);
	for (unsigned int status = 400; status <= 599; status += 101)
		stream_count_tracked_status(&s, status);
	has(1, TABLE_HTTP_ERR_CNT, 2);
	has(1, TABLE_HTTP_FAIL_CNT, 1);
	stream_count_tracked_status(&s, 500);
	has(1, TABLE_HTTP_FAIL_CNT, 2);
	/* A request that is late is no error. */
	stream_count_refused(&s, 408);
	has(1, TABLE_HTTP_REQ_CNT, 1);
	has(1, TABLE_HTTP_ERR_CNT, 2);
	stream_count_refused(&s, 400);
	has(1, TABLE_HTTP_REQ_CNT, 1);
	has(1, TABLE_HTTP_ERR_CNT, 3);
	close_table();
}

/* Without memory nothing is tracked, and no reference is left. */
static void
tracking_is_bounded(void **st)
{
	struct table_entry *e;

	(void)st;
	open_table();
	w.engine.limits.max_memory = w.engine.pools.extras.size + w.engine.pools.tracked.size - 1;
	e = entry(1);
	stream_track(&s, 1, 0, table, e);
	assert_null(sess.tracked);
	assert_null(stream_tracked(&s, 0));
	has(1, TABLE_CONN_CNT, 0);
	e = entry(1);
	assert_int_equal(table_refs(e), 0);
	table_unref(e);
	w.engine.limits.max_memory++;
	stream_track(&s, 1, 0, table, entry(1));
	assert_non_null(stream_tracked(&s, 0));
	w.engine.limits.max_memory = 0;
	close_table();
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_allocated_once),
		cmocka_unit_test(are_bounded),
		cmocka_unit_test(streams_see_what_their_session_tracks),
		cmocka_unit_test(errors_and_failures_are_counted),
		cmocka_unit_test(tracking_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
