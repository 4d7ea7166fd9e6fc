/*
 * An address that one thread changes while others read it, without a lock: a sequence counter that
 * is odd during a change. Readers copy the address and try again if the counter moved meanwhile.
 * They wait for nothing longer than a few stores.
 *
 * Only IPv4 and IPv6 addresses, and none, can be set while there are readers; a unix socket's must
 * be there before and stay.
 */
#ifndef TACIT_NET_ADDR_CELL_H
#define TACIT_NET_ADDR_CELL_H

#include <stdint.h>

#include "base/compiler.h"
#include "net/addr.h"

#define ADDR_CELL_WORDS 3

/* All zeros: no address. */
struct addr_cell {
	_Atomic uint32_t seq;
	_Atomic uint64_t
		word[ADDR_CELL_WORDS]; /* of inet addresses: family, port, scope; address */
	struct addr fixed;                      /* any other */
};

/* For the writer, or while there is one thread only. */
void addr_cell_set(struct addr_cell *c, const struct addr *a);
/* Copies the address to *out, and returns its generation: another address has another one. */
uint32_t addr_cell_get(const struct addr_cell *c, struct addr *out);
/* The generation that addr_cell_get() would return. */
uint32_t addr_cell_gen(const struct addr_cell *c);

#endif
