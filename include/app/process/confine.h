/*
 * Rights that a serving process gives up, besides its user: capabilities, files, system calls. Each
 * is a bit of process.confined, which `show info` shows.
 */
#ifndef TACIT_APP_PROCESS_CONFINE_H
#define TACIT_APP_PROCESS_CONFINE_H

#include <stddef.h>

#include "base/compiler.h"

struct global_conf;
struct process;
struct report;
struct sys;

enum confinement {
	CONFINED_CAPABILITIES = 1 << 0,
	CONFINED_FILES        = 1 << 1,
	CONFINED_SYSCALLS     = 1 << 2,
	CONFINED_CONNECTIONS  = 1 << 3, /* to the TCP ports of the configuration */
	CONFINED_ABSTRACT     = 1 << 4, /* to no abstract unix socket */
	CONFINED_SIGNALS      = 1 << 5  /* to no other process */
};

/* Room for all names. */
#define CONFINEMENT_TEXT_MAX 96

/* Gives up user, root directory, capabilities and files, before there are threads. 0 or a negative
 * reason that was reported. */
int confine_privileges(struct process *p) must_check;
/* Gives up new processes and system calls, when all threads run. 0 or a negative reason that was
 * reported. */
int confine_calls(struct process *p) must_check;
/* For a process that executes programs and has given up its privileges: forbids system calls, also
 * to these programs. 0, also where the kernel or this build has no filter, or -errno. */
int confine_launcher(const struct global_conf *g) must_check;
/* For the master, whose worker processes bind, read files and change their user: it gives up what
 * none of them needs, and forbids system calls. 0 or a negative reason that was reported. */
int confine_master(struct sys *sys, const struct global_conf *g, const struct report *report)
	must_check;
/* The names of what is confined, separated by commas; "none". */
void confinement_text(unsigned int confined, char *out, size_t size);

#endif
