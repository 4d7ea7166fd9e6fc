/* The table of descriptors of a loop, and its turn: what runs in which order. On its worker. */
#include "event/loop.h"

#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "event/loop_int.h"
#include "event/mailbox.h"

/* --- descriptors that are closed at the end of the turn --- */

/* Allocates room for this many. 0 or -ERR_NOMEM. */
static int
closing_init(struct closing *c, unsigned int max)
{
	/* Zeroed pages are not touched before they are used. */
	c->fd = mem_zalloc((size_t)max * sizeof(*c->fd));
	c->n = 0;
	c->max = max;
	return c->fd ? 0 : -ERR_NOMEM;
}

/* Must be empty (asserted). */
static void
closing_fini(struct closing *c)
{
	assert(c->n == 0);
	mem_free(c->fd);
	c->fd = NULL;
}

/* Adds an open fd of this account; each at most once. */
static void
closing_add(struct closing *c, int fd, unsigned int account)
{
	assert(c->n < c->max);
	if (unlikely(account != c->account)) {
		c->is_mixed |= c->n > 0;
		c->account = account;
	}
	c->fd[c->n++] = fd;
}

/* A turn closes few, which are nearly in order. */
#define SORT_FEW 32

static void
sort_few(int *fd, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++) {
		unsigned int at = i;
		int one = fd[i];

		for (; at > 0 && fd[at - 1] > one; at--)
			fd[at] = fd[at - 1];
		fd[at] = one;
	}
}

static int
by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The account of all these descriptors, or 0. */
static unsigned int
account_of(const struct loop_slot *slots, const int *fd, unsigned int n)
{
	unsigned int number = slots[fd[0]].account;

	for (unsigned int i = 1; i < n; i++)
		if (slots[fd[i]].account != number)
			return 0;
	return number;
}

static void
close_run(struct sys *sys, const int *fd, unsigned int n)
{
	if (n > 1 &&
		sys_close_range(sys, (unsigned int)fd[0], (unsigned int)fd[n - 1]) >= 0)
		return;
	for (unsigned int i = 0; i < n; i++)
		(void)sys_close(sys, fd[i]);
}

/* Closes all, which had these slots. */
static void
closing_flush(struct closing *c, struct sys *sys, const struct loop_slot *slots)
{
	unsigned int from = 0;

	if (c->n <= SORT_FEW)
		sort_few(c->fd, c->n);
	else
		qsort(c->fd, c->n, sizeof(*c->fd), by_number);
	sys_charge(sys, c->account);
	for (unsigned int i = 1; i <= c->n; i++)
		if (i == c->n || c->fd[i] != c->fd[i - 1] + 1) {
			if (unlikely(c->is_mixed))
				sys_charge(sys, account_of(slots, c->fd + from, i - from));
			close_run(sys, c->fd + from, i - from);
			from = i;
		}
	sys_charge_none(sys);
	c->is_mixed = 0;
	c->n = 0;
}

/* Consecutive wakes of an fd without progress before the loop gives up on it. */
#define SPIN_MAX 1000
/* Consecutive turns that timers wait for events which did not fit into the array, or which a wait
 * that was interrupted did not look for. */
#define FULL_TURNS_MAX 16

static void loop_commit(struct loop *l);

/* --- the loop --- */

/* Divides once per turn what is asked for many times. */
static void
note_time(struct loop *l)
{
	uint64_t ns = l->clock.now_ns, ms = ns / 1000000u;

	l->core.now_ns = ns;
	l->core.now_ms = ms;
	l->core.now_us = (unsigned int)(ns - ms * 1000000u) / 1000u;
}

