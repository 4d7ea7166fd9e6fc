/*
 * One check as the checked server sees it: what the network and the server do with it, and from
 * that when it ends and how, whatever tacit makes of it.
 */
#ifndef TACIT_SIM_CHECK_TRY_H
#define TACIT_SIM_CHECK_TRY_H

#include "fake/kernel.h"
#include "sim/check_model.h"
#include "sim/dice.h"

enum check_how { TRY_CONNECT, TRY_TCP, TRY_HTTP };

enum check_try_kind {
	/* passes */
	TRY_WHOLE,      /* the answer at once */
	TRY_PIECES,     /* bytes and pauses */
	TRY_PASSES,     /* the number of those */
	/* fails */
	TRY_REFUSED = TRY_PASSES,
	TRY_BLACKHOLE,
	TRY_FAR_LATE,   /* connected after the deadline */
	TRY_SILENT,     /* from here on not for TRY_CONNECT */
	TRY_LATE,       /* a good answer after the deadline */
	TRY_WRONG,
	TRY_WRONG_PIECES,
	TRY_CLOSE,      /* instead of an answer */
	TRY_CUT,        /* the first half of a good answer, then FIN */
	TRY_CUT_RESET,
	TRY_RESET,      /* once the request is there */
	TRY_404,        /* of HTTP; of TCP a wrong answer */
	TRY_KINDS
};

struct check_try {
	enum check_how how;
	enum check_try_kind kind;
	struct dice *dice;
	unsigned int server, port;
	uint64_t start, deadline; /* ns */
	uint64_t one_way;
	/* The result; until the server has sent something it is that of the deadline. */
	uint64_t verdict_at;
	enum check_model_answer passes;
	int applied;        /* by the test */
	/* The server's end of the connection. */
	struct fake *k;
	struct fake_sock *s; /* NULL: not accepted yet */
	char asked[1000];
	size_t n_asked;
	const char *text;
	size_t len, sent, stop; /* stop: the next pause */
	uint64_t gap;       /* ns, between pieces */
	int planned, closed;
};

/* The time for a check, in ms; check: `timeout check`, or 0. */
struct check_limits {
	unsigned int inter, connect, check;
};

/*
 * Called when the connection is opened: sets the route and the result that follows from it.
 * one_way: 0 for a near server.
 */
void check_try_begin(struct check_try *t, struct fake *k, const struct check_limits *limits,
	uint64_t one_way);
/* The server has accepted its connection. */
void check_try_accepted(struct check_try *t, struct fake_sock *s);

#endif
