/*
 * What the sessions of one worker have another one look at: slots granted to its sessions, and
 * frontends that have room again (engine.wake_worker, engine.wake_resume). None is lost: when a
 * mailbox is full its owner is told to look at everything.
 */
#ifndef TACIT_APP_PROCESS_WAKE_WORKER_H
#define TACIT_APP_PROCESS_WAKE_WORKER_H

struct mail;
struct worker;

/* Before its loop runs, when there are several workers. */
void wake_worker_enable(struct worker *w);
/* Sends a mail that only asks `to` to look at something: never waits, never fails. If it does not
 * fit, `to` looks at everything once it has emptied its mailbox. */
void poke_tell(struct worker *from, struct worker *to, const struct mail *m);
/* At the end of each turn: looks at everything, if somebody's mail did not fit. */
void wake_worker_catch_up(struct worker *w);

#endif