struct loop *
loop_new(struct sys *sys, const struct loop_config *cfg, int *reason)
{
	struct loop *l = mem_zalloc(sizeof(*l));
	int r = -ERR_NOMEM;

	if (!l)
		goto fail;
	l->core.sys = sys;
	l->ops = cfg->poller;
	l->mode =
		cfg->mode == INTEREST_EDGE && !cfg->poller->has_edge ? INTEREST_MERGED : cfg->mode;
	l->lazy = cfg->lazy;
	l->core.max_fd = cfg->max_fd;
	l->max_events = MIN(cfg->max_events, l->ops->most_events);
	profile_init(&l->profile, sys);
	timers_init(&l->core.timers);
	timers_init(&l->starts);
	l->core.timers.profile = l->starts.profile = &l->profile;
	list_init(&l->tasks);
	list_init(&l->next);
	list_init(&l->due);
	list_init(&l->flushes);
	list_init(&l->ends);
	/* Zeroed pages are not touched before an fd with that number is used. */
	l->core.slots = mem_zalloc((size_t)cfg->max_fd * sizeof(*l->core.slots));
	l->dirty = mem_zalloc((size_t)cfg->max_fd * sizeof(*l->dirty));
	l->spec = mem_zalloc((size_t)cfg->max_fd * sizeof(*l->spec));
	l->trying = mem_zalloc((size_t)cfg->max_fd * sizeof(*l->trying));
	l->events = mem_zalloc((size_t)l->max_events * sizeof(*l->events));
	r = closing_init(&l->closing, (unsigned int)cfg->max_fd);
	if (r < 0)
		goto fail;
	r = -ERR_NOMEM;
	if (!l->core.slots || !l->dirty || !l->spec || !l->trying || !l->events)
		goto fail;
	r = l->ops->open(&l->poller, sys, cfg->max_fd);
	if (r < 0)
		goto fail;
	clock_init(&l->clock, sys);
	note_time(l);
	return l;
fail:
	*reason = r;
	loop_free(&l);
	return NULL;
}

void
loop_free(struct loop **lp)
{
	struct loop *l = *lp;

	if (!l)
		return;
	assert(l->used == 0);
	if (l->poller)
		l->ops->close(&l->poller);
	closing_flush(&l->closing, l->core.sys, l->core.slots);
	closing_fini(&l->closing);
	timers_fini(&l->core.timers);
	timers_fini(&l->starts);
	mem_free(l->events);
	mem_free(l->trying);
	mem_free(l->spec);
	mem_free(l->dirty);
	mem_free(l->core.slots);
	mem_free(l);
	*lp = NULL;
}

struct timers *
loop_starts(struct loop *l)
{
	return &l->starts;
}

const struct loop_stats *
loop_stats(const struct loop *l)
{
	return &l->stats;
}

struct profile *
loop_profile(struct loop *l)
{
	return &l->profile;
}

uint64_t
loop_wall_ns(const struct loop *l)
{
	return clock_wall_ns(&l->clock);
}

unsigned int
loop_idle_pct(const struct loop *l)
{
	return counter_read(&l->clock.idle_pct);
}

const char *
loop_poller_name(const struct loop *l)
{
	return l->ops->name;
}

enum interest_mode
loop_mode(const struct loop *l)
{
	return l->mode;
}

int
loop_has_errors(const struct loop *l)
{
	return l->ops->has_errors;
}

unsigned int
loop_fds(const struct loop *l)
{
	return l->used;
}

void
loop_set_mailbox(struct loop *l, struct mailbox *mb)
{
	l->mailbox = mb;
}

/* --- tasks --- */

void
loop_post(struct loop *l, struct task *t)
{
	if (list_is_empty(&t->link))
		list_append(&l->tasks, &t->link);
}

void
loop_post_next(struct loop *l, struct task *t)
{
	if (list_is_empty(&t->link))
		list_append(&l->next, &t->link);
}

void
loop_post_flush(struct loop *l, struct task *t)
{
	if (list_is_empty(&t->link))
		list_append(&l->flushes, &t->link);
}

void
loop_post_end(struct loop *l, struct task *t)
{
	list_remove(&t->link);
	list_append(&l->ends, &t->link);
}

unsigned int
loop_posted(const struct loop *l)
{
	return list_length(&l->tasks) + list_length(&l->next) + list_length(&l->due);
}

void
task_cancel(struct task *t)
{
	list_remove(&t->link);
}

