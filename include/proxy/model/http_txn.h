/*
 * A transaction: one request and its response. A session in mode http has one from the first byte
 * of a request to the end of the exchange (s->txn); an idle keep-alive connection has none.
 */
#ifndef TACIT_PROXY_MODEL_HTTP_TXN_H
#define TACIT_PROXY_MODEL_HTTP_TXN_H

#include <stdint.h>

#include "http/head.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/persist_state.h"
#include "proxy/model/rules.h"
#include "proxy/model/session.h"

/* Length of the request line that is kept for the log, unless tune.http.logurilen is set; as in
 * HAProxy, whose default of 1024 is one more than it shows. */
#define HTTP_LINE_MAX 1023
/* Space for fields that rules and options add, in addition to tune.http.maxhdr. */
#define HTTP_FIELDS_ADDED 64
/* After so many failures the rules http-after-response are not run any more: on a response, and on
 * the page for error 500 instead of it. */
#define HTTP_AFTER_FAILS_MAX 2

struct h1_message; /* http/h1_message.h */
struct service_job;

/* The body of the server's response, on the way to the client. */
enum http_res_body {
	HTTP_RES_BODY_SENT,      /* with its framing */
	HTTP_RES_BODY_DECHUNKED, /* without chunks, to an HTTP/1.0 client */
	HTTP_RES_BODY_DROPPED
};

/* The local reply. */
enum http_reply_state {
	HTTP_REPLY_UNMADE, /* there is none, or it will be the page for the status */
	HTTP_REPLY_MADE,   /* it is the lookahead of dir[SERVER] until it is sent */
	HTTP_REPLY_EMPTY   /* a rule's empty file: nothing is sent */
};

struct http_txn {
	/* The bytes of the request and of the response. In the same memory. */
	struct h1_message *h1[SIDES];
	/*
	 * The request's texts lie in the client's buffer until it is sent. After that it must not
	 * be used (req.n is 0), nor the response after its head was sent.
	 */
	struct http_head req, res;
	struct vars vars;        /* scope txn */
	struct vars message_vars; /* scope req, then res: http_end_req_vars() */
	/* Data of the original request, kept to the end: */
	uint64_t id;             /* unique in the process, as sessions' are: engine_next_id() */
	enum http_method method; /* as the server gets it; before: as it came, too */
	enum http_method asked;  /* as it came: what body the client expects behind a head */
	enum http_version version;
	enum http_version res_version; /* version of the server's response, if has_res_version */
	uint32_t head_end; /* offset in the client's buffer where the head ends and the body
			    * begins */
	uint32_t looked_at; /* length of the head when it was last parsed */
	char *line;              /* "GET /path HTTP/1.1"; in the same memory */
	uint32_t line_max;       /* room for it: tune.http.logurilen */
	uint32_t line_len;       /* its length, truncated to line_max; 0: invalid */
	uint32_t line_method, line_target; /* lengths of its parts, as far as they are in it */
	/* Times on the loop's clock in ms; 0: not yet. */
	uint64_t began_ms;       /* first byte of the request */
	uint64_t began_wall_ns;
	uint64_t idle_ms;        /* from the end of the previous exchange (or accept) to began_ms */
	uint64_t head_ms;        /* the request head is complete */
	uint64_t res_ms;         /* the response head is complete, or a local reply was made */
	unsigned int status;     /* sent to the client; 0: none yet */
	struct proxy *be;        /* the backend, from head_ms on; NULL: none */
	struct persist_state persist;
	uint32_t start;          /* offset of the request in that buffer, once it is placed */
	/* source usesrc hdr_ip: the address in the header; AF_UNSPEC: none. */
	sa_family_t source_family;
	unsigned char source_ip[16];
	/* sni of a server that needs the request: its result; NULL: it was not noted. */
	struct noted_name *sni;
	uint32_t name_len;       /* http-send-name-header: length of the server's name, the last
				  * value of the placed head */
	uint16_t head_us, res_us;  /* microseconds that head_ms and res_ms leave out */
	uint8_t hop;             /* bits of enum http_hop: what its Connection asks for */
	uint8_t stage;           /* progress of the request in request.c */
	uint8_t res_stage;       /* progress of the response in response_rules.c */
	uint8_t res_body;        /* enum http_res_body */
	uint8_t reply;           /* enum http_reply_state */
	uint8_t after_fails;     /* number of failures of http-after-response:
				  * HTTP_AFTER_FAILS_MAX */
	uint8_t slow_reads;      /* consecutive reads that brought few bytes of the request's
				  * head */
	/* The request: */
	uint8_t keeps : 2;       /* bits of sides: http_keep() */
	uint8_t is_awaited : 1;  /* no byte of it has arrived */
	uint8_t head_is_given : 1; /* its head was not parsed here: `req` is complete */
	uint8_t persists : 1;    /* the client keeps its connection open */
	uint8_t is_proxied : 1;  /* asks for more than a path, with option http-use-proxy-header:
				  * its fields for a proxy are those of tacit */
	uint8_t req_is_gone : 1; /* a rule ended the request: its head is not used any more */
	uint8_t no_timers : 1;   /* it ended before it was accepted: logs have no TR and Tq */
	uint8_t client_sent_more : 1; /* the client has sent data after it */
	/* The attempts at servers: */
	uint8_t placed : 1;      /* the request is ready to be sent: see http_place_request() */
	uint8_t reused : 1;      /* the server connection has carried earlier requests */
	uint8_t fresh : 1;       /* the next attempt needs a new connection: a reused one was
				  * closed */
	uint8_t no_l7_retry : 1; /* retried only after a connection failure: disable-l7-retry */
	/* The response: */
	uint8_t has_res_version : 1;
	uint8_t local : 1;       /* it is a local reply */
	uint8_t is_served : 1;   /* it is a service's own, chunked if is_chunked; or a cache's */
	uint8_t is_chunked : 1;
	uint8_t non_strict : 1;  /* strict-mode off, for the current rules */
	uint8_t has_res_vars : 1; /* message_vars are those of the response */
	struct service_job *job; /* a local service generates the response; NULL: none, or it has
				  * ended */
	const char *served_by;   /* the name of that service, or "<CACHE>"; NULL: none */
	const struct rule *last_rule; /* the last one that ended a list; NULL: none */
	struct rules_at at;      /* the rule at which the request or the response waits */
	uint64_t server_rst;     /* as h2_rst_of() of a server's connection that was closed */
	uint64_t wait_until_ms;  /* deadline of that wait; 0: none */
	uint64_t held_ms;        /* a rule waits for the response's body, since whose head is
				  * complete; 0: none does */
	unsigned int timeout_ms[RULE_TIMEOUTS]; /* set-timeout; 0: the backend's value */
	struct addr_override endpoints; /* address changes by rules */
	struct http_field field[]; /* 2 * (maxhdr + HTTP_FIELDS_ADDED), then h1, then line */
};

