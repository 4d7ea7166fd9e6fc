#ifndef TACIT_CFG_STATEMENT_H
#define TACIT_CFG_STATEMENT_H

struct cfg_ctx;

/*
 * One line inside a section to the owner of its keyword: "no" and "default", names of
 * several words, the classes of keywords, argument counts, places a keyword does not
 * apply to, misspellings. ctx->word, nword, where and section are set by the caller.
 * 0, or -1 when an error was reported.
 */
int cfg_statement(struct cfg_ctx *ctx);

#endif