static one_copy void
run_each_task(struct loop *l, struct list *tasks)
{
	do {
		struct task *t = list_first(tasks, struct task, link);
		uint64_t began = profile_begin(&l->profile);
		task_fn *fn = t->fn;

		list_remove(&t->link);
		sys_charge_none(l->core.sys);
		fn(t);
		profile_end(&l->profile, (profile_fn *)fn, began, l->clock.now_ns);
	} while (!list_is_empty(tasks));
	sys_charge_none(l->core.sys);
}

/* Called many times in a turn, mostly for nothing. */
static inline void
run_tasks(struct loop *l, struct list *tasks)
{
	if (!list_is_empty(tasks))
		run_each_task(l, tasks);
}

/* --- one turn --- */

static int
wait_ms(const struct loop *l, int max_ms)
{
	uint64_t next = MIN(timers_next(&l->core.timers), timers_next(&l->starts));
	uint64_t ms, now = loop_now_ms(l);

	if (l->n_spec || !list_is_empty(&l->tasks) || !list_is_empty(&l->next) ||
		!list_is_empty(&l->flushes) || !list_is_empty(&l->ends))
		return 0;
	if (next == TIMER_NEVER)
		return max_ms;
	ms = next > now ? next - now : 0;
	if (max_ms >= 0 && ms > (uint64_t)max_ms)
		return max_ms;
	return ms > INT32_MAX ? INT32_MAX : (int)ms;
}

/* Counts a call of a handler without progress: returns EV_SPIN when the limit is reached. */
static uint32_t
count_wake(struct loop *l, struct loop_slot *s)
{
	if (++s->wakes <= SPIN_MAX)
		return 0;
	s->wakes = 0;
	counter_add(&l->stats.spins, 1);
	return EV_SPIN;
}

static inline void
call_handler(struct loop *l, const struct loop_slot *s, int fd, uint32_t ev)
{
	uint64_t began = profile_begin(&l->profile);
	loop_fd_fn *fn = s->fn;

	sys_charge(l->core.sys, s->account);
	fn(s->owner, fd, ev);
	profile_end(&l->profile, (profile_fn *)fn, began, l->clock.now_ns);
}

static void
dispatch_event(struct loop *l, const struct poll_event *e)
{
	struct loop_slot *s = &l->core.slots[e->fd];
	uint32_t ev = e->ev;

	if (!s->fn || s->gen != e->gen) {
		counter_add(&l->stats.stale, 1);
		return;
	}
	/* An error ends waiting in both directions. If it may not be one its owner checks. */
	if ((ev & EV_ERR) && !s->err_queue) {
		ev |= EV_RW;
		s->seen |= EV_ERR;
	}
	s->seen |= (uint8_t)(ev & (EV_RDHUP | EV_HUP | EV_URGENT));
	if (ev & EV_R)
		s->in.state[DIR_R] = (uint8_t)interest_next(
			(enum interest_state)s->in.state[DIR_R], INTEREST_READY);
	if (ev & EV_W)
		s->in.state[DIR_W] = (uint8_t)interest_next(
			(enum interest_state)s->in.state[DIR_W], INTEREST_READY);
	loop_mark_dirty(l, e->fd, s);
	/* An edge reports something new, possibly data that is not wanted yet, so it cannot
	 * spin. */
	if (!(s->in.polled & EV_EDGE))
		ev |= count_wake(l, s);
	s->turn = l->turn;
	call_handler(l, s, e->fd, ev);
}

/* Fds with a direction believed ready that no event of this turn has served. */
static void
try_speculative(struct loop *l, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		int fd = l->trying[i];
		struct loop_slot *s = &l->core.slots[fd];
		uint32_t ev = 0;

		if (!s->fn)
			continue;
		if (s->refused) {
			s->refused = 0;
			ev = EV_SPIN;
		} else if (s->turn != l->turn)
			ev = (s->in.state[DIR_R] == INTEREST_SPEC ? EV_R : 0) |
			     (s->in.state[DIR_W] == INTEREST_SPEC ? EV_W : 0);
		if (!ev)
			continue;
		loop_mark_dirty(l, fd, s);
		s->turn = l->turn;
		if (!(ev & EV_SPIN))
			ev |= count_wake(l, s);
		call_handler(l, s, fd, ev);
	}
}