/* Pools of the engine, for session.c. */
void http_txn_pool_init(struct engine *e);
/* Creates a transaction for s when its first byte arrives: NULL without memory. */
struct http_txn *http_txn_get(struct stream *s) must_check;
/* Creates a transaction for a client that has sent nothing; it begins when the wait for its request
 * began. */
struct http_txn *http_txn_get_awaited(struct stream *s) must_check;
/* Frees it and sets s->txn to NULL; NULL before is allowed. */
void http_txn_put(struct stream *s);
/* Its service has ended, or is not needed any more. */
void http_txn_drop_job(struct http_txn *t);
/* True if its response has begun and is incomplete, so far; never for a tunnel. */
int http_response_is_cut(const struct http_txn *t);
/* Allows a complete head more fields than tune.http.maxhdr. */
void http_txn_allow_added(struct stream *s, struct http_head *h);
/* True if a head that a cache has stored, with what is added when it is served, takes at most `max`
 * fields, for which `field` has room, and h1_max bytes of HTTP/1. */
int http_stored_fits(struct str head, struct http_field *field, unsigned int max, size_t h1_max);
/* Its backend as far as known; NULL: not yet, or none. */
static inline struct proxy *
stream_backend(const struct stream *s)
{
	return s->be || !s->txn ? s->be : s->txn->be;
}
/* True if the response head is complete, or a local reply was made. */
static inline int
http_has_answer(const struct http_txn *t)
{
	return t->res_ms != 0;
}

/* True if the connection of that side is kept after the exchange. */
static inline int
http_keeps(const struct http_txn *t, int side)
{
	return t->keeps >> side & 1;
}

static inline void
http_keep(struct http_txn *t, int side)
{
	t->keeps |= 1u << side;
}

/* Closes it instead. */
static inline void
http_close_after(struct http_txn *t, int side)
{
	t->keeps &= ~(1u << side);
}

/* Closes both. */
static inline void
http_close_both_after(struct http_txn *t)
{
	t->keeps = 0;
}

/* The head of the request, or what it waited for, is complete now. */
static inline void
http_note_head_time(struct stream *s)
{
	s->txn->head_ms = stream_now_ms(s);
	s->txn->head_us = (uint16_t)stream_now_us(s);
}

/* The response's head is complete now, or a local reply was made. */
static inline void
http_note_answer_time(struct stream *s)
{
	s->txn->res_ms = stream_now_ms(s);
	s->txn->res_us = (uint16_t)stream_now_us(s);
}

/* Ends the variables of scope req, and begins those of scope res (manual 2.8), if that has not been
 * done. */
static inline void
http_end_req_vars(struct http_txn *t)
{
	if (t->has_res_vars)
		return;
	vars_fini(&t->message_vars);
	t->has_res_vars = 1;
}

/* True if the next data from that side is a head, not a body. For a session in RELAY. */
static inline int
http_awaits_head(const struct stream *s, int side)
{
	return s->txn && side == SERVER && !http_has_answer(s->txn);
}

#endif
