/* A worker's mailbox, on that worker's thread. It touches only the queue of another mailbox
 * (struct mail_queue), and the eventfd, when it has taken the owner out of ASLEEP. */
#include "event/mailbox.h"

#include <string.h>
#include <sys/eventfd.h>

#include "base/atomic.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"
#include "event/loop.h"
#include "event/profile.h"

/* --- the queue --- */

/*
 * The queue, and the state that shows whether its owner sleeps. Any thread posts; the owner takes
 * messages, and falls asleep when there are none. Nothing of the queue blocks or calls the kernel.
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
 * model in every order, and compares each function of the queue with it, access by access.
 */

static struct mail_slot *
slot_at(const struct mail_queue *q, uint64_t pos)
{
	return &q->slots[pos & q->mask];
}

/* slots: a power of two, owned by the caller. first: the number of the first message. */
static void
mail_queue_init(struct mail_queue *q, struct mail_slot *slots, uint64_t size, uint64_t first)
{
	q->slots = slots;
	q->mask = size - 1;
	q->head = first;
	atomic_init(&q->tail, first);
	atomic_init(&q->state, MAIL_RUNNING);
	for (uint64_t pos = first; pos - first < size; pos++)
		atomic_init(&slot_at(q, pos)->seq, pos);
}

/* Enqueues a copy of *m: 0, or -ERR_FULL. The owner may sleep until it is woken. */
static int
mail_queue_post(struct mail_queue *q, const struct mail *m)
{
	uint64_t pos = atomic_load(&q->tail);
	struct mail_slot *slot;

	for (;;) {
		int64_t ahead;

		slot = slot_at(q, pos);
		ahead = (int64_t)(atomic_load(&slot->seq) - pos);
		/* The message of the previous round has not been taken. */
		if (ahead < 0)
			return -ERR_FULL;
		/* Another poster has taken this number: try again with the current tail. */
		if (ahead > 0)
			pos = atomic_load(&q->tail);
		else if (atomic_compare_exchange_strong(&q->tail, &pos, pos + 1))
			break;
	}
	slot->mail = *m;
	atomic_store(&slot->seq, pos + 1);
	return 0;
}

/* After any number of posts: 1 if the caller has to wake the owner, since no other poster will. */
static int
mail_queue_claim_wakeup(struct mail_queue *q)
{
	if (atomic_load(&q->state) == MAIL_RUNNING)
		return 0;
	return atomic_exchange(&q->state, MAIL_RUNNING) == MAIL_ASLEEP;
}

static int
mail_queue_has_mail(const struct mail_queue *q)
{
	return atomic_load(&slot_at(q, q->head)->seq) == q->head + 1;
}

/* 1 with the oldest message in *out, 0 if there is none. */
static int
mail_queue_take(struct mail_queue *q, struct mail *out)
{
	struct mail_slot *slot = slot_at(q, q->head);

	if (!mail_queue_has_mail(q))
		return 0;
	*out = slot->mail;
	atomic_store(&slot->seq, q->head + q->mask + 1);
	q->head++;
	return 1;
}

/* 1 if the owner may wait now, and must wake up after that; 0 if there is a message or soon will
 * be. */
static int
mail_queue_fall_asleep(struct mail_queue *q)
{
	uint32_t checking = MAIL_CHECKING;

	atomic_store(&q->state, MAIL_CHECKING);
	if (mail_queue_has_mail(q)) {
		atomic_store(&q->state, MAIL_RUNNING);
		return 0;
	}
	/* A poster that saw CHECKING has set RUNNING meanwhile: there are messages. */
	return atomic_compare_exchange_strong(&q->state, &checking, MAIL_ASLEEP);
}

static void
mail_queue_wake_up(struct mail_queue *q)
{
	atomic_store(&q->state, MAIL_RUNNING);
}

/* --- the mailbox --- */

/* Milliseconds between two tries to wake a worker, or to register its own eventfd. */
#define RETRY_MS 10

/* A mailbox that was posted to since the last flush. */
struct outgoing {
	struct mailbox *to;
	uint32_t posts;
	uint32_t owed; /* taken out of ASLEEP, but the write failed */
};

struct mailbox {
	struct mail_queue queue;
	struct mail_slot *slots;
	void *memory; /* the block to free */
	struct sys *sys;
	struct loop *loop;
	void *worker;
	unsigned int index;
	int elision;
	int efd; /* -1: no thread posts to it */
	/* used by the owner only */
	int asleep;       /* the state is ASLEEP, or a poster has changed it since */
	int deaf;         /* the eventfd is not registered */
	unsigned int ran; /* messages taken from the queue in this turn */
	struct mail *own; /* a ring with as many entries as the queue has slots */
	uint64_t own_head, own_tail;
	uint64_t out_mask; /* bits of out */
	struct outgoing out[MAILBOX_PEERS_MAX];
	struct mailbox_stats stats;
};

