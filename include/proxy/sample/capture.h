/*
 * Captures: texts that a frontend keeps of a transaction (in mode tcp: of a session) until its log
 * line is written. Slots are declared in the configuration: fields of requests and responses
 * (manual, capture request header, declare capture, http-request capture), a cookie (capture
 * cookie), the unique id. A text longer than its slot is truncated.
 */
#ifndef TACIT_PROXY_SAMPLE_CAPTURE_H
#define TACIT_PROXY_SAMPLE_CAPTURE_H

#include "base/str.h"
#include "proxy/model/session.h"

struct http_head;

/* Creates the pool of objects of this size, the maximum of all frontends. Nothing is captured
 * before. To be called on an engine without sessions, before memory_bound(). */
void engine_allow_captures(struct engine *e, size_t size);
/* True if memory is available, or s has no captures. */
int captures_have_room(struct stream *s);
void captures_alloc(struct stream *s);
void captures_free(struct stream *s);

/* Allocates the empty captures of a transaction or session; without memory there are none. */
static inline void
captures_begin(struct stream *s)
{
	if (s->sess->fe->captures.size)
		captures_alloc(s);
}

static inline void
captures_end(struct stream *s)
{
	if (s->captures)
		captures_free(s);
}

/* No effect if there is no such slot: the rule may be another frontend's. */
void capture_put(const struct stream *s, enum capture_kind kind, unsigned int i, struct str text);
/* 0: nothing was captured. */
int capture_get(const struct stream *s, enum capture_kind kind, unsigned int i, struct str *out);
/* Captures the last field of each name, with its whole value. */
void capture_fields(const struct stream *s, const struct http_head *h);
/* Deletes what capture_fields() captured. */
void capture_drop_fields(const struct stream *s, enum capture_kind kind);
/* Captures the first cookie whose "name=value" begins with the configured text. */
void capture_cookie(const struct stream *s, const struct http_head *h);

#endif
