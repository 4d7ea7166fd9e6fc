/*
 * Samples: values that rules use. A fetch extracts one from the traffic (manual 7.3), converters
 * change it (7.3.1), patterns match it (7.1). The types and conversions are the manual's.
 */
#ifndef TACIT_RULE_SAMPLE_SAMPLE_H
#define TACIT_RULE_SAMPLE_SAMPLE_H

#include <netinet/in.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"
#include "rule/sample/arena.h"

struct cfg_where;
struct http_head;
struct log_sink;
struct random_source;
struct regex_work;
struct sbuf;
struct shortfalls;
struct sys;

enum sample_type {
	SAMPLE_BOOL,
	SAMPLE_SINT,
	SAMPLE_IPV4,
	SAMPLE_IPV6,
	SAMPLE_STR,
	SAMPLE_BIN,
	SAMPLE_TYPES,
	/* For declarations only, never the type of a sample. */
	SAMPLE_ADDR = SAMPLE_TYPES, /* IPV4 or IPV6 */
	SAMPLE_ANY
};

union sample_value {
	int64_t sint;                /* BOOL (0, 1) and SINT */
	struct in_addr ipv4;
	struct in6_addr ipv6;
	/* STR and BIN: bytes in the traffic, static, or in the arena */
	struct str str;
};

struct sample {
	enum sample_type type;
	union sample_value u;
	/*
	 * Set by a fetch with several values (the elements of a header): call it again with
	 * ctx->nth + 1. Value 0 is the one that the manual defines where only one counts (the last
	 * of a header), then all others follow in order. Also set when this value was not found or
	 * a converter had no result: the next one may have one.
	 */
	uint8_t has_more;
	/*
	 * More traffic may change or supply it: wait where waiting is allowed (inspect-delay).
	 */
	uint8_t may_change;
};

/* Parts of the traffic that are available, one bit each. */
enum sample_scope {
	SAMPLE_AT_CONN   = 1u << 0, /* an accepted connection: src, dst, fe_name */
	SAMPLE_AT_REQ    = 1u << 1, /* a request's head (in mode tcp: bytes) */
	SAMPLE_AT_BACK   = 1u << 2, /* a chosen backend */
	SAMPLE_AT_SERVER = 1u << 3, /* a chosen server */
	SAMPLE_AT_RES    = 1u << 4, /* a response's head */
	SAMPLE_AT_END    = 1u << 5, /* the log line: totals and times */
	SAMPLE_AT_BODY   = 1u << 6, /* the request's body, buffered */
	SAMPLE_AT_TXN    = 1u << 7, /* a transaction: the parts of its heads for the log */
	SAMPLE_AT_CHECK  = 1u << 8  /* a health check of a server */
};

struct vars;

/* The received part of a body in mode http, without framing. */
struct sample_body {
	struct str content;
	uint8_t is_whole;          /* nothing of it is missing */
	uint8_t is_full;           /* no more of it can be had: no room, or its sender has closed */
};

/* The position of a fetch among several values; kept from one nth to the next. */
struct sample_cursor {
	struct str rest;
	unsigned int from;  /* the next field to search */
	int place;          /* the current field */
	unsigned int left;  /* number of further values */
};

/* The context of an evaluation. Filled in by the proxy for each run of rules or a format. */
struct sample_ctx {
	unsigned int at;           /* SAMPLE_AT_x that are available */
	struct http_head *req, *res; /* NULL: none */
	struct str method;         /* of the request as it came; empty: not known, see req */
	unsigned int status;       /* in logs: of the response that a server sent; 0: none */
	struct sample_body req_body, res_body;
	/* Finds the response's body where it is asked for, in the arena if it came in chunks. NULL:
	 * it is res_body. */
	struct sample_body (*read_res_body)(const struct sample_ctx *cx);
	/* Mode tcp: data received from the client and from the server. */
	struct str req_bytes, res_bytes;
	/* Mode http: the request's credentials are in Proxy-Authorization. */
	int is_proxied;
	int req_not_http;          /* mode tcp: req_bytes are not an HTTP request */
	size_t req_len, res_len;   /* mode http: received bytes, including the head */
	/* No more data will arrive, of the response if that is evaluated: no sample may change. */
	int req_ended;
	const void *stream;        /* for the fetches of the proxy: struct stream */
	const void *log;           /* struct log_context, in log formats */
	const void *server;        /* SAMPLE_AT_CHECK: struct server */
	/* rule/sample/var.h: by scope; NULL: none */
	struct vars *proc, *sess, *txn, *reqv, *resv, *check;
	struct arena *arena;
	struct regex_work *regex;  /* the worker's; NULL: regexes never match */
	struct log_sink *sink;     /* the worker's, for what `debug` shows; NULL: none */
	struct shortfalls *shortfalls; /* the worker's; NULL: they are not counted */
	const struct cfg_where *where; /* of the rule or format, for messages; NULL: unknown */
	uint64_t now_ms;           /* the loop's clock */
	uint64_t wall_ns;
	struct random_source *random; /* the worker's */
	struct sys *sys;           /* the worker's; needed with variables of scope proc */
	unsigned int worker;       /* its number, from 0 */
	unsigned int nth;          /* index among several values */
	struct sample_cursor cursor;
};

/* The body of the request, or of the response. */
static inline struct sample_body
sample_body_of(const struct sample_ctx *cx, int of_response)
{
	if (!of_response)
		return cx->req_body;
	return cx->read_res_body ? cx->read_res_body(cx) : cx->res_body;
}

const char *sample_type_name(enum sample_type t);
/* The type of a sample as HAProxy shows it with a value: "str". */
const char *sample_type_word(enum sample_type t);
/* Adds at most `max` bytes of a text, with a dot for each that is not printable. */
void sample_add_printable(struct sbuf *b, struct str text, size_t max);
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
 * Converts it to another type: numbers to addresses and back, any type to text and bytes, text to
 * numbers (the leading digits; 0 without digits) and addresses (a port after IPv4 is dropped).
 * Bytes become text up to their first NUL. ADDR is either address family, ANY is unchanged. 0, or
 * -1: no such conversion, or none for this value.
 */
int sample_cast(struct sample *s, enum sample_type to, struct arena *a) must_check;
/* True if the conversion exists, also for declared types (ADDR, ANY). */
int sample_can_cast(enum sample_type from, enum sample_type to);
/*
 * The number at the beginning of a text: sign and digits; saturated. 0 without digits. -1 for an
 * empty text.
 */
int sample_parse_int(struct str text, int64_t *out) must_check;

#endif
