/*
 * A section `resolvers`: its name servers, its settings, and the names that it looks up at run time
 * (manual 5.3). All of it belongs to the first worker: its loop drives the sockets and timers.
 */
#ifndef TACIT_DNS_RESOLVERS_H
#define TACIT_DNS_RESOLVERS_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/keyhash.h"
#include "base/list.h"
#include "base/random.h"
#include "cfg/diag.h"
#include "dns/message.h"
#include "event/loop.h"
#include "dns/nameserver.h"
#include "event/timer.h"

struct dns_nameserver;
struct dns_query;
struct sys;

/* dns-accept-family: which addresses are asked for and used; bits. */
enum dns_family { DNS_IPV4 = 1, DNS_IPV6 = 2 };

struct dns_families {
	unsigned int set;           /* enum dns_family; 0: both */
	int is_auto;                /* IPv6, too, while the system has a route for it */
	int has_route;              /* the result of the last check, */
	uint64_t until_ms;          /* which counts until then */
};

/* The bits that count now, one at least. Without sys nothing is checked: both. On the first worker,
 * or at start. */
unsigned int dns_families_now(struct dns_families *f, struct sys *sys, uint64_t now_ms);

/* The section of names without another one; made from /etc/resolv.conf if there is none. */
#define RESOLVERS_DEFAULT "default"
#define RESOLVERS_RESOLV_CONF "/etc/resolv.conf"
#define DNS_PORT 53
#define DNS_PAYLOAD_MIN 512
#define DNS_PAYLOAD_MAX 65535

/* Names that are looked up at the same time, or whose answers are kept: rules may ask for what
 * clients send. */
#define RESOLVERS_LOOKUPS_MAX 10000
#define RESOLVERS_CHAINS 1024u

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
	struct dns_families *families; /* NULL: both */
	/* While it runs. */
	struct loop *loop;          /* NULL: not started */
	struct random_source random;
	uint8_t *buf;               /* for one datagram */
	struct list lookups;        /* struct dns_lookup.link */
	struct keyhash key;         /* secret from its start on: clients choose names */
	struct dns_lookup *chain[RESOLVERS_CHAINS]; /* lookups by name */
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

/*
 * The name server protocol for one name, which is asked for again every `timeout resolve`:
 *
 * 1. All name servers are asked at once, and the first valid response counts.
 * 2. When all have sent errors the other address type is asked for, then the first one again: a
 *    try is over. (For SRV records there is no other type.)
 * 3. After `timeout retry` without enough responses the try is over, too. After `resolve_retries`
 *    tries the lookup has failed, with the last error or a timeout.
 * 4. A truncated response is asked for again over TCP.
 *
 * The time to live of records is ignored, as in HAProxy: the settings of the section decide how
 * often names are asked for and how long they hold.
 */

/*
 * The known records of a name. A name server may send a part of them only, another part each time:
 * a record stays for `hold obsolete` after the last response that had it.
 */

struct dns_item {
	struct list link;
	struct dns_record record;
	uint64_t seen_ms; /* time of the last response that had it, */
	uint64_t round;   /* and its number */
	unsigned int users; /* while servers of a backend choose: how many have it, */
	int is_kept;        /* and that one of these keeps it */
};

struct dns_answer {
	struct list items; /* struct dns_item.link; order of arrival */
	unsigned int n;
	uint64_t round;    /* number of responses */
};

struct dns_lookup {
	struct list link;       /* resolvers.lookups */
	struct dns_lookup *next; /* of its chain */
	struct resolvers *res;
	char name[DNS_NAME_MAX + 1];
	enum dns_type prefer;   /* the type that is asked for first */
	struct list watches;    /* struct dns_watch.link */
	int notifying;          /* watches are being called: it must not be freed */
	int is_kept;            /* dns_lookup_ask() has used it: it is not freed before the answer
				 * is older than `hold valid` */
	struct dns_answer answer;
	uint64_t valid_ms;      /* the last valid response; 0: none */
	uint64_t held_ms;       /* dns_lookup_hold(); 0: never */
	enum dns_status status; /* of the last lookup that is over; DNS_STATUSES: none */
	/* The current one. */
	int is_asking;
	unsigned int families;  /* enum dns_family: those asked for */
	enum dns_type type;
	enum dns_status error;  /* the last error of this try; DNS_STATUSES: none */
	unsigned int tries;     /* left, with this one */
	unsigned int asked, answered; /* name servers in this try */
	struct timer timer;     /* end of the try, or the next lookup */
	struct dns_query query[]; /* one for each name server */
};

/* A user of a lookup: it is called with each answer. */
struct dns_watch {
	struct list link;
	struct dns_lookup *lookup; /* NULL: none */
	int asks_once;             /* on_failure() comes at once, for any `hold` */
	/* A valid response has come and is part of lookup->answer. May unwatch and watch others.
	 * by: its server; NULL if another watch of the lookup was notified first. */
	void (*on_answer)(struct dns_watch *w, struct dns_nameserver *by);
	/* The lookup has failed, and the last valid response is older than `hold`. */
	void (*on_failure)(struct dns_watch *w, enum dns_status status);
};

void dns_watch_init(struct dns_watch *w);
/*
 * Looks a name up for w from now on, together with others that watch the same name and type; while
 * the section runs. The types of addresses are the same name for each other. 0, -ERR_INVAL: this is
 * no host name, or -ERR_NOMEM; w watches nothing then.
 */
int dns_lookup_watch(struct resolvers *res, const char *name, enum dns_type prefer,
	struct dns_watch *w) must_check;
/*
 * Asks once: w is notified as above, and has to unwatch then. 1: the answer is known, in *known
 * until the next call, and w watches nothing. 0, or as dns_lookup_watch(), or -ERR_FULL: too many
 * names are being asked for.
 */
int dns_lookup_ask(struct resolvers *res, const char *name, enum dns_type prefer,
	struct dns_watch *w, const struct dns_answer **known) must_check;
/* The watcher has an answer of a previous process: failures are held back as if it had come now. */
void dns_lookup_hold(struct dns_watch *w, uint64_t now_ms);
/* Stops watching, if w watches anything. */
void dns_lookup_unwatch(struct dns_watch *w);

#endif
