/* Load balancing settings of a backend (manual, `balance`, `hash-type`, `hash-balance-factor`) and
 * its balancing state, for backend/balance.h. */
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
	BALANCE_HASH,
	BALANCE_RDP_COOKIE
};

/* The key of a hash algorithm (manual, `balance uri`, `url_param`, `hdr`, `hash`). */
struct balance_by {
	char *name;          /* of the parameter, field or cookie; owned */
	unsigned int len;    /* uri: maximum number of bytes, 0: all */
	unsigned int depth;  /* uri: maximum number of path levels, 0: all */
	uint8_t whole;       /* uri: include the query */
	uint8_t path_only;   /* uri: without scheme and authority */
	uint8_t domain_only; /* hdr: only the label before the last one of a host name */
	uint8_t borrowed;    /* expr belongs to a defaults section */
	struct rule_expr *expr; /* hash; owned, unless borrowed */
	struct cfg_where where;
};

/* `hash-type`: the hash function, and how a hash is mapped to a server. */
enum hash_function { HASH_SDBM, HASH_DJB2, HASH_CRC32 };

struct hash_type {
	uint8_t consistent; /* consistent hashing; 0: map-based */
	uint8_t function;   /* enum hash_function, for text keys */
	uint8_t avalanche;
};

/* `hash-preserve-affinity`: when consistent hashing uses another server than the one of the
 * hash. */
enum hash_affinity {
	HASH_AFFINITY_QUEUE, /* its queue is full: the default */
	HASH_AFFINITY_CONN,  /* it has no free slot */
	HASH_AFFINITY_ALWAYS /* never */
};

/* `hash-balance-factor`: maximum load of a server in percent of the average. */
#define BALANCE_FACTOR_MIN 101
#define BALANCE_FACTOR_MAX 65535

#define BALANCE_SERVERS_MAX 4095 /* per backend, HAProxy's limit for roundrobin */
#define BALANCE_DRAWS_MAX 1024
#define BALANCE_DRAWS_DEFAULT 2
#define BALANCE_URI_MAX 65535 /* len and depth of `balance uri` */

/*
 * Balancing state of a backend. The group in use is the active servers, or the backup servers when
 * no active one is usable; in panic it is the active servers that are up or down. The map contains
 * each server of the group in proportion to its weight: roundrobin and static-rr iterate over it,
 * and map-based hashing indexes it; consistent hashing uses a ring.
 */
struct balance {
	struct server **group;   /* in file order; by id for `first` */
	unsigned int n;
	/* Read without the lock (atomic_read). */
	unsigned int usable;     /* usable servers of the group: all of it, unless in panic */
	unsigned int n_known;    /* active servers that are usable unless checks say otherwise */
	int panic;               /* so few are usable that all of these are in the group */
	unsigned int cap;
	uint64_t seq;            /* number of choices made */
	uint64_t rnd;
	uint32_t *sums;          /* random: sums[i] is the weight of group[0..i] */
	struct weighted_rr map;   /* indexes of servers in the group */
	unsigned int map_pos;    /* the next index of the map */
	struct consistent_hash ring;
	/* While several servers change (server_changes_begin()). */
	int is_held;             /* the group is rebuilt at the end */
	int is_due;              /* it has to be */
	unsigned int was_usable; /* as of the beginning */
	int was_panic;
	unsigned int left[2];    /* usable servers: active ones, backups */
};

#endif
