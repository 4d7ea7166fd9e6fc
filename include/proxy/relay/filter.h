/*
 * The place of filters (proxy/model/filter.h) in a direction: its bytes are read into the scratch
 * buffer, pass through the filters in their order, and leave through the direction's buffer.
 * Private to proxy.
 */
#ifndef TACIT_PROXY_RELAY_FILTER_H
#define TACIT_PROXY_RELAY_FILTER_H

#include "proxy/model/filter.h"
#include "proxy/relay/relay_ops.h"

/* Room in front of what filters_run() returns, and behind it, for framing. */
#define FILTER_FRONT 24
#define FILTER_BACK 16

/* A message of that direction begins, or TCP (head NULL): asks the filters of both proxies, those
 * of the frontend first; be NULL: the stream has no backend. The most that they do. */
enum filter_part filters_begin(struct stream *s, const struct proxy *be, int side,
	struct http_head *head);
/* The number of n bytes that fit behind the pending ones, with what filters make of them. */
size_t filters_fit(const struct stream *s, int side, size_t n);
/* The number of n bytes that all filters let pass; 0: the direction waits. Behind a filter that
 * changes bytes one can only hold back all of them, and counts them when they have passed. */
size_t filters_grant(struct stream *s, int side, size_t n);
/* Runs p[0..n) through the filters. last: no more bytes follow. The result, of *out bytes, is p
 * itself if no filter changes bytes. */
char *filters_run(struct stream *s, int side, char *p, size_t n, int last, size_t *out);

/* relay_ops.read of a direction with filters, whose operations have `filter`. */
struct io_step filter_read(struct stream *s, int side);

/* True if bytes that were read, or may be there, have not left the filters. */
static inline int
filter_has_bytes(const struct stream *s, int side)
{
	const struct direction *d = &s->dir[side];

	return unlikely(d->ops->filter != NULL) && d->state == DIRECTION_OPEN &&
		(d->lookahead || d->waits_to_pass || stream_filtering(s, side) == FILTER_CHANGES);
}

/* A direction of TCP or of a tunnel: 1, and its operations are set, or 0: no filter takes part. The
 * client's bytes so far become lookahead. */
int filters_begin_plain(struct stream *s, int side);

#endif
