/*
 * For tests of rule: a context in which expressions are evaluated, and their results as text
 * (expr_rig), the same with HTTP messages (http_rig), rows of results of HAProxy
 * (rig_check_rows), and conditions of a small configuration (cond_rig). A test of converters
 * defines ROWS before, the file of its rows; a test of fetches MESSAGE, its request: both get
 * setup(), teardown() and IS(). Users: tests of rule/sample and rule/match, and those of
 * proxy/sample and proxy/model that evaluate expressions.
 */
#ifndef TESTS_UNIT_RULE_EXPR_RIG_H
#define TESTS_UNIT_RULE_EXPR_RIG_H

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "cfg/env.h"
#include "cfg/reader.h"
#include "fake/print_diag.h"
#include "fake/random.h"
#include "http/h1_parse.h"
#include "rule/match/acl.h"
#include "rule/match/pattern_file.h"
#include "rule/match/tables.h"
#include "rule/sample/expr.h"
#include "rule/sample/tables.h"
#include "unit/test.h"

/* --- expressions --- */

#define RIG_ARENA 16384
#define RIG_EVERYWHERE 0x7f

struct expr_rig {
	struct rule_vocab vocab;
	struct sample_ctx cx;
	struct arena arena;
	struct vars vars[VAR_SCOPES];
	struct cfg_env env;
	struct fake_random random;
	struct rule_err why;
	char text[2 * RIG_ARENA + 64];
	char mem[RIG_ARENA];
};

static inline void
rig_init(struct expr_rig *r)
{
	memset(r, 0, sizeof(*r));
	cfg_env_init(&r->env);
	r->vocab.env = &r->env;
	r->vocab.hostname = "vm";
	assert_int_equal(rule_tables_add(&r->vocab), 0);
	r->arena = (struct arena){ .p = r->mem, .cap = sizeof(r->mem) };
	for (unsigned int i = 0; i < VAR_SCOPES; i++)
		vars_init(&r->vars[i]);
	fake_random_init(&r->random);
	r->cx = (struct sample_ctx){
		.at = RIG_EVERYWHERE,
		.arena = &r->arena,
		.proc = &r->vars[VAR_PROC],
		.sess = &r->vars[VAR_SESS],
		.txn = &r->vars[VAR_TXN],
		.reqv = &r->vars[VAR_REQ],
		.resv = &r->vars[VAR_RES],
		.check = &r->vars[VAR_CHECK],
		.wall_ns = UINT64_C(1700000000123456789),
		.random = &r->random.source,
	};
}

static inline void
rig_fini(struct expr_rig *r)
{
	for (unsigned int i = 0; i < VAR_SCOPES; i++)
		vars_fini(&r->vars[i]);
	cfg_env_fini(&r->env);
}

/* Text unchanged, bytes in hexadecimal, any other type converted to text. */
static inline const char *
rig_show(struct expr_rig *r, struct sample *s)
{
	size_t n = 0;

	if (s->type == SAMPLE_BIN) {
		r->text[0] = '\0';
		for (size_t i = 0; i < s->u.str.len; i++)
			n += (size_t)sprintf(r->text + n, "%02X", (unsigned char)s->u.str.p[i]);
		return r->text;
	}
	if (sample_cast(s, SAMPLE_STR, &r->arena))
		return "(no room)";
	memcpy(r->text, s->u.str.p, s->u.str.len);
	r->text[s->u.str.len] = '\0';
	return r->text;
}

/* The result as text; "(none)"; or "OFFSET: error". */
static inline const char *
rig_eval(struct expr_rig *r, const char *text)
{
	struct rule_expr *e = NULL;
	struct sample s;
	size_t used = 0, mark = arena_mark(&r->arena);
	const char *result;

	if (rule_expr_parse(&r->vocab, text, strlen(text), r->cx.at, 0, &e, &used, &r->why)) {
		assert_null(e);
		snprintf(r->text, sizeof(r->text), "%zu: %s", r->why.at, r->why.text);
		return r->text;
	}
	assert_int_equal(used, strlen(text));
	result = rule_expr_eval(e, &r->cx, &s) ? rig_show(r, &s) : "(none)";
	arena_release(&r->arena, mark);
	rule_expr_free(&e);
	return result;
}

/* Found (1) or not, and "+" if more data may change it. */
static inline const char *
rig_state(struct expr_rig *r, const char *text)
{
	struct rule_expr *e;
	struct sample s;
	size_t used;

	assert_int_equal(
		rule_expr_parse(&r->vocab, text, strlen(text), r->cx.at, 0, &e, &used, &r->why), 0);
	snprintf(r->text, sizeof(r->text), "%d", rule_expr_eval(e, &r->cx, &s));
	if (s.may_change)
		strcat(r->text, "+");
	rule_expr_free(&e);
	return r->text;
}

