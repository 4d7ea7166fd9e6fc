/* Load balancing: selects the server for the next connection (manual, `balance`). Uses only its own
 * state. */
#ifndef TACIT_PROXY_BACKEND_BALANCE_H
#define TACIT_PROXY_BACKEND_BALANCE_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"
#include "proxy/model/balance_conf.h"
#include "proxy/model/session.h"

struct addr;
struct cfg_diag;
struct http_head;
struct proxies;

void balance_by_fini(struct balance_by *by);
/* Copies the defaults section's settings; expr stays owned by it. 0 or -ERR_NOMEM. */
int balance_by_inherit(struct balance_by *by, const struct balance_by *defaults) must_check;

/* Allocates all memory, once all servers are known. 0 or -ERR_NOMEM. */
int balance_init(struct proxy *be) must_check;
void balance_fini(struct proxy *be);
/* Follows a change of a server's state or weight. Never fails. */
void balance_refresh(struct proxy *be);

/*
 * The server for a connection, or NULL. key: the key of a hash algorithm, NULL if the connection
 * has none (round robin is used). `avoid` (may be NULL) is selected only if no other server is
 * usable (redispatch). *full is set if servers are usable but none has a free slot: the session has
 * to queue. Backup servers are used only when no active one is usable. If a server is returned and
 * *full is set, the session waits in that server's own queue: a hash that requires one server, or
 * leastconn within `maxqueue`.
 */
struct server *balance_pick(struct proxy *be, const uint32_t *key, const struct server *avoid,
			    int *full);

/* Keys: of an address (0: not an IP address), and of a text. */
int balance_key_of_addr(const struct hash_type *t, const struct addr *a, uint32_t *key);
uint32_t balance_key_of_text(const struct hash_type *t, const void *p, size_t n);
/* The key of a request, in mode http: 0 if it has no such parameter or field. */
int balance_key_of_request(enum balance_algo algo, const struct balance_by *by,
	const struct hash_type *t, const struct http_head *req, uint32_t *key);
/* True if the algorithm also searches the body, which must be received first (manual, `balance
 * url_param`). */
int balance_wants_body(enum balance_algo algo, const struct http_head *req);
/* The key from urlencoded parameters: 0 if there is none. */
int balance_key_of_form(const struct balance_by *by, const struct hash_type *t, struct str body,
	uint32_t *key);
/* Reports algorithms that do not fit the mode, and unknown names, once all proxies are known. */
void balance_check(const struct proxy *be, struct proxies *root, struct cfg_diag *d);
/* True if it needs requests: the backend's mode must be http. */
int balance_needs_http(enum balance_algo algo);

/* Seeds the worker's generator for `random`. */
void balance_seed(struct proxy *be, uint64_t seed);

/* The algorithm's name in the configuration: "roundrobin", ... */
const char *balance_name(enum balance_algo algo);
/* True if it uses a key. */
int balance_hashes(enum balance_algo algo);
/* The key of a session for the algorithm of s->be, which hashes: 0 if there is none. */
int balance_key_of_session(struct stream *s, uint32_t *key);

/*
 * Stores the key for the algorithm of s->be in s->key, if there is any (s->has_key). Called once
 * for a session, or for each request of mode http while it can be read.
 */
static inline void
balance_take_key(struct stream *s)
{
	s->has_key = balance_hashes(s->be->balance) && balance_key_of_session(s, &s->key);
}

/* True if weights are static: run-time weights other than 0 and the configured one are rejected. */
int balance_is_static(const struct proxy *be);

#endif
