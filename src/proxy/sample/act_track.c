/* Actions on entries of stick tables. Parsed on the main thread, run on the worker of the session
 * or stream that tracks them; the entries are shared. */
#include "proxy/sample/act_track.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cfg/ctx.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/proxies.h"
#include "proxy/model/stream_extras.h"
#include "proxy/sample/table_word.h"
#include "rule/action/act.h"
#include "rule/sample/args.h"

/* A rule's num[]. */
enum { AT_SLOT, AT_ELEMENT, AT_VALUE };

/* --- track-sc --- */

/* The proxy whose table is meant where none is named; a defaults section has none. */
static int
take_table(struct rule *r, struct cfg_ctx *ctx, int arg)
{
	const struct proxy *p = ctx->obj;
	char *name;

	if (act_is(ctx, arg, "table")) {
		if (act_need(r, ctx, arg, 2) < 0 || act_text(ctx, arg + 1, &r->text[0]) < 0)
			return -1;
		return arg + 2;
	}
	if (ctx->section->bit == CFG_DEFAULTS)
		return cfg_error(ctx, arg - 1, "'%s track-sc' : name a table: a defaults section "
			"has none.", rule_place_name(r->place));
	name = mem_strdup(p->name);
	if (!name)
		return cfg_nomem(ctx);
	r->text[0] = str_of(name);
	return arg;
}

static int
parse_track(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	const struct proxies *ps = ctx->root;

	r->num[AT_SLOT] = strtol(cfg_arg(ctx, arg - 1) + strlen(r->action->name), NULL, 10);
	if (r->num[AT_SLOT] >= (int64_t)ps->stick_counters)
		return cfg_error(ctx, arg - 1, "'%s %s' : there are %u counters, from 0: see "
			"tune.stick-counters.", rule_place_name(r->place), cfg_arg(ctx, arg - 1),
			ps->stick_counters);
	if (act_need(r, ctx, arg, 1) < 0 || act_expr(r, v, ctx, arg, at, &r->expr) < 0)
		return -1;
	return take_table(r, ctx, arg + 1);
}

static int
check_tracking(struct rule *r, void *root, struct rule_err *why)
{
	struct proxies *ps = root;
	struct table *t = proxies_find_table(ps, r->text[0].p);

	if (!t)
		return rule_fail(why, 0, -1, "there is no stick-table '%.100s'", r->text[0].p);
	if (!sample_can_cast(rule_expr_type(r->expr), table_key_sample(t)))
		return rule_fail(why, 0, -1, "the stick-table '%.100s' has keys of type %s, which "
			"the sample cannot become", r->text[0].p,
			table_type_name(table_conf_of(t)->type));
	r->ref = t;
	ps->n_tracked = MAX(ps->n_tracked, (unsigned int)r->num[AT_SLOT] + 1);
	return 0;
}

/* A request that is counted already counts in this entry, too, and so does the status of its
 * response. */
static void
count_late(struct stream *s, enum rule_place place, unsigned int slot)
{
	const struct tracked *t = stream_tracked(s, slot);
	struct table_caller by = stream_table_caller(s);
	unsigned int status = s->txn ? s->txn->res.status : 0;

	if (!t || !s->txn || (place == RULE_TCP_REQ_CONTENT && !s->txn->be))
		return;
	s->extras->has_counted = 1;
	tracked_count(t, TABLE_HTTP_REQ_CNT, TABLE_HTTP_REQ_RATE, &by, 1);
	if (place != RULE_HTTP_RESPONSE)
		return;
	if (status_set_has(&s->engine->err_codes, status))
		tracked_count(t, TABLE_HTTP_ERR_CNT, TABLE_HTTP_ERR_RATE, &by, 1);
	if (status_set_has(&s->engine->fail_codes, status))
		tracked_count(t, TABLE_HTTP_FAIL_CNT, TABLE_HTTP_FAIL_RATE, &by, 1);
}

