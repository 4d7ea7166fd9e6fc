/*
 * Limits of bandwidth (HAProxy 2.7, 9.7): `filter bwlim-in` and `bwlim-out`, which rules enable for
 * a stream with `set-bandwidth-limit`. Per stream it is a pace (base/pace.h); streams that share an
 * entry of a stick table share a limit, which that entry's rate of bytes counts.
 */
#ifndef TACIT_PROXY_FILTER_BWLIM_H
#define TACIT_PROXY_FILTER_BWLIM_H

#include "cfg/registry.h"
#include "rule/action/action.h"

struct cfg_diag;
struct proxies;
struct proxy;

extern const struct cfg_module bwlim_cfg_module;
extern const struct rule_action bwlim_actions[];

/* Finds the tables of the filters of p, when the configuration is complete. 0, or -1 after
 * errors. */
int bwlim_finish(struct proxy *p, struct proxies *ps, struct cfg_diag *d) must_check;

#endif
