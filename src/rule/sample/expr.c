/* Compiles an expression and evaluates it: a fetch, then converters, with casts between them.
 * Types are checked when it is compiled, so that evaluating cannot meet a wrong one. */
#include "rule/sample/expr.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/known.h"
#include "cfg/suggest.h"
#include "rule/sample/args.h"
#include "rule/sample/shortfall.h"

/* --- names in the tables of fetches, converters and actions --- */

int
rule_vocab_add_fetches(struct rule_vocab *v, const struct rule_fetch *table)
{
	if (v->n_fetch == RULE_TABLES_MAX)
		return -ERR_RANGE;
	v->fetch[v->n_fetch++] = table;
	return 0;
}

int
rule_vocab_add_convs(struct rule_vocab *v, const struct rule_conv *table)
{
	if (v->n_conv == RULE_TABLES_MAX)
		return -ERR_RANGE;
	v->conv[v->n_conv++] = table;
	return 0;
}

int
rule_vocab_add_actions(struct rule_vocab *v, const struct rule_action *table)
{
	if (v->n_action == RULE_TABLES_MAX)
		return -ERR_RANGE;
	v->action[v->n_action++] = table;
	return 0;
}

static int
is_word_named(struct str name, const char *candidate)
{
	return strncmp(name.p, candidate, name.len) == 0 && candidate[name.len] == '\0';
}

static const struct rule_fetch *
rule_find_fetch(const struct rule_vocab *v, struct str name)
{
	for (unsigned int i = 0; i < v->n_fetch; i++)
		for (const struct rule_fetch *f = v->fetch[i]; f->name; f++)
			if (is_word_named(name, f->name))
				return f;
	return NULL;
}

static const struct rule_conv *
rule_find_conv(const struct rule_vocab *v, struct str name)
{
	for (unsigned int i = 0; i < v->n_conv; i++)
		for (const struct rule_conv *c = v->conv[i]; c->name; c++)
			if (is_word_named(name, c->name))
				return c;
	return NULL;
}

/* --- ACLs --- */

static const char *const endings[] = { "beg", "dir", "dom", "end", "len", "reg", "sub" };

const struct rule_fetch *
rule_find_acl_fetch(const struct rule_vocab *v, struct str name, const char **match)
{
	const struct rule_fetch *f = rule_find_fetch(v, name);

	*match = NULL;
	if (f)
		*match = f->match;
	for (size_t i = 0; !f && i < ARRAY_LEN(endings) && name.len > 4; i++) {
		if (name.p[name.len - 4] != '_' ||
			memcmp(name.p + name.len - 3, endings[i], 3) != 0)
			continue;
		f = rule_find_fetch(v, (struct str){ name.p, name.len - 4 });
		if (f && !f->derives)
			f = NULL;
		*match = endings[i];
	}
	return f && f->acl ? rule_find_fetch(v, str_of(f->acl)) : f;
}

/* --- unknown names --- */

static int
copy_name(struct str name, char *out, size_t cap)
{
	if (name.len >= cap)
		return -1;
	memcpy(out, name.p, name.len);
	out[name.len] = '\0';
	return 0;
}

/* The nearest known name, or NULL. */
static const char *
rule_suggest_fetch(const struct rule_vocab *v, struct str name)
{
	char given[CFG_SUGGEST_MAX + 1];
	struct cfg_suggest s;

	if (copy_name(name, given, sizeof(given)))
		return NULL;
	cfg_suggest_init(&s, given);
	for (unsigned int i = 0; i < v->n_fetch; i++)
		for (const struct rule_fetch *f = v->fetch[i]; f->name; f++)
			cfg_suggest_offer(&s, f->name);
	return s.best;
}

static const char *
rule_suggest_conv(const struct rule_vocab *v, struct str name)
{
	char given[CFG_SUGGEST_MAX + 1];
	struct cfg_suggest s;

	if (copy_name(name, given, sizeof(given)))
		return NULL;
	cfg_suggest_init(&s, given);
	for (unsigned int i = 0; i < v->n_conv; i++)
		for (const struct rule_conv *c = v->conv[i]; c->name; c++)
			cfg_suggest_offer(&s, c->name);
	return s.best;
}

static const char *const known_fetches[] = {
#define KNOWN_FETCH(name) name,
#define KNOWN_CONV(name)
#include "rule/sample/known.tbl.h"
#undef KNOWN_FETCH
#undef KNOWN_CONV
};

static const char *const known_convs[] = {
#define KNOWN_FETCH(name)
#define KNOWN_CONV(name) name,
#include "rule/sample/known.tbl.h"
#undef KNOWN_FETCH
#undef KNOWN_CONV
};

