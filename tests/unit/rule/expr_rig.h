/* A context for evaluating expressions, and their results as text. */
#ifndef TACIT_TEST_RULE_EXPR_RIG_H
#define TACIT_TEST_RULE_EXPR_RIG_H

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cfg/env.h"
#include "fake/random.h"
#include "rule/match/tables.h"
#include "rule/sample/tables.h"
#include "rule/sample/expr.h"
#include "unit/test.h"

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

#endif
