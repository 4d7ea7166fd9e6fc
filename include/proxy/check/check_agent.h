/* Applies the answer of an agent (manual 5.2, agent-check). On the first worker. */
#ifndef TACIT_PROXY_CHECK_CHECK_AGENT_H
#define TACIT_PROXY_CHECK_CHECK_AGENT_H

#include "proxy/check/check_expect.h"
#include "proxy/model/check.h"
#include "proxy/model/engine.h"

/*
 * Waits for a line, and applies its words but those on health: state, weight and maxconn of the
 * server. CHECK_STEP_FAIL: *out is the result.
 */
enum check_step check_agent_look(struct engine *e, const struct check *c,
	const struct check_input *in, struct check_verdict *out) must_check;

#endif
