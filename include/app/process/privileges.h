/*
 * Giving up what start-up needed: root, other groups, the file system, the ability to regain any of
 * it. Done once the process listens.
 */
#ifndef TACIT_APP_PROCESS_PRIVILEGES_H
#define TACIT_APP_PROCESS_PRIVILEGES_H

#include <stddef.h>

#include "app/config/global.h"
#include "base/compiler.h"

struct sys;

/* Does it give up its user, and root's group not? */
int privileges_keeps_group(struct sys *sys, const struct global_conf *g);
/* 0, or -errno (-ERR_PERM when root could be regained) with why saying which step failed. */
int privileges_drop(struct sys *sys, const struct global_conf *g, char *why, size_t why_len)
	must_check;
/* No processes and no threads from now on: after the workers' have been made. 0 or -errno. */
int privileges_seal(struct sys *sys, const struct global_conf *g) must_check;

#endif
