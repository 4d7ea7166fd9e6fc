/* The original request line, which a transaction keeps for its log. */
#ifndef TACIT_PROXY_SAMPLE_HTTP_LINE_H
#define TACIT_PROXY_SAMPLE_HTTP_LINE_H

#include "proxy/model/http_txn.h"

/* Keeps the line of t->req. */
void http_line_keep(struct http_txn *t);
/* The request is logged without one. */
void http_line_drop(struct http_txn *t);
/*
 * Its parts, as far as they were kept. Empty if the head was never complete; p is NULL without a
 * transaction.
 */
struct str http_line_method(const struct http_txn *t);
struct str http_line_target(const struct http_txn *t);

#endif
