/*
 * A poller: four operations. wait() fills an array and never calls back; the loop filters stale
 * events.
 */
#ifndef TACIT_EVENT_POLLER_H
#define TACIT_EVENT_POLLER_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/sys.h"

struct poll_event {
	int fd;
	uint32_t gen;
	uint32_t ev; /* EV_x of interest.h */
};

struct poller;

struct poller_ops {
	const char *name; /* as in `use-poller` */
	int has_edge;
	int has_errors;    /* reports EV_ERR and EV_HUP; otherwise only that something happened */
	int close_forgets; /* closing an fd unregisters it: no set() before the close */
	int most_events;   /* that one wait() returns */
	/* 0 or a negative reason; close releases *out. max_fd limits the fd numbers. */
	int (*open)(struct poller **out, struct sys *sys, int max_fd);
	/* old and new are EV_R | EV_W | EV_EDGE; 0 or -errno. */
	int (*set)(struct poller *p, int fd, uint32_t gen, unsigned int old, unsigned int mask);
	/* ms < 0: no timeout. Returns the number of events, or -errno (including -EINTR). */
	int (*wait)(struct poller *p, struct poll_event *ev, int n, int ms);
	void (*close)(struct poller **p);
};

/* epoll, ev:epoll, ev:poll, ev:select; NULL when the name is unknown. */
const struct poller_ops *poller_find(const char *name);
/* All pollers, NULL-terminated, in order of preference. */
const struct poller_ops *const *poller_all(void);

extern const struct poller_ops poller_epoll;
extern const struct poller_ops poller_ev_epoll;
extern const struct poller_ops poller_ev_poll;
extern const struct poller_ops poller_ev_select;

#endif
