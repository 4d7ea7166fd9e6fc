/*
 * A transaction: one request and its response. A session in mode http has one while a request is at
 * work, from its first byte on (s->txn); a kept connection at rest has none.
 */
#ifndef TACIT_PROXY_MODEL_HTTP_TXN_H
#define TACIT_PROXY_MODEL_HTTP_TXN_H

#include <stdint.h>

#include "http/h1_body.h"
#include "http/head.h"
#include "http/h1_parse.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/persist_state.h"
#include "proxy/model/rules.h"
#include "proxy/model/session.h"

/* Of a request line that is kept for the log. */
#define HTTP_LINE_MAX 1024
/* Places for fields that rules and options add, beyond those that may come. */
#define HTTP_FIELDS_ADDED 64

struct http_txn {
	/* [CLIENT]: of the request, [SERVER]: of the response. */
	struct h1_parser parser[SIDES];
	struct h1_body body[SIDES];
	/*
	 * The request's texts lie in the client's buffer until it is sent on: from then on it is
	 * not to be looked at (req.n is 0), and neither is the response after its head was sent.
	 */
	struct http_head req, res;
	struct vars vars, req_vars, res_vars; /* of scope txn, req and res */
	/* Of the request as it came; they stay: */
	uint64_t id;             /* unique in the process, as sessions' are: engine_next_id() */
	enum http_method method;
	enum http_version version;
	enum http_version res_version; /* of the server's response, if has_res_version */
	uint32_t head_end; /* where its head ends in the client's buffer, and its body begins */
	uint32_t looked_at; /* bytes of the head that were there when it was last judged */
	uint32_t line_len;       /* of line: "GET /path HTTP/1.1", cut at HTTP_LINE_MAX; 0: bad */
	/* On the loop's clock, ms; 0: not yet. */
	uint64_t began_ms;       /* the request's first byte */
	uint64_t began_wall_ns;
	uint64_t idle_ms;        /* from the end of the exchange before it (or accept) to that */
	uint64_t head_ms;        /* its head is complete */
	uint64_t res_ms;         /* the response's head is complete, or an own answer was made */
	unsigned int status;     /* sent to the client; 0: none yet */
	uint32_t out_head;       /* bytes of the response head sent to the client */
	struct proxy *be;        /* where it goes, from head_ms on; NULL: nowhere */
	struct persist_state persist;
	uint8_t has_res_version;
	uint8_t keep_alive[SIDES];    /* that side's connection goes on after the exchange */
	uint32_t start;          /* where the request begins in that buffer, once it is placed */
	uint8_t persists;        /* the client means to send more requests */
	uint8_t upgrades;        /* the client asks for another protocol */
	uint8_t placed;          /* the request is ready to be sent: see http_place_request() */
	uint8_t req_is_gone;     /* a rule has ended the request: its head is not looked at again */
	uint8_t dechunks;        /* the client is too old for the response's framing */
	uint8_t local;           /* the answer is our own */
	uint8_t reused;          /* the connection to the server has carried others before */
	uint8_t fresh;           /* the next one is to be new: a reused one had ended */
	uint8_t client_sent_more; /* the client has said more than its request: it is there */
	uint8_t no_l7_retry;     /* sent again only if the connection failed: disable-l7-retry */
	uint8_t stage;           /* of request.c: how far the request has come */
	uint8_t non_strict;             /* strict-mode off, of the rules at work */
	uint8_t has_made;        /* our own answer lies in the server's buffer: see answer_len */
	uint8_t no_after;        /* a rule http-after-response failed: none is asked any more */
	uint8_t is_unsaid;       /* no byte of it has come */
	uint8_t is_mute;         /* the answer of our own is an empty file: nothing is sent */
	uint8_t slow_reads;      /* reads in a row that brought few bytes of the request's head */
	uint8_t no_timers;         /* it ended before it was taken: logs have no TR and Tq of it */
	struct rules_at at;      /* the rule that the request waits at */
	uint64_t wait_until_ms;  /* when its body is late; 0: it has no such time */
	uint32_t answer_len;
	unsigned int timeout_ms[RULE_TIMEOUTS]; /* set-timeout; 0: what the backend says */
	char line[HTTP_LINE_MAX];
	struct addr_override endpoints; /* what rules said of it */
	struct http_field field[]; /* 2 * (maxhdr + HTTP_FIELDS_ADDED) */
};

/* Of the engine, for session.c. */
void http_txn_pool_init(struct engine *e);
/* One for s, as its first byte comes: NULL without memory. */
struct http_txn *http_txn_get(struct session *s) must_check;
/* One for a client of which no byte has come: it began when the wait for them did. */
struct http_txn *http_txn_get_unsaid(struct session *s) must_check;
/* Ends it: s->txn is NULL then; NULL before is allowed. */
void http_txn_put(struct session *s);
/* A head is complete: fields may be added to it beyond tune.http.maxhdr. */
void http_txn_allow_added(struct session *s, struct http_head *h);
/* The backend it goes to, as far as that is known; NULL: not yet, or nowhere. */
static inline struct proxy *
session_backend(const struct session *s)
{
	return s->be || !s->txn ? s->be : s->txn->be;
}
/* Is the response's head complete (or our own answer made)? */
static inline int
http_has_answer(const struct http_txn *t)
{
	return t->res_ms != 0;
}

/* Is the next thing from that side a head, not a body? Of a session in RELAY. */
static inline int
http_awaits_head(const struct session *s, int side)
{
	return s->txn && side == SERVER && !http_has_answer(s->txn);
}

#endif