/* --- with HTTP messages --- */

struct http_rig {
	struct expr_rig r;
	struct http_head req, res;
	struct http_field fields[2][64];
	char values[4096];
};

static inline void
rig_request(struct http_rig *h, const char *text)
{
	struct h1_parser p = { 0 };
	size_t used;

	http_head_init(&h->req, HTTP_REQUEST, h->fields[0], ARRAY_LEN(h->fields[0]));
	assert_int_equal(h1_parse_request(&p, text, strlen(text), &h->req, &used),
		HTTP_COMPLETE);
	h->r.cx.req = &h->req;
	h->r.cx.req_body = (struct sample_body){ .content = { text + used, strlen(text) - used },
		.is_whole = 1 };
	h->r.cx.at = RIG_EVERYWHERE & ~SAMPLE_AT_RES;
}

static inline void
rig_response(struct http_rig *h, const char *text)
{
	struct h1_parser p = { 0 };
	size_t used;

	http_head_init(&h->res, HTTP_RESPONSE, h->fields[1], ARRAY_LEN(h->fields[1]));
	assert_int_equal(h1_parse_response(&p, text, strlen(text), &h->res, &used),
		HTTP_COMPLETE);
	h->r.cx.res = &h->res;
	h->r.cx.at = RIG_EVERYWHERE;
}

/* All values as an ACL sees them, each followed by '|'; "-|" for a missing one. */
static inline const char *
rig_each(struct http_rig *h, const char *text)
{
	struct rule_expr *e = NULL;
	struct sample s;
	size_t used, n = 0;

	assert_int_equal(rule_expr_parse(&h->r.vocab, text, strlen(text), h->r.cx.at, 0, &e, &used,
				 &h->r.why), 0);
	h->values[0] = '\0';
	h->r.cx.nth = 0;
	do {
		int found = rule_expr_eval(e, &h->r.cx, &s);
		uint8_t more = s.has_more;

		n += (size_t)snprintf(h->values + n, sizeof(h->values) - n, "%s|",
			found ? rig_show(&h->r, &s) : "-");
		s.has_more = more;
		arena_release(&h->r.arena, 0);
		h->r.cx.nth++;
	} while (s.has_more && n < sizeof(h->values));
	h->r.cx.nth = 0;
	rule_expr_free(&e);
	return h->values;
}

/* --- rows of results of HAProxy, each with every amount of space for texts --- */

#define RIG_FILL 0xa5 /* fills the memory after the available space */

struct oracle_row {
	const char *expr, *result;
	size_t result_len;
};

#define ORACLE(expr, result) { expr, result, sizeof(result) - 1 },

static inline void
rig_set_var(struct expr_rig *r, const char *name, struct sample s)
{
	struct var_name n;
	const char *why;

	assert_int_equal(var_name_parse(str_of(name), &n, &why), 0);
	assert_int_equal(var_store(&r->cx, n, &s), 0);
}

/* The variables used by the rows. */
static inline void
rig_set_vars(struct expr_rig *r)
{
	static const char *const texts[][2] = { { "txn.str", "str" }, { "txn.t12", "12" },
		{ "txn.key", "a2V5" }, { "txn.bad", "!!" }, { "txn.v", "VAL" } };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		rig_set_var(r, texts[i][0],
			(struct sample){ .type = SAMPLE_STR, .u.str = str_of(texts[i][1]) });
	rig_set_var(r, "txn.n", (struct sample){ .type = SAMPLE_SINT, .u.sint = 10 });
	rig_set_var(r, "txn.zero", (struct sample){ .type = SAMPLE_SINT, .u.sint = 0 });
}

/*
 * Each row has HAProxy's result; with less space than it needs there is no result, which is
 * counted, and never a wrong one.
 */
