#include "proxy/sample/fetch.h"

#include "unit/proxy/proxies_rig.h"

#include "http/h1_parse.h"
#include "rule/match/cond.h"
#include "rule/sample/expr.h"

#define LIST                                                                      \
	"userlist L\n user tiger password $1$abcdefgh$JwUHHj6d3iZojViDCToRQ. groups G\n" \
	" user scott insecure-password elgato groups G,H\n"                      \
	" user alone insecure-password x\n group G\n group H\n group I\n"

/* base64 of user:password */
#define TIGER "dGlnZXI6dGlnZXI="
#define SCOTT "c2NvdHQ6ZWxnYXRv"
#define SCOTT_WRONG "c2NvdHQ6ZWxnYXRP"
#define ALONE "YWxvbmU6eA=="
#define NOBODY "bm9ib2R5Ong="

static struct world w;
static struct sample_ctx cx;
static struct arena arena;
static char room[1024];
static struct http_head req;
static struct http_field fields[16];

static int
setup(void **state)
{
	(void)state;
	world_good(&w, LIST);
	arena = (struct arena){ .p = room, .cap = sizeof(room) };
	cx = (struct sample_ctx){ .at = SAMPLE_AT_REQ, .arena = &arena, .req_ended = 1 };
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	world_fini(&w);
	return 0;
}

static void
request_comes(const char *credentials)
{
	static char text[512];
	struct h1_parser p = { 0 };
	size_t used;

	(void)snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: h\r\n%s%s%s\r\n",
		credentials ? "Authorization: Basic " : "", credentials ? credentials : "",
		credentials ? "\r\n" : "");
	http_head_init(&req, HTTP_REQUEST, fields, ARRAY_LEN(fields));
	assert_int_equal(
		h1_parse_request(&p, text, strlen(text), &req, &used), HTTP_COMPLETE);
	cx.req = &req;
}

/* All values, each followed by '|'; "-" for a missing one. */
static const char *
values(const char *text)
{
	static char out[256];
	struct rule_expr *e;
	struct rule_err why;
	struct sample s;
	size_t used, n = 0;

	assert_int_equal(rule_expr_parse(&w.proxies.vocab, text, strlen(text), SAMPLE_AT_REQ, 0, &e,
				 &used, &why), 0);
	assert_int_equal(rule_expr_check(e, &w.proxies, &why), 0);
	(void)strcpy(out, "-");
	for (cx.nth = 0; rule_expr_eval_as(e, &cx, SAMPLE_STR, &s); cx.nth++) {
		n += (size_t)snprintf(
			out + n, sizeof(out) - n, "%.*s|", (int)s.u.str.len, s.u.str.p);
		/* The password was already verified. */
		cx.req = NULL;
		if (!s.has_more)
			break;
	}
	cx.nth = 0;
	cx.req = &req;
	arena_release(&arena, 0);
	rule_expr_free(&e);
	return out;
}

static void
users_and_groups(void **state)
{
	static const struct {
		const char *credentials, *auth, *user, *groups;
	} t[] = {
		{ TIGER, "1|", "tiger|", "G|" },
		{ SCOTT, "1|", "scott|", "H|G|" },
		{ SCOTT_WRONG, "0|", "-", "-" },
		{ ALONE, "1|", "alone|", "-" },
		{ NOBODY, "0|", "-", "-" },
		{ "e", "-", "-", "-" },
		{ NULL, "-", "-", "-" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		request_comes(t[i].credentials);
		assert_string_equal(values("http_auth(L)"), t[i].auth);
		assert_string_equal(values("http_auth_group(L)"), t[i].user);
		assert_string_equal(values("http_auth_groups(L)"), t[i].groups);
	}
	request_comes(SCOTT);
	arena.cap = 4;
	assert_string_equal(values("http_auth(L)"), "-");
}

/* As a rule of a frontend: valid, or the error. */
static const struct world_line lines[] = {
	{ "http_auth(L)", NULL },
	{ "http_auth_group(L) G", NULL },
	{ "http_auth_group(L) G H", NULL },
	{ "http_auth_group(L),lower g", NULL },
	{ "http_auth_group(L) -m beg X", NULL },
	{ "http_auth_group(L) -i G", NULL },
	{ "http_auth(M)", "'http_auth': there is no such userlist" },
	{ "http_auth_group(M) G", "there is no such userlist" },
	{ "http_auth_group(L) G X", "the userlist has no such group: 'X'" },
	{ "http_auth", "needs a string" },
};

static void
conditions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct world x;
		char text[2048];

		/* The userlist is defined after its use. */
		(void)snprintf(text, sizeof(text), WORLD_DEFAULTS " mode http\nlisten l\n"
			" bind 127.0.0.1:1\n http-request deny if { %s }\n" LIST, lines[i].line);
		world_load(&x, text);
		if (lines[i].error ? x.result == 0 || !strstr(x.printed, lines[i].error)
				   : x.result != 0)
			fail_msg("%s\n=> %d\n%s", text, x.result, x.printed);
		world_fini(&x);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(users_and_groups),
		cmocka_unit_test(conditions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
