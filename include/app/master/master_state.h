/*
 * The master's state, as text: for the program that it executes in its place, which inherits its
 * descriptors, its pid and its children. Lines of a word, numbers, and a text to the end of the
 * line; what follows the line "log" is the latest startup log. A change of their meaning is
 * another MASTER_STATE_VERSION: a worker process reports to the master which one its program reads
 * (X_MASTER_STATE=).
 */
#ifndef TACIT_APP_MASTER_MASTER_STATE_H
#define TACIT_APP_MASTER_MASTER_STATE_H

#include "base/compiler.h"

struct master;
struct sbuf;

#define MASTER_STATE_VERSION 1
#define MASTER_STATE_LOG "log"
#define MASTER_STATE_ASKS " asks-master"

/* Takes over the state in the text, which it overwrites; the loop is open. 0 or a negative
 * reason. */
int master_state_read(struct master *m, char *text) must_check;
/* Calls fn with each descriptor that is passed on, but for the text's own. */
void master_state_descriptors(const struct master *m, void (*fn)(const struct master *m, int fd));

#endif
