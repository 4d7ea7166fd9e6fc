/* The request line that a transaction keeps for its log, as it came. */
#ifndef TACIT_PROXY_SAMPLE_HTTP_LINE_H
#define TACIT_PROXY_SAMPLE_HTTP_LINE_H

#include "proxy/model/http_txn.h"

/*
 * Its parts, or as much of them as was kept. Empty: there is none, as the head was never complete;
 * p is NULL without a transaction.
 */
struct str http_line_method(const struct http_txn *t);
struct str http_line_target(const struct http_txn *t);

#endif