static inline void
rig_check_rows(const struct oracle_row *row, size_t n)
{
	static struct expr_rig r;

	for (size_t i = 0; i < n; i++) {
		size_t cap = 0;
		const char *got;

		for (;; cap++) {
			rig_init(&r);
			rig_set_vars(&r);
			r.arena.cap = MIN(cap, (size_t)RIG_ARENA);
			memset(r.mem + r.arena.cap, RIG_FILL, sizeof(r.mem) - r.arena.cap);
			got = rig_eval(&r, row[i].expr);
			for (size_t k = r.arena.cap; k < MIN(r.arena.cap + 256, sizeof(r.mem)); k++)
				assert_int_equal((unsigned char)r.mem[k], RIG_FILL);
			if (!r.arena.refused || cap == RIG_ARENA)
				break;
			assert_true(strcmp(got, "(none)") == 0 || strcmp(got, "(no room)") == 0 ||
				strcmp(got, row[i].result) == 0);
			rig_fini(&r);
		}
		if (strcmp(got, row[i].result) != 0)
			fail_msg("%s: %s, HAProxy: %s", row[i].expr, got, row[i].result);
		rig_fini(&r);
	}
}

/* --- conditions: lines "acl" and "when if ...", and artificial traffic --- */

enum { CONDS_MAX = 16 };

struct cond_rig {
	struct expr_rig expr;
	struct cfg_registry registry;
	struct cfg_diag diag;
	struct pattern_files files;
	struct sys sys;
	struct rule_acls acls;
	struct rule_cond *cond[CONDS_MAX];
	unsigned int n, at;
	char printed[16384];
};

/* The values of the artificial fetches. */
static struct {
	const char *path, *multi[4];
	unsigned int n_multi, asked;
	const char *later;       /* NULL: it has not arrived yet */
	uint32_t src;
} traffic = { .path = "/static/x.gif", .src = 0x7f000009 };

static inline int
fetch_path(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	(void)cx;
	traffic.asked++;
	sample_set_str(s, str_of(traffic.path));
	return 1;
}

static inline int
fetch_src(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	(void)cx;
	s->type = SAMPLE_IPV4;
	s->u.ipv4.s_addr = htonl(traffic.src);
	return 1;
}

static inline int
fetch_multi(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	if (cx->nth >= traffic.n_multi)
		return 0;
	s->has_more = cx->nth + 1 < traffic.n_multi;
	if (!traffic.multi[cx->nth])
		return 0;
	sample_set_str(s, str_of(traffic.multi[cx->nth]));
	return 1;
}

static inline int
fetch_later(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	(void)cx;
	s->may_change = 1; /* whether that matters is decided by the caller */
	if (!traffic.later)
		return 0;
	sample_set_str(s, str_of(traffic.later));
	return 1;
}

static inline int
fetch_raw(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	(void)a;
	(void)cx;
	s->type = SAMPLE_BIN;
	s->u.str = STR("ab");
	return 1;
}

/* Must not be called where there is no response. */
static inline int
fetch_res(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	assert_true(cx->at & SAMPLE_AT_RES);
	return fetch_path(a, cx, s);
}

static int check_calls;

static inline int
check_fetch(struct rule_args *a, void *root, const char **why)
{
	(void)a;
	check_calls++;
	*why = "there is no such thing";
	return root ? -1 : 0;
}

static const struct rule_fetch cond_fetches[] = {
	{ .name = "t.path", .out = SAMPLE_STR, .fetch = fetch_path, .derives = 1 },
	{ .name = "t.src", .out = SAMPLE_IPV4, .fetch = fetch_src },
	{ .name = "t.multi", .out = SAMPLE_STR, .fetch = fetch_multi },
	{ .name = "t.later", .out = SAMPLE_STR, .fetch = fetch_later },
	{ .name = "t.raw", .out = SAMPLE_BIN, .fetch = fetch_raw },
	{ .name = "t.res", .out = SAMPLE_STR, .fetch = fetch_res, .needs = SAMPLE_AT_RES },
	{ .name = "t.check", .out = SAMPLE_STR, .fetch = fetch_path, .check = check_fetch },
	{ .name = "t.ver", .out = SAMPLE_SINT, .fetch = fetch_path, .match = "ver" },
	{ 0 },
};

static inline int
cond_rig_begin(struct cfg_ctx *ctx)
{
	ctx->obj = ctx->root;
	return 0;
}

static inline int
cond_rig_acl(struct cfg_ctx *ctx)
{
	struct cond_rig *r = ctx->root;

	return rule_acl_parse(&r->acls, &r->expr.vocab, ctx);
}

static inline int
cond_rig_when(struct cfg_ctx *ctx)
{
	struct cond_rig *r = ctx->root;

	assert_true(r->n < CONDS_MAX);
	return rule_cond_parse(&r->acls, &r->expr.vocab, ctx, 0, r->at, &r->cond[r->n++]);
}

