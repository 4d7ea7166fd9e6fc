/*
 * Rules from lines of a configuration, heads from text, and the heads after the rules as text.
 * Users: tests of rule/action, whose cases are ACTION_CASE.
 */
#ifndef TESTS_UNIT_RULE_ACTION_RIG_H
#define TESTS_UNIT_RULE_ACTION_RIG_H

#include "base/sys.h"
#include "cfg/reader.h"
#include "fake/print_diag.h"
#include "http/h1_parse.h"
#include "http/h1_write.h"
#include "rule/action/action.h"
#include "rule/match/acl.h"
#include "rule/match/pattern_file.h"
#include "rule/sample/regex.h"
#include "unit/rule/expr_rig.h"
#include "unit/test.h"

/* --- rules and heads --- */

#define RIG_FIELDS 24

struct action_rig {
	struct expr_rig x;      /* first: ctx->root */
	struct list rules[RULE_PLACES];
	struct list redirects;
	struct pattern_files files;
	struct rule_acls acls;
	struct cfg_registry registry;
	struct cfg_diag diag;
	struct cfg_reader reader;
	struct sys sys;
	char printed[8192];
	struct http_field fields[3][RULE_ANSWER_FIELDS_MAX];
	struct http_head req, res, answer;
	struct rule_outcome v;
	const struct rule *next;
	char text[16384];
};

static inline int
action_rig_begin(struct cfg_ctx *ctx)
{
	ctx->obj = ctx->root;
	return 0;
}

static inline int
action_rig_line(struct cfg_ctx *ctx)
{
	struct action_rig *r = ctx->root;

	if (ctx->kw->arg == RULE_PLACES)
		return rule_parse_redirect(&r->redirects, &r->acls, &r->x.vocab, ctx);
	return rule_parse(&r->rules[ctx->kw->arg], (enum rule_place)ctx->kw->arg, &r->acls,
		&r->x.vocab, ctx);
}

static inline int
action_rig_acl(struct cfg_ctx *ctx)
{
	struct action_rig *r = ctx->root;

	return rule_acl_parse(&r->acls, &r->x.vocab, ctx);
}

#define RIG_KW(n, place)                                                                     \
	{                                                                                    \
		.name = n, .sections = CFG_FRONTEND | CFG_BACKEND, .min = 0, .max = CFG_ANY, \
		.parse = action_rig_line, .arg = place                                       \
	}

static const struct cfg_kw action_rig_kws[] = {
	RIG_KW("tcp-request connection", RULE_TCP_CONNECTION),
	RIG_KW("http-request", RULE_HTTP_REQUEST),
	RIG_KW("http-response", RULE_HTTP_RESPONSE),
	RIG_KW("http-after-response", RULE_HTTP_AFTER_RESPONSE),
	RIG_KW("redirect", RULE_PLACES),
	{ .name = "acl",
		.sections = CFG_FRONTEND | CFG_BACKEND,
		.min = 2,
		.max = CFG_ANY,
		.parse = action_rig_acl },
	{ 0 },
};

static const struct cfg_section action_rig_sections[] = {
	{ "frontend", CFG_FRONTEND, CFG_SEC_NAMED, action_rig_begin, NULL, NULL },
	{ "backend", CFG_BACKEND, CFG_SEC_NAMED, action_rig_begin, NULL, NULL },
	{ 0 },
};

static const struct cfg_module action_rig_module = { .name = "rig",
	.kws = action_rig_kws,
	.sections = action_rig_sections };

/* A field of the request, in which odd bytes are written as %XX. */
static inline int
action_rig_fetch(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_head *h = a->kind ? cx->res : cx->req;
	int i = h ? http_find(h, a->arg[0].text, 0) : -1;

	if (i < 0)
		return 0;
	sample_set_str(s, h->field[i].value);
	return 1;
}

static const struct rule_fetch action_rig_fetches[] = {
	{ .name = "rq", .arg = { ARG_STR }, .min = 1, .out = SAMPLE_STR, .fetch = action_rig_fetch,
		.needs = SAMPLE_AT_REQ },
	{ .name = "rs", .arg = { ARG_STR }, .min = 1, .out = SAMPLE_STR, .fetch = action_rig_fetch,
		.needs = SAMPLE_AT_RES, .kind = 1 },
	{ .name = NULL },
};

