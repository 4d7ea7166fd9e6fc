/*
 * Files that `show servers state` has written, loaded at start (management manual 9.3, format
 * version 1). Nothing in them makes a start fail: what cannot be used is reported.
 */
#ifndef TACIT_APP_PROCESS_STATE_FILE_H
#define TACIT_APP_PROCESS_STATE_FILE_H

#include <stddef.h>

struct process;

struct state_texts {
	char *global;  /* the file of the section global */
	char **local;  /* for each proxy, in order: its own file; NULL: none */
	size_t n;      /* proxies */
};

/* Reads the files: before privileges are dropped. */
void state_files_read(struct process *p);
/* Applies their rows to the servers, whose checks exist, and frees the texts. On the first worker,
 * before others run. */
void state_files_apply(struct process *p);
void state_files_free(struct process *p);

#endif