/* Scripts name their own fetches, converters, actions and services. */
int
rule_is_of_lua(struct str name)
{
	return name.len > 4 && memcmp(name.p, "lua.", 4) == 0;
}

/* Known to HAProxy but not supported. */
static int
rule_is_known_fetch(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(known_fetches); i++)
		if (is_word_named(name, known_fetches[i]))
			return 1;
	return rule_is_of_lua(name);
}

static int
rule_is_known_conv(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(known_convs); i++)
		if (is_word_named(name, known_convs[i]))
			return 1;
	return rule_is_of_lua(name);
}

/* --- expressions --- */

struct step {
	const struct rule_conv *conv;
	enum sample_type in;     /* the type it is cast to first: conv->in, or ANY */
	size_t at;               /* offset of the name in the text */
	struct rule_args *args;
};

struct rule_expr {
	const struct rule_fetch *fetch;
	unsigned int needs, uses;
	enum sample_type type;
	size_t at;               /* offset of the fetch's arguments */
	char *text;              /* the parsed text, for error positions in rule_expr_check() */
	size_t len;
	unsigned int n;
	struct step *step;       /* array of n */
	struct rule_args args;   /* the last: there is memory for rule_args_size() only */
};

/* Frees the texts of a copy. */
static void
rule_args_drop(struct rule_args *a)
{
	for (unsigned int i = 0; i < a->n; i++)
		mem_free((char *)(uintptr_t)a->arg[i].text.p);
}

void
rule_expr_free(struct rule_expr **pe)
{
	struct rule_expr *e = *pe;

	if (!e)
		return;
	if (e->fetch && e->fetch->free)
		e->fetch->free(&e->args);
	rule_args_drop(&e->args);
	for (unsigned int i = 0; i < e->n; i++) {
		if (e->step[i].conv->free)
			e->step[i].conv->free(e->step[i].args);
		rule_args_drop(e->step[i].args);
		mem_free(e->step[i].args);
	}
	mem_free(e->step);
	mem_free(e->text);
	mem_free(e);
	*pe = NULL;
}

/* --- parsing --- */

static int
is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '.' || c == '-' || c == '+';
}

static struct str
name_at(struct str text, size_t at)
{
	struct str name = { text.p + at, 0 };

	while (at + name.len < text.len && is_word_char(name.p[name.len]))
		name.len++;
	return name;
}

static int
fail_name(struct rule_err *why, size_t at, const char *what, struct str name, const char *near,
	int known)
{
	int len = (int)MIN(name.len, (size_t)64);

	if (name.len == 0)
		return rule_fail(why, at, -ERR_SYNTAX, "the name of a %s is missing", what);
	if (known) {
		char text[64 + 1];
		const char *instead;

		(void)snprintf(text, sizeof(text), "%.*s", len, name.p);
		instead = cfg_known_instead(text);
		return rule_fail(why, at, -ERR_UNSUPPORTED, "%s '%s' is not supported%s%s", what,
			text, instead ? ": " : "", instead ? instead : "");
	}
	if (near)
		return rule_fail(why, at, -ERR_UNKNOWN, "unknown %s '%.*s'; did you mean '%s'?",
			what, len, name.p, near);
	return rule_fail(why, at, -ERR_UNKNOWN, "unknown %s '%.*s'", what, len, name.p);
}

static const char *
scope_text(unsigned int missing)
{
	static const char *const text[] = {
		"a connection",
		"a request",
		"a backend",
		"a server",
		"a response",
		"the end of a session",
		"a request's body",
		"a request of mode http",
		"a health check",
	};

	for (size_t i = 0; i < ARRAY_LEN(text); i++)
		if (missing & (1u << i))
			return text[i];
	return "something";
}

/* Returns what the fetch needs among the SAMPLE_AT_x that are available. */
static unsigned int
needs_at(const struct rule_fetch *f, unsigned int at)
{
	unsigned int other = f->instead & at;

	return (f->needs & ~at) && other ? other : f->needs;
}

static int
check_scope(const struct rule_fetch *f, unsigned int at, struct rule_err *why)
{
	unsigned int missing = needs_at(f, at) & ~at;

	if (f->either && !(f->either & at))
		missing |= f->either;
	if (!missing)
		return 0;
	return rule_fail(why, 0, -ERR_INVAL,
		"'%s' cannot be used here: it needs %s, which is not available", f->name,
		scope_text(missing));
}