/* Only the owner writes; other threads see complete numbers. */
static inline void
count_stat(uint64_t *n, uint64_t by)
{
	atomic_write(n, *n + by);
}

void
mailbox_stats(const struct mailbox *mb, struct mailbox_stats *out)
{
	const uint64_t *from = (const uint64_t *)&mb->stats;
	uint64_t *to = (uint64_t *)out;

	for (size_t i = 0; i < sizeof(*out) / sizeof(*to); i++)
		to[i] = atomic_read(&from[i]);
}

/* --- posting --- */

/* A failed write is repeated: the target is marked as awake, so no other poster will wake it. */
static void
write_to(struct mailbox *from, struct mailbox *to)
{
	struct outgoing *o = &from->out[to->index];
	const uint64_t one = 1;

	if (sys_write(from->sys, to->efd, &one, sizeof(one)) == (long)sizeof(one)) {
		count_stat(&from->stats.writes, 1);
		o->owed = 0;
		return;
	}
	count_stat(&from->stats.write_errors, 1);
	o->to = to;
	o->owed = 1;
	from->out_mask |= 1ull << to->index;
}

static void
wake_target(struct mailbox *from, struct outgoing *o)
{
	uint32_t posts = o->posts;
	int sleeps = 0;

	from->out_mask &= ~(1ull << o->to->index);
	o->posts = 0;
	if (posts) {
		sleeps = mail_queue_claim_wakeup(&o->to->queue);
		if (sleeps)
			count_stat(&from->stats.elided_batch, posts - 1);
		else
			count_stat(&from->stats.elided_awake, posts);
	}
	if (sleeps || o->owed)
		write_to(from, o->to);
}

unsigned int
mailbox_flush(struct mailbox *mb)
{
	for (uint64_t left = mb->out_mask; left; left &= left - 1)
		wake_target(mb, &mb->out[__builtin_ctzll(left)]);
	return (unsigned int)__builtin_popcountll(mb->out_mask);
}

static int
post_own(struct mailbox *mb, const struct mail *m)
{
	if (mb->own_tail - mb->own_head > mb->queue.mask) {
		count_stat(&mb->stats.full, 1);
		return -ERR_FULL;
	}
	mb->own[mb->own_tail++ & mb->queue.mask] = *m;
	count_stat(&mb->stats.posts, 1);
	count_stat(&mb->stats.elided_self, 1);
	return 0;
}

int
mailbox_post(struct mailbox *from, struct mailbox *to, const struct mail *m)
{
	struct outgoing *o = &from->out[to->index];

	assert(to->efd >= 0);
	if (from == to && to->elision)
		return post_own(to, m);
	if (mail_queue_post(&to->queue, m) < 0) {
		count_stat(&from->stats.full, 1);
		/* If it sleeps on earlier messages, it wakes now and makes room. */
		if (o->posts)
			wake_target(from, o);
		return -ERR_FULL;
	}
	count_stat(&from->stats.posts, 1);
	if (!to->elision) {
		write_to(from, to);
		return 0;
	}
	o->to = to;
	o->posts++;
	from->out_mask |= 1ull << to->index;
	return 0;
}

/* --- the owner --- */

int
mailbox_fd(const struct mailbox *mb)
{
	return mb->efd;
}

/* An eventfd that could not be registered is tried again with each wait. */
static void
listen_again(struct mailbox *mb)
{
	struct interest in;
	void *owner;

	if (loop_peek(mb->loop, mb->efd, &in, &owner) == 0 && (in.polled & EV_R)) {
		mb->deaf = 0;
		return;
	}
	loop_want(mb->loop, mb->efd, EV_R);
	loop_again(mb->loop, mb->efd, DIR_R);
}

/*
 * Edge-triggered, the eventfd reports every write even if it is not read, so it is never read: its
 * counter has room for 2^64 writes.
 */
static void
on_wake(void *owner, int fd, uint32_t ev)
{
	struct mailbox *mb = owner;
	struct interest in;
	void *self;
	uint64_t n;

	if (ev & EV_SPIN) {
		/* Frequent wakes are normal: see loop_progress() below. */
		mb->deaf = 1;
		loop_want(mb->loop, fd, 0);
		return;
	}
	count_stat(&mb->stats.wakes, 1);
	if (!mb->ran)
		count_stat(&mb->stats.empty_wakes, 1);
	if (loop_peek(mb->loop, fd, &in, &self) < 0 || !(in.polled & EV_EDGE))
		(void)sys_read(mb->sys, fd, &n, sizeof(n));
	loop_again(mb->loop, fd, DIR_R);
	loop_progress(mb->loop, fd);
}
PROFILE_NAME(on_wake, mailbox_io)

