/*
 * Whom a session takes for its client, and where that wanted to go: what the kernel says, unless
 * set-src, set-dst and their ports have said otherwise (manual, http-request set-src). What
 * `tcp-request connection` says is the connection's, also for fc_src and fc_dst; what a session's
 * rules say holds for all of its requests, what a request's say for that one.
 */
#ifndef TACIT_PROXY_MODEL_ADDR_OVERRIDE_H
#define TACIT_PROXY_MODEL_ADDR_OVERRIDE_H

#include "net/addr.h"
#include "rule/action/action.h"

struct engine;
struct session;

enum endpoint { ENDPOINT_SRC, ENDPOINT_DST, ENDPOINTS };

/* What was said on one level; len 0: nothing. */
struct addr_override {
	struct addr said[ENDPOINTS];
};

/* A session's, from a pool of the engine: only where its rules have said something. */
struct session_addr_override {
	struct addr_override connection, session;
};

void engine_addr_override_init(struct engine *e);
/* The session ends. */
void addr_override_free(struct session *s);

/* The client's address: the session's or the transaction's own, and short if it is an inet one. */
const struct addr *addr_override_source(const struct session *s);
const struct addr *addr_override_connection_source(const struct session *s);
/* A copy that is whole: zeros behind a short one. */
void addr_override_copy_source(const struct session *s, struct addr *out);
void addr_override_copy_connection_source(const struct session *s, struct addr *out);
/*
 * Where it connected to: 0, or -1: nobody knows. Only a listener on every address, or a transparent
 * one, has to ask the kernel.
 */
int addr_override_destination(const struct session *s, struct addr *out) must_check;
int addr_override_connection_destination(const struct session *s, struct addr *out) must_check;
/* Its port, which every listener knows. */
unsigned int addr_override_destination_port(const struct session *s);
/* A session that has to bring a PROXY header has room for what that says from its beginning: 0, or
 * -ERR_NOMEM. */
int addr_override_reserve(struct session *s) must_check;
/* The header has come: what it says is the session's, as what `tcp-request session` says. */
void
addr_override_proxy_protocol(struct session *s, const struct addr *src, const struct addr *dst);
/* A rule of that place says so: 0, or -ERR_NOMEM. */
int addr_override_set(struct session *s, enum rule_place place, enum endpoint which,
	const struct addr *a) must_check;

#endif
