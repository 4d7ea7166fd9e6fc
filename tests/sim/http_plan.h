/* A random request, and the response that it asks for. */
#ifndef TACIT_SIM_HTTP_PLAN_H
#define TACIT_SIM_HTTP_PLAN_H

#include "sim/dice.h"
#include "sim/http_book.h"

struct http_plan {
	struct dice *d;
	int kind;  /* no misbehaviour and no failure is requested */
	int again; /* only requests that can always be retried */
	int no_expect;
	uint32_t max_bytes;
};

void http_plan_request(const struct http_plan *p, struct http_request *q);
/* Sizes of bodies, and pauses in ms. */
uint32_t http_plan_size(const struct http_plan *p);
uint32_t http_plan_pause(const struct http_plan *p);

#endif