int
mailbox_sleep(struct mailbox *mb, int ms)
{
	unsigned int owed = mailbox_flush(mb);

	if (mb->own_head != mb->own_tail)
		return 0;
	/* A worker that is not waiting needs no wake-up. */
	if (ms == 0 || !mail_queue_fall_asleep(&mb->queue))
		return 0;
	mb->asleep = 1;
	count_stat(&mb->stats.sleeps, 1);
	return (owed || mb->deaf) && (ms < 0 || ms > RETRY_MS) ? RETRY_MS : ms;
}

void
mailbox_woken(struct mailbox *mb)
{
	if (mb->asleep) {
		mail_queue_wake_up(&mb->queue);
		mb->asleep = 0;
	}
	if (mb->deaf)
		listen_again(mb);
}

static void
deliver_mail(struct mailbox *mb, struct mail *m)
{
	struct profile *p = loop_profile(mb->loop);
	uint64_t began = profile_begin(p);

	count_stat(&mb->stats.mails, 1);
	m->fn(mb->worker, m);
	profile_end(p, (profile_fn *)m->fn, began, loop_now_ns(mb->loop));
}

/* At most the number at the start, so that a handler that posts again cannot block the turn. */
void
mailbox_run_own(struct mailbox *mb)
{
	uint64_t end = mb->own_tail;

	while (mb->own_head != end) {
		struct mail m = mb->own[mb->own_head++ & mb->queue.mask];

		deliver_mail(mb, &m);
	}
}

void
mailbox_run(struct mailbox *mb)
{
	struct mail m;

	for (mb->ran = 0; mb->ran <= mb->queue.mask; mb->ran++) {
		if (!mail_queue_take(&mb->queue, &m))
			break;
		deliver_mail(mb, &m);
	}
	mailbox_run_own(mb);
}

/* --- making and freeing --- */

static int
open_wake(struct mailbox *mb)
{
	long r = sys_eventfd2(mb->sys, 0, EFD_NONBLOCK | EFD_CLOEXEC);
	int err;

	if (r < 0)
		return (int)r;
	err = loop_add(mb->loop, (int)r, LOOP_CONN, on_wake, mb);
	if (err) {
		(void)sys_close(mb->sys, (int)r);
		return err;
	}
	mb->efd = (int)r;
	loop_want(mb->loop, mb->efd, EV_R);
	/* The descriptor is new: nothing to read. */
	loop_again(mb->loop, mb->efd, DIR_R);
	loop_set_mailbox(mb->loop, mb);
	return 0;
}

/* One aligned block for the mailbox, its slots and its own ring. */
static struct mailbox *
mailbox_alloc(uint64_t size)
{
	size_t bytes = sizeof(struct mailbox) + size * sizeof(struct mail_slot);
	char *memory = mem_zalloc(MAIL_LINE + bytes + size * sizeof(struct mail));
	struct mailbox *mb;

	if (!memory)
		return NULL;
	mb = (void *)(memory + (MAIL_LINE - (uintptr_t)memory % MAIL_LINE));
	mb->memory = memory;
	mb->slots = (void *)(mb + 1);
	mb->own = (void *)(mb->slots + size);
	return mb;
}

struct mailbox *
mailbox_new(const struct mailbox_config *cfg, int *reason)
{
	uint64_t size = cfg->size ? cfg->size : MAILBOX_SIZE;
	struct mailbox *mb = mailbox_alloc(size);

	assert((size & (size - 1)) == 0 && cfg->index < MAILBOX_PEERS_MAX);
	if (!mb) {
		*reason = -ERR_NOMEM;
		return NULL;
	}
	mail_queue_init(&mb->queue, mb->slots, size, 0);
	mb->sys = cfg->sys;
	mb->loop = cfg->loop;
	mb->worker = cfg->worker;
	mb->index = cfg->index;
	mb->elision = cfg->elision;
	mb->efd = -1;
	*reason = cfg->loop ? open_wake(mb) : 0;
	if (*reason < 0) {
		mem_free(mb->memory);
		return NULL;
	}
	return mb;
}

void
mailbox_free(struct mailbox **mbp)
{
	struct mailbox *mb = *mbp;

	if (!mb)
		return;
	assert(!mail_queue_has_mail(&mb->queue) && mb->own_head == mb->own_tail);
	if (mb->efd >= 0) {
		loop_set_mailbox(mb->loop, NULL);
		loop_forget(mb->loop, mb->efd);
		(void)sys_close(mb->sys, mb->efd);
	}
	mem_free(mb->memory);
	*mbp = NULL;
}