/* The first rule counts that tracks something in this slot, of the session or of the stream. */
static enum rule_result
run_track(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	unsigned int slot = (unsigned int)r->num[AT_SLOT];
	struct table_caller by = table_caller_of(cx);
	struct stream *s = out->proxy;
	size_t mark = arena_mark(cx->arena);
	struct table_entry *e = NULL;
	struct table *t = r->ref;
	struct table_key k;
	struct sample key;

	if (stream_tracked(s, slot))
		return RULE_CONT;
	if (table_key_eval(t, r->expr, cx, &key, &k))
		e = table_get(t, &k, &by);
	else if (key.may_change && !cx->req_ended && r->place == RULE_TCP_REQ_CONTENT)
		return RULE_YIELD;
	arena_release(cx->arena, mark);
	if (!e)
		return RULE_CONT;
	stream_track(s, r->place == RULE_TCP_CONNECTION || r->place == RULE_TCP_SESSION, slot, t,
		e);
	count_late(s, r->place, slot);
	return RULE_CONT;
}

/* --- sc-inc-gpc and others --- */

enum change { INC_GPC, INC_GPC0, INC_GPC1, ADD_GPC, SET_GPT, SET_GPT0 };

static int
change_is_indexed(const struct rule *r)
{
	return r->action->kind == INC_GPC || r->action->kind == ADD_GPC ||
		r->action->kind == SET_GPT;
}

/* Reads a number below max at *text, and what ends it. 0, or -1 after an error. */
static int
take_paren_number(struct rule *r, struct cfg_ctx *ctx, int arg, char **text, unsigned int max,
	int64_t *out)
{
	char *word = strsep(text, ","), *end;
	unsigned long n = word ? strtoul(word, &end, 10) : 0;

	if (!word || *word < '0' || *word > '9' || *end)
		return cfg_error(ctx, arg - 1, "'%s %s' expects (%s).", rule_place_name(r->place),
			r->action->name, r->action->inner);
	if (n >= max)
		return cfg_error(ctx, arg - 1, "'%s %s' : %lu is not below %u.",
			rule_place_name(r->place), r->action->name, n, max);
	*out = (int64_t)n;
	return 0;
}

/* "(<idx>,<ctr>)", "(<ctr>)" */
static int
parse_paren_numbers(struct rule *r, struct cfg_ctx *ctx, int arg)
{
	const struct proxies *ps = ctx->root;
	char *text, *rest;
	int rc = 0;

	if (act_paren(r, ctx, arg, &text) < 0)
		return -1;
	rest = text;
	if (change_is_indexed(r))
		rc = take_paren_number(r, ctx, arg, &rest, TABLE_ELEMENTS_MAX, &r->num[AT_ELEMENT]);
	if (rc == 0)
		rc = take_paren_number(r, ctx, arg, &rest, ps->stick_counters, &r->num[AT_SLOT]);
	if (rc == 0 && rest)
		rc = cfg_error(ctx, arg - 1, "'%s %s' expects (%s).", rule_place_name(r->place),
			r->action->name, r->action->inner);
	mem_free(text);
	return rc;
}

static int
parse_increment(struct rule *r, const struct rule_vocab *v unused, struct cfg_ctx *ctx, int arg,
	unsigned int at unused)
{
	r->num[AT_ELEMENT] = r->action->kind == INC_GPC1;
	r->num[AT_VALUE] = 1;
	return parse_paren_numbers(r, ctx, arg) < 0 ? -1 : arg;
}

/* The value is a number, or else an expression. */
static int
parse_change(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	const char *word = cfg_arg(ctx, arg);

	if (parse_paren_numbers(r, ctx, arg) < 0 || act_need(r, ctx, arg, 1) < 0)
		return -1;
	if (*word < '0' || *word > '9')
		return act_expr(r, v, ctx, arg, at, &r->expr) < 0 ? -1 : arg + 1;
	return cfg_arg_int64(ctx, arg, 0, UINT32_MAX, &r->num[AT_VALUE]) < 0 ? -1 : arg + 1;
}

