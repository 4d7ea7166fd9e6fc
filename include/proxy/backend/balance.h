/* Balancing: which server gets the next connection (manual, `balance`). Pure but for its own
 * state. */
#ifndef TACIT_PROXY_BACKEND_BALANCE_H
#define TACIT_PROXY_BACKEND_BALANCE_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"
#include "proxy/model/balance_conf.h"

struct addr;
struct cfg_diag;
struct http_head;
struct proxies;
struct proxy;
struct server;
struct session;

void balance_by_fini(struct balance_by *by);
/* What defaults give; expr stays theirs. 0 or -ERR_NOMEM. */
int balance_by_inherit(struct balance_by *by, const struct balance_by *defaults) must_check;

/* All servers are known: allocates what the backend will ever need. 0 or -ERR_NOMEM. */
int balance_init(struct proxy *be) must_check;
void balance_fini(struct proxy *be);
/* A server's state or weight has changed. Never fails. */
void balance_refresh(struct proxy *be);

/*
 * The server for a connection, or NULL. key: what an algorithm that hashes is to look up, NULL
 * when the connection has none (taken in turns then). `avoid` (may be NULL) is not chosen again
 * unless it is the only one (redispatch). *full is set when servers are usable but none has
 * room: queue then. Backup servers are used only when no active one is usable. When a server is
 * returned and *full is set, the session waits in that server's own queue: where a hash binds it
 * to one server, and leastconn within `maxqueue`.
 */
struct server *balance_pick(struct proxy *be, const uint32_t *key, const struct server *avoid,
			    int *full);

/* Keys: of an address (0: it is none of an IP protocol), and of a text. */
int balance_key_of_addr(const struct hash_type *t, const struct addr *a, uint32_t *key);
uint32_t balance_key_of_text(const struct hash_type *t, const void *p, size_t n);
/* Of a request, for an algorithm of mode http: 0 when it has no such parameter or field. */
int balance_key_of_request(enum balance_algo algo, const struct balance_by *by,
	const struct hash_type *t, const struct http_head *req, uint32_t *key);
/* Is the body looked at too, and has to be here then? (manual, `balance url_param`) */
int balance_wants_body(enum balance_algo algo, const struct http_head *req);
/* Of parameters as forms send them: 0 when that one is not among them. */
int balance_key_of_form(const struct balance_by *by, const struct hash_type *t, struct str body,
	uint32_t *key);
/*
 * What the algorithm of s->be looks up, into s->key if there is any (s->has_key). Once for a
 * session, or a request of mode http while it can be read.
 */
void balance_take_key(struct session *s);
/* All proxies are known: reports what does not fit be's mode, or names what is not there. */
void balance_check(const struct proxy *be, struct proxies *root, struct cfg_diag *d);
/* Does it look at requests? Then the backend's mode has to be http. */
int balance_needs_http(enum balance_algo algo);

/* Is this server one of those to choose from now? A backup mostly is not. */
int balance_has(const struct proxy *be, const struct server *srv);

/* The start of the worker's generator for `random`. */
void balance_seed(struct proxy *be, uint64_t seed);

/* "roundrobin", ... as in the configuration. */
const char *balance_name(enum balance_algo algo);
/* Does it look a key up? */
int balance_hashes(enum balance_algo algo);
/* Fixed by configuration: run-time weights other than 0 and the configured one do not apply. */
int balance_is_static(const struct proxy *be);

#endif
