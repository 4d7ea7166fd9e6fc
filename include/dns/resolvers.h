/*
 * A section `resolvers`: its name servers, its settings, and the names that it looks up at run time
 * (manual 5.3). All of it belongs to the first worker: its loop drives the sockets and timers.
 */
#ifndef TACIT_DNS_RESOLVERS_H
#define TACIT_DNS_RESOLVERS_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/random.h"
#include "cfg/diag.h"
#include "dns/message.h"
#include "event/loop.h"

struct dns_nameserver;
struct dns_query;

/* The section of names without another one; made from /etc/resolv.conf if there is none. */
#define RESOLVERS_DEFAULT "default"
#define RESOLVERS_RESOLV_CONF "/etc/resolv.conf"
#define DNS_PORT 53
#define DNS_PAYLOAD_MIN 512
#define DNS_PAYLOAD_MAX 65535

/* Names that are looked up at the same time, or whose answers are kept: rules may ask for what
 * clients send. */
#define RESOLVERS_LOOKUPS_MAX 10000

enum resolvers_hold {
	HOLD_VALID,
	HOLD_OBSOLETE,
	HOLD_NX,
	HOLD_TIMEOUT,
	HOLD_REFUSED,
	HOLD_OTHER,
	HOLDS
};

struct resolvers {
	struct list link;
	char *name;
	struct cfg_where where;
	int is_implicit;            /* no section of the configuration */
	int is_asked;               /* by rules */
	struct list nameservers;    /* struct dns_nameserver.link */
	unsigned int n_nameservers;
	unsigned int payload;       /* accepted_payload_size */
	unsigned int retries;       /* resolve_retries */
	uint32_t resolve_ms, retry_ms; /* timeouts */
	uint32_t hold_ms[HOLDS];
	/* While it runs. */
	struct loop *loop;          /* NULL: not started */
	struct random_source random;
	uint8_t *buf;               /* for one datagram */
	struct list lookups;        /* struct dns_lookup.link */
	unsigned int n_lookups;
	unsigned int n_asking;      /* lookups that wait for responses */
	uint64_t failures;          /* lookups that have failed */
	void (*on_message)(struct dns_query *q, const uint8_t *p, size_t n);
};

/* NULL when memory is out. */
struct resolvers *resolvers_new(const char *name) must_check;
/* Must have been stopped. */
void resolvers_free(struct resolvers **res);
struct dns_nameserver *resolvers_find_nameserver(const struct resolvers *res, const char *name);
/* Starts the lookups; those watched later start at once. 0, or -ERR_NOMEM. */
int resolvers_start(struct resolvers *res, struct loop *loop) must_check;
/* Closes the sockets and stops the timers; lookups stay until they are unwatched. */
void resolvers_stop(struct resolvers *res);

/* Adds a name server for each line `nameserver <address>` of the text, which is changed; it is
 * called by its address, and one that exists already is left alone. Other lines are ignored. The
 * number of those added, or -ERR_NOMEM. */
int resolv_conf_add(struct resolvers *res, char *text) must_check;

#endif
