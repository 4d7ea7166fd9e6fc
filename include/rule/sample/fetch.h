/* Shared by the fetches of HTTP messages. */
#ifndef TACIT_RULE_SAMPLE_FETCH_H
#define TACIT_RULE_SAMPLE_FETCH_H

#include "http/head.h"
#include "rule/sample/tables.h"

/* Side of the head: in a fetch's kind. */
enum fetch_side { FETCH_REQ, FETCH_RES, FETCH_EITHER };

/* The head of that side, or NULL: s->may_change then says whether it may arrive. */
const struct http_head *fetch_head_of(struct sample_ctx *cx, enum fetch_side side,
	struct sample *s);

#endif
