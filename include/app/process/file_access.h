/*
 * The files that a process may use while it serves (landlock(7)): it may remove its pid file and
 * the paths of its stats sockets, and read the time zone. It can open, create, remove or execute no
 * other file, nor bind a TCP port that its configuration does not name. Descriptors that are open
 * stay usable, and unix sockets can be connected to. It cannot be undone.
 */
#ifndef TACIT_APP_PROCESS_FILE_ACCESS_H
#define TACIT_APP_PROCESS_FILE_ACCESS_H

#include <stdint.h>

#include "base/compiler.h"

struct sys;

struct file_access {
	struct sys *sys;
	int fd;      /* the rules, or -1 */
	int limits_ports;
};

/* Begins a set of rules; without any rule nothing is permitted. `limits_ports`: TCP ports too. 0;
 * -ENOSYS if the kernel has no such rules or this build leaves them out; another -errno. */
int file_access_open(struct file_access *f, struct sys *sys, int limits_ports) must_check;
void file_access_close(struct file_access *f);

/* A file, or all files below a directory, may be read. No effect on what does not exist. 0 or
 * -errno. */
int file_access_read(struct file_access *f, const char *path) must_check;
/* The file may be removed, as may others below its directory. No effect if that does not exist. */
int file_access_remove(struct file_access *f, const char *path) must_check;
/* The TCP port may be bound; 0: any that the kernel chooses. No effect on kernels before 6.7. */
int file_access_bind(struct file_access *f, unsigned int port) must_check;

/* From now on, for this thread and those that it starts. The process can gain no privileges. */
int file_access_limit(struct file_access *f) must_check;

#endif