static inline void
action_rig_init(struct action_rig *r)
{
	static const struct rule_action *const tables[] = { rule_head_actions, rule_uri_actions,
		rule_var_actions, rule_end_actions, rule_redirect_actions, rule_misc_actions,
		rule_auth_actions, rule_map_actions, rule_service_actions };

	memset(r, 0, sizeof(*r));
	rig_init(&r->x);
	assert_int_equal(rule_vocab_add_fetches(&r->x.vocab, action_rig_fetches), 0);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		assert_int_equal(rule_vocab_add_actions(&r->x.vocab, tables[i]), 0);
	for (size_t i = 0; i < RULE_PLACES; i++)
		list_init(&r->rules[i]);
	list_init(&r->redirects);
	pattern_files_init(&r->files, &r->sys);
	r->x.vocab.files = &r->files;
	rule_acls_init(&r->acls);
	cfg_registry_init(&r->registry);
	assert_int_equal(cfg_registry_add(&r->registry, &action_rig_module), 0);
	sys_init(&r->sys, &sys_linux, NULL);
	r->x.cx.regex = regex_work_new();
	assert_non_null(r->x.cx.regex);
	cfg_diag_init(&r->diag, 0);
}

static inline void
action_rig_forget(struct action_rig *r)
{
	for (size_t i = 0; i < RULE_PLACES; i++)
		rules_free(&r->rules[i]);
	rules_free(&r->redirects);
	rule_acls_fini(&r->acls);
	pattern_files_fini(&r->files);
	pattern_files_init(&r->files, &r->sys);
	rule_acls_init(&r->acls);
	cfg_diag_fini(&r->diag);
	cfg_diag_init(&r->diag, 0);
	r->next = NULL;
}

static inline void
action_rig_fini(struct action_rig *r)
{
	action_rig_forget(r);
	rule_acls_fini(&r->acls);
	regex_work_free(&r->x.cx.regex);
	cfg_diag_fini(&r->diag);
	cfg_registry_fini(&r->registry);
	rig_fini(&r->x);
}

/* Reads the lines of a frontend (or complete sections): 0, or -1 with the messages in printed.
 * Earlier lines are forgotten. */
static inline int
action_rig_read(struct action_rig *r, const char *lines)
{
	static const struct cfg_facts facts = { .version = "3.4.0" };
	struct cfg_reader_opts opts = { .root = r,
		.registry = &r->registry,
		.diag = &r->diag,
		.env = &r->x.env,
		.sys = &r->sys,
		.facts = &facts };
	char text[8192];
	FILE *f;
	int rc;

	action_rig_forget(r);
	(void)snprintf(text, sizeof(text), "%s%s\n",
		strncmp(lines, "backend", 7) == 0 ? "" : "frontend f\n", lines);
	cfg_reader_init(&r->reader, &opts);
	rc = cfg_reader_text(&r->reader, "t.cfg", text, strlen(text));
	rc |= cfg_reader_end(&r->reader);
	cfg_reader_fini(&r->reader);
	for (size_t i = 0; rc == 0 && i < RULE_PLACES; i++)
		rc |= rules_check(&r->rules[i], r, &r->diag);
	memset(r->printed, 0, sizeof(r->printed));
	f = fmemopen(r->printed, sizeof(r->printed), "w");
	assert_non_null(f);
	print_diag(&r->diag, f, 0);
	(void)fclose(f);
	return rc;
}

/* The lines are rejected, with this message. */
static inline void
action_rig_refuses(struct action_rig *r, const char *lines, const char *says)
{
	if (action_rig_read(r, lines) == 0 || !strstr(r->printed, says))
		fail_msg("%s\n=> %s\nwithout: %s", lines, r->printed, says);
}

static inline void
action_rig_good(struct action_rig *r, const char *lines)
{
	if (action_rig_read(r, lines) != 0)
		fail_msg("%s\n=> %s", lines, r->printed);
}

/* Sets a request and a response for rules to run on: heads without their final empty line. text
 * must stay valid. */
