/* The capture slots of a frontend (manual, capture request header, declare capture, capture
 * cookie). Read-only after the configuration is loaded. */
#ifndef TACIT_PROXY_MODEL_CAPTURE_CONF_H
#define TACIT_PROXY_MODEL_CAPTURE_CONF_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "cfg/diag.h"

#define CAPTURES_MAX 256           /* slots of one kind */
#define CAPTURE_LEN_MAX 65535      /* bytes of one capture */
#define CAPTURE_ROOM_MAX (1 << 20) /* bytes of all captures of a frontend */
/* Default bytes of a captured cookie: tune.http.cookielen. */
#define CAPTURE_COOKIE_MAX 63

enum capture_kind {
	CAPTURE_REQUEST,
	CAPTURE_RESPONSE,
	CAPTURE_COOKIE,   /* slot 0: of the request, 1: of the response */
	CAPTURE_ID,       /* slot 0: the unique id */
	CAPTURE_KINDS
};

struct capture_slot {
	char *name;       /* field name, or prefix of the cookie; NULL: filled by rules */
	uint32_t max;
	struct cfg_where where; /* of its length */
	uint32_t nth, at; /* index among all slots, and offset of its bytes:
			   * capture_conf_finish() */
};

/* The captures of a frontend. */
struct capture_conf {
	struct capture_slot *slot[CAPTURE_KINDS];
	unsigned int n[CAPTURE_KINDS];
	size_t size;      /* of one struct captures; 0: there are no slots */
};

/*
 * Adds a slot with a copy of the name; its number is stored in *out. 0, -ERR_FULL: a limit above is
 * exceeded, -ERR_NOMEM.
 */
int capture_add(struct capture_conf *c, enum capture_kind kind, const char *name, unsigned int max,
	unsigned int *out) must_check;
/* Copies the slots that rules of a defaults section fill, before others are added. As
 * capture_add(). */
int capture_inherit(struct capture_conf *c, const struct capture_conf *defaults) must_check;
/* True if there is no slot of this kind. */
void capture_forget(struct capture_conf *c, enum capture_kind kind);
/* Called after the last slot was added. */
void capture_conf_finish(struct capture_conf *c);
void capture_conf_fini(struct capture_conf *c);

#endif
