/*
 * Captures: texts that a frontend keeps of a transaction (in mode tcp: of a session) until its log
 * line is written. Slots are declared by the configuration: fields of requests and responses
 * (manual, capture request header, declare capture, http-request capture), a cookie (capture
 * cookie), the unique id. What does not fit into its slot is cut.
 */
#ifndef TACIT_PROXY_SAMPLE_CAPTURE_H
#define TACIT_PROXY_SAMPLE_CAPTURE_H

#include "base/str.h"
#include "proxy/model/capture_conf.h"

struct engine;
struct http_head;
struct proxy;
struct session;

struct captures;

/* The pool, of objects of so many bytes: the most that a frontend needs. Nothing is captured
 * before. Of an engine without sessions, before memory_bound(). */
void engine_allow_captures(struct engine *e, size_t size);
/* Is there memory for them, or do none belong to s? */
int captures_have_room(struct session *s);
/* Room for those of a transaction or session, all of them empty; without memory none are made. */
void captures_begin(struct session *s);
void captures_end(struct session *s);

/* Nothing where there is no such slot: a rule may be another frontend's. */
void capture_put(const struct session *s, enum capture_kind kind, unsigned int i, struct str text);
/* 0: nothing was captured. */
int capture_get(const struct session *s, enum capture_kind kind, unsigned int i, struct str *out);
/* The last field of each name, with all of its value. */
void capture_fields(const struct session *s, const struct http_head *h);
/* What capture_fields() kept was nothing after all. */
void capture_drop_fields(const struct session *s, enum capture_kind kind);
/* The first cookie whose "name=value" begins as was said. */
void capture_cookie(const struct session *s, const struct http_head *h);

#endif
