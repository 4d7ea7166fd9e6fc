/*
 * The client and destination addresses of a session: the kernel's, unless set-src, set-dst or their
 * port variants changed them (manual, http-request set-src). Changes by `tcp-request connection`
 * apply to the connection, also for fc_src and fc_dst; those by session rules to all requests of
 * the session; those by request rules to one request.
 */
#ifndef TACIT_PROXY_MODEL_ADDR_OVERRIDE_H
#define TACIT_PROXY_MODEL_ADDR_OVERRIDE_H

#include "net/addr.h"
#include "rule/action/action.h"

struct engine;
struct stream;

enum endpoint { ENDPOINT_SRC, ENDPOINT_DST, ENDPOINTS };

/* Changes at one level; len 0: none. */
struct addr_override {
	struct addr given[ENDPOINTS];
};

/* Changes of a session, from a pool of the engine; allocated only when its rules change
 * something. */
struct session_addr_override {
	struct addr_override connection, session;
	char *tlvs;              /* those of the client's PROXY header; owned; NULL: none */
	size_t n_tlvs;           /* bytes */
};

void engine_addr_override_init(struct engine *e);
/* Frees them at the end of the session. */
void addr_override_free(struct stream *s);

/* The client's address: the session's or the transaction's; short for an inet address. */
const struct addr *addr_override_source(const struct stream *s);
/* A complete copy, with zeros after a short address. */
void addr_override_copy_source(const struct stream *s, struct addr *out);
void addr_override_copy_connection_source(const struct stream *s, struct addr *out);
/*
 * The destination of the client's connection: 0, or -1: unknown. Asks the kernel only for wildcard
 * and transparent listeners.
 */
int addr_override_destination(const struct stream *s, struct addr *out) must_check;
int addr_override_connection_destination(const struct stream *s, struct addr *out) must_check;
/*
 * The address of the session's server: a server line without a port, or with an offset, uses the
 * client's destination port; one without an address uses the destination address. *gen: of its
 * addr_cell.
 */
void addr_override_target(const struct stream *s, uint32_t *gen, struct addr *out);
/* Allocates memory for a session that requires a PROXY header: 0, or -ERR_NOMEM. */
int addr_override_reserve(struct stream *s) must_check;
/* Applies the addresses of a PROXY header to the session, like `tcp-request session` rules. */
void
addr_override_proxy_protocol(struct stream *s, const struct addr *src, const struct addr *dst);
/* Keeps the fields of that header. Without memory there are none. */
void addr_override_keep_tlvs(struct stream *s, struct str tlvs);
/* 1 and the value of the last one of this type, or 0. */
int addr_override_tlv(const struct stream *s, unsigned int type, struct str *value);
/* Applies a change made by a rule at this place: 0, or -ERR_NOMEM. */
int addr_override_set(struct stream *s, enum rule_place place, enum endpoint which,
	const struct addr *a) must_check;

#endif
