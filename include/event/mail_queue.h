/*
 * The queue of a mailbox, and the state that shows whether its owner sleeps. Any thread posts; the
 * owner takes messages, and falls asleep when there are none. Nothing here blocks or calls the
 * kernel: event/mailbox.c writes the eventfd and waits.
 *
 * The queue is a ring of slots with a sequence number each. Slot number pos % size has seq == pos
 * when it is free for message number pos, pos + 1 when that message is published, pos + size when
 * it is free for the next round. A poster claims a number by moving `tail`; only the owner moves
 * `head`. Messages of one poster stay in order.
 *
 * The state is RUNNING, CHECKING (about to sleep, checks once more) or ASLEEP.
 *
 *   poster  1 publish the message            owner  a set CHECKING
 *           2 RUNNING? then that is all             b message there? then RUNNING, no sleep
 *           3 exchange for RUNNING: ASLEEP?         c CHECKING -> ASLEEP, or else no sleep
 *           4 then write the eventfd                d wait
 *                                                   e set RUNNING
 *                                                   f take the message, read the eventfd
 *
 * A poster does 2 to 4 at the end of its turn, once for all that it posted to one owner.
 *
 * No owner sleeps while there is a message. All these accesses are sequentially consistent, so
 * there is one order of them. Say the owner waits in d, the message at `head` is published, and
 * its poster P has done 2 and what follows from it. The owner saw no message in b, so a < b < 1 <
 * 2, and what P saw in 2 was set by a or later:
 *   - RUNNING. It was not set before c, or c would have failed. So another poster exchanged it in
 *     after c, got ASLEEP, and writes in 4.
 *   - CHECKING or ASLEEP. P exchanges in 3, not before c, or c would have failed. It got ASLEEP,
 *     and writes; or it got RUNNING, and the poster that set this after c writes.
 * So after c an eventfd is written, or a poster stands between 3 and 4. The owner reads the eventfd
 * in f before its next a, and d comes after c: no write that follows c is lost before d.
 *
 * A write that f consumes before its message is seen does no harm: the message was published
 * before the write, so the next b sees it. Messages behind a claimed number that is not yet
 * published wait for that poster, which still has its 1 to 4 to do.
 *
 * tests/unit/event/mailbox_steps.h is a model of this with one access per step. The test runs the
 * model in every order, and compares each function here with it, access by access.
 */
#ifndef TACIT_EVENT_MAIL_QUEUE_H
#define TACIT_EVENT_MAIL_QUEUE_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"

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

/* slots: a power of two, owned by the caller. first: the number of the first message. */
void mail_queue_init(struct mail_queue *q, struct mail_slot *slots, uint64_t size, uint64_t first);

/* --- any thread --- */

/* Enqueues a copy of *m: 0, or -ERR_FULL. The owner may sleep until it is woken. */
int mail_queue_post(struct mail_queue *q, const struct mail *m) must_check;
/* After any number of posts: 1 if the caller has to wake the owner, since no other poster will. */
int mail_queue_claim_wakeup(struct mail_queue *q) must_check;

/* --- the owner --- */

int mail_queue_has_mail(const struct mail_queue *q);
/* 1 with the oldest message in *out, 0 if there is none. */
int mail_queue_take(struct mail_queue *q, struct mail *out) must_check;
/* 1 if the owner may wait now, and must wake up after that; 0 if there is a message or soon will
 * be. */
int mail_queue_fall_asleep(struct mail_queue *q) must_check;
void mail_queue_wake_up(struct mail_queue *q);

#endif
