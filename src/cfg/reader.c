/* Reads lines, follows sections and conditional blocks, and hands each line on. Main thread. A
 * section that cannot be opened is skipped to its end, and reading continues. */
#include "cfg/reader.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "cfg/known.h"
#include "cfg/statement.h"
#include "cfg/suggest.h"

/* --- blocks of .if --------------------------------------------------------------------------- */

static const char *const block_errors[CFG_BLOCK_ERR_COUNT] = {
	[CFG_BLOCK_OK] = "no error",
#define X(name, text) [CFG_BLOCK_##name] = (text),
	CFG_BLOCK_ERRS(X)
#undef X
};

static enum cfg_block_state *
top_state(struct cfg_blocks *b)
{
	return b->depth ? &b->state[b->depth - 1] : NULL;
}

static int
cfg_blocks_is_active(const struct cfg_blocks *b)
{
	enum cfg_block_state s;

	if (b->depth == 0)
		return 1;
	s = b->state[b->depth - 1];
	return s == CFG_BLOCK_ACTIVE || s == CFG_BLOCK_ELSE_ACTIVE;
}

/* True if the condition of an .elif at this place must be evaluated. */
static int
cfg_blocks_is_waiting(const struct cfg_blocks *b)
{
	return b->depth > 0 && b->state[b->depth - 1] == CFG_BLOCK_WAIT;
}

/* Each returns 0 or a negated enum cfg_block_err. `cond` is 1, 0, or -1 if it could not be
 * evaluated: then no branch of the block is selected. */
static int
cfg_blocks_if(struct cfg_blocks *b, int cond, const struct cfg_where *where)
{
	enum cfg_block_state s;

	if (b->depth == CFG_BLOCK_DEPTH_MAX)
		return -CFG_BLOCK_DEEP;
	if (!cfg_blocks_is_active(b) || cond < 0)
		s = CFG_BLOCK_PAST;
	else
		s = cond ? CFG_BLOCK_ACTIVE : CFG_BLOCK_WAIT;
	b->where[b->depth] = *where;
	b->state[b->depth++] = s;
	return 0;
}

static int
cfg_blocks_elif(struct cfg_blocks *b, int cond)
{
	enum cfg_block_state *s = top_state(b);

	if (!s)
		return -CFG_BLOCK_LONE_ELIF;
	if (*s == CFG_BLOCK_ELSE_ACTIVE || *s == CFG_BLOCK_ELSE_PAST)
		return -CFG_BLOCK_ELIF_AFTER_ELSE;
	if (*s == CFG_BLOCK_ACTIVE || cond < 0)
		*s = CFG_BLOCK_PAST;
	else if (*s == CFG_BLOCK_WAIT && cond > 0)
		*s = CFG_BLOCK_ACTIVE;
	return 0;
}

static int
cfg_blocks_else(struct cfg_blocks *b)
{
	enum cfg_block_state *s = top_state(b);

	if (!s)
		return -CFG_BLOCK_LONE_ELSE;
	if (*s == CFG_BLOCK_ELSE_ACTIVE || *s == CFG_BLOCK_ELSE_PAST)
		return -CFG_BLOCK_ELSE_AFTER_ELSE;
	*s = *s == CFG_BLOCK_WAIT ? CFG_BLOCK_ELSE_ACTIVE : CFG_BLOCK_ELSE_PAST;
	return 0;
}

static int
cfg_blocks_endif(struct cfg_blocks *b)
{
	if (b->depth == 0)
		return -CFG_BLOCK_LONE_ENDIF;
	b->depth--;
	return 0;
}

static const char *
cfg_blocks_strerror(int err)
{
	unsigned int i = err < 0 ? 0u - (unsigned int)err : (unsigned int)err;

	return i < CFG_BLOCK_ERR_COUNT ? block_errors[i] : "unknown error";
}

/* --- places and variables ------------------------------------------------ */

