/*
 * A server of mode http: one connection to it. Its behaviour is chosen randomly for each request,
 * unless it is kind.
 */
#ifndef TACIT_SIM_HTTP_ORIGIN_H
#define TACIT_SIM_HTTP_ORIGIN_H

#include "sim/dice.h"
#include "sim/http_book.h"
#include "sim/http_text.h"

/* The origin's action after its response. */
enum http_then { HTTP_THEN_STAY, HTTP_THEN_CLOSE, HTTP_THEN_PAUSE_CLOSE, HTTP_THEN_RESET };

struct http_origin {
	struct http_book *book;
	struct dice *dice;
	struct fake *k;
	struct fake_sock *s;
	struct wire *wire; /* NULL: plain bytes */
	int far;
	unsigned int server; /* its index */
	int wild;      /* probability 1 / wild of misbehaviour; 0: never */
	int may_leave; /* in kind worlds: it may close an idle connection */
	/* The current request. */
	struct http_reader reader;
	struct http_request *q;
	struct http_try *t;
	unsigned int nth; /* requests received */
	struct http_text text;
	size_t head; /* of text: where the final head ends */
	size_t upto; /* the part to be sent */
	size_t hold; /* position of a pause */
	uint64_t due;
	int answers;   /* text is a response */
	int announced; /* it has announced the close */
	enum http_then then;
	int soiled; /* it has sent unrequested data */
	int tunnel, dead, shut, closed;
	int ends; /* closed but for its closing message, which the socket has not taken */
};

void http_origin_start(struct http_origin *o, struct fake_sock *s);

#endif