/* The list is taken over first, since handlers add to the next one at commit. */
static unsigned int
take_speculative(struct loop *l)
{
	int *swap = l->trying;
	unsigned int n = l->n_spec;

	l->trying = l->spec;
	l->spec = swap;
	l->n_spec = 0;
	for (unsigned int i = 0; i < n; i++)
		l->core.slots[l->trying[i]].trying = 0;
	return n;
}

/* Serves the listeners among n events, and notes for which connections others wait. */
static void
dispatch_listeners(struct loop *l, int n)
{
	for (int i = 0; i < n; i++) {
		struct poll_event *e = &l->events[i];
		struct loop_slot *s = &l->core.slots[e->fd];

		if (likely(s->cls == LOOP_CONN)) {
			s->told = l->turn;
			continue;
		}
		dispatch_event(l, e);
		e->fd = -1;
	}
}

/* Serves the others. */
static void
dispatch_conns(struct loop *l, int n)
{
	for (int i = 0; i < n; i++) {
		struct poll_event *e = &l->events[i];

		if (e->fd < 0)
			continue;
		dispatch_event(l, e);
		e->fd = -1;
	}
}

/* A full array may have left events behind, possibly the data that a deadline waits for, and so may
 * a wait that was interrupted (SIGSTOP and SIGCONT, a tracer). Timers are delayed then, but for
 * those that only begin something. */
static void
run_timers(struct loop *l)
{
	timers_run_due(&l->starts, loop_now_ms(l));
	if (loop_left_events(l) && l->full_turns < FULL_TURNS_MAX) {
		l->full_turns++;
		return;
	}
	l->full_turns = 0;
	timers_run_due(&l->core.timers, loop_now_ms(l));
}

/* Tasks posted for this turn; tasks posted from now on are for the next one. */
static void
take_next(struct loop *l)
{
	while (!list_is_empty(&l->next)) {
		struct list *first = l->next.next;

		list_remove(first);
		list_append(&l->due, first);
	}
}

int
loop_turn(struct loop *l, int max_ms)
{
	unsigned int n_try;
	int n, ms;

	profile_turn(&l->profile, l->clock.now_ns);
	loop_commit(l);
	ms = wait_ms(l, max_ms);
	if (l->mailbox)
		ms = mailbox_sleep(l->mailbox, ms);
	n_try = take_speculative(l);
	take_next(l);
	if (n_try)
		counter_add(&l->stats.spec_turns, 1);
	n = l->ops->wait(l->poller, l->events, l->max_events, ms);
	if (l->mailbox)
		mailbox_woken(l->mailbox);
	clock_read(&l->clock, l->core.sys);
	note_time(l);
	l->turn++;
	counter_add(&l->stats.turns, 1);
	counter_add(&l->stats.waits, 1);
	l->n_events = n;
	if (n > 0) {
		counter_add(&l->stats.wakes, 1);
		counter_add(&l->stats.events, (uint64_t)n);
	}
	if (n < 0 && n != -EINTR)
		return n;

	dispatch_listeners(l, n);
	if (l->mailbox) {
		sys_charge_none(l->core.sys);
		mailbox_run(l->mailbox);
	}
	run_tasks(l, &l->tasks);
	dispatch_conns(l, n);
	run_tasks(l, &l->tasks);
	try_speculative(l, n_try);
	run_tasks(l, &l->tasks);
	run_tasks(l, &l->due);
	run_tasks(l, &l->tasks);
	sys_charge_none(l->core.sys);
	run_timers(l);
	run_tasks(l, &l->tasks);
	if (l->mailbox) {
		mailbox_run_own(l->mailbox);
		run_tasks(l, &l->tasks);
	}
	run_tasks(l, &l->flushes);
	run_tasks(l, &l->ends);
	if (l->closing.n)
		closing_flush(&l->closing, l->core.sys, l->core.slots);
	if (l->mailbox)
		(void)mailbox_flush(l->mailbox);
	return 0;
}