static const struct cfg_kw cond_rig_kws[] = {
	{ .name = "acl", .sections = CFG_FRONTEND, .max = CFG_ANY, .parse = cond_rig_acl },
	{ .name = "when", .sections = CFG_FRONTEND, .max = CFG_ANY, .parse = cond_rig_when },
	{ 0 },
};
static const struct cfg_section cond_rig_sections[] = {
	{ .name = "frontend",
		.bit = CFG_FRONTEND,
		.flags = CFG_SEC_NAMED,
		.begin = cond_rig_begin },
	{ 0 },
};
static const struct cfg_module cond_rig_module = {
	.name = "rig", .kws = cond_rig_kws, .sections = cond_rig_sections,
};

static inline void
cond_rig_init(struct cond_rig *r)
{
	memset(r, 0, sizeof(*r));
	rig_init(&r->expr);
	sys_init(&r->sys, &sys_linux, NULL);
	pattern_files_init(&r->files, &r->sys);
	r->expr.vocab.files = &r->files;
	r->expr.cx.regex = regex_work_new();
	assert_int_equal(rule_vocab_add_fetches(&r->expr.vocab, cond_fetches), 0);
	cfg_registry_init(&r->registry);
	assert_int_equal(cfg_registry_add(&r->registry, &cond_rig_module), 0);
	rule_acls_init(&r->acls);
	r->at = RIG_EVERYWHERE & ~(unsigned int)SAMPLE_AT_RES;
	r->expr.cx.at = r->at;
	cfg_diag_init(&r->diag, 0);
}

static inline void
cond_rig_fini(struct cond_rig *r)
{
	for (unsigned int i = 0; i < r->n; i++)
		rule_cond_free(&r->cond[i]);
	rule_acls_fini(&r->acls);
	pattern_files_fini(&r->files);
	regex_work_free(&r->expr.cx.regex);
	cfg_diag_fini(&r->diag);
	cfg_registry_fini(&r->registry);
	rig_fini(&r->expr);
}

/* Reads lines, which may be invalid: returns NULL, or the messages about them. */
static inline const char *
cond_rig_read(struct cond_rig *r, const char *lines)
{
	static const struct cfg_facts facts = { .version = "3.4.0" };
	struct cfg_reader_opts opts = {
		.root = r,
		.registry = &r->registry,
		.diag = &r->diag,
		.env = &r->expr.env,
		.facts = &facts,
	};
	struct cfg_reader reader;
	char text[8192];
	FILE *f;
	int bad;

	snprintf(text, sizeof(text), "frontend f\n%s\n", lines);
	cfg_reader_init(&reader, &opts);
	bad = cfg_reader_text(&reader, "t", text, strlen(text));
	cfg_reader_fini(&reader);
	f = fmemopen(r->printed, sizeof(r->printed), "w");
	assert_non_null(f);
	print_diag(&r->diag, f, 0);
	fclose(f);
	return bad || r->printed[0] ? r->printed : NULL;
}

/* One condition with the ACLs before it: its result, or -1 when it was rejected. */
static inline int
cond_rig_ask(struct cond_rig *r, const char *acls, const char *cond)
{
	char text[4096];
	int truth;

	cond_rig_init(r);
	snprintf(text, sizeof(text), "%s\nwhen if %s", acls, cond);
	(void)cond_rig_read(r, text);
	truth = r->n == 1 && r->cond[0] ? (int)rule_cond_eval(r->cond[0], &r->expr.cx) : -1;
	assert_int_equal(r->expr.arena.used, 0);
	assert_int_equal(r->expr.cx.nth, 0);
	return truth;
}

/* --- a test of converters: HAProxy's rows, in the file ROWS, and a rig --- */

#ifdef ROWS

static const struct oracle_row rows[] = {
#include ROWS
};

static void
as_haproxy(void **state)
{
	(void)state;
	rig_check_rows(rows, ARRAY_LEN(rows));
}

static struct expr_rig rig;

#define IS(text, result) assert_string_equal(rig_eval(&rig, text), result)

static int
setup(void **state)
{
	(void)state;
	rig_init(&rig);
	rig_set_vars(&rig);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rig_fini(&rig);
	return 0;
}

#endif

/* --- a test of fetches: a rig with the request MESSAGE --- */

#ifdef MESSAGE

static struct http_rig h;

#define IS(text, result) assert_string_equal(rig_eval(&h.r, text), result)
#define EACH(text, result) assert_string_equal(rig_each(&h, text), result)

static int
setup(void **state)
{
	(void)state;
	rig_init(&h.r);
	rig_request(&h, MESSAGE);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rig_fini(&h.r);
	return 0;
}

#endif

#endif
