/*
 * Samples: what rules look at. A fetch takes one from the traffic (manual 7.3), converters
 * change it (7.3.1), patterns judge it (7.1). The types and their conversions are the manual's.
 */
#ifndef TACIT_RULE_SAMPLE_SAMPLE_H
#define TACIT_RULE_SAMPLE_SAMPLE_H

#include <netinet/in.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

struct http_head;
struct random_source;
struct regex_work;
struct sys;

enum sample_type {
	SAMPLE_BOOL,
	SAMPLE_SINT,
	SAMPLE_IPV4,
	SAMPLE_IPV6,
	SAMPLE_STR,
	SAMPLE_BIN,
	SAMPLE_TYPES,
	/* Of declarations only, never of a sample. */
	SAMPLE_ADDR = SAMPLE_TYPES, /* IPV4 or IPV6 */
	SAMPLE_ANY
};

struct sample {
	enum sample_type type;
	union {
		int64_t sint;        /* BOOL (0, 1) and SINT */
		struct in_addr ipv4;
		struct in6_addr ipv6;
		/* STR and BIN: bytes in the traffic, in static storage or in the arena */
		struct str str;
	} u;
	/*
	 * Set by a fetch with several values (the elements of a header): ask again with ctx->nth
	 * + 1. The 0th is the one that the manual means where only one counts (the last of a
	 * header), those after it are all the others, in order. It is also set where this one was
	 * not found, or a converter made nothing of it: the next may be.
	 */
	uint8_t has_more;
	/*
	 * More traffic may change it, or bring it: wait where waiting is allowed
	 * (inspect-delay).
	 */
	uint8_t may_change;
};

/*
 * Memory for the texts that an evaluation makes: one per worker, of tune.bufsize bytes. Marked
 * and released like a stack; what does not fit makes the sample not found, and is counted.
 */
struct arena {
	char *p;
	size_t used, cap;
	uint64_t refused;
};

/* NULL when it does not fit. */
char *arena_get(struct arena *a, size_t n) must_check;
/* A copy. p is NULL when it does not fit. */
struct str arena_copy(struct arena *a, struct str s);
static inline size_t
arena_mark(const struct arena *a)
{
	return a->used;
}
static inline void
arena_release(struct arena *a, size_t mark)
{
	a->used = mark;
}

/* What of the traffic there is to look at, one bit each. */
enum sample_scope {
	SAMPLE_AT_CONN   = 1u << 0, /* an accepted connection: src, dst, fe_name */
	SAMPLE_AT_REQ    = 1u << 1, /* a request's head (bytes, in mode tcp) */
	SAMPLE_AT_BACK   = 1u << 2, /* a backend was chosen */
	SAMPLE_AT_SERVER = 1u << 3, /* and a server */
	SAMPLE_AT_RES    = 1u << 4, /* a response's head */
	SAMPLE_AT_END    = 1u << 5, /* the log line: totals and times */
	SAMPLE_AT_BODY   = 1u << 6, /* the request's body, buffered */
	SAMPLE_AT_TXN    = 1u << 7  /* a transaction: what is kept of its heads for the log */
};

struct vars;

/* Where a fetch stands among several values: its own from one nth to the next. */
struct sample_cursor {
	struct str rest;
	unsigned int from;  /* the field to look at next */
	int place;          /* the field at work */
	unsigned int left;  /* values still to come */
};

/* What an evaluation looks at. Filled in by the proxy, for each run of rules or format. */
struct sample_ctx {
	unsigned int at;           /* SAMPLE_AT_x that hold */
	struct http_head *req, *res; /* NULL: none */
	struct str req_body;       /* what of it has come, without framing */
	int req_body_whole;
	int req_body_full;         /* there is no room for more of it */
	/* Mode tcp: what the client, and the server, sent so far. */
	struct str req_bytes, res_bytes;
	int req_not_http;          /* mode tcp: and req_bytes are no request */
	size_t req_len, res_len;   /* mode http: bytes that are there of it, its head among them */
	/* Nothing more will come, of the response where that is looked at: no sample may change. */
	int req_ended;
	const void *session;       /* for the fetches of the proxy: struct session */
	const void *log;           /* struct log_context, in log formats */
	struct vars *proc, *sess, *txn, *reqv, *resv; /* rule/sample/var.h: by scope, NULL: none */
	struct arena *arena;
	struct regex_work *regex;  /* the worker's; NULL: regexes match nothing */
	uint64_t now_ms;           /* the loop's clock */
	uint64_t wall_ns;
	struct random_source *random; /* the worker's */
	struct sys *sys;           /* the worker's; needed with variables of scope proc */
	unsigned int worker;       /* its number, from 0 */
	unsigned int nth;          /* which of several values */
	struct sample_cursor cursor;
};

const char *sample_type_name(enum sample_type t);
static inline void
sample_set_int(struct sample *s, int64_t v)
{
	s->type = SAMPLE_SINT;
	s->u.sint = v;
}
static inline void
sample_set_bool(struct sample *s, int v)
{
	s->type = SAMPLE_BOOL;
	s->u.sint = v != 0;
}
static inline void
sample_set_str(struct sample *s, struct str v)
{
	s->type = SAMPLE_STR;
	s->u.str = v;
}
/*
 * Turns it into another type: numbers into addresses and back, anything into text and bytes, text
 * into numbers (its leading digits; 0 without any) and addresses (a port behind IPv4 is dropped).
 * Bytes become text up to their first NUL. ADDR is whichever of the two families fits, ANY as it
 * is. 0, or -1: there is no such conversion, or this value has none.
 */
int sample_cast(struct sample *s, enum sample_type to, struct arena *a) must_check;
/* Is there such a conversion? Declared types (ADDR, ANY) count too. */
int sample_can_cast(enum sample_type from, enum sample_type to);
/*
 * The number a text begins with: a sign, digits; beyond the range it is the nearest that fits.
 * 0 without digits. -1 for an empty text.
 */
int sample_parse_int(struct str text, int64_t *out) must_check;

#endif
