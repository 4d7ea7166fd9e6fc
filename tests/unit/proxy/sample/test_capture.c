/* Captured texts: their lengths, and from which fields and cookies. */
#include "unit/proxy/log_rig.h"

static struct log_world w;

static struct http_field room[16];
static struct http_head head;

/* name, value, name, value, ... NULL */
static const struct http_head *
head_of(enum http_kind kind, const char *const *text)
{
	http_head_init(&head, kind, room, ARRAY_LEN(room));
	for (; *text; text += 2)
		assert_int_equal(http_add(&head, str_of(text[0]), str_of(text[1])), 0);
	return &head;
}

#define HEAD(kind, ...) head_of(kind, (const char *const[]){ __VA_ARGS__, NULL })

static void
texts_are_cut_at_the_slots_length(void **state)
{
	struct str got;

	(void)state;
	capture_open(&w);
	capture_is(&w, CAPTURE_REQUEST, 0, NULL);
	capture_put(&w.s, CAPTURE_REQUEST, 0, STR("1234567"));
	capture_put(&w.s, CAPTURE_REQUEST, 1, STR("12345678"));
	capture_is(&w, CAPTURE_REQUEST, 0, "12345");
	capture_is(&w, CAPTURE_REQUEST, 1, "12345678");
	capture_is(&w, CAPTURE_RESPONSE, 0, NULL);
	/* Captured again, and empty. */
	assert_true(capture_get(&w.s, CAPTURE_REQUEST, 1, &got));
	capture_put(&w.s, CAPTURE_REQUEST, 1, (struct str){ got.p + 2, 3 });
	capture_is(&w, CAPTURE_REQUEST, 1, "345");
	capture_put(&w.s, CAPTURE_REQUEST, 1, STR(""));
	capture_is(&w, CAPTURE_REQUEST, 1, "");
	capture_is(&w, CAPTURE_REQUEST, 0, "12345");
	/* There is no such slot. */
	capture_put(&w.s, CAPTURE_REQUEST, 2, STR("x"));
	capture_is(&w, CAPTURE_REQUEST, 2, NULL);
	capture_is(&w, CAPTURE_ID, 0, NULL);
	capture_close(&w);
	capture_is(&w, CAPTURE_REQUEST, 0, NULL);
}

static void
the_last_field_of_a_name_is_captured(void **state)
{
	(void)state;
	capture_open(&w);
	capture_fields(&w.s, HEAD(HTTP_REQUEST, "host", "one", "Server", "no", "Host", "two, 3"));
	capture_is(&w, CAPTURE_REQUEST, 0, "two, ");
	capture_is(&w, CAPTURE_REQUEST, 1, NULL);
	capture_is(&w, CAPTURE_RESPONSE, 0, NULL);
	/* A head without that field changes nothing. */
	capture_fields(&w.s, HEAD(HTTP_RESPONSE, "x-server", "a"));
	capture_is(&w, CAPTURE_RESPONSE, 0, NULL);
	capture_fields(&w.s, HEAD(HTTP_RESPONSE, "server", ""));
	capture_is(&w, CAPTURE_RESPONSE, 0, "");
	(void)http_drop_all(&head, STR("server"));
	capture_close(&w);
	capture_fields(&w.s, HEAD(HTTP_REQUEST, "host", "one"));
}

/* Captures by rules are kept: they do not belong to the head. */
static void
test_fields_are_dropped(void **state)
{
	(void)state;
	capture_open(&w);
	capture_put(&w.s, CAPTURE_REQUEST, 1, STR("rule"));
	capture_fields(&w.s, HEAD(HTTP_REQUEST, "host", "one"));
	capture_fields(&w.s, HEAD(HTTP_RESPONSE, "server", "two"));
	capture_drop_fields(&w.s, CAPTURE_REQUEST);
	capture_is(&w, CAPTURE_REQUEST, 0, NULL);
	capture_is(&w, CAPTURE_REQUEST, 1, "rule");
	capture_is(&w, CAPTURE_RESPONSE, 0, "two");
	capture_close(&w);
	capture_drop_fields(&w.s, CAPTURE_REQUEST);
}

/* The results of HAProxy 2.6. */
static void
cookies_are_captured_by_their_beginning(void **state)
{
	static const struct {
		const char *name, *field, *request, *response;
	} rows[] = {
		{ "SID", "a=1; SIDx=2; SID=3", "SIDx=2", NULL },
		{ "SID=", "a=1; SIDx=2; SID=3", "SID=3", NULL },
		{ "SID=3", "SID=; SID=31", "SID=31", NULL },
		{ "SID", "SID = a b ; c=d", "SID=a b", "SID=a b" },
		{ "SID", "SID=\"a;b\" ; c=d", "SID=\"a;b", "SID=\"a;b" },
		{ "SID", "x=1, SID=2; y", "SID=2", NULL },
		{ "SID", "SIDxyz; SID=1", "SID=1", NULL },
		{ "SID", "SID=", "SID=", "SID=" },
		{ "SID", "sid=1; xSID=2", NULL, NULL },
		{ "SIDLONGNAME", "SIDLONGNAME=1", "SIDLONGN", "SIDLONGN" },
		{ "SIDs", "SID=s", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		capture_open(&w);
		capture_forget(&w.fe.captures, CAPTURE_COOKIE);
		capture_slot(&w, CAPTURE_COOKIE, rows[i].name, 8);
		capture_slot(&w, CAPTURE_COOKIE, rows[i].name, 8);
		capture_conf_finish(&w.fe.captures);
		capture_cookie(&w.s, HEAD(HTTP_REQUEST, "Cookie", rows[i].field));
		capture_is(&w, CAPTURE_COOKIE, 0, rows[i].request);
		capture_is(&w, CAPTURE_COOKIE, 1, NULL);
		capture_cookie(&w.s, HEAD(HTTP_RESPONSE, "Set-Cookie", rows[i].field));
		capture_is(&w, CAPTURE_COOKIE, 1, rows[i].response);
		capture_close(&w);
	}
	capture_open(&w);
	capture_cookie(&w.s, HEAD(HTTP_RESPONSE, "Set-Cookie", "a=1; SID=2", "set-cookie",
				     "SID=3; path=/", "Set-Cookie", "SID=4"));
	capture_is(&w, CAPTURE_COOKIE, 1, "SID=3");
	capture_close(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_cut_at_the_slots_length),
		cmocka_unit_test(the_last_field_of_a_name_is_captured),
		cmocka_unit_test(test_fields_are_dropped),
		cmocka_unit_test(cookies_are_captured_by_their_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
