/*
 * Descriptors that are closed together: those with neighbouring numbers in one call. Descriptors
 * closed in one turn of the loop were mostly opened in one turn.
 */
#ifndef TACIT_EVENT_CLOSING_H
#define TACIT_EVENT_CLOSING_H

#include "base/compiler.h"
#include "base/sys.h"

struct closing {
	int *fd;
	unsigned int n, max;
};

/* Allocates room for this many. 0 or -ERR_NOMEM. */
int closing_init(struct closing *c, unsigned int max) must_check;
/* Must be empty (asserted). */
void closing_fini(struct closing *c);
/* Adds an open fd; each at most once. */
void closing_add(struct closing *c, int fd);
/* Closes all. */
void closing_flush(struct closing *c, struct sys *sys);

#endif
