/*
 * Addresses that a process connects to while it serves, as far as its configuration shows: servers,
 * their checks and agents, SOCKS4 proxies, name servers, logs, servers of rings, and the proxy of
 * OCSP requests.
 */
#ifndef TACIT_APP_PROCESS_CONNECT_TARGETS_H
#define TACIT_APP_PROCESS_CONNECT_TARGETS_H

#include "base/compiler.h"
#include "net/addr.h"

struct config;
struct sys;

/* Calls fn for each of them: an IP address, of which only the port counts, or a unix socket. Many
 * come several times. */
typedef void connect_target_fn(const struct addr *a, void *arg);
void connect_targets_each(const struct config *c, connect_target_fn *fn, void *arg);
/* Returns what makes other TCP ports possible, as the end of a sentence; NULL: nothing. */
const char *connect_targets_unknown(const struct config *c);
/* True if one of them is this unix socket, also by another path. To be called before the root
 * directory changes. */
int connect_targets_have(const struct config *c, struct sys *sys, const struct addr *unix_addr);

#endif
