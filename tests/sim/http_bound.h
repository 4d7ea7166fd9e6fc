/*
 * Persistence in worlds of mode http: a cookie in one of its ways, `use-server`, `ignore-persist`,
 * and captures, made by chance; and what has to be true of them, worked out from the manual alone.
 * A request that names a server comes to it; a server sees the cookie as it is to see it; a client
 * is told where to come back to when it does not know, and not when it does; what was captured
 * belongs to the request at hand.
 */
#ifndef TACIT_SIM_HTTP_BOUND_H
#define TACIT_SIM_HTTP_BOUND_H

#include "sim/dice.h"
#include "sim/http_judge.h"
#include "sim/http_text.h"

/* Throws what there is: lines of a configuration, "" for nothing. */
const char *http_bound_chance(struct http_book *b, struct dice *d);
/* The servers get their cookies: before the lines are read. */
void http_bound_name(struct proxy *px);
/* What a request says of it: jar is the server that the client was told of + 1. */
void http_bound_plan(struct http_book *b, struct dice *d, struct http_request *q);
void http_bound_ask(const struct http_book *b, struct http_request *q, unsigned int jar,
	struct http_text *t);
/* What its server's answer says. */
void http_bound_tell(const struct http_book *b, const struct http_request *q, unsigned int server,
	struct http_text *t);
/* The request has come to that server. */
void http_bound_judge_request(struct http_book *b, const struct http_request *q,
	const struct http_said *m, unsigned int server);
/* Its final answer has come; the new jar. */
unsigned int http_bound_judge_answer(struct http_book *b, const struct http_request *q,
	const struct http_said *m, unsigned int jar);
/* It is logged. */
void http_bound_judge_log(struct http_book *b, const struct session *s);

#endif
