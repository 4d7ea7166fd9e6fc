/*
 * The event loop of one worker: fds with their interest, timers, and work posted within a turn.
 *
 * One turn: commit interest (epoll_ctl), wait, read the clock once, then in this order:
 *   1. listeners' events   (accept and connect for all new sessions)
 *   2. messages, then posted tasks (first reads and sends of all new sessions)
 *   3. other fds' events, then tasks they posted, then those of loop_post_next()
 *   4. due starts and timers, then tasks they posted, then messages to oneself
 *   5. tasks of loop_post_flush(), end-of-turn tasks (freeing, log lines), then the closes of
 *      loop_close()
 *   6. workers that got messages and sleep are woken
 */
#ifndef TACIT_EVENT_LOOP_H
#define TACIT_EVENT_LOOP_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/sys.h"
#include "event/interest.h"
#include "event/poller.h"
#include "event/timer.h"

struct loop;
struct mailbox;
struct profile;

/* ev: EV_x bits. Called for events, for speculative tries (with the wanted bits) and for
 * EV_SPIN. */
typedef void loop_fd_fn(void *owner, int fd, uint32_t ev);

struct task;
typedef void task_fn(struct task *t);

/* A task to run later in this turn; owned by the caller, queued at most once. */
struct task {
	struct list link;
	task_fn *fn;
};

enum loop_class {
	LOOP_LISTENER, /* dispatched before everything else of a turn */
	LOOP_SHARED_LISTENER, /* one that other loops wait for too: only one of them is woken */
	LOOP_CONN
};

struct loop_config {
	const struct poller_ops *poller;
	enum interest_mode mode; /* falls back to merged where the poller has no edge-triggered
				  * mode */
	int max_fd;              /* fds are below this */
	int max_events;          /* per wait */
	int lazy;                /* tune.lazy-register: if off, registers at once, before any try */
};

/* A descriptor in the table. */
struct loop_slot {
	loop_fd_fn *fn; /* NULL: free */
	void *owner;
	uint32_t gen;
	uint32_t turn;  /* the last turn in which its handler ran */
	uint32_t told;  /* the last turn that brought an event for it */
	struct interest in;
	uint16_t wakes; /* wake-ups without progress */
	uint16_t account; /* of the ledger, for the calls of its handler */
	uint8_t seen;
	uint8_t cls;
	uint8_t dirty;  /* in loop.dirty */
	uint8_t trying : 1; /* in loop.spec */
	uint8_t refused : 1; /* a registration failed: EV_SPIN is due */
	uint8_t err_queue : 1; /* EV_ERR may be no error: see loop_err_queue() */
};
_Static_assert(sizeof(struct loop_slot) <= 24 + 2 * sizeof(void *), "one for each connection");

/* The first member of each loop, for the inline functions below alone. */
struct loop_core {
	struct sys *sys;
	struct loop_slot *slots;
	int max_fd;
	unsigned int now_us;
	uint64_t now_ms, now_ns;
	struct timers timers;
};

struct loop_stats {
	_Atomic uint64_t turns;
	_Atomic uint64_t waits;      /* number of waits */
	_Atomic uint64_t wakes;      /* waits that returned at least one event */
	_Atomic uint64_t events;
	_Atomic uint64_t stale;      /* events for an fd that was closed meanwhile */
	_Atomic uint64_t spec_turns; /* waits with timeout 0 for speculative work */
	_Atomic uint64_t spins;      /* fds ended because they woke without progress */
	_Atomic uint64_t set_errors; /* registrations that the kernel rejected */
};

struct loop *loop_new(struct sys *sys, const struct loop_config *cfg, int *reason) must_check;
/* No fd may be left (asserted). */
void loop_free(struct loop **l);

static inline const struct loop_core *
loop_core(const struct loop *l)
{
	return (const struct loop_core *)(const void *)l;
}

static inline struct sys *
loop_sys(struct loop *l)
{
	return loop_core(l)->sys;
}

