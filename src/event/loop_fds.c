/* The fd table of a loop, on its worker: the owner of an fd, what is wanted of it, and what the
 * poller is given. The poller holds exactly `polled`, which only loop_commit() changes. */
#include <string.h>

#include "base/err.h"
#include "base/counter.h"
#include "event/loop_int.h"
#include "event/mailbox.h"

static struct slot *
slot_of(const struct loop *l, int fd)
{
	assert(fd >= 0 && fd < l->max_fd && l->slots[fd].fn);
	return &l->slots[fd];
}

int
loop_add(struct loop *l, int fd, enum loop_class cls, loop_fd_fn *fn, void *owner)
{
	struct slot *s;

	if (fd < 0 || fd >= l->max_fd)
		return -ERR_FULL;
	s = &l->slots[fd];
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
	l->used++;
	return 0;
}

static void
slot_clear(struct loop *l, struct slot *s)
{
	s->fn = NULL;
	s->owner = NULL;
	s->in.polled = 0;
	l->used--;
}

void
loop_forget(struct loop *l, int fd)
{
	struct slot *s = slot_of(l, fd);

	if (s->in.polled && !l->ops->close_forgets)
		(void)l->ops->set(l->poller, fd, s->gen, s->in.polled, 0);
	slot_clear(l, s);
}

void
loop_close(struct loop *l, int fd)
{
	loop_forget(l, fd);
	closing_add(&l->closing, fd);
}

void
loop_detach(struct loop *l, int fd)
{
	struct slot *s = slot_of(l, fd);

	if (s->in.polled)
		(void)l->ops->set(l->poller, fd, s->gen, s->in.polled, 0);
	slot_clear(l, s);
}

void
loop_set_owner(struct loop *l, int fd, loop_fd_fn *fn, void *owner)
{
	struct slot *s = slot_of(l, fd);

	s->fn = fn;
	s->owner = owner;
	s->wakes = 0;
}

static void
interest_step(struct loop *l, int fd, struct slot *s, enum dir d, enum interest_event ev)
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
loop_want(struct loop *l, int fd, unsigned int dirs)
{
	struct slot *s = slot_of(l, fd);

	/* Called after each dispatch, mostly without a change. */
	if (((dirs & EV_R) != 0) != interest_is_wanted(&s->in, DIR_R))
		interest_step(l, fd, s, DIR_R, dirs & EV_R ? INTEREST_WANT : INTEREST_STOP);
	if (((dirs & EV_W) != 0) != interest_is_wanted(&s->in, DIR_W))
		interest_step(l, fd, s, DIR_W, dirs & EV_W ? INTEREST_WANT : INTEREST_STOP);
}

void
loop_again(struct loop *l, int fd, enum dir d)
{
	interest_step(l, fd, slot_of(l, fd), d, INTEREST_AGAIN);
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
	interest_step(l, fd, slot_of(l, fd), d, INTEREST_READY);
}

void
loop_hold(struct loop *l, int fd, int holds)
{
	struct slot *s = slot_of(l, fd);

	s->in.in_memory = holds ? EV_R : 0;
	if (holds)
		interest_step(l, fd, s, DIR_R, INTEREST_READY);
}

int
loop_left_events(const struct loop *l)
{
	return l->n_events == l->max_events;
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
	const struct slot *s = slot_of(l, fd);

	return loop_left_events(l) || (s->told == l->turn && s->turn != l->turn);
}

int
loop_is_ready(const struct loop *l, int fd, enum dir d)
{
	uint8_t st = slot_of(l, fd)->in.state[d];

	return st == INTEREST_SPEC || st == INTEREST_IDLE;
}

void
loop_err_queue(struct loop *l, int fd)
{
	slot_of(l, fd)->err_queue = 1;
}

void
loop_note_error(struct loop *l, int fd)
{
	slot_of(l, fd)->seen |= EV_ERR;
	loop_presume_ready(l, fd, DIR_R);
	loop_presume_ready(l, fd, DIR_W);
}

unsigned int
loop_seen(const struct loop *l, int fd)
{
	return slot_of(l, fd)->seen;
}

void
loop_progress(struct loop *l, int fd)
{
	slot_of(l, fd)->wakes = 0;
}

int
loop_peek(const struct loop *l, int fd, struct interest *out, void **owner)
{
	if (fd < 0 || fd >= l->max_fd || !l->slots[fd].fn)
		return -ERR_UNKNOWN;
	*out = l->slots[fd].in;
	*owner = l->slots[fd].owner;
	return 0;
}

/* --- committing --- */

static void
try_later(struct loop *l, int fd, struct slot *s)
{
	if (s->trying)
		return;
	s->trying = 1;
	l->spec[l->n_spec++] = fd;
}

static void
commit_one(struct loop *l, int fd, struct slot *s)
{
	/* A listener may leave connections waiting, which an edge would not report again. */
	enum interest_mode mode = s->cls != LOOP_CONN && l->mode == INTEREST_EDGE ?
		INTEREST_MERGED : l->mode;
	struct interest_plan plan = interest_plan(&s->in, mode);

	for (unsigned int i = 0; i < plan.n; i++) {
		unsigned int how = s->cls == LOOP_SHARED_LISTENER ? EV_EXCLUSIVE : 0;

		if (l->ops->set(l->poller, fd, s->gen, s->in.polled, plan.mask[i] | how) < 0) {
			counter_add(&l->stats.set_errors, 1);
			s->refused = 1;
			break;
		}
		s->in.polled = plan.mask[i] & EV_RW ? plan.mask[i] : 0;
	}
	if (s->refused || s->in.state[DIR_R] == INTEREST_SPEC ||
		s->in.state[DIR_W] == INTEREST_SPEC)
		try_later(l, fd, s);
}

void
loop_commit(struct loop *l)
{
	for (unsigned int i = 0; i < l->n_dirty; i++) {
		int fd = l->dirty[i];
		struct slot *s = &l->slots[fd];

		s->dirty = 0;
		if (s->fn)
			commit_one(l, fd, s);
	}
	l->n_dirty = 0;
}
