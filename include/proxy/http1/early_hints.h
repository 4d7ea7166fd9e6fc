/* 103 (Early Hints, RFC 8297), which the rules `http-request early-hint` ask for. Private to
 * proxy. */
#ifndef TACIT_PROXY_HTTP1_EARLY_HINTS_H
#define TACIT_PROXY_HTTP1_EARLY_HINTS_H

#include "proxy/model/session.h"

struct rule_hint;

/*
 * Sends the hints: those of neighbouring rules in one response. A client of HTTP/1.0 gets none.
 * Hints that do not fit into a buffer are dropped. 0, or -1: as informational_send().
 */
int early_hints_send(struct stream *s, const struct rule_hint *first) must_check;

#endif
