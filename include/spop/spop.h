/*
 * The stream processing offload protocol, SPOP 2.0, as bytes (SPOE.txt of HAProxy, section 3):
 * what a proxy sends to an agent, and what an agent answers. Pure, on any thread. The decoder is
 * strict: a frame that it accepts is complete, has no byte too many, and is not fragmented.
 */
#ifndef TACIT_SPOP_SPOP_H
#define TACIT_SPOP_SPOP_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/sbuf.h"
#include "base/str.h"

/* Bytes of the length before each frame, and the least maximum of a frame. */
#define SPOP_LENGTH 4u
#define SPOP_FRAME_MIN 256u

enum spop_type {
	SPOP_HAPROXY_HELLO = 1,
	SPOP_HAPROXY_DISCONNECT = 2,
	SPOP_NOTIFY = 3,
	SPOP_AGENT_HELLO = 101,
	SPOP_AGENT_DISCONNECT = 102,
	SPOP_ACK = 103
};

/* Status codes of a DISCONNECT (section 3.5). */
enum spop_status {
	SPOP_OK = 0,
	SPOP_IO = 1,
	SPOP_TIMEOUT = 2,
	SPOP_TOO_BIG = 3,
	SPOP_INVALID = 4,
	SPOP_NO_VERSION = 5,
	SPOP_NO_FRAME_SIZE = 6,
	SPOP_NO_CAPABILITIES = 7,
	SPOP_BAD_VERSION = 8,
	SPOP_BAD_FRAME_SIZE = 9,
	SPOP_FRAGMENTED = 10,
	SPOP_NO_MEMORY = 13,
	SPOP_UNKNOWN = 99
};

enum spop_value_type {
	SPOP_NULL,
	SPOP_BOOL,
	SPOP_INT32,
	SPOP_UINT32,
	SPOP_INT64,
	SPOP_UINT64,
	SPOP_IPV4,
	SPOP_IPV6,
	SPOP_STRING,
	SPOP_BINARY
};

struct spop_value {
	enum spop_value_type type;
	int64_t n;               /* BOOL and numbers */
	uint8_t ip[16];          /* IPV4 uses the first four */
	struct str text;         /* STRING and BINARY */
};

/* The protocol's description of a status code. */
const char *spop_status_text(uint32_t s);

/* --- out: appended to b, whose `failed` is set when memory is out --- */

/* A text behind its length, and a value with its type. */
void spop_put_text(struct sbuf *b, struct str text);
void spop_put_value(struct sbuf *b, const struct spop_value *v);
/* Begins a frame at the end of b: its length, to be set by spop_end_frame(), type, flags and ids.
 * Returns its place in b. */
size_t spop_begin_frame(struct sbuf *b, enum spop_type type, uint64_t stream_id, uint64_t frame_id);
/* Sets the length of the frame at this place, which ends b. */
void spop_end_frame(struct sbuf *b, size_t at);

struct spop_hello {
	uint32_t max_frame;      /* bytes without the length, as all maxima of frames */
	struct str capabilities; /* "pipelining,async" */
	struct str engine_id;    /* len 0: none */
	int is_check;            /* the connection is a health check */
};

/* Whole frames. */
void spop_put_hello(struct sbuf *b, const struct spop_hello *h);
void spop_put_disconnect(struct sbuf *b, enum spop_status why);

/* --- in --- */

/* Bytes that are still to be read. They, and texts that point into them, are the caller's. */
struct spop_in {
	const uint8_t *p, *end;
};

struct spop_frame {
	uint8_t type;
	uint64_t stream_id, frame_id;
	struct spop_in payload;
};

/* The length in front of a frame. */
uint32_t spop_length(const uint8_t p[SPOP_LENGTH]);
/* Reads n bytes, a frame without its length. SPOP_OK, or why it is refused. */
enum spop_status spop_read_frame(const uint8_t *p, size_t n, struct spop_frame *out) must_check;

struct spop_agent {
	uint32_t max_frame;
	int pipelines;           /* NOTIFY frames need not wait for the ACK of the one before */
	int is_async;            /* an ACK may come by another connection */
};

/* Reads an AGENT-HELLO. max_frame: the announced one. SPOP_OK, or why it is refused. */
enum spop_status spop_read_hello(const struct spop_frame *f, uint32_t max_frame,
	struct spop_agent *out) must_check;
/* Reads an AGENT-DISCONNECT: SPOP_OK, with its code and text, or SPOP_INVALID. */
enum spop_status spop_read_disconnect(const struct spop_frame *f, uint32_t *code,
	struct str *text) must_check;

/* Scopes of variables; by number. */
enum spop_scope { SPOP_PROC, SPOP_SESS, SPOP_TXN, SPOP_REQ, SPOP_RES, SPOP_SCOPES };

struct spop_action {
	int is_unset;            /* unset-var: there is no value */
	enum spop_scope scope;
	struct str name;
	struct spop_value value;
};

/* The next action of an ACK: 1, 0: there is none, -1: the rest is invalid. */
int spop_next_action(struct spop_in *in, struct spop_action *out) must_check;
/* True if all actions of an ACK are valid. */
int spop_actions_are_valid(struct spop_in in);

#endif
