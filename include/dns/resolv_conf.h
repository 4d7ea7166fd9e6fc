/* The name servers of resolv.conf(5), for `parse-resolv-conf` and the section `default`. */
#ifndef TACIT_DNS_RESOLV_CONF_H
#define TACIT_DNS_RESOLV_CONF_H

#include "base/compiler.h"
#include "dns/resolvers.h"

/* Adds a name server for each line `nameserver <address>` of the text, which is changed; it is
 * called by its address, and one that exists already is left alone. Other lines are ignored. The
 * number of those added, or -ERR_NOMEM. */
int resolv_conf_add(struct resolvers *res, char *text) must_check;

#endif
