#include "proxy/sample/capture_rule.h"

#include "unit/proxy/log_rig.h"

static struct log_world w;

static const char *
written(const char *format)
{
	return log_world_format(&w, format, 1);
}

static void
line_is(const char *text)
{
	log_rig_line_keep(&capture_txn, text);
}

static void
fetches_read_the_slots(void **state)
{
	(void)state;
	capture_open(&w);
	assert_string_equal(written("%[capture.req.hdr(0)] %[capture.res.hdr(0)]"), "- -");
	capture_put(&w.s, CAPTURE_REQUEST, 0, STR("h"));
	capture_put(&w.s, CAPTURE_RESPONSE, 0, STR("s"));
	assert_string_equal(written("%[capture.req.hdr(0)] %[capture.res.hdr(0),upper]"), "h S");
	assert_string_equal(written("%[capture.req.hdr(1)] %[capture.res.hdr(255)]"), "- -");
	capture_close(&w);
}

static void
fetches_read_the_request_line(void **state)
{
#define LINE "%[capture.req.method] %[capture.req.uri] %[capture.req.ver] %[capture.res.ver]"
	(void)state;
	capture_open(&w);
	capture_txn.version = HTTP_1_0;
	line_is("GET /a?b HTTP/1.0");
	assert_string_equal(written(LINE), "GET /a?b HTTP/1.0 -");
	line_is("GET http://h:80/a?b HTTP/1.1");
	capture_txn.version = HTTP_1_1;
	capture_txn.has_res_version = 1;
	capture_txn.res_version = HTTP_1_0;
	assert_string_equal(written(LINE), "GET /a?b HTTP/1.1 HTTP/1.0");
	line_is("OPTIONS * HTTP/1.1");
	assert_string_equal(written("%[capture.req.uri]"), "-");
	/* No request was parsed. */
	line_is("");
	capture_txn.head_ms = 0;
	capture_txn.has_res_version = 0;
	assert_string_equal(written(LINE), "- - - -");
	w.s.txn = NULL;
	assert_string_equal(written(LINE), "- - - -");
	capture_close(&w);
}

static void
converters_fill_the_slots(void **state)
{
	(void)state;
	capture_open(&w);
	assert_string_equal(written("%[str(abcdefgh),capture-req(0)]"), "abcdefgh");
	capture_is(&w, CAPTURE_REQUEST, 0, "abcde");
	assert_string_equal(written("%[int(7),capture-res(0)]"), "7");
	capture_is(&w, CAPTURE_RESPONSE, 0, "7");
	/* Captured into itself. */
	assert_string_equal(written("%[capture.req.hdr(0),bytes(1),capture-req(0)]"), "bcde");
	capture_is(&w, CAPTURE_REQUEST, 0, "bcde");
	/* There is no such slot: no result. */
	assert_string_equal(written("%[str(a),capture-req(2)] %[str(a),capture-res(1)]"), "- -");
	capture_close(&w);
}

static void
slots_that_do_not_exist_are_refused(void **state)
{
	static const struct {
		const char *format, *says;
	} rows[] = {
		{ "%[capture.req.hdr]", "" },
		{ "%[capture.req.hdr(-1)]", "0 to 255" },
		{ "%[capture.req.hdr(256)]", "0 to 255" },
		{ "%[str(a),capture-res(256)]", "0 to 255" },
		{ "%[str(a),capture-req]", "" },
	};
	struct rule_vocab vocab;
	struct rule_err why;
	struct rule_fmt *f;

	(void)state;
	proxy_vocab_init(&vocab);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(log_format_compile(&vocab, rows[i].format, 1, &f, &why) < 0);
		if (!strstr(why.text, rows[i].says))
			fail_msg("%s", why.text);
	}
	/* In mode tcp there is no request line, and it is no error; rules can capture. */
	assert_int_equal(log_format_compile(&vocab, "%[capture.req.uri]", 0, &f, &why), 0);
	rule_fmt_free(&f);
	assert_int_equal(log_format_compile(&vocab, "%[capture.req.hdr(0)]", 0, &f, &why), 0);
	rule_fmt_free(&f);
}

static void
without_a_session_nothing_is_found(void **state)
{
	struct sample_ctx cx = { .at = 0 };

	(void)state;
	/* Without a session nothing is found, and nothing crashes. */
	for (const struct rule_fetch *f = capture_fetches; f->name; f++) {
		struct rule_args a = { .kind = f->kind };
		struct sample s = { 0 };

		assert_non_null(f->doc);
		assert_int_equal(f->fetch(&a, &cx, &s), 0);
	}
	for (const struct rule_conv *c = capture_convs; c->name; c++) {
		struct rule_args a = { .kind = c->kind };
		struct sample s = { .type = SAMPLE_STR };

		assert_non_null(c->doc);
		assert_int_equal(c->conv(&a, &cx, &s), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fetches_read_the_slots),
		cmocka_unit_test(fetches_read_the_request_line),
		cmocka_unit_test(converters_fill_the_slots),
		cmocka_unit_test(slots_that_do_not_exist_are_refused),
		cmocka_unit_test(without_a_session_nothing_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
