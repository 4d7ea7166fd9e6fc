/* The rule part of tacit.cfg(5). */
#ifndef TACIT_RULE_ACTION_ACTION_DUMP_H
#define TACIT_RULE_ACTION_ACTION_DUMP_H

#include "base/sbuf.h"
#include "rule/sample/vocab.h"

/* The sections ACTIONS, MATCHING METHODS and PREDEFINED ACLS, roff. */
void rule_dump_actions_man(const struct rule_vocab *v, struct sbuf *out);

#endif
