/* The words of the language, of keywords and then of rules: -dK, tacit.cfg(5), --explain. */
#ifndef TACIT_APP_CONFIG_KEYWORDS_H
#define TACIT_APP_CONFIG_KEYWORDS_H

#include <stdio.h>

#include "app/config/config.h"
#include "cfg/dump.h"

/* Calls fn for each entry of tacit(8): commands and metrics. */
typedef void keywords_more_fn(cfg_entry_fn *fn, void *arg);

/* 0, or -ERR_NOMEM. */
int keywords_print(const struct config *c, keywords_more_fn *more, enum cfg_dump kind,
	FILE *to) must_check;

/* Prints all entries of a keyword of n words; options, actions, fetches, converters and commands
 * are keywords too. 0; -ERR_NOMEM; or -ERR_UNKNOWN with the nearest name on `err`. */
int keywords_explain(const struct config *c, keywords_more_fn *more, char *const *words,
	unsigned int n, FILE *to, FILE *err) must_check;

#endif
