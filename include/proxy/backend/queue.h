/*
 * How sessions come to a server's slot and leave it (manual, `maxconn`, `timeout queue`): each of
 * these is one critical section under the backend's lock, so that `maxconn` holds exactly and no
 * slot is free while somebody waits for it, whatever other workers do.
 *
 * A slot that falls to a session of another worker is taken at that moment; the session stands on
 * its worker's list `granted`, the worker is told (engine.wake_worker) and delivers it
 * (queue_collect). No message names a session: one that ends meanwhile takes itself off the list.
 */
#ifndef TACIT_PROXY_BACKEND_QUEUE_H
#define TACIT_PROXY_BACKEND_QUEUE_H

#include "proxy/model/session.h"

/*
 * s->be is its backend from now on: counts it there and chooses a server. ASSIGNED: it holds a slot
 * of s->srv, which is s->bound when it can be. FULL: it waits, for s->srv or for any. NO_SERVER:
 * nobody can serve it, or s->srv, to which it is bound, has a full queue. No room was
 * left between choosing and waiting: no slot can get free unseen. moved: it was bound to a server,
 * and has another one, or none. After FULL s->srv may not be looked at without the lock.
 */
enum session_event queue_enter(struct session *s, int *moved);
/* The same in two steps: counted, and choosing a server later. */
void queue_join(struct session *s);
enum session_event queue_choose(struct session *s, int *moved);
/* The same once more, away from s->srv, whose slot it gives back. moved: it has another server
 * now, or none. */
enum session_event queue_change(struct session *s, int *moved);
/* Leaves the queue, the slot and the backend, in any state; what gets free goes to who waits. */
void queue_leave(struct session *s);

/* On e's own thread: delivers SLOT to its sessions that were granted one. Nothing to do is fine. */
void queue_collect(struct engine *e, struct proxy *be);
/* Servers of be have changed: there may be room that nobody used yet (one came back), and those who
 * waited for one that is not used any more wait for any. e: the worker at work. */
void queue_serve(struct engine *e, struct proxy *be);

#endif
