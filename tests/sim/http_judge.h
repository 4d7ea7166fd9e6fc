/*
 * The book of a world's requests: what was asked, which servers it came to, what they said, and
 * what the client was given for it. Whoever sends or reads writes it down here, and what must not
 * be is told at once: an answer that belongs to another request, one that nobody asked for, one
 * that is not as its server said it, a request that was sent again without leave.
 */
#ifndef TACIT_SIM_HTTP_JUDGE_H
#define TACIT_SIM_HTTP_JUDGE_H

#include "proxy/model/persist_conf.h"
#include "sim/http_reader.h"
#include "sim/world.h"

#define HTTP_BOOK_MAX 256
#define HTTP_TRIES_MAX 8

enum http_verb {
	HTTP_VERB_GET,
	HTTP_VERB_HEAD,
	HTTP_VERB_PUT,
	HTTP_VERB_POST,
	HTTP_VERB_CONNECT,
	HTTP_VERBS
};

/* What a server does with a request. */
enum http_way {
	HTTP_WAY_ANSWER,
	HTTP_WAY_EARLY,       /* as soon as the head is there */
	HTTP_WAY_EARLY_CLOSE, /* and without reading the rest */
	HTTP_WAY_EXTRA,       /* with another answer in the same breath */
	HTTP_WAY_LATE_EXTRA,  /* with another one some time later */
	HTTP_WAY_CLOSE,       /* none */
	HTTP_WAY_RESET,
	HTTP_WAY_STALL,
	HTTP_WAY_CUT, /* a part of it, then a clean end */
	HTTP_WAY_CUT_RESET,
	HTTP_WAY_CUT_STALL,
	HTTP_WAY_JUNK,    /* no HTTP */
	HTTP_WAY_BAD_BODY /* a chunk that is none */
};

/* One time that a request came to a server. */
struct http_try {
	unsigned int nth; /* requests that came over its connection before */
	unsigned int server; /* its place */
	enum http_way way;
	/* The answer that is meant. */
	unsigned int status;
	enum http_shape shape;
	uint32_t len;
	int said;     /* any of it was */
	int head_out; /* its whole final head was */
	int whole;    /* all of it was, */
	int fin;      /* and a clean end after it */
};

struct http_request {
	uint32_t id; /* 1.. */
	enum http_verb verb;
	unsigned int minor;
	enum http_shape shape; /* of its body: NONE, LENGTH or CHUNKED */
	uint32_t len;
	int upgrade, expect, close;
	int bad; /* it must reach nobody; BAD_BODY: not as a whole */
	/* What the server is asked to say. */
	unsigned int status;
	enum http_shape wish;
	uint32_t wish_len;
	unsigned int interims;
	/* Persistence (http_bound.h): X-Use, the server + 1; that of the cookie it brings; the
	 * server sets one; it brings none, or one of nobody. */
	unsigned int use, brings;
	int sets, forgets, strays;
	/* How it is said: so long after it could be, up to there, the rest so much later. */
	uint32_t pause, hold, hold_ms;
	/* What happened. */
	uint64_t said_ns; /* its first byte was, 0: not yet */
	int sent; /* all of it was */
	struct http_try tries[HTTP_TRIES_MAX];
	unsigned int n_tries;
	/* What the client was given. */
	int answered; /* the final head has come, */
	int own;      /* and it was no server's */
	int closes;   /* it says so */
	unsigned int came_status, came_nth;
	enum http_shape came;
	uint64_t got;
	int whole; /* it looks like that */
};

#define HTTP_BAD_HEAD 1
#define HTTP_BAD_BODY 2

/* What there is of persistence and captures, and how often it mattered. */
struct http_bound {
	unsigned int n_servers;
	int cookie, ignores, uses, captures;
	enum persist_way way;
	int indirect, nocache, postonly, preserve;
	char lines[600];
	unsigned int came, told, logged;
};

struct http_book {
	struct world *w;
	int kind;
	int rules;             /* some of them may answer */
	uint64_t stopped_ns;   /* a soft stop has begun; 0: it has not */
	struct http_bound bound;
	struct http_request req[HTTP_BOOK_MAX];
	unsigned int n;
	unsigned int whole, own, again; /* answers, and tries after the first */
};

const char *http_verb_name(enum http_verb v);
struct http_request *http_book_add(struct http_book *b);
/* The streams of bytes that belong to a request: its body, an answer's, and a tunnel's ways. */
uint32_t http_seed_request(const struct http_request *q);
uint32_t http_seed_answer(const struct http_request *q, unsigned int nth);
uint32_t http_seed_up(const struct http_request *q);
uint32_t http_seed_down(const struct http_request *q);

/* A request's head has come to that server, after nth others on that connection: a new try, or NULL
 * when there is none for it. *out: the request. */
struct http_try *http_judge_request(struct http_book *b, const struct http_said *said,
	unsigned int server, unsigned int nth, struct http_request **out);
/* All of its body has. */
void http_judge_request_body(
	struct http_book *b, const struct http_request *q, const struct http_reader *r);
/* A head has come to the client where the answer to q is expected: what follows it. */
enum http_shape
http_judge_answer(struct http_book *b, struct http_request *q, const struct http_said *said);
/* Its body has ended: as a whole, at a clean end of the connection, or cut. */
enum http_how { HTTP_HOW_WHOLE, HTTP_HOW_EOF, HTTP_HOW_CUT };
void http_judge_content(struct http_book *b, struct http_request *q, const struct http_reader *r,
	enum http_how how);
/* Everything is over. */
void http_judge_all(struct http_book *b);

#endif
