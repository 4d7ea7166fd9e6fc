/* The lines that begin with a dot: conditional blocks and messages. Main thread, while the
 * configuration is read. */
#include "cfg/directive.h"

#include <string.h>

#include "base/mem.h"
#include "cfg/reader.h"

static int
eval_condition(struct cfg_reader *r)
{
	const struct cfg_word *w = r->lexer.word;
	unsigned n = r->lexer.nword, i = 1, at;
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
		at -= (unsigned)strlen(w[i].text) + 1;
	cfg_error_col(
		&r->ctx, (i < n ? w[i].col : w[0].col) + at, "%s in '%s'", err.text, w[0].text);
	return -1;
}

static int
print_message(struct cfg_reader *r, enum cfg_sev sev)
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

int
cfg_directive_block(struct cfg_reader *r, int *rc)
{
	const struct cfg_word *w = r->lexer.word;
	struct cfg_blocks *b = &r->blocks;
	bool bare = false;
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
		bare = true;
	} else if (strcmp(w[0].text, ".endif") == 0) {
		*rc = cfg_blocks_endif(b);
		bare = true;
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

int
cfg_directive_run(struct cfg_reader *r)
{
	const char *name = r->lexer.word[0].text;

	if (strcmp(name, ".notice") == 0)
		return print_message(r, CFG_NOTICE);
	if (strcmp(name, ".warning") == 0)
		return print_message(r, CFG_WARNING);
	if (strcmp(name, ".alert") == 0)
		return print_message(r, CFG_ALERT);
	if (strcmp(name, ".diag") == 0)
		return print_message(r, CFG_DIAGMSG);
	return cfg_error_col(&r->ctx, r->lexer.word[0].col, "unknown directive '%.60s'.", name);
}
