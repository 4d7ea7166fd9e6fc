/*
 * Descriptors to be closed together: those with neighbouring numbers go in one call. What ends in
 * one turn of the loop mostly was opened in one.
 */
#ifndef TACIT_EVENT_CLOSING_H
#define TACIT_EVENT_CLOSING_H

#include "base/compiler.h"
#include "base/sys.h"

struct closing {
	int *fd;
	unsigned int n, max;
};

/* Room for so many. 0 or -ERR_NOMEM. */
int closing_init(struct closing *c, unsigned int max) must_check;
/* Nothing may be left in it (asserted). */
void closing_fini(struct closing *c);
/* An open fd, each once. */
void closing_add(struct closing *c, int fd);
/* Closes all. */
void closing_flush(struct closing *c, struct sys *sys);

#endif
