/*
 * `filter-sequence` (HAProxy 3.4): the order in which the filters of a proxy run in one direction,
 * whatever that of their lines is. A filter that it leaves out does not run there.
 */
#ifndef TACIT_PROXY_FILTER_SEQUENCE_H
#define TACIT_PROXY_FILTER_SEQUENCE_H

#include "cfg/registry.h"

struct cfg_diag;
struct proxy;

extern const struct cfg_module sequence_cfg_module;

/* Orders the filters of a proxy when all of them are known. 0, or -1 after errors. */
int filter_sequences_finish(struct proxy *p, struct cfg_diag *d);

#endif
