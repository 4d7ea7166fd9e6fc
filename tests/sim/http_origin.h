/*
 * A server of mode http: one connection to it. What it does with a request is thrown when the
 * request comes, unless it is kind.
 */
#ifndef TACIT_SIM_HTTP_ORIGIN_H
#define TACIT_SIM_HTTP_ORIGIN_H

#include "sim/dice.h"
#include "sim/http_judge.h"
#include "sim/http_text.h"

/* What it does once it has answered. */
enum http_then { HTTP_THEN_STAY, HTTP_THEN_CLOSE, HTTP_THEN_PAUSE_CLOSE, HTTP_THEN_RESET };

struct http_origin {
	struct http_book *book;
	struct dice *dice;
	struct fake *k;
	struct fake_sock *s;
	int far;
	unsigned int server; /* its place */
	int wild;      /* once in so many requests it does something else: 0: never */
	int may_leave; /* in kind worlds: it may end a connection that is kept */
	/* The request at work. */
	struct http_reader reader;
	struct http_request *q;
	struct http_try *t;
	unsigned int nth; /* requests that have come */
	struct http_text text;
	size_t head; /* of text: where the final head ends */
	size_t upto; /* how far it means to go */
	size_t hold; /* and where it pauses */
	uint64_t due;
	int answers;   /* text is its answer */
	int announced; /* that it will close */
	enum http_then then;
	int soiled; /* it has said what nobody asked for */
	int tunnel, dead, shut, closed;
};

void http_origin_start(struct http_origin *o, struct fake_sock *s);

#endif
