/*
 * The sessions of one worker that wait for a server, or for any server of a backend: ordered by
 * class, then by the time of their arrival plus their offset (manual, http-request
 * set-priority-class and set-priority-offset). Sessions without a priority, usually all, wait in a
 * list; the others in a heap. The caller holds the backend's lock.
 */
#ifndef TACIT_PROXY_MODEL_SESSION_QUEUE_H
#define TACIT_PROXY_MODEL_SESSION_QUEUE_H

#include "base/heap.h"
#include "base/list.h"

struct session;

struct session_queue {
	struct list fifo;        /* struct session.queue_link */
	struct heap prioritized; /* struct session.queue_node */
};

void session_queue_init(struct session_queue *q);
int session_queue_is_empty(const struct session_queue *q);
/* The session that is next; NULL: there is none. */
struct session *session_queue_first(const struct session_queue *q);
/* The same among those with a priority. */
struct session *session_queue_first_prioritized(const struct session_queue *q);
/* The priority of s must not change while it is in the queue. */
void session_queue_add(struct session_queue *q, struct session *s);
void session_queue_remove(struct session_queue *q, struct session *s);
/* True if a is to be served before b. */
int session_queue_is_before(const struct session *a, const struct session *b);

#endif
