/*
 * Responses that depend on fields of the request (RFC 9110, 12.5.5), as HAProxy's process-vary has
 * them: Accept-Encoding, by the codings that it accepts, and Referer and Origin, by their text.
 */
#ifndef TACIT_HTTP_VARY_H
#define TACIT_HTTP_VARY_H

#include "http/head.h"

/* Bits of what a response depends on. */
enum http_vary {
	HTTP_BY_ACCEPT_ENCODING = 1,
	HTTP_BY_REFERER = 2,
	HTTP_BY_ORIGIN = 4
};

/* The bits of a response, 0 if it has no Vary; -1: it depends on other fields, or on what no field
 * has. */
int http_vary_of(const struct http_head *res);
/* The name in an element of Accept-Encoding, and its weight in thousandths; one that is none counts
 * as 1, as in HAProxy. */
struct str http_coding_split(struct str element, unsigned int *weight);
/*
 * The content codings that a request accepts, as bits of the registered ones: all without
 * Accept-Encoding. Stricter than in HAProxy: a weight of 0.0 refuses, and "*;q=0" means identity,
 * too, unless that is named.
 */
uint32_t http_codings_accepted(const struct http_head *req);
/* The codings of a response, identity if it has none: 0, or -1: one of them is not registered. */
int http_codings_of(const struct http_head *res, uint32_t *codings) must_check;

#endif
