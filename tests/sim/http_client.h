/*
 * A client of mode http: sends its requests one after the other or pipelined, and checks the
 * responses.
 */
#ifndef TACIT_SIM_HTTP_CLIENT_H
#define TACIT_SIM_HTTP_CLIENT_H

#include "sim/http_book.h"
#include "sim/http_text.h"

/* Its state: running, finished, or given up. */
enum http_leave { HTTP_LEAVE_CLOSE, HTTP_LEAVE_SHUT, HTTP_LEAVE_RESET, HTTP_LEAVE_WAIT };

struct http_client {
	struct http_book *book;
	struct fake *k;
	struct fake_sock *s;
	struct wire *wire;   /* NULL: plain bytes */
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

#endif
