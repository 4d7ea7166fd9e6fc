/* Shared by the files of the loop: loop.c runs the turn, loop.c keeps the fd table. */
#ifndef TACIT_EVENT_LOOP_INT_H
#define TACIT_EVENT_LOOP_INT_H

#include "event/clock.h"
#include "event/loop.h"
#include "event/profile.h"

struct closing {
	int *fd;
	unsigned int n, max;
	unsigned int account; /* of the last one */
	int is_mixed;         /* some are of another one */
};

struct loop {
	struct loop_core core;
	const struct poller_ops *ops;
	struct poller *poller;
	enum interest_mode mode;
	int lazy;
	int max_events;
	unsigned int used;
	int *dirty;
	unsigned int n_dirty;
	int *spec;     /* fds with a direction to be tried in the next turn */
	unsigned int n_spec;
	int *trying;   /* spec of the current turn */
	struct poll_event *events;
	struct timers starts;
	struct list tasks;
	struct list next; /* tasks for the next turn */
	struct list due;  /* tasks of the current turn from `next` */
	struct list flushes;
	struct list ends;
	struct closing closing; /* descriptors to be closed at the end of the turn */
	struct loop_clock clock;
	uint32_t turn;
	uint32_t next_gen;
	struct mailbox *mailbox; /* NULL: none */
	int n_events; /* what the last wait returned */
	unsigned int full_turns;
	struct loop_stats stats;
	struct profile profile;
};

/* Lists it for the next commit of interest. */
static inline void
loop_mark_dirty(struct loop *l, int fd, struct loop_slot *s)
{
	if (s->dirty)
		return;
	s->dirty = 1;
	l->dirty[l->n_dirty++] = fd;
}

#endif
