/* How a backend balances (manual, `balance`, `hash-type`, `hash-balance-factor`), and what it has
 * to remember for it: backend/balance.h works on these. */
#ifndef TACIT_PROXY_MODEL_BALANCE_CONF_H
#define TACIT_PROXY_MODEL_BALANCE_CONF_H

#include <stdint.h>

#include "cfg/diag.h"
#include "proxy/model/consistent_hash.h"
#include "proxy/model/weighted_rr.h"

struct rule_expr;
struct server;

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

#endif