static inline void
action_rig_heads(struct action_rig *r, const char *req, const char *res)
{
	struct h1_parser p = { 0 };
	static char buf[2][8192];
	size_t used;
	int n;

	http_head_init(&r->req, HTTP_REQUEST, r->fields[0], RIG_FIELDS);
	http_head_init(&r->res, HTTP_RESPONSE, r->fields[1], RIG_FIELDS);
	http_head_init(&r->answer, HTTP_RESPONSE, r->fields[2], RULE_ANSWER_FIELDS_MAX);
	n = snprintf(buf[0], sizeof(buf[0]), "%s\r\n\r\n", req);
	assert_int_equal(h1_parse_request(&p, buf[0], (size_t)n, &r->req, &used), HTTP_COMPLETE);
	r->x.cx.req = &r->req;
	r->x.cx.res = NULL;
	if (res) {
		memset(&p, 0, sizeof(p));
		n = snprintf(buf[1], sizeof(buf[1]), "%s\r\n\r\n", res);
		assert_int_equal(h1_parse_response(&p, buf[1], (size_t)n, &r->res, &used),
			HTTP_COMPLETE);
		r->x.cx.res = &r->res;
	}
	arena_release(&r->x.arena, 0);
	memset(&r->v, 0, sizeof(r->v));
	r->v.head = &r->answer;
}

/* A head as lines that end in "|". */
static inline const char *
action_rig_show(struct action_rig *r, const struct http_head *h)
{
	static char raw[16384];
	size_t n, k = 0;

	assert_true(h1_size(h) <= sizeof(raw));
	n = h1_write(h, raw);
	for (size_t i = 0; i + 2 < n; i++) {
		if (raw[i] == '\r')
			continue;
		r->text[k++] = (char)(raw[i] == '\n' ? '|' : raw[i]);
	}
	r->text[k] = '\0';
	return r->text;
}

static inline enum rule_result
action_rig_run(struct action_rig *r, enum rule_place place)
{
	return rules_run(&r->rules[place], &r->next, &r->x.cx, &r->v);
}

/* Runs one line on one request and returns the resulting head. */
static inline const char *
action_rig_request(struct action_rig *r, const char *lines, const char *req)
{
	action_rig_good(r, lines);
	action_rig_heads(r, req, NULL);
	assert_int_equal(action_rig_run(r, RULE_HTTP_REQUEST), RULE_CONT);
	return action_rig_show(r, &r->req);
}

static inline const char *
action_rig_response(struct action_rig *r, const char *lines, const char *res)
{
	action_rig_good(r, lines);
	action_rig_heads(r, "GET / HTTP/1.1\r\nHost: h", res);
	assert_int_equal(action_rig_run(r, RULE_HTTP_RESPONSE), RULE_CONT);
	return action_rig_show(r, &r->res);
}

/* A rewrite that fails ends the message; with strict-mode off the rule has no effect. */
static inline void
action_rig_fails(struct action_rig *r, enum rule_place place, const char *line, const char *req,
	const char *res)
{
	char lines[4096];
	static char before[sizeof(r->text)];

	action_rig_good(r, line);
	action_rig_heads(r, req, res);
	(void)snprintf(before, sizeof(before), "%s", action_rig_show(r, res ? &r->res : &r->req));
	assert_int_equal(action_rig_run(r, place), RULE_FINAL);
	assert_int_equal(r->v.what, RULE_END_ERROR);
	assert_int_equal(r->v.status, 500);
	assert_int_equal(r->v.failed_rewrites, 1);
	assert_non_null(r->v.by);
	(void)snprintf(lines, sizeof(lines), "%s strict-mode off\n%s", rule_place_name(place),
		line);
	action_rig_good(r, lines);
	action_rig_heads(r, req, res);
	assert_int_equal(action_rig_run(r, place), RULE_CONT);
	assert_int_equal(r->v.failed_rewrites, 1);
	assert_string_equal(action_rig_show(r, res ? &r->res : &r->req), before);
}

/* --- the rig of a test --- */

static struct action_rig r;

static inline int
action_rig_setup(void **state)
{
	(void)state;
	action_rig_init(&r);
	return 0;
}

static inline int
action_rig_teardown(void **state)
{
	(void)state;
	action_rig_fini(&r);
	return 0;
}

/* A test with that rig. */
#define ACTION_CASE(fn) \
	cmocka_unit_test_setup_teardown(fn, action_rig_setup, action_rig_teardown)

#endif
