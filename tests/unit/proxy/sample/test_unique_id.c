#include "proxy/sample/unique_id.h"

#include "unit/proxy/log_rig.h"

static struct log_world w;

static struct http_field room[8];

static void
use(const char *format)
{
	struct rule_vocab vocab;
	struct rule_err why;

	proxy_vocab_init(&vocab);
	capture_open(&w);
	captures_end(&w.s);
	pool_fini(&w.engine.pools.capture);
	capture_slot(&w, CAPTURE_ID, NULL, UNIQUE_ID_MAX);
	capture_conf_finish(&w.fe.captures);
	engine_allow_captures(&w.engine, w.fe.captures.size);
	captures_begin(&w.s);
	if (rule_fmt_compile(&vocab, format, RULE_FMT_MERGE,
		    SAMPLE_AT_CONN | SAMPLE_AT_REQ | SAMPLE_AT_TXN, &w.fe.unique_id.fmt,
		    &why) < 0)
		fail_msg("%s: %s", format, why.text);
}

static void
done(void)
{
	rule_fmt_free(&w.fe.unique_id.fmt);
	capture_close(&w);
}

static void
is(const char *want)
{
	struct str id;

	if (!unique_id_get(&w.s, &w.engine.eval.arena, &id)) {
		assert_null(want);
		return;
	}
	if (!want || !str_is(id, str_of(want)))
		fail_msg("\"%.*s\", not \"%s\"", (int)id.len, id.p, want ? want : "(none)");
}

static void
an_id_is_made_once(void **state)
{
	(void)state;
	use("%ci:%{+X}cp  x");
	is("10.0.1.2:8221 x");
	log_world_addr(&w.s.sess->peer, "1::2", 5);
	is("10.0.1.2:8221 x");
	/* The next request has another id. */
	captures_end(&w.s);
	captures_begin(&w.s);
	is("1::2:0005 x");
	assert_string_equal(log_world_line(&w, "%ID|%{+Q}ID|%[unique-id,length]"),
		"1::2:0005 x|\"1::2:0005 x\"|11");
	assert_int_equal(arena_mark(&w.engine.eval.arena), 0);
	done();
}

static void
a_long_id_is_cut(void **state)
{
	char want[UNIQUE_ID_MAX + 1];

	(void)state;
	use("%[str(0123456789),concat(0123456789),concat(0123456789),concat(0123456789)]"
	    "%[str(0123456789),concat(0123456789),concat(0123456789),concat(0123456789)]"
	    "%[str(0123456789),concat(0123456789),concat(0123456789),concat(0123456789)]"
	    "%[str(0123456789),concat(0123456789),concat(0123456789),concat(0123456789)]");
	for (size_t i = 0; i < UNIQUE_ID_MAX; i++)
		want[i] = (char)('0' + i % 10);
	want[UNIQUE_ID_MAX] = '\0';
	is(want);
	done();
}

static void
without_memory_there_is_no_id(void **state)
{
	struct str id;

	(void)state;
	/* The head is incomplete, or there is no memory for the id. */
	use("x%ID%[unique-id]y");
	capture_txn.head_ms = 0;
	is(NULL);
	capture_txn.head_ms = 1;
	/* The format cannot refer to the id itself. */
	is("xy");
	captures_end(&w.s);
	is(NULL);
	assert_string_equal(log_world_line(&w, "%ID %{+Q}ID"), "- \"\"");
	done();
	/* A session in mode tcp has an id. */
	use("%ci");
	w.fe.mode = PROXY_TCP;
	w.s.is_http = 0;
	w.s.txn = NULL;
	is("10.0.1.2");
	done();
	/* Without a format. */
	capture_open(&w);
	assert_int_equal(unique_id_get(&w.s, &w.engine.eval.arena, &id), 0);
	capture_close(&w);
}

static void
the_id_is_sent_in_a_header(void **state)
{
	static char name[] = "X-Id";
	struct http_head head;
	struct str id;

	(void)state;
	use("%f");
	http_head_init(&head, HTTP_REQUEST, room, ARRAY_LEN(room));
	assert_int_equal(unique_id_add(&w.s, &head), 0);
	assert_int_equal(head.n, 0);
	/* The id is made nevertheless: later the request's head is gone. */
	assert_int_equal(capture_get(&w.s, CAPTURE_ID, 0, &id), 1);
	w.fe.unique_id.header = name;
	/* A field of the client with that name stays. */
	assert_int_equal(http_add(&head, STR("x-id"), STR("mine")), 0);
	assert_int_equal(unique_id_add(&w.s, &head), 0);
	assert_int_equal(head.n, 2);
	assert_true(str_is(head.field[1].name, STR("X-Id")));
	assert_true(str_is(head.field[1].value, STR("fnt")));
	done();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_is_made_once),
		cmocka_unit_test(a_long_id_is_cut),
		cmocka_unit_test(without_memory_there_is_no_id),
		cmocka_unit_test(the_id_is_sent_in_a_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
