/*
 * Limits what a serving process may use (landlock(7)). Files: it may remove its pid file and the
 * paths of its stats sockets, and read the time zone; it can open, create, remove or execute no
 * other file. Descriptors that are open stay usable, and unix sockets at paths can be connected to.
 * Where the caller knows enough: the TCP ports that it may bind and connect to, and neither
 * abstract unix sockets nor signals of processes outside. It cannot be undone.
 */
#ifndef TACIT_APP_PROCESS_FILE_ACCESS_H
#define TACIT_APP_PROCESS_FILE_ACCESS_H

#include <stdint.h>

#include "base/compiler.h"

struct sys;

/* The limits besides files, as far as the kernel can; one bit each. */
enum {
	ACCESS_BIND     = 1u << 0, /* TCP ports; Linux 6.7 */
	ACCESS_CONNECT  = 1u << 1, /* the same */
	ACCESS_ABSTRACT = 1u << 2, /* abstract unix sockets of others; Linux 6.12 */
	ACCESS_SIGNAL   = 1u << 3  /* signals to others; Linux 6.12 */
};

struct file_access {
	struct sys *sys;
	int fd;              /* the rules, or -1 */
	unsigned int limits; /* ACCESS_x that the kernel has */
};

/* Begins a set of rules; without any rule nothing is permitted. `limits`: what is to be limited
 * besides files, ACCESS_x. 0; -ENOSYS if the kernel has no such rules or this build leaves them
 * out; another -errno. */
int file_access_open(struct file_access *f, struct sys *sys, unsigned int limits) must_check;
void file_access_close(struct file_access *f);

/* A file, or all files below a directory, may be read. No effect on what does not exist. 0 or
 * -errno. */
int file_access_read(struct file_access *f, const char *path) must_check;
/* The file may be removed, as may others below its directory. No effect if that does not exist. */
int file_access_remove(struct file_access *f, const char *path) must_check;
/* The TCP port may be bound; 0: any that the kernel chooses. No effect where ports
 * are not limited. */
int file_access_bind(struct file_access *f, unsigned int port) must_check;
/* The process may connect to this TCP port, at any address. The same. */
int file_access_connect(struct file_access *f, unsigned int port) must_check;

/* Applies the limits to this thread and those that it starts. The process can gain no
 * privileges. */
int file_access_limit(struct file_access *f) must_check;

#endif
