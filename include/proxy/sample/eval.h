/*
 * What rules and formats look at: a session as expressions and aliases see it, and the room that
 * their results take.
 */
#ifndef TACIT_PROXY_SAMPLE_EVAL_H
#define TACIT_PROXY_SAMPLE_EVAL_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/random.h"
#include "base/wall.h"
#include "rule/sample/sample.h"

struct http_txn;
struct log_ident;
struct regex_work;
struct session;
struct sys;

/* Of a worker. */
struct eval_scratch {
	struct arena arena;
	struct regex_work *regex;
	struct wall wall;            /* the date of what was looked at last */
	struct random_source random;
};

/* bytes: of the texts of one evaluation. sys: the worker's. 0 or -ERR_NOMEM. */
int eval_scratch_init(struct eval_scratch *r, size_t bytes, struct sys *sys) must_check;
void eval_scratch_fini(struct eval_scratch *r);

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