/* Reports an error of init or check at its argument. */
static int
fail_arg(struct rule_err *why, struct str text, size_t open, const struct rule_args *a,
	const char *name, const char *reason)
{
	size_t at = a->n > a->bad ? rule_args_place(text, open, a->bad) : open;

	return rule_fail(why, at, -ERR_INVAL, "'%s': %s", name, reason);
}

/* Reports an error of check, with its argument: the caller may know the line only. Returns -1. */
static int
fail_check(struct rule_err *why, struct str text, size_t open, const struct rule_args *a,
	const char *name, const char *reason)
{
	struct str bad = a->n > a->bad ? a->arg[a->bad].text : (struct str){ NULL, 0 };
	size_t n;

	(void)fail_arg(why, text, open, a, name, reason);
	n = strlen(why->text);
	if (bad.len)
		(void)snprintf(why->text + n, sizeof(why->text) - n, ": '%.*s'",
			(int)MIN(bad.len, (size_t)64), bad.p);
	return -1;
}

/* The declaration of the arguments of a fetch or converter. */
struct declared {
	const char *name;
	const enum rule_arg_type *types;
	unsigned int min;
	intptr_t kind;
};

/* Copies parsed arguments there; the copy owns their texts from now on. */
static void
rule_args_keep(const struct rule_args *a, const enum rule_arg_type *types, struct rule_args *to)
{
	memcpy((void *)to, a, rule_args_size(types));
}

static void
rule_args_free(struct rule_args *a)
{
	for (unsigned int i = 0; i < RULE_ARGS_MAX; i++) {
		mem_free((char *)(uintptr_t)a->arg[i].text.p);
		a->arg[i].text = (struct str){ NULL, 0 };
	}
}

/* out: memory of rule_args_size(). */
static int
parse_args(const struct declared *d, struct str text, size_t *at, struct rule_args *out,
	struct rule_err *why)
{
	struct rule_args all;
	int r = rule_args_parse(d->types, d->min, d->name, text, at, &all, why);

	all.kind = d->kind;
	if (r)
		rule_args_free(&all);
	else
		rule_args_keep(&all, d->types, out);
	return r;
}

static int
parse_fetch(struct rule_expr *e, const struct rule_vocab *v, const struct rule_fetch *f,
	struct str text, size_t *at, struct rule_err *why)
{
	const char *reason = "it does not work";
	int r;

	e->at = *at;
	r = parse_args(&(struct declared){ f->name, f->arg, f->min, f->kind }, text, at, &e->args,
		why);
	if (r)
		return r;
	e->fetch = f;
	e->type = f->out;
	if (f->init && f->init(&e->args, v, &reason))
		return fail_arg(why, text, e->at, &e->args, f->name, reason);
	return 0;
}

/* Variables of scope check exist in health checks only. */
static int
check_var_scope(const struct rule_args *a, struct str text, size_t open, unsigned int at,
	struct rule_err *why)
{
	for (unsigned int i = 0; i < a->n; i++) {
		if (a->arg[i].type != ARG_VAR || a->arg[i].u.var.scope != VAR_CHECK ||
			(at & SAMPLE_AT_CHECK))
			continue;
		return rule_fail(why, rule_args_place(text, open, i), -ERR_INVAL,
			"variables of scope 'check' are for health checks");
	}
	return 0;
}

/* The frontend that is not named is that of the connection. */
static int
check_own_frontend(const struct rule_expr *e, unsigned int at, struct rule_err *why)
{
	if (e->fetch->arg[0] != ARG_FRONTEND || e->args.arg[0].type != ARG_END ||
		(at & SAMPLE_AT_CONN))
		return 0;
	return rule_fail(why, 0, -ERR_INVAL,
		"'%s' cannot be used here without a name: it needs %s, which is not available",
		e->fetch->name, scope_text(SAMPLE_AT_CONN));
}

/* The variables of all arguments of a parsed expression. */
static int
check_var_scopes(const struct rule_expr *e, struct str text, unsigned int at, struct rule_err *why)
{
	int r = check_var_scope(&e->args, text, e->at, at, why);

	for (unsigned int i = 0; !r && i < e->n; i++)
		r = check_var_scope(e->step[i].args, text, e->step[i].at, at, why);
	return r;
}

/* The step counts when its arguments are parsed. */
static struct step *
add_step(struct rule_expr *e, const struct rule_conv *c)
{
	struct step *p = mem_resize(e->step, e->n + 1, sizeof(*p));

	if (!p)
		return NULL;
	e->step = p;
	p += e->n;
	memset(p, 0, sizeof(*p));
	p->args = mem_alloc(rule_args_size(c->arg));
	return p->args ? p : NULL;
}

