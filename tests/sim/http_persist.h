/*
 * Persistence in worlds of mode http: a cookie in one of its modes, `use-server`, `ignore-persist`,
 * and captures, at random; and the expected results, derived from the manual alone. A request that
 * names a server must reach it; a server must see the right cookie; a client must get a cookie if
 * it has none, and not otherwise; captures must belong to their request.
 */
#ifndef TACIT_SIM_HTTP_PERSIST_H
#define TACIT_SIM_HTTP_PERSIST_H

#include "sim/dice.h"
#include "sim/http_book.h"
#include "sim/http_text.h"

/* Chooses what is configured: configuration lines, "" for none. */
const char *http_persist_configure(struct http_book *b, struct dice *d);
/* Sets the servers' cookies, before the lines are read. */
void http_persist_set_cookies(struct proxy *px);
/* Persistence fields of a request: jar is the server in the client's cookie + 1. */
void http_persist_plan(struct http_book *b, struct dice *d, struct http_request *q);
void http_persist_request_fields(
	const struct http_book *b, struct http_request *q, unsigned int jar, struct http_text *t);
/* Persistence fields of the server's response. */
void http_persist_response_fields(const struct http_book *b, const struct http_request *q,
	unsigned int server, struct http_text *t);
/* Checks a request that has reached that server. */
void http_persist_check_request(struct http_book *b, const struct http_request *q,
	const struct http_parsed *m, unsigned int server);
/* Checks the final response; returns the new jar. */
unsigned int http_persist_check_response(struct http_book *b, const struct http_request *q,
	const struct http_parsed *m, unsigned int jar);
/* Checks the log line. */
void http_persist_check_log(struct http_book *b, const struct session *s);

#endif
