/* Applies the result of a check: health, the state of the server, messages. On the first worker. */
#ifndef TACIT_PROXY_CHECK_CHECK_RESULT_H
#define TACIT_PROXY_CHECK_CHECK_RESULT_H

#include "proxy/backend/server_observe.h"
#include "proxy/check/check_expect.h"
#include "proxy/model/check.h"
#include "proxy/model/engine.h"

/* Stores the result of a check that took duration_ms, and applies it. */
void check_result_apply(struct engine *e, struct check *c, const struct check_verdict *v,
	unsigned int duration_ms);
/* `inter`, or agent-inter, in ms. */
unsigned int check_result_inter(const struct check *c);
/* The interval until the next check, in ms, by the server's health (manual 5.2, inter). */
unsigned int check_result_interval(const struct check *c);

#endif
