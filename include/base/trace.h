/*
 * Tracing: a ring of session events, filled while a level is set and shown by the admin socket.
 * Disabled tracing costs one branch, and allocates nothing before it is first enabled.
 */
#ifndef TACIT_BASE_TRACE_H
#define TACIT_BASE_TRACE_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/sbuf.h"

/* Trace levels; each includes those before it. */
enum trace_level {
	TRACE_OFF,
	TRACE_ERROR, /* pairs outside the state table, abnormal ends */
	TRACE_STATE, /* every state change */
	TRACE_IO,    /* also reads and writes */
	TRACE_LEVELS
};

#define TRACE_RECORDS 4096     /* records kept; older ones are overwritten */
#define TRACE_TEXT 40          /* size of a record's text, including the NUL */

struct trace_rec {
	uint64_t seq;          /* 1.. */
	uint64_t now_ns;       /* the loop's monotonic clock */
	uint64_t session;      /* session id; 0: none */
	const char *state;     /* static strings; NULL: none */
	const char *event;
	uint8_t level;
	char text[TRACE_TEXT];
};

struct trace {
	enum trace_level level;
	uint64_t only;         /* session id to record; 0: all */
	uint64_t seq;          /* records written since the start */
	struct trace_rec *ring; /* TRACE_RECORDS, or NULL before the first trace_start() */
};

void trace_init(struct trace *t);
void trace_fini(struct trace *t);
/* Starts recording this level and more important ones, of one session (0: of all). 0 or
 * -ERR_NOMEM. */
int trace_start(struct trace *t, enum trace_level level, uint64_t only) must_check;
/* Stops recording; the records are kept. */
void trace_stop(struct trace *t);
/* Deletes the records. */
void trace_clear(struct trace *t);

static inline int
trace_is_on(const struct trace *t, enum trace_level level)
{
	return unlikely(t && t->level >= level);
}

/* Adds a record. state and event are static strings or NULL; the text is truncated to TRACE_TEXT.
 * Check trace_is_on() first where the arguments are expensive. */
void trace_add(struct trace *t, enum trace_level level, uint64_t now_ns, uint64_t session,
	const char *state, const char *event, const char *fmt, ...) fmt_printf(7, 8);

/* Formats records with seq > after as lines, oldest first, at most max (0: all). Returns the last
 * seq shown. */
uint64_t trace_dump(const struct trace *t, uint64_t after, unsigned int max, struct sbuf *out);

const char *trace_level_name(enum trace_level level);
/* A level, or -ERR_UNKNOWN. */
int trace_level_parse(const char *name) must_check;

#endif
