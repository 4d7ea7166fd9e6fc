/*
 * The event loop of one worker: fds with their interest, timers, and work posted within a turn.
 *
 * One turn: commit interest (epoll_ctl), wait, read the clock once, then in this order:
 *   1. listeners' events   (accept and connect for everyone)
 *   2. mail, then posted tasks (first reads and sends for everyone)
 *   3. other fds' events, then tasks they posted, then those of loop_post_next()
 *   4. due timers, then tasks they posted, then mail to oneself
 *   5. end-of-turn tasks   (freeing, log lines), then what loop_close() was told
 *   6. workers that got mail and sleep are woken
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

/* ev: EV_x bits. Called for real events, for speculative tries (the wanted bits), for EV_SPIN. */
typedef void loop_fd_fn(void *owner, int fd, uint32_t ev);

struct task;
typedef void task_fn(struct task *t);

/* Work to do later in this turn; owned by the caller, linked at most once. */
struct task {
	struct list link;
	task_fn *fn;
};

enum loop_class {
	LOOP_LISTENER, /* dispatched before everything else of a turn */
	LOOP_SHARED_LISTENER, /* one that other loops wait for as well: only one is to wake */
	LOOP_CONN
};

struct loop_config {
	const struct poller_ops *poller;
	enum interest_mode mode; /* merged is taken where the poller has no edges */
	int max_fd;              /* fds are below this */
	int max_events;          /* per wait */
	int lazy;                /* tune.lazy-register: off registers at once, before any try */
};

struct loop_stats {
	_Atomic uint64_t turns;
	_Atomic uint64_t waits;      /* returns from waiting */
	_Atomic uint64_t wakes;      /* of them, with at least one event */
	_Atomic uint64_t events;
	_Atomic uint64_t stale;      /* events for an fd that was closed meanwhile */
	_Atomic uint64_t spec_turns; /* waits with timeout 0 for speculative work */
	_Atomic uint64_t spins;      /* fds ended for waking without progress */
	_Atomic uint64_t set_errors; /* registrations the kernel refused */
};

struct loop *loop_new(struct sys *sys, const struct loop_config *cfg, int *reason) must_check;
/* All fds must have been closed (asserted). */
void loop_free(struct loop **l);

struct sys *loop_sys(struct loop *l);
struct timers *loop_timers(struct loop *l);
const struct loop_stats *loop_stats(const struct loop *l);
/* Monotonic milliseconds / nanoseconds, read once per turn after waiting. */
uint64_t loop_now_ms(const struct loop *l);
uint64_t loop_now_ns(const struct loop *l);
/* Wall clock in nanoseconds since 1970, from the same read and an offset checked every second. */
uint64_t loop_wall_ns(const struct loop *l);
/* Share of time spent waiting over the last seconds, 0..100. */
unsigned int loop_idle_pct(const struct loop *l);
const char *loop_poller_name(const struct loop *l);
enum interest_mode loop_mode(const struct loop *l);
/* Events carry EV_ERR when there is an error; otherwise the socket has to be asked. */
int loop_has_errors(const struct loop *l);

/* Mail comes in here from now on; NULL: no more. mailbox_new() and _free() do it. */
void loop_set_mailbox(struct loop *l, struct mailbox *mb);

/* One turn; waits at most max_ms (-1: as long as timers allow). 0 or -errno of the wait. */
int loop_turn(struct loop *l, int max_ms) must_check;

/* Takes an open fd into the table: no system call. 0, or -ERR_FULL when fd >= max_fd. */
int loop_add(struct loop *l, int fd, enum loop_class cls, loop_fd_fn *fn, void *owner) must_check;
/* Forgets it, before it is closed: no system call is needed then, if no other process holds it. */
void loop_forget(struct loop *l, int fd);
/* Forgets it and has it closed: at the end of this turn, or of the next one between two turns, with
 * its neighbours in one call. */
void loop_close(struct loop *l, int fd);
/* Forgets it and leaves it open, here or in another process: DELs a registration. */
void loop_detach(struct loop *l, int fd);
/*
 * Its events go to another owner from now on, what is left of this turn's too: they are about the
 * socket, and an edge is not told twice. Registration, interest and what was seen stay as they are;
 * no system call.
 */
void loop_set_owner(struct loop *l, int fd, loop_fd_fn *fn, void *owner);
/* Fds in the table. */
unsigned int loop_fds(const struct loop *l);

/* Wanted directions, EV_R | EV_W: the whole new mask. */
void loop_want(struct loop *l, int fd, unsigned int dirs);
/* A try said EAGAIN, or a short count says that the next one would. */
void loop_again(struct loop *l, int fd, enum dir d);
/* Known without asking: nothing there yet (a connection just opened). Ignored in unmerged mode. */
void loop_presume_again(struct loop *l, int fd, enum dir d);
/* The same the other way round: there may be something that no event has told of. */
void loop_presume_ready(struct loop *l, int fd, enum dir d);
/* Did the last wait fill its array, so that events of other fds may be left in the kernel? */
int loop_left_events(const struct loop *l);
/* May there be an event for it that it has not been given yet: one of this turn whose time has not
 * come, or one that was left in the kernel? */
int loop_has_news(const struct loop *l, int fd);
/* Believed ready, wanted or not: trying is worth a system call. */
int loop_is_ready(const struct loop *l, int fd, enum dir d);
/* EV_RDHUP | EV_HUP | EV_ERR | EV_URGENT seen since it was added. */
unsigned int loop_seen(const struct loop *l, int fd);
/*
 * From now on EV_ERR of this fd may mean no more than that its error queue holds something, such as
 * what became of zero-copy sends: it says nothing of what is ready, and loop_seen() does not tell
 * of it, until its owner has looked and says that it is one.
 */
void loop_err_queue(struct loop *l, int fd);
void loop_note_error(struct loop *l, int fd);
/* Bytes or a state moved: the fd is not spinning. */
void loop_progress(struct loop *l, int fd);
/* Interest and registration of one fd, for show fd: 0, or -ERR_UNKNOWN when not in the table. */
int loop_peek(const struct loop *l, int fd, struct interest *out, void **owner) must_check;

void task_init(struct task *t, task_fn *fn);
/* Runs in this turn, in phase 2 when posted by a listener. Posting twice is one run. */
void loop_post(struct loop *l, struct task *t);
/* Runs in the next turn, when its events have been served; that turn does not wait. */
void loop_post_next(struct loop *l, struct task *t);
/* Runs at the end of this turn. */
void loop_post_end(struct loop *l, struct task *t);
void task_cancel(struct task *t);

#endif
