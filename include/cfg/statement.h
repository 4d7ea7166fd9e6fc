#ifndef TACIT_CFG_STATEMENT_H
#define TACIT_CFG_STATEMENT_H

struct cfg_ctx;

/*
 * Passes one line inside a section to the owner of its keyword. Handles "no" and "default", names
 * of several words, keyword classes, argument counts, keywords that do not apply, and misspellings.
 * The caller sets ctx->word, nword, where and section. 0, or -1 when an error was reported.
 */
int cfg_statement(struct cfg_ctx *ctx);

#endif
