/* The slots of captures that a frontend declares (manual, capture request header, declare
 * capture, capture cookie). Read-only once the configuration is loaded. */
#ifndef TACIT_PROXY_MODEL_CAPTURE_CONF_H
#define TACIT_PROXY_MODEL_CAPTURE_CONF_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

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

#endif