static inline struct timers *
loop_timers(struct loop *l)
{
	return &((struct loop_core *)(void *)l)->timers;
}

/* The timers of what begins at a time and ends nothing: these are not delayed by events that did
 * not fit into a turn, which the others wait for, since the event of a deadline may be among
 * them. */
struct timers *loop_starts(struct loop *l);
const struct loop_stats *loop_stats(const struct loop *l);
/* The cost of the functions that it calls. */
struct profile *loop_profile(struct loop *l);
/* Monotonic milliseconds / nanoseconds, read once per turn after waiting. */
static inline uint64_t
loop_now_ms(const struct loop *l)
{
	return loop_core(l)->now_ms;
}

static inline uint64_t
loop_now_ns(const struct loop *l)
{
	return loop_core(l)->now_ns;
}

/* The microseconds of that read that its milliseconds leave out: 0..999. */
static inline unsigned int
loop_now_us(const struct loop *l)
{
	return loop_core(l)->now_us;
}

/* Wall clock in nanoseconds since 1970, from the same read and an offset checked every second. */
uint64_t loop_wall_ns(const struct loop *l);
/* Percentage of time spent waiting during the last seconds. */
unsigned int loop_idle_pct(const struct loop *l);
const char *loop_poller_name(const struct loop *l);
enum interest_mode loop_mode(const struct loop *l);
/* Events carry EV_ERR when there is an error; otherwise the socket has to be asked. */
int loop_has_errors(const struct loop *l);

/* Sets the mailbox of the loop; NULL: none. Called by mailbox_new() and mailbox_free(). */
void loop_set_mailbox(struct loop *l, struct mailbox *mb);

/* Runs one turn; waits at most max_ms (-1: until the next timer). 0, or -errno of the wait. */
int loop_turn(struct loop *l, int max_ms) must_check;

/* Adds an open fd to the table, without a system call: its account is the one that counts now. 0,
 * or -ERR_FULL when fd >= max_fd. */
int loop_add(struct loop *l, int fd, enum loop_class cls, loop_fd_fn *fn, void *owner) must_check;
/* The calls that follow are for this fd, as in its handler. */
static inline void
loop_charge(struct loop *l, int fd)
{
	sys_charge(loop_sys(l), loop_core(l)->slots[fd].account);
}
/* Removes an fd that will be closed: no system call is needed unless another process holds it
 * too. */
void loop_forget(struct loop *l, int fd);
/* Removes an fd and closes it at the end of this turn (or of the next one, if called between
 * turns), together with its neighbours in one call. */
void loop_close(struct loop *l, int fd);
/* Removes an fd that stays open, here or in another process: deletes its registration. */
void loop_detach(struct loop *l, int fd);
/*
 * Changes the handler of an fd, also for the rest of this turn's events: they belong to the socket,
 * and an edge is reported only once. Registration, interest and seen events are kept; no system
 * call. Its account is the one that counts now.
 */
void loop_set_owner(struct loop *l, int fd, loop_fd_fn *fn, void *owner);
/* Number of fds in the table. */
unsigned int loop_fds(const struct loop *l);

/* A descriptor in the table. Called many times for each event: with TACIT_MAGIC it asserts that the
 * descriptor was added, otherwise that its number is within the table. */
static inline struct loop_slot *
loop_slot_of(const struct loop *l, int fd)
{
	const struct loop_core *c = loop_core(l);

	assert((unsigned int)fd < (unsigned int)c->max_fd);
#ifdef TACIT_MAGIC
	assert(c->slots[fd].fn);
#endif
	return &c->slots[fd];
}

/* Changes the account of an fd. */
static inline void
loop_set_account(struct loop *l, int fd, unsigned int number)
{
	loop_slot_of(l, fd)->account = (uint16_t)number;
}

/* Sets the wanted directions, EV_R | EV_W: the complete new mask. Called after each dispatch,
 * mostly without a change. */
