/*
 * Rules: the first byte says how much room there is for texts, the rest are lines of a section,
 * rules and ACLs of every place. They are read, or refused with a text; what is read runs on a
 * request and a response. Whatever it does to them, heads stay heads: written out they are read
 * again as the same message, and so is an answer of the rules' own.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cfg/reader.h"
#include "http/parse.h"
#include "rule/action.h"
#include "rule/pattern_file.h"
#include "rule/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 128, FIELDS = 24, WRITTEN = 1 << 20, AGAIN_MAX = 100 };

static const char request[] =
	"POST /p/a?x=1&y=2 HTTP/1.1\r\nHost: h:8\r\nX: a,\"b,c\\\",d\r\nx: 1,2,,3\r\n"
	"Cookie: a=1; b=\"2;\"; c\r\nAuthorization: Basic YTpi\r\nContent-Length: 5\r\n\r\n";
static const char response[] =
	"HTTP/1.1 200 OK\r\nSet-Cookie: a=1; p\r\nX: 5, 1.2.3.4:5\r\nContent-Length: 0\r\n\r\n";

static void
expect(int ok)
{
	if (!ok)
		abort();
}

/* Nobody is asked for names. */
int __wrap_names_host(const char *host, int family, struct sockaddr_storage *out, socklen_t *len);

int
__wrap_names_host(const char *host, int family, struct sockaddr_storage *out, socklen_t *len)
{
	(void)host, (void)family, (void)out, (void)len;
	return -ERR_RESOLVE;
}

struct world {
	struct rule_vocab vocab;
	struct pattern_files files;
	struct rule_acls acls;
	struct list rules[RULE_PLACES + 1]; /* the last: lines "redirect" */
	struct http_head req, res, answer;
	struct http_field fields[2][FIELDS], answers[RULE_ANSWER_FIELDS_MAX];
	struct vars vars[VAR_SCOPES];
	struct sample_ctx cx;
};

static int
begin(struct cfg_ctx *ctx)
{
	ctx->obj = ctx->root;
	return 0;
}

static int
parse_acl(struct cfg_ctx *ctx)
{
	struct world *w = ctx->root;

	return rule_acl_parse(&w->acls, &w->vocab, ctx);
}

static int
parse_rule(struct cfg_ctx *ctx)
{
	struct world *w = ctx->root;
	struct list *to = &w->rules[ctx->kw->arg];

	if (ctx->kw->arg == RULE_PLACES)
		return rule_parse_redirect(to, &w->acls, &w->vocab, ctx);
	return rule_parse(to, (enum rule_place)ctx->kw->arg, &w->acls, &w->vocab, ctx);
}

#define KW(n, place)                                                                      \
	{                                                                                 \
		.name = n, .sections = CFG_FRONTEND, .max = CFG_ANY, .parse = parse_rule, \
		.arg = place                                                              \
	}

static const struct cfg_kw kws[] = {
	KW("tcp-request connection", RULE_TCP_CONNECTION),
	KW("tcp-request session", RULE_TCP_SESSION),
	KW("tcp-request content", RULE_TCP_REQ_CONTENT),
	KW("tcp-response content", RULE_TCP_RES_CONTENT),
	KW("http-request", RULE_HTTP_REQUEST),
	KW("http-response", RULE_HTTP_RESPONSE),
	KW("http-after-response", RULE_HTTP_AFTER_RESPONSE),
	KW("redirect", RULE_PLACES),
	{ .name = "acl", .sections = CFG_FRONTEND, .max = CFG_ANY, .parse = parse_acl },
	{ 0 },
};
static const struct cfg_section sections[] = {
	{ .name = "frontend", .bit = CFG_FRONTEND, .flags = CFG_SEC_NAMED, .begin = begin },
	{ 0 },
};
static const struct cfg_module module = { .name = "fuzz", .kws = kws, .sections = sections };

static int
read_lines(struct world *w, char *text, size_t len)
{
	static const struct cfg_facts facts = { .version = "3.4.0" };
	struct cfg_registry registry;
	struct cfg_diag diag;
	struct cfg_env env;
	struct cfg_reader reader;
	struct cfg_reader_opts opts = {
		.root = w,
		.registry = &registry,
		.diag = &diag,
		.env = &env,
		.facts = &facts,
	};
	int bad;

	cfg_registry_init(&registry);
	cfg_diag_init(&diag, 0);
	cfg_env_init(&env);
	w->vocab.env = &env;
	expect(cfg_registry_add(&registry, &module) == 0);
	cfg_reader_init(&reader, &opts);
	bad = cfg_reader_text(&reader, "fuzz", text, len);
	cfg_reader_fini(&reader);
	expect(!bad == !diag.count[CFG_ALERT]);
	for (int i = 0; i <= RULE_PLACES && !bad; i++)
		bad = rules_check(&w->rules[i], w, &diag);
	w->vocab.env = NULL;
	cfg_env_fini(&env);
	cfg_diag_fini(&diag);
	cfg_registry_fini(&registry);
	return bad;
}

