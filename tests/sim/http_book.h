/*
 * The plan and the book of a world of mode http: random requests (http_plan.c), the book of all
 * requests (http_book.c), persistence (http_persist.c) and long header fields (http_long.c). Users:
 * the ends of http_ends.h, http_random.c.
 */
#ifndef TACIT_SIM_HTTP_BOOK_H
#define TACIT_SIM_HTTP_BOOK_H

#include <stddef.h>

#include "proxy/model/persist_conf.h"
#include "sim/dice.h"
#include "sim/http_reader.h"
#include "sim/world.h"

/*
 * Long header fields that rules add to the messages of a simulated world: heads that outgrow
 * tune.maxrewrite, and some that outgrow a buffer. Their bytes are known by their place, so that
 * the ends see whether one is lost.
 */

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

/*
 * The book of a world's requests: what was requested, which servers received it, their responses,
 * and what the client received. Senders and receivers record it here, and errors are reported at
 * once: a response to another request, an unrequested one, one that differs from the server's, a
 * retry that was not permitted.
 */

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

/* The server's behaviour for a request. */
enum http_way {
	HTTP_WAY_ANSWER,
	HTTP_WAY_EARLY,       /* as soon as the head has arrived */
	HTTP_WAY_EARLY_CLOSE, /* and without reading the rest */
	HTTP_WAY_EXTRA,       /* with another response directly after it */
	HTTP_WAY_LATE_EXTRA,  /* with another response some time later */
	HTTP_WAY_CLOSE,       /* no response */
	HTTP_WAY_RESET,
	HTTP_WAY_STALL,
	HTTP_WAY_CUT, /* a part of it, then a clean end */
	HTTP_WAY_CUT_RESET,
	HTTP_WAY_CUT_STALL,
	HTTP_WAY_JUNK,     /* not HTTP */
	HTTP_WAY_BAD_BODY, /* an invalid chunk; of a stream: an end before its length */
	HTTP_WAY_REFUSE    /* of a stream: REFUSED_STREAM */
};

/* One arrival of a request at a server. */
struct http_try {
	unsigned int nth; /* earlier requests on its connection */
	unsigned int server; /* its index */
	enum http_way way;
	/* The intended response. */
	unsigned int status;
	enum http_shape shape;
	uint32_t len;
	int said;     /* a part of it was sent */
	int head_out; /* its whole final head was sent */
	int whole;    /* all of it was sent, */
	int fin;      /* followed by a clean end */
	int is_stream; /* of HTTP/2 */
	int refused;  /* nothing was done for it, and tacit hears so */
	int lost;     /* its response may not have come: the stream or its connection was cut */
};

struct http_request {
	uint32_t id; /* 1.. */
	enum http_verb verb;
	unsigned int minor;
	enum http_shape shape; /* of its body: NONE, LENGTH or CHUNKED */
	uint32_t len;
	int upgrade, expect, close;
	int h2;        /* a stream of HTTP/2: its failure is no end of a connection */
	int fails;     /* its server fails even in a kind world, and nothing else may */
	uint32_t gives_up; /* ms after its start: the client resets it; 0: never */
	int bad; /* it must not be forwarded; BAD_BODY: not as a complete one */
	/* The requested response. */
	unsigned int status;
	enum http_shape wish;
	uint32_t wish_len;
	unsigned int interims;
	/* Persistence (http_persist.c): X-Use, the server + 1; that of its cookie; the server sets
	 * one; it has none, or an unknown one. */
	unsigned int use, brings;
	int sets, forgets, strays;
	/* Timing: the delay before it, the part sent first, the delay before the rest. */
	uint32_t pause, hold, hold_ms;
	/* The events. */
	uint64_t begun_ns; /* the client has begun it */
	uint64_t said_ns; /* time of its first byte, 0: not yet */
	int sent; /* all of it was sent */
	int given_up; /* the client has reset it */
	struct http_try tries[HTTP_TRIES_MAX];
	unsigned int n_tries;
	/* The response as received by the client. */
	int answered; /* the final head has come, */
	int own;      /* and it was a local reply */
	int closes;   /* it announces the close */
	unsigned int came_status, came_nth;
	enum http_shape came;
	uint64_t got;
	int whole; /* it looks complete */
};

