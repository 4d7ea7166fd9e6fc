/* The lowest part of a connection: its output and its windows, h2_conn.c. */
#ifndef TACIT_H2_H2_CONN_INT_H
#define TACIT_H2_H2_CONN_INT_H

#include "base/counter.h"
#include "h2/h2_conn.h"

/* The reason for which input waits: the first that is true. */
enum h2_wait {
	H2_WAIT_NOT,
	H2_WAIT_OUT,     /* the output is full */
	H2_WAIT_STREAMS, /* all places of streams are taken */
	H2_WAIT_TURN     /* the bound of one input is reached */
};

/* The part of a frame that is read next. */
enum h2_phase {
	H2_PHASE_PREFACE,
	H2_PHASE_HEADER,
	H2_PHASE_READY,  /* its header is complete, and it has not begun */
	H2_PHASE_PREFIX, /* the first fields of its payload */
	H2_PHASE_PAYLOAD
};

/* Bodies and heads fill the output up to here; the rest of a piece is for replies. Input waits at
 * the second bound. */
#define H2_OUT_BODIES (60u * 1024)
#define H2_OUT_MAX (64u * 1024)

/* Bytes of bodies and heads for which the output has room. */
static inline size_t
h2_conn_room(const struct h2_conn *h)
{
	return h->out.len < H2_OUT_BODIES ? H2_OUT_BODIES - h->out.len : 0;
}

/* The place for the texts of a head in a callback. */
static inline struct h2_texts
h2_shared_texts(const struct h2_shared *s)
{
	return (struct h2_texts){ .p = s->text, .cap = s->text_size };
}

/* Reports a client's request that was refused for its head. */
static inline void
h2_conn_report_bad_request(const struct h2_conn *h)
{
	if (h->user->on_bad_request)
		h->user->on_bad_request(h->arg);
}

/* Ends the connection with GOAWAY. Its streams and its user are notified at the end of the
 * input. */
void h2_conn_fail(struct h2_conn *h, enum h2_code code);
/* Counts a glitch: something that no well-behaved peer does often. Too many end the connection. */
void h2_conn_glitch(struct h2_conn *h);
/* Puts a frame of up to 64 bytes into the output. Without memory the connection fails. */
void h2_conn_put(struct h2_conn *h, const uint8_t *p, size_t n);
/* Puts a head into the output in spite of its bounds: 0, -ERR_INVAL, -ERR_RANGE,
 * -ERR_NOMEM: the connection has failed. */
int h2_conn_put_head(struct h2_conn *h, uint32_t id, const struct http_head *head,
	unsigned int flags, int end) must_check;
/* Reports output that was empty before. */
void h2_conn_report_output(struct h2_conn *h, size_t before);
/* Gives bytes back that were received and are not held any more. */
void h2_conn_consumed(struct h2_conn *h, size_t n);
/* Lets input continue that waits for this. */
void h2_conn_resume(struct h2_conn *h, enum h2_wait why);
/* Sends the second GOAWAY if this answers the PING behind the first. */
void h2_conn_on_pong(struct h2_conn *h, const uint8_t *payload);

#endif
