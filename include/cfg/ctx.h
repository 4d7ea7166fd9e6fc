#ifndef TACIT_CFG_CTX_H
#define TACIT_CFG_CTX_H

#include <stdint.h>

#include "cfg/diag.h"
#include "cfg/registry.h"
#include "cfg/value.h"

/*
 * The view that a parse function has of its line, and helpers for it. Arguments count from 0 after
 * the keyword's words (inside an option of a bind or server line: after the option's name).
 * Argument -1 is the keyword itself. Helpers that return int return 0, or -1 after they have
 * reported the error at the argument's column.
 */

enum { CFG_ONCE_MAX = 48 };	/* settings that a section may have once */

struct cfg_env;
struct cfg_word;
struct sys;

enum cfg_form {
	CFG_FORM_SET,		/* keyword ... */
	CFG_FORM_NO,		/* no keyword ... */
	CFG_FORM_DEFAULT,	/* default keyword ... : the built-in value */
};

struct cfg_ctx {
	void *root;			/* the configuration being built; owned by the
					 * application */
	void *obj;			/* the section's object; set by its begin() */
	void *from;			/* begin(): the defaults object to inherit from, or NULL */
	const char *name;		/* the section's name, "" when it has none */
	const struct cfg_section *section;
	const struct cfg_kw *kw;	/* NULL in begin() and end() */
	const struct cfg_opt *opt;	/* NULL outside an option */
	enum cfg_form form;
	int argc;			/* number of arguments */

	struct cfg_diag *diag;
	struct cfg_env *env;
	struct sys *sys;		/* for files named by the configuration; NULL: not
					 * allowed */
	const struct cfg_registry *registry;

	/* private to reader.c and ctx.c */
	const struct cfg_word *word;
	unsigned int nword;
	unsigned int kwpos;			/* index of the keyword's first word */
	unsigned int base;			/* index of argument 0 */
	int taken;
	struct cfg_where where;		/* of the line */
	struct {
		const char *what;	/* cfg_kw.once */
		unsigned int line;
	} once[CFG_ONCE_MAX];		/* settings seen in the section */
	unsigned int n_once;
	unsigned int errors_before;		/* errors before the section began */
	int is_section;		/* the line begins a section with a misspelt name */
	int at_run_time;		/* no line of a file, but a command */
};

/* Argument i, or "" when there is none. Valid while the line is parsed. */
const char *cfg_arg(const struct cfg_ctx *ctx, int i);
/* Inside an option with parentheses: what is between them. 0, or -1 if they are missing. */
int cfg_opt_parens(const struct cfg_ctx *ctx, const char **text, size_t *len) must_check;
/* Its place, for later reports with cfg_diag_add(). */
struct cfg_where cfg_arg_where(const struct cfg_ctx *ctx, int i);
/* Number of errors in the section so far. */
unsigned int cfg_section_errors(const struct cfg_ctx *ctx);
/* The keyword as written, such as "timeout connect", for messages. */
const char *cfg_kw_name(const struct cfg_ctx *ctx);

int cfg_error(struct cfg_ctx *ctx, int i, const char *fmt, ...) fmt_printf(3, 4); /* always -1 */
/* The same at a column of the line. */
void cfg_warn(struct cfg_ctx *ctx, int i, const char *fmt, ...) fmt_printf(3, 4);
void cfg_note(struct cfg_ctx *ctx, int i, const char *fmt, ...) fmt_printf(3, 4);
int cfg_nomem(struct cfg_ctx *ctx);			/* "out of memory", always -1 */

/* Typed arguments; the error message names the keyword, the value and the range. */
int cfg_arg_int(struct cfg_ctx *ctx, int i, int min, int max, int *out);
int cfg_arg_int64(struct cfg_ctx *ctx, int i, int64_t min, int64_t max, int64_t *out);
int cfg_arg_time(struct cfg_ctx *ctx, int i, enum cfg_unit unit, uint64_t min_ms,
		 uint64_t max_ms, uint64_t *out_ms);
/* A timeout: milliseconds by default, 0..CFG_TIME_MAX_MS. */
int cfg_arg_timeout(struct cfg_ctx *ctx, int i, uint32_t *out_ms);
int cfg_arg_size(struct cfg_ctx *ctx, int i, uint64_t min, uint64_t max, uint64_t *out);
int cfg_arg_percent(struct cfg_ctx *ctx, int i, unsigned int max, unsigned int *out);
int cfg_arg_bool(struct cfg_ctx *ctx, int i, int *out);
int cfg_arg_enum(struct cfg_ctx *ctx, int i, const struct cfg_enum *table, int *out);
/* The value of an argument in a table whose values are none of them negative, or -1: no error is
 * reported. */
int cfg_arg_word(const struct cfg_ctx *ctx, int i, const struct cfg_enum *table);
/* A copy from mem_strdup(), owned by the caller; frees the previous *out. */
int cfg_arg_dup(struct cfg_ctx *ctx, int i, char **out);
/* The contents of the file that the argument names, at most max bytes; from mem_alloc(),
 * NUL-terminated. */
int cfg_arg_file(struct cfg_ctx *ctx, int i, size_t max, char **text, size_t *len);

/* Parses the options from argument `first` to the end of the line with the tables of `place`;
 * continues after an error. 0, or -1 when one failed. */
int cfg_parse_opts(struct cfg_ctx *ctx, enum cfg_opt_place place, int first, void *obj);
/* Inside an option with a variable number of arguments: sets how many belong to it. */
void cfg_take(struct cfg_ctx *ctx, int n);

#endif
