/*
 * A small configuration with the lines "acl" and "when if ...", and the results of their conditions
 * for artificial traffic.
 */
#ifndef TESTS_RULE_COND_RIG_H
#define TESTS_RULE_COND_RIG_H

#include "unit/rule/expr_rig.h"
#include "fake/print_diag.h"
#include "unit/test.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "base/sys.h"
#include "cfg/reader.h"
#include "rule/match/acl.h"
#include "rule/match/pattern_file.h"

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
	print_diag(&r->diag, f, false);
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

#endif