/* --- descriptors ----------------------------------------------------------------------------- */

/*
 * The fd table of a loop, on its worker: the owner of an fd, what is wanted of it, and what the
 * poller is given. The poller holds exactly `polled`, which only loop_commit() changes.
 */

int
loop_add(struct loop *l, int fd, enum loop_class cls, loop_fd_fn *fn, void *owner)
{
	struct loop_slot *s;

	if (fd < 0 || fd >= l->core.max_fd)
		return -ERR_FULL;
	s = &l->core.slots[fd];
	assert(!s->fn);
	/* dirty and trying are kept: an old entry of this number may still be listed. */
	s->fn = fn;
	s->owner = owner;
	s->gen = ++l->next_gen;
	s->turn = s->told = l->turn - 1;
	memset(&s->in, 0, sizeof(s->in));
	s->seen = 0;
	s->wakes = 0;
	s->refused = 0;
	s->err_queue = 0;
	s->cls = (uint8_t)cls;
	s->account = (uint16_t)l->core.sys->account->account;
	l->used++;
	return 0;
}

static void
slot_clear(struct loop *l, struct loop_slot *s)
{
	assert(s->fn);
	s->fn = NULL;
	s->owner = NULL;
	s->in.polled = 0;
	l->used--;
}

void
loop_forget(struct loop *l, int fd)
{
	struct loop_slot *s = loop_slot_of(l, fd);

	if (s->in.polled && !l->ops->close_forgets)
		(void)l->ops->set(l->poller, fd, s->gen, s->in.polled, 0);
	slot_clear(l, s);
}

void
loop_close(struct loop *l, int fd)
{
	loop_forget(l, fd);
	closing_add(&l->closing, fd, l->core.slots[fd].account);
}

void
loop_detach(struct loop *l, int fd)
{
	struct loop_slot *s = loop_slot_of(l, fd);

	if (s->in.polled)
		(void)l->ops->set(l->poller, fd, s->gen, s->in.polled, 0);
	slot_clear(l, s);
}

void
loop_set_owner(struct loop *l, int fd, loop_fd_fn *fn, void *owner)
{
	struct loop_slot *s = loop_slot_of(l, fd);

	s->fn = fn;
	s->owner = owner;
	s->wakes = 0;
	s->account = (uint16_t)l->core.sys->account->account;
}

static void
interest_step(struct loop *l, int fd, struct loop_slot *s, enum dir d, enum interest_event ev)
{
	enum interest_state next = interest_next((enum interest_state)s->in.state[d], ev);

	if (next == s->in.state[d])
		return;
	/* Without lazy registration nothing is tried before it is registered, but for what the
	 * kernel does not report. */
	if (next == INTEREST_SPEC && ev == INTEREST_WANT && !l->lazy && !(s->in.polled & EV_RW) &&
		!(d == DIR_R && s->in.in_memory))
		next = INTEREST_BLOCKED;
	s->in.state[d] = (uint8_t)next;
	loop_mark_dirty(l, fd, s);
}

void
loop_change_wanted(struct loop *l, int fd, unsigned int dirs)
{
	struct loop_slot *s = loop_slot_of(l, fd);

	if (((dirs & EV_R) != 0) != interest_is_wanted(&s->in, DIR_R))
		interest_step(l, fd, s, DIR_R, dirs & EV_R ? INTEREST_WANT : INTEREST_STOP);
	if (((dirs & EV_W) != 0) != interest_is_wanted(&s->in, DIR_W))
		interest_step(l, fd, s, DIR_W, dirs & EV_W ? INTEREST_WANT : INTEREST_STOP);
}

void
loop_again(struct loop *l, int fd, enum dir d)
{
	interest_step(l, fd, loop_slot_of(l, fd), d, INTEREST_AGAIN);
}

