/*
 * Small messages between workers that run on the receiver's thread. Each worker has one mailbox,
 * attached to its loop; messages run in phase 2 of a turn. The eventfd is written only to wake a
 * sleeping worker, at most once per turn of the poster for each receiver. event/mailbox.c
 * proves that no worker sleeps while it has a message.
 *
 * A mailbox belongs to one thread: other threads may only pass it to mailbox_post() as `to`. A
 * thread without a loop can have one too: it posts and flushes, and gets no messages.
 */
#ifndef TACIT_EVENT_MAILBOX_H
#define TACIT_EVENT_MAILBOX_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"

struct loop;
struct mailbox;
struct sys;

#define MAIL_LINE 64 /* of the cache: what different threads write is kept apart */

struct mail;
/* Runs on the owner's thread, in its turn. *m is a copy, valid during the call. */
typedef void mail_fn(void *worker, struct mail *m);

struct mail {
	mail_fn *fn;
	void *arg;
	int fd;
	/* Space for data about fd: an address, or another small object. */
	union {
		struct sockaddr sa;
		struct sockaddr_in in4;
		struct sockaddr_in6 in6;
		char bytes[36];
	} u;
};

struct mail_slot {
	_Atomic uint64_t seq;
	struct mail mail;
};
_Static_assert(sizeof(struct mail_slot) == MAIL_LINE, "a mail is one line of the cache");

enum mail_state { MAIL_RUNNING, MAIL_CHECKING, MAIL_ASLEEP };

struct mail_queue {
	struct mail_slot *slots;
	uint64_t mask; /* slots - 1; their number is a power of two */
	_Alignas(MAIL_LINE) _Atomic uint64_t tail;
	_Alignas(MAIL_LINE) _Atomic uint32_t state; /* enum mail_state */
	_Alignas(MAIL_LINE) uint64_t head;          /* used by the owner only */
};

#define MAILBOX_PEERS_MAX 64 /* mailboxes that post to each other */
#define MAILBOX_SIZE 1024    /* default capacity */

struct mailbox_config {
	struct sys *sys;    /* the thread's: its ledger counts the calls */
	struct loop *loop;  /* NULL: the mailbox only posts */
	void *worker;       /* argument of mail_fn */
	unsigned int index; /* below MAILBOX_PEERS_MAX, unique */
	unsigned int size;  /* a power of two; 0: MAILBOX_SIZE */
	int elision;        /* tune.wake-elision: if off, each post writes the eventfd */
};

/*
 * Counters of a mailbox. After a flush posts == writes + elided_awake + elided_self + elided_batch.
 */
struct mailbox_stats {
	uint64_t posts;        /* messages sent */
	uint64_t writes;       /* eventfds written */
	uint64_t elided_awake; /* the receiver was awake */
	uint64_t elided_self;  /* sent to itself: no queue, no call */
	uint64_t elided_batch; /* covered by another write of the same turn */
	uint64_t full;         /* posts rejected */
	uint64_t write_errors; /* writes of an eventfd that failed and were repeated */
	uint64_t mails;        /* messages received and run, including those to itself */
	uint64_t sleeps;       /* waits entered ASLEEP */
	uint64_t wakes;        /* events of the own eventfd */
	uint64_t empty_wakes;  /* wakes that found no message */
};

/*
 * Creates the eventfd and attaches the mailbox to the loop. All workers' mailboxes must exist
 * before any of them posts. NULL and a reason: ERR_NOMEM, ERR_FULL (no room in the loop for the
 * fd), an errno.
 */
struct mailbox *mailbox_new(const struct mailbox_config *cfg, int *reason) must_check;
/*
 * No thread may post to it any more, and its messages must have run (asserted): mailbox_run() does
 * that after the last turn. Its own posts must have been flushed.
 */
void mailbox_free(struct mailbox **mb);

/*
 * Sends a copy of *m. 0, or -ERR_FULL: the queue of `to` is full, nothing was sent, and the caller
 * still owns what m refers to. `to` is woken at the latest when `from` flushes. Messages to
 * oneself run later in the same turn or in the next one.
 */
int mailbox_post(struct mailbox *from, struct mailbox *to, const struct mail *m) must_check;
/* Wakes the receivers of all posts since the last flush. The loop calls it before it waits and
 * after its last task. Returns the number of receivers that could not be woken; retry soon. */
unsigned int mailbox_flush(struct mailbox *mb);

/* Copies the counters. Any thread may call it. */
void mailbox_stats(const struct mailbox *mb, struct mailbox_stats *out);

/* --- for the loop --- */
/* The descriptor whose events wake its owner. */
int mailbox_fd(const struct mailbox *mb);
/* Flushes and prepares to sleep. Returns the time to wait instead of ms; 0: there are messages. */
int mailbox_sleep(struct mailbox *mb, int ms);
/* Marks the worker as awake. Called after each wait. */
void mailbox_woken(struct mailbox *mb);
/* Runs the messages in the queue and those to itself. */
void mailbox_run(struct mailbox *mb);
/* Runs the messages to itself. */
void mailbox_run_own(struct mailbox *mb);

#endif
