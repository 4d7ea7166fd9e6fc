/* Shared by the fetches of HTTP messages. */
#ifndef TACIT_RULE_SAMPLE_FETCH_H
#define TACIT_RULE_SAMPLE_FETCH_H

#include "http/head.h"
#include "rule/sample/tables.h"

/* Side of the head: in a fetch's kind. */
enum fetch_side { FETCH_REQ, FETCH_RES, FETCH_EITHER };

/* The head of that side, or NULL: s->may_change then shows whether it may arrive. */
const struct http_head *fetch_head_of(struct sample_ctx *cx, enum fetch_side side,
	struct sample *s);

/* The value of base32, or of url32 with the query: 1, or 0, as a fetch. */
int rule_base_hash(struct sample_ctx *cx, int with_query, struct sample *s);

/*
 * The client's user and password (scheme Basic), in the arena. 1, or 0: absent; s->may_change then
 * shows whether they may arrive.
 */
int rule_basic_auth(struct sample_ctx *cx, struct sample *s, struct str *user, struct str *pass);

#endif