/* The environment, preceded by the pseudo-variables of manual 2.3. */
static const char *
reader_getenv(void *arg, const char *name)
{
	struct cfg_reader *r = arg;

	if (name[0] != '.')
		return cfg_env_get(r->ctx.env, name);
	if (strcmp(name, ".FILE") == 0)
		return r->ctx.where.file ? r->ctx.where.file->name : "";
	if (strcmp(name, ".SECTION") == 0)
		return r->ctx.section ? (*r->ctx.name ? r->ctx.name : r->ctx.section->name) : "";
	if (strcmp(name, ".LINE") == 0) {
		snprintf(r->var, sizeof(r->var), "%u", r->ctx.where.line);
		return r->var;
	}
	return NULL;
}

/* --- sections ------------------------------------------------------------ */

static void
close_section(struct cfg_reader *r)
{
	struct cfg_ctx *ctx = &r->ctx;

	ctx->kw = NULL;
	ctx->argc = 0;
	ctx->nword = 0;
	if (r->open && ctx->section->end)
		ctx->section->end(ctx);
	r->open = 0;
	r->skipping = 0;
	ctx->section = NULL;
	ctx->obj = ctx->from = NULL;
	ctx->name = "";
	mem_free(r->name);
	r->name = NULL;
}

/* The same at a column of the line. */
static int
cfg_error_col(struct cfg_ctx *ctx, unsigned int col, const char *fmt, ...)
{
	struct cfg_where w = ctx->where;
	va_list ap;

	w.col = col;
	va_start(ap, fmt);
	cfg_diag_vadd(ctx->diag, CFG_ALERT, &w, fmt, ap);
	va_end(ap);
	return -1;
}

static int
check_section_name(struct cfg_reader *r, unsigned int col, const char *what, const char *name)
{
	const char *p = name;

	while (isalnum((unsigned char)*p) || (*p && strchr("_-.:", *p)))
		p++;
	if (*p)
		return cfg_error_col(&r->ctx, col,
			"character '%c' is not permitted in '%s' name '%.60s'.",
			isprint((unsigned char)*p) ? *p : '?', what, name);
	return 0;
}

/* The defaults section `name`; if there are two, neither can be used. */
static int
find_defaults(struct cfg_reader *r, const struct cfg_word *name, const char *what, void **out)
{
	const struct cfg_defaults *found = NULL;

	*out = NULL;
	for (unsigned int i = 0; i < r->ndefaults; i++) {
		const struct cfg_defaults *d = &r->defaults[i];

		if (strcmp(d->name, name->text) != 0)
			continue;
		if (found)
			return cfg_error_col(&r->ctx, name->col,
				"ambiguous defaults section name '%s' referenced by %s: it stands "
				"at "
				"[%s:%u] and at [%s:%u].",
				name->text, what, found->where.file->name, found->where.line,
				d->where.file->name, d->where.line);
		found = d;
	}
	if (!found && cfg_diag_is_lost(r->ctx.diag, name->text))
		return 0;
	if (!found)
		return cfg_error_col(&r->ctx, name->col, "defaults section '%s' not found for %s.",
			name->text, what);
	*out = found->obj;
	return 0;
}

/* <section> [<name>] [from <defaults>]; fills ctx->name and ctx->from. */
static int
section_args(struct cfg_reader *r, const struct cfg_section *s)
{
	const struct cfg_word *w = r->lexer.word;
	unsigned int n = r->lexer.nword, i = 1;
	struct cfg_ctx *ctx = &r->ctx;
	char what[160];

	while (n > 1 && !*w[n - 1].text)
		n--;
	if ((s->flags & (CFG_SEC_NAMED | CFG_SEC_OPTNAME)) && i < n &&
	    !((s->flags & CFG_SEC_OPTNAME) && strcmp(w[i].text, "from") == 0)) {
		if (check_section_name(r, w[i].col, s->name, w[i].text))
			return -1;
		r->name = mem_strdup(w[i].text);
		if (!r->name)
			return cfg_error_col(&r->ctx, w[i].col, "out of memory");
		i++;
	} else if (s->flags & CFG_SEC_NAMED) {
		return cfg_error_col(&r->ctx, w[0].col, "'%s' expects an <id> argument.", s->name);
	}
	ctx->name = r->name ? r->name : "";
	if ((s->flags & CFG_SEC_FROM) && i < n && strcmp(w[i].text, "from") == 0) {
		if (i + 1 >= n)
			return cfg_error_col(&r->ctx, w[i].col,
				"'from' expects the name of a defaults section.");
		snprintf(what, sizeof(what), "%s '%.100s'", s->name, ctx->name);
		if (find_defaults(r, &w[i + 1], what, &ctx->from))
			return -1;
		i += 2;
	} else if ((s->flags & CFG_SEC_FROM) && !(s->flags & CFG_SEC_DEFAULTS) && r->ndefaults) {
		ctx->from = r->defaults[r->ndefaults - 1].obj;
	}
	/* HAProxy ignores such words without one */
	if (i < n && (s->flags & CFG_SEC_DEFAULTS) && r->name) {
		struct cfg_where at = { ctx->where.file, ctx->where.line, w[i].col };

		cfg_diag_add(ctx->diag, CFG_WARNING, &at,
			"'%s' : words behind the name are ignored: put keywords on lines of "
			"their own.",
			s->name);
		return 0;
	}
	if (i < n)
		return cfg_error_col(&r->ctx, w[i].col,
			"'%s' cannot handle unexpected argument '%.60s'.", s->name, w[i].text);
	return 0;
}

