/*
 * Dropping privileges: root, supplementary groups, the file system, capabilities, and the ability
 * to regain them. Done when the process listens.
 */
#ifndef TACIT_APP_PROCESS_PRIVILEGES_H
#define TACIT_APP_PROCESS_PRIVILEGES_H

#include <stddef.h>
#include <stdint.h>

#include "app/config/global.h"
#include "base/compiler.h"

struct config;

struct sys;

/* True if it changes its user but keeps root's group. */
int privileges_keeps_group(struct sys *sys, const struct global_conf *g);
/* True if it stays root and `global` does not name a user, not even root. */
int privileges_stays_root(struct sys *sys, const struct global_conf *g);
/* `keep`: capabilities to keep (app/process/privileges.h). 0, or -errno (-ERR_PERM if root could
 * be regained) with why naming the failed step. */
int privileges_drop(struct sys *sys, const struct global_conf *g, uint64_t keep, char *why,
	size_t why_len) must_check;
/* The same, but for the root directory, which stays. */
int privileges_drop_user(struct sys *sys, const struct global_conf *g, uint64_t keep, char *why,
	size_t why_len) must_check;
/* For the master, which keeps its user, root directory and limits: processes that it starts change
 * them. `keep`: capabilities that these may need. As above. */
int privileges_drop_master(struct sys *sys, const struct global_conf *g, uint64_t keep, char *why,
	size_t why_len) must_check;
/* Forbids new processes and threads, after the workers' threads were created. 0 or -errno. */
int privileges_seal(struct sys *sys, const struct global_conf *g) must_check;

/* The capabilities that `setcap` names, and those that keywords need while tacit serves. */
uint64_t capabilities_wanted(const struct config *c);
/* Makes what a process without root is permitted to have effective, if anything is wanted: the file
 * of the program may permit more than it gives (setcap(8), "=p"). 0 or -errno. */
int capabilities_raise(struct sys *sys, uint64_t set) must_check;

#endif
