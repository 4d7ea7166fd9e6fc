/*
 * Bind lines whose addresses overlap: the same one, or a wildcard and another address with the same
 * port. The kernel lets them share the port if all their sockets have SO_REUSEPORT. It gives a
 * connection to the most specific address, and connections to one address to its sockets in turn.
 */
#ifndef TACIT_NET_OVERLAP_H
#define TACIT_NET_OVERLAP_H

#include "base/compiler.h"

struct listener;
struct sys;

/* Called for a listener with the address of an earlier one. */
typedef void overlap_fn(const struct listener *ln, const struct listener *earlier, void *arg);

/*
 * Links the listeners, which are given in the order in which they will be bound, with those that
 * they overlap: overlaps, overlap_root, overlap_next and twin. Unix sockets, ports that the kernel
 * chooses and addresses that are not known yet overlap with none. Main thread, before listeners are
 * copied for the workers. 0 or -ERR_NOMEM.
 */
int overlap_link(struct listener *const *v, unsigned int n, overlap_fn *twins, void *arg)
	must_check;

/* Sets SO_REUSEPORT, so that other sockets of the same user can bind this address: 0 or -errno. */
int overlap_permit(struct sys *sys, int fd) must_check;

#endif
