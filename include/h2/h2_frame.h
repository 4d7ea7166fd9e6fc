/*
 * Frames of HTTP/2 (RFC 9113, 4 and 6): their headers, the rules of what may be received when, and
 * writers. Pure: no memory, no I/O. A connection (h2/h2_conn.h) asks the rules of a frame's header
 * before it stores anything, and those of its payload once the first few bytes are there.
 */
#ifndef TACIT_H2_H2_FRAME_H
#define TACIT_H2_H2_FRAME_H

#include <stdint.h>
#include <string.h>

#define H2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define H2_PREFACE_LEN (sizeof(H2_PREFACE) - 1)

enum h2_type {
	H2_DATA,
	H2_HEADERS,
	H2_PRIORITY,
	H2_RST_STREAM,
	H2_SETTINGS,
	H2_PUSH_PROMISE,
	H2_PING,
	H2_GOAWAY,
	H2_WINDOW_UPDATE,
	H2_CONTINUATION,
	H2_TYPES /* from here on unknown: ignored (5.5) */
};

/* Flags; each has a meaning for some types only. */
#define H2_END_STREAM 0x1u
#define H2_ACK 0x1u
#define H2_END_HEADERS 0x4u
#define H2_PADDED 0x8u
#define H2_PRIORITY_FLAG 0x20u

enum h2_setting {
	H2_S_HEADER_TABLE_SIZE = 1,
	H2_S_ENABLE_PUSH = 2,
	H2_S_MAX_CONCURRENT_STREAMS = 3,
	H2_S_INITIAL_WINDOW_SIZE = 4,
	H2_S_MAX_FRAME_SIZE = 5,
	H2_S_MAX_HEADER_LIST_SIZE = 6,
	H2_S_ENABLE_CONNECT_PROTOCOL = 8,   /* RFC 8441 */
	H2_S_NO_RFC7540_PRIORITIES = 9      /* RFC 9218 */
};

enum h2_code {
#define H2_CODE(name, value) H2_##name = value,
#include "h2/h2_code.tbl.h"
#undef H2_CODE
	H2_CODES
};

#define H2_HEADER_LEN 9
#define H2_PRIORITY_LEN 5
#define H2_RST_LEN 4
#define H2_PING_LEN 8
#define H2_GOAWAY_LEN 8
#define H2_WINDOW_LEN 4
#define H2_SETTING_LEN 6

/* The largest stream, window and increment. */
#define H2_MAX31 0x7fffffffu
/* The bounds of SETTINGS_MAX_FRAME_SIZE; the first is what holds before any. */
#define H2_FRAME_MIN_MAX 16384u
#define H2_FRAME_MAX_MAX 16777215u
/* The values before the peer's SETTINGS (6.5.2, 6.9.2). */
#define H2_WINDOW_DEFAULT 65535
#define H2_TABLE_DEFAULT 4096u

struct h2_frame {
	uint32_t len;
	uint32_t stream;
	uint8_t type; /* enum h2_type, or unknown */
	uint8_t flags;
};

/* True if its sender sends no more in its stream. */
static inline int
h2_frame_ends_stream(const struct h2_frame *f)
{
	int has_flag = f->type == H2_DATA || f->type == H2_HEADERS;

	return f->type == H2_RST_STREAM || (has_flag && (f->flags & H2_END_STREAM));
}

/* States of a stream as the rules see it: what the peer may still send in it (5.1). */
enum h2_state {
	H2_IDLE,     /* never opened */
	H2_HEADLESS, /* open, and the peer's final head has not arrived */
	H2_OPEN,     /* its head has arrived, its end has not */
	H2_TUNNEL,   /* the same; what follows that head is no message */
	H2_ENDED,    /* the peer has ended its side; ours may be open */
	H2_CLOSED,   /* both sides have ended, or the peer has reset it */
	H2_RESET     /* reset by us: frames may still be on their way */
};

/* The facts that a frame is checked with. */
struct h2_known {
	uint32_t max_len;  /* our SETTINGS_MAX_FRAME_SIZE */
	uint32_t block;    /* the stream whose field block has begun and not ended, or 0 */
	uint8_t is_first;  /* no frame has arrived yet */
	uint8_t is_client; /* the peer is a server */
	uint8_t may_open;  /* the frame's stream is one that the peer may open now */
	uint8_t state;     /* enum h2_state of the frame's stream; in a field block: H2_OPEN */
};

enum h2_action { H2_ACCEPT, H2_ACT_IGNORE, H2_ACT_STREAM, H2_ACT_CONN };

/* One for each row of h2/h2_rule.tbl.h. */
enum h2_rule {
	H2_RULE_NONE,
#define H2_FRAME_RULE(id, section, action, code, text, condition) H2_RULE_##id,
#define H2_PAYLOAD_RULE H2_FRAME_RULE
#define H2_SETTING_RULE H2_FRAME_RULE
#include "h2/h2_rule.tbl.h"
#undef H2_SETTING_RULE
#undef H2_PAYLOAD_RULE
#undef H2_FRAME_RULE
	H2_RULES
};