static int
keep_defaults(struct cfg_reader *r)
{
	struct cfg_defaults *d;
	char *name;

	d = array_grow(r->defaults, r->ndefaults, &r->defaultscap, sizeof(*d));
	if (!d)
		return cfg_error_col(&r->ctx, 1, "out of memory");
	r->defaults = d;
	name = mem_strdup(r->ctx.name);
	if (!name)
		return cfg_error_col(&r->ctx, 1, "out of memory");
	d = &r->defaults[r->ndefaults++];
	d->name = name;
	d->obj = r->ctx.obj;
	d->where = r->ctx.where;
	return 0;
}

/* The section cannot be read: its lines are skipped, and references to it are not reported. */
static int
skip_section(struct cfg_reader *r)
{
	close_section(r);
	r->skipping = 1;
	if (r->lexer.nword > 1)
		cfg_diag_lose(r->ctx.diag, r->lexer.word[1].text);
	return -1;
}

static int
open_section(struct cfg_reader *r, const struct cfg_section *s)
{
	struct cfg_ctx *ctx = &r->ctx;
	unsigned int before = ctx->diag->count[CFG_ALERT];

	close_section(r);
	ctx->section = s;
	ctx->n_once = 0;
	ctx->errors_before = before;
	ctx->word = r->lexer.word;
	ctx->nword = r->lexer.nword;
	ctx->kwpos = 0;
	r->skipping = 1;
	if (section_args(r, s))
		return skip_section(r);
	if ((s->flags & CFG_SEC_DEFAULTS) && r->ndefaults == CFG_DEFAULTS_MAX)
		return cfg_error_col(&r->ctx, r->lexer.word[0].col,
			"too many defaults sections; the limit is %d.",
				CFG_DEFAULTS_MAX);
	/* begin() sees the section's name as argument 0, for error messages */
	ctx->base = 1;
	ctx->argc = r->name ? 1 : 0;
	if (s->begin && s->begin(ctx)) {
		if (ctx->diag->count[CFG_ALERT] == before)
			cfg_error_col(&r->ctx, r->lexer.word[0].col, "'%s' could not be opened.",
				s->name);
		return skip_section(r);
	}
	r->open = 1;
	r->skipping = 0;
	return s->flags & CFG_SEC_DEFAULTS ? keep_defaults(r) : 0;
}

/* --- directives ------------------------------------------------------------------------------ */

/*
 * The lines that begin with a dot: conditional blocks and messages. Main thread, while the
 * configuration is read.
 */

static int
eval_condition(struct cfg_reader *r)
{
	const struct cfg_word *w = r->lexer.word;
	unsigned int n = r->lexer.nword, i = 1, at;
	struct cfg_cond_err err = { 0 };
	char *expr = cfg_cond_join(w + 1, n - 1);
	int v;

	if (!expr) {
		cfg_error_col(&r->ctx, w[0].col, "out of memory");
		return -1;
	}
	v = cfg_cond_eval(&r->facts, expr, &err);
	mem_free(expr);
	if (v >= 0)
		return v;
	/* maps the offset in the joined expression to the word with the error */
	for (at = err.at; i + 1 < n && at > strlen(w[i].text); i++)
		at -= (unsigned int)strlen(w[i].text) + 1;
	cfg_error_col(
		&r->ctx, (i < n ? w[i].col : w[0].col) + at, "%s in '%s'", err.text, w[0].text);
	return -1;
}

