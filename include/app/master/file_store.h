/*
 * The memory files of worker processes (app/process/keep.h), one each. The master does not read
 * them: it keeps them open and hands them to the next worker process, with whether their process
 * has ended. The counts of an ended process are added to the file of the next one, so that it is
 * closed when that one is ready; the others are kept until a later start.
 */
#ifndef TACIT_APP_MASTER_FILE_STORE_H
#define TACIT_APP_MASTER_FILE_STORE_H

#include <sys/types.h>

#include "base/compiler.h"

struct sbuf;
struct sys;

struct stored_file {
	int fd;
	pid_t from;     /* its process; 0: that has ended */
	int is_added;   /* to the file of the process that starts */
};

struct file_store {
	struct sys *sys;
	struct stored_file *v;
	unsigned int n;
};

void file_store_fini(struct file_store *s);
/* Takes the descriptor. 0 or -ERR_NOMEM, with the descriptor closed. */
int file_store_add(struct file_store *s, int fd, pid_t from) must_check;
/* The list of numbers and states for a new process, in the form of fd_store_list(). */
void file_store_list(struct file_store *s, struct sbuf *out);
/* This process has ended; has_started: it was ready once. */
void file_store_on_end(struct file_store *s, pid_t pid, int has_started);
/* The process that got the list is ready. */
void file_store_on_ready(struct file_store *s, pid_t pid);

#endif
