/*
 * Long header fields that rules add to the messages of a simulated world: heads that outgrow
 * tune.maxrewrite, and some that outgrow a buffer. Their bytes are known by their place, so that
 * the ends see whether one is lost.
 */
#ifndef TACIT_SIM_HTTP_LONG_H
#define TACIT_SIM_HTTP_LONG_H

#include <stddef.h>

#include "sim/dice.h"

/* The bytes of a head besides: a kind world has room for it. */
#define HTTP_LONG_REST 700

struct http_long {
	int any;         /* there are such rules, */
	int exact;       /* and all of them succeed */
	size_t up, down; /* bytes of all values of X-Long that a request and a response get */
	char lines[40960];
};

/* The rules, for a buffer of that size. Kind: everything fits. Sets the other members. */
void http_long_configure(struct http_long *l, struct dice *d, size_t bufsize, int kind);
/* The byte at that place of a value of X-Long. */
char http_long_byte(size_t at);

#endif