/* 1 and the value, or 0: the expression has none. */
static int
eval_value(const struct rule *r, struct sample_ctx *cx, uint32_t *out)
{
	size_t mark = arena_mark(cx->arena);
	struct sample s;
	int found;

	*out = (uint32_t)r->num[AT_VALUE];
	if (!r->expr)
		return 1;
	found = rule_expr_eval_as(r->expr, cx, SAMPLE_SINT, &s) == 1;
	if (found)
		*out = (uint32_t)s.u.sint;
	arena_release(cx->arena, mark);
	return found;
}

static enum rule_result
run_change(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	const struct tracked *t = stream_tracked(out->proxy, (unsigned int)r->num[AT_SLOT]);
	unsigned int element = (unsigned int)r->num[AT_ELEMENT];
	struct table_caller by = table_caller_of(cx);
	uint64_t after;
	uint32_t v;

	if (!t || !eval_value(r, cx, &v))
		return RULE_CONT;
	switch ((enum change)r->action->kind) {
	case INC_GPC:
	case ADD_GPC:
		(void)table_inc_element(t->table, t->entry, element, &by, v, &after);
		break;
	case INC_GPC0:
	case INC_GPC1:
		(void)table_inc_gpc(t->table, t->entry, element, &by, v, &after);
		break;
	case SET_GPT:
		(void)table_set(t->table, t->entry, TABLE_GPT, element, &by, v);
		break;
	case SET_GPT0:
		(void)table_set(t->table, t->entry, TABLE_GPT0, 0, &by, v);
		break;
	}
	return RULE_CONT;
}

/* --- the table --- */

#define CHANGE(n, what, read, in_paren, text, help)                                            \
	{ .name = n, .places = RULE_IN_TCP | RULE_IN_HTTP, .paren = 1, .parse = read,  \
		.run = run_change, .inner = in_paren, .syntax = text, .kind = what,    \
		.doc = help }

const struct rule_action track_actions[] = {
	{ .name = "track-sc",
		.places = RULE_IN(TCP_CONNECTION) | RULE_IN(TCP_SESSION) |
			RULE_IN(TCP_REQ_CONTENT) | RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE),
		.is_numbered = 1,
		.parse = parse_track,
		.run = run_track,
		.check = check_tracking,
		.syntax = "<key> [table <table>]",
		.doc = "Tracks the entry of this key with counter <n>, which has a number from 0: "
		       "track-sc0, track-sc1 ... It counts what happens until the connection "
		       "(tcp-request connection and session) or the request ends. The first rule "
		       "counts that tracks something with this counter." },
	CHANGE("sc-add-gpc", ADD_GPC, parse_change, "<idx>,<ctr>", "<number>|<expr>",
		"Adds a number to gpc number <idx> of what counter <ctr> tracks."),
	CHANGE("sc-inc-gpc", INC_GPC, parse_increment, "<idx>,<ctr>", NULL,
		"Adds 1 to gpc number <idx> of what counter <ctr> tracks."),
	CHANGE("sc-inc-gpc0", INC_GPC0, parse_increment, "<ctr>", NULL,
		"Adds 1 to gpc0 of what counter <ctr> tracks."),
	CHANGE("sc-inc-gpc1", INC_GPC1, parse_increment, "<ctr>", NULL,
		"Adds 1 to gpc1 of what counter <ctr> tracks."),
	CHANGE("sc-set-gpt", SET_GPT, parse_change, "<idx>,<ctr>", "<number>|<expr>",
		"Sets gpt number <idx> of what counter <ctr> tracks."),
	CHANGE("sc-set-gpt0", SET_GPT0, parse_change, "<ctr>", "<number>|<expr>",
		"Sets gpt0 of what counter <ctr> tracks."),
	{ .name = NULL },
};
