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
#ifndef TACIT_DNS_LOOKUP_H
#define TACIT_DNS_LOOKUP_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "dns/message.h"
#include "dns/nameserver.h"
#include "event/timer.h"

/*
 * The known records of a name. A name server may send a part of them only, another part each time:
 * a record stays for `hold obsolete` after the last response that had it.
 */

struct dns_item {
	struct list link;
	struct dns_record record;
	uint64_t seen_ms; /* time of the last response that had it, */
	uint64_t round;   /* and its number */
};

struct dns_answer {
	struct list items; /* struct dns_item.link; order of arrival */
	unsigned int n;
	uint64_t round;    /* number of responses */
};

struct resolvers;

struct dns_lookup {
	struct list link;       /* resolvers.lookups */
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
/* Called by resolvers.c: begins a lookup, or stops it and frees it if it has no watch. */
void dns_lookup_start(struct dns_lookup *l);
void dns_lookup_stop(struct dns_lookup *l);
void dns_lookup_on_message(struct dns_query *q, const uint8_t *p, size_t n);

#endif
