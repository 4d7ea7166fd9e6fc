/* The rule part of tacit.cfg(5). */
#ifndef TACIT_RULE_ACTION_ACTION_DUMP_H
#define TACIT_RULE_ACTION_ACTION_DUMP_H

#include "cfg/entry.h"
#include "rule/sample/expr.h"

/* Calls fn for each action, matching method and predefined ACL. */
void rule_action_entries(const struct rule_vocab *v, cfg_entry_fn *fn, void *arg);

/* True for an action of HAProxy that is not supported. */
int rule_is_known_action(struct str name);

#endif
