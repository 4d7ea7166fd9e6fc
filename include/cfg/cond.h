#ifndef TACIT_CFG_COND_H
#define TACIT_CFG_COND_H

#include <stddef.h>

#include "cfg/lexer.h"

/*
 * Conditions of .if, .elif and -cc (manual 2.4): integers, predicates, `!`, `&&`, `||` and
 * parentheses. Pure functions.
 */

enum {
	CFG_COND_DEPTH_MAX = 64,	/* nested parentheses and negations */
	CFG_COND_ARG_MAX = 4096,	/* bytes of one predicate argument */
};

/* Values that the predicates test. Each string may be NULL: then nothing matches. */
struct cfg_facts {
	const char *version;			/* compatibility level, such as "3.4.0" */
	const char *ssl_name;			/* "OpenSSL 3.0.17 1 Jul 2025" */
	const char *ssl_version;		/* "3.0.17" */
	const char *const *features;		/* names, NULL at the end; compared exactly */
	const char *const *enabled;		/* names of enabled options, likewise */
	cfg_getenv_fn *getenv;
	void *getenv_arg;
};

struct cfg_cond_err {
	unsigned int at;		/* offset in the expression */
	char text[160];
};

/* 1 true, 0 false (also when empty), -1 with *err filled. There is no short circuit: an unknown
 * predicate is always an error. */
int cfg_cond_eval(const struct cfg_facts *facts, const char *expr, struct cfg_cond_err *err);

/* The same for the argument of -cc: quotes and "$VAR" are expanded first, as in a file. */
int cfg_cond_line(const struct cfg_facts *facts, const char *line, struct cfg_cond_err *err);

/* Joins words with single blanks to one expression; free with mem_free(). NULL: no memory. */
char *cfg_cond_join(const struct cfg_word *word, unsigned int n);

#endif
