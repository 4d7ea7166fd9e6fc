/*
 * DNS over TCP (RFC 7766): one connection, opened by the first query, with any number of queries
 * on it; closed when it was idle for DNS_STREAM_IDLE_MS. Queries lost with a broken connection are
 * asked again when the query times out.
 */
#ifndef TACIT_DNS_STREAM_H
#define TACIT_DNS_STREAM_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/sbuf.h"
#include "event/timer.h"
#include "net/addr.h"
#include "net/conn.h"

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

/* on_message must be set before the first query. `to` is borrowed. */
void dns_stream_init(struct dns_stream *s, struct loop *l, const struct addr *to);
/* Closes the connection, if any. */
void dns_stream_close(struct dns_stream *s);
/* 0, or a negative reason: no connection can be opened, or too much is unsent. */
int dns_stream_send(struct dns_stream *s, const uint8_t *p, size_t n) must_check;

#endif