/* The rule that a frame breaks, and what follows: accepted as it is, ignored, a stream error or a
 * connection error (5.4). */
struct h2_verdict {
	uint8_t rule;   /* enum h2_rule */
	uint8_t action; /* enum h2_action */
	uint8_t code;   /* enum h2_code */
};

/* Section of the RFC and text, for logs. */
const char *h2_rule_section(enum h2_rule rule);
const char *h2_rule_text(enum h2_rule rule);
/* The name of a code, or NULL. */
const char *h2_code_name(uint32_t code);

/* By a frame's header. A stream error in an idle stream is one of the connection, unless it opens
 * the stream. */
struct h2_verdict h2_check_frame(const struct h2_frame *f, const struct h2_known *w);
/* By the first h2_prefix_len() bytes of its payload, for a frame that h2_check_frame() accepts. */
struct h2_verdict h2_check_payload(
	const struct h2_frame *f, const uint8_t *p, const struct h2_known *w);
struct h2_verdict h2_check_setting(uint32_t id, uint32_t value, const struct h2_known *w);

/* --- reading --- */

static inline uint32_t
h2_get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Reads a header of H2_HEADER_LEN bytes; the reserved bit is ignored (4.1). */
static inline void
h2_get_header(const uint8_t *p, struct h2_frame *f)
{
	f->len = h2_get32(p) >> 8;
	f->type = p[3];
	f->flags = p[4];
	f->stream = h2_get32(p + 5) & H2_MAX31;
}

/*
 * The length of the payload's beginning that has to be complete before the frame is used: fixed
 * fields, the length of padding, priority. Of SETTINGS: 0; its settings follow one by one.
 */
static inline uint32_t
h2_prefix_len(const struct h2_frame *f)
{
	switch (f->type) {
	case H2_DATA:
		return f->flags & H2_PADDED ? 1 : 0;
	case H2_HEADERS:
		return (f->flags & H2_PADDED ? 1u : 0u) +
			(f->flags & H2_PRIORITY_FLAG ? H2_PRIORITY_LEN : 0u);
	case H2_PRIORITY:
		return H2_PRIORITY_LEN;
	case H2_RST_STREAM:
		return H2_RST_LEN;
	case H2_PING:
		return H2_PING_LEN;
	case H2_GOAWAY:
		return H2_GOAWAY_LEN;
	case H2_WINDOW_UPDATE:
		return H2_WINDOW_LEN;
	default:
		return 0;
	}
}

/* --- writing: each returns the number of bytes --- */

static inline size_t
h2_put32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
	return 4;
}

static inline size_t
h2_put_header(uint8_t *p, uint32_t len, enum h2_type type, unsigned int flags, uint32_t stream)
{
	(void)h2_put32(p, len << 8);
	p[3] = (uint8_t)type;
	p[4] = (uint8_t)flags;
	(void)h2_put32(p + 5, stream);
	return H2_HEADER_LEN;
}

static inline size_t
h2_put_rst(uint8_t *p, uint32_t stream, enum h2_code code)
{
	(void)h2_put_header(p, H2_RST_LEN, H2_RST_STREAM, 0, stream);
	return H2_HEADER_LEN + h2_put32(p + H2_HEADER_LEN, code);
}

static inline size_t
h2_put_window(uint8_t *p, uint32_t stream, uint32_t increment)
{
	(void)h2_put_header(p, H2_WINDOW_LEN, H2_WINDOW_UPDATE, 0, stream);
	return H2_HEADER_LEN + h2_put32(p + H2_HEADER_LEN, increment);
}

/* One setting; the frame's header is written once their number is known. */
static inline size_t
h2_put_setting(uint8_t *p, enum h2_setting id, uint32_t value)
{
	p[0] = 0;
	p[1] = (uint8_t)id;
	return 2 + h2_put32(p + 2, value);
}

static inline size_t
h2_put_settings_ack(uint8_t *p)
{
	return h2_put_header(p, 0, H2_SETTINGS, H2_ACK, 0);
}

static inline size_t
h2_put_ping(uint8_t *p, unsigned int flags, const uint8_t *payload)
{
	(void)h2_put_header(p, H2_PING_LEN, H2_PING, flags, 0);
	memcpy(p + H2_HEADER_LEN, payload, H2_PING_LEN);
	return H2_HEADER_LEN + H2_PING_LEN;
}

static inline size_t
h2_put_goaway(uint8_t *p, uint32_t last, enum h2_code code)
{
	(void)h2_put_header(p, H2_GOAWAY_LEN, H2_GOAWAY, 0, 0);
	(void)h2_put32(p + H2_HEADER_LEN, last);
	return H2_HEADER_LEN + 4 + h2_put32(p + H2_HEADER_LEN + 4, code);
}

#endif
