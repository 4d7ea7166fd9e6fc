#include "proxy/model/errors.c"

#include "unit/rule/expr_rig.h"
#include "http/h1_write.h"

static struct http_rig h;
static struct error_page *p;
static struct http_head head;
static struct http_field fields[HTTP_REPLY_FIELDS];
static struct str body;

static int
setup(void **state)
{
	(void)state;
	rig_init(&h.r);
	rig_request(&h, "GET /p HTTP/1.1\r\nHost: h\r\n\r\n");
	http_head_init(&head, HTTP_RESPONSE, fields, ARRAY_LEN(fields));
	p = error_page_new(503);
	return p ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	error_page_put(&p);
	rig_fini(&h.r);
	return 0;
}

static struct rule_fmt *
fmt(const char *text)
{
	struct rule_fmt *f = NULL;

	if (rule_fmt_compile(&h.r.vocab, text, 0, RIG_EVERYWHERE, &f, &h.r.why) < 0)
		fail_msg("%s: %s", text, h.r.why.text);
	return f;
}

/* The head and the body, with '|' between lines. */
static const char *
made(void)
{
	static char text[4096];
	size_t n, k = 0;

	if (error_page_make(p, &h.r.cx, &head, &body) < 0)
		return "-";
	assert_int_equal(head.framing, HTTP_BODY_LENGTH);
	assert_int_equal(head.length, body.len);
	assert_true(h1_size(&head) + body.len < sizeof(text));
	n = h1_write(&head, text);
	memcpy(text + n, body.p, body.len);
	for (size_t i = 0; i < n + body.len; i++)
		if (text[i] != '\r')
			text[k++] = (char)(text[i] == '\n' ? '|' : text[i]);
	text[k] = '\0';
	arena_release(&h.r.arena, 0);
	return text;
}

static void
formats_are_written(void **state)
{
	(void)state;
	p->type = mem_strdup("a/b");
	p->fmt = fmt("at %[path]!");
	assert_int_equal(error_page_add_hdr(p, "X-P", fmt("%[path]")), 0);
	assert_int_equal(error_page_add_hdr(p, "X-None", fmt("%[req.hdr(none)]")), 0);
	assert_string_equal(made(), "HTTP/1.1 503 Service Unavailable|X-P: /p|Content-Length: 6|"
				    "Content-Type: a/b||at /p!");
	/* the request's head was sent */
	h.r.cx.req = NULL;
	assert_string_equal(made(), "HTTP/1.1 503 Service Unavailable|Content-Length: 4|"
				    "Content-Type: a/b||at !");
}

static void
text_stays_as_it_is(void **state)
{
	(void)state;
	p->type = mem_strdup("a/b");
	p->text = mem_strdup("%[path]");
	p->len = 7;
	assert_int_equal(error_page_add_hdr(p, "X-P", fmt("%[path]")), 0);
	assert_string_equal(made(), "HTTP/1.1 503 Service Unavailable|X-P: /p|Content-Length: 7|"
				    "Content-Type: a/b||%[path]");
}

/* A page with an empty body has no Content-Type. */
static void
nothing_to_say(void **state)
{
	(void)state;
	p->type = mem_strdup("a/b");
	p->fmt = fmt("%[req.hdr(none)]");
	assert_string_equal(made(), "HTTP/1.1 503 Service Unavailable|Content-Length: 0||");
}

static void
without_room(void **state)
{
	(void)state;
	p->type = mem_strdup("a/b");
	p->fmt = fmt("at %[path]!");
	for (size_t cap = 0; cap < 8; cap++) {
		h.r.arena.cap = cap;
		assert_string_equal(made(), "-");
		arena_release(&h.r.arena, 0);
	}
	h.r.arena.cap = RIG_ARENA;
	head.max = 1;
	assert_string_equal(made(), "-");
}

static void
references(void **state)
{
	struct error_page *q = error_page_get(p);

	(void)state;
	error_page_put(&q);
	assert_null(q);
	error_page_put(&q);
	assert_int_equal(error_page_check(p, NULL, &h.r.why), 0);
	assert_int_equal(p->refs, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(formats_are_written),
		CASE(text_stays_as_it_is),
		CASE(nothing_to_say),
		CASE(without_room),
		CASE(references),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
