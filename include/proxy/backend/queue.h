/*
 * Getting and releasing a server's slot (manual, `maxconn`, `timeout queue`). Each function
 * is one critical section under the backend's lock, so that `maxconn` is exact and no slot is free
 * while a session waits for it, on any worker.
 *
 * A slot that is given to a session of another worker is taken at once. The session is put on its
 * worker's list `granted`, and that worker is notified (engine_hooks.wake_worker) and delivers the
 * slot (queue_collect). No message refers to a session: one that ends meanwhile removes itself
 * from the list.
 */
#ifndef TACIT_PROXY_BACKEND_QUEUE_H
#define TACIT_PROXY_BACKEND_QUEUE_H

#include "proxy/model/session.h"

/*
 * Counts the session in its backend, s->be, and selects a server. ASSIGNED: it holds a slot of
 * s->srv, which is s->bound if possible. FULL: it waits for s->srv or for any server. NO_SERVER: no
 * server is usable, or the queue of s->srv, which it is bound to, is full. Selection and queueing
 * are atomic: no free slot is missed. moved: it was bound to a server and has another one or none.
 * After FULL s->srv must not be read without the lock.
 */
enum stream_event queue_enter(struct stream *s, int *moved);
/* The same in two steps: counting it in be, which s->be or its transaction names from now on, and
 * selecting a server later. */
void queue_join(struct stream *s, struct proxy *be);
enum stream_event queue_choose(struct stream *s, int *moved);
/* Selects another server than s->srv, whose slot is released. moved: it has another server now, or
 * none. */
enum stream_event queue_change(struct stream *s, int *moved);
/* Leaves the queue, the slot and the backend, in any state, once; a freed slot goes to a waiting
 * session. */
void queue_leave(struct stream *s);

/* On e's own thread: delivers SLOT to its sessions that were granted one. May find none. */
void queue_collect(struct engine *e, struct proxy *be);
/* Servers of be have changed: a server may have free slots that no session uses, and sessions
 * waiting for an unusable server wait for any. e: the current worker's. */
void queue_serve(struct engine *e, struct proxy *be);
/* The first part of it for a server that has become unusable: its sessions wait for any, until
 * queue_serve() is called. */
void queue_move_waiting(struct engine *e, struct server *srv);

#endif
