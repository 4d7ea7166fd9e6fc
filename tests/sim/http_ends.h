/*
 * The ends of a world of mode http: http_client.c, http_origin.c and http_carrier.c. User:
 * http_random.c.
 */
#ifndef TACIT_SIM_HTTP_ENDS_H
#define TACIT_SIM_HTTP_ENDS_H

#include "sim/dice.h"
#include "sim/http_book.h"
#include "sim/http_reader.h"

/*
 * A client of mode http: sends its requests one after the other or pipelined, and checks the
 * responses.
 */

/* Its state: running, finished, or given up. */
enum http_leave { HTTP_LEAVE_CLOSE, HTTP_LEAVE_SHUT, HTTP_LEAVE_RESET, HTTP_LEAVE_WAIT };

struct http_client {
	struct http_book *book;
	struct fake *k;
	struct fake_sock *s;
	struct wire *wire;   /* NULL: plain bytes */
	int h2;              /* its requests are streams of HTTP/2 */
	/* Its part of the book, and its parameters. */
	unsigned int first, n;
	unsigned int depth; /* maximum number of unanswered requests */
	enum http_leave leave;
	uint64_t quits;             /* ns after its start, 0: never */
	uint64_t deaf_at, deaf_for; /* the same; 0: not at all */
	uint32_t up, down;          /* bytes in tunnels */
	const char *header;         /* the first data of its connection; NULL: none */
	/* Its progress. */
	struct http_reader reader;
	struct http_text text;
	unsigned int out, in; /* requests begun, and answered */
	uint64_t due;         /* it sends nothing before that time */
	int held;             /* it pauses within a request */
	int got_continue;          /* it got 100 (Continue) */
	int mute;             /* its data is no longer accepted, */
	int broken;           /* because of a reset */
	unsigned int jar;     /* the server in its cookie + 1 */
	int tunnel;
	int stalled, quit;
	int eof, err, shut, closed;
	int greeted;         /* the header was sent before its TLS */
};

void http_client_start(struct http_client *c);

/*
 * A server of mode http: one connection to it. Its behaviour is chosen randomly for each request,
 * unless it is kind.
 */

/* The origin's action after its response. */
enum http_then { HTTP_THEN_STAY, HTTP_THEN_CLOSE, HTTP_THEN_PAUSE_CLOSE, HTTP_THEN_RESET };

struct http_origin {
	struct http_book *book;
	struct dice *dice;
	struct fake *k;
	struct fake_sock *s;
	struct wire *wire; /* NULL: plain bytes */
	struct http_carrier *carrier; /* it is a stream of that; NULL: a connection */
	struct http_origin *next;     /* the stream before it */
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

/*
 * A server's connection of HTTP/2: its streams are http_origins. It may break its frames into small
 * pieces, leave, and in wild worlds be lost.
 */

struct http_carrier {
	struct http_book *book;
	struct dice *dice;
	struct fake *k;
	struct fake_sock *s;
	struct wire *wire;
	int wild, may_leave;       /* as of http_origin */
	struct http_origin *(*add)(struct http_carrier *c); /* a stream's, prepared */
	void *arg;
	unsigned int server;
	struct http_origin *newest;
	size_t piece;              /* bytes that it sends in a millisecond; 0: all at once */
	int is_waiting;            /* for that */
	int closed;
};

void http_carrier_start(struct http_carrier *c, struct fake_sock *s);
/* Something has happened to a stream. */
void http_carrier_run(struct fake *k, void *arg);
/* No other stream may begin; at once, or when tacit knows. */
void http_carrier_leave(struct http_carrier *c, int at_once);
/* The connection is lost, and what its streams have sent may be. */
void http_carrier_lose(struct http_carrier *c, int reset);
/* tacit ends the connection for an error of ours. */
void http_carrier_spoil(struct http_carrier *c);
/* The steps of a stream's server, after something has happened. */
void http_origin_step(struct http_origin *o);

#endif
