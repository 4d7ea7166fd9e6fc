/*
 * TCP options of a listening socket. Accepted sockets inherit them, so that they are set once per
 * listener and not once per connection: TCP_NODELAY, keep-alive, TCP_USER_TIMEOUT, buffers.
 */
#ifndef TACIT_NET_LISTENER_OPTIONS_H
#define TACIT_NET_LISTENER_OPTIONS_H

#include "base/compiler.h"

struct listener;
struct sys;

/* Both return 0, or -errno with *what: what failed, as it follows "cannot". */
int listener_options_set(const struct listener *ln, struct sys *sys, int fd, const char **what)
	must_check;
/* Gives the socket the kernel's defaults where the listener has no value: it may have one of a
 * previous configuration. */
int listener_options_clear(const struct listener *ln, struct sys *sys, int fd, const char **what)
	must_check;
/* The kernel does not have TCP_QUICKACK for MPTCP. listen() resets it: it is set afterwards. */
int listener_has_quickack(const struct listener *ln);

#endif