void loop_change_wanted(struct loop *l, int fd, unsigned int dirs);
static inline void
loop_want(struct loop *l, int fd, unsigned int dirs)
{
	if (dirs != interest_wanted(&loop_slot_of(l, fd)->in))
		loop_change_wanted(l, fd, dirs);
}

/* A try returned EAGAIN, or a short count shows that the next one would. */
void loop_again(struct loop *l, int fd, enum dir d);
/* The fd is known not to be ready yet (a new connection). Ignored in unmerged mode. */
void loop_presume_again(struct loop *l, int fd, enum dir d);
/* The opposite: the fd may be ready without an event. */
void loop_presume_ready(struct loop *l, int fd, enum dir d);
/* Notes whether bytes were taken from the socket that its user has not read: the fd is then
 * readable whatever the kernel reports. */
void loop_change_held(struct loop *l, int fd, int holds);
static inline void
loop_hold(struct loop *l, int fd, int holds)
{
	if (holds || loop_slot_of(l, fd)->in.in_memory)
		loop_change_held(l, fd, holds);
}

/* True if the last wait filled its array, or was interrupted: events of other fds may be left in
 * the kernel. */
int loop_left_events(const struct loop *l);
/* True if the fd may have an event that was not delivered yet: a later one of this turn, or one
 * left in the kernel. */
int loop_has_news(const struct loop *l, int fd);
/* True if it is believed ready, wanted or not: a try is worth a system call. */
static inline int
loop_is_ready(const struct loop *l, int fd, enum dir d)
{
	return interest_is_ready(&loop_slot_of(l, fd)->in, d);
}

/* EV_RDHUP | EV_HUP | EV_ERR | EV_URGENT seen since the fd was added. */
static inline unsigned int
loop_seen(const struct loop *l, int fd)
{
	return loop_slot_of(l, fd)->seen;
}

/*
 * EV_ERR of this fd may from now on only mean that its error queue has an entry, such as a
 * zero-copy completion. It then implies no readiness, and loop_seen() does not report it until the
 * owner has checked the queue and reports a real error.
 */
static inline void
loop_err_queue(struct loop *l, int fd)
{
	loop_slot_of(l, fd)->err_queue = 1;
}

static inline void
loop_note_error(struct loop *l, int fd)
{
	loop_slot_of(l, fd)->seen |= EV_ERR;
	loop_presume_ready(l, fd, DIR_R);
	loop_presume_ready(l, fd, DIR_W);
}

/* The fd made progress: resets its count of useless wake-ups. */
static inline void
loop_progress(struct loop *l, int fd)
{
	loop_slot_of(l, fd)->wakes = 0;
}

/* Interest and registration of an fd, for show fd: 0, or -ERR_UNKNOWN when not in the table. */
int loop_peek(const struct loop *l, int fd, struct interest *out, void **owner) must_check;

static inline void
task_init(struct task *t, task_fn *fn)
{
	list_init(&t->link);
	t->fn = fn;
}

/* Runs the task in this turn, in phase 2 when posted by a listener. Posting it twice runs it
 * once. */
void loop_post(struct loop *l, struct task *t);
/* Runs the task in the next turn, after that turn's events; that turn does not wait. */
void loop_post_next(struct loop *l, struct task *t);
/* Runs the task once everything of this turn has run, before those of its end: what a turn has
 * produced leaves together. */
void loop_post_flush(struct loop *l, struct task *t);
/* Runs the task at the end of this turn. */
void loop_post_end(struct loop *l, struct task *t);
/* Number of events that waits have returned, served or not yet, without those of its mailbox. On
 * the loop's thread. */
uint64_t loop_events(const struct loop *l);
/* Number of tasks posted that have not run, without those for the end of the turn. On the loop's
 * thread. */
unsigned int loop_posted(const struct loop *l);
void task_cancel(struct task *t);

#endif
