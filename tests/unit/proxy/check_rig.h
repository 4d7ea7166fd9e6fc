/* Rules of health checks for tests: configuration lines in, rules and a context for them out. */
#ifndef TESTS_PROXY_CHECK_RIG_H
#define TESTS_PROXY_CHECK_RIG_H

#include <stdlib.h>

#include "base/log.h"
#include "proxy/check/check_expect.h"
#include "proxy/sample/eval.h"
#include "rule/sample/regex.h"
#include "unit/proxy/world.h"

struct check_rig {
	struct world w;
	struct check_conf *conf;
	struct server *srv;
	struct sample_ctx cx;
	struct arena arena;
	struct vars check_vars;
	struct log_ident ident;
	struct log_context log;
	char memory[16384];
};

/* lines: of the backend b; "mode http" may be among them. */
static inline void
check_rig_load(struct check_rig *r, const char *lines)
{
	char text[4096];

	memset(r, 0, sizeof(*r));
	(void)snprintf(text, sizeof(text),
		WORLD_DEFAULTS "backend b\n%s server s1 10.0.0.1:80 check\n", lines);
	world_load(&r->w, text);
	if (r->w.result != 0)
		fail_msg("%s\n%s", text, r->w.printed);
	r->conf = &world_proxy(&r->w, "b")->check;
	r->srv = world_server(world_proxy(&r->w, "b"), 0);
	r->arena = (struct arena){ .p = r->memory, .cap = sizeof(r->memory) };
	vars_init(&r->check_vars);
	r->ident = (struct log_ident){ .tag = "t", .pid = 77, .node = "vm" };
	r->log.id = &r->ident;
	r->cx = (struct sample_ctx){
		.at = SAMPLE_AT_CHECK | SAMPLE_AT_RES,
		.server = r->srv,
		.log = &r->log,
		.check = &r->check_vars,
		.arena = &r->arena,
		.regex = regex_work_new(),
		.wall_ns = UINT64_C(1795445693036000000),
	};
}

static inline void
check_rig_fini(struct check_rig *r)
{
	assert_int_equal(r->arena.used, 0);
	regex_work_free(&r->cx.regex);
	vars_fini(&r->check_vars);
	world_fini(&r->w);
}

/* The n-th rule of this kind, from 0. */
static inline struct check_rule *
check_rig_rule(struct check_rig *r, enum check_rule_kind kind, int n)
{
	list_each(it, &r->conf->rules) {
		struct check_rule *rule = list_entry(it, struct check_rule, link);

		if (rule->kind == kind && n-- == 0)
			return rule;
	}
	fail();
	return NULL;
}

/* The bytes stand at the end of an allocated block, so that a read beyond them is found. */
static inline enum check_step
check_rig_eval(struct check_rig *r, const struct check_rule *rule, struct str bytes, int ended,
	struct check_verdict *v)
{
	char *copy = malloc(bytes.len ? bytes.len : 1);
	struct check_input in = { .ended = (uint8_t)ended };
	enum check_step step;

	assert_non_null(copy);
	if (bytes.len)
		memcpy(copy, bytes.p, bytes.len);
	in.received = (struct str){ copy, bytes.len };
	memset(v, 0, sizeof(*v));
	step = check_expect_eval(rule, &in, &r->cx, v);
	free(copy);
	return step;
}

/* A server's bytes, and the resulting message. */
struct check_case {
	const char *lines;
	struct str bytes;
	int ended;
	enum check_step step;
	enum check_status status;
	int code;                /* -1: not compared */
	const char *info;
};

#define CHECK_STEPS "wait", "next", "fail"

/*
 * Evaluates the n-th expect rule, and the same with the bytes cut at every place: what is decided
 * early is decided in the same way.
 */
static inline void
check_rig_run(const struct check_case *c, int nth)
{
	static const char *const steps[] = { CHECK_STEPS };
	struct check_verdict v;
	struct check_rule *rule;
	struct check_rig r;
	enum check_step step;

	check_rig_load(&r, c->lines);
	rule = check_rig_rule(&r, CHECK_RULE_EXPECT, nth);
	step = check_rig_eval(&r, rule, c->bytes, c->ended, &v);
	if (step != c->step)
		fail_msg("%s <- %.*s: %s, not %s (%s)", c->lines, (int)c->bytes.len, c->bytes.p,
			steps[step], steps[c->step], v.info);
	if (step != CHECK_STEP_WAIT &&
		(v.status != c->status || strcmp(v.info, c->info) != 0 ||
			(c->code >= 0 && v.code != c->code)))
		fail_msg("%s <- %.*s: %s %d '%s', not %s %d '%s'", c->lines, (int)c->bytes.len,
			c->bytes.p, check_status_code(v.status), v.code, v.info,
			check_status_code(c->status), c->code, c->info);
	for (size_t n = 0; n < c->bytes.len; n++) {
		enum check_step cut;

		cut = check_rig_eval(&r, rule, (struct str){ c->bytes.p, n }, 0, &v);
		if (cut != CHECK_STEP_WAIT && cut != step)
			fail_msg("%s <- %.*s: cut at %zu: %s, not %s", c->lines,
				(int)c->bytes.len, c->bytes.p, n, steps[cut], steps[step]);
	}
	check_rig_fini(&r);
}

#endif
