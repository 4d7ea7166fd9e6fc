/* What the fetches of HTTP messages share. */
#ifndef TACIT_RULE_SAMPLE_FETCH_H
#define TACIT_RULE_SAMPLE_FETCH_H

#include "http/head.h"
#include "rule/sample/tables.h"

/* Whose head: in a fetch's kind. */
enum fetch_side { FETCH_REQ, FETCH_RES, FETCH_EITHER };

/* The head of that side, or NULL: s->may_change says then whether it may come. */
const struct http_head *fetch_head_of(struct sample_ctx *cx, enum fetch_side side,
	struct sample *s);

#endif
