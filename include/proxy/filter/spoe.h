/*
 * The stream processing offload engine (HAProxy's SPOE.txt): `filter spoe` names a file in which an
 * agent, its messages and groups are configured. Events of a stream, and rules `send-spoe-group`,
 * send an agent messages and wait until it has answered; its answer sets variables.
 *
 * An event is a rule that stands before those of its proxy: it waits as do-resolve does.
 */
#ifndef TACIT_PROXY_FILTER_SPOE_H
#define TACIT_PROXY_FILTER_SPOE_H

#include "cfg/registry.h"
#include "rule/action/action.h"

struct cfg_diag;
struct engine;
struct proxies;
struct proxy;

extern const struct cfg_module spoe_cfg_module;
extern const struct rule_action spoe_actions[];

/* Finds the backends of the filters of p, and puts its events before its rules, when the
 * configuration is complete. 0, or -1 after errors. */
int spoe_finish(struct proxy *p, struct proxies *ps, struct cfg_diag *d) must_check;
/* Reports frames that are larger than a buffer. 0, or -1 after errors. */
int proxies_fit_frames(const struct proxies *ps, size_t bufsize, struct cfg_diag *d) must_check;
/* Closes a worker's connections to agents, when its sessions have ended. */
void spoe_engine_free(struct engine *e);

#endif
