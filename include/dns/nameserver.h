/*
 * A name server of a resolvers section: its sockets, its unanswered queries and its statistics.
 *
 * The UDP socket is connected, so that the kernel drops what comes from any other address, and is
 * renewed whenever no name is being asked for: a forged answer has to guess the port, too. Each
 * query has a random id of its own. Responses with other ids are counted as outdated, whether they
 * are late or forged.
 */
#ifndef TACIT_DNS_NAMESERVER_H
#define TACIT_DNS_NAMESERVER_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/sbuf.h"
#include "cfg/diag.h"
#include "event/timer.h"
#include "net/addr.h"
#include "net/conn.h"

/*
 * DNS over TCP (RFC 7766): one connection, opened by the first query, with any number of queries
 * on it; closed when it was idle for DNS_STREAM_IDLE_MS. Queries lost with a broken connection are
 * asked again when the query times out.
 */

#define DNS_STREAM_IDLE_MS 5000
#define DNS_STREAM_OUT_MAX 65536 /* unsent bytes of queries */

struct dns_stream {
	struct loop *loop;
	const struct addr *to;
	struct conn conn;
	struct timer idle;
	struct sbuf out;   /* queries with their lengths */
	size_t sent;       /* bytes of out that are sent */
	uint8_t *in;       /* a message with its length; allocated while connected */
	size_t got;
	void (*on_message)(void *owner, const uint8_t *p, size_t n);
	void *owner;
};

struct dns_lookup;
struct resolvers;

/* A power of two. */
#define DNS_QUERY_CHAINS 512u

/* Counters of show resolvers: member, name there. */
struct dns_nameserver_stat {
#define DNS_STAT(member, name) uint64_t member;
#include "dns/stat.tbl.h"
#undef DNS_STAT
};

struct dns_nameserver {
	struct list link;         /* resolvers.nameservers */
	struct resolvers *res;
	char *name;
	struct cfg_where where;
	struct addr addr;
	int is_stream;            /* queries go over TCP only */
	struct dns_nameserver_stat stat;
	struct list queries[DNS_QUERY_CHAINS]; /* struct dns_query.link, by the id */
	int fd;                   /* UDP; -1: none */
	struct dns_stream stream; /* also for what was truncated over UDP */
};

/* A question to one name server; part of its struct dns_lookup. */
struct dns_query {
	struct list link;         /* dns_nameserver.queries; not linked: nothing is awaited */
	struct dns_lookup *lookup;
	struct dns_nameserver *ns;
	uint16_t id;
	uint8_t by_stream;
};

/* Takes the name. NULL when memory is out. */
struct dns_nameserver *dns_nameserver_new(struct resolvers *res, const char *name) must_check;
void dns_nameserver_start(struct dns_nameserver *ns);
void dns_nameserver_stop(struct dns_nameserver *ns);
/* Closes the UDP socket; the next query opens another one. */
void dns_nameserver_renew(struct dns_nameserver *ns);
/* An id that no unanswered query has. 0, or -errno of the source of random bytes. */
int dns_nameserver_draw_id(struct dns_nameserver *ns, uint16_t *id) must_check;
/* Sends the query q, with q->id in its message, and waits for its response. 0, or a negative
 * reason, which is counted. */
int dns_nameserver_send(struct dns_query *q, const uint8_t *p, size_t n) must_check;

#endif