static int
parse_conv(struct rule_expr *e, const struct rule_vocab *v, struct str text, size_t *at,
	struct rule_err *why)
{
	struct str name = name_at(text, *at);
	const struct rule_conv *c = rule_find_conv(v, name);
	const char *reason = "it does not work";
	size_t open = *at + name.len;
	struct step *s;
	int r;

	if (!c)
		return fail_name(why, *at, "converter", name, rule_suggest_conv(v, name),
			rule_is_known_conv(name));
	if (!sample_can_cast(e->type, c->in))
		return rule_fail(why, *at, -ERR_INVAL,
			"'%s' cannot be applied: it takes %s, not %s", c->name,
			sample_type_name(c->in),
			sample_type_name(e->type));
	if (e->n == RULE_CONVS_MAX)
		return rule_fail(why, *at, -ERR_RANGE, "more than %d converters", RULE_CONVS_MAX);
	s = add_step(e, c);
	if (!s)
		return rule_fail(why, *at, -ERR_NOMEM, "%s", err_text(-ERR_NOMEM));
	s->at = open;
	*at = open;
	r = parse_args(&(struct declared){ c->name, c->arg, c->min, c->kind }, text, at, s->args,
		why);
	if (r) {
		mem_free(s->args);
		return r;
	}
	s->conv = c;
	s->in = c->in;
	e->n++;
	/* One that takes any type and returns any does not change it. */
	if (c->out != SAMPLE_ANY || c->in != SAMPLE_ANY)
		e->type = c->out;
	if (c->init && c->init(s->args, v, &reason))
		return fail_arg(why, text, open, s->args, c->name, reason);
	return 0;
}

static int
parse_all(struct rule_expr *e, const struct rule_vocab *v, const struct rule_fetch *f,
	struct str text, size_t *at, int open, struct rule_err *why)
{
	int r = parse_fetch(e, v, f, text, at, why);

	while (!r && *at < text.len && text.p[*at] == ',') {
		++*at;
		r = parse_conv(e, v, text, at, why);
	}
	if (!r && *at < text.len && !open)
		r = rule_fail(why, *at, -ERR_SYNTAX,
			"'%c' cannot follow: a ',' and a converter can", text.p[*at]);
	if (r)
		return r;
	e->len = *at;
	e->text = mem_strndup(text.p, *at);
	return e->text ? 0 : rule_fail(why, 0, -ERR_NOMEM, "%s", err_text(-ERR_NOMEM));
}

static int
parse_expr(const struct rule_vocab *v, const struct rule_fetch *f, struct str text, struct str name,
	unsigned int at, int open, struct rule_expr **out, size_t *used, struct rule_err *why)
{
	struct rule_expr *e;
	int r;

	*out = NULL;
	if (!f)
		return fail_name(why, 0, "fetch", name, rule_suggest_fetch(v, name),
			rule_is_known_fetch(name));
	r = check_scope(f, at, why);
	if (r)
		return r;
	e = mem_zalloc(offsetof(struct rule_expr, args) + rule_args_size(f->arg));
	if (!e)
		return rule_fail(why, 0, -ERR_NOMEM, "%s", err_text(-ERR_NOMEM));
	e->needs = needs_at(f, at);
	e->uses = e->needs | f->either;
	*used = name.len;
	r = parse_all(e, v, f, text, used, open, why);
	if (!r)
		r = check_own_frontend(e, at, why);
	if (!r)
		r = check_var_scopes(e, text, at, why);
	if (r)
		rule_expr_free(&e);
	*out = e;
	return r;
}

int
rule_expr_parse(const struct rule_vocab *v, const char *text, size_t len, unsigned int at, int open,
	struct rule_expr **out, size_t *used, struct rule_err *why)
{
	struct str t = { text, len }, name = name_at(t, 0);

	return parse_expr(v, rule_find_fetch(v, name), t, name, at, open, out, used, why);
}

int
rule_expr_parse_acl(const struct rule_vocab *v, const char *text, size_t len, unsigned int at,
	struct rule_expr **out, const char **match, struct rule_err *why)
{
	struct str t = { text, len }, name = name_at(t, 0);
	const struct rule_fetch *f = rule_find_acl_fetch(v, name, match);
	size_t used;
	int r = parse_expr(v, f, t, name, at, 0, out, &used, why);

	if (!r && (*out)->n > 0)
		*match = NULL;
	return r;
}