static int
print_directive(struct cfg_reader *r, enum cfg_sev sev)
{
	const struct cfg_word *w = r->lexer.word;
	struct cfg_where where = r->ctx.where;

	if (r->lexer.nword > 2)
		return cfg_error_col(&r->ctx, w[2].col,
			"Unexpected argument '%.60s' for '%s'. Use quotes if the message should "
			"contain spaces.",
			w[2].text, w[0].text);
	where.col = 0;
	cfg_diag_add(r->ctx.diag, sev, &where, "'%s'.", r->lexer.nword > 1 ? w[1].text : "");
	return sev == CFG_ALERT ? -1 : 0;
}

/* Handles .if, .elif, .else and .endif, also in blocks that are skipped. 1 if the line was one of
 * them: *rc is then 0, or -1 after an error that was reported. */
static int
cfg_directive_block(struct cfg_reader *r, int *rc)
{
	const struct cfg_word *w = r->lexer.word;
	struct cfg_blocks *b = &r->blocks;
	int bare = 0;
	int cond = 0;

	if (strcmp(w[0].text, ".if") == 0) {
		if (cfg_blocks_is_active(b))
			cond = eval_condition(r);
		*rc = cfg_blocks_if(b, cond, &r->ctx.where);
	} else if (strcmp(w[0].text, ".elif") == 0) {
		if (cfg_blocks_is_waiting(b))
			cond = eval_condition(r);
		*rc = cfg_blocks_elif(b, cond);
	} else if (strcmp(w[0].text, ".else") == 0) {
		*rc = cfg_blocks_else(b);
		bare = 1;
	} else if (strcmp(w[0].text, ".endif") == 0) {
		*rc = cfg_blocks_endif(b);
		bare = 1;
	} else {
		return 0;
	}
	if (*rc)
		cfg_error_col(&r->ctx, w[0].col, "%s.", cfg_blocks_strerror(*rc));
	else if (bare && r->lexer.nword > 1)
		*rc = cfg_error_col(&r->ctx, w[1].col, "Unexpected argument '%.60s' for '%s'.",
			w[1].text, w[0].text);
	if (cond < 0)
		*rc = -1;
	return 1;
}

/* Any other directive, outside skipped blocks. 0, or -1 after an error that was reported. */
static int
cfg_directive_run(struct cfg_reader *r)
{
	const char *name = r->lexer.word[0].text;

	if (strcmp(name, ".notice") == 0)
		return print_directive(r, CFG_NOTICE);
	if (strcmp(name, ".warning") == 0)
		return print_directive(r, CFG_WARNING);
	if (strcmp(name, ".alert") == 0)
		return print_directive(r, CFG_ALERT);
	if (strcmp(name, ".diag") == 0)
		return print_directive(r, CFG_DIAGMSG);
	return cfg_error_col(&r->ctx, r->lexer.word[0].col, "unknown directive '%.60s'.", name);
}

/* --- lines and files ----------------------------------------------------- */

static int
out_of_section(struct cfg_reader *r)
{
	const struct cfg_word *w = r->lexer.word;
	struct cfg_suggest near;

	cfg_suggest_init(&near, w[0].text);
	for (unsigned int i = 0; i < r->ctx.registry->nmodule; i++)
		for (const struct cfg_section *s = r->ctx.registry->module[i]->sections;
			s && s->name; s++)
			cfg_suggest_offer(&near, s->name);
	if (near.best) {
		cfg_error_col(&r->ctx, w[0].col,
			 "unknown keyword '%.60s' out of section; did you mean '%s' maybe ?%s",
			 w[0].text, near.best, cfg_word_oddity(w[0].text));
		return skip_section(r);
	}
	return cfg_error_col(&r->ctx, w[0].col, "unknown keyword '%.60s' out of section.%s",
		w[0].text, cfg_word_oddity(w[0].text));
}

