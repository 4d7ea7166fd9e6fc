/*
 * Socket activation, sd_listen_fds(3): listening sockets that the service manager opened, as
 * $LISTEN_PID, $LISTEN_FDS and $LISTEN_FDNAMES name them. A bind line uses one that it names
 * (fd@web, fd@3), or that has its address. The service manager keeps them.
 */
#ifndef TACIT_APP_PROCESS_ACTIVATION_H
#define TACIT_APP_PROCESS_ACTIVATION_H

#include "base/compiler.h"

struct config;
struct report;
struct sys;

/* The first descriptor, and the most of them. */
enum { ACTIVATION_FIRST = 3, ACTIVATION_MAX = 4096 };

struct activation {
	unsigned int n;    /* sockets: ACTIVATION_FIRST and those that follow it */
	const char *names; /* with colons between them; NULL: none have names */
};

/* Reads the environment: nothing, unless it is meant for this process. */
void activation_read(struct activation *a, struct sys *sys, const char *const *environment);
/* Gives the listeners of the configuration their sockets and tests those that bind lines name. 0,
 * or a negative reason: each mistake was reported. */
int activation_apply(const struct activation *a, struct sys *sys, struct config *cfg,
	const struct report *report) must_check;

#endif
