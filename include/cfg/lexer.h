#ifndef TACIT_CFG_LEXER_H
#define TACIT_CFG_LEXER_H

#include <stddef.h>

#include "base/compiler.h"

/*
 * Splits a configuration line into words: HAProxy's quoting and escaping (configuration manual,
 * 2.2) and environment variables inside double quotes (2.3). A comment ends the line, blanks
 * separate words, and a CR before the LF is dropped. A word that is only "${X[*]}" of an empty or
 * missing variable is omitted. Pure: variables come from a callback, nothing is read or printed.
 */

enum {
	CFG_LINE_MAX = 65536,	/* bytes of one line, before and after expansion */
	CFG_WORDS_MAX = 1024,	/* words of one line, after expansion of "${X[*]}" */
	CFG_VAR_MAX = 255,	/* bytes of a variable's name */
};

#define CFG_LEX_ERRS(X)                                                                  \
	X(NOMEM, "out of memory")                                                        \
	X(LINE_LONG, "line too long (65536 bytes at most)")                              \
	X(WORDS, "too many words (1024 at most)")                                        \
	X(EXPANSION, "line too long after expansion (65536 bytes at most)")              \
	X(QUOTE, "unmatched quote")                                                      \
	X(BRACE, "unmatched brace in environment variable name")                         \
	X(VARNAME, "forbidden first character in environment variable name")             \
	X(VARLONG, "environment variable name too long (255 bytes at most)")             \
	X(EXPAND, "truncated or invalid word expansion sequence")                        \
	X(HEX, "truncated or invalid hexadecimal sequence")                              \
	X(NUL, "stray NUL character")

enum cfg_lex_err {
	CFG_LEX_OK = 0,
#define X(name, text) CFG_LEX_##name,
	CFG_LEX_ERRS(X)
#undef X
	CFG_LEX_ERR_COUNT
};

struct cfg_word {
	const char *text;	/* NUL-terminated, no NUL inside */
	unsigned int col;		/* column where it starts in the source line, from 1 */
};

/* The value of a variable, or NULL when it does not exist. It must be valid until the next call. */
typedef const char *cfg_getenv_fn(void *arg, const char *name);

struct cfg_lexer {
	struct cfg_word *word;	/* nword words; valid until the next line */
	unsigned int nword;
	unsigned int errcol;	/* column of the error */
	unsigned int wordcap;
	char *buf;
	size_t len, cap;
	cfg_getenv_fn *getenv;
	void *getenv_arg;
	int nocomment;		/* '#' is an ordinary character (-cc) */
};

void cfg_lexer_init(struct cfg_lexer *lx, cfg_getenv_fn *getenv, void *arg);
void cfg_lexer_fini(struct cfg_lexer *lx);

/* Splits `line` (len bytes, without LF). 0 or a negated enum cfg_lex_err with errcol set. */
int cfg_lexer_line(struct cfg_lexer *lx, const char *line, size_t len) must_check;

const char *cfg_lexer_strerror(int err);

#endif
