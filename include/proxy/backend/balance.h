/* Balancing: which server gets the next connection (manual, `balance`). Pure but for its own
 * state. */
#ifndef TACIT_PROXY_BACKEND_BALANCE_H
#define TACIT_PROXY_BACKEND_BALANCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"
#include "cfg/diag.h"
#include "proxy/backend/consistent_hash.h"
#include "proxy/backend/weighted_rr.h"

struct addr;
struct http_head;
struct proxies;
struct proxy;
struct rule_expr;
struct server;
struct session;

enum balance_algo {
	BALANCE_ROUNDROBIN,
	BALANCE_STATIC_RR,
	BALANCE_LEASTCONN,
	BALANCE_SOURCE,
	BALANCE_FIRST,
	BALANCE_RANDOM,
	BALANCE_URI,
	BALANCE_URL_PARAM,
	BALANCE_HDR,
	BALANCE_HASH
};

/* What algorithms that hash look at (manual, `balance uri`, `url_param`, `hdr`, `hash`). */
struct balance_by {
	char *name;          /* of the parameter or field; owned */
	unsigned int len;    /* uri: so many bytes of it at most, 0: all */
	unsigned int depth;  /* uri: so many levels of it at most, 0: all */
	uint8_t whole;       /* uri: with the query */
	uint8_t path_only;   /* uri: without scheme and authority */
	uint8_t domain_only; /* hdr: of a host name the label before the last */
	uint8_t borrowed;    /* expr is of a defaults section */
	struct rule_expr *expr; /* hash; owned, unless it is borrowed */
	struct cfg_where where;
};

void balance_by_fini(struct balance_by *by);
/* What defaults give; expr stays theirs. 0 or -ERR_NOMEM. */
int balance_by_inherit(struct balance_by *by, const struct balance_by *defaults) must_check;

/* `hash-type`: how a key becomes a number, and a number a server. */
enum hash_function { HASH_SDBM, HASH_DJB2, HASH_CRC32 };

struct hash_type {
	uint8_t consistent; /* a ring; 0: the map */
	uint8_t function;   /* enum hash_function, of keys that are texts */
	uint8_t avalanche;
};

/* `hash-balance-factor`: per cent of the average load that a server may have. */
#define BALANCE_FACTOR_MIN 101
#define BALANCE_FACTOR_MAX 65535

#define BALANCE_SERVERS_MAX 4095 /* per backend, HAProxy's bound for roundrobin */
#define BALANCE_DRAWS_MAX 1024
#define BALANCE_DRAWS_DEFAULT 2
#define BALANCE_URI_MAX 65535 /* len and depth of `balance uri` */

/*
 * A backend's balancing state. The group in service is the active servers, or the backup ones when
 * no active is usable. The map holds every server of the group as often as its weight says:
 * roundrobin and static-rr walk along it, map-based hashing looks hashes up in it; consistent
 * hashing has a ring.
 */
struct balance {
	struct server **group;   /* file order; by id for `first` */
	unsigned int n;
	unsigned int cap;
	uint64_t seq;            /* choices made */
	uint64_t rnd;
	uint32_t *sums;          /* random: sums[i] is the weight of group[0..i] */
	struct weighted_rr map;   /* of places in the group */
	unsigned int map_pos;    /* whose turn it is in it */
	struct consistent_hash ring;
};

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