#define HTTP_BAD_HEAD 1
#define HTTP_BAD_BODY 2

/* Persistence and captures in use, and their counters. */
struct http_persist {
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
	int rules;             /* some rules may reply */
	int spoiled;           /* a connection of several requests: some are still on their way */
	uint64_t stopped_ns;   /* start of a soft stop; 0: none */
	struct http_persist bound;
	struct http_long added;
	struct http_request req[HTTP_BOOK_MAX];
	unsigned int n;
	size_t longest;        /* the most bytes of X-Long that a head had */
	unsigned int whole, own, again; /* responses, and retries */
};

const char *http_verb_name(enum http_verb v);
struct http_request *http_book_add(struct http_book *b);
/* The byte streams of a request: its body, the response's, and both directions of a tunnel. */
uint32_t http_seed_request(const struct http_request *q);
uint32_t http_seed_answer(const struct http_request *q, unsigned int nth);
uint32_t http_seed_up(const struct http_request *q);
uint32_t http_seed_down(const struct http_request *q);

/* A request's head has reached that server as number nth + 1 on that connection: a new try, or NULL
 * if none is left. *out: the request. */
struct http_try *http_book_request(struct http_book *b, const struct http_parsed *said,
	unsigned int server, unsigned int nth, struct http_request **out);
/* Its whole body has arrived. */
void http_book_request_body(
	struct http_book *b, const struct http_request *q, const struct http_reader *r);
/* True if it may fail in a kind world. */
int http_book_may_fail(const struct http_request *q);
/* A head has reached the client where the response to q is expected: returns what follows it. */
enum http_shape
http_book_response(struct http_book *b, struct http_request *q, const struct http_parsed *said);
/* Its body has ended: complete, at a clean end of the connection, or truncated. */
enum http_how { HTTP_HOW_WHOLE, HTTP_HOW_EOF, HTTP_HOW_CUT };
void http_book_body(struct http_book *b, struct http_request *q, const struct http_reader *r,
	enum http_how how);
/* Final checks. */
void http_book_check(struct http_book *b);

/*
 * Persistence in worlds of mode http: a cookie in one of its modes, `use-server`, `ignore-persist`,
 * and captures, at random; and the expected results, derived from the manual alone. A request that
 * names a server must reach it; a server must see the right cookie; a client must get a cookie if
 * it has none, and not otherwise; captures must belong to their request.
 */

/* Chooses what is configured: configuration lines, "" for none. */
const char *http_persist_configure(struct http_book *b, struct dice *d);
/* Sets the servers' cookies, before the lines are read. */
void http_persist_set_cookies(struct proxy *px);
/* Persistence fields of a request: jar is the server in the client's cookie + 1. */
void http_persist_plan(struct http_book *b, struct dice *d, struct http_request *q);
void http_persist_request_fields(
	const struct http_book *b, struct http_request *q, unsigned int jar, struct http_text *t);
/* Persistence fields of the server's response. */
void http_persist_response_fields(const struct http_book *b, const struct http_request *q,
	unsigned int server, struct http_text *t);
/* Checks a request that has reached that server. */
void http_persist_check_request(struct http_book *b, const struct http_request *q,
	const struct http_parsed *m, unsigned int server);
/* Checks the final response; returns the new jar. */
unsigned int http_persist_check_response(struct http_book *b, const struct http_request *q,
	const struct http_parsed *m, unsigned int jar);
/* Checks the log line. */
void http_persist_check_log(struct http_book *b, const struct stream *s);

/* A random request, and the response that it asks for. */

struct http_plan {
	struct dice *d;
	int kind;  /* no misbehaviour and no failure is requested */
	int again; /* only requests that can always be retried */
	int no_expect;
	uint32_t max_bytes;
	int no_upgrade; /* no server agrees to one: it speaks HTTP/2 */
};

void http_plan_request(const struct http_plan *p, struct http_request *q);
void http_plan_stream(const struct http_plan *p, struct http_request *q);
/* Sizes of bodies, and pauses in ms. */
uint32_t http_plan_size(const struct http_plan *p);
uint32_t http_plan_pause(const struct http_plan *p);

#endif
