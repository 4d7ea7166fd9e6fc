/*
 * The evaluation context of rules and formats: the session as expressions and aliases see it, and
 * memory for their results.
 */
#ifndef TACIT_PROXY_SAMPLE_EVAL_H
#define TACIT_PROXY_SAMPLE_EVAL_H

#include <stdint.h>

#include "proxy/model/eval_scratch.h"
#include "proxy/model/session.h"
#include "rule/sample/sample.h"

struct http_txn;
struct log_ident;
struct stream;
struct sys;
struct wall;

/* Data for aliases besides the session. */
struct log_context {
	struct sys *sys; /* for addresses that are not known yet; NULL: written as "-" */
	const struct log_ident *id;  /* %H, %pid */
	struct wall *wall;
	uint64_t now_ms;             /* the loop's clock: end of Tt */
	int asap;                    /* option logasap: totals are prefixed with + */
	uint64_t count;              /* number of earlier lines of this frontend: %lc */
	const char *step;            /* at which the line is written: %OG; NULL: it is no line */
	/* The rule `do-log` that writes the line; its log and at change meanwhile. NULL: none. */
	struct sample_ctx *rule;
};

/* Lives during one evaluation; must not be copied. */
struct eval {
	struct sample_ctx cx;        /* cx.log is log */
	struct log_context log;
	struct http_txn *borrowed;   /* for tcp_content_eval_init() */
};

/* at: SAMPLE_AT_x that are available. Does not touch the worker's arena: the caller marks and
 * releases it. */
void eval_init(struct eval *l, struct stream *s, unsigned int at);
/* The received content of the request, without framing: in the client's buffer or, if it came in
 * chunks, in the worker's arena. For a session with a complete head. */
struct str eval_received_body(const struct stream *s);
/* The same of the response while its head is not sent: sample_ctx.read_res_body. */
struct sample_body eval_response_body(const struct sample_ctx *cx);
/* True if more of the response's body may arrive before its head is sent. */
int eval_response_may_grow(const struct stream *s);

/*
 * Sets up eval for the data that the client has sent, also for use_backend conditions. To be
 * followed by tcp_content_eval_done().
 */
void tcp_content_eval_init(struct eval *eval, struct stream *s, unsigned int at);
void tcp_content_eval_done(struct eval *eval, struct stream *s);
/* The bytes of the client that are received and not forwarded yet; they stay where they are. */
struct str tcp_received(const struct stream *s);

#endif
