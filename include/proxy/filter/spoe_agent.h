/*
 * Connections of a worker with the agents of an engine. A stream's frame is a question: it waits
 * for a connection, then for its ACK. Questions share connections as far as the agent pipelines.
 * On the worker's thread.
 */
#ifndef TACIT_PROXY_FILTER_SPOE_AGENT_H
#define TACIT_PROXY_FILTER_SPOE_AGENT_H

#include <stdint.h>

#include "base/sbuf.h"
#include "proxy/filter/spoe_conf.h"
#include "proxy/model/filter.h"

struct spoe_ask;

/* Errors of the engine, as `option set-on-error` shows them; a status of SPOP is SPOE_SPOP more. */
enum spoe_error {
	SPOE_TIMEOUT = 1,
	SPOE_NO_RESOURCE = 2,
	SPOE_TOO_LONG = 3,
	SPOE_SPOP = 256
};

/* The part of an engine in one exchange of a stream. */
struct spoe_state {
	struct filter f;
	struct stream *s;
	struct spoe_ask *ask;    /* NULL: none waits */
	const struct rule *by;   /* the rule that asks; NULL: none does */
	uint8_t is_done;         /* it has an answer */
	uint8_t is_off;          /* after an error, for the rest of the exchange */
	unsigned int error;      /* enum spoe_error or a status; 0: the agent has answered */
	char *actions;           /* of the ACK; owned */
	size_t n_actions;
	uint64_t id, n_frames;   /* the STREAM-ID, and the last FRAME-ID */
	uint64_t began_ms, total_ms;
	struct spoe_passed *passed; /* rules of mode tcp that need not run again */
};

/* The engine's part of a worker, made on first use: NULL without memory. */
struct spoe_run *spoe_run_get(struct engine *e, struct spoe_conf *c) must_check;
/* The longest frame that it sends, without its length. */
uint32_t spoe_max_frame(const struct spoe_run *r);
/* True if maxerrrate is reached. */
int spoe_has_failed_often(const struct spoe_run *r);
/* Counts a question that is over. The number of errors, and of all questions so far. */
void spoe_count(struct spoe_run *r, int is_error, uint64_t *errors, uint64_t *all);
/* Asks with this frame, which begins with its length: 0 or -ERR_NOMEM. The answer comes to st, and
 * engine.hooks.on_resolved() is called. */
int spoe_ask_new(struct spoe_run *r, struct spoe_state *st, const struct sbuf *frame) must_check;
/* Ends the stream's wait for an answer. */
void spoe_ask_forget(struct spoe_ask *a);

#endif
