/*
 * Captures: texts that a frontend keeps of a transaction (in mode tcp: of a session) until its log
 * line is written. Slots are declared by the configuration: fields of requests and responses
 * (manual, capture request header, declare capture, http-request capture), a cookie (capture
 * cookie), the unique id. What does not fit into its slot is cut.
 */
#ifndef TACIT_PROXY_SAMPLE_CAPTURE_H
#define TACIT_PROXY_SAMPLE_CAPTURE_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

struct engine;
struct http_head;
struct proxy;
struct session;

#define CAPTURES_MAX 256           /* slots of one kind */
#define CAPTURE_LEN_MAX 65535      /* bytes of one */
#define CAPTURE_ROOM_MAX (1 << 20) /* bytes of all of a frontend */
/* Bytes of a cookie, unless tune.http.cookielen says more. */
#define CAPTURE_COOKIE_MAX 63

enum capture_kind {
	CAPTURE_REQUEST,
	CAPTURE_RESPONSE,
	CAPTURE_COOKIE,   /* 0: of the request, 1: of the response */
	CAPTURE_ID,       /* 0: the unique id */
	CAPTURE_KINDS
};

struct capture_slot {
	char *name;       /* of the field, or how the cookie begins; NULL: rules fill it */
	uint32_t max;
	uint32_t nth, at; /* among all, and where its bytes are: capture_conf_finish() */
};

/* Of a frontend. */
struct capture_conf {
	struct capture_slot *slot[CAPTURE_KINDS];
	unsigned int n[CAPTURE_KINDS];
	size_t size;      /* of one struct captures; 0: there are no slots */
};

struct captures;

/*
 * One more slot, with a copy of the name: its number in *out. 0, -ERR_FULL: one of the bounds
 * above, -ERR_NOMEM.
 */
int capture_add(struct capture_conf *c, enum capture_kind kind, const char *name, unsigned int max,
	unsigned int *out) must_check;
/* None of that kind. */
void capture_forget(struct capture_conf *c, enum capture_kind kind);
/* No slot will follow. */
void capture_conf_finish(struct capture_conf *c);
void capture_conf_fini(struct capture_conf *c);

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
