/*
 * Tracing: a bounded ring of what happened to sessions, filled while a level is set, shown by the
 * admin socket. Off costs one branch; nothing is allocated before tracing is first turned on.
 */
#ifndef TACIT_BASE_TRACE_H
#define TACIT_BASE_TRACE_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/sbuf.h"

/* What is kept; each level includes those before it. */
enum trace_level {
	TRACE_OFF,
	TRACE_ERROR, /* pairs outside the state table, ends that are nobody's wish */
	TRACE_STATE, /* every change of state */
	TRACE_IO,    /* reads and writes too */
	TRACE_LEVELS
};

#define TRACE_RECORDS 4096     /* kept; older ones are overwritten */
#define TRACE_TEXT 40          /* bytes of a record's own text, with the NUL */

struct trace_rec {
	uint64_t seq;          /* 1.. */
	uint64_t now_ns;       /* the loop's monotonic clock */
	uint64_t session;      /* session id, 0: none */
	const char *state;     /* static strings; NULL: none */
	const char *event;
	uint8_t level;
	char text[TRACE_TEXT];
};

struct trace {
	enum trace_level level;
	uint64_t only;         /* session id to keep, 0: all */
	uint64_t seq;          /* records written since the start */
	struct trace_rec *ring; /* TRACE_RECORDS, or NULL before the first trace_start() */
};

void trace_init(struct trace *t);
void trace_fini(struct trace *t);
/* From now on keeps level and what is more important, of one session (0: of all). 0 or
 * -ERR_NOMEM. */
int trace_start(struct trace *t, enum trace_level level, uint64_t only) must_check;
/* Stops; what was recorded stays to be shown. */
void trace_stop(struct trace *t);
/* Forgets the records. */
void trace_clear(struct trace *t);

static inline int
trace_is_on(const struct trace *t, enum trace_level level)
{
	return unlikely(t && t->level >= level);
}

/* One record; state and event are static strings or NULL, the text is cut at TRACE_TEXT. Ask
 * trace_is_on() first where making the arguments costs something. */
void trace_add(struct trace *t, enum trace_level level, uint64_t now_ns, uint64_t session,
	const char *state, const char *event, const char *fmt, ...) fmt_printf(7, 8);

/* Records with seq > after as lines, oldest first, at most max (0: all); returns the last seq
 * shown. */
uint64_t trace_dump(const struct trace *t, uint64_t after, unsigned int max, struct sbuf *out);

const char *trace_level_name(enum trace_level level);
/* A level, or -ERR_UNKNOWN. */
int trace_level_parse(const char *name) must_check;

#endif
