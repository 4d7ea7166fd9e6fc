/*
 * Rules: the first byte sets how much memory there is for texts, the rest are lines of a section,
 * rules and ACLs of every place. They are rejected with a text, or run on a request and a
 * response. Heads stay valid: written out they are parsed as the same message, and so is a
 * response made by the rules.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fake/random.h"
#include "http/h1_parse.h"
#include "http/h1_write.h"
#include "lines.h"
#include "rule/action/action.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 128, FIELDS = 24, WRITTEN = 1 << 20, AGAIN_MAX = 100 };

static const char request[] =
	"POST /p/a?x=1&y=2 HTTP/1.1\r\nHost: h:8\r\nX: a,\"b,c\\\",d\r\nx: 1,2,,3\r\n"
	"Cookie: a=1; b=\"2;\"; c\r\nAuthorization: Basic YTpi\r\nContent-Length: 5\r\n\r\n";
static const char response[] =
	"HTTP/1.1 200 OK\r\nSet-Cookie: a=1; p\r\nX: 5, 1.2.3.4:5\r\nContent-Length: 0\r\n\r\n";

struct world {
	struct lines lines;
	struct list rules[RULE_PLACES + 1]; /* the last: lines "redirect" */
	struct http_head req, res, answer;
	struct http_field fields[2][FIELDS], answers[RULE_ANSWER_FIELDS_MAX];
	struct vars vars[VAR_SCOPES];
	struct sample_ctx cx;
};

static int
parse_rule(struct cfg_ctx *ctx)
{
	struct world *w = ctx->root;
	struct list *to = &w->rules[ctx->kw->arg];
	struct lines *l = &w->lines;

	if (ctx->kw->arg == RULE_PLACES)
		return rule_parse_redirect(to, &l->acls, &l->vocab, ctx);
	return rule_parse(to, (enum rule_place)ctx->kw->arg, &l->acls, &l->vocab, ctx);
}

#define KW(n, place) LINES_KW(n, parse_rule, place)

static const struct cfg_kw kws[] = {
	KW("tcp-request connection", RULE_TCP_CONNECTION),
	KW("tcp-request session", RULE_TCP_SESSION),
	KW("tcp-request content", RULE_TCP_REQ_CONTENT),
	KW("tcp-response content", RULE_TCP_RES_CONTENT),
	KW("http-request", RULE_HTTP_REQUEST),
	KW("http-response", RULE_HTTP_RESPONSE),
	KW("http-after-response", RULE_HTTP_AFTER_RESPONSE),
	KW("redirect", RULE_PLACES),
	LINES_ACL,
	{ 0 },
};
static int
read_lines(struct world *w, const uint8_t *data, size_t size)
{
	int bad = lines_read(&w->lines, kws, data, size);

	for (int i = 0; i <= RULE_PLACES && !bad; i++)
		bad = rules_check(&w->rules[i], w, &w->lines.diag);
	return bad;
}

/* Another parser reads one complete message from the bytes, and nothing after it. */
static void
check_head(const struct http_head *h)
{
	static char out[WRITTEN];
	struct http_field fields[RULE_ANSWER_FIELDS_MAX];
	struct h1_parser p = { 0 };
	struct http_head again;
	size_t n = h1_size(h), used = 0;
	int rc;

	expect(n <= sizeof(out) && h1_write(h, out) == n);
	http_head_init(&again, h->kind, fields, RULE_ANSWER_FIELDS_MAX);
	rc = h->kind == HTTP_REQUEST ? h1_parse_request(&p, out, n, &again, &used)
				     : h1_parse_response(&p, out, n, &again, &used);
	expect(rc == HTTP_COMPLETE && used == n);
}

static void
run(struct world *w, int place)
{
	struct rule_outcome v = { .head = &w->answer };
	const struct rule *next = NULL;
	enum rule_result r;
	int times = 0;

	w->cx.at =
		rule_place_scope(place == RULE_PLACES ? RULE_HTTP_REQUEST : (enum rule_place)place);
	w->cx.res = w->cx.at & SAMPLE_AT_RES ? &w->res : NULL;
	w->cx.req_ended = 0;
	do {
		r = rules_run(&w->rules[place], &next, &w->cx, &v);
		expect(r == RULE_CONT || r == RULE_STOP || r == RULE_FINAL || r == RULE_YIELD);
		expect((r == RULE_YIELD) == (next != NULL));
		expect((r == RULE_FINAL) == (v.what != RULE_END_NONE));
		/* Rules wait only while more data may arrive. */
		w->cx.req_ended = times > 0;
		w->cx.req_body.is_whole = 1;
		expect(times++ < AGAIN_MAX);
	} while (r == RULE_YIELD && times < 4);
	expect(w->cx.arena->used <= w->cx.arena->cap);
	check_head(&w->req);
	check_head(&w->res);
	if (v.has_answer)
		check_head(v.head);
}

static void
run_all(struct world *w, size_t room)
{
	static struct regex_work *work;
	struct h1_parser p = { 0 }, q = { 0 };
	struct arena arena = { .p = malloc(room + 1), .cap = room };
	struct fake_random random_world;
	size_t used;

	fake_random_init(&random_world);
	if (!work)
		work = regex_work_new();
	expect(arena.p && work);
	http_head_init(&w->req, HTTP_REQUEST, w->fields[0], FIELDS);
	http_head_init(&w->res, HTTP_RESPONSE, w->fields[1], FIELDS);
	http_head_init(&w->answer, HTTP_RESPONSE, w->answers, RULE_ANSWER_FIELDS_MAX);
	expect(h1_parse_request(&p, request, sizeof(request) - 1, &w->req, &used) ==
		HTTP_COMPLETE);
	expect(h1_parse_response(&q, response, sizeof(response) - 1, &w->res, &used) ==
		HTTP_COMPLETE);
	w->cx = (struct sample_ctx){
		.req = &w->req,
		.req_body = { .content = STR("a=1&b") },
		.req_bytes = { request, sizeof(request) - 1 },
		.proc = &w->vars[VAR_PROC],
		.sess = &w->vars[VAR_SESS],
		.txn = &w->vars[VAR_TXN],
		.reqv = &w->vars[VAR_REQ],
		.resv = &w->vars[VAR_RES],
		.arena = &arena,
		.regex = work,
		.random = &random_world.source,
		.wall_ns = UINT64_C(1700000000123456789),
	};
	for (int i = 0; i <= RULE_PLACES; i++)
		run(w, i);
	free(arena.p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rule_action *const actions[] = { rule_head_actions, rule_uri_actions,
		rule_var_actions, rule_end_actions, rule_redirect_actions, rule_misc_actions,
		rule_auth_actions, rule_map_actions, rule_service_actions };
	static struct world w;

	memset(&w, 0, sizeof(w));
	lines_open(&w.lines);
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		expect(rule_vocab_add_actions(&w.lines.vocab, actions[i]) == 0);
	for (int i = 0; i <= RULE_PLACES; i++)
		list_init(&w.rules[i]);
	for (int i = 0; i < VAR_SCOPES; i++)
		vars_init(&w.vars[i]);
	if (read_lines(&w, size ? data + 1 : NULL, size ? size - 1 : 0) == 0)
		run_all(&w, size ? (size_t)data[0] * ROOM : 0);
	for (int i = 0; i <= RULE_PLACES; i++)
		rules_free(&w.rules[i]);
	for (int i = 0; i < VAR_SCOPES; i++)
		vars_fini(&w.vars[i]);
	lines_close(&w.lines);
	return 0;
}
