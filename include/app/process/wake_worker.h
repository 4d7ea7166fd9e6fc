/*
 * Requests to other workers: each is a function of struct engine, wake_x (slots granted to their
 * sessions, frontends with free places, servers that have changed or moved ...). None is lost: if
 * a mailbox is full its owner is asked to check everything, which has to include a new request.
 */
#ifndef TACIT_APP_PROCESS_WAKE_WORKER_H
#define TACIT_APP_PROCESS_WAKE_WORKER_H

struct mail;
struct worker;

/* Called before the worker's loop runs, if there are several workers. */
void wake_worker_enable(struct worker *w);
/* Sends a message that only asks `to` to check something: never blocks, never fails. If it does
 * not fit, `to` checks everything after emptying its mailbox. */
void wake_worker_post(struct worker *from, struct worker *to, const struct mail *m);
/* Called at the end of each turn: checks everything if a message did not fit. */
void wake_worker_catch_up(struct worker *w);

#endif
