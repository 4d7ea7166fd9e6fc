/*
 * Directives of a configuration file (HAProxy's manual 2.4): .if, .elif, .else, .endif, and
 * .notice,
 * .warning, .alert, .diag. The reader's lexer holds the words of the line.
 */
#ifndef TACIT_CFG_DIRECTIVE_H
#define TACIT_CFG_DIRECTIVE_H

struct cfg_reader;

/* Handles .if, .elif, .else and .endif, also in blocks that are skipped. 1 if the line was one of
 * them: *rc is then 0, or -1 after an error that was reported. */
int cfg_directive_block(struct cfg_reader *r, int *rc);
/* Any other directive, outside skipped blocks. 0, or -1 after an error that was reported. */
int cfg_directive_run(struct cfg_reader *r);

#endif
