/* The numbers of maps and ACLs: #<id> of the admin socket. */
#ifndef TACIT_RULE_MATCH_PATTERN_IDS_H
#define TACIT_RULE_MATCH_PATTERN_IDS_H

#include "base/compiler.h"
#include "base/list.h"

/* Gives the lowest free numbers to the struct pattern_ref of this list that have none, and sorts it
 * by number. 0 or -ERR_NOMEM, with the list as it was. */
int pattern_ids_assign(struct list *refs) must_check;

#endif
