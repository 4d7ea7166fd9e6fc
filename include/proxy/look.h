/*
 * What rules and formats look at: a session as expressions and aliases see it, and the room that
 * their results take.
 */
#ifndef TACIT_PROXY_LOOK_H
#define TACIT_PROXY_LOOK_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/wall.h"
#include "rule/sample.h"

struct http_txn;
struct log_ident;
struct regex_work;
struct session;
struct sys;

/* Of a worker. */
struct look_room {
	struct arena arena;
	struct regex_work *regex;
	struct wall wall;            /* the date of what was looked at last */
	uint64_t seed;               /* of rand */
};

/* bytes: of the texts of one evaluation. seed: any. 0 or -ERR_NOMEM. */
int look_room_init(struct look_room *r, size_t bytes, uint64_t seed) must_check;
void look_room_fini(struct look_room *r);

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
struct look {
	struct sample_ctx cx;        /* cx.log is log */
	struct log_context log;
	struct http_txn *borrowed;   /* of inspect_look() */
};

/* at: SAMPLE_AT_x that hold. The worker's arena is as it was: who evaluates marks and releases. */
void look_init(struct look *l, struct session *s, unsigned int at);

#endif
