/*
 * Slots of servers and the queues for them. The caller of each function holds the backend's lock
 * (proxy.lock). Nothing here waits, logs or calls the loop.
 *
 * Each worker's sessions wait in separate queues (proxy/model/stream_queue.h), so that a freed
 * slot finds one of the same worker first; the masks server.waiting and proxy.waiting show which
 * queues are not empty.
 */
#ifndef TACIT_PROXY_BACKEND_SLOT_H
#define TACIT_PROXY_BACKEND_SLOT_H

#include "proxy/model/session.h"

/* A session of another worker is preferred to ours if it has waited longer, and longer than
 * this. */
#define QUEUE_UNFAIR_MS 10

/* Takes a slot of s->srv for a session of this worker. */
void slot_get_locked(struct stream *s);
/* Releases its slot, if it has one; slot_offer_locked() must follow. */
void slot_put_locked(struct stream *s);
/* The session has learned of its slot: sets the time and the worker's counters. To be called before
 * the slot is used. */
void slot_taken_locked(struct stream *s);

/* Puts it into the queue of s->srv, or of its backend if there is none. */
void slot_queue_locked(struct stream *s);
/* Removes it from the queue, or from the list of sessions granted a slot. */
void slot_unqueue_locked(struct stream *s);

/*
 * Gives free slots of srv to the sessions of the best priority, among them to those that have
 * waited longest, ours first (QUEUE_UNFAIR_MS).
 * Sessions of e's worker are appended to `ours` by queue_link, those of others to `granted` of
 * their shard. Returns the workers (one bit each) that have to be notified: their list was empty.
 */
uint64_t slot_offer_locked(struct engine *e, struct server *srv, struct list *ours);
/* Moves sessions that wait for an unusable server to the backend's queue, except those that
 * persistence has bound to it. */
void slot_move_waiting_locked(struct server *srv);

#endif
