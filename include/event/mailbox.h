/*
 * Mail between workers: small messages that run on the thread they are sent to. A worker has one
 * mailbox, which hangs on its loop; what comes in runs in phase 2 of a turn. The kernel is asked
 * for help, by an eventfd, only to wake a worker that sleeps, and at most once per turn of the
 * poster for each worker it posted to. event/mail_queue.h says why no worker sleeps on mail.
 *
 * A mailbox belongs to one thread: only mailbox_post() may be called with another thread's, as
 * `to`. A thread without a loop can have one too: it posts and flushes, and gets no mail.
 */
#ifndef TACIT_EVENT_MAILBOX_H
#define TACIT_EVENT_MAILBOX_H

#include <stdint.h>

#include "base/compiler.h"
#include "event/mail_queue.h"

struct loop;
struct mailbox;
struct sys;

#define MAILBOX_PEERS_MAX 64 /* mailboxes that write to each other */
#define MAILBOX_SIZE 1024    /* mails that wait, unless told otherwise */

struct mailbox_config {
	struct sys *sys;    /* of the thread: its ledger counts the calls */
	struct loop *loop;  /* NULL: only posts */
	void *worker;       /* what mail_fn gets */
	unsigned int index; /* below MAILBOX_PEERS_MAX, another one for each */
	unsigned int size;  /* a power of two; 0: MAILBOX_SIZE */
	int elision;        /* tune.wake-elision: off writes the eventfd for each post */
};

/*
 * What a mailbox has sent and received. Once all is flushed
 * posts == writes + elided_awake + elided_self + elided_batch.
 */
struct mailbox_stats {
	uint64_t posts;        /* mails sent, to whomever */
	uint64_t writes;       /* eventfds written */
	uint64_t elided_awake; /* the target was not asleep */
	uint64_t elided_self;  /* to itself: no queue, no call */
	uint64_t elided_batch; /* rode along with a write of the same turn */
	uint64_t full;         /* posts refused */
	uint64_t write_errors; /* eventfds that could not be written, and were tried again */
	uint64_t mails;        /* received and run, those to itself among them */
	uint64_t sleeps;       /* waits entered ASLEEP */
	uint64_t wakes;        /* events of the own eventfd */
	uint64_t empty_wakes;  /* of them, with no mail left to run */
};

/*
 * Makes the eventfd and hangs the mailbox on the loop. All workers' must be made before any of
 * them posts. NULL and a reason: ERR_NOMEM, ERR_FULL (no room in the loop for the fd), an errno.
 */
struct mailbox *mailbox_new(const struct mailbox_config *cfg, int *reason) must_check;
/*
 * No thread may post to it any more, and what was posted must have run (asserted): mailbox_run()
 * does that after the last turn. What it posted itself must be flushed.
 */
void mailbox_free(struct mailbox **mb);

/*
 * Sends a copy of *m. 0, or -ERR_FULL: `to` has too much waiting already, nothing was sent, and
 * the caller still owns what m speaks of. `to` learns of it at the latest when `from` flushes; a
 * mail to oneself runs later in the same turn, or in the next one.
 */
int mailbox_post(struct mailbox *from, struct mailbox *to, const struct mail *m) must_check;
/* Wakes those posted to since the last time; the loop does it before it waits, and after its last
 * task. Number of those that could not be woken: to be tried again soon. */
unsigned int mailbox_flush(struct mailbox *mb);

/* Copies the counters; from any thread. */
void mailbox_stats(const struct mailbox *mb, struct mailbox_stats *out);

/* --- for the loop --- */
/* Flushes and goes to sleep: how long to wait instead of ms. 0: there is mail. */
int mailbox_sleep(struct mailbox *mb, int ms);
/* After each wait. */
void mailbox_woken(struct mailbox *mb);
/* Runs what is in the queue, and what it sent to itself. */
void mailbox_run(struct mailbox *mb);
/* Runs what it sent to itself. */
void mailbox_run_own(struct mailbox *mb);

#endif
