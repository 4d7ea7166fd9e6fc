/* get var, set var: variables of scope proc (management manual 9.3), which workers share under a
 * lock. On the first worker. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "rule/sample/arena.h"
#include "rule/sample/expr.h"
#include "rule/sample/fmt.h"
#include "rule/sample/var.h"

/* Bytes of a value that are shown. */
#define VARS_SHOWN_MAX 1024

/* The context of an expression that no session evaluates. */
static void
init_context(struct admin_conn *c, struct sample_ctx *cx)
{
	struct engine *e = &c->admin->worker->engine;

	memset(cx, 0, sizeof(*cx));
	cx->proc = &e->shared->vars;
	cx->sink = e->log;
	cx->arena = &e->eval.arena;
	cx->regex = e->eval.regex;
	cx->shortfalls = &e->eval.shortfalls;
	cx->now_ms = loop_now_ms(e->loop);
	cx->wall_ns = loop_wall_ns(e->loop);
	cx->random = &e->eval.random;
	cx->sys = e->sys;
	cx->worker = e->index;
}

/* --- get var --- */

static void
show_variable(struct admin_conn *c, const char *name, struct sample_ctx *cx, struct sample *s)
{
	const char *type = sample_type_word(s->type);
	char text[VARS_SHOWN_MAX + 1];
	struct sbuf b;

	if (sample_cast(s, SAMPLE_STR, cx->arena)) {
		admin_msg(c, ADMIN_INFO, "%s: type=%s (undisplayable)", name, type);
		return;
	}
	sbuf_init_fixed(&b, text, sizeof(text));
	sample_add_printable(&b, s->u.str, VARS_SHOWN_MAX);
	admin_msg(c, ADMIN_INFO, "%s: type=%s value=<%s>", name, type, text);
}

void
admin_cmd_get_var(struct admin_conn *c, int argc, char **argv)
{
	struct sample_ctx cx;
	struct var_name name;
	struct sample s;
	const char *why;
	size_t mark;

	if (argc < 1) {
		admin_msg(c, ADMIN_ERR, "Missing process-wide variable identifier.");
		return;
	}
	init_context(c, &cx);
	mark = arena_mark(cx.arena);
	if (var_name_parse(str_of(argv[0]), &name, &why) == 0 && name.scope == VAR_PROC &&
		var_find(&cx, name, &s))
		show_variable(c, argv[0], &cx, &s);
	else
		admin_msg(c, ADMIN_ERR, "Variable not found.");
	arena_release(cx.arena, mark);
}

/* --- set var --- */

/* The name of the variable. 0, or -1 after a message. */
static int
parse_variable(struct admin_conn *c, const char *text, struct var_name *name)
{
	const char *why;

	if (var_name_parse(str_of(text), name, &why) < 0) {
		admin_msg(c, ADMIN_ERR, "'set var': variable '%s': %s.", text, why);
		return -1;
	}
	if (name->scope != VAR_PROC) {
		admin_msg(c, ADMIN_ERR,
			"'set var': cannot set variable '%s', only scope 'proc' is permitted here.",
			text);
		return -1;
	}
	return 0;
}

/* 1: s has a value, 0: none, or -1 after a message. */
static int
eval_fmt(struct admin_conn *c, const struct rule_vocab *v, const char *text, struct sample_ctx *cx,
	struct sample *s)
{
	struct rule_fmt *f = NULL;
	struct rule_err why = { 0 };
	int r = -1;

	memset(s, 0, sizeof(*s));
	s->type = SAMPLE_STR;
	if (rule_fmt_compile(v, text, 0, 0, &f, &why) < 0)
		admin_msg(c, ADMIN_ERR, "'set var': %s.", why.text);
	else if (rule_fmt_text(f, cx, &s->u.str) < 0)
		admin_msg(c, ADMIN_ERR, "'set var': the text is too long.");
	else
		r = 1;
	/* A constant text belongs to the format. */
	if (r == 1)
		s->u.str = arena_copy(cx->arena, s->u.str);
	rule_fmt_free(&f);
	return r == 1 && !s->u.str.p ? 0 : r;
}

static int
eval_expr(struct admin_conn *c, const struct rule_vocab *v, const char *text, struct sample_ctx *cx,
	struct sample *s)
{
	struct rule_expr *e = NULL;
	struct rule_err why = { 0 };
	size_t used;
	int r = -1;

	if (rule_expr_parse(v, text, strlen(text), 0, 0, &e, &used, &why) < 0)
		admin_msg(c, ADMIN_ERR, "'set var': %s.", why.text);
	else
		r = rule_expr_eval(e, cx, s) == 1;
	if (r == 1 && (s->type == SAMPLE_STR || s->type == SAMPLE_BIN))
		s->u.str = arena_copy(cx->arena, s->u.str);
	rule_expr_free(&e);
	return r;
}

static void
set_variable(struct admin_conn *c, struct var_name name, int is_fmt, const char *text)
{
	struct rule_vocab v = c->admin->process->cfg->proxies.vocab;
	struct sample_ctx cx;
	struct sample s;
	size_t mark;
	int r;

	/* Files of maps are read at start only, and log variables are those of a session. */
	v.files = NULL;
	v.aliases = NULL;
	init_context(c, &cx);
	mark = arena_mark(cx.arena);
	r = is_fmt ? eval_fmt(c, &v, text, &cx, &s) : eval_expr(c, &v, text, &cx, &s);
	if (r == 0)
		admin_msg(c, ADMIN_ERR, "'set var': the expression has no value.");
	else if (r == 1 && var_store(&cx, name, &s) < 0)
		admin_msg(c, ADMIN_ERR, "'set var': not enough memory for the variable.");
	arena_release(cx.arena, mark);
}

/* <name> [fmt|expr] {<fmt>|<expr>} */
void
admin_cmd_set_var(struct admin_conn *c, int argc, char **argv)
{
	struct var_name name;
	int is_fmt = argc > 2 && strcmp(argv[1], "fmt") == 0;

	if (argc < 1) {
		admin_msg(c, ADMIN_ERR, "Missing process-wide variable identifier.");
	} else if (argc < 2) {
		admin_msg(c, ADMIN_ERR, "Missing either 'expr', 'fmt' or expression.");
	} else if (argc > 2 && !is_fmt && strcmp(argv[1], "expr") != 0) {
		admin_msg(c, ADMIN_ERR,
			"'set var': arg type must be either 'expr' or 'fmt' but got '%s'.",
			argv[1]);
	} else if (argc > 3) {
		admin_msg(c, ADMIN_ERR, "'set var': unexpected argument '%s'.", argv[3]);
	} else if (parse_variable(c, argv[0], &name) == 0) {
		set_variable(c, name, is_fmt, argv[argc - 1]);
	}
}
