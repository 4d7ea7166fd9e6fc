/*
 * The streams of one worker that wait for a server, or for any server of a backend: ordered by
 * class, then by the time of their arrival plus their offset (manual, http-request
 * set-priority-class and set-priority-offset). Sessions without a priority, usually all, wait in a
 * list; the others in a heap. The caller holds the backend's lock.
 */
#ifndef TACIT_PROXY_MODEL_STREAM_QUEUE_H
#define TACIT_PROXY_MODEL_STREAM_QUEUE_H

#include "base/heap.h"
#include "base/list.h"

struct stream;

struct stream_queue {
	struct list fifo;        /* struct stream.queue_link */
	struct heap prioritized; /* struct stream.queue_node */
};

void stream_queue_init(struct stream_queue *q);
int stream_queue_is_empty(const struct stream_queue *q);
/* The stream that is next; NULL: there is none. */
struct stream *stream_queue_first(const struct stream_queue *q);
/* The same among those with a priority. */
struct stream *stream_queue_first_prioritized(const struct stream_queue *q);
/* The priority of s must not change while it is in the queue. */
void stream_queue_add(struct stream_queue *q, struct stream *s);
void stream_queue_remove(struct stream_queue *q, struct stream *s);
/* True if a is to be served before b. */
int stream_queue_is_before(const struct stream *a, const struct stream *b);

#endif
