/*
 * What rules and formats look at: a session as expressions and aliases see it, and the room that
 * their results take.
 */
#ifndef TACIT_PROXY_SAMPLE_EVAL_H
#define TACIT_PROXY_SAMPLE_EVAL_H

#include <stdint.h>

#include "proxy/model/eval_scratch.h"
#include "rule/sample/sample.h"

struct http_txn;
struct log_ident;
struct session;
struct sys;
struct wall;

/* What an alias needs besides its session. */
struct log_context {
	struct sys *sys; /* for addresses nobody has asked for yet; NULL: written as "-" */
	const struct log_ident *id;  /* %H, %pid */
	struct wall *wall;
	uint64_t now_ms;             /* the loop's clock: the end of Tt */
	int asap;                    /* option logasap: totals are marked with + */
	uint64_t count;              /* lines of this frontend before it: %lc */
};

/* Lives for as long as something is evaluated; not to be copied. */
struct eval {
	struct sample_ctx cx;        /* cx.log is log */
	struct log_context log;
	struct http_txn *borrowed;   /* of tcp_content_eval_init() */
};

/* at: SAMPLE_AT_x that hold. The worker's arena is as it was: who evaluates marks and releases. */
void eval_init(struct eval *l, struct session *s, unsigned int at);

#endif