/* Another reader of the bytes sees one message, all of it and nothing behind. */
static void
check_head(const struct http_head *h)
{
	static char out[WRITTEN];
	struct http_field fields[RULE_ANSWER_FIELDS_MAX];
	struct http_parser p = { 0 };
	struct http_head again;
	size_t n = http_size(h), used = 0;
	int rc;

	expect(n <= sizeof(out) && http_write(h, out) == n);
	http_head_init(&again, h->kind, fields, RULE_ANSWER_FIELDS_MAX);
	rc = h->kind == HTTP_REQUEST ? http_parse_request(&p, out, n, &again, &used)
				     : http_parse_response(&p, out, n, &again, &used);
	expect(rc == HTTP_COMPLETE && used == n);
}

static void
run(struct world *w, int place)
{
	struct rule_verdict v = { .head = &w->answer };
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
		/* It waits for something only while that may come. */
		w->cx.req_ended = times > 0;
		w->cx.req_body_whole = 1;
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
	struct http_parser p = { 0 }, q = { 0 };
	struct arena arena = { .p = malloc(room + 1), .cap = room };
	uint64_t seed = 1;
	size_t used;

	if (!work)
		work = regex_work_new();
	expect(arena.p && work);
	http_head_init(&w->req, HTTP_REQUEST, w->fields[0], FIELDS);
	http_head_init(&w->res, HTTP_RESPONSE, w->fields[1], FIELDS);
	http_head_init(&w->answer, HTTP_RESPONSE, w->answers, RULE_ANSWER_FIELDS_MAX);
	expect(http_parse_request(&p, request, sizeof(request) - 1, &w->req, &used) ==
		HTTP_COMPLETE);
	expect(http_parse_response(&q, response, sizeof(response) - 1, &w->res, &used) ==
		HTTP_COMPLETE);
	w->cx = (struct sample_ctx){
		.req = &w->req,
		.req_body = STR("a=1&b"),
		.req_bytes = { request, sizeof(request) - 1 },
		.proc = &w->vars[VAR_PROC],
		.sess = &w->vars[VAR_SESS],
		.txn = &w->vars[VAR_TXN],
		.reqv = &w->vars[VAR_REQ],
		.resv = &w->vars[VAR_RES],
		.arena = &arena,
		.regex = work,
		.seed = &seed,
		.wall_ns = UINT64_C(1700000000123456789),
	};
	for (int i = 0; i <= RULE_PLACES; i++)
		run(w, i);
	free(arena.p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "frontend f\n";
	static const struct rule_action *const actions[] = { rule_head_actions, rule_uri_actions,
		rule_var_actions, rule_end_actions, rule_redirect_actions, rule_misc_actions };
	static struct world w;
	char *text = malloc(sizeof(head) + size);

	expect(text != NULL);
	memset(&w, 0, sizeof(w));
	memcpy(text, head, sizeof(head) - 1);
	if (size > 1)
		memcpy(text + sizeof(head) - 1, data + 1, size - 1);
	expect(rule_tables_add(&w.vocab) == 0);
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		expect(rule_vocab_add_actions(&w.vocab, actions[i]) == 0);
	pattern_files_init(&w.files, NULL);
	w.vocab.files = &w.files;
	rule_acls_init(&w.acls);
	for (int i = 0; i <= RULE_PLACES; i++)
		list_init(&w.rules[i]);
	for (int i = 0; i < VAR_SCOPES; i++)
		vars_init(&w.vars[i]);
	if (read_lines(&w, text, sizeof(head) - 1 + (size ? size - 1 : 0)) == 0)
		run_all(&w, size ? (size_t)data[0] * ROOM : 0);
	for (int i = 0; i <= RULE_PLACES; i++)
		rules_free(&w.rules[i]);
	for (int i = 0; i < VAR_SCOPES; i++)
		vars_fini(&w.vars[i]);
	rule_acls_fini(&w.acls);
	pattern_files_fini(&w.files);
	free(text);
	return 0;
}
