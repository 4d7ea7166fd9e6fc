/* The original request line, which a transaction keeps for its log. */
#ifndef TACIT_PROXY_SAMPLE_HTTP_LINE_H
#define TACIT_PROXY_SAMPLE_HTTP_LINE_H

#include "proxy/model/http_txn.h"

/*
 * Its parts, as far as they were kept. Empty if the head was never complete; p is NULL without a
 * transaction.
 */
struct str http_line_method(const struct http_txn *t);
struct str http_line_target(const struct http_txn *t);

#endif