void
loop_presume_again(struct loop *l, int fd, enum dir d)
{
	if (l->mode != INTEREST_UNMERGED)
		loop_again(l, fd, d);
}

void
loop_presume_ready(struct loop *l, int fd, enum dir d)
{
	interest_step(l, fd, loop_slot_of(l, fd), d, INTEREST_READY);
}

void
loop_change_held(struct loop *l, int fd, int holds)
{
	struct loop_slot *s = loop_slot_of(l, fd);

	s->in.in_memory = holds ? EV_R : 0;
	if (holds)
		interest_step(l, fd, s, DIR_R, INTEREST_READY);
}

int
loop_left_events(const struct loop *l)
{
	return l->n_events < 0 || l->n_events == l->max_events;
}

uint64_t
loop_events(const struct loop *l)
{
	uint64_t n = counter_read(&l->stats.events);
	struct mailbox_stats mail;

	if (!l->mailbox)
		return n;
	/* The mailbox has counted those that were served. */
	mailbox_stats(l->mailbox, &mail);
	for (int i = 0; i < l->n_events; i++)
		n -= l->events[i].fd == mailbox_fd(l->mailbox);
	return n - mail.wakes;
}

int
loop_has_news(const struct loop *l, int fd)
{
	const struct loop_slot *s = loop_slot_of(l, fd);

	return loop_left_events(l) || (s->told == l->turn && s->turn != l->turn);
}

int
loop_peek(const struct loop *l, int fd, struct interest *out, void **owner)
{
	if (fd < 0 || fd >= l->core.max_fd || !l->core.slots[fd].fn)
		return -ERR_UNKNOWN;
	*out = l->core.slots[fd].in;
	*owner = l->core.slots[fd].owner;
	return 0;
}

/* --- committing --- */

static void
try_later(struct loop *l, int fd, struct loop_slot *s)
{
	if (s->trying)
		return;
	s->trying = 1;
	l->spec[l->n_spec++] = fd;
}

/* Makes the poller hold what is planned for it. */
static void
set_registration(struct loop *l, int fd, struct loop_slot *s, enum interest_mode mode)
{
	struct interest_plan plan = interest_plan(&s->in, mode);

	sys_charge(l->core.sys, s->account);
	for (unsigned int i = 0; i < plan.n; i++) {
		unsigned int how = s->cls == LOOP_SHARED_LISTENER ? EV_EXCLUSIVE : 0;

		if (l->ops->set(l->poller, fd, s->gen, s->in.polled, plan.mask[i] | how) < 0) {
			counter_add(&l->stats.set_errors, 1);
			s->refused = 1;
			break;
		}
		s->in.polled = plan.mask[i] & EV_RW ? plan.mask[i] : 0;
	}
	sys_charge_none(l->core.sys);
}

static inline void
commit_one(struct loop *l, int fd, struct loop_slot *s)
{
	/* A listener may leave connections waiting, which an edge would not report again. A shared
	 * one is removed as soon as it is not wanted: it would take wake-ups of other workers. */
	enum interest_mode mode = likely(s->cls == LOOP_CONN) ? l->mode
		: s->cls == LOOP_SHARED_LISTENER	      ? INTEREST_UNMERGED
		: l->mode == INTEREST_EDGE		      ? INTEREST_MERGED
							      : l->mode;

	if (mode != INTEREST_EDGE || !interest_is_registered(&s->in))
		set_registration(l, fd, s, mode);
	if (s->refused || s->in.state[DIR_R] == INTEREST_SPEC ||
		s->in.state[DIR_W] == INTEREST_SPEC)
		try_later(l, fd, s);
}

/* Registers the directions that are wanted and blocked; lists those worth another try. */
static void
loop_commit(struct loop *l)
{
	for (unsigned int i = 0; i < l->n_dirty; i++) {
		int fd = l->dirty[i];
		struct loop_slot *s = &l->core.slots[fd];

		s->dirty = 0;
		if (s->fn)
			commit_one(l, fd, s);
	}
	l->n_dirty = 0;
}