int
rule_expr_check(struct rule_expr *e, void *root, struct rule_err *why)
{
	struct str text = { e->text, e->len };
	const char *reason = "it does not work";

	if (e->fetch->check && e->fetch->check(&e->args, root, &reason))
		return fail_check(why, text, e->at, &e->args, e->fetch->name, reason);
	for (unsigned int i = 0; i < e->n; i++) {
		struct step *s = &e->step[i];

		if (s->conv->check && s->conv->check(s->args, root, &reason))
			return fail_check(why, text, s->at, s->args, s->conv->name, reason);
	}
	return 0;
}

/* The result of converters is unknown here. */
int
rule_expr_check_pattern(const struct rule_expr *e, struct str text, struct rule_err *why)
{
	const char *reason = "it does not work";

	if (!e->fetch->check_pattern || e->n > 0 ||
		e->fetch->check_pattern(&e->args, text, &reason) == 0)
		return 0;
	(void)rule_fail(why, 0, -ERR_INVAL, "'%s': %s: '%.*s'", e->fetch->name, reason,
		(int)MIN(text.len, (size_t)64), text.p);
	return -1;
}

enum sample_type
rule_expr_type(const struct rule_expr *e)
{
	return e->type;
}

int
rule_expr_has_convs(const struct rule_expr *e)
{
	return e->n > 0;
}

unsigned int
rule_expr_needs(const struct rule_expr *e)
{
	return e->needs;
}

int
rule_expr_fits(const struct rule_expr *e, unsigned int at)
{
	unsigned int either = e->uses & ~e->needs;

	return !(e->needs & ~at) && (!either || (either & at));
}

unsigned int
rule_expr_uses(const struct rule_expr *e)
{
	return e->uses;
}

/* --- evaluation --- */

static int
is_text(const struct sample *s)
{
	return s->type == SAMPLE_STR || s->type == SAMPLE_BIN;
}

/* Returns 0, or -1 for a text that is longer than a value may be, which is counted. */
static int
check_length(const struct sample *s, struct arena *a)
{
	if (!is_text(s) || !a->max || s->u.str.len <= a->max)
		return 0;
	a->refused++;
	return -1;
}

/* Frees what has been taken of the arena since it was marked, but for the text of s. */
static void
keep_only(struct sample *s, struct arena *a, size_t mark)
{
	const char *from = a->p + mark, *end = a->p + a->used;

	if (!is_text(s) || !s->u.str.p || s->u.str.p < from || s->u.str.p >= end) {
		arena_release(a, mark);
		return;
	}
	memmove(a->p + mark, s->u.str.p, s->u.str.len);
	s->u.str.p = a->p + mark;
	arena_release(a, mark + s->u.str.len);
}

/* A converter does not need what those before it have made, besides its input. The fetch's result
 * stays: it may continue there for its next value. */
static int
eval_steps(const struct rule_expr *e, struct sample_ctx *cx, struct sample *s)
{
	size_t mark = arena_mark(cx->arena);

	for (unsigned int i = 0; i < e->n; i++) {
		const struct step *p = &e->step[i];

		if (sample_cast(s, p->in, cx->arena) || !p->conv->conv(p->args, cx, s) ||
			check_length(s, cx->arena))
			return 0;
		if (i > 0)
			keep_only(s, cx->arena, mark);
	}
	return 1;
}

/* Evaluates it without reporting a value that is too long. */
static int
eval_quietly(const struct rule_expr *e, struct sample_ctx *cx, struct sample *s)
{
	s->has_more = s->may_change = 0;
	return e->fetch->fetch(&e->args, cx, s) && check_length(s, cx->arena) == 0 &&
		eval_steps(e, cx, s);
}

static void
report_too_long(const struct rule_expr *e, struct sample_ctx *cx)
{
	shortfall_add(cx, SHORTFALL_ROOM, "it is longer than tune.bufsize", "'%s'", e->text);
}

int
rule_expr_eval(const struct rule_expr *e, struct sample_ctx *cx, struct sample *s)
{
	uint64_t before = cx->arena->refused;

	if (likely(eval_quietly(e, cx, s)))
		return 1;
	if (unlikely(cx->arena->refused != before))
		report_too_long(e, cx);
	return 0;
}

int
rule_expr_eval_as(const struct rule_expr *e, struct sample_ctx *cx, enum sample_type type,
	struct sample *s)
{
	uint64_t before = cx->arena->refused;

	if (eval_quietly(e, cx, s) && sample_cast(s, type, cx->arena) == 0)
		return 1;
	if (unlikely(cx->arena->refused != before))
		report_too_long(e, cx);
	return 0;
}
