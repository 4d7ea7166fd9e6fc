/*
 * A client of mode http: says its requests, one after the other or several at once, and holds
 * what comes against them.
 */
#ifndef TACIT_SIM_HTTP_CLIENT_H
#define TACIT_SIM_HTTP_CLIENT_H

#include "sim/http_judge.h"
#include "sim/http_text.h"

/* How it goes, when it has got what it wanted, or has had enough. */
enum http_leave { HTTP_LEAVE_CLOSE, HTTP_LEAVE_SHUT, HTTP_LEAVE_RESET, HTTP_LEAVE_WAIT };

struct http_client {
	struct http_book *book;
	struct fake *k;
	struct fake_sock *s;
	/* Its part of the book, and how it goes about it. */
	unsigned int first, n;
	unsigned int depth; /* requests that may be unanswered when it says another one */
	enum http_leave leave;
	uint64_t quits;             /* ns after its start, 0: never */
	uint64_t deaf_at, deaf_for; /* the same; 0: not at all */
	uint32_t up, down;          /* bytes in tunnels */
	const char *header;         /* what its connection begins with; NULL: nothing */
	/* How far it is. */
	struct http_reader reader;
	struct http_text text;
	unsigned int out, in; /* requests begun, and answered */
	uint64_t due;         /* it says nothing before that */
	int held;             /* it has paused within a request */
	int goes_on;          /* it was told to send the body */
	int mute;             /* nobody takes what it says, */
	int broken;           /* and it was a reset that said so */
	unsigned int jar;     /* the server that a cookie names + 1 */
	int tunnel;
	int deaf, quit;
	int eof, err, shut, closed;
};

void http_client_start(struct http_client *c);

#endif
