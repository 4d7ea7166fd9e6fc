/*
 * Handshakes of TCP that have begun and not ended, as the kernel knows them: no accept can find
 * them, and closing their listener resets them. On the thread of the sys.
 */
#ifndef TACIT_NET_HANDSHAKES_H
#define TACIT_NET_HANDSHAKES_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/sys.h"

/* A set of local ports. All zero is empty. */
struct handshake_ports {
	uint64_t bit[65536 / 64];
};

static inline void
handshake_ports_add(struct handshake_ports *p, unsigned int port)
{
	p->bit[port / 64 & 1023] |= UINT64_C(1) << port % 64;
}

/* Returns how many clients have such a handshake with one of the ports, in the network namespace of
 * the process; or -errno: the kernel cannot be asked (sock_diag(7)). */
int handshakes_pending(struct sys *sys, const struct handshake_ports *ports) must_check;

#endif
