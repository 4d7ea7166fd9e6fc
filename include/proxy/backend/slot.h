/*
 * Slots of servers and the queues for them, as they stand under the backend's lock (proxy.lock),
 * which the caller of each of these holds. Nothing here waits, logs or calls the loop.
 *
 * Each worker's sessions wait in lists of their own, so that a slot which is freed finds one of the
 * same worker first; the masks server.waiting and proxy.waiting say which lists are not empty.
 */
#ifndef TACIT_PROXY_BACKEND_SLOT_H
#define TACIT_PROXY_BACKEND_SLOT_H

#include "proxy/model/session.h"

/* A session of another worker comes before ours when it has waited longer, and longer than this. */
#define QUEUE_UNFAIR_MS 10

/* Takes a slot of s->srv for a session of this worker. */
void slot_get(struct session *s);
/* Gives it back, if it has one; slot_offer() is due then. */
void slot_put(struct session *s);
/* It knows of its slot now: time and counters of its worker. Not before it can be used. */
void slot_taken(struct session *s);

/* Puts it into the queue of s->srv, or of its backend when there is none. */
void slot_queue(struct session *s);
/* Takes it out of the queue, or off the list of those with a slot they do not know of. */
void slot_unqueue(struct session *s);

/*
 * Free slots of srv go to whoever has waited longest, ours first (QUEUE_UNFAIR_MS). Sessions of
 * e's worker are appended to `ours` by queue_link, those of others to `granted` of their shard.
 * Returns the workers (a bit each) that have to be told: their list was empty.
 */
uint64_t slot_offer(struct engine *e, struct server *srv, struct list *ours);
/* Nobody waits for a server that gets no sessions: any other will do, but for those that
 * persistence has bound to it. */
void slot_move_waiting(struct server *srv);

#endif
