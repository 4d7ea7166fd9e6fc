#ifndef TACIT_CFG_DUMP_H
#define TACIT_CFG_DUMP_H

#include <stdio.h>

#include "cfg/entry.h"
#include "cfg/registry.h"

/*
 * Lists of the registered keywords: -dK. The order is stable, so that two lists can be compared
 * with diff.
 */

enum cfg_dump {
	CFG_DUMP_CFG,	/* by section, in HAProxy's -dKcfg layout */
	CFG_DUMP_ALL,	/* every name with its class: implemented, hint, unsupported */
	CFG_DUMP_VIM,	/* a syntax file */
	CFG_DUMP_VSCODE, /* a grammar of TextMate, in JSON */
	CFG_DUMP_MAN,	/* entries of keywords and rules: tacit.cfg(5), roff; see cfg/entry.h */
	/* of rules, handled by rule/sample/dump.h */
	CFG_DUMP_SMP,	/* fetches */
	CFG_DUMP_CNV,	/* converters */
	CFG_DUMP_MAN8,	/* commands and metrics: tacit(8), roff; see app/config/keywords.h */
};

/* The kind called `name` ("cfg", "all", "man", "vim", "vscode", "smp", "cnv",
 * "man8"), or -1. */
int cfg_dump_kind(const char *name);
/* Calls fn for each section, keyword and option, in the order of the page. */
void cfg_entries(const struct cfg_registry *reg, cfg_entry_fn *fn, void *arg);
void cfg_dump(const struct cfg_registry *reg, enum cfg_dump kind, FILE *to);

#endif
