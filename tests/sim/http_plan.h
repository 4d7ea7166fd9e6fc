/* A request made by chance, and the answer that it wishes for. */
#ifndef TACIT_SIM_HTTP_PLAN_H
#define TACIT_SIM_HTTP_PLAN_H

#include "sim/dice.h"
#include "sim/http_judge.h"

struct http_plan {
	struct dice *d;
	int kind;  /* nothing bad is asked, and no failure wished for */
	int again; /* only what can always be sent again */
	int no_expect;
	uint32_t max_bytes;
};

void http_plan_request(const struct http_plan *p, struct http_request *q);
/* Of bodies, and in ms. */
uint32_t http_plan_size(const struct http_plan *p);
uint32_t http_plan_pause(const struct http_plan *p);

#endif