static int
read_line(struct cfg_reader *r, const char *line, size_t len)
{
	const struct cfg_section *s;
	int rc = cfg_lexer_line(&r->lexer, line, len);
	const char *first;

	if (rc < 0)
		return cfg_error_col(&r->ctx, r->lexer.errcol, "%s.", cfg_lexer_strerror(rc));
	if (r->lexer.nword == 0 || !*r->lexer.word[0].text)
		return 0;
	first = r->lexer.word[0].text;
	if (first[0] == '.' && cfg_directive_block(r, &rc))
		return rc;
	if (!cfg_blocks_is_active(&r->blocks))
		return 0;
	if (first[0] == '.')
		return cfg_directive_run(r);
	s = cfg_registry_section(r->ctx.registry, first);
	if (s)
		return open_section(r, s);
	if (cfg_known_is_section(first) &&
		!(r->ctx.section && cfg_registry_kw(r->ctx.registry, first, r->ctx.section->bit))) {
		const char *why = cfg_known_instead(first);

		cfg_error_col(&r->ctx, r->lexer.word[0].col,
			"section '%s' is known but not supported%s%s%s", first, why ? " (" : "",
			why ? why : "", why ? ")." : ".");
		return skip_section(r);
	}
	if (r->skipping)
		return 0;
	if (!r->ctx.section)
		return out_of_section(r);
	r->ctx.word = r->lexer.word;
	r->ctx.nword = r->lexer.nword;
	rc = cfg_statement(&r->ctx);
	return r->ctx.is_section ? skip_section(r) : rc;
}

/* Checks at the end of a file. */
static int
end_file(struct cfg_reader *r, const struct cfg_file *f)
{
	int rc = 0;

	close_section(r);
	if (f->len > 0 && f->text[f->len - 1] != '\n')
		rc = cfg_error_col(
			&r->ctx, 0, "Missing LF on last line, file might have been truncated.");
	while (r->blocks.depth > 0) {
		r->ctx.where = r->blocks.where[r->blocks.depth - 1];
		rc = cfg_error_col(&r->ctx, 0, "non-terminated '.if' block.");
		cfg_blocks_endif(&r->blocks);
	}
	r->ctx.where = (struct cfg_where){ 0 };
	return rc;
}

int
cfg_reader_text(struct cfg_reader *r, const char *name, const char *text, size_t len)
{
	const struct cfg_file *f = cfg_diag_file(r->ctx.diag, name, text, len);
	const char *p, *end, *nl;
	int rc = 0;

	if (!f) {
		cfg_diag_add(
			r->ctx.diag, CFG_ALERT, NULL,
				"cannot read '%s': out of memory or too many files.", name);
		return -1;
	}
	r->ctx.where = (struct cfg_where){ .file = f };
	for (p = f->text, end = p + len; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl)
			nl = end;
		r->ctx.where.line++;
		r->ctx.diag->at = r->ctx.where;
		if (read_line(r, p, (size_t)(nl - p)))
			rc = -1;
	}
	return end_file(r, f) ? -1 : rc;
}

int
cfg_reader_end(struct cfg_reader *r)
{
	return cfg_diag_is_fatal(r->ctx.diag) ? -1 : 0;
}

void
cfg_reader_init(struct cfg_reader *r, const struct cfg_reader_opts *opts)
{
	memset(r, 0, sizeof(*r));
	r->ctx.root = opts->root;
	r->ctx.registry = opts->registry;
	r->ctx.diag = opts->diag;
	r->ctx.env = opts->env;
	r->ctx.sys = opts->sys;
	r->ctx.name = "";
	r->facts = *opts->facts;
	r->facts.getenv = reader_getenv;
	r->facts.getenv_arg = r;
	cfg_lexer_init(&r->lexer, reader_getenv, r);
}

void
cfg_reader_fini(struct cfg_reader *r)
{
	close_section(r);
	for (unsigned int i = 0; i < r->ndefaults; i++)
		mem_free(r->defaults[i].name);
	mem_free(r->defaults);
	cfg_lexer_fini(&r->lexer);
	memset(r, 0, sizeof(*r));
}
